"""Runs the steps, one after the other, in a process that no terminal owns, and shows how far it is.

The runner holds a lock for as long as it lives; whoever finds the lock taken only looks on. What it
does is in `now.json`, which is replaced as a whole, so that a viewer never reads half of it.
"""
import concurrent.futures
import datetime
import fcntl
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time

import ledger
import plan
import report

SKIPPED = 77
KEPT = "docs/verification/ledger.jsonl"
UNFINISHED = 75 # it stopped by itself and goes on when it is started again
MARK = "WEFT_LONG_STATE" # in the environment of all that the runner starts


def utc_now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M")


def replace_file(path, text):
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".new", path)


def problems_of_ledger(root):
    """Lines of the committed ledger that cannot be read."""
    return ["%s:%d: this line is no entry of a ledger; it does not count" % (KEPT, at)
            for at in ledger.Ledger(os.path.join(root, KEPT)).broken()]


class State:
    """The folder with ledger, logs, lock and what runs now; and the ledger that is committed."""

    def __init__(self, folder, root):
        self.folder = os.path.abspath(folder)
        self.logs = os.path.join(self.folder, "logs")
        os.makedirs(self.logs, exist_ok=True)
        self.ledger = ledger.Ledger(os.path.join(self.folder, "ledger.jsonl"))
        self.kept = ledger.Ledger(os.path.join(root, KEPT))
        self.now = os.path.join(self.folder, "now.json")

    def history(self):
        return ledger.History(self.ledger.lines(), self.kept.lines())

    def history_here(self):
        """What this machine itself has run."""
        return ledger.History(self.ledger.lines())

    def keep(self, steps, tree):
        """Writes the ledger that is committed: of each piece what the report shows, and the last
        pass of files without local changes, which may be what somebody goes back to."""
        history = self.history()
        entries = []
        for step in steps:
            try:
                for piece in step.pieces():
                    shown, _ = report.pick(history, piece.name, tree.key(step, piece.part))
                    of_piece = history.by_piece.get(piece.name, [])
                    clean = [entry for entry in of_piece
                             if entry["result"] == "passed" and not entry["commit"].endswith("+")]
                    entries += [entry for entry in of_piece
                                if entry is shown or entry in clean[-1:]]
            except ValueError: # its parts cannot be listed now
                entries += [entry for entry in self.kept.lines() if entry["step"] == step.name]
        if entries or os.path.exists(self.kept.path):
            self.kept.replace(entries)

    def log_of(self, piece):
        return os.path.join(self.logs, re.sub(r"[^A-Za-z0-9_.-]+", "_", piece) + ".log")

    def take_lock(self):
        """An open file that holds the lock, or None: another process has it."""
        file = open(os.path.join(self.folder, "lock"), "a+", encoding="utf-8")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            return None
        return file

    def read_now(self):
        try:
            with open(self.now, encoding="utf-8") as file:
                return json.load(file)
        except (FileNotFoundError, ValueError):
            return {}

    def running(self):
        """What runs now, or None."""
        file = self.take_lock()
        if file is None:
            return self.read_now()
        file.close()
        return None


def is_ours(pid, folder):
    """Was this process started by a runner with this folder? Numbers are used again."""
    try:
        with open("/proc/%d/environ" % pid, "rb") as file:
            return (MARK + "=" + folder).encode() in file.read().split(b"\0")
    except OSError:
        return False


def end_group(pid):
    """Ends a process with all that it has started, unless it leaves in time by itself."""
    for sign, wait in ((signal.SIGTERM, 5), (signal.SIGKILL, 0)):
        try:
            os.killpg(pid, sign)
        except ProcessLookupError:
            return
        until = time.monotonic() + wait
        while time.monotonic() < until:
            try:
                os.killpg(pid, 0)
            except ProcessLookupError:
                return
            time.sleep(0.05)


class Runner:
    def __init__(self, root, every_step, steps, state, again):
        self.root = root
        self.every_step = every_step # of the report
        self.steps = steps           # that were asked for
        self.state = state
        self.again = again
        self.guard = threading.Lock() # of what follows
        self.current = {}             # piece: (process, when it began)
        self.stopping = False
        self.now = {}

    # ---- what viewers see ----

    def publish(self, **changes):
        with self.guard:
            self.now.update(changes)
            self.now["current"] = {name: [process.pid, began]
                                   for name, (process, began) in self.current.items()}
            replace_file(self.state.now, json.dumps(self.now))

    # ---- one piece ----

    def start(self, piece, log, slot, command):
        work = os.path.join(self.state.folder, "work-%d" % slot)
        os.makedirs(work, exist_ok=True)
        environment = dict(os.environ, PART=piece.part, WORK=work)
        environment[MARK] = self.state.folder
        for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):
            environment.pop(name, None)
        before = shlex.split(os.environ.get("WEFT_LONG_RUN", ""))
        return subprocess.Popen(
            before + ["bash", "-c", "set -euo pipefail\n" + command], cwd=self.root,
            env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
            start_new_session=True)

    def wait_for(self, process, limit):
        """The exit code, or None: it took longer than allowed."""
        try:
            return process.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            end_group(process.pid)
            process.wait()
            return None

    def prepare(self, step, pieces):
        """Runs what comes once before the parts. If it fails, so have they."""
        whole = plan.Piece(step, "")
        whole.name = step.name + ":before"
        clock = time.time()
        path = self.state.log_of(whole.name)
        with open(path, "wb") as log:
            process = self.start(whole, log, 0, step.before)
            with self.guard:
                self.current[whole.name] = (process, clock)
            self.publish()
            code = self.wait_for(process, step.limit)
            end_group(process.pid)
        with self.guard:
            del self.current[whole.name]
        if code == 0 and not self.stopping:
            return True
        tree = plan.Tree(self.root, self.state.folder)
        for piece in pieces:
            self.state.ledger.add(
                step=step.name, piece=piece.name, key=tree.key(step, piece.part),
                commit=tree.commit(), result="stopped" if self.stopping else "failed",
                reason="what comes before it failed: " + os.path.relpath(path, self.root),
                began=utc_now(), seconds=0, figures={}, skipped={}, machine=report.machine())
        return False

    def run_piece(self, piece, slots):
        if self.stopping:
            return
        slot = slots.pop()
        tree = plan.Tree(self.root, self.state.folder)
        key, commit = tree.key(piece.step, piece.part), tree.commit()
        path = self.state.log_of(piece.name)
        began, clock = utc_now(), time.time()
        with open(path, "wb") as log:
            code = UNFINISHED
            while code == UNFINISHED and not self.stopping:
                process = self.start(piece, log, slot, piece.step.run)
                with self.guard:
                    self.current[piece.name] = (process, clock)
                self.publish()
                code = self.wait_for(process, piece.step.limit)
                end_group(process.pid) # what it has left behind
        with self.guard:
            del self.current[piece.name]
        slots.append(slot)
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
        after = plan.Tree(self.root, self.state.folder).key(piece.step, piece.part)
        result, reason = self.judge(code, text, piece, key == after)
        self.state.ledger.add(
            step=piece.step.name, piece=piece.name, key=key, commit=commit, result=result,
            reason=reason, began=began, seconds=round(time.time() - clock, 1),
            figures=piece.step.figures_in(text), skipped=self.skips(piece, text, clock),
            machine=report.machine())
        self.publish()

    def judge(self, code, text, piece, same_tree):
        last = [line for line in text.splitlines() if line.strip()][-1:]
        if self.stopping:
            return "stopped", "the run was stopped"
        if code is None:
            return "failed", "took longer than %s" % report.duration(piece.step.limit)
        if code == SKIPPED:
            said = re.findall(r"^skipped: (.*)", text, re.M)
            return "skipped", said[-1] if said else "".join(last)
        if code != 0:
            return "failed", "exit code %d: %s" % (code, "".join(last)[:200])
        if not same_tree:
            return "changed", "files changed while it ran"
        return "passed", ""

    def skips(self, piece, text, since):
        """What the programs of a step say that they left out. CTest keeps their output in a log
        of its own."""
        for name in piece.step.logs:
            path = os.path.join(self.root, name)
            if os.path.exists(path) and os.path.getmtime(path) >= since - 1:
                with open(path, encoding="utf-8", errors="replace") as file:
                    text += file.read()
        counts = {}
        for line in re.findall(r"^ *skipped: (.*)", text, re.M):
            line = re.sub(r"\s+", " ", line).strip()[:160]
            counts[line] = counts.get(line, 0) + 1
        return counts

    # ---- all of them ----

    def pieces_left(self, step):
        tree = plan.Tree(self.root, self.state.folder)
        history = self.state.history_here() if step.here else self.state.history()
        return [piece for piece in step.pieces()
                if self.again or not history.has_passed(piece.name, tree.key(step, piece.part))]

    def clear_leftovers(self):
        """Ends what a runner has left that was killed."""
        for pid, _ in self.state.read_now().get("current", {}).values():
            if is_ours(pid, self.state.folder):
                end_group(pid)

    def stop(self, *_):
        self.stopping = True
        for process, _ in list(self.current.values()):
            threading.Thread(target=end_group, args=(process.pid,)).start()

    def run_all(self):
        self.clear_leftovers()
        signal.signal(signal.SIGTERM, self.stop)
        signal.signal(signal.SIGINT, self.stop)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        self.now = {"pid": os.getpid(), "began": time.time(),
                    "run": "%d-%f" % (os.getpid(), time.time()),
                    "steps": [step.name for step in self.steps],
                    "first_line": len(self.state.ledger.lines())}
        left = {step.name: [piece.name for piece in self.pieces_left(step)]
                for step in self.steps}
        self.publish(left=left)
        for step in self.steps:
            if not self.stopping:
                self.run_step(step)
        return self.finish()

    def run_step(self, step):
        jobs = (os.cpu_count() or 1) if step.parallel else 1
        slots = list(range(jobs))
        pieces = self.pieces_left(step)
        if pieces and step.before and not self.prepare(step, pieces):
            pieces = []
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for done in [pool.submit(self.run_piece, p, slots) for p in pieces]:
                done.result()
        report.write(self.root, self.every_step, self.state)

    def finish(self):
        tree = plan.Tree(self.root, self.state.folder)
        history = self.state.history()
        count = {}
        for step in self.steps:
            for piece in step.pieces():
                entry = history.for_key(piece.name, tree.key(step, piece.part))
                result = entry["result"] if entry else "open"
                count[result] = count.get(result, 0) + 1
        states = {report.row_of(step, history, tree).state for step in self.steps}
        good = set(count) | states <= {"passed", "skipped"}
        for slot in range(os.cpu_count() or 1):
            shutil.rmtree(os.path.join(self.state.folder, "work-%d" % slot), ignore_errors=True)
        self.publish(ended=time.time(), count=count, status=0 if good else 1)
        return 0 if good else 1


def start_in_background(program, arguments, state):
    """A runner in a session of its own: the end of this terminal does not reach it."""
    with open(os.path.join(state.folder, "runner.log"), "ab") as log:
        return subprocess.Popen([sys.executable, program, "--runner"] + arguments,
                                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                start_new_session=True)
