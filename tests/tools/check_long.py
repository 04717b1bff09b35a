#!/usr/bin/env python3
"""Tests tools/check-long with toy steps in a tree of its own: what passed is not run again, a run that
was stopped, killed or left by its terminal goes on, failures are reported, changed files count.

The toys write down that they ran, in the file `ran`. Those that must be met while they run wait for
the file `go` and say so in the file `waiting`; nothing here depends on how fast anything is.
"""
import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROJECT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOOL = os.path.join(PROJECT, "tools", "check-long")

STEPS = """
[first]
what = a step that passes
run = echo first >>$OUT/ran; echo "12 things, 3 wide"; echo "30 things"
of = a.c
sum.things = (\\d+) things
figure.width = (\\d+) wide

[waits]
what = a step that waits for a file
run = echo waits >>$OUT/ran; echo $$ >$OUT/waiting; while [ ! -e $OUT/go ]; do sleep 0.05; done
of = b.c

[parts]
what = a step in parts
run = echo parts:$PART >>$OUT/ran; echo "7 of $PART"
parts = 1..3 *.c ! 
of = .
parallel = yes
sum.sevens = (\\d+) of

[last]
what = a step at the end
run = echo last >>$OUT/ran; [ ! -e $OUT/broken ] || { echo this is wrong; exit 3; }
of = a.c b.c
"""


class CheckLong(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="check-long-")
        self.out = os.path.join(self.root, "build")
        os.makedirs(self.out)
        self.write(".gitignore", "build/\n")
        self.write("a.c", "a")
        self.write("b.c", "b")
        self.steps(STEPS.replace(" ! \n", "\n"))
        self.environment = dict(os.environ, OUT=self.out)
        self.environment.pop("WEFT_LONG_STATE", None)

    def tearDown(self):
        self.write("build/go", "")
        self.tool("--stop")
        shutil.rmtree(self.root)

    # ---- what the tests use ----

    def write(self, name, text):
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def read(self, name):
        try:
            with open(os.path.join(self.root, name), encoding="utf-8") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def steps(self, text):
        self.write("build/steps.ini", text)

    def command(self, *arguments):
        return [sys.executable, TOOL, "--root", self.root, "--steps",
                os.path.join(self.out, "steps.ini")] + list(arguments)

    def tool(self, *arguments):
        return subprocess.run(self.command(*arguments), env=self.environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)

    def start(self, *arguments, **more):
        return subprocess.Popen(self.command(*arguments), env=self.environment, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, **more)

    def ran(self):
        """The toys that have run since the last look."""
        names = self.read("build/ran").split()
        self.write("build/ran", "")
        return names

    def wait_until(self, condition):
        while not condition():
            time.sleep(0.02)

    def wait_for_toy(self):
        self.wait_until(lambda: self.read("build/waiting").strip())

    def ledger(self):
        return [json.loads(line) for line in self.read("build/long/ledger.jsonl").splitlines()]

    def runner(self):
        return json.loads(self.read("build/long/now.json"))["pid"]

    def no_run_left(self):
        return "no run is under way" in self.tool("--stop").stdout

    ALL = ["first", "waits", "parts:1", "parts:2", "parts:3", "parts:a.c", "parts:b.c", "last"]

    # ---- the tests ----

    def test_what_has_passed_is_not_run_again(self):
        self.write("build/go", "")
        first = self.tool()
        self.assertEqual(first.returncode, 0, first.stdout)
        self.assertEqual(sorted(self.ran()), sorted(self.ALL))
        second = self.tool()
        self.assertEqual(second.returncode, 0, second.stdout)
        self.assertEqual(self.ran(), [])
        self.assertIn("8 passed", second.stdout)
        again = self.tool("--again", "first")
        self.assertEqual(again.returncode, 0, again.stdout)
        self.assertEqual(self.ran(), ["first"])

    def test_some_steps(self):
        done = self.tool("last", "first")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(self.ran(), ["first", "last"])
        unknown = self.tool("nothing")
        self.assertNotEqual(unknown.returncode, 0)
        self.assertIn("unknown step: nothing", unknown.stdout)

    def test_a_failure_does_not_end_the_run(self):
        self.write("build/go", "")
        self.steps(self.read("build/steps.ini").replace("echo first >>", "false; echo first >>"))
        done = self.tool()
        self.assertEqual(done.returncode, 1)
        self.assertIn("failed    first", done.stdout)
        self.assertEqual(sorted(self.ran()), sorted(self.ALL[1:]))
        self.assertIn("`first` failed: exit code 1", self.read("docs/verification/report.md"))
        self.write("build/broken", "")
        self.assertEqual(self.tool("--again", "last").returncode, 1)
        self.assertIn("exit code 3: this is wrong", self.read("docs/verification/report.md"))
        os.remove(os.path.join(self.out, "broken"))
        self.ran()
        self.assertEqual(self.tool("last").returncode, 0)

    def test_a_changed_file_counts_for_those_that_depend_on_it(self):
        self.write("build/go", "")
        self.tool()
        self.ran()
        self.write("a.c", "changed")
        self.tool("first", "waits", "last")
        self.assertEqual(self.ran(), ["first", "last"])
        self.write("a.c", "a") # as it was: it has passed for these files
        self.tool("first", "waits", "last")
        self.assertEqual(self.ran(), [])
        self.write("notes.md", "a page")
        self.tool()
        self.assertEqual(self.ran(), [])
        self.write("c.c", "new")
        self.tool()
        self.assertEqual(sorted(self.ran()), ["parts:1", "parts:2", "parts:3", "parts:a.c",
                                              "parts:b.c", "parts:c.c"])

    def test_a_file_that_changes_meanwhile(self):
        viewer = self.start("waits")
        self.wait_for_toy()
        self.write("b.c", "changed")
        self.write("build/go", "")
        self.assertIn("changed", viewer.communicate()[0])
        self.assertEqual(viewer.returncode, 1)
        self.assertEqual(self.ledger()[-1]["result"], "changed")
        self.assertEqual(self.tool("waits").returncode, 0)
        self.assertEqual(self.ran(), ["waits", "waits"])

    def test_a_stopped_run_goes_on(self):
        viewer = self.start()
        self.wait_for_toy()
        self.assertIn("stopped", self.tool("--stop").stdout)
        viewer.communicate()
        self.assertEqual(viewer.returncode, 1)
        self.assertEqual(self.ran(), ["first", "waits"])
        self.assertEqual([e["result"] for e in self.ledger()], ["passed", "stopped"])
        self.write("build/go", "")
        self.assertEqual(self.tool().returncode, 0)
        self.assertEqual(sorted(self.ran()), sorted(self.ALL[1:]))

    def test_a_killed_run_goes_on_and_leaves_nothing_behind(self):
        viewer = self.start()
        self.wait_for_toy()
        toy = int(self.read("build/waiting"))
        os.kill(self.runner(), signal.SIGKILL)
        self.assertIn("ended from outside", viewer.communicate()[0])
        self.assertEqual(viewer.returncode, 1)
        self.assertTrue(os.path.exists("/proc/%d" % toy)) # it waits for ever
        os.remove(os.path.join(self.out, "waiting"))
        self.ran()
        viewer = self.start()
        self.wait_for_toy()
        self.assertFalse(os.path.exists("/proc/%d" % toy))
        self.write("build/go", "")
        viewer.communicate()
        self.assertEqual(viewer.returncode, 0)
        self.assertEqual(sorted(self.ran()), sorted(self.ALL[1:]))

    def test_the_terminal_may_end(self):
        viewer, terminal = pty.fork()
        if viewer == 0:
            os.execve(sys.executable, self.command(), self.environment)
        self.wait_for_toy()
        os.close(terminal) # hangs up
        os.waitpid(viewer, 0)
        self.write("build/go", "")
        self.wait_until(self.has_ended)
        self.assertEqual(sorted(self.ran()), sorted(self.ALL))

    def has_ended(self):
        return "ended" in self.read("build/long/now.json")

    def test_a_second_call_shows_the_first(self):
        first = self.start()
        self.wait_for_toy()
        second = self.start()
        shown = second.stdout.readline()
        self.assertIn("a run is under way", shown)
        self.assertIn("process %d" % self.runner(), shown)
        self.write("build/go", "")
        for viewer in (first, second):
            text = viewer.communicate()[0]
            self.assertIn("8 passed", text)
            self.assertEqual(viewer.returncode, 0)
        self.assertEqual(sorted(self.ran()), sorted(self.ALL))

    def test_ctrl_c_only_leaves_the_picture(self):
        viewer = self.start()
        self.wait_for_toy()
        viewer.send_signal(signal.SIGINT)
        self.assertIn("the run goes on", viewer.communicate()[0])
        self.write("build/go", "")
        self.wait_until(self.has_ended)
        self.assertEqual(sorted(self.ran()), sorted(self.ALL))

    def test_the_bar_has_the_time_that_is_left(self):
        viewer, terminal = pty.fork()
        if viewer == 0:
            os.execve(sys.executable, self.command(), self.environment)
        text = b""
        while b"left, to" not in text or b"waits" not in text:
            text += os.read(terminal, 4096)
        self.assertRegex(text.decode(), r"\[#*\.*\] \d+ of 8; .* of 5 min; .* left, to \d\d:\d\d")
        self.write("build/go", "")
        try:
            while os.read(terminal, 4096):
                pass
        except OSError: # the other side is closed
            pass
        self.assertEqual(os.waitpid(viewer, 0)[1], 0)
        os.close(terminal)

    def test_skips_and_limits(self):
        self.steps("[no]\nwhat = w\nrun = echo 'skipped: there is no moon'; exit 77\n"
                   "[long]\nwhat = w\nlimit = 1 s\nrun = echo $$ >$OUT/waiting; sleep 1000\n"
                   "[some]\nwhat = w\nlogs = build/inner\n"
                   "run = echo 'skipped: no stars' >build/inner\n")
        done = self.tool()
        self.assertEqual(done.returncode, 1)
        self.assertEqual([e["result"] for e in self.ledger()], ["skipped", "failed", "passed"])
        report = self.read("docs/verification/report.md")
        self.assertIn("`no` skipped: there is no moon", report)
        self.assertIn("`long` failed: took longer than 1 s", report)
        self.assertIn("- `some`: no stars (1)", report)
        self.assertFalse(os.path.exists("/proc/" + self.read("build/waiting").strip()))
        self.assertEqual(self.tool("no", "some").returncode, 0)

    def test_a_ledger_that_was_cut_off(self):
        self.tool("first")
        path = os.path.join(self.out, "long", "ledger.jsonl")
        with open(path, "a", encoding="utf-8") as file:
            file.write('{"piece": "last", "resu')
        self.assertEqual(self.tool("first", "last").returncode, 0)
        self.assertEqual(self.ran(), ["first", "last"])
        self.assertEqual(self.tool("first", "last").returncode, 0)
        self.assertEqual(self.ran(), [])

    # ---- the ledger that is committed ----

    KEPT = "docs/verification/ledger.jsonl"

    def kept(self):
        return [json.loads(line) for line in self.read(self.KEPT).splitlines()]

    def another_machine(self):
        """Only what is in the tree is left."""
        shutil.rmtree(os.path.join(self.out, "long"))
        self.ran()

    def test_another_machine_goes_on_from_the_committed_ledger(self):
        self.tool("first", "parts")
        report = self.read("docs/verification/report.md")
        self.another_machine()
        self.assertRegex(self.tool("--status").stdout, r"parts +passed +5 of 5")
        self.tool("--report")
        self.assertEqual(self.read("docs/verification/report.md"), report)
        self.write("build/go", "")
        self.assertEqual(self.tool().returncode, 0)
        self.assertEqual(sorted(self.ran()), ["last", "waits"])
        self.another_machine()
        self.assertEqual(self.tool().returncode, 0)
        self.assertEqual(self.ran(), [])
        self.assertEqual([e["piece"] for e in self.kept()], sorted(e["piece"] for e in self.kept()))
        self.assertEqual(len(self.kept()), 8)
        self.assertTrue(all(e["machine"] for e in self.kept()))

    def test_the_committed_ledger_is_of_files_as_they_were(self):
        self.tool("first", "last", "parts")
        self.another_machine()
        before = self.read(self.KEPT)
        self.write("a.c", "changed")
        self.tool("--report")
        self.assertEqual(self.read(self.KEPT), before)
        self.assertIn("| first.result | older |", self.read("docs/verification/report.md"))
        self.tool("first")
        self.assertEqual(self.ran(), ["first"])
        self.assertEqual(len([e for e in self.kept() if e["piece"] == "first"]), 1)
        os.remove(os.path.join(self.root, "b.c")) # and with it a part
        self.tool("--report")
        self.assertNotIn("parts:b.c", [e["piece"] for e in self.kept()])
        self.assertIn("parts:a.c", [e["piece"] for e in self.kept()])

    def test_a_pass_of_committed_files_stays(self):
        def git(*arguments):
            subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e"] + list(arguments),
                           cwd=self.root, check=True, stdout=subprocess.DEVNULL)
        git("init", "-q")
        git("add", "-A")
        git("commit", "-q", "-m", "m")
        self.tool("first")
        git("add", "-A")
        git("commit", "-q", "-m", "the ledger")
        self.write("a.c", "a trial")
        self.tool("first")
        self.assertEqual([e["commit"].endswith("+") for e in self.kept()], [False, True])
        self.another_machine()
        self.write("a.c", "a")
        self.tool("first")
        self.assertEqual(self.ran(), [])

    def test_a_committed_ledger_with_broken_lines(self):
        self.tool("first", "last")
        self.another_machine()
        first, last = self.read(self.KEPT).splitlines()
        self.write(self.KEPT, "<<<<<<< ours\n" + first + "\n" + first + '\n{"piece": 3}\n[]\n' +
                   last[:40] + "\n" + last.replace('"seconds": ', '"seconds": "') + "\n")
        self.assertEqual(self.tool("--check").returncode, 1)
        done = self.tool("first", "last")
        for at in (1, 4, 5, 6, 7):
            self.assertIn("ledger.jsonl:%d: this line is no entry" % at, done.stdout)
        self.assertNotIn("ledger.jsonl:2:", done.stdout)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(self.ran(), ["last"])
        self.assertEqual([e["piece"] for e in self.kept()], ["first", "last"])
        self.assertNotIn("no entry", self.tool("--status").stdout)

    def test_what_each_machine_runs_itself(self):
        self.steps(self.read("build/steps.ini").replace("of = a.c\nsum", "of = a.c\nhere = yes\nsum"))
        self.tool("first")
        self.tool("first")
        self.assertEqual(self.ran(), ["first"])
        self.another_machine()
        self.assertRegex(self.tool("--status").stdout, r"first +passed +1 of 1")
        self.tool("first")
        self.assertEqual(self.ran(), ["first"])

    def test_status_and_report(self):
        self.write("build/go", "")
        self.tool("first", "parts")
        status = self.tool("--status").stdout
        self.assertRegex(status, r"first +passed +1 of 1")
        self.assertRegex(status, r"parts +passed +5 of 5")
        self.assertRegex(status, r"waits +open +0 of 1")
        report = self.read("docs/verification/report.md")
        self.assertIn("| first.things | 42 |", report)
        self.assertIn("| first.width | 3 |", report)
        self.assertIn("| parts.sevens | 35 |", report)
        self.assertIn("| waits.result | open |", report)
        self.write("a.c", "changed")
        self.tool("--report")
        self.assertIn("| first.result | older |", self.read("docs/verification/report.md"))

    def test_pages_take_their_figures_from_the_report(self):
        page = ("| R01 | a goal: 40 | <!-- = first.things --><!-- /= --> things, `2^32`, x86-64 |\n"
                "| R02 | a goal | <!-- = waits.result -->passed<!-- /= --> |\n"
                "| R03 | a goal | <!-- = first last -->met<!-- /= --> |\n")
        page += "".join("| R%02d | a goal | met |\n" % n for n in range(4, 39))
        self.write("docs/verification.md", page)
        self.assertEqual(self.tool("--check").returncode, 1)
        self.tool("first")
        self.assertIn("-->42<!-- /= --> things", self.read("docs/verification.md"))
        self.assertIn("waits.result -->open<!-- /= -->", self.read("docs/verification.md"))
        self.assertIn("first last -->open<!-- /= -->", self.read("docs/verification.md"))
        self.tool("last")
        self.assertIn("first last -->met<!-- /= -->", self.read("docs/verification.md"))
        done = self.tool("--check")
        self.assertEqual(done.returncode, 0, done.stdout)
        good = self.read("docs/verification.md")
        for bad, message in (
                (good.replace("-->42<", "-->43<"), "first.things is 42 in the report, not 43"),
                (good.replace("x86-64", "50 more"), "the number 50 was typed"),
                (good.replace("first.things", "nobody.things"), "names no step"),
                (good.replace("| R07 |", "| R06 |"), "not R01 to R38")):
            self.write("docs/verification.md", bad)
            done = self.tool("--check")
            self.assertEqual(done.returncode, 1)
            self.assertIn(message, done.stdout)

    def test_pieces_that_go_on_by_themselves_and_conditions(self):
        self.steps("[slow]\nwhat = w\ncount.rounds = ^round\nrequire = rounds >= 3\n"
                   "run = echo round; echo x >>$OUT/ran; [ $(wc -l <$OUT/ran) -ge 3 ] || exit 75\n"
                   "[few]\nwhat = w\nsum.found = (\\d+) found\nrequire = found >= 3\n"
                   "run = echo 2 found\n")
        self.assertEqual(self.tool("slow").returncode, 0)
        self.assertEqual(self.ran(), ["x"] * 3)
        self.assertEqual(self.tool("few").returncode, 1)
        report = self.read("docs/verification/report.md")
        self.assertIn("| slow.result | passed |", report)
        self.assertIn("| few.result | failed |", report)

    def test_what_comes_before_the_parts(self):
        self.steps("[a]\nwhat = w\nbefore = echo built >>$OUT/ran; [ ! -e $OUT/broken ]\n"
                   "parts = 1..2\nrun = echo $PART >>$OUT/ran\n")
        self.write("build/broken", "")
        self.assertEqual(self.tool().returncode, 1)
        self.assertEqual(self.ran(), ["built"])
        self.assertEqual([e["result"] for e in self.ledger()], ["failed", "failed"])
        os.remove(os.path.join(self.out, "broken"))
        self.assertEqual(self.tool().returncode, 0)
        self.assertEqual(self.ran(), ["built", "1", "2"])
        self.assertEqual(self.tool().returncode, 0)
        self.assertEqual(self.ran(), [])

    def test_mistakes_in_the_list_of_steps(self):
        self.steps("[a]\nwhat = w\nrun = true\nlimt = 5 s\n")
        self.assertIn("unknown word 'limt'", self.tool().stdout)
        self.steps("[a]\nwhat = w\nrun = true\nlimit = soon\n")
        self.assertIn("no time: 'soon'", self.tool().stdout)


class RealSteps(unittest.TestCase):
    """The list of the project: nothing is forgotten, nothing takes longer than an hour."""

    def test_the_list(self):
        sys.path.insert(0, os.path.join(PROJECT, "tools", "long"))
        import plan
        steps = {s.name: s for s in
                 plan.read_steps(PROJECT, os.path.join(PROJECT, "tools", "long", "steps.ini"))}
        for step in steps.values():
            self.assertTrue(step.parts(), step.name)
            self.assertLessEqual(step.limit, 3600, step.name)
            self.assertLessEqual(step.about, step.limit, step.name)
            for path in step.of:
                self.assertTrue(os.path.exists(os.path.join(PROJECT, path)),
                                "%s: there is no %s" % (step.name, path))
        targets = [name[:-2] for name in os.listdir(os.path.join(PROJECT, "tests", "fuzz"))
                   if name.endswith(".c")]
        self.assertEqual(sorted(steps["fuzz"].parts()), sorted(targets))

    def test_the_parts_of_a_file_have_all_its_mutants(self):
        def mutants(*arguments):
            return subprocess.run([os.path.join(PROJECT, "tools", "code-mutants")] + list(arguments),
                                  text=True, stdout=subprocess.PIPE, check=True).stdout.splitlines()
        file = "src/core/deque.c"
        parts = mutants("--list-parts", file)
        self.assertGreater(len(parts), 1)
        found = [line for part in parts for line in mutants("-n", "--part", part)]
        self.assertEqual(sorted(found), sorted(mutants("-n", file)))


if __name__ == "__main__":
    if shutil.which("git") is None:
        print("skipped: git is not installed")
        sys.exit(77)
    # A shell ignores Ctrl-C in what it starts in the background, and we would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    unittest.main()
