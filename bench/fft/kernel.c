/* fft/kernel.c - the sequential ends of the transform; see fft.h.
 *
 * SPDX-License-Identifier: MIT */
#include "fft.h"

void fft_combine(const transform *t, size_t first, size_t end) {
  size_t half = t->n / 2;
  for (size_t i = first; i < end; i++) {
    complex_number even = t->to[i], odd = t->to[i + half], root = t->roots[i * t->stride];
    double re = odd.re * root.re - odd.im * root.im;
    double im = odd.re * root.im + odd.im * root.re;
    t->to[i].re = even.re + re;
    t->to[i].im = even.im + im;
    t->to[i + half].re = even.re - re;
    t->to[i + half].im = even.im - im;
  }
}

void fft_leaf(const transform *t) {
  if (t->n == 1) {
    t->to[0] = t->from[0];
    return;
  }
  transform even = fft_even(t), odd = fft_odd(t);
  fft_leaf(&even);
  fft_leaf(&odd);
  fft_combine(t, 0, t->n / 2);
}
