#!/usr/bin/env python3
"""Writes the figures of docs/scaling.md: tables between its marks, and pictures as SVG.

    report.py BEFORE.json NOW.json PAGE.md PICTURES VALIDATION.json

BEFORE is what the library was when the machine was new; NOW is what it is. Both come from run.py.
"""
import json
import math
import sys

CORES = [1, 2, 4, 8, 16, 32, 64, 128, 256]
LOOPS = ["loop_1ns", "loop_100ns", "loop_10us", "uneven_1ns", "uneven_100ns", "uneven_10us"]
BUSY = ["fib", "uts", *LOOPS, "nested", "sort"]
COLOURS = ["#1f6feb", "#d1571b", "#2f8f4e", "#8250df", "#b8860b", "#0a7e8c"]


class Results:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.runs = json.load(file)

    def get(self, workload, cores, machine="server256", change=None):
        for run in self.runs:
            if (run["workload"] == workload and run["machine"] == machine
                    and run["cpus"] == cores and run.get("set") == change):
                return run
        return None

    def series(self, workload, value):
        points = []
        for cores in CORES:
            run = self.get(workload, cores)
            if run is not None and value(run) is not None:
                points.append((cores, value(run)))
        return points


def efficiency(run):
    return run["efficiency"]


def one_wake_us(machine):
    """What the machine file says a wake takes: the waker's part, and the way of the sleeper."""
    costs = {}
    with open(machine, encoding="utf-8") as file:
        for line in file:
            words = line.split("#")[0].split()
            if len(words) == 2:
                costs[words[0]] = words[1]
    return (float(costs["wake"]) + float(costs["wake_delay_halted"])) / 1000


def share(run):
    return run["hottest"] / run["misses"] if run["misses"] > 1000 else None


def touches(run):
    """Of the worker's line that is touched most: how often in 10 us."""
    return run["worker_line"] / (run["ns"] / 10000)


def per_steal(name):
    """A look into private parts closes pins as an ask does, so both count."""
    def value(run):
        count = run["asks"] + run["pins"] if name == "asks" else run[name]
        return count / run["steals"] if run["steals"] > 0 else None
    return value


def extra_us(run):
    return run["extra_ns"] / 1000


# ---- pictures ----

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 360, 60, 150, 34, 44


def svg(title, unit, curves, goal=None, logarithmic=False):
    """curves: (name, points, is_before). The x axis is the number of cores, by powers of two."""
    values = [y for _, points, _ in curves for _, y in points] + ([goal] if goal else [])
    top = max(values + [0.001]) * 1.05
    if not logarithmic:
        top = max(top, 1.0)
    low = max(min([v for v in values if v > 0] + [top]) / 1.5, top / 1e5)

    def x_of(cores):
        return LEFT + (WIDTH - LEFT - RIGHT) * math.log2(cores) / math.log2(CORES[-1])

    def y_of(value):
        if logarithmic:
            part = math.log(max(value, low) / low) / math.log(top / low)
        else:
            part = value / top
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * part

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
           f'font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
           f'<text x="{LEFT}" y="20" font-size="14" fill="#24292f">{title}</text>']
    steps = [low * (top / low) ** (i / 4) for i in range(5)] if logarithmic else \
        [top * i / 5 for i in range(6)]
    for step in steps:
        y = y_of(step)
        out.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" '
                   f'stroke="#d8dee4"/><text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end" '
                   f'fill="#57606a">{step:.3g}</text>')
    for cores in CORES:
        out.append(f'<text x="{x_of(cores):.1f}" y="{HEIGHT - BOTTOM + 18}" '
                   f'text-anchor="middle" fill="#57606a">{cores}</text>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle" '
               f'fill="#57606a">cores; {unit}</text>')
    if goal is not None:
        y = y_of(goal)
        out.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" '
                   f'stroke="#24292f" stroke-dasharray="2 3"/>'
                   f'<text x="{WIDTH - RIGHT + 6}" y="{y + 4:.1f}" fill="#24292f">goal</text>')
    names = []
    for name, points, is_before in curves:
        if name not in names:
            names.append(name)
        colour = COLOURS[names.index(name) % len(COLOURS)]
        path = " ".join(f"{x_of(x):.1f},{y_of(y):.1f}" for x, y in points)
        style = ' stroke-dasharray="6 4" opacity="0.6"' if is_before else ""
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" '
                   f'stroke-width="2"{style}/>')
    for i, name in enumerate(names):
        y = TOP + 14 + 18 * i
        out.append(f'<text x="{WIDTH - RIGHT + 12}" y="{y}" '
                   f'fill="{COLOURS[i % len(COLOURS)]}">{name}</text>')
    if any(is_before for _, _, is_before in curves):
        y = TOP + 14 + 18 * len(names)
        out.append(f'<text x="{WIDTH - RIGHT + 12}" y="{y}" fill="#57606a">dashed: before</text>')
    return "\n".join(out + ["</svg>"]) + "\n"


def curves_of(before, now, workloads, value):
    curves = []
    for workload in workloads:
        old, new = before.series(workload, value), now.series(workload, value)
        if old != new:
            curves.append((workload, old, True))
        curves.append((workload, new, False))
    return curves


def relative_to_eight(results):
    base = results.get("eight", 8)
    if base is None:
        return lambda run: None
    return lambda run: run["ns"] / base["ns"] if run["cpus"] >= 8 else None


def pictures(before, now, folder, wake_us):
    goal3 = 4 * 8 * wake_us
    six = []
    for results, old in ((before, True), (now, False)):
        six.append(("eight", results.series("eight", relative_to_eight(results)), old))
    if six[0][1] == six[1][1]:
        six = six[1:]
    files = {
        "s1": svg("S1: trees, 2 ms of work per core", "part of ideal speed-up",
                  curves_of(before, now, ["fib", "uts"], efficiency), 0.9),
        "s2": svg("S2: loops, 1 ms of work per core", "part of ideal speed-up",
                  curves_of(before, now, LOOPS, efficiency), 0.9),
        "s3": svg("S3: from all asleep to all at work", "microseconds",
                  curves_of(before, now, ["wake_loop", "wake_tree"], extra_us), goal3, True),
        "s4": svg("S4: asks and barriers for each steal", "number",
                  [(f"{w}: {what}", r.series(w, per_steal(what)), old)
                   for w in ("fib", "loop_100ns") for what in ("asks", "barriers")
                   for r, old in ((before, True), (now, False))
                   if not old or before.series(w, per_steal(what))
                   != now.series(w, per_steal(what))], 2),
        "s5": svg("S5: misses of the hottest line", "part of all coherence misses",
                  curves_of(before, now, ["fib", "uts", "loop_100ns", "sort", "spawn_one"],
                            share), 0.1),
        "s6": svg("S6: 8 CPUs' worth of work", "time, on 8 cores = 1", six, 1),
    }
    for name, text in files.items():
        with open(f"{folder}/scaling-{name}.svg", "w", encoding="utf-8") as file:
            file.write(text)


# ---- tables ----

def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def worst(results, workloads, cores, value, largest):
    found = [(value(run), w) for w in workloads
             for run in [results.get(w, cores)] if run is not None and value(run) is not None]
    return (max(found) if largest else min(found)) if found else (float("nan"), "-")


def mean(results, workloads, cores, value):
    found = [value(run) for w in workloads
             for run in [results.get(w, cores)] if run is not None and value(run) is not None]
    return sum(found) / len(found) if found else float("nan")


def goals(before, now, wake_us):
    rows = []

    def add(goal, what, limit, at_least, value, form="{:.2f}"):
        old, new = value(before), value(now)
        good = new >= limit if at_least else new <= limit
        rows.append([goal, what, ("≥ " if at_least else "≤ ") + form.format(limit),
                     form.format(old), form.format(new), "yes" if good else "no"])

    for workload in ("fib", "uts"):
        for cores, limit in ((64, 0.9), (256, 0.8)):
            add("S1", f"{workload}, {cores} cores, of ideal", limit, True,
                lambda r, w=workload, c=cores: r.get(w, c)["efficiency"])
    for workload in LOOPS:
        add("S2", f"{workload}, 256 cores, of ideal", 0.9, True,
            lambda r, w=workload: r.get(w, 256)["efficiency"])
    for workload in ("wake_loop", "wake_tree"):
        add("S3", f"{workload}, 256 cores, µs", 4 * 8 * wake_us, False,
            lambda r, w=workload: extra_us(r.get(w, 256)), "{:.0f}")
    add("S4", "a line of a busy worker, 255 idle: touches in 10 µs", 1, False,
        lambda r: touches(r.get("idle", 256)))
    add("S4", "a line of 8 busy workers, 248 idle: touches in 10 µs", 1, False,
        lambda r: touches(r.get("eight", 256)))
    add("S4", "asks per steal, 256 cores, mean", 2, False,
        lambda r: mean(r, BUSY, 256, per_steal("asks")))
    add("S4", "barriers per steal, 256 cores, mean", 1, False,
        lambda r: mean(r, BUSY, 256, per_steal("barriers")))
    add("S5", "hottest line, 256 cores, worst of the loads above", 0.1, False,
        lambda r: worst(r, BUSY, 256, share, True)[0])
    add("S5", "hottest line, 256 cores, spawns of one worker", 0.1, False,
        lambda r: share(r.get("spawn_one", 256)))
    add("S6", "8 CPUs' worth on 256 cores, time on 8 = 1", 1.0, False,
        lambda r: relative_to_eight(r)(r.get("eight", 256)))
    return table(["", "goal", "limit", "before", "now", "met"], rows)


def on_64(before, now):
    """What most users of large machines have: of ideal, and how long a wake-up takes."""
    rows = []
    for name, results in (("before", before), ("now", now)):
        cells = [name] + [f"{results.get(w, 64)['efficiency']:.2f}" for w in BUSY]
        cells += [f"{extra_us(results.get(w, 64)):.0f} µs" for w in ("wake_loop", "wake_tree")]
        cells.append(f"{results.get('callers', 64)['ns'] / 1e6:.1f} ms")
        rows.append(cells)
    return table(["", *BUSY, "wake_loop", "wake_tree", "callers"], rows)


def all_runs(now):
    rows = []
    for workload in sorted({run["workload"] for run in now.runs}):
        cells = [workload]
        for cores in (8, 64, 256):
            run = now.get(workload, cores)
            cells.append("-" if run is None else f"{run['ns'] / 1e6:.2f}")
        run = now.get(workload, 256)
        if run is not None:
            cells += [str(run[k]) for k in ("steals", "asks", "barriers", "wakes")]
            line = run["lines"][0] if run["lines"] else {"name": "-", "misses": 0}
            cells.append(f"{line['name']}: {line['misses']}")
        rows.append(cells)
    return table(["workload", "ms on 8", "64", "256 cores", "steals", "asks", "barriers",
                  "wakes", "most misses (256)"], rows)


def machines(now):
    rows = []
    for workload in sorted({run["workload"] for run in now.runs}):
        cells = [workload]
        for machine, cores in (("guest2", 2), ("desktop16", 16), ("server64", 64)):
            run = now.get(workload, cores, machine)
            cells.append("-" if run is None else f"{run['ns'] / 1e6:.2f} ms")
        rows.append(cells)
    return table(["workload", "guest2", "desktop16", "server64"], rows)


def sensitivity(now):
    rows = []
    for workload in ("fib", "loop_100ns"):
        for cores in (64, 256):
            cells = [f"{workload}, {cores} cores"]
            for change in ("barrier_cpu=50", None, "barrier_cpu=200"):
                run = now.get(workload, cores, change=change)
                cells.append("-" if run is None else f"{run['efficiency']:.2f}")
            rows.append(cells)
    return table(["of ideal", "50 ns", "100 ns", "200 ns"], rows)


def agrees(real, simulated):
    """Of two counts: within a factor of 2; small ones may differ by 3."""
    return max(real, simulated) <= 2 * min(real, simulated) or abs(real - simulated) <= 3


def validation(path):
    with open(path, encoding="utf-8") as file:
        pairs = json.load(file)
    rows = []
    for pair in pairs:
        real, simulated = pair["real"], pair["simulated"]
        ratio = simulated["ns"] / real["ns"]
        cells = [pair["workload"], f"{real['ns'] / 1e6:.2f}", f"{simulated['ns'] / 1e6:.2f}",
                 f"{ratio:.2f}", "yes" if 0.8 <= ratio <= 1.25 else "no"]
        for count in ("steals", "asks", "exposes", "takeovers", "wakes", "futile", "barriers"):
            mark = "" if agrees(real[count], simulated[count]) else "**"
            cells.append(f"{mark}{real[count]:.0f} / {simulated[count]:.0f}{mark}")
        rows.append(cells)
    return table(["workload", "real, ms", "simulated", "ratio", "within 25 %", "steals: r / s",
                  "asks", "exposes", "take-overs", "wakes", "futile", "barriers"], rows)


def main():
    before, now = Results(sys.argv[1]), Results(sys.argv[2])
    page, folder, checked = sys.argv[3], sys.argv[4], sys.argv[5]
    wake_us = one_wake_us(__file__.rsplit("/", 1)[0] + "/machines/server256.machine")
    pictures(before, now, folder, wake_us)
    blocks = {"goals": goals(before, now, wake_us), "on 64": on_64(before, now),
              "runs": all_runs(now),
              "machines": machines(now), "barrier": sensitivity(now),
              "validation": validation(checked)}
    with open(page, encoding="utf-8") as file:
        text = file.read()
    for name, block in blocks.items():
        begin, end = f"<!-- simulated: {name} -->\n", "<!-- end -->"
        at = text.find(begin)
        if at < 0:
            sys.exit(f"{page}: no mark for {name}")
        at += len(begin)
        text = text[:at] + block + "\n" + text[text.index(end, at):]
    with open(page, "w", encoding="utf-8") as file:
        file.write(text)


main()
