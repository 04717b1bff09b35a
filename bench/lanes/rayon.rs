//! How long a task, and a scope, wait in a loaded Rayon pool; the twin of
//! probe.c and scope.c. Rayon has one lane, so there is one kind of probe and
//! one kind of flood.
//!
//! Usage: lanes probe [threads [seconds]]
//!        lanes scope [threads [blocks]]
//!
//! SPDX-License-Identifier: MIT

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::sync_channel;
use std::sync::Arc;
use std::thread::{sleep, JoinHandle};
use std::time::{Duration, Instant};
use weft_bench_rayon::*;

/// The twin of lanes/feeder.h.
struct Feeder {
    stop: Arc<AtomicBool>,
    ended: Arc<AtomicU64>,
    /// Returns how many tasks it has sent, how often it looked and found none left.
    thread: JoinHandle<(u64, u64, u64)>,
}

impl Feeder {
    fn start(steps: u64, depth: u64, period: Duration) -> Feeder {
        let stop = Arc::new(AtomicBool::new(false));
        let ended = Arc::new(AtomicU64::new(0));
        let answer = spin(1, steps);
        let (filled, wait) = sync_channel(1);
        let (stop_too, ended_too) = (stop.clone(), ended.clone());
        let thread = std::thread::spawn(move || {
            unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1000, 0, 0, 0) };
            let (mut sent, mut looks, mut dry) = (0, 0, 0);
            loop {
                while sent - ended_too.load(Relaxed) < depth {
                    let ended = ended_too.clone();
                    rayon::spawn(move || {
                        check("feeder", spin(1, steps), answer);
                        ended.fetch_add(1, Relaxed);
                    });
                    sent += 1;
                }
                if looks == 0 {
                    filled.send(()).unwrap();
                }
                if stop_too.load(Relaxed) {
                    return (sent, looks, dry);
                }
                sleep(period);
                looks += 1;
                if sent == ended_too.load(Relaxed) {
                    dry += 1;
                }
            }
        });
        wait.recv().unwrap();
        Feeder { stop, ended, thread }
    }

    /// Returns the share of looks that found no task left.
    fn stop(self) -> f64 {
        self.stop.store(true, Relaxed);
        let (sent, looks, dry) = self.thread.join().unwrap();
        while self.ended.load(Relaxed) != sent {
            sleep(Duration::from_micros(200));
        }
        dry as f64 / looks as f64
    }
}

fn probe(ticks: u64) {
    const WARM_UP: u64 = 200;
    let stream = Feeder::start(spin_count(2e4), 16, Duration::from_micros(50));
    let (send, receive) = sync_channel::<Instant>(1);
    let mut latency = Vec::new();
    let mut waiting: Option<(Instant, bool)> = None;
    let mut next = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut next) };
    for i in 0..ticks + WARM_UP {
        next.tv_nsec += 1_000_000;
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
        if let Some((sent, warm)) = waiting {
            let Ok(stamp) = receive.try_recv() else { continue };
            if warm {
                latency.push(ns(stamp - sent));
            }
        }
        let send = send.clone();
        waiting = Some((Instant::now(), i >= WARM_UP));
        rayon::spawn(move || send.send(Instant::now()).unwrap());
    }
    if let Some((sent, _)) = waiting {
        latency.push(ns(receive.recv().unwrap() - sent));
    }
    let dry = stream.stop();
    print_times("rayon", &mut latency);
    print("rayon", "p99_ns", quantile(&mut latency, 0.99));
    print("rayon", "probes_per_s", 1000.0 * latency.len() as f64 / ticks as f64);
    print("rayon-stream", "dry_percent", 100.0 * dry);
    passed(ticks);
}

const LEAVES: usize = 16;

fn work_scope(results: &mut [u64; LEAVES], steps: u64) {
    rayon::scope(|s| {
        for (i, result) in results.iter_mut().enumerate() {
            s.spawn(move |_| *result = spin(i as u64, steps));
        }
    });
}

fn work_join(results: &mut [u64], first: u64, steps: u64) {
    if let [result] = results {
        *result = spin(first, steps);
        return;
    }
    let half = results.len() / 2;
    let (a, b) = results.split_at_mut(half);
    rayon::join(
        || work_join(a, first, steps),
        || work_join(b, first + half as u64, steps),
    );
}

fn scope(blocks: u64) {
    let flood_steps = spin_count(1e6);
    let steps = spin_count(1e5 / LEAVES as f64);
    let expected =
        (0..LEAVES as u64).fold(0u64, |sum, i| sum.wrapping_add(spin(i, steps)));
    let names =
        [["rayon-scope", "rayon-scope+normal"], ["rayon-join", "rayon-join+normal"]];
    let mut times = [[vec![], vec![]], [vec![], vec![]]];
    for block in 0..blocks + 1 {
        for load in 0..2 {
            let flood = (load == 1)
                .then(|| Feeder::start(flood_steps, 64, Duration::from_millis(5)));
            let start = Instant::now();
            for _ in 0..40 {
                if start.elapsed() >= Duration::from_millis(500) {
                    break;
                }
                for way in 0..2 {
                    sleep(Duration::from_micros(300));
                    let mut results = [0; LEAVES];
                    let before = Instant::now();
                    if way == 0 {
                        work_scope(&mut results, steps);
                    } else {
                        work_join(&mut results, 0, steps);
                    }
                    let took = ns(before.elapsed());
                    let sum = results.iter().fold(0u64, |sum, r| sum.wrapping_add(*r));
                    check(names[way][load], sum, expected);
                    if block > 0 {
                        times[way][load].push(took);
                    }
                }
            }
            if let Some(flood) = flood {
                flood.stop();
            }
        }
    }
    for way in 0..2 {
        let quiet = quantile(&mut times[way][0], 0.5);
        for load in 0..2 {
            let (who, samples) = (names[way][load], &mut times[way][load]);
            print_times(who, samples);
            print(who, "p99_ns", quantile(samples, 0.99));
            print(who, "of_quiet_x", quantile(samples, 0.5) / quiet);
        }
    }
    passed_alone();
}

fn main() {
    start_global(arg(2, 2));
    if arg_is(1, "scope") {
        scope(arg(3, 5));
    } else {
        probe(1000 * arg(3, 10));
    }
}
