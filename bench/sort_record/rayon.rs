//! Sorting 2 M records; the twin of weft.c. See sort_record.h there.
//!
//! Usage: sort_record unstable|stable random|sorted|reversed|few [threads [n]]
//!
//! SPDX-License-Identifier: MIT

use rayon::prelude::*;
use weft_bench_rayon::*;

const WHO: &str = "rayon-install";

#[derive(Clone, Copy)]
struct Record {
    key: u64,
    index: u64,
    seal: [u64; 2],
}

struct State {
    input: Vec<Record>,
    a: Vec<Record>,
    stable: bool,
}

fn key(pattern: &str, i: u64, n: u64) -> u64 {
    match pattern {
        "random" => mix(i),
        "sorted" => 3 * i,
        "reversed" => 3 * (n - i),
        _ => mix(i) % 16,
    }
}

fn seal(key: u64, index: u64) -> [u64; 2] {
    [mix(key ^ mix(index)), mix(key ^ mix(index + 1))]
}

fn sort(s: &mut State) {
    if s.stable {
        s.a.par_sort_by_key(|r| r.key);
    } else {
        s.a.par_sort_unstable_by_key(|r| r.key);
    }
}

fn digest(a: &[Record]) -> u64 {
    a.iter().fold(0, |sum: u64, r| sum.wrapping_add(r.index).wrapping_add(mix(r.index)))
}

fn check_sorted(s: &mut State) {
    let wrong = |w: &&[Record]| {
        w[0].key > w[1].key
            || (s.stable && w[0].key == w[1].key && w[0].index > w[1].index)
    };
    check(WHO, s.a.windows(2).filter(wrong).count() as u64, 0);
    check(WHO, s.a.iter().filter(|r| r.seal != seal(r.key, r.index)).count() as u64, 0);
    check(WHO, digest(&s.a), digest(&s.input));
}

fn main() {
    let stable = choose(1, &["unstable", "stable"]) == "stable";
    let pattern = choose(2, &["random", "sorted", "reversed", "few"]);
    let (threads, n) = (arg(3, 2), arg(4, 2_000_000));
    let record = |i| {
        let key = key(pattern, i, n);
        Record { key, index: i, seal: seal(key, i) }
    };
    let input: Vec<Record> = (0..n).map(record).collect();
    let mut job = Job {
        state: State { a: input.clone(), input, stable },
        prepare: &|s: &mut State| s.a.copy_from_slice(&s.input),
        work: &sort,
        check: &check_sorted,
    };
    pool(threads).install(|| job.measure(WHO));
    passed(digest(&job.state.input));
}
