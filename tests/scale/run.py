#!/usr/bin/env python3
"""Runs the workloads on the simulated machines: what docs/scaling.md shows.

    run.py SCALE RESULTS.json [--quick]

SCALE is the program scale. As many runs at a time as the host has CPUs. The results are the same
each time, whatever the host.
"""
import concurrent.futures
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
CORES = [1, 2, 4, 8, 16, 32, 64, 128, 256]
QUICK = [1, 8, 64]

# Workload -> size. Smaller ones take less time on the host and show the same; the sizes that
# the table of goals asks for are kept where a goal is about them.
SIZES = {
    "fib": 1, "uts": 1, "loop_1ns": 1, "loop_100ns": 1, "loop_10us": 1,
    "uneven_1ns": 1, "uneven_100ns": 1, "uneven_10us": 1,
    "loops_20us": 0.05, "loops_20us_each": 0.1, "nested": 1, "sort": 1, "eight": 0.5,
    "spawn_one": 0.01, "spawn_all": 0.1, "wake_loop": 1, "wake_tree": 1, "burst": 0.1,
    "callers": 0.1, "idle": 1, "forks": 0.1,
}
# On the smaller machines, with all their CPUs.
SMALL = ["guest2", "desktop16", "server64"]


def runs(quick):
    for workload, size in SIZES.items():
        for cores in (QUICK if quick else CORES):
            yield {"machine": "server256", "cpus": cores, "workload": workload, "size": size}
    if quick:
        return
    for machine in SMALL:
        for workload, size in SIZES.items():
            yield {"machine": machine, "workload": workload, "size": size}
    for workload in ("fib", "loop_100ns"):
        for cost in (50, 200):
            for cores in (64, 256):
                yield {"machine": "server256", "cpus": cores, "workload": workload, "size": 1,
                       "set": f"barrier_cpu={cost}"}


def one(program, run):
    command = [program, "--machine", f"{HERE}/machines/{run['machine']}.machine",
               "--size", str(run["size"])]
    if "cpus" in run:
        command += ["--cpus", str(run["cpus"])]
    if "set" in run:
        command += ["--set", run["set"]]
    result = subprocess.run(command + [run["workload"]], capture_output=True, text=True,
                            timeout=900, check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)} {run['workload']}: {result.stderr}")
    answer = json.loads(result.stdout)
    answer["size"] = run["size"]
    if "set" in run:
        answer["set"] = run["set"]
    return answer


def main():
    program, path = sys.argv[1], sys.argv[2]
    todo = list(runs("--quick" in sys.argv))
    # The longest ones first.
    order = sorted(range(len(todo)), key=lambda i: -todo[i].get("cpus", 16))
    done = [None] * len(todo)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for i, answer in zip(order, pool.map(lambda i: one(program, todo[i]), order)):
            done[i] = answer
    with open(path, "w", encoding="utf-8") as file:
        file.write("[\n" + ",\n".join(json.dumps(d) for d in done) + "\n]\n")


main()
