"""The steps of the long checks (steps.ini), their parts, and what each one depends on.

A step has a command. With `parts` it is run once for each part, so that a step of hours is made of
pieces of less than an hour. A piece is what the ledger knows: it has passed for a key, or it has not.
The key is a checksum of the command and of git's hashes of the files that the step depends on. So a
piece runs again when one of these files has changed, committed or not, and else never.
"""
import configparser
import fcntl
import glob
import hashlib
import os
import re
import subprocess

# Pages change nothing in what a step runs.
NO_CODE = re.compile(r"\.md$|^docs/")

UNITS = {"s": 1, "min": 60, "h": 3600}


def seconds_of(text):
    """'90 s', '5 min' or '1 h' in seconds."""
    found = re.fullmatch(r"(\d+) *(s|min|h)", text.strip())
    if not found:
        raise ValueError("no time: %r (as in '90 s', '5 min', '1 h')" % text)
    return int(found.group(1)) * UNITS[found.group(2)]


def git(arguments, folder, **more):
    """Runs git without the settings of a hook that may have called us."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    clean["GIT_CONFIG_GLOBAL"] = os.devnull
    return subprocess.run(["git"] + arguments, cwd=folder, env=clean, text=True, check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more).stdout


class Tree:
    """The files as they are now, whether committed or not, each with git's hash.

    They go into an index of our own, in the state folder: that of the user stays as it is, and a
    source tree without a repository works, too."""

    def __init__(self, root, state):
        self.root = root
        self.files = []
        with open(os.path.join(state, "objects.lock"), "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX) # git refuses two at once
            listed = self.list_files(os.path.join(state, "objects"))
        for line in listed.split("\0"):
            if line:
                facts, path = line.split("\t", 1)
                self.files.append((path, facts.split()[1]))

    def list_files(self, store):
        if not os.path.isdir(store):
            git(["init", "-q", "--bare", store], self.root)
        stale = os.path.join(store, "index.lock") # of a git that was killed: we hold our own lock
        if os.path.exists(stale):
            os.remove(stale)
        ours = ["--git-dir=" + store, "--work-tree=" + self.root, "-c", "core.bare=false"]
        git(ours + ["add", "-A", "."], self.root)
        return git(ours + ["ls-files", "-s", "-z"], self.root)

    def key(self, step, part):
        """A checksum of all that the piece depends on."""
        total = hashlib.sha256("\n".join((step.before, step.run, part, "")).encode())
        for path, content in self.files:
            if step.depends_on(path):
                total.update(("%s %s\n" % (content, path)).encode())
        return total.hexdigest()[:16]

    def commit(self):
        """The commit, with a + where files differ from it; '-' without a repository."""
        try:
            name = git(["rev-parse", "--short=10", "HEAD"], self.root).strip()
            others = [".", ":(exclude)docs/verification", ":(exclude)docs/verification.md"]
            changed = git(["status", "--porcelain", "--"] + others, self.root).strip()
            return name + ("+" if changed else "")
        except (subprocess.CalledProcessError, OSError):
            return "-"


class Step:
    """One section of steps.ini."""

    def __init__(self, root, name, section):
        known = {"what", "run", "of", "parts", "about", "limit", "parallel", "logs", "require", "before",
                 "here"}
        for key in section:
            if key not in known and not re.match(r"(figure|sum|most|count)\.[a-z_0-9]+$", key):
                raise ValueError("%s: unknown word %r" % (name, key))
        self.root = root
        self.name = name
        self.what = " ".join(section["what"].split())
        self.run = section["run"].strip()
        self.of = section.get("of", ".").split()
        self.part_text = section.get("parts", "").strip()
        self.about = seconds_of(section.get("about", "5 min"))
        self.limit = seconds_of(section.get("limit", "1 h"))
        self.parallel = section.getboolean("parallel", False)
        self.here = section.getboolean("here", False)
        self.logs = section.get("logs", "").split()
        self.before = section.get("before", "").strip()
        self.require = section.get("require", "").strip()
        self.figures = [(key.split(".", 1)[1], key.split(".", 1)[0], re.compile(value, re.M))
                        for key, value in section.items() if "." in key]

    def depends_on(self, path):
        if NO_CODE.search(path):
            return False
        return any(p == "." or path == p or path.startswith(p + "/") for p in self.of)

    def parts(self):
        """The names of the parts; one empty name for a step that is not divided."""
        if not self.part_text:
            return [""]
        if self.part_text.startswith("!"):
            done = subprocess.run(["bash", "-c", self.part_text[1:]], cwd=self.root, text=True,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE)
            if done.returncode != 0 or not done.stdout.split():
                raise ValueError("%s: no parts from: %s\n%s"
                                 % (self.name, self.part_text[1:], done.stderr))
            return done.stdout.split()
        found = []
        for word in self.part_text.split():
            numbers = re.fullmatch(r"(\d+)\.\.(\d+)", word)
            if numbers:
                found += [str(n) for n in range(int(numbers[1]), int(numbers[2]) + 1)]
            elif "*" in word:
                found += sorted(glob.glob(word, root_dir=self.root))
            else:
                found.append(word)
        return found

    def pieces(self):
        return [Piece(self, part) for part in self.parts()]

    def figures_in(self, text):
        """Numbers that the output of the command has: the last one that matches, or the sum, or
        the largest of all. Numbers are written with or without commas."""
        found = {}
        for name, kind, pattern in self.figures:
            values = [m.group(m.lastindex or 0) for m in pattern.finditer(text)]
            if kind == "count":
                found[name] = len(values)
            elif not values:
                continue
            elif kind == "figure":
                found[name] = number(values[-1])
            else:
                values = [v for v in map(number, values) if not isinstance(v, str)]
                found[name] = sum(values) if kind == "sum" else max(values, default=0)
        return found

    def is_enough(self, figures):
        """Does the condition of the step hold for its figures?"""
        if not self.require:
            return True
        try:
            return bool(eval(self.require, {"__builtins__": {}}, dict(figures)))
        except NameError: # a figure is missing
            return False

    def together(self, name, values):
        """A figure of the whole step from those of its parts."""
        numbers = [v for v in values if not isinstance(v, str)]
        if len(numbers) < len(values):
            return values[-1]
        kind = next((k for n, k, _ in self.figures if n == name), "sum")
        return max(numbers) if kind == "most" else sum(numbers)


def number(text):
    text = text.strip().replace(",", "")
    if re.fullmatch(r"[\d.]+e\+\d+", text):
        return int(float(text))
    if re.fullmatch(r"\d+", text):
        return int(text)
    return float(text) if re.fullmatch(r"\d+\.\d+", text) else text


class Piece:
    def __init__(self, step, part):
        self.step = step
        self.part = part
        self.name = step.name + (":" + part if part else "")


def read_steps(root, path):
    reader = configparser.ConfigParser(interpolation=None, delimiters=("=",),
                                       comment_prefixes=("#",), default_section="-")
    reader.optionxform = str
    with open(path, encoding="utf-8") as file:
        reader.read_file(file)
    return [Step(root, name, reader[name]) for name in reader.sections()]
