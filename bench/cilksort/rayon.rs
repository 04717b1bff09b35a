//! The merge sort by rayon::join; the twin of weft.c. See cilksort.h.
//!
//! Usage: cilksort_rayon [threads [n]]
//!
//! SPDX-License-Identifier: MIT

use rayon::join;
use weft_bench_rayon::*;

const LEAF: usize = 2048;

/// As merging in cilksort.h.
#[repr(C)]
#[derive(Clone, Copy)]
struct Merging {
    a: *const u32,
    b: *const u32,
    a_count: usize,
    b_count: usize,
    to: *mut u32,
}

// The parts of a merge write to different places.
unsafe impl Send for Merging {}
unsafe impl Sync for Merging {}

extern "C" {
    fn cilksort_leaf(a: *mut u32, n: usize);
    fn cilksort_merge_leaf(m: &Merging);
    fn cilksort_split(m: &Merging, first: *mut Merging, second: *mut Merging) -> i32;
}

fn merge_parts(m: Merging) {
    let (mut first, mut second) = (m, m);
    if unsafe { cilksort_split(&m, &mut first, &mut second) } == 0 {
        unsafe { cilksort_merge_leaf(&m) };
    } else {
        join(|| merge_parts(first), || merge_parts(second));
    }
}

fn merge(a: &[u32], b: &[u32], to: &mut [u32]) {
    let to = to.as_mut_ptr();
    let (a_count, b_count) = (a.len(), b.len());
    merge_parts(Merging { a: a.as_ptr(), b: b.as_ptr(), a_count, b_count, to });
}

fn sort(a: &mut [u32], beside: &mut [u32]) {
    if a.len() <= LEAF {
        unsafe { cilksort_leaf(a.as_mut_ptr(), a.len()) };
        return;
    }
    let q = a.len() / 4;
    {
        let (a01, a23) = a.split_at_mut(2 * q);
        let (b01, b23) = beside.split_at_mut(2 * q);
        let sort_pair = |a: &mut [u32], b: &mut [u32]| {
            let (a0, a1) = a.split_at_mut(q);
            let (b0, b1) = b.split_at_mut(q);
            join(|| sort(a0, b0), || sort(a1, b1));
        };
        join(|| sort_pair(a01, b01), || sort_pair(a23, b23));
        join(
            || merge(&a01[..q], &a01[q..], b01),
            || merge(&a23[..q], &a23[q..], b23),
        );
    }
    let (left, right) = beside.split_at(2 * q);
    merge(left, right, a);
}

fn digest(a: &[u32]) -> u64 {
    a.iter().fold(0u64, |sum, &x| sum.wrapping_add(mix(x as u64)))
}

struct State {
    input: Vec<u32>,
    a: Vec<u32>,
    beside: Vec<u32>,
    expected: u64,
}

fn main() {
    const WHO: &str = "rayon-install";
    let (threads, n) = (arg(1, 2), arg(2, 10_000_000));
    let input: Vec<u32> = (0..n).map(|i| mix(i) as u32).collect();
    let (a, beside, expected) = (input.clone(), input.clone(), digest(&input));
    let state = State { input, a, beside, expected };
    let prepare = |s: &mut State| s.a.copy_from_slice(&s.input);
    let work = |s: &mut State| sort(&mut s.a, &mut s.beside);
    let verify = |s: &mut State| {
        let wrong = s.a.windows(2).filter(|w| w[0] > w[1]).count();
        check(WHO, wrong as u64, 0);
        check(WHO, digest(&s.a), s.expected);
    };
    let mut job = Job { state, prepare: &prepare, work: &work, check: &verify };
    pool(threads).install(|| job.measure(WHO));
    passed(expected);
}
