/* fft/weft.c - the transform by weft_join, its combining loops by weft_for.
 *
 * Usage: fft_weft [threads [logarithm of n]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"
#include "fft.h"

static void combine(size_t begin, size_t end, void *ctx) {
  fft_combine((const transform *)ctx, begin, end);
}

static void part(void *ctx) {
  transform *t = (transform *)ctx;
  if (t->n <= FFT_LEAF) {
    fft_leaf(t);
    return;
  }
  transform even = fft_even(t), odd = fft_odd(t);
  weft_join(part, &even, part, &odd);
  weft_for(t->n / 2, combine, t);
}

static void whole(const transform *t) {
  transform copy = *t;
  part(&copy);
}

int main(int argc, char **argv) {
  bench_weft_start(bench_arg(argc, argv, 1, 2));
  fft_measure("weft", whole, argc, argv);
  weft_shutdown();
  return 0;
}
