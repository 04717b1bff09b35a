/* short_calls/weft.c - P18: weft_join, called from outside the pool.
 *
 * weft.slept_x is how many times threads fell asleep per call, in 200 calls after
 * those that are timed.
 *
 * Usage: short_calls_weft [threads [us [alone|busy]]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"
#include "short_calls.h"

enum { COUNTED = 200 };

typedef struct part {
  const uint64_t *numbers;
  size_t count;
  uint64_t hash;
} part;

static void hash(void *ctx) {
  part *p = (part *)ctx;
  if (p->count <= SHORT_LEAF) {
    p->hash = short_calls_leaf(p->numbers, p->count);
    return;
  }
  size_t half = p->count / 2;
  part left = {p->numbers, half, 0}, right = {p->numbers + half, p->count - half, 0};
  weft_join(hash, &left, hash, &right);
  p->hash = short_combine(left.hash, right.hash);
}

static long work(long n) {
  part all = {short_numbers, (size_t)n, 0};
  hash(&all);
  return (long)all.hash;
}

int main(int argc, char **argv) {
  long n = short_calls_begin(argc, argv, 2), threads = bench_arg(argc, argv, 1, 2);
  bench_weft_start(threads);
  short_calls_measure("weft", work, n);
  double slept = bench_weft_sleeps();
  for (int i = 0; i < COUNTED; i++) work(n);
  slept = bench_weft_sleeps() - slept;
  bench_print("weft", "slept_x", slept / COUNTED);
  weft_shutdown();
  return 0;
}
