//! Links the kernels: the inner loops that all contestants of a workload share.
//!
//! SPDX-License-Identifier: MIT

fn main() {
    if let Ok(folder) = std::env::var("BENCH_KERNELS") {
        println!("cargo:rustc-link-search=native={folder}");
        println!("cargo:rustc-link-lib=static=bench_kernels");
        println!("cargo:rerun-if-changed={folder}/libbench_kernels.a");
    }
    println!("cargo:rerun-if-env-changed=BENCH_KERNELS");
}
