//! The steps by a parallel iterator over the rows; the twin of weft.c. See heat.h.
//!
//! Usage: heat_rayon [threads [side]]
//!
//! SPDX-License-Identifier: MIT

use rayon::prelude::*;
use weft_bench_rayon::*;

const STEPS: usize = 50;

extern "C" {
    fn heat_row(from: *const f64, to: *mut f64, columns: usize);
}

fn step(from: &[f64], to: &mut [f64], side: usize) {
    let inner = &mut to[side..side * (side - 1)];
    inner.par_chunks_mut(side).enumerate().for_each(|(i, row)| {
        // The row has others above and below it.
        unsafe { heat_row(from[(i + 1) * side..].as_ptr(), row.as_mut_ptr(), side) }
    });
}

struct State {
    a: Vec<f64>,
    b: Vec<f64>,
    side: usize,
}

fn main() {
    let (threads, side) = (arg(1, 2), arg(2, 1024) as usize);
    let state = State { a: vec![0.0; side * side], b: vec![0.0; side * side], side };
    let fill = |s: &mut State| {
        for i in 0..s.a.len() {
            s.a[i] = if i < s.side {
                100.0
            } else if mix(i as u64) % 1000 == 0 {
                50.0
            } else {
                0.0
            };
        }
        s.b.copy_from_slice(&s.a);
    };
    let work = |s: &mut State| {
        for _ in 0..STEPS / 2 {
            step(&s.a, &mut s.b, s.side);
            step(&s.b, &mut s.a, s.side);
        }
    };
    let mut job = Job { state, prepare: &fill, work: &work, check: &|_| {} };
    pool(threads).install(|| job.measure("rayon-install"));
    passed(job.state.a.iter().enumerate().fold(0u64, |sum, (i, x)| {
        sum.wrapping_add(x.to_bits().wrapping_mul(mix(i as u64) | 1))
    }));
}
