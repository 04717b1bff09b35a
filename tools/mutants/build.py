"""What tools/code-mutants compiles and links: the sources as they are, once, and what is changed.

A folder has: tree, a copy of the sources, in which one file is changed at a time; base-KEY, all
that was compiled without a change, and what was found out about it; changed, the objects and
programs of the mutant of the moment.
"""
import glob
import hashlib
import json
import math
import os
import re
import shlex
import shutil
import subprocess
import sys

import programs

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FORMAT = 4 # of what is kept in the folder
SCRIPT = "work=$1 tiers=--quick; . tools/mutants.sh; "
MODES = ("ra", "tso")
HARNESS = ("harness", "system", "watchdog")


def shell(work, command, *arguments):
    """What a command prints that uses tools/mutants.sh."""
    return subprocess.run(["sh", "-euc", SCRIPT + command, "sh", work] + list(arguments), text=True,
                          check=True, stdout=subprocess.PIPE).stdout


def is_explored(source):
    """Does the explorer compile it? As in tools/mutants.sh."""
    return re.match("src/(core|trace|sched|par)/", source) is not None


def is_mutated(source):
    return re.match("src/(core|sched)/", source) is not None


def flat(path):
    return os.path.splitext(path)[0].replace("/", "+")


def source_of(path):
    return os.path.basename(path)[:-2].replace("+", "/") + ".c"


def stop(text, log=""):
    print(log + "\nFAILED: " + text)
    sys.exit(2)


class Build:
    """Everything as it is, compiled once; and what differs from it for the mutant of the moment."""

    def __init__(self, work):
        self.work = os.path.abspath(work)
        self.tree = os.path.join(self.work, "tree")
        os.makedirs(self.work, exist_ok=True)
        compiler, flags, explored = shell(
            self.work, 'printf "%s\\n" "$cc" "$flags" "$explored"').splitlines()
        subprocess.run(["rm", "-rf", self.tree], check=True) # the last run may have left a mutant
        os.makedirs(self.tree)
        subprocess.run(["cp", "-r", "src", "include", self.tree], check=True)
        self.cached = shlex.split(compiler)
        self.cc = [word for word in self.cached if word != "ccache"] # each mutant is new
        same = ["-g0", "-w", "-ffile-prefix-map=%s=." % self.tree]
        self.native = shlex.split(flags) + same + [
            "-pthread", "-D_GNU_SOURCE", "-DWEFT_DEBUG=1", '-DTESTS_FOLDER="%s/tests"' % ROOT]
        self.explored = shlex.split(explored) + same
        self.engine = shlex.split(flags) + same + ["-O2"]
        self.has_counters = shutil.which("gcov") is not None and "gcc version" in subprocess.run(
            self.cc + ["-v"], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
        self.base = os.path.join(self.work, "base-" + self.key())
        self.changed = os.path.join(self.work, "changed")
        self.facts_file = os.path.join(self.base, "facts.json")
        self.facts = {}
        self.included = {} # object: all that it was compiled from
        self.prepare()

    def key(self):
        """A checksum of all files that are compiled, and of how."""
        total = hashlib.sha256(repr((FORMAT, self.cc, self.native, self.explored)).encode())
        for folder in ("src", "include", "tests/core", "tests/sched", "tests/process",
                       "tests/trace", "tests/harness", "tests/explore", "tests/simulated"):
            for path in sorted(glob.glob(folder + "/**/*.[ch]", recursive=True)):
                with open(path, "rb") as file:
                    total.update(path.encode() + b"\0" + file.read())
        return total.hexdigest()[:16]

    def prepare(self):
        for old in glob.glob(os.path.join(self.work, "base-*")):
            if old != self.base:
                subprocess.run(["rm", "-rf", old], check=True)
        for kind in ("native", "explored", "harness", "engine", "tests", "programs",
                     "covered"):
            os.makedirs(os.path.join(self.base, kind), exist_ok=True)
        os.makedirs(self.changed, exist_ok=True)
        try:
            with open(self.facts_file, encoding="utf-8") as file:
                self.facts = json.load(file)
        except (FileNotFoundError, ValueError):
            pass
        sources = [s for s in sorted(glob.glob("src/**/*.c", recursive=True)) if s != "src/weft.c"]
        self.make_library("native", sources)
        self.make_library("explored", [s for s in sources if is_explored(s)])
        if self.has_counters:
            self.make_library("covered", [s for s in sources if is_mutated(s)])
        self.make_library("harness", ["tests/harness/%s.c" % n for n in HARNESS])
        self.make_library("engine", glob.glob("tests/explore/engine/*.c") +
                          glob.glob("tests/simulated/*.c"))

    def make_library(self, kind, sources):
        """Objects in a folder, and an archive of them beside it."""
        folder = os.path.join(self.base, kind)
        if os.path.exists(folder + ".a"):
            return
        good, log = self.compile(kind, sources, folder, self.cached)
        if not good:
            stop("the sources do not compile", log)
        subprocess.run(["ar", "rc", folder + ".a.new"] + self.objects(kind), check=True)
        os.rename(folder + ".a.new", folder + ".a")

    def objects(self, kind):
        return sorted(glob.glob(os.path.join(self.base, kind, "*.o")))

    def archive(self, kind):
        return os.path.join(self.base, kind + ".a")

    def command(self, kind, source, target, compiler, more=()):
        where = os.path.join(self.tree, source) if source.startswith("src/") else source
        options = {"explored": self.explored, "engine": self.engine,
                   "covered": self.explored + ["--coverage"]}.get(kind, self.native)
        if kind in ("explored", "covered") and source.endswith("/simd.c"):
            more = list(more) + ["-DWEFT_NO_SIMD"] # as in mutants.sh
        return compiler + options + list(more) + ["-MMD", "-c", where, "-o", target]

    def compile_one(self, kind, source, target, compiler, more=()):
        done = subprocess.run(self.command(kind, source, target, compiler, more), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode == 0, done.stdout

    def compile(self, kind, sources, folder, compiler=None):
        """Compiles sources of the library, several at once."""
        left, running, good, log = list(sources), [], True, ""
        while left or running:
            while left and len(running) < (os.cpu_count() or 1) and good:
                source = left.pop(0)
                target = os.path.join(folder, flat(source) + ".o")
                running.append(subprocess.Popen(
                    self.command(kind, source, target, compiler or self.cc), text=True,
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
            if not running:
                break
            process = running.pop(0)
            text = process.communicate()[0]
            if process.returncode != 0:
                good, log = False, text
        return good, log

    # ---- what includes what ----

    def includes(self, object_file, file):
        """Names as a/../b occur: headers are included relative to the one that includes them."""
        if object_file not in self.included:
            with open(object_file[:-2] + ".d", encoding="utf-8") as text:
                self.included[object_file] = {os.path.normpath(w) for w in text.read().split()}
        return os.path.join(self.tree, file) in self.included[object_file]

    def sources_with(self, kind, file, linked):
        """The sources that include the file, or are it, of those that are linked with a test. At
        least one, to see whether it compiles."""
        found = [source_of(o) for o in self.objects(kind) if self.includes(o, file)]
        return [s for s in found if s in linked or s == file] or found[:1]

    # ---- programs ----

    def fact(self, name, find):
        """Something that is found out once for these files."""
        if name not in self.facts:
            self.facts[name] = find()
            with open(self.facts_file + ".new", "w", encoding="utf-8") as file:
                json.dump(self.facts, file, indent=1)
            os.replace(self.facts_file + ".new", self.facts_file)
        return self.facts[name]

    def object_of(self, kind, source, file):
        """The object of a test or a program of the explorer; None: it does not compile. One that
        includes the changed file is of this mutant alone."""
        folder = os.path.join(self.base, "tests" if kind == "native" else "programs")
        target, more = os.path.join(folder, flat(source) + ".o"), options("compile", source)
        if not os.path.exists(target):
            stop("%s was not compiled" % source)
        if file is None or not self.includes(target, file):
            return target
        target = os.path.join(self.changed, "program.o")
        return target if self.compile_one(kind, source, target, self.cc, more)[0] else None

    def link(self, kind, target, words):
        """The program; None: it cannot be linked. Notes which sources came from the archive."""
        done = subprocess.run(self.cc + words + ["-Wl,-t,-t", "-o", target], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.linked = [source_of(name) for name in re.findall(
            r"\b%s\.a[()](\S+?\.o)" % kind, done.stdout)]
        return target if done.returncode == 0 else None

    def link_test(self, test, file=None, objects=()):
        """The program; None: it does not compile or link."""
        target = os.path.join(self.changed if file else self.work, flat(test) + ".run")
        if file and os.path.exists(target): # of this mutant
            return target
        built = self.object_of("native", test, file)
        if built is None:
            return None
        return self.link("native", target, ["-pthread", built] + self.objects("harness") +
                         list(objects) + [self.archive("native")] + options("link", test) +
                         ["-rdynamic", "-ldl"])

    def link_program(self, program, file=None, objects=()):
        built = self.object_of("explored", "tests/explore/%s.c" % program, file)
        return built and self.link_explorer([built] + list(objects))

    def link_explorer(self, objects, more=()):
        target = os.path.join(self.work, "explorer")
        # A program that includes a source file has its own of it.
        return self.link("explored", target, objects[:1] + self.objects("engine") + objects[1:] +
                         [self.archive("explored"), "-ldl", "-Wl,--allow-multiple-definition"] +
                         list(more))

    def prepare_test(self, test):
        """Compiles the test as it is, and looks whether it passes and how long it takes."""
        def find():
            target = os.path.join(self.base, "tests", flat(test) + ".o")
            good, log = self.compile_one("native", test, target, self.cached,
                                         options("compile", test))
            program = self.link_test(test) if good else None
            if program is None:
                stop("%s does not compile without any change" % test, log)
            linked = self.linked
            outcome = programs.run_test(program, 60, 300)
            if outcome.failed:
                stop("%s fails without any change" % test, outcome.text)
            seconds = {name: int(ms) / 1000 for name, ms in re.findall(
                r"^ok +([a-z_0-9]+) \((\d+) ms\)", outcome.text, re.M)}
            return {"cpu": round(outcome.cpu, 2), "seconds": seconds, "linked": linked}
        return self.fact(test, find)

    def run_some(self, test, program, names):
        """Runs tests of a program, with limits from how long they take without a change. A name
        stands for all tests that contain it."""
        fact = self.facts[test]
        longest = max([seconds for other, seconds in fact["seconds"].items()
                       if any(name in other for name in names)], default=0)
        return programs.run_test(program, math.ceil(2 + 3 * longest),
                                 math.ceil(20 + 10 * fact["cpu"]), names)

    def passes_alone(self, test, name):
        """A test that killed a mutant must pass by itself without a change. Looked at once."""
        def find():
            outcome = self.run_some(test, self.link_test(test), [name])
            if outcome.failed:
                stop("%s %s fails without any change" % (test, name), outcome.text)
            return True
        return self.fact("alone %s %s" % (test, name), find)

    def prepare_program(self, program):
        """The same for a program of the explorer: CPU time and scenarios in each mode, and which
        lines each scenario reaches."""
        def find():
            source = "tests/explore/%s.c" % program
            target = os.path.join(self.base, "programs", flat(source) + ".o")
            good, log = self.compile_one("explored", source, target, self.cached)
            built = self.link_program(program) if good else None
            if built is None:
                stop("%s does not compile without any change" % source, log)
            found = {"cpu": {}, "scenarios": {}, "lines": {}, "reached": {}, "linked": self.linked}
            for mode in MODES:
                outcome = programs.run_scenarios(built, mode, 600)
                if outcome.failed or outcome.out_of_time:
                    stop("%s fails without any change" % source, outcome.text)
                found["cpu"][mode] = round(outcome.cpu, 2)
                found["scenarios"][mode] = re.findall(r"^(\S+) +%s .* executions" % mode,
                                                      outcome.text, re.M)
            self.find_reach(source, found)
            return found
        return self.fact("explore " + program, find)

    def find_reach(self, source, found):
        """Runs each scenario by itself, compiled by gcc with counters, and notes which lines of
        the library have code, and which of them the scenario reaches."""
        if not self.has_counters:
            return
        target = os.path.join(self.base, "covered", "program.o")
        good, log = self.compile_one("covered", source, target, self.cached)
        others = [o for o in self.objects("covered") if o != target]
        built = self.link_explorer([target] + others, ["--coverage"]) if good else None
        if built is None:
            stop("%s does not compile with counters" % source, log)
        lines = {}
        for name in sorted({n for names in found["scenarios"].values() for n in names}):
            for old in glob.glob(os.path.join(self.base, "covered", "*.gcda")):
                os.remove(old)
            for mode in MODES:
                if name in found["scenarios"][mode]:
                    if programs.run_scenarios(built, mode, 600, [name]).failed:
                        stop("%s: %s fails with counters" % (source, name))
            reached = self.read_counters(lines)
            found["reached"][name] = {file: sorted(reached[file]) for file in reached}
        found["lines"] = {file: sorted(lines[file]) for file in lines}
        os.remove(target)

    def read_counters(self, lines):
        """{file: lines that were reached}; adds to `lines` those that have code, by file."""
        counters = sorted(glob.glob(os.path.join(self.base, "covered", "*.gcda")))
        done = subprocess.run(["gcov", "--json-format", "--stdout"] + counters, text=True,
                              check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        reached = {}
        for text in done.stdout.splitlines():
            for file in json.loads(text)["files"] if text.startswith("{") else []:
                place = re.search(r"src/(core|sched)/\w+\.[ch]$", file["file"])
                for line in file["lines"] if place else []:
                    lines.setdefault(place[0], set()).add(line["line_number"])
                    if line["count"]:
                        reached.setdefault(place[0], set()).add(line["line_number"])
        return reached

    def scenarios_that_reach(self, program, mode, file, line):
        """Those that run code of this line, or of any line of the file where this one has no code
        of its own. The others cannot notice a change: each search is the same every time."""
        fact = self.facts["explore " + program]
        known = set(fact["lines"].get(file, []))
        places = {line} if line in known else known
        return [name for name in fact["scenarios"][mode]
                if name not in fact["reached"] or places & set(fact["reached"][name].get(file, []))]

    def is_same(self, kind, sources):
        """Is the machine code of all of them the same as without the change? False also where the
        compiler does not give the same code twice."""
        for source in sources:
            with open(os.path.join(self.base, kind, flat(source) + ".o"), "rb") as one, \
                    open(os.path.join(self.changed, flat(source) + ".o"), "rb") as other:
                if one.read() != other.read():
                    return False
        return True


def options(kind, test):
    """What a test says about how it is compiled or linked."""
    with open(test, encoding="utf-8") as file:
        found = re.findall(r"^/\* %s: (.*) \*/$" % kind, file.read(), re.M)
    return shlex.split(" ".join(found))
