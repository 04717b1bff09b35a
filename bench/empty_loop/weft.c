/* empty_loop/weft.c - P7: weft_for, called from outside the pool, and inside of it.
 *
 * Usage: empty_loop_weft [threads [outside|inside]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"
#include "empty_loop.h"

static void nothing(size_t begin, size_t end, void *ctx) {
  (void)ctx;
  for (size_t i = begin; i < end; i++) EMPTY_LOOP_NOTHING();
}

static void count(size_t begin, size_t end, void *ctx) {
  __atomic_fetch_add((long *)ctx, (long)(end - begin), __ATOMIC_RELAXED);
}

static long empty(long n) {
  weft_for((size_t)n, nothing, NULL);
  return n;
}

static long counted(long n) {
  long ran = 0;
  weft_for((size_t)n, count, &ran);
  return ran;
}

static void measure_inside(void *ctx) {
  (void)ctx;
  empty_loop_measure("weft-inside", empty, counted);
}

int main(int argc, char **argv) {
  static const char *const places[] = {"outside", "inside"};
  bench_weft_start(bench_arg(argc, argv, 1, 2));
  if (argc > 2 && bench_choose(argc, argv, 2, places, 2) == 1)
    weft_pool_run(NULL, measure_inside, NULL);
  else
    empty_loop_measure("weft", empty, counted);
  weft_shutdown();
  return 0;
}
