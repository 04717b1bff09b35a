//! Tasks that four threads outside the pool hand to it at the same time; the twin of
//! weft.c.
//!
//! Usage: detach [threads [contestant [tasks]]]
//!
//! SPDX-License-Identifier: MIT

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::sync_channel;
use std::sync::Barrier;
use weft_bench_rayon::*;

const OUTSIDE: u64 = 4;

#[repr(align(64))]
struct Counter(AtomicU64);

static RAN: Counter = Counter(AtomicU64::new(0));

fn detach_all(pool: &rayon::ThreadPool, total: u64) -> u64 {
    let (done, wait) = sync_channel::<u64>(1);
    let start = Barrier::new(OUTSIDE as usize);
    // The sender outlives every task: it is dropped with the process.
    let done: &'static _ = Box::leak(Box::new(done));
    RAN.0.store(0, Relaxed);
    std::thread::scope(|threads| {
        for _ in 0..OUTSIDE {
            threads.spawn(|| {
                start.wait();
                for _ in 0..total / OUTSIDE {
                    pool.spawn(move || {
                        if RAN.0.fetch_add(1, Relaxed) + 1 == total {
                            done.send(total).unwrap();
                        }
                    });
                }
            });
        }
    });
    wait.recv().unwrap();
    RAN.0.load(Relaxed)
}

fn main() {
    let threads = arg(1, 2);
    let who = std::env::args().nth(2).unwrap_or("rayon".to_string());
    let tasks = arg(3, 1_000_000) / OUTSIDE * OUTSIDE;
    let pool =
        rayon::ThreadPoolBuilder::new().num_threads(threads as usize).build().unwrap();
    measure_tasks(&who, |n| detach_all(&pool, n), tasks);
}
