//! Resident memory of a Rayon pool beyond its stacks; the twin of memory.h,
//! which explains the method.
//!
//! Usage: memory [threads]
//!
//! SPDX-License-Identifier: MIT

use std::sync::Mutex;
use std::thread::sleep;
use std::time::Duration;
use weft_bench_rayon::*;

static STACKS: Mutex<Vec<(usize, usize)>> = Mutex::new(Vec::new());

fn register_stack() {
    unsafe {
        let mut attr: libc::pthread_attr_t = std::mem::zeroed();
        if libc::pthread_getattr_np(libc::pthread_self(), &mut attr) != 0 {
            return;
        }
        let (mut address, mut size) = (std::ptr::null_mut(), 0);
        libc::pthread_attr_getstack(&attr, &mut address, &mut size);
        libc::pthread_attr_destroy(&mut attr);
        STACKS.lock().unwrap().push((address as usize, size));
    }
}

fn rss_kib() -> f64 {
    std::fs::read_to_string("/proc/self/smaps")
        .unwrap()
        .lines()
        .filter_map(|l| l.strip_prefix("Rss:"))
        .filter_map(|l| l.split_whitespace().next()?.parse::<f64>().ok())
        .sum()
}

fn stacks_kib() -> f64 {
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
    let mut resident = vec![0u8; 65536];
    let mut pages = 0;
    for &(address, size) in STACKS.lock().unwrap().iter() {
        let count = (size / page).min(resident.len());
        unsafe { libc::mincore(address as *mut _, count * page, resident.as_mut_ptr()) };
        pages += resident[..count].iter().filter(|&&r| r & 1 == 1).count();
    }
    (pages * page) as f64 / 1024.0
}

fn print_memory(when: &str) {
    rss_kib();
    sleep(Duration::from_millis(300));
    let (rss, stack) = (rss_kib(), stacks_kib());
    print("rayon", &format!("{when}_rss_kib"), rss);
    print("rayon", &format!("{when}_stacks_kib"), stack);
    print("rayon", &format!("{when}_beyond_kib"), rss - stack);
}

fn fib(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = rayon::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

fn main() {
    rayon::ThreadPoolBuilder::new()
        .num_threads(arg(1, 2) as usize)
        .start_handler(|_| register_stack())
        .build_global()
        .unwrap();
    print_memory("fresh");
    for result in rayon::broadcast(|_| fib(20)) {
        check("rayon", result, fib_answer(20));
    }
    print_memory("worked");
    let workers = STACKS.lock().unwrap().len();
    print("rayon", "workers", workers as f64);
    print("rayon", "used", workers as f64); // broadcast runs on every thread
    passed_alone();
}
