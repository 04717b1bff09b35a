/* Searches, weft_count, weft_min_index and comparisons: the same as serial code, at most
 * one look at each element, and an end soon after the match.
 *
 * SPDX-License-Identifier: MIT */
#include "par/array/search_cases.h"

/* ---- all lengths, sizes, pools ---- */

/* No match, few, many, all; and single ones, at either end and anywhere. */
static void search_case(size_t n, size_t size, uint64_t *random) {
  elements e = elements_of(n, size, 250, random);
  FOR_POOLS(opts) {
    static const unsigned SHARES[] = {0, 1, 100, 249, 250};
    e.below = SHARES[harness_random(random) % 5];
    check_searches(&opts, &e);
    check_extremes(&opts, &e);
  }
  for (size_t i = 0; i < n; i++) set_key(&e, i, 100);
  e.below = 100;
  FOR_POOLS(opts) {
    if (n == 0) continue;
    size_t at[] = {0, n - 1, harness_random(random) % n};
    size_t i = at[harness_random(random) % 3];
    set_key(&e, i, 7);
    check_searches(&opts, &e);
    check_extremes(&opts, &e);
    set_key(&e, i, 100);
  }
  elements_free(&e);
}

TEST(searches_are_as_serial_ones) {
  for_cases(search_case);
}

static void comparison_case(size_t n, size_t size, uint64_t *random) {
  elements e = elements_of(n, size, 250, random);
  FOR_POOLS(opts) {
    check_comparisons(&opts, &e, n, random);
    if (n > 0) check_comparisons(&opts, &e, harness_random(random) % n, random);
  }
  elements_free(&e);
}

TEST(comparisons_are_as_serial_ones) {
  for_cases(comparison_case);
}

/* ---- options, defaults, nothing ---- */

TEST(searches_keep_to_options) {
  uint64_t random = harness_seed();
  elements e = elements_of(20011, 8, 60000, &random);
  open_pools();
  FOR_POOLS(opts) {
    for (unsigned i = 0; i < 30; i++) {
      opts.min_len = harness_random(&random) % 100;
      opts.max_len = harness_random(&random) % 3 * 7;
      opts.max_workers = (unsigned)(harness_random(&random) % 4);
      opts.split = (weft_split)(harness_random(&random) % 3);
      e.below = (unsigned)(harness_random(&random) % 40);
      check_searches(&opts, &e);
      check_extremes(&opts, &e);
      check_comparisons(&opts, &e, harness_random(&random) % e.n, &random);
    }
  }
  close_pools();
  elements_free(&e);
}

static void search_by_default(void *ctx) {
  elements *e = ctx;
  size_t first = weft_find_first_with(NULL, e->base, e->n, e->size, is_below, e);
  CHECK(first != SIZE_MAX);
  CHECK_EQ(weft_find_first(e->base, e->n, e->size, is_below, e), first);
  CHECK_EQ(weft_find_last(e->base, e->n, e->size, is_below, e),
           weft_find_last_with(NULL, e->base, e->n, e->size, is_below, e));
  CHECK(weft_find_any(e->base, e->n, e->size, is_below, e) >= first);
  CHECK(weft_any(e->base, e->n, e->size, is_below, e));
  CHECK(!weft_none(e->base, e->n, e->size, is_below, e));
  CHECK(!weft_all(e->base, e->n, e->size, is_below, e));
  CHECK_EQ(weft_count(e->base, e->n, e->size, is_below, e),
           weft_count_with(NULL, e->base, e->n, e->size, is_below, e));
  CHECK_EQ(weft_min_index(e->base, e->n, e->size, by_key, e),
           weft_min_index_with(NULL, e->base, e->n, e->size, by_key, e));
  CHECK_EQ(weft_max_index(e->base, e->n, e->size, by_key, e),
           weft_max_index_with(NULL, e->base, e->n, e->size, by_key, e));
  CHECK(weft_equal(e->base, e->base, e->n, e->size));
  CHECK(weft_equal_by(e->base, e->base, e->n, e->size, by_key, e));
  CHECK_EQ(weft_compare(e->base, e->n, e->base, e->n, e->size, by_key, e), 0);
}

TEST(searches_from_inside_and_from_outside) {
  uint64_t random = harness_seed();
  elements e = elements_of(10007, 12, 1000, &random);
  in_each_pool(search_by_default, &e);
  search_by_default(&e);
  weft_shutdown();
  elements_free(&e);
}

TEST(nothing_is_fine) {
  CHECK_EQ(weft_find_first(NULL, 0, 4, NULL, NULL), SIZE_MAX);
  CHECK_EQ(weft_find_last(NULL, 0, 4, NULL, NULL), SIZE_MAX);
  CHECK_EQ(weft_find_any(NULL, 0, 4, NULL, NULL), SIZE_MAX);
  CHECK(!weft_any(NULL, 0, 4, NULL, NULL));
  CHECK(weft_all(NULL, 0, 4, NULL, NULL));
  CHECK(weft_none(NULL, 0, 4, NULL, NULL));
  CHECK_EQ(weft_count(NULL, 0, 4, NULL, NULL), 0);
  CHECK_EQ(weft_min_index(NULL, 0, 4, NULL, NULL), SIZE_MAX);
  CHECK_EQ(weft_max_index(NULL, 0, 4, NULL, NULL), SIZE_MAX);
  CHECK(weft_equal(NULL, NULL, 0, 4));
  CHECK(weft_equal_by(NULL, NULL, 0, 4, NULL, NULL));
  CHECK_EQ(weft_compare(NULL, 0, NULL, 0, 4, NULL, NULL), 0);
  CHECK_EQ(weft_compare(NULL, 0, "a", 1, 1, NULL, NULL), -1);
  CHECK_EQ(weft_compare("a", 1, NULL, 0, 1, NULL, NULL), 1);
  weft_shutdown();
}

/* ---- an early end ---- */

/* Elements that are not there: a range of addresses, and a predicate that knows which of
 * them match. */
typedef struct far_match {
  const char *base;
  size_t match;
  atomic_bool is_found;
  atomic_ulong late; /* calls after it was found */
} far_match;

static bool is_the_match(const void *elem, void *ctx) {
  far_match *f = ctx;
  if (atomic_load_explicit(&f->is_found, memory_order_relaxed))
    atomic_fetch_add(&f->late, 1);
  if ((size_t)((const char *)elem - f->base) != f->match) return false;
  atomic_store(&f->is_found, true);
  return true;
}

/* A match in front of 10^11 elements; to look at all of them would take minutes. Blocks
 * that other threads had begun end by themselves, after some ten microseconds of work; it
 * is a watchdog's matter if there were more. */
TEST(a_match_at_the_front_ends_the_search) {
  const size_t n = (size_t)100 * 1000 * 1000 * 1000;
  open_pools();
  FOR_POOLS(opts) {
    for (size_t i = 0; i < 100; i++) {
      far_match front = {.base = (const char *)0x1000, .match = i * i};
      CHECK_EQ(weft_find_first_with(&opts, front.base, n, 1, is_the_match, &front),
               front.match);
      CHECK(weft_any_with(&opts, front.base, n, 1, is_the_match, &front));
      far_match back = {.base = (const char *)0x1000, .match = n - 1 - i * i};
      CHECK_EQ(weft_find_last_with(&opts, back.base, n, 1, is_the_match, &back),
               back.match);
    }
  }
  close_pools();
}

static bool is_not_the_match(const void *elem, void *ctx) {
  return !is_the_match(elem, ctx);
}

static void check_late(far_match *f) {
  CHECK(atomic_load(&f->is_found));
  CHECK_MSG(atomic_load(&f->late) <= 1000 * 1000, "%lu late calls, match at %zu",
            atomic_load(&f->late), f->match);
  atomic_store(&f->late, 0);
  atomic_store(&f->is_found, false);
}

/* When the match is found, hardly any of 10^8 elements are looked at any more: blocks
 * that other threads had begun, of some thousands each; not a hundredth of the rest. */
TEST(what_lies_behind_a_match_is_left_alone) {
  static const size_t MATCHES[] = {0, 1, 5000, 300000};
  const size_t n = (size_t)100 * 1000 * 1000;
  open_pools();
  FOR_POOLS(opts) {
    for (unsigned i = 0; i < 4; i++) {
      far_match f = {.base = (const char *)0x1000, .match = MATCHES[i]};
      CHECK_EQ(weft_find_first_with(&opts, f.base, n, 1, is_the_match, &f), f.match);
      check_late(&f);
      f.match = n - 1 - MATCHES[i];
      CHECK_EQ(weft_find_last_with(&opts, f.base, n, 1, is_the_match, &f), f.match);
      check_late(&f);
      f.match = MATCHES[i];
      CHECK_EQ(weft_find_any_with(&opts, f.base, n, 1, is_the_match, &f), f.match);
      check_late(&f);
      CHECK(weft_any_with(&opts, f.base, n, 1, is_the_match, &f));
      check_late(&f);
      CHECK(!weft_none_with(&opts, f.base, n, 1, is_the_match, &f));
      check_late(&f);
      CHECK(!weft_all_with(&opts, f.base, n, 1, is_not_the_match, &f));
      check_late(&f);
    }
  }
  close_pools();
}

/* Many matches: the lowest must win although others are found earlier. Element 0 is slow,
 * so that others are found first. */
typedef struct slow_first {
  const char *base;
  atomic_ulong others;
} slow_first;

static bool all_match(const void *elem, void *ctx) {
  slow_first *s = ctx;
  if (elem != s->base)
    atomic_fetch_add(&s->others, 1);
  else
    AWAIT(atomic_load(&s->others) > 0);
  return true;
}

TEST(the_leftmost_wins_though_found_last) {
  for (unsigned i = 1; i < THREADS_COUNT; i++) {
    weft_pool *pool = pool_of(THREADS[i]);
    weft_opts opts = WEFT_OPTS_INIT;
    opts.pool = pool;
    for (unsigned long k = 0; k < scaled(200); k++) {
      slow_first s = {.base = (const char *)0x1000};
      CHECK_EQ(weft_find_first_with(&opts, s.base, 1000000, 1, all_match, &s), 0);
      /* Each other thread was stopped by its own match, or by that of another. */
      CHECK(atomic_load(&s.others) < THREADS[i]);
    }
    weft_pool_destroy(pool);
  }
}

/* ---- cancelled ---- */

TEST(a_cancelled_search_ends) {
  const size_t n = (size_t)100 * 1000 * 1000 * 1000;
  open_pools();
  FOR_POOLS(opts) {
    weft_scope scope;
    /* Every call counts as late. */
    far_match none = {(const char *)0x1000, .match = SIZE_MAX, .is_found = true};
    weft_scope_begin_with(&opts, &scope);
    weft_scope_cancel(&scope, 1);
    opts.cancel = &scope;
    weft_find_first_with(&opts, none.base, n, 1, is_the_match, &none);
    weft_find_any_with(&opts, none.base, n, 1, is_the_match, &none);
    weft_count_with(&opts, none.base, n, 1, is_the_match, &none);
    CHECK_EQ(atomic_load(&none.late), 0);
    weft_scope_end(&scope);
  }
  close_pools();
}
