//! Operations on an array of 10 M doubles; the twin of weft.c. See
//! array_ops.h there.
//!
//! Rayon cannot filter into a slice. filter and filter-few extend a Vec that is kept, so
//! that its memory is there already; filter-new collects into a new one.
//!
//! chunks: finds by hand, with a plain search inside chunks of the array. It is here
//! because position_first is slow for such short predicates.
//!
//! Usage: array_ops filter|filter-few|filter-new|count|early|late|absent
//!        install|outside|chunks [threads [n]]
//!
//! SPDX-License-Identifier: MIT

use rayon::prelude::*;
use weft_bench_rayon::*;

struct State {
    who: &'static str,
    src: Vec<f64>,
    dst: Vec<f64>,
    limit: f64,
}

fn first_match(op: &str, n: usize) -> Option<usize> {
    match op {
        "early" => Some(n / 1000),
        "late" => Some(n - n / 100),
        _ => None,
    }
}

fn element(op: &str, i: usize, n: usize) -> f64 {
    if op.starts_with("filter") || op == "count" {
        return mix_unit(i as u64);
    }
    match first_match(op, n) {
        Some(first) if i >= first && (i - first) % 1000 == 0 => 0.5,
        _ => -((mix(i as u64) >> 12) as f64),
    }
}

fn filter_kept(s: &mut State) {
    let limit = s.limit;
    s.dst.clear();
    s.dst.par_extend(s.src.par_iter().copied().filter(|x| *x > limit));
}

fn filter_new(s: &mut State) {
    let limit = s.limit;
    s.dst = s.src.par_iter().copied().filter(|x| *x > limit).collect();
}

fn check_filter(s: &mut State) {
    let kept = || s.src.iter().filter(|x| **x > s.limit);
    check(s.who, s.dst.len() as u64, kept().count() as u64);
    check(s.who, s.dst.iter().zip(kept()).filter(|(a, b)| a != b).count() as u64, 0);
}

fn count(a: &[f64], limit: f64) -> u64 {
    a.par_iter().filter(|x| **x > limit).count() as u64
}

fn find(a: &[f64], limit: f64) -> u64 {
    a.par_iter().position_first(|x| *x > limit).unwrap_or(a.len()) as u64
}

fn find_by_chunks(a: &[f64], limit: f64) -> u64 {
    const CHUNK: usize = 1 << 13;
    let found = a.par_chunks(CHUNK).enumerate().find_map_first(|(k, chunk)| {
        chunk.iter().position(|x| *x > limit).map(|i| k * CHUNK + i)
    });
    found.unwrap_or(a.len()) as u64
}

fn run(op: &str, state: State) {
    let (who, n, limit) = (state.who, state.src.len() as u64, state.limit);
    match op {
        "filter-new" => {
            let drop_old = |s: &mut State| s.dst = Vec::new();
            let mut job =
                Job { state, prepare: &drop_old, work: &filter_new, check: &check_filter };
            job.measure(who);
            passed(job.state.dst.len() as u64);
        }
        "filter" | "filter-few" => {
            let nothing = |_: &mut State| {};
            let mut job =
                Job { state, prepare: &nothing, work: &filter_kept, check: &check_filter };
            job.measure(who);
            passed(job.state.dst.len() as u64);
        }
        "count" => {
            let expected = state.src.iter().filter(|x| **x > limit).count() as u64;
            measure(who, |_| count(&state.src, limit), n, n, expected);
        }
        _ => {
            let expected = first_match(op, n as usize).unwrap_or(n as usize) as u64;
            if who == "rayon-chunks" {
                measure(who, |_| find_by_chunks(&state.src, limit), n, n, expected);
            } else {
                measure(who, |_| find(&state.src, limit), n, n, expected);
            }
        }
    }
}

fn main() {
    let ops = ["filter", "filter-few", "filter-new", "count", "early", "late", "absent"];
    let op = choose(1, &ops);
    let way = choose(2, &["install", "outside", "chunks"]);
    let (threads, n) = (arg(3, 2), arg(4, 10_000_000) as usize);
    let state = State {
        who: match way {
            "outside" => "rayon-outside",
            "chunks" => "rayon-chunks",
            _ => "rayon-install",
        },
        src: (0..n).map(|i| element(op, i, n)).collect(),
        dst: vec![0.0; n],
        limit: if op == "filter-few" { 0.98 } else { 0.0 },
    };
    if way == "outside" {
        start_global(threads);
        run(op, state);
    } else {
        pool(threads).install(|| run(op, state));
    }
}
