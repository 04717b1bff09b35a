//! Chains of lazy stages over 10 M elements; the twin of weft.c. See iter.h
//! beside it.
//!
//! Usage: iter sum|dot|flat|collect|map|find install|outside [threads [n]]
//!
//! SPDX-License-Identifier: MIT

use rayon::prelude::*;
use weft_bench_rayon::*;

struct State {
    who: &'static str,
    a: Vec<i64>,
    out: Vec<i64>,
}

fn element(op: &str, i: usize, n: usize) -> i64 {
    if op != "find" {
        (mix(i as u64) >> 40) as i64
    } else if i == n - n / 100 {
        1_000_001
    } else {
        (mix(i as u64) % 1_000_000) as i64
    }
}

fn sum(a: &[i64]) -> u64 {
    a.par_iter().filter(|x| **x % 2 == 0).map(|x| x * x).sum::<i64>() as u64
}

fn dot(x: &[f64], y: &[f64]) -> u64 {
    x.par_iter().zip(y).map(|(x, y)| x * y).sum::<f64>() as u64
}

fn flat(a: &[i64]) -> u64 {
    a.par_iter().flat_map_iter(|x| (0..*x % 8).map(move |j| x + j)).count() as u64
}

fn find(a: &[i64], limit: i64) -> u64 {
    a.par_iter().copied().filter(|x| *x > limit).find_first(|_| true).unwrap_or(0) as u64
}

fn collect(s: &mut State) {
    s.out = s.a.par_iter().filter(|x| **x % 2 == 0).map(|x| x * x).collect();
}

fn map(s: &mut State) {
    s.a.par_iter().map(|x| x * x).collect_into_vec(&mut s.out);
}

fn check_collect(s: &mut State) {
    let kept = || s.a.iter().filter(|x| **x % 2 == 0).map(|x| x * x);
    check(s.who, s.out.len() as u64, kept().count() as u64);
    check(s.who, s.out.iter().zip(kept()).filter(|(a, b)| **a != *b).count() as u64, 0);
}

fn check_map(s: &mut State) {
    check(s.who, s.out.iter().zip(&s.a).filter(|(y, x)| **y != *x * *x).count() as u64, 0);
}

fn run(op: &str, who: &'static str, size: usize) {
    let n = size as u64;
    let a: Vec<i64> = (0..size).map(|i| element(op, i, size)).collect();
    match op {
        "sum" => {
            let expected = a.iter().filter(|x| **x % 2 == 0).map(|x| x * x).sum::<i64>() as u64;
            measure(who, |_| sum(&a), n, n, expected);
        }
        "dot" => {
            let x: Vec<f64> = (0..n).map(|i| (mix(i) % 16) as f64).collect();
            let y: Vec<f64> = (0..n).map(|i| (mix(i + 7) % 16) as f64).collect();
            let expected = x.iter().zip(&y).map(|(x, y)| x * y).sum::<f64>() as u64;
            measure(who, |_| dot(&x, &y), n, n, expected);
        }
        "flat" => {
            let expected = a.iter().map(|x| *x % 8).sum::<i64>() as u64;
            measure(who, |_| flat(&a), n, n, expected);
        }
        "find" => measure(who, |_| find(&a, 1_000_000), n, n, 1_000_001),
        "collect" => {
            let drop_old = |s: &mut State| s.out = Vec::new();
            let state = State { who, a, out: Vec::new() };
            let mut job = Job { state, prepare: &drop_old, work: &collect, check: &check_collect };
            job.measure(who);
            passed(n);
        }
        _ => {
            let nothing = |_: &mut State| {};
            let state = State { who, a, out: vec![0; size] };
            let mut job = Job { state, prepare: &nothing, work: &map, check: &check_map };
            job.measure(who);
            passed(n);
        }
    }
}

fn main() {
    let op = choose(1, &["sum", "dot", "flat", "collect", "map", "find"]);
    let way = choose(2, &["install", "outside"]);
    let (threads, n) = (arg(3, 2), arg(4, 10_000_000) as usize);
    if way == "outside" {
        start_global(threads);
        run(op, "rayon-outside", n);
    } else {
        pool(threads).install(|| run(op, "rayon-install", n));
    }
}
