//! The loop by a parallel iterator; the twin of weft.c. See pread.h.
//!
//! Usage: pread_rayon [threads [blocks]]
//!
//! SPDX-License-Identifier: MIT

use rayon::prelude::*;
use weft_bench_rayon::*;

extern "C" {
    fn pread_block(file: i32, i: i64) -> u64;
    fn pread_make_file(n: i64, expected: &mut u64) -> i32;
}

fn main() {
    let (threads, n) = (arg(1, 2), arg(2, 1024));
    let mut expected = 0;
    let file = unsafe { pread_make_file(n as i64, &mut expected) };
    let add = |a: u64, b: u64| a.wrapping_add(b);
    let work = |n: u64| {
        (0..n as i64)
            .into_par_iter()
            .map(|i| unsafe { pread_block(file, i) })
            .reduce(|| 0, add)
    };
    pool(threads).install(|| measure("rayon-install", work, n, n, expected));
}
