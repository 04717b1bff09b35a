//! One rayon::join of two equal tasks after a rest; the twin of weft.c. The calls come
//! from outside the pool, as there.
//!
//! Usage: join2 [threads [task_us [rest_ms [samples]]]]
//!
//! SPDX-License-Identifier: MIT

use std::thread::sleep;
use std::time::{Duration, Instant};
use weft_bench_rayon::*;

const WARM_UP: u64 = 3;

fn pair_ns(parallel: bool, steps: u64, expected: u64) -> f64 {
    let before = Instant::now();
    let (a, b) = if parallel {
        rayon::join(|| spin(1, steps), || spin(2, steps))
    } else {
        (spin(1, steps), spin(2, steps))
    };
    let took = ns(before.elapsed());
    check("rayon", a ^ b, expected);
    took
}

fn main() {
    start_global(arg(1, 2));
    let (task_us, rest_ms, samples) = (arg(2, 1000), arg(3, 5), arg(4, 41));
    let steps = spin_count(1e3 * task_us as f64);
    let expected = spin(1, steps) ^ spin(2, steps);
    let (mut serial, mut joined) = (vec![], vec![]);
    for i in 0..samples + WARM_UP {
        let serial_ns = pair_ns(false, steps, expected);
        pair_ns(true, steps, expected);
        if rest_ms > 0 {
            sleep(Duration::from_millis(rest_ms));
        }
        let joined_ns = pair_ns(true, steps, expected);
        if i >= WARM_UP {
            serial.push(serial_ns);
            joined.push(joined_ns);
        }
    }
    let base = quantile(&mut serial, 0.5);
    print_times("serial", &mut serial);
    print_times("rayon", &mut joined);
    print("rayon", "speedup_x", base / quantile(&mut joined, 0.5));
    print("rayon", "worst_speedup_x", base / quantile(&mut joined, 0.9));
    passed_alone();
}
