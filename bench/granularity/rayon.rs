//! The bodies as leaves of a tree of rayon::join; and as items of a parallel iterator, as
//! rayon-loop. The twin of weft.c; see granularity.h.
//!
//! Usage: granularity_rayon [threads [steps [loop]]]
//!
//! SPDX-License-Identifier: MIT

use rayon::prelude::*;
use weft_bench_rayon::*;

const STEPS: u64 = 1 << 23;

fn body(index: u64, steps: u64) -> u64 {
    (spin(index, steps) as i64 as u64) >> 20
}

fn tree(first: u64, count: u64, steps: u64) -> u64 {
    if count == 1 {
        return body(first, steps);
    }
    let half = count / 2;
    let (left, right) = rayon::join(
        || tree(first, half, steps),
        || tree(first + half, count - half, steps),
    );
    left.wrapping_add(right)
}

fn main() {
    let (threads, steps) = (arg(1, 2), arg(2, 512));
    let bodies = STEPS / steps;
    let by_tree = |n| tree(0, n, steps);
    let by_loop = |n: u64| {
        (0..n).into_par_iter().map(|i| body(i, steps)).reduce(|| 0, u64::wrapping_add)
    };
    let (who, work): (_, &(dyn Fn(u64) -> u64 + Sync)) =
        if arg_is(3, "loop") { ("rayon-loop", &by_loop) } else { ("rayon-install", &by_tree) };
    pool(threads).install(|| {
        let answer = work(bodies);
        let mut times = sample(who, work, bodies, bodies, answer);
        if !times.is_empty() {
            print_times(who, &mut times);
            print(who, "ns_per_task", quantile(&mut times, 0.5) / bodies as f64);
        }
        passed(answer);
    });
}
