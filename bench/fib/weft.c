/* fib/weft.c - Fibonacci by weft_join without a cut-off: what a fork and a join cost.
 *
 * Usage: fib_weft [threads [n]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"

typedef struct fib_args {
  long n, result;
} fib_args;

static void fib(void *ctx) {
  fib_args *f = (fib_args *)ctx;
  if (f->n < 2) {
    f->result = f->n;
    return;
  }
  fib_args a, b;
  a.n = f->n - 1;
  b.n = f->n - 2;
  weft_join(fib, &a, fib, &b);
  f->result = a.result + b.result;
}

static long run(long n) {
  fib_args f = {n, 0};
  fib(&f);
  return f.result;
}

int main(int argc, char **argv) {
  long n = bench_arg(argc, argv, 2, 35);
  bench_weft_start(bench_arg(argc, argv, 1, 2));
  bench_measure_fib("weft", run, n);
  weft_shutdown();
  return 0;
}
