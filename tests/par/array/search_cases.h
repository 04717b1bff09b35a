/* search_cases.h - searches and comparisons, each against a serial loop.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_PAR_SEARCH_CASES_H
#define TESTS_PAR_SEARCH_CASES_H

#include "par/array/support.h"

static inline bool is_not_below(const void *elem, void *ctx) {
  return !is_below(elem, ctx);
}

/* No element was looked at twice since the last check. */
static inline void check_no_second_look(elements *e) {
  size_t wrong = 0;
  for (size_t i = 0; i < e->n; i++) wrong += atomic_load(&e->looks[i]) > 1;
  CHECK_EQ(wrong, 0);
  memset((void *)e->looks, 0, e->n);
}

static inline void check_searches(const weft_opts *o, elements *e) {
  size_t first = SIZE_MAX, last = SIZE_MAX, count = 0;
  for (size_t i = 0; i < e->n; i++) {
    if (key_at(e, elem_at(e, i)) >= e->below) continue;
    if (first == SIZE_MAX) first = i;
    last = i;
    count++;
  }
  CHECK_EQ(weft_find_first_with(o, e->base, e->n, e->size, is_below, e), first);
  check_no_second_look(e);
  CHECK_EQ(weft_find_last_with(o, e->base, e->n, e->size, is_below, e), last);
  check_no_second_look(e);
  size_t any = weft_find_any_with(o, e->base, e->n, e->size, is_below, e);
  check_no_second_look(e);
  CHECK_EQ(any == SIZE_MAX, count == 0);
  if (any != SIZE_MAX) CHECK(key_at(e, elem_at(e, any)) < e->below);
  CHECK_EQ(weft_any_with(o, e->base, e->n, e->size, is_below, e), count > 0);
  CHECK_EQ(weft_none_with(o, e->base, e->n, e->size, is_below, e), count == 0);
  CHECK_EQ(weft_all_with(o, e->base, e->n, e->size, is_not_below, e), count == 0);
  memset((void *)e->looks, 0, e->n);
  CHECK_EQ(weft_count_with(o, e->base, e->n, e->size, is_below, e), count);
  check_looks(e, 1);
}

static inline void check_extremes(const weft_opts *o, elements *e) {
  size_t least = e->n > 0 ? 0 : SIZE_MAX, most = least;
  for (size_t i = 1; i < e->n; i++) {
    if (by_key(elem_at(e, i), elem_at(e, least), e) < 0) least = i;
    if (by_key(elem_at(e, i), elem_at(e, most), e) > 0) most = i;
  }
  CHECK_EQ(weft_min_index_with(o, e->base, e->n, e->size, by_key, e), least);
  CHECK_EQ(weft_max_index_with(o, e->base, e->n, e->size, by_key, e), most);
}

static inline int sign_of(int order) {
  return (order > 0) - (order < 0);
}

/* Compares the array with a copy that differs from `at` on (not at all if at == n), and
 * with the front of it. */
static inline void check_comparisons(const weft_opts *o, elements *e, size_t at,
                                     uint64_t *random) {
  unsigned char *copy = copy_of(e), *original = e->base;
  const size_t n = e->n, size = e->size;
  int order = 0;
  e->base = copy;
  for (size_t i = at; i < n; i++)
    set_key(e, i,
            i == at ? (key_at(e, elem_at(e, i)) + 1) % e->range
                    : (unsigned)(harness_random(random) % e->range));
  e->base = original;
  if (at < n) order = by_key(original + at * size, copy + at * size, e);
  CHECK_EQ(weft_equal_with(o, original, copy, n, size), at == n);
  CHECK_EQ(weft_equal_by_with(o, original, copy, n, size, by_key, e), at == n);
  CHECK_EQ(sign_of(weft_compare_with(o, original, n, copy, n, size, by_key, e)), order);
  CHECK_EQ(sign_of(weft_compare_with(o, copy, n, original, n, size, by_key, e)), -order);
  CHECK_EQ(weft_equal_with(o, original, copy, at, size), true);
  CHECK_EQ(weft_equal_by_with(o, original, copy, at, size, by_key, e), true);
  CHECK_EQ(sign_of(weft_compare_with(o, original, at, copy, n, size, by_key, e)),
           at < n ? -1 : 0);
  CHECK_EQ(sign_of(weft_compare_with(o, original, n, copy, at, size, by_key, e)),
           at < n ? 1 : 0);
  free(copy);
}

#endif
