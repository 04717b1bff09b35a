//! An idle pool, and bursts every millisecond; the twin of ../../../idle/idle.h.
//!
//! Usage: idle idle|ticks [seconds [threads [install]]]
//! By default the bursts are called from outside the pool; with install the control loop
//! itself runs on one of the pool's threads.
//!
//! SPDX-License-Identifier: MIT

use std::thread::sleep;
use std::time::{Duration, Instant};
use weft_bench_rayon::*;

const BURST_DEPTH: u64 = 5;
const LEAF_STEPS: u64 = 350;
const TICK_NS: i64 = 1_000_000;
const SETTLE: Duration = Duration::from_millis(500);

fn node(index: u64) -> u64 {
    if index >> BURST_DEPTH != 0 {
        return spin(index, LEAF_STEPS);
    }
    let (a, b) = rayon::join(|| node(2 * index), || node(2 * index + 1));
    a.wrapping_add(b)
}

fn burst_answer() -> u64 {
    (0..1 << BURST_DEPTH)
        .fold(0, |sum: u64, i| sum.wrapping_add(spin((1 << BURST_DEPTH) + i, LEAF_STEPS)))
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

fn warm_up(who: &str, expected: u64) {
    for _ in 0..1000 {
        check(who, node(1), expected);
    }
    sleep(SETTLE);
}

fn idle(who: &str, seconds: u64) {
    let expected = burst_answer();
    warm_up(who, expected);
    let switches = other_switches();
    let (cpu, start) = (cpu_ns(), Instant::now());
    sleep(Duration::from_secs(seconds));
    let (cpu, wall) = (cpu_ns() - cpu, ns(start.elapsed()));
    print(who, "wakeups", other_switches() - switches);
    print(who, "cpu_percent", 100.0 * cpu / wall);
    passed(expected);
}

fn ticks(who: &str, seconds: u64) {
    let expected = burst_answer();
    warm_up(who, expected);
    let mut latency = Vec::new();
    let mut next = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut next) };
    let cpu = cpu_ns();
    for _ in 0..seconds * 1000 {
        next.tv_nsec += TICK_NS;
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
        let sum = node(1);
        latency.push(ns(before.elapsed()));
        check(who, sum, expected);
    }
    let cpu = cpu_ns() - cpu;
    print_times(who, &mut latency);
    print(who, "p99_ns", quantile(&mut latency, 0.99));
    print(who, "cpu_ms_per_s", cpu / 1e6 / seconds as f64);
    passed(expected);
}

fn main() {
    let seconds = arg(2, 10);
    start_global(arg(3, 2));
    if arg_is(1, "idle") {
        idle("rayon", seconds);
    } else if arg_is(4, "install") {
        rayon::scope(|_| ticks("rayon-install", seconds));
    } else {
        ticks("rayon-outside", seconds);
    }
}
