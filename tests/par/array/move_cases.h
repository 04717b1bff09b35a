/* move_cases.h - calls that move elements, map and histogram, each against a serial loop.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_PAR_MOVE_CASES_H
#define TESTS_PAR_MOVE_CASES_H

#include "par/array/support.h"

/* ---- in place ---- */

static inline void check_reverse(const weft_opts *o, elements *e) {
  unsigned char *copy = copy_of(e);
  size_t wrong = 0;
  weft_reverse_with(o, copy, e->n, e->size);
  for (size_t i = 0; i < e->n; i++)
    wrong += memcmp(copy + i * e->size, elem_at(e, e->n - 1 - i), e->size) != 0;
  CHECK_EQ(wrong, 0);
  free(copy);
}

static inline void check_rotate(const weft_opts *o, elements *e, size_t middle) {
  unsigned char *copy = copy_of(e);
  size_t front = (e->n - middle) * e->size;
  weft_rotate_with(o, copy, e->n, e->size, middle);
  CHECK(memcmp(copy, elem_at(e, middle), front) == 0);
  CHECK(memcmp(copy + front, e->base, middle * e->size) == 0);
  free(copy);
}

/* ---- from array to array ---- */

static inline void check_copy(const weft_opts *o, elements *e) {
  unsigned char *dst = array_of(e->n, e->size);
  weft_copy_with(o, dst, e->base, e->n, e->size);
  CHECK(memcmp(dst, e->base, e->n * e->size) == 0);
  CHECK_EQ(dst[e->n * e->size], 0xA5);
  free(dst);
}

/* `byte` < 256: a value of nothing but that byte. */
static inline void check_fill(const weft_opts *o, elements *e, unsigned byte) {
  unsigned char *dst = array_of(e->n, e->size), *value = array_of(1, e->size);
  size_t wrong = 0;
  if (byte < 256)
    memset(value, (int)byte, e->size);
  else if (e->n > 0)
    memcpy(value, elem_at(e, e->n / 2), e->size);
  weft_fill_with(o, dst, e->n, e->size, value);
  for (size_t i = 0; i < e->n; i++)
    wrong += memcmp(dst + i * e->size, value, e->size) != 0;
  CHECK_EQ(wrong, 0);
  CHECK_EQ(dst[e->n * e->size], 0xA5);
  free(dst);
  free(value);
}

/* A permutation there and back, and indices that repeat. */
static inline void check_gather_scatter(const weft_opts *o, elements *e,
                                        uint64_t *random) {
  const size_t n = e->n, size = e->size;
  size_t *index = array_of(n, sizeof *index), wrong = 0;
  unsigned char *dst = array_of(n, size), *back = array_of(n, size);
  for (size_t i = 0; i < n; i++) index[i] = i;
  for (size_t i = n; i > 1; i--) {
    size_t k = harness_random(random) % i, other = index[k];
    index[k] = index[i - 1];
    index[i - 1] = other;
  }
  weft_gather_with(o, dst, e->base, index, n, size);
  for (size_t i = 0; i < n; i++)
    wrong += memcmp(dst + i * size, elem_at(e, index[i]), size) != 0;
  weft_scatter_with(o, back, dst, index, n, size);
  CHECK(memcmp(back, e->base, n * size) == 0);
  for (size_t i = 0; i < n; i++) index[i] = harness_random(random) % n;
  weft_gather_with(o, dst, e->base, index, n, size);
  for (size_t i = 0; i < n; i++)
    wrong += memcmp(dst + i * size, elem_at(e, index[i]), size) != 0;
  CHECK_EQ(wrong, 0);
  CHECK_EQ(dst[n * size], 0xA5);
  CHECK_EQ(back[n * size], 0xA5);
  free(index);
  free(dst);
  free(back);
}

/* ---- map ---- */

/* The index, and the bytes of the element, inverted. */
static inline void invert(void *out, const void *in, size_t index, void *ctx) {
  const elements *e = ctx;
  const unsigned char *from = in;
  unsigned char *to = out;
  note_look(e, in);
  memcpy(to, &index, sizeof index);
  for (size_t i = 0; i < e->size; i++)
    to[sizeof index + i] = (unsigned char)(from[i] ^ 0xFF);
}

static inline void invert_in_place(void *out, const void *in, size_t index, void *ctx) {
  const elements *e = ctx;
  const unsigned char *from = in;
  unsigned char *to = out;
  for (size_t i = 0; i < e->size; i++) to[i] = (unsigned char)(from[i] ^ index);
}

static inline void check_map(const weft_opts *o, elements *e) {
  const size_t size = sizeof(size_t) + e->size;
  unsigned char *dst = array_of(e->n, size), *expected = array_of(1, size);
  size_t wrong = 0;
  weft_map_with(o, dst, size, e->base, e->n, e->size, invert, e);
  check_looks(e, 1);
  for (size_t i = 0; i < e->n; i++) {
    invert(expected, elem_at(e, i), i, e);
    wrong += memcmp(dst + i * size, expected, size) != 0;
  }
  memset((void *)e->looks, 0, e->n);
  free(dst);
  dst = copy_of(e);
  weft_map_with(o, dst, e->size, dst, e->n, e->size, invert_in_place, e);
  for (size_t i = 0; i < e->n; i++) {
    invert_in_place(expected, elem_at(e, i), i, e);
    wrong += memcmp(dst + i * e->size, expected, e->size) != 0;
  }
  CHECK_EQ(wrong, 0);
  free(dst);
  free(expected);
}

/* ---- histogram ---- */

static inline size_t key_for_count(const void *elem, void *ctx) {
  const elements *e = ctx;
  note_look(e, elem);
  return key_at(e, elem);
}

/* `keys` is more than all keys. */
static inline void check_histogram(const weft_opts *o, elements *e, size_t keys) {
  size_t *counts = array_of(keys, sizeof *counts), wrong = 0;
  size_t *expected = calloc(keys + 1, sizeof *expected);
  REQUIRE(expected != NULL);
  for (size_t i = 0; i < e->n; i++) expected[key_at(e, elem_at(e, i))]++;
  weft_histogram_with(o, counts, keys, e->base, e->n, e->size, key_for_count, e);
  check_looks(e, 1);
  for (size_t k = 0; k < keys; k++) wrong += counts[k] != expected[k];
  CHECK_EQ(wrong, 0);
  CHECK_EQ(((unsigned char *)counts)[keys * sizeof *counts], 0xA5);
  free(counts);
  free(expected);
}

#endif
