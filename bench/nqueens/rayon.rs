//! The search by a parallel iterator over the columns; the twin of weft.c. See nqueens.h.
//!
//! Usage: nqueens_rayon [threads [n]]
//!
//! SPDX-License-Identifier: MIT

use rayon::prelude::*;
use weft_bench_rayon::*;

#[derive(Clone, Copy)]
struct Board {
    column: [i8; 16],
    rows: i32,
    n: i32,
}

impl Board {
    fn free(&self, column: i32) -> bool {
        (0..self.rows).all(|row| {
            let apart = self.column[row as usize] as i32 - column;
            let below = self.rows - row;
            apart != 0 && apart != below && apart != -below
        })
    }

    fn with(&self, column: i32) -> Board {
        let mut next = *self;
        next.column[next.rows as usize] = column as i8;
        next.rows += 1;
        next
    }
}

fn search(b: &Board) -> u64 {
    if b.rows == b.n {
        return 1;
    }
    let free = (0..b.n).into_par_iter().filter(|&column| b.free(column));
    free.map(|column| search(&b.with(column))).sum()
}

fn main() {
    let (threads, n) = (arg(1, 2), arg(2, 12));
    const ANSWERS: [u64; 15] =
        [1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596];
    let count = |n| search(&Board { column: [0; 16], rows: 0, n: n as i32 });
    pool(threads)
        .install(|| measure("rayon-install", count, 8, n, ANSWERS[n as usize]));
}
