//! The factors by parallel iterators; the twin of weft.c. See lu.h.
//!
//! Usage: lu_rayon [threads [n]]
//!
//! SPDX-License-Identifier: MIT

use rayon::prelude::*;
use weft_bench_rayon::*;

const SIDE: usize = 32;
const SIZE: usize = SIDE * SIDE;

/// As lu_matrix in lu.h.
#[repr(C)]
struct Matrix {
    blocks: *mut f64,
    count: usize,
    step: usize,
}

// The iterations of a loop write different blocks.
unsafe impl Send for Matrix {}
unsafe impl Sync for Matrix {}

extern "C" {
    fn lu_diagonal(m: &Matrix);
    fn lu_border(m: &Matrix, i: usize);
    fn lu_inner(m: &Matrix, i: usize);
}

fn factor(blocks: &mut [f64], count: usize) {
    for step in 0..count {
        let m = Matrix { blocks: blocks.as_mut_ptr(), count, step };
        let rest = count - step - 1;
        unsafe { lu_diagonal(&m) };
        (0..2 * rest).into_par_iter().for_each(|i| unsafe { lu_border(&m, i) });
        (0..rest * rest).into_par_iter().for_each(|i| unsafe { lu_inner(&m, i) });
    }
}

struct State {
    input: Vec<f64>,
    blocks: Vec<f64>,
    count: usize,
}

fn main() {
    let (threads, count) = (arg(1, 2), arg(2, 1024) as usize / SIDE);
    let size = count * count * SIZE;
    let mut input: Vec<f64> = (0..size).map(|i| mix_unit(i as u64)).collect();
    for i in 0..count * SIDE {
        let (block, inside) = ((i / SIDE) * (count + 1), (i % SIDE) * (SIDE + 1));
        input[block * SIZE + inside] += (count * SIDE) as f64;
    }
    let state = State { blocks: input.clone(), input, count };
    let prepare = |s: &mut State| s.blocks.copy_from_slice(&s.input);
    let work = |s: &mut State| factor(&mut s.blocks, s.count);
    let mut job = Job { state, prepare: &prepare, work: &work, check: &|_| {} };
    pool(threads).install(|| job.measure("rayon-install"));
    passed(job.state.blocks.iter().enumerate().fold(0u64, |sum, (i, x)| {
        sum.wrapping_add(x.to_bits().wrapping_mul(mix(i as u64) | 1))
    }));
}
