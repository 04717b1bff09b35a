//! The product by rayon::join; the twin of weft.c. See matmul.h.
//!
//! Usage: matmul_rayon [threads [n]]
//!
//! SPDX-License-Identifier: MIT

use weft_bench_rayon::*;

const LEAF: i64 = 32;

/// As product in matmul.h.
#[repr(C)]
#[derive(Clone, Copy)]
struct Product {
    a: *const f64,
    b: *const f64,
    c: *mut f64,
    m: i64,
    n: i64,
    k: i64,
    stride: i64,
}

// Parts that are forked write different parts of C.
unsafe impl Send for Product {}
unsafe impl Sync for Product {}

extern "C" {
    fn matmul_leaf(p: &Product);
}

fn multiply(p: Product) {
    let (mut first, mut second) = (p, p);
    unsafe {
        if p.m <= LEAF && p.n <= LEAF && p.k <= LEAF {
            matmul_leaf(&p);
        } else if p.m >= p.n && p.m >= p.k {
            first.m = p.m / 2;
            second.m -= first.m;
            second.a = p.a.offset((first.m * p.stride) as isize);
            second.c = p.c.offset((first.m * p.stride) as isize);
            rayon::join(|| multiply(first), || multiply(second));
        } else if p.n >= p.k {
            first.n = p.n / 2;
            second.n -= first.n;
            second.b = p.b.offset(first.n as isize);
            second.c = p.c.offset(first.n as isize);
            rayon::join(|| multiply(first), || multiply(second));
        } else {
            first.k = p.k / 2;
            second.k -= first.k;
            second.a = p.a.offset(first.k as isize);
            second.b = p.b.offset((first.k * p.stride) as isize);
            multiply(first);
            multiply(second);
        }
    }
}

struct State {
    memory: Vec<f64>,
    n: usize,
}

fn main() {
    let (threads, n) = (arg(1, 2), arg(2, 1024) as usize);
    let element = |i| (mix(i as u64) % 17) as f64 - 8.0;
    let mut memory: Vec<f64> = (0..2 * n * n).map(element).collect();
    memory.resize(3 * n * n, 0.0);
    let clear = |s: &mut State| s.memory[2 * s.n * s.n..].fill(0.0);
    let work = |s: &mut State| {
        let (size, side) = (s.n * s.n, s.n as i64);
        let (inputs, c) = s.memory.split_at_mut(2 * size);
        let (a, b) = inputs.split_at(size);
        let (a, b, c) = (a.as_ptr(), b.as_ptr(), c.as_mut_ptr());
        multiply(Product { a, b, c, m: side, n: side, k: side, stride: side });
    };
    let state = State { memory, n };
    let mut job = Job { state, prepare: &clear, work: &work, check: &|_| {} };
    pool(threads).install(|| job.measure("rayon-install"));
    let c = job.state.memory[2 * n * n..].iter().enumerate();
    passed(c.fold(0u64, |sum, (i, &x)| {
        sum.wrapping_add((x as i64 as u64).wrapping_mul(mix(i as u64) | 1))
    }));
}
