//! The loops over 10 M doubles; the twin of weft.c. See stream.h there.
//!
//! Usage: stream sum|dot|map|saxpy [threads [n]]
//!
//! SPDX-License-Identifier: MIT

use rayon::prelude::*;
use weft_bench_rayon::*;

const WHO: &str = "rayon-install";

struct State {
    x: Vec<f64>,
    y: Vec<f64>,
    calls: f64,
    got: f64,
    expected: f64,
}

fn x(i: usize) -> f64 {
    (i % 1000) as f64
}

fn y(i: usize) -> f64 {
    (i % 777) as f64
}

fn sum(s: &mut State) {
    s.got = s.x.par_iter().sum();
}

fn dot(s: &mut State) {
    s.got = s.x.par_iter().zip(&s.y).map(|(x, y)| x * y).sum();
}

fn map(s: &mut State) {
    s.calls += 1.0;
    let c = s.calls;
    s.y.par_iter_mut().zip(&s.x).for_each(|(y, x)| *y = 3.0 * x + c);
}

fn saxpy(s: &mut State) {
    s.calls += 1.0;
    s.y.par_iter_mut().zip(&s.x).for_each(|(y, x)| *y += 2.0 * x);
}

fn check_sum(s: &mut State) {
    check(WHO, s.got as u64, s.expected as u64);
}

fn check_map_by(s: &State, stride: usize) {
    for i in (0..s.y.len()).step_by(stride) {
        check(WHO, s.y[i] as u64, (3.0 * x(i) + s.calls) as u64);
    }
}

fn check_saxpy_all(s: &State) {
    for i in 0..s.y.len() {
        check(WHO, s.y[i] as u64, (y(i) + s.calls * 2.0 * x(i)) as u64);
    }
}

fn main() {
    let which = choose(1, &["sum", "dot", "map", "saxpy"]);
    let (threads, n) = (arg(2, 2), arg(3, 10_000_000) as usize);
    let mut state = State {
        x: (0..n).map(x).collect(),
        y: (0..n).map(y).collect(),
        calls: 0.0,
        got: 0.0,
        expected: 0.0,
    };
    state.expected = match which {
        "sum" => state.x.iter().sum(),
        _ => state.x.iter().zip(&state.y).map(|(x, y)| x * y).sum(),
    };
    let prepare = |_: &mut State| {};
    let (work, check_it, accesses): (fn(&mut State), fn(&mut State), f64) = match which {
        "sum" => (sum, check_sum, 1.0),
        "dot" => (dot, check_sum, 2.0),
        "map" => (map, |s| check_map_by(s, s.y.len() / 97 + 1), 2.0),
        _ => (saxpy, |_| {}, 3.0),
    };
    let mut job = Job { state, prepare: &prepare, work: &work, check: &check_it };
    let (mut times, _) = pool(threads).install(|| job.sample());
    match which {
        "map" => check_map_by(&job.state, 1),
        "saxpy" => check_saxpy_all(&job.state),
        _ => {}
    }
    if !times.is_empty() {
        print_times(WHO, &mut times);
        let bytes = 8.0 * accesses * n as f64;
        print(WHO, "gb_per_s", bytes / quantile(&mut times, 0.5));
    }
    let is_sum = which == "sum" || which == "dot";
    passed(if is_sum { job.state.expected as u64 } else { n as u64 });
}
