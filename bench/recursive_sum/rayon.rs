//! The recursion by rayon::join; the twin of weft.c. See recursive_sum.h.
//!
//! Usage: recursive_sum_rayon [threads [n]]
//!
//! SPDX-License-Identifier: MIT

use weft_bench_rayon::*;

const CUT_OFF: usize = 1024;

extern "C" {
    fn sum_leaf(numbers: *const i64, n: i64) -> i64;
}

fn sum(numbers: &[i64]) -> i64 {
    if numbers.len() <= CUT_OFF {
        return unsafe { sum_leaf(numbers.as_ptr(), numbers.len() as i64) };
    }
    let (left, right) = numbers.split_at(numbers.len() / 2);
    let (a, b) = rayon::join(|| sum(left), || sum(right));
    a + b
}

fn main() {
    let (threads, n) = (arg(1, 2), arg(2, 10_000_000));
    let numbers: Vec<i64> = (0..n).map(|i| (mix(i) % 1000) as i64).collect();
    let expected = numbers.iter().sum::<i64>() as u64;
    let work = |_| sum(&numbers) as u64;
    pool(threads).install(|| measure("rayon-install", work, n, n, expected));
}
