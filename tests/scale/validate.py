#!/usr/bin/env python3
"""Runs the same workloads on the real machine and on its simulation, and keeps both results.

    validate.py SCALE SCALE_REAL VALIDATION.json [REAL.json]

On the real machine each workload runs 9 times; kept are the medians. Nothing else should run there
meanwhile. SCALE may be "-": then only the real machine is measured, into VALIDATION.json. Such a
file is given as REAL.json later, instead of a measurement.
"""
import json
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# Large enough that each takes some milliseconds.
SIZES = {"fib": 5, "fib_bare": 1, "uts": 5, "loop_1ns": 10, "loop_100ns": 10, "loop_10us": 10,
         "uneven_10us": 10, "loops_20us": 1, "loops_20us_each": 1, "nested": 5, "sort": 5,
         "spawn_one": 0.1, "spawn_all": 0.1, "burst": 1, "callers": 0.2, "forks": 1}
KEYS = ("ns", "steals", "asks", "pins", "exposes", "takeovers", "barriers", "wakes", "sleeps",
        "futile", "failed")


def results(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def measure(real, size, workload):
    runs = results([real, "--size", str(size), "--repeat", "9", workload])
    return {k: statistics.median(r[k] for r in runs) for k in KEYS}


def simulate(simulated, size, workload):
    machine = f"{HERE}/machines/guest2.machine"
    runs = [results([simulated, "--machine", machine, "--size", str(size), "--seed", str(seed),
                     workload])[0] for seed in range(1, 6)]
    return {k: statistics.median(r[k] for r in runs) for k in KEYS}


def main():
    simulated, real, path = sys.argv[1:4]
    known = {}
    if len(sys.argv) > 4:
        with open(sys.argv[4], encoding="utf-8") as file:
            known = {pair["workload"]: pair["real"] for pair in json.load(file)}
    pairs = []
    for workload, size in SIZES.items():
        pair = {"workload": workload, "size": size}
        pair["real"] = known.get(workload) or measure(real, size, workload)
        if simulated != "-":
            pair["simulated"] = simulate(simulated, size, workload)
        pairs.append(pair)
    with open(path, "w", encoding="utf-8") as file:
        file.write("[\n" + ",\n".join(json.dumps(p) for p in pairs) + "\n]\n")


main()
