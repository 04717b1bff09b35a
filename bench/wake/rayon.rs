//! From asleep to running: rayon::spawn of a task that stamps the clock, from outside the
//! pool, after 5 ms of rest; the twin of weft.c.
//!
//! Usage: wake [threads [samples [rest|busy]]]
//!
//! SPDX-License-Identifier: MIT

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread::sleep;
use std::time::{Duration, Instant};
use weft_bench_rayon::*;

const WARM_UP: u64 = 20;

static STAMPED: AtomicBool = AtomicBool::new(false);

fn main() {
    start_global(arg(1, 2));
    let samples = arg(2, 100);
    let busy = arg_is(3, "busy");
    let mut times = Vec::new();
    let (send, receive) = sync_channel::<Instant>(1);
    for i in 0..samples + WARM_UP {
        sleep(Duration::from_millis(5));
        let send = send.clone();
        STAMPED.store(false, Ordering::Relaxed);
        let before = Instant::now();
        rayon::spawn(move || {
            let _ = send.send(Instant::now());
            STAMPED.store(true, Ordering::Release);
        });
        let mut seed = 1;
        while busy && !STAMPED.load(Ordering::Acquire) {
            seed = spin(seed, 100);
        }
        sleep(Duration::from_millis(5));
        let stamp = receive.recv().unwrap();
        if i >= WARM_UP {
            times.push(ns(stamp - before));
        }
    }
    print_latency("rayon", &mut times);
    passed(samples);
}
