//! Adaptive integration by rayon::join; the twin of weft.c. See integrate.h.
//!
//! Usage: integrate_rayon [threads [n]]
//!
//! SPDX-License-Identifier: MIT

use weft_bench_rayon::*;

fn f(x: f64) -> f64 {
    (x * x + 1.0) * x
}

fn area(x1: f64, y1: f64, x2: f64, y2: f64, whole: f64) -> f64 {
    let half = (x2 - x1) / 2.0;
    let x = x1 + half;
    let y = f(x);
    let (left, right) = ((y1 + y) / 2.0 * half, (y + y2) / 2.0 * half);
    if (left + right - whole).abs() < 1e-9 {
        return left + right;
    }
    let (a, b) = rayon::join(|| area(x1, y1, x, y, left), || area(x, y, x2, y2, right));
    a + b
}

fn main() {
    let (threads, n) = (arg(1, 2), arg(2, 100));
    let integrate = |n| {
        let (x, y) = (n as f64, f(n as f64));
        area(0.0, 0.0, x, y, y / 2.0 * x).to_bits()
    };
    pool(threads).install(|| measure_first("rayon-install", integrate, n));
}
