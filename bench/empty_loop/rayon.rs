//! A loop of two empty iterations; the twin of weft.c.
//!
//! Usage: empty_loop install|outside [threads]
//!
//! SPDX-License-Identifier: MIT

use rayon::prelude::*;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use weft_bench_rayon::*;

fn empty(n: u64) -> u64 {
    (0..n).into_par_iter().for_each(|i| {
        black_box(i);
    });
    n
}

fn counted(n: u64) -> u64 {
    let ran = AtomicU64::new(0);
    (0..n).into_par_iter().for_each(|_| {
        ran.fetch_add(1, Relaxed);
    });
    ran.into_inner()
}

fn run(who: &str) {
    for _ in 0..10_000 {
        check(who, counted(2), 2);
    }
    measure(who, empty, 2, 2, 2);
}

fn main() {
    if arg_is(1, "outside") {
        start_global(arg(2, 2));
        run("rayon-outside");
    } else {
        pool(arg(2, 2)).install(|| run("rayon-install"));
    }
}
