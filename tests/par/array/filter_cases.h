/* filter_cases.h - filter, partition and unique, each against a serial loop.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_PAR_FILTER_CASES_H
#define TESTS_PAR_FILTER_CASES_H

#include "par/array/support.h"

/* What weft_filter, or the front and the back of weft_partition, must give. */
static inline size_t serial_filter(const elements *e, unsigned char *to, bool wanted) {
  size_t kept = 0;
  for (size_t i = 0; i < e->n; i++)
    if ((key_at(e, elem_at(e, i)) < e->below) == wanted)
      memcpy(to + kept++ * e->size, elem_at(e, i), e->size);
  return kept;
}

/* Into another array: of exactly the right length, so that a sanitizer sees more. */
static inline void check_filter(const weft_opts *o, elements *e,
                                const unsigned char *expected, size_t count) {
  unsigned char *dst = array_of(count, e->size);
  CHECK_EQ(weft_filter_with(o, dst, e->base, e->n, e->size, is_below, e), count);
  CHECK(memcmp(dst, expected, count * e->size) == 0);
  CHECK_EQ(dst[count * e->size], 0xA5);
  check_looks(e, 1);
  free(dst);
}

/* The base changes for the time of the call, for note_look. */
static inline void check_filter_in_place(const weft_opts *o, elements *e,
                                         const unsigned char *expected, size_t count) {
  unsigned char *copy = copy_of(e), *original = e->base;
  e->base = copy;
  CHECK_EQ(weft_filter_with(o, copy, copy, e->n, e->size, is_below, e), count);
  CHECK(memcmp(copy, expected, count * e->size) == 0);
  check_looks(e, 1);
  e->base = original;
  free(copy);
}

static inline void check_partition(const weft_opts *o, elements *e,
                                   const unsigned char *expected, size_t count) {
  unsigned char *copy = copy_of(e), *original = e->base;
  e->base = copy;
  CHECK_EQ(weft_partition_with(o, copy, e->n, e->size, is_below, e), count);
  CHECK(memcmp(copy, expected, e->n * e->size) == 0);
  check_looks(e, 1);
  e->base = original;
  free(copy);
}

/* All three; the share of those that the predicate holds for is e->below of e->range. */
static inline void check_filters(const weft_opts *o, elements *e) {
  unsigned char *expected = array_of(e->n, e->size);
  size_t count = serial_filter(e, expected, true);
  serial_filter(e, expected + count * e->size, false);
  check_filter(o, e, expected, count);
  check_filter_in_place(o, e, expected, count);
  check_partition(o, e, expected, count);
  free(expected);
}

/* ---- unique ---- */

/* Runs of equal keys, of random lengths up to `longest`. */
static inline void make_runs(elements *e, unsigned longest, uint64_t *random) {
  unsigned key = 0;
  for (size_t i = 0, left = 0; i < e->n; i++, left--) {
    if (left == 0) {
      key = (key + 1) % e->range;
      left = 1 + harness_random(random) % longest;
    }
    set_key(e, i, key);
  }
}

static inline size_t serial_unique(elements *e, unsigned char *to) {
  size_t count = 0;
  for (size_t i = 0; i < e->n; i++)
    if (i == 0 || by_key(elem_at(e, i - 1), elem_at(e, i), e) != 0)
      memcpy(to + count++ * e->size, elem_at(e, i), e->size);
  return count;
}

static inline void check_unique(const weft_opts *o, elements *e) {
  unsigned char *expected = array_of(e->n, e->size), *copy = copy_of(e);
  size_t count = serial_unique(e, expected);
  CHECK_EQ(weft_unique_with(o, copy, e->n, e->size, by_key, e), count);
  CHECK(memcmp(copy, expected, count * e->size) == 0);
  free(expected);
  free(copy);
}

#endif
