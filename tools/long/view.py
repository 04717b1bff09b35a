"""Shows a run: a line for each piece that ends, and below them a bar with the time that is left."""
import os
import shutil
import sys
import time

import report

BAR = 24


def time_left(now, history, steps):
    """Seconds of all pieces that have not ended, from their last times; and of all of them."""
    left = whole = 0.0
    ended = {entry["piece"] for entry in history.lines[now.get("first_line", 0):]}
    for step in steps:
        pieces = now.get("left", {}).get(step.name, [])
        jobs = (os.cpu_count() or 1) if step.parallel else 1
        for piece in pieces:
            each = history.seconds(piece, step.about) / jobs
            whole += each
            if piece in ended:
                continue
            began = now.get("current", {}).get(piece)
            spent = (time.time() - began[1]) / jobs if began else 0
            left += max(each - spent, 0)
    return left, whole


def bar(now, history, steps):
    """One line: [####....] 3 of 12 pieces, fuzz:api 4 min of 30, 1 h 20 min left, to 16:40."""
    left, whole = time_left(now, history, steps)
    pieces = sum(len(v) for v in now.get("left", {}).values())
    done = len({e["piece"] for e in history.lines[now.get("first_line", 0):]})
    share = 1 - left / whole if whole else 1
    filled = min(BAR, int(BAR * share))
    about = {piece: history.seconds(piece, step.about)
             for step in steps for piece in now.get("left", {}).get(step.name, [])}
    running = ", ".join(
        "%s %s of %s" % (name, report.duration(time.time() - began[1]),
                         report.duration(about.get(name, 0)))
        for name, began in sorted(now.get("current", {}).items()))
    end = time.strftime("%H:%M", time.localtime(time.time() + left))
    return "[%s%s] %d of %d; %s; %s left, to %s" % (
        "#" * filled, "." * (BAR - filled), done, pieces, running or "between two steps",
        report.duration(left), end)


class Screen:
    """Lines that stay, and one below them that changes, where there is a terminal."""

    def __init__(self, out=None):
        self.out = out or sys.stdout
        self.live = self.out.isatty()

    def line(self, text):
        self.out.write(("\r\x1b[K" if self.live else "") + text + "\n")
        self.out.flush()

    def below(self, text):
        if self.live:
            width = shutil.get_terminal_size().columns - 1
            self.out.write("\r\x1b[K" + text[:width])
            self.out.flush()


def result_line(entry):
    text = "%-9s %-34s %9s" % (entry["result"], entry["piece"], report.duration(entry["seconds"]))
    return text + ("  " + entry["reason"] if entry["reason"] else "")


def follow(state, steps, run=None):
    """Shows the run until it has ended; returns its status. `run`: the one that was just
    started, which may not have the lock yet; None: the one that is under way."""
    screen = Screen()
    shown, began = None, time.monotonic()
    while True:
        alive = state.running() is not None
        now = state.read_now()
        if run is None or now.get("pid") == run.pid:
            lines = state.ledger.lines()
            shown = now.get("first_line", 0) if shown is None else shown
            for entry in lines[shown:]:
                screen.line(result_line(entry))
            shown = max(shown, len(lines))
            if "ended" in now and not alive:
                return summary(screen, now)
            screen.below(bar(now, state.history(), steps))
        if not alive and run is not None and run.poll() is None:
            alive = True # it is about to take the lock
        if not alive:
            screen.line("the run was ended from outside, or by an error (%s); the same command "
                        "goes on with the rest" % os.path.join(state.folder, "runner.log"))
            return 1
        time.sleep(0.1 if time.monotonic() - began < 5 else 1)


def summary(screen, now):
    took = report.duration(now["ended"] - now["began"])
    parts = ", ".join("%d %s" % (n, what) for what, n in sorted(now["count"].items()))
    screen.line("%s; %s in this run" % (parts or "nothing to run", took))
    return now["status"]


def show_status(state, steps, tree):
    """The ledger: for each step what has passed for this tree, and what happened last."""
    history = state.history()
    print("%-16s %-8s %-11s %-17s %-11s %9s" %
          ("step", "state", "parts", "last run", "commit", "time"))
    for step in steps:
        row = report.row_of(step, history, tree)
        print("%-16s %-8s %-11s %-17s %-11s %9s  %s" % (
            step.name, row.state, "%d of %d" % (row.passed, row.parts), row.when or "-",
            row.commit or "-", report.duration(row.seconds) if row.when else "-", row.reason))
