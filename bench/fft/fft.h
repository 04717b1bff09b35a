/* fft/fft.h - the Fourier transform of n complex numbers, by halving: even and odd
 * elements are transformed in parallel, then combined, also in parallel where there are
 * many. Up to 4096 elements all is sequential: kernel.c, which all contestants share.
 *
 * Every number is computed alike whoever does it, so the result has always the same bits.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_FFT_FFT_H
#define BENCH_FFT_FFT_H

#include "../common/bench.h"
#include <math.h>

enum { FFT_LEAF = 4096 };

typedef struct complex_number {
  double re, im;
} complex_number;

/* Transforms n numbers of from, stride apart, into to. roots has the whole_n roots of
 * unity for the whole transform. */
typedef struct transform {
  const complex_number *from, *roots;
  complex_number *to;
  size_t n, stride;
} transform;

#ifdef __cplusplus
extern "C" {
#endif
/* All of it, for n up to FFT_LEAF. */
void fft_leaf(const transform *t);
/* Combines both halves of to for the indices from first up to end, at most n / 2. */
void fft_combine(const transform *t, size_t first, size_t end);
#ifdef __cplusplus
}
#endif

BENCH_HELPER transform fft_even(const transform *t) {
  transform half = *t;
  half.n /= 2;
  half.stride *= 2;
  return half;
}

BENCH_HELPER transform fft_odd(const transform *t) {
  transform half = fft_even(t);
  half.from += t->stride;
  half.to += half.n;
  return half;
}

typedef void fft_fn(const transform *t);

typedef struct fft_state {
  fft_fn *transform_all;
  transform t;
} fft_state;

BENCH_HELPER void fft_work(void *ctx) {
  fft_state *s = (fft_state *)ctx;
  s->transform_all(&s->t);
}

BENCH_HELPER uint64_t fft_digest(const complex_number *a, size_t n) {
  uint64_t sum = 0;
  for (size_t i = 0; i < n; i++) {
    uint64_t bits[2];
    memcpy(bits, &a[i], sizeof bits);
    sum += (bits[0] + 3 * bits[1]) * (bench_mix(i) | 1);
  }
  return sum;
}

/* Arguments of every contestant: threads, the logarithm of n. */
BENCH_HELPER void fft_measure(const char *who, fft_fn *transform_all, int argc,
                              char **argv) {
  size_t n = (size_t)1 << bench_arg(argc, argv, 2, 20);
  /* Three arrays, as in rayon.rs: parts of one would be 2^24 bytes apart, and their lines
   * in the same sets of the caches. */
  complex_number *from = (complex_number *)bench_array(n, sizeof *from);
  complex_number *roots = (complex_number *)bench_array(n, sizeof *roots);
  complex_number *to = (complex_number *)bench_array(n, sizeof *to);
  for (size_t i = 0; i < n; i++) {
    double angle = -2 * 3.14159265358979323846 * (double)i / (double)n;
    from[i].re = bench_mix_unit(i);
    from[i].im = bench_mix_unit(n + i);
    roots[i].re = cos(angle);
    roots[i].im = sin(angle);
  }
  transform whole = {from, roots, to, n, 1};
  fft_state s = {transform_all, whole};
  bench_job job = {NULL, fft_work, NULL, &s};
  bench_measure_job(who, &job);
  bench_passed(fft_digest(s.t.to, n));
  free(from);
  free(roots);
  free(to);
}

#endif
