//! One million empty tasks in one Rayon scope; the twin of weft.c.
//!
//! Usage: spawn scope|scope-fifo [threads [tasks]]
//!
//! SPDX-License-Identifier: MIT

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use weft_bench_rayon::*;

/// Spawns n tasks, each of which calls the function, and waits for them. The function is
/// copied into the task, so that an empty one takes no room there.
fn spawn_all(fifo: bool, n: u64, task: impl Fn() + Copy + Send + Sync) {
    if fifo {
        rayon::scope_fifo(|s| {
            for _ in 0..n {
                s.spawn_fifo(move |_| task());
            }
        });
    } else {
        rayon::scope(|s| {
            for _ in 0..n {
                s.spawn(move |_| task());
            }
        });
    }
}

fn empty(fifo: bool, n: u64) -> u64 {
    spawn_all(fifo, n, || {});
    n
}

fn counted(fifo: bool, n: u64) -> u64 {
    let ran = AtomicU64::new(0);
    let counter = &ran;
    spawn_all(fifo, n, move || {
        counter.fetch_add(1, Relaxed);
    });
    ran.into_inner()
}

fn main() {
    let fifo = arg_is(1, "scope-fifo");
    let who = if fifo { "rayon-scope-fifo" } else { "rayon-scope" };
    let (threads, tasks) = (arg(2, 2), arg(3, 1_000_000));
    let pool =
        rayon::ThreadPoolBuilder::new().num_threads(threads as usize).build().unwrap();
    pool.install(|| {
        for _ in 0..2 {
            check(who, counted(fifo, tasks), tasks);
        }
        measure_tasks(who, |n| empty(fifo, n), tasks);
    });
}
