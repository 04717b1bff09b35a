//! Calls of 20 to 400 us back to back, each a tree of joins over memory; the twin of
//! short_calls.h.
//!
//! Usage: short_calls outside|install [threads [us [alone|busy]]]
//!
//! SPDX-License-Identifier: MIT

use weft_bench_rayon::*;

const LEAF: usize = 128;
const PER_US: u64 = 680;

extern "C" {
    fn short_calls_leaf(numbers: *const u64, count: usize) -> u64;
}

fn leaf(numbers: &[u64]) -> u64 {
    unsafe { short_calls_leaf(numbers.as_ptr(), numbers.len()) }
}

fn combine(left: u64, right: u64) -> u64 {
    left.wrapping_mul(31).wrapping_add(right)
}

fn plain(numbers: &[u64]) -> u64 {
    if numbers.len() <= LEAF {
        return leaf(numbers);
    }
    let (a, b) = numbers.split_at(numbers.len() / 2);
    combine(plain(a), plain(b))
}

fn hash(numbers: &[u64]) -> u64 {
    if numbers.len() <= LEAF {
        return leaf(numbers);
    }
    let (a, b) = numbers.split_at(numbers.len() / 2);
    let (left, right) = rayon::join(|| hash(a), || hash(b));
    combine(left, right)
}

fn run(who: &str, numbers: &[u64]) {
    let n = numbers.len() as u64;
    measure(who, |n| hash(&numbers[..n as usize]), n, n, plain(numbers));
}

fn main() {
    if arg_is(4, "busy") {
        busy_neighbour();
    }
    let numbers: Vec<u64> = (0..arg(3, 20).min(400) * PER_US).map(mix).collect();
    if arg_is(1, "outside") {
        start_global(arg(2, 2));
        run("rayon-outside", &numbers);
    } else {
        pool(arg(2, 2)).install(|| run("rayon-install", &numbers));
    }
}
