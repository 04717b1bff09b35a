//! From asleep to running: rayon::spawn of a task that stamps the clock, from outside the
//! pool, after 5 ms of rest; the twin of weft.c.
//!
//! Usage: wake [threads [samples]]
//!
//! SPDX-License-Identifier: MIT

use std::sync::mpsc::sync_channel;
use std::thread::sleep;
use std::time::{Duration, Instant};
use weft_bench_rayon::*;

fn main() {
    start_global(arg(1, 2));
    let samples = arg(2, 250);
    let mut times = Vec::new();
    let (send, receive) = sync_channel::<Instant>(1);
    for i in 0..samples + 20 {
        sleep(Duration::from_millis(5));
        let send = send.clone();
        let before = Instant::now();
        rayon::spawn(move || {
            let _ = send.send(Instant::now());
        });
        sleep(Duration::from_millis(5));
        let stamp = receive.recv().unwrap();
        if i >= 20 {
            times.push(ns(stamp - before));
        }
    }
    print_latency("rayon", &mut times);
    passed(samples);
}
