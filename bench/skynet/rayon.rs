//! Skynet by a parallel iterator over the ten children; the twin of weft.c. See skynet.h.
//!
//! Usage: skynet_rayon [threads [n]]
//!
//! SPDX-License-Identifier: MIT

use rayon::prelude::*;
use weft_bench_rayon::*;

fn node(first: u64, n: u64) -> u64 {
    if n == 1 {
        return first;
    }
    (0..10u64).into_par_iter().map(|i| node(first + i * (n / 10), n / 10)).sum()
}

fn main() {
    let (threads, n) = (arg(1, 2), arg(2, 1_000_000));
    let sum = |n| node(0, n);
    pool(threads).install(|| measure("rayon-install", sum, n, n, n * (n - 1) / 2));
}
