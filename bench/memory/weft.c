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

static unsigned met; /* workers in the meeting when its first task went on */

static void task(void *ctx) {
  memory_meet(*(unsigned *)ctx);
  unsigned none = 0, now = __atomic_load_n(&arrived, __ATOMIC_SEQ_CST);
  __atomic_compare_exchange_n(&met, &none, now, false, __ATOMIC_SEQ_CST,
                              __ATOMIC_SEQ_CST);
  fib_args f = {20, 0};
  fib(&f);
  bench_check("weft", (uint64_t)f.result, (uint64_t)bench_fib_answer(20));
  __atomic_fetch_add(&finished, 1, __ATOMIC_SEQ_CST);
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
  unsigned workers = __atomic_load_n(&stack_count, __ATOMIC_SEQ_CST);
  for (unsigned i = 0; i < workers; i++)
    bench_check("weft", (uint64_t)weft_detach(task, &workers), 0);
  while (__atomic_load_n(&finished, __ATOMIC_SEQ_CST) < workers) bench_sleep_us(1000);
  memory_print("weft", "worked");
  bench_print("weft", "workers", (double)workers);
  bench_print("weft", "used", (double)met);
  bench_passed_alone();
  weft_shutdown();
  return 0;
}
