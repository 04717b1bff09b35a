//! Fibonacci by rayon::join without a cut-off; the twin of weft.c.
//!
//! Usage: fib install|outside [threads [n]]
//! install: the measuring loop itself runs inside the pool. outside: every computation is
//! called from a thread that is not in the pool, and enters it with its first join.
//!
//! SPDX-License-Identifier: MIT

use weft_bench_rayon::*;

fn fib(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = rayon::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

fn main() {
    let (threads, n) = (arg(2, 2), arg(3, 35));
    if arg_is(1, "outside") {
        start_global(threads);
        measure("rayon-outside", fib, 25, n, fib_answer(n));
    } else {
        let pool =
            rayon::ThreadPoolBuilder::new().num_threads(threads as usize).build().unwrap();
        pool.install(|| measure("rayon-install", fib, 25, n, fib_answer(n)));
    }
}
