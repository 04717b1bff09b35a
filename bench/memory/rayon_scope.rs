//! Memory of one Rayon scope with many tasks; the twin of weft_scope.c,
//! which explains the method.
//!
//! Usage: memory_scope flat|tree [threads [tasks]]
//!
//! SPDX-License-Identifier: MIT

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::Mutex;
use std::time::Instant;
use weft_bench_rayon::*;

const BLOCK: u64 = 1 << 16;
const EVERY: u64 = 1_000_000;

thread_local!(static COUNTED: AtomicU64 = const { AtomicU64::new(0) });
static COUNTERS: Mutex<Vec<usize>> = Mutex::new(Vec::new());
static TOTAL: AtomicU64 = AtomicU64::new(0);
/// The first and the largest reading.
static READING: Mutex<(f64, f64)> = Mutex::new((0.0, 0.0));

fn read_kib(path: &str, label: &str) -> f64 {
    let text = std::fs::read_to_string(path).unwrap();
    let value = text.lines().find_map(|l| l.strip_prefix(label)).unwrap();
    value.split_whitespace().next().unwrap().parse().unwrap()
}

fn rss_kib() -> f64 {
    read_kib("/proc/self/smaps_rollup", "Rss:")
}

#[inline(never)]
fn checkpoint(counted: &AtomicU64) {
    if counted.load(Relaxed) == 0 {
        COUNTERS.lock().unwrap().push(counted as *const AtomicU64 as usize);
        return;
    }
    let before = TOTAL.fetch_add(BLOCK, Relaxed);
    if before / EVERY != (before + BLOCK) / EVERY {
        let mut reading = READING.lock().unwrap();
        let now = rss_kib();
        if reading.0 == 0.0 {
            reading.0 = now;
        }
        reading.1 = reading.1.max(now);
    }
}

#[inline]
fn count() {
    COUNTED.with(|counted| {
        let before = counted.load(Relaxed);
        if before & (BLOCK - 1) == 0 {
            checkpoint(counted);
        }
        counted.store(before + 1, Relaxed);
    });
}

fn node<'a>(s: &rayon::Scope<'a>, size: u64) {
    let (left, right) = ((size - 1) / 2, size - 1 - (size - 1) / 2);
    count();
    if right != 0 {
        s.spawn(move |s| node(s, right));
    }
    if left != 0 {
        s.spawn(move |s| node(s, left));
    }
}

fn main() {
    let tree = arg_is(1, "tree");
    let tasks = arg(3, 10_000_000).max(2 * EVERY);
    let pool =
        rayon::ThreadPoolBuilder::new().num_threads(arg(2, 2) as usize).build().unwrap();
    let start_kib = rss_kib();
    let before = Instant::now();
    pool.scope(|s| {
        if tree {
            s.spawn(move |s| node(s, tasks));
        } else {
            for _ in 0..tasks {
                s.spawn(|_| count());
            }
        }
    });
    let took = ns(before.elapsed());
    let end_kib = rss_kib();
    let (first_kib, largest_kib) = *READING.lock().unwrap();

    // The threads of the pool are still there, and so are their counters.
    let ran = COUNTERS
        .lock()
        .unwrap()
        .iter()
        .map(|&c| unsafe { &*(c as *const AtomicU64) }.load(Relaxed))
        .sum();
    check("rayon", ran, tasks);
    print("rayon", "tasks_1e6", tasks as f64 / 1e6);
    print("rayon", "ns_per_task", took / tasks as f64);
    print("rayon", "start_rss_kib", start_kib);
    print("rayon", "first_rss_kib", first_kib);
    print("rayon", "end_rss_kib", end_kib);
    print("rayon", "peak_rss_kib", read_kib("/proc/self/status", "VmHWM:"));
    print("rayon", "growth_kib", largest_kib.max(end_kib) - first_kib);
    passed_alone();
}
