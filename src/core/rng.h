/* core/rng.h - XorShift64*: random numbers. Not for secrets.
 *
 * Each worker has a generator, owned by its thread, that chooses the worker at which a
 * search for work begins (sched/search.c). Sorts draw their samples with a generator of
 * their own, seeded by the number of elements, so that the same array is sorted in the
 * same way (par/sort/order/sample.c, par/sort/radix/sort_template.h).
 * Seeds are spread by SplitMix64, so that the sequences of workers 0, 1, 2 ... have
 * nothing in common. The constants are those of the two papers: Vigna, "An experimental
 * exploration of Marsaglia's xorshift generators, scrambled" (2016), and Steele, Lea,
 * Flood, "Fast splittable pseudorandom number generators" (2014).
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_CORE_RNG_H
#define WF_CORE_RNG_H

#include "assert.h"

#include <stdint.h>

typedef struct wf_rng {
  uint64_t state; /* never 0: xorshift would stay there */
} wf_rng;

/* Any seed is good, also 0. */
static inline void wf_rng_seed(wf_rng *rng, uint64_t seed) {
  uint64_t z = seed + UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  z ^= z >> 31;
  rng->state = z != 0 ? z : 1;
}

static inline uint64_t wf_rng_next(wf_rng *rng) {
  uint64_t x = rng->state;
  WF_ASSERT(x != 0);
  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  rng->state = x;
  return x * UINT64_C(0x2545f4914f6cdd1d);
}

/* A number in [0, bound), each equally likely; bound is at least 1. Lemire's method
 * ("Fast random integer generation in an interval", 2019): the high half of a product;
 * the few values that would favour some results are rejected. */
static inline uint32_t wf_rng_bounded(wf_rng *rng, uint32_t bound) {
  WF_ASSERT(bound >= 1);
  uint64_t product = (wf_rng_next(rng) >> 32) * bound;
  if ((uint32_t)product < bound) {
    uint32_t reject_below = (uint32_t)(0 - bound) % bound;
    while ((uint32_t)product < reject_below) product = (wf_rng_next(rng) >> 32) * bound;
  }
  WF_ASSERT(product >> 32 < bound);
  return (uint32_t)(product >> 32);
}

#endif
