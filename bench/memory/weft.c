/* memory/weft.c - P15: a weft pool of the given size.
 *
 * Usage: memory_weft [threads]       starts threads - 1 workers; the caller is one
 *
 * SPDX-License-Identifier: MIT */
#include "memory.h"
#include <weft.h>

static void on_start(unsigned worker, void *ctx) {
  (void)worker;
  (void)ctx;
  memory_register_stack();
}

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

int main(int argc, char **argv) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = (unsigned)bench_arg(argc, argv, 1, 2);
  config.on_start = on_start;
  int status = weft_init(&config);
  if (status != 0) {
    fprintf(stderr, "weft: no pool: %s\n", weft_strerror(status));
    return 2;
  }
  memory_print("weft", "fresh");
  fib_args f = {30, 0};
  fib(&f);
  bench_check("weft", (uint64_t)f.result, (uint64_t)bench_fib_answer(30));
  memory_print("weft", "worked");
  bench_print("weft", "workers", (double)stack_count);
  bench_passed((uint64_t)f.result);
  weft_shutdown();
  return 0;
}
