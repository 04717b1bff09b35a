/* granularity/weft.c - the bodies as leaves of a tree of weft_join; and as iterations of
 * weft_for, without any option, as weft-loop.
 *
 * Usage: granularity_weft [threads [steps [loop]]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"
#include "granularity.h"

typedef struct span {
  uint64_t first, count, sum;
} span;

static void tree(void *ctx) {
  span *s = (span *)ctx;
  if (s->count == 1) {
    s->sum = (uint64_t)granularity_body(s->first);
    return;
  }
  uint64_t half = s->count / 2;
  span left = {s->first, half, 0}, right = {s->first + half, s->count - half, 0};
  weft_join(tree, &left, tree, &right);
  s->sum = left.sum + right.sum;
}

static long by_tree(long n) {
  span all = {0, (uint64_t)n, 0};
  tree(&all);
  return (long)all.sum;
}

static void add_range(size_t begin, size_t end, void *ctx) {
  uint64_t sum = 0;
  for (size_t i = begin; i < end; i++) sum += (uint64_t)granularity_body(i);
  __atomic_fetch_add((uint64_t *)ctx, sum, __ATOMIC_RELAXED);
}

static long by_loop(long n) {
  uint64_t sum = 0;
  weft_for((size_t)n, add_range, &sum);
  return (long)sum;
}

int main(int argc, char **argv) {
  bench_weft_start(bench_arg(argc, argv, 1, 2));
  if (argc > 3 && strcmp(argv[3], "loop") == 0)
    granularity_measure("weft-loop", by_loop, argc, argv);
  else
    granularity_measure("weft", by_tree, argc, argv);
  weft_shutdown();
  return 0;
}
