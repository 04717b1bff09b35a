//! The transform by rayon::join and parallel iterators; the twin of weft.c. See fft.h.
//!
//! Usage: fft_rayon [threads [logarithm of n]]
//!
//! SPDX-License-Identifier: MIT

use rayon::prelude::*;
use weft_bench_rayon::*;

const LEAF: usize = 4096;

#[repr(C)]
#[derive(Clone, Copy)]
struct Complex {
    re: f64,
    im: f64,
}

/// As transform in fft.h.
#[repr(C)]
#[derive(Clone, Copy)]
struct Transform {
    from: *const Complex,
    roots: *const Complex,
    to: *mut Complex,
    n: usize,
    stride: usize,
}

// Parts that are forked write to different places.
unsafe impl Send for Transform {}
unsafe impl Sync for Transform {}

extern "C" {
    fn fft_leaf(t: &Transform);
    fn fft_combine(t: &Transform, first: usize, end: usize);
}

fn part(t: &Transform) {
    if t.n <= LEAF {
        unsafe { fft_leaf(t) };
        return;
    }
    let (n, stride) = (t.n / 2, t.stride * 2);
    let even = Transform { n, stride, ..*t };
    let odd = Transform {
        from: unsafe { t.from.add(t.stride) },
        to: unsafe { t.to.add(n) },
        ..even
    };
    rayon::join(|| part(&even), || part(&odd));
    let blocks = 0..n / (LEAF / 2);
    blocks.into_par_iter().for_each(|block| unsafe {
        fft_combine(t, block * (LEAF / 2), (block + 1) * (LEAF / 2))
    });
}

struct State {
    from: Vec<Complex>,
    roots: Vec<Complex>,
    to: Vec<Complex>,
}

fn main() {
    let (threads, n) = (arg(1, 2), 1usize << arg(2, 20));
    let input = |i| Complex { re: mix_unit(i as u64), im: mix_unit((n + i) as u64) };
    let root = |i| {
        let angle = -2.0 * std::f64::consts::PI * i as f64 / n as f64;
        Complex { re: angle.cos(), im: angle.sin() }
    };
    let state = State {
        from: (0..n).map(input).collect(),
        roots: (0..n).map(root).collect(),
        to: vec![Complex { re: 0.0, im: 0.0 }; n],
    };
    let work = |s: &mut State| {
        let (from, roots, to) = (s.from.as_ptr(), s.roots.as_ptr(), s.to.as_mut_ptr());
        part(&Transform { from, roots, to, n: s.from.len(), stride: 1 });
    };
    let mut job = Job { state, prepare: &|_| {}, work: &work, check: &|_| {} };
    pool(threads).install(|| job.measure("rayon-install"));
    passed(job.state.to.iter().enumerate().fold(0u64, |sum, (i, x)| {
        let bits = x.re.to_bits().wrapping_add(x.im.to_bits().wrapping_mul(3));
        sum.wrapping_add(bits.wrapping_mul(mix(i as u64) | 1))
    }));
}
