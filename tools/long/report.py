"""docs/verification/report.md, and the figures of docs/verification.md that come from it.

A page takes a figure in this way:

    <!-- = orders.killed -->112<!-- /= -->
    <!-- = tsan delays -->met<!-- /= -->

The text between the marks is the value that the report has; nobody types it. Names of steps alone
stand for the state of a goal: met if all of them have passed. In tables with the goals R01 to R38 no
other number may stand alone, unless it is in backquotes: what a test does may be said there, what was
reached may not.
"""
import functools
import os
import platform
import re
import subprocess

import plan

REPORT = "docs/verification/report.md"
PAGES = ["docs/verification.md", "docs/verification/goals.md"]
MARK = re.compile(r"<!-- = ([a-z0-9._ -]+) -->(.*?)<!-- /= -->")
GOALS = ["R%02d" % n for n in range(1, 39)]
OPEN = "open"


def duration(seconds):
    seconds = int(round(seconds))
    if seconds < 120:
        return "%d s" % seconds
    if seconds < 7200:
        return "%d min" % (seconds // 60)
    return "%d h %d min" % (seconds // 3600, seconds % 3600 // 60)


def with_commas(value):
    return "{:,}".format(value) if isinstance(value, int) else str(value)


def first_line(command):
    try:
        done = subprocess.run(command, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=False)
        return done.stdout.splitlines()[0] if done.stdout else ""
    except OSError:
        return ""


def version(command):
    found = re.search(r"\d+\.\d+(\.\d+)?", re.sub(r"\([^)]*\)", "", first_line(command)))
    return found.group(0) if found else ""


@functools.lru_cache(maxsize=None)
def machine():
    """The machine and its tools, in a line."""
    cpu = "unknown CPU"
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = re.findall(r"^model name\s*: (.*)", file.read(), re.M)
            cpu = names[0] if names else platform.machine()
    except OSError:
        pass
    tools = [(name, version([name, "--version"])) for name in ("gcc", "clang", "cmake")]
    return "%d CPUs, %s; Linux %s; %s" % (
        os.cpu_count() or 1, cpu, platform.release(),
        ", ".join("%s %s" % pair for pair in tools if pair[1]))


# ---- one step ----

class Row:
    """What the ledger says about a step."""

    def __init__(self):
        self.state = OPEN
        self.parts = self.passed = 0
        self.seconds = 0.0
        self.when = self.commit = self.reason = ""
        self.figures = {}
        self.skipped = {}
        self.failures = []
        self.entries = []


def pick(history, piece, key):
    """The entry that counts for a piece: of this tree; else the last pass, which is of an
    older one; else whatever came last."""
    entry = history.for_key(piece, key)
    if entry is not None and entry["result"] in ("passed", "skipped", "failed"):
        return entry, True
    return history.passes.get(piece) or entry or history.newest.get(piece), False


def row_of(step, history, tree):
    row = Row()
    states = []
    try:
        pieces = step.pieces()
    except ValueError as problem:
        row.reason = str(problem).splitlines()[0]
        return row
    for piece in pieces:
        row.parts += 1
        entry, current = pick(history, piece.name, tree.key(step, piece.part))
        if entry is None:
            states.append(OPEN)
            continue
        row.entries.append(entry)
        row.seconds += entry["seconds"]
        states.append(entry["result"] if current or entry["result"] != "passed" else "older")
        row.passed += states[-1] == "passed"
        for line, times in entry.get("skipped", {}).items():
            row.skipped[line] = row.skipped.get(line, 0) + times
        if entry["reason"]:
            row.failures.append((piece.name, entry["result"], entry["reason"]))
    fill_in(row, step, states)
    return row


def fill_in(row, step, states):
    for state in ("failed", "stopped", "changed", OPEN, "older", "skipped", "passed"):
        if state in states:
            row.state = state
            break
    if row.state == OPEN and len(set(states)) > 1:
        row.state = "in part"
    if not row.entries:
        return
    newest = max(row.entries, key=lambda e: e["began"])
    row.when, row.commit = newest["began"], newest["commit"]
    named = [f for f in row.failures if f[1] in ("failed", "skipped")]
    row.reason = named[0][2] if named else ""
    names = []
    for entry in row.entries:
        names += [n for n in entry["figures"] if n not in names]
    for name in names:
        values = [e["figures"][name] for e in row.entries if name in e["figures"]]
        row.figures[name] = step.together(name, values)
    if row.state in ("passed", "older") and not step.is_enough(row.figures):
        row.state, row.reason = "failed", "not so: " + step.require
        row.failures.append((step.name, "failed", row.reason))


# ---- the report ----

def write(root, steps, state):
    """Writes the report from the ledgers, the figures into the pages, and the committed ledger."""
    tree = plan.Tree(root, state.folder)
    state.keep(steps, tree)
    history = state.history()
    rows = [(step, row_of(step, history, tree)) for step in steps]
    path = os.path.join(root, REPORT)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    text = "\n".join(lines_of(rows, tree)) + "\n"
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".new", path)
    fill_pages(root)


def lines_of(rows, tree):
    yield "# Report of the long checks"
    yield ""
    yield "Written by `make check-long`; nothing here is typed by hand. [verification](../verification.md)"
    yield "explains what the figures mean and takes its own from here."
    yield ""
    ran = [e for _, row in rows for e in row.entries]
    if ran:
        yield "- Begun %s, last step begun %s (UTC)." % (
            min(e["began"] for e in ran), max(e["began"] for e in ran))
    yield "- The files are those of commit %s; a + means: with changes." % tree.commit()
    for name in sorted({e["machine"] for e in ran}):
        yield "- Machine: %s." % name
    counts = {}
    for _, row in rows:
        counts[row.state] = counts.get(row.state, 0) + 1
    yield "- Steps: %s." % ", ".join("%d %s" % (n, s) for s, n in sorted(counts.items()))
    yield ""
    yield "`passed` holds for these files. `older`: it passed, but files that it depends on have"
    yield "changed since. `in part`: some of its parts have not been run. `open`: never run."
    yield ""
    yield from table_of_steps(rows)
    yield from what_did_not_pass(rows)
    yield from what_was_left_out(rows)
    yield from table_of_figures(rows, tree)


def table_of_steps(rows):
    yield "## Steps"
    yield ""
    yield "| step | what | result | parts | last begun (UTC) | commit | time | figures |"
    yield "|---|---|---|---|---|---|---|---|"
    for step, row in rows:
        figures = ", ".join("%s %s" % (with_commas(v), n.replace("_", " "))
                            for n, v in row.figures.items())
        yield "| `%s` | %s | %s | %d of %d | %s | %s | %s | %s |" % (
            step.name, step.what, row.state, row.passed, row.parts, row.when or "–",
            row.commit or "–", duration(row.seconds) if row.when else "–", figures)
    yield ""


def what_did_not_pass(rows):
    found = [(name, result, reason) for _, row in rows for name, result, reason in row.failures]
    if found:
        yield "## What did not pass"
        yield ""
        for name, result, reason in found:
            yield "- `%s` %s: %s" % (name, result, reason.replace("|", "/"))
        yield ""


def what_was_left_out(rows):
    yield "## What was left out, and why"
    yield ""
    yield "What programs of a step say themselves, and how often."
    yield ""
    empty = True
    for step, row in rows:
        for line, times in sorted(row.skipped.items()):
            empty = False
            yield "- `%s`: %s (%d)" % (step.name, line.replace("<", "&lt;"), times)
    if empty:
        yield "Nothing."
    yield ""


def table_of_figures(rows, tree):
    yield "## Figures"
    yield ""
    yield "| figure | value |"
    yield "|---|---|"
    yield "| all.commit | %s |" % tree.commit()
    for step, row in rows:
        facts = {"result": row.state, "parts": row.passed, "of": row.parts}
        if row.when:
            facts.update(date=row.when.split()[0], commit=row.commit, time=duration(row.seconds))
        for name, value in list(facts.items()) + list(row.figures.items()):
            yield "| %s.%s | %s |" % (step.name, name, with_commas(value))


# ---- the pages ----

def read_figures(root):
    """The figures of the report that is in the tree."""
    found = {}
    try:
        with open(os.path.join(root, REPORT), encoding="utf-8") as file:
            for name, value in re.findall(r"^\| ([a-z0-9_.-]+\.[a-z0-9_.-]+) \| (.*) \|$",
                                          file.read(), re.M):
                found[name] = value
    except FileNotFoundError:
        pass
    return found


def value_of(mark, figures):
    """A figure, or for names of steps the state of a goal that they show."""
    if "." in mark:
        return figures.get(mark, OPEN)
    results = {figures.get(step + ".result", OPEN) for step in mark.split()}
    if results == {"passed"}:
        return "met"
    if "failed" in results:
        return "not met"
    return "met by older files" if results == {"older"} else OPEN


def filled(text, figures):
    return MARK.sub(lambda m: "<!-- = %s -->%s<!-- /= -->" % (m[1], value_of(m[1], figures)), text)


def pages(root):
    for name in PAGES:
        path = os.path.join(root, name)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                yield name, path, file.read()


def fill_pages(root):
    figures = read_figures(root)
    for _, path, text in pages(root):
        new = filled(text, figures)
        if new != text:
            with open(path, "w", encoding="utf-8") as file:
                file.write(new)


def typed_numbers(text):
    """Numbers of the goals' table that somebody has typed: (line, number)."""
    for at, line in enumerate(text.splitlines(), 1):
        cells = line.split(" | ")
        if not re.match(r"\| R\d\d \|", line) or len(cells) < 3:
            continue
        reached = MARK.sub("", " ".join(cells[2:]))
        reached = re.sub(r"`[^`]*`|\]\([^)]*\)|R\d\d", "", reached)
        for found in re.findall(r"(?<![\w^.+/-])\d[\d,.]*(?![\w^/-])", reached):
            yield at, found


def check_pages(root, steps):
    """What is wrong with the pages: figures that the report does not have, or has differently,
    marks that name no step, and numbers that are typed."""
    figures = read_figures(root)
    names = {step.name for step in steps} | {"all"}
    for name, _, text in pages(root):
        for at, line in enumerate(text.splitlines(), 1):
            for figure, value in MARK.findall(line):
                right = value_of(figure, figures)
                if not {word.split(".")[0] for word in figure.split()} <= names:
                    yield "%s:%d: %s names no step" % (name, at, figure)
                elif value != right:
                    yield "%s:%d: %s is %s in the report, not %s" % (name, at, figure, right, value)
        goals = re.findall(r"^\| (R\d\d) \|", text, re.M)
        if goals and goals != GOALS:
            yield "%s: the goals are not R01 to R38, each once" % name
        for at, number in typed_numbers(text):
            yield "%s:%d: the number %s was typed by hand: take it from the report" % (
                name, at, number)
