//! 64 tasks that sleep for 1 ms each and then compute for 0.1 ms; the twin of
//! io.c. Rayon has no blocking sections: its threads sleep with the tasks.
//!
//! Usage: blocking [threads [samples]]
//!
//! SPDX-License-Identifier: MIT

use std::thread::sleep;
use std::time::{Duration, Instant};
use weft_bench_rayon::*;

const TASKS: usize = 64;

fn main() {
    start_global(arg(1, 2));
    let samples = arg(2, 15);
    let steps = spin_count(1e5);
    let expected =
        (0..TASKS as u64).fold(0u64, |sum, i| sum.wrapping_add(spin(i, steps)));
    let mut times = Vec::new();
    for i in 0..samples + 2 {
        let mut results = [0; TASKS];
        sleep(Duration::from_millis(5));
        let before = Instant::now();
        rayon::scope(|s| {
            for (i, result) in results.iter_mut().enumerate() {
                s.spawn(move |_| {
                    sleep(Duration::from_millis(1));
                    *result = spin(i as u64, steps);
                });
            }
        });
        let took = ns(before.elapsed());
        let sum = results.iter().fold(0u64, |sum, r| sum.wrapping_add(*r));
        check("rayon-plain", sum, expected);
        if i >= 2 {
            times.push(took);
        }
    }
    print_times("rayon-plain", &mut times);
    passed_alone();
}
