//! One rayon::join of two 1 ms tasks; the twin of weft.c. The calls come
//! from outside the pool, as there.
//!
//! Usage: join2 [threads [samples]]
//!
//! SPDX-License-Identifier: MIT

use std::thread::sleep;
use std::time::{Duration, Instant};
use weft_bench_rayon::*;

fn pair_ns(parallel: bool, steps: u64, expected: Option<u64>) -> f64 {
    let before = Instant::now();
    let (a, b) = if parallel {
        rayon::join(|| spin(1, steps), || spin(2, steps))
    } else {
        (spin(1, steps), spin(2, steps))
    };
    let took = ns(before.elapsed());
    if let Some(expected) = expected {
        check("rayon", a ^ b, expected);
    }
    took
}

fn main() {
    start_global(arg(1, 2));
    let samples = arg(2, 60);
    let steps = spin_count(1e6);
    let expected = spin(1, steps) ^ spin(2, steps);
    let (mut serial, mut awake, mut asleep) = (vec![], vec![], vec![]);
    for i in 0..samples + 5 {
        let serial_ns = pair_ns(false, steps, Some(expected));
        pair_ns(true, steps / 10, None); // wakes the pool
        let awake_ns = pair_ns(true, steps, Some(expected));
        sleep(Duration::from_millis(5));
        let asleep_ns = pair_ns(true, steps, Some(expected));
        if i >= 5 {
            serial.push(serial_ns);
            awake.push(awake_ns);
            asleep.push(asleep_ns);
        }
    }
    let base = quantile(&mut serial, 0.5);
    print_times("serial", &mut serial);
    print_times("rayon-awake", &mut awake);
    print("rayon-awake", "speedup_x", base / quantile(&mut awake, 0.5));
    print_times("rayon-asleep", &mut asleep);
    print("rayon-asleep", "speedup_x", base / quantile(&mut asleep, 0.5));
    passed_alone();
}
