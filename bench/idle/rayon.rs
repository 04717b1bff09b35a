//! An idle pool, and bursts at fixed times; the twin of idle.h.
//!
//! Usage: idle idle|ticks|burst [seconds [threads [install]]]
//! By default the bursts are called from outside the pool; with install the control loop
//! itself runs on one of the pool's threads.
//!
//! SPDX-License-Identifier: MIT

use std::thread::sleep;
use std::time::{Duration, Instant};
use weft_bench_rayon::*;

const LEAF_STEPS: u64 = 350;
const SETTLE: Duration = Duration::from_millis(500);

/// When and how much: the period in ns and the depth of the tree of tasks.
#[derive(Clone, Copy)]
struct Pattern {
    period_ns: i64,
    depth: u64,
}

const TICKS: Pattern = Pattern { period_ns: 1_000_000, depth: 5 };
const BURSTS: Pattern = Pattern { period_ns: 20_000_000, depth: 10 };

fn node(index: u64, depth: u64) -> u64 {
    if index >> depth != 0 {
        return spin(index, LEAF_STEPS);
    }
    let (a, b) = rayon::join(|| node(2 * index, depth), || node(2 * index + 1, depth));
    a.wrapping_add(b)
}

fn burst_answer(depth: u64) -> u64 {
    (1 << depth..2 << depth)
        .fold(0, |sum: u64, i| sum.wrapping_add(spin(i, LEAF_STEPS)))
}

fn other_switches() -> f64 {
    let own = std::process::id().to_string();
    let mut sum = 0.0;
    for entry in std::fs::read_dir("/proc/self/task").unwrap().flatten() {
        if entry.file_name().to_str() == Some(&own) {
            continue;
        }
        let status = std::fs::read_to_string(entry.path().join("status")).unwrap_or_default();
        for line in status.lines().filter(|l| l.contains("ctxt_switches")) {
            let value = line.split_whitespace().last().unwrap_or("0");
            sum += value.parse::<f64>().unwrap_or(0.0);
        }
    }
    sum
}

fn warm_up(who: &str, depth: u64, expected: u64) {
    for _ in 0..200 {
        check(who, node(1, depth), expected);
    }
    sleep(SETTLE);
}

fn idle(who: &str, seconds: u64) {
    let expected = burst_answer(TICKS.depth);
    warm_up(who, TICKS.depth, expected);
    let switches = other_switches();
    let (cpu, start) = (cpu_ns(), Instant::now());
    sleep(Duration::from_secs(seconds));
    let (cpu, wall) = (cpu_ns() - cpu, ns(start.elapsed()));
    print(who, "wakeups", other_switches() - switches);
    print(who, "cpu_percent", 100.0 * cpu / wall);
    passed(expected);
}

fn bursts(who: &str, seconds: u64, p: Pattern) {
    let expected = burst_answer(p.depth);
    warm_up(who, p.depth, expected);
    let mut latency = Vec::new();
    let mut next = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut next) };
    let cpu = cpu_ns();
    for _ in 0..seconds as i64 * 1_000_000_000 / p.period_ns {
        next.tv_nsec += p.period_ns;
        if next.tv_nsec >= 1_000_000_000 {
            next.tv_nsec -= 1_000_000_000;
            next.tv_sec += 1;
        }
        unsafe {
            libc::clock_nanosleep(
                libc::CLOCK_MONOTONIC,
                libc::TIMER_ABSTIME,
                &next,
                std::ptr::null_mut(),
            );
        }
        let before = Instant::now();
        let sum = node(1, p.depth);
        latency.push(ns(before.elapsed()));
        check(who, sum, expected);
    }
    let cpu = cpu_ns() - cpu;
    print_latency(who, &mut latency);
    print(who, "cpu_ms_per_s", cpu / 1e6 / seconds as f64);
    passed(expected);
}

fn main() {
    let seconds = arg(2, 10);
    let p = if arg_is(1, "burst") { BURSTS } else { TICKS };
    start_global(arg(3, 2));
    if arg_is(1, "idle") {
        idle("rayon", seconds);
    } else if arg_is(4, "install") {
        rayon::scope(|_| bursts("rayon-install", seconds, p));
    } else {
        bursts("rayon-outside", seconds, p);
    }
}
