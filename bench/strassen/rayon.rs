//! Strassen's product by a parallel iterator over the seven; the twin of weft.c. See
//! strassen.h.
//!
//! Usage: strassen_rayon [threads [n]]
//!
//! SPDX-License-Identifier: MIT

use rayon::prelude::*;
use std::mem::MaybeUninit;
use weft_bench_rayon::*;

const LEAF: usize = 64;

/// As product in strassen.h.
#[repr(C)]
struct Product {
    a: *const f64,
    b: *const f64,
    c: *mut f64,
    n: usize,
    a_stride: usize,
    b_stride: usize,
    c_stride: usize,
}

// The seven write to different places.
unsafe impl Send for Product {}
unsafe impl Sync for Product {}

#[repr(C)]
struct Node {
    part: [Product; 7],
    memory: *mut f64,
}

extern "C" {
    fn strassen_leaf(p: &Product);
    fn strassen_begin(p: &Product, node: *mut Node);
    fn strassen_end(p: &Product, node: *mut Node);
}

fn multiply(p: &Product) {
    unsafe {
        if p.n <= LEAF {
            strassen_leaf(p);
            return;
        }
        let mut node = MaybeUninit::<Node>::uninit();
        strassen_begin(p, node.as_mut_ptr());
        let mut node = node.assume_init();
        node.part.par_iter().with_max_len(1).for_each(multiply);
        strassen_end(p, &mut node);
    }
}

struct State {
    a: Vec<f64>,
    b: Vec<f64>,
    c: Vec<f64>,
    n: usize,
}

fn main() {
    let (threads, n) = (arg(1, 2), arg(2, 1024) as usize);
    let element = |i| (mix(i as u64) % 17) as f64 - 8.0;
    let a: Vec<f64> = (0..n * n).map(element).collect();
    let b: Vec<f64> = (n * n..2 * n * n).map(element).collect();
    let state = State { a, b, c: vec![0.0; n * n], n };
    let work = |s: &mut State| {
        let (a, b, c, n) = (s.a.as_ptr(), s.b.as_ptr(), s.c.as_mut_ptr(), s.n);
        multiply(&Product { a, b, c, n, a_stride: n, b_stride: n, c_stride: n });
    };
    let mut job = Job { state, prepare: &|_| {}, work: &work, check: &|_| {} };
    pool(threads).install(|| job.measure("rayon-install"));
    passed(job.state.c.iter().enumerate().fold(0u64, |sum, (i, &x)| {
        sum.wrapping_add((x as i64 as u64).wrapping_mul(mix(i as u64) | 1))
    }));
}
