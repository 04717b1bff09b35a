//! The full binary tree by rayon::join; the twin of weft.c.
//!
//! Usage: tree install|outside [threads [depth]]
//! install: the measuring loop itself runs inside the pool, so that no tree pays for
//! entering it. outside: every tree is called from a thread that is not in the pool.
//!
//! SPDX-License-Identifier: MIT

use weft_bench_rayon::*;

fn node(depth: u64) -> u64 {
    if depth == 0 {
        return 1;
    }
    let (a, b) = rayon::join(|| node(depth - 1), || node(depth - 1));
    a + b
}

fn main() {
    let (threads, depth) = (arg(2, 2), arg(3, 10));
    if arg_is(1, "outside") {
        start_global(threads);
        measure("rayon-outside", node, depth, depth, 1 << depth);
    } else {
        let pool =
            rayon::ThreadPoolBuilder::new().num_threads(threads as usize).build().unwrap();
        pool.install(|| measure("rayon-install", node, depth, depth, 1 << depth));
    }
}
