#!/usr/bin/env python3
"""A second opinion on a trace, by another parser than ours: strict JSON without doubled
keys, NaN or Infinity; slices nested on each track; arrows with two ends, in order.

Usage: strict.py TRACE.json [TRACE.json...]

SPDX-License-Identifier: MIT"""
import json
import sys


def refuse(what):
    raise ValueError(what)


def without_doubles(pairs):
    keys = [key for key, _ in pairs]
    if len(set(keys)) != len(keys):
        refuse(f"a key twice: {keys}")
    return dict(pairs)


def nanoseconds(us):
    return round(us * 1000)


def slices_of(events):
    """Each slice as (tid, begin, -end), which sorts outer ones first."""
    opened, slices = {}, []
    for e in events:
        tid = e.get("tid")
        if e["ph"] == "X":
            begin = nanoseconds(e["ts"])
            slices.append((tid, begin, -(begin + nanoseconds(e["dur"]))))
        elif e["ph"] == "B":
            opened.setdefault(tid, []).append((nanoseconds(e["ts"]), e["name"]))
        elif e["ph"] == "E":
            begin, name = opened[tid].pop()
            if e["name"] != name:  # Perfetto would not find the beginning
                refuse(f"{name} ends as {e['name']}")
            slices.append((tid, begin, -nanoseconds(e["ts"])))
    for tid, begins in opened.items():  # of a process that was killed
        slices += [(tid, begin, -(1 << 62)) for begin, _ in begins]
    return sorted(slices)


def check_nesting(events):
    stack, track = [], None
    for tid, begin, end in slices_of(events):
        if tid != track:
            stack, track = [], tid
        while stack and stack[-1] <= begin:
            stack.pop()
        if stack and -end > stack[-1]:
            refuse(f"track {tid}: [{begin}, {-end}) is not inside a slice until {stack[-1]}")
        stack.append(-end)


def check_arrows(events):
    starts, ends = {}, {}
    for e in events:
        if e["ph"] in "sf":
            side = starts if e["ph"] == "s" else ends
            if e["id"] in side:
                refuse(f"arrow {e['id']} twice")
            side[e["id"]] = e
    if starts.keys() != ends.keys():
        refuse(f"arrows with one end: {sorted(starts.keys() ^ ends.keys())[:5]}")
    for number, start in starts.items():
        if start["ts"] > ends[number]["ts"] or start["cat"] != ends[number]["cat"]:
            refuse(f"arrow {number} goes back in time, or changes its kind")


def check(path):
    with open(path, encoding="utf-8", errors="strict") as file:
        whole = json.load(file, parse_constant=refuse, object_pairs_hook=without_doubles)
    events = whole["traceEvents"]
    for e in events:
        if e["ph"] not in tuple("MXBEisfC"):
            refuse(f"an event of phase {e['ph']}")
        if e["ph"] != "M" and e["ts"] < 0 or e.get("dur", 0) < 0:
            refuse(f"negative times: {e}")
    check_nesting(events)
    check_arrows(events)
    return len(events)


if __name__ == "__main__":
    for path in sys.argv[1:]:
        try:
            print(f"{path}: {check(path)} events")
        except (ValueError, KeyError, TypeError, IndexError) as problem:
            sys.exit(f"{path}: {problem!r}")
