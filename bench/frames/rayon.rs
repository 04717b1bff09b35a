//! A loop of 2 ms of work every 10 ms; the twin of frames.h.
//!
//! Usage: frames outside|install [threads [seconds]]
//! install: the frames run on one of the pool's threads.
//!
//! SPDX-License-Identifier: MIT

use rayon::prelude::*;
use std::time::Instant;
use weft_bench_rayon::*;

const N: usize = 2000;
const PERIOD_NS: i64 = 10_000_000;
const WARM_UP: i64 = 10;

fn plain(out: &mut [u64], steps: u64) {
    for (i, x) in out.iter_mut().enumerate() {
        *x = spin(i as u64 + 1, steps);
    }
}

fn parallel(out: &mut [u64], steps: u64) {
    out.par_iter_mut().enumerate().for_each(|(i, x)| *x = spin(i as u64 + 1, steps));
}

fn sum(out: &[u64]) -> u64 {
    out.iter().fold(0, |sum: u64, x| sum.wrapping_add(*x))
}

/// Latencies, and the CPU time of a frame.
fn run(
    who: &str,
    frame: fn(&mut [u64], u64),
    count: i64,
    steps: u64,
    expected: u64,
) -> (Vec<f64>, f64) {
    let mut out = vec![0; N];
    let mut latency = Vec::new();
    let mut next = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut next) };
    let mut cpu = 0.0;
    for i in -WARM_UP..count {
        if i == 0 {
            cpu = cpu_ns();
        }
        next.tv_nsec += PERIOD_NS;
        if next.tv_nsec >= 1_000_000_000 {
            next.tv_nsec -= 1_000_000_000;
            next.tv_sec += 1;
        }
        unsafe {
            libc::clock_nanosleep(
                libc::CLOCK_MONOTONIC,
                libc::TIMER_ABSTIME,
                &next,
                std::ptr::null_mut(),
            );
        }
        let before = Instant::now();
        frame(&mut out, steps);
        let took = ns(before.elapsed());
        check(who, sum(&out), expected);
        out.fill(0);
        if i >= 0 {
            latency.push(took);
        }
    }
    (latency, (cpu_ns() - cpu) / count as f64)
}

fn measure_frames(who: &str, seconds: u64) {
    let count = seconds as i64 * 1_000_000_000 / PERIOD_NS;
    let steps = spin_count(2e6 / N as f64);
    let mut out = vec![0; N];
    plain(&mut out, steps);
    let expected = sum(&out);
    let (mut base, base_cpu) = run("serial", plain, count / 5, steps, expected);
    let (mut latency, cpu) = run(who, parallel, count, steps, expected);
    let base = quantile(&mut base, 0.5);
    print_latency(who, &mut latency);
    print(who, "speedup_x", base / quantile(&mut latency, 0.5));
    print(who, "cpu_x", cpu / base_cpu);
    print(who, "plain_ns", base);
    passed_alone();
}

fn main() {
    let seconds = arg(3, 10);
    if arg_is(1, "outside") {
        start_global(arg(2, 2));
        measure_frames("rayon-outside", seconds);
    } else {
        pool(arg(2, 2)).install(|| measure_frames("rayon-install", seconds));
    }
}
