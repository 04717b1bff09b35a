//! The walk by a parallel iterator over the children; the twin of weft.c. See uts.h.
//!
//! Usage: uts_rayon [threads [tree]]
//!
//! SPDX-License-Identifier: MIT

use rayon::prelude::*;
use weft_bench_rayon::*;

#[repr(C)]
struct Node {
    state: [u8; 20],
    depth: i32,
    tree: i32,
}

extern "C" {
    fn uts_root(tree: i32) -> Node;
    fn uts_children(node: &Node) -> i32;
    fn uts_child(node: &Node, i: i32) -> Node;
}

fn walk(node: &Node) -> u64 {
    let children = unsafe { uts_children(node) };
    let below = |i| walk(&unsafe { uts_child(node, i) });
    1 + (0..children).into_par_iter().map(below).sum::<u64>()
}

fn main() {
    let (threads, tree) = (arg(1, 2), arg(2, 1));
    let answer = match tree {
        1 => 4130071,
        3 => 4112897,
        _ => 3987,
    };
    let count = |tree| walk(&unsafe { uts_root(tree as i32) });
    pool(threads).install(|| measure("rayon-install", count, 0, tree, answer));
}
