//! Loops with uneven iterations; the twin of weft.c. See uneven.h there.
//!
//! Usage: uneven triangular|mandelbrot|pareto|heavy [threads]
//!
//! SPDX-License-Identifier: MIT

use rayon::prelude::*;
use weft_bench_rayon::*;

const WHO: &str = "rayon-install";
const ROWS: usize = 256;
const PARETO: usize = 65536;
const HEAVY: usize = 1_000_000;

/// Called through a pointer, as in the other contestants.
type Body = Box<dyn Fn(usize) -> u64 + Send + Sync>;

fn triangular(i: usize) -> u64 {
    spin(i as u64, i as u64)
}

extern "C" {
    fn uneven_mandelbrot(row: usize) -> u64;
}

fn mandelbrot(row: usize) -> u64 {
    unsafe { uneven_mandelbrot(row) }
}

fn pareto() -> Body {
    let steps = (0..PARETO).map(|i| {
        let u: f64 = (mix_unit(i as u64) + 1.0) / 2.0 + 1e-7;
        (20.0 / (u.sqrt() * u.sqrt().sqrt())) as u32
    });
    let steps: Vec<u32> = steps.collect();
    Box::new(move |i| spin(i as u64, steps[i] as u64))
}

fn heavy(i: usize) -> u64 {
    spin(i as u64, if i == HEAVY / 3 * 2 { 1_000_000 } else { 2 })
}

struct State {
    body: Body,
    out: Vec<u64>,
    calls: u64,
}

fn work(s: &mut State) {
    s.calls += 1;
    let body = &s.body;
    s.out.par_iter_mut().enumerate().for_each(|(i, out)| *out = out.wrapping_add(body(i)));
}

fn main() {
    let (body, n): (Body, usize) =
        match choose(1, &["triangular", "mandelbrot", "pareto", "heavy"]) {
            "triangular" => (Box::new(triangular), 4096),
            "mandelbrot" => (Box::new(mandelbrot), ROWS),
            "pareto" => (pareto(), PARETO),
            _ => (Box::new(heavy), HEAVY),
        };
    let state = State { body, out: vec![0; n], calls: 0 };
    let nothing = |_: &mut State| {};
    let mut job = Job { state, prepare: &nothing, work: &work, check: &nothing };
    let (mut times, _) = pool(arg(2, 2)).install(|| job.sample());
    if !times.is_empty() {
        print_times(WHO, &mut times);
    }
    let mut answer = 0u64;
    for (i, out) in job.state.out.iter().enumerate() {
        let once = (job.state.body)(i);
        check(WHO, *out, job.state.calls.wrapping_mul(once));
        answer = answer.wrapping_add(once);
    }
    passed(answer);
}
