//! What the Rayon contestants share: the Rust twin of ../common/bench.h. The measuring
//! loop, its limits and the printed lines are the same; see there.
//!
//! SPDX-License-Identifier: MIT

use std::hint::black_box;
use std::time::{Duration, Instant};

/// Prints `who.metric value`.
pub fn print(who: &str, metric: &str, value: f64) {
    println!("{who}.{metric} {value:.4}");
}

/// The value below which a share q of the samples lies.
pub fn quantile(samples: &mut [f64], q: f64) -> f64 {
    if samples.is_empty() {
        return 0.0;
    }
    samples.sort_by(|a, b| a.total_cmp(b));
    samples[(q * (samples.len() - 1) as f64 + 0.5) as usize]
}

pub fn print_times(who: &str, samples: &mut [f64]) {
    print(who, "best_ns", quantile(samples, 0.0));
    print(who, "median_ns", quantile(samples, 0.5));
}

/// As bench_print_latency.
pub fn print_latency(who: &str, samples: &mut [f64]) {
    print_times(who, samples);
    print(who, "p10_ns", quantile(samples, 0.1));
    print(who, "p90_ns", quantile(samples, 0.9));
    print(who, "p99_ns", quantile(samples, 0.99));
    print(who, "max_ns", quantile(samples, 1.0));
}

pub fn check(who: &str, got: u64, expected: u64) {
    if got != expected {
        eprintln!("{who}: WRONG RESULT {got}, expected {expected}");
        std::process::exit(1);
    }
}

pub fn passed(answer: u64) {
    println!("check {answer} ok");
}

/// As bench_passed_alone.
pub fn passed_alone() {
    println!("check - ok");
}

pub fn arg(i: usize, otherwise: u64) -> u64 {
    std::env::args().nth(i).and_then(|a| a.parse().ok()).unwrap_or(otherwise)
}

pub fn arg_is(i: usize, word: &str) -> bool {
    std::env::args().nth(i).as_deref() == Some(word)
}

pub fn ns(d: Duration) -> f64 {
    d.as_nanos() as f64
}

/// As bench_limits: how long to measure.
pub struct Limits {
    warm_ns: f64,
    enough_ns: f64,
    most_ns: f64,
    enough_samples: usize,
}

impl Limits {
    pub fn choose() -> Limits {
        if std::env::var_os("BENCH_TINY").is_some() {
            Limits { warm_ns: 1e6, enough_ns: 1e6, most_ns: 1e7, enough_samples: 1 }
        } else if std::env::var_os("BENCH_QUICK").is_some() {
            Limits { warm_ns: 1e7, enough_ns: 4e7, most_ns: 1.6e8, enough_samples: 3 }
        } else {
            Limits { warm_ns: 5e7, enough_ns: 1.5e8, most_ns: 1e9, enough_samples: 5 }
        }
    }

    fn has_enough(&self, total_ns: f64, samples: usize) -> bool {
        total_ns > self.most_ns
            || (total_ns > self.enough_ns && samples >= self.enough_samples)
    }
}

/// Measures `work(n)` exactly as bench_sample does in C.
pub fn sample(
    who: &str,
    work: impl Fn(u64) -> u64,
    warm_n: u64,
    n: u64,
    expected: u64,
) -> Vec<f64> {
    let mut times = Vec::new();
    if std::env::var_os("BENCH_ONCE").is_some() {
        check(who, work(n), expected);
        return times;
    }
    let limits = Limits::choose();
    let start = Instant::now();
    let mut calls = 0.0;
    loop {
        black_box(work(warm_n));
        calls += 1.0;
        if ns(start.elapsed()) >= limits.warm_ns {
            break;
        }
    }
    let once = ns(start.elapsed()) / calls;
    let inner = if warm_n == n && once < 1e6 { (1e6 / once) as u64 + 1 } else { 1 };

    let start = Instant::now();
    loop {
        let before = Instant::now();
        let mut wrong = None;
        for _ in 0..inner {
            let result = work(n);
            if result != expected {
                wrong = Some(result);
            }
        }
        let took = before.elapsed();
        if let Some(result) = wrong {
            check(who, result, expected);
        }
        times.push(ns(took) / inner as f64);
        if limits.has_enough(ns(start.elapsed()), times.len()) {
            break;
        }
    }
    times
}

/// As bench_measure.
pub fn measure(who: &str, work: impl Fn(u64) -> u64, warm_n: u64, n: u64, expected: u64) {
    let mut times = sample(who, work, warm_n, n, expected);
    if !times.is_empty() {
        print_times(who, &mut times);
    }
    passed(expected);
}

/// As bench_measure_first.
pub fn measure_first(who: &str, work: impl Fn(u64) -> u64, n: u64) {
    let expected = work(n);
    measure(who, work, n, n, expected);
}

/// As bench_measure_tasks.
pub fn measure_tasks(who: &str, work: impl Fn(u64) -> u64, n: u64) {
    let mut times = sample(who, work, n, n, n);
    if !times.is_empty() {
        print_times(who, &mut times);
        print(who, "ns_per_task", quantile(&mut times, 0.5) / n as f64);
    }
    passed(n);
}

/// A job as in bench_job. All three work on the same state.
pub struct Job<'a, S> {
    pub state: S,
    pub prepare: &'a (dyn Fn(&mut S) + Sync),
    pub work: &'a (dyn Fn(&mut S) + Sync),
    pub check: &'a (dyn Fn(&mut S) + Sync),
}

impl<S> Job<'_, S> {
    /// The time of the work, and the CPU time of all threads.
    fn run(&mut self) -> (f64, f64) {
        (self.prepare)(&mut self.state);
        let cpu_before = cpu_ns();
        let before = Instant::now();
        (self.work)(&mut self.state);
        let took = ns(before.elapsed());
        let cpu = cpu_ns() - cpu_before;
        (self.check)(&mut self.state);
        (took, cpu)
    }

    /// As bench_sample_job: times and CPU times.
    pub fn sample(&mut self) -> (Vec<f64>, Vec<f64>) {
        let limits = Limits::choose();
        let start = Instant::now();
        let (mut worked, cpu) = self.run();
        if std::env::var_os("BENCH_ONCE").is_some() {
            return (Vec::new(), Vec::new());
        }
        if worked > 2.0 * limits.most_ns {
            return (vec![worked], vec![cpu]);
        }
        while worked < limits.warm_ns && ns(start.elapsed()) < 2.0 * limits.warm_ns {
            worked += self.run().0;
        }
        let (mut times, mut cpus) = (Vec::new(), Vec::new());
        let (mut worked, start) = (0.0, Instant::now());
        loop {
            let (took, cpu) = self.run();
            times.push(took);
            cpus.push(cpu);
            worked += took;
            if limits.has_enough(worked, times.len())
                || ns(start.elapsed()) >= 2.0 * limits.most_ns
            {
                return (times, cpus);
            }
        }
    }

    /// As bench_measure_job.
    pub fn measure(&mut self, who: &str) {
        let (mut times, mut cpus) = self.sample();
        if !times.is_empty() {
            print_times(who, &mut times);
            print(who, "cpu_ms", quantile(&mut cpus, 0.5) / 1e6);
        }
    }
}

/// As bench_mix: the same numbers.
pub fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(1).wrapping_mul(0x9e3779b97f4a7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58476d1ce4e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d049bb133111eb);
    x ^ (x >> 31)
}

/// As bench_mix_unit.
pub fn mix_unit(x: u64) -> f64 {
    mix(x) as i64 as f64 * (1.0 / 9223372036854775808.0)
}

/// As bench_choose.
pub fn choose<'a>(i: usize, words: &[&'a str]) -> &'a str {
    match words.iter().copied().find(|word| arg_is(i, word)) {
        Some(word) => word,
        None => {
            eprintln!("usage: argument {i} is one of: {}", words.join(" "));
            std::process::exit(2);
        }
    }
}

/// A pool of its own with this many threads, for work that runs inside of it.
pub fn pool(threads: u64) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads as usize).build().unwrap()
}

pub fn fib_answer(n: u64) -> u64 {
    let (mut a, mut b) = (0, 1);
    for _ in 0..n {
        (a, b) = (b, a + b);
    }
    a
}

/// The same chain of dependent operations as bench_spin.
#[inline(never)]
pub fn spin(mut seed: u64, count: u64) -> u64 {
    for _ in 0..black_box(count) {
        seed = (seed ^ (seed >> 29)).wrapping_mul(0x9e3779b97f4a7c15);
    }
    seed
}

/// How many steps of spin take the given time; as bench_spin_count.
pub fn spin_count(wanted_ns: f64) -> u64 {
    const STEPS: u64 = 200_000;
    let mut best = f64::MAX;
    let mut sink = 0;
    for _ in 0..40 {
        let before = Instant::now();
        sink = black_box(spin(black_box(sink), STEPS));
        best = best.min(ns(before.elapsed()));
    }
    (wanted_ns / best * STEPS as f64) as u64
}

/// The global pool with this many threads, for calls from outside it.
pub fn start_global(threads: u64) {
    rayon::ThreadPoolBuilder::new().num_threads(threads as usize).build_global().unwrap();
}

/// As bench_busy_neighbour.
pub fn busy_neighbour() {
    unsafe {
        let parent = libc::getpid();
        if libc::fork() != 0 {
            return;
        }
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        while libc::getppid() == parent {
            black_box(spin(1, 100_000));
        }
        libc::_exit(0);
    }
}

/// CPU time of all threads of the process.
pub fn cpu_ns() -> f64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut t) };
    t.tv_sec as f64 * 1e9 + t.tv_nsec as f64
}
