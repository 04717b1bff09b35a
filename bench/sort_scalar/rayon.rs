//! Sorting 10 M numbers; the twin of weft.c. See sort_scalar.h there.
//!
//! Usage: sort_scalar u64|i32|f64 [threads [n]]
//!
//! SPDX-License-Identifier: MIT

use rayon::prelude::*;
use weft_bench_rayon::*;

const WHO: &str = "rayon-install";

/// What the types have in common: random values, bits for the digest, and the sort.
trait Number: Copy + PartialOrd + Send + Sync {
    fn random(i: u64) -> Self;
    fn bits(self) -> u64;
    fn sort(a: &mut [Self]);
}

impl Number for u64 {
    fn random(i: u64) -> u64 {
        mix(i)
    }
    fn bits(self) -> u64 {
        self
    }
    fn sort(a: &mut [u64]) {
        a.par_sort_unstable();
    }
}

impl Number for i32 {
    fn random(i: u64) -> i32 {
        mix(i) as i32
    }
    fn bits(self) -> u64 {
        self as u32 as u64
    }
    fn sort(a: &mut [i32]) {
        a.par_sort_unstable();
    }
}

impl Number for f64 {
    fn random(i: u64) -> f64 {
        mix_unit(i)
    }
    fn bits(self) -> u64 {
        self.to_bits()
    }
    fn sort(a: &mut [f64]) {
        a.par_sort_unstable_by(|a, b| a.total_cmp(b));
    }
}

struct State<T> {
    input: Vec<T>,
    a: Vec<T>,
    expected: u64,
}

fn digest<T: Number>(a: &[T]) -> u64 {
    a.iter().fold(0, |sum: u64, x| sum.wrapping_add(mix(x.bits())))
}

fn check_sorted<T: Number>(s: &mut State<T>) {
    check(WHO, s.a.windows(2).filter(|w| w[0] > w[1]).count() as u64, 0);
    check(WHO, digest(&s.a), s.expected);
}

fn run<T: Number>(threads: u64, n: u64) {
    let input: Vec<T> = (0..n).map(T::random).collect();
    let expected = digest(&input);
    let mut job = Job {
        state: State { a: input.clone(), input, expected },
        prepare: &|s: &mut State<T>| s.a.copy_from_slice(&s.input),
        work: &|s: &mut State<T>| T::sort(&mut s.a),
        check: &check_sorted,
    };
    pool(threads).install(|| job.measure(WHO));
    passed(expected);
}

fn main() {
    let (threads, n) = (arg(2, 2), arg(3, 10_000_000));
    match choose(1, &["u64", "i32", "f64"]) {
        "u64" => run::<u64>(threads, n),
        "i32" => run::<i32>(threads, n),
        _ => run::<f64>(threads, n),
    }
}
