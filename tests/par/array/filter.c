/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc */
/* link: -Wl,--wrap=free */
/* weft_filter, weft_partition, weft_unique: the same as serial code, one look at each
 * element, nothing written behind the result; also in place, with options, without
 * memory, cancelled, and with predicates that are uneven or use the pool themselves.
 *
 * SPDX-License-Identifier: MIT */
#include "par/array/filter_cases.h"

#include "harness/memory_faults.h"

/* ---- all lengths, sizes, pools ---- */

static void filter_case(size_t n, size_t size, uint64_t *random) {
  elements e = elements_of(n, size, 1000, random);
  unsigned shares[] = {0, 1, e.range / 3, e.range - 1, e.range};
  FOR_POOLS(opts) {
    e.below = shares[harness_random(random) % 5];
    check_filters(&opts, &e);
  }
  elements_free(&e);
}

TEST(filters_are_as_serial_ones) {
  for_cases(filter_case);
}

static void unique_case(size_t n, size_t size, uint64_t *random) {
  elements e = elements_of(n, size, 200, random);
  FOR_POOLS(opts) {
    static const unsigned LONGEST[] = {1, 2, 10, 100000};
    make_runs(&e, LONGEST[harness_random(random) % 4], random);
    check_unique(&opts, &e);
  }
  elements_free(&e);
}

TEST(unique_is_as_the_serial_one) {
  for_cases(unique_case);
}

/* 33 MiB, in two lengths of elements: the survivors are written past the caches, from
 * places of any alignment on. */
TEST(filters_of_more_than_caches_hold) {
  static const size_t SIZES[] = {12, 100};
  uint64_t random = harness_seed();
  weft_pool *pool = pool_of(3);
  for (unsigned i = 0; i < 2; i++) {
    elements e = elements_of(((size_t)33 << 20) / SIZES[i], SIZES[i], 200, &random);
    weft_opts opts = WEFT_OPTS_INIT;
    opts.pool = pool;
    e.below = e.range / 2;
    check_filters(&opts, &e);
    elements_free(&e);
  }
  weft_pool_destroy(pool);
}

/* ---- options ---- */

TEST(filters_keep_to_options) {
  uint64_t random = harness_seed();
  elements e = elements_of(20011, 8, 1000, &random);
  open_pools();
  FOR_POOLS(opts) {
    for (unsigned i = 0; i < 20; i++) {
      opts.min_len = harness_random(&random) % 100;
      opts.max_len = harness_random(&random) % 3 * 7;
      opts.max_workers = (unsigned)(harness_random(&random) % 4);
      opts.split = (weft_split)(harness_random(&random) % 3);
      e.below = (unsigned)(harness_random(&random) % 1001);
      check_filters(&opts, &e);
      check_unique(&opts, &e);
    }
  }
  close_pools();
  elements_free(&e);
}

static void filter_by_default(void *ctx) {
  elements *e = ctx;
  unsigned char *expected = array_of(e->n, e->size), *copy = copy_of(e);
  size_t count = serial_filter(e, expected, true), others;
  unsigned char *dst = array_of(count, e->size), *original = e->base;
  CHECK_EQ(weft_filter(dst, e->base, e->n, e->size, is_below, e), count);
  CHECK(memcmp(dst, expected, count * e->size) == 0);
  others = serial_filter(e, expected + count * e->size, false);
  CHECK_EQ(count + others, e->n);
  e->base = copy;
  CHECK_EQ(weft_partition(copy, e->n, e->size, is_below, e), count);
  CHECK(memcmp(copy, expected, e->n * e->size) == 0);
  CHECK(weft_unique(copy, e->n, e->size, by_key, e) <= e->n);
  e->base = original;
  check_looks(e, 2);
  free(expected);
  free(copy);
  free(dst);
}

TEST(filters_from_inside_and_from_outside) {
  uint64_t random = harness_seed();
  elements e = elements_of(10007, 12, 1000, &random);
  in_each_pool(filter_by_default, &e);
  filter_by_default(&e);
  weft_shutdown();
  elements_free(&e);
}

TEST(nothing_is_fine) {
  CHECK_EQ(weft_filter(NULL, NULL, 0, 4, NULL, NULL), 0);
  CHECK_EQ(weft_partition(NULL, 0, 4, NULL, NULL), 0);
  CHECK_EQ(weft_unique(NULL, 0, 4, NULL, NULL), 0);
  weft_shutdown();
}

/* ---- without memory ---- */

/* The memory of the test itself is asked for while nothing is refused. */
static void check_refused(const weft_opts *o, elements *e, refusal what,
                          unsigned long first, bool always) {
  unsigned char *expected = array_of(e->n, e->size), *copy = copy_of(e);
  unsigned char *dst = array_of(e->n, e->size), *original = e->base;
  size_t count = serial_filter(e, expected, true);
  serial_filter(e, expected + count * e->size, false);
  refuse_memory(what, first);
  CHECK_EQ(weft_filter_with(o, dst, e->base, e->n, e->size, is_below, e), count);
  allow_memory();
  CHECK(memcmp(dst, expected, count * e->size) == 0);
  e->base = copy;
  refuse_memory(what, first);
  CHECK_EQ(weft_partition_with(o, copy, e->n, e->size, is_below, e), count);
  CHECK(allow_memory() > 0 || !always);
  CHECK(memcmp(copy, expected, e->n * e->size) == 0);
  check_looks(e, 2);
  e->base = original;
  count = serial_unique(e, expected);
  memcpy(copy, e->base, e->n * e->size);
  refuse_memory(what, first);
  CHECK_EQ(weft_unique_with(o, copy, e->n, e->size, by_key, e), count);
  allow_memory();
  CHECK(memcmp(copy, expected, count * e->size) == 0);
  free(expected);
  free(copy);
  free(dst);
}

static void warm_up(void) {
  FOR_POOLS(opts) weft_pool_run(opts.pool, do_nothing, NULL);
}

TEST(filters_without_memory) {
  uint64_t random = harness_seed();
  open_pools();
  warm_up();
  for (unsigned s = 0; s < ELEMENT_SIZES_COUNT; s++) {
    size_t size = ELEMENT_SIZES[s];
    for (unsigned l = 0; l < LENGTHS_COUNT; l++) {
      if (is_too_large(32 * LENGTHS[l], size)) continue;
      elements e = elements_of(LENGTHS[l], size, 100, &random);
      FOR_POOLS(opts) check_refused(&opts, &e, REFUSE_FROM, 1, e.n > 0);
      elements_free(&e);
    }
  }
  close_pools();
}

TEST(filters_when_memory_ends) {
  uint64_t random = harness_seed();
  elements e = elements_of(100003 / harness_slowdown(), 8, 100, &random);
  open_pools();
  warm_up();
  FOR_POOLS(opts) {
    for (unsigned long first = 2; first <= 9; first++)
      check_refused(&opts, &e, REFUSE_FROM, first, false);
    for (int i = 0; i < 4; i++) check_refused(&opts, &e, REFUSE_EVERY, 2, true);
  }
  close_pools();
  elements_free(&e);
}

static size_t key_in_range(const void *elem, void *ctx) {
  return key_at(ctx, elem);
}

/* The global pool cannot be started either: the calling thread does all by itself. */
TEST(array_calls_without_even_a_pool) {
  uint64_t random = harness_seed();
  elements e = elements_of(10007, 8, 100, &random);
  size_t counts[100], sum = 0, first;
  check_refused(NULL, &e, REFUSE_FROM, 1, true);
  refuse_all_memory();
  CHECK(weft_pool_current() == NULL);
  first = weft_find_first(e.base, e.n, 8, is_below, &e);
  CHECK(first <= weft_find_any(e.base, e.n, 8, is_below, &e));
  CHECK(weft_count(e.base, e.n, 8, is_below, &e) > 0);
  weft_reverse(e.base, e.n, 8);
  CHECK_EQ(weft_find_last(e.base, e.n, 8, is_below, &e), e.n - 1 - first);
  weft_histogram(counts, 100, e.base, e.n, 8, key_in_range, &e);
  allow_memory();
  for (int i = 0; i < 100; i++) sum += counts[i];
  CHECK_EQ(sum, e.n);
  weft_shutdown();
  elements_free(&e);
}

/* ---- cancelled ---- */

typedef struct cancelling {
  elements e;
  weft_scope scope;
  atomic_ulong calls, last; /* cancel at this call */
} cancelling;

static bool cancel_at(const void *elem, void *ctx) {
  cancelling *c = ctx;
  if (atomic_fetch_add(&c->calls, 1) == atomic_load(&c->last))
    weft_scope_cancel(&c->scope, 1);
  return is_below(elem, &c->e);
}

static int by_bytes(const void *a, const void *b) {
  return memcmp(a, b, 8);
}

/* A partition that is cancelled leaves the same elements in some order. */
static void cancel_partition(const weft_opts *o, cancelling *c, unsigned long last,
                             bool memory) {
  weft_opts opts = *o;
  unsigned char *original = c->e.base, *copy = copy_of(&c->e), *sorted = copy_of(&c->e);
  qsort(sorted, c->e.n, 8, by_bytes);
  opts.cancel = &c->scope;
  c->e.base = copy;
  atomic_store(&c->calls, 0);
  atomic_store(&c->last, last);
  weft_scope_begin_with(o, &c->scope);
  if (!memory) refuse_all_memory();
  weft_partition_with(&opts, copy, c->e.n, 8, cancel_at, c);
  allow_memory();
  CHECK_EQ(weft_scope_end(&c->scope), 1);
  qsort(copy, c->e.n, 8, by_bytes);
  CHECK(memcmp(copy, sorted, c->e.n * 8) == 0);
  c->e.base = original;
  free(copy);
  free(sorted);
}

TEST(cancelled_partitions_keep_all_elements) {
  uint64_t random = harness_seed();
  cancelling c = {.e = elements_of(30011, 8, 1000, &random)};
  open_pools();
  FOR_POOLS(opts) {
    for (unsigned long last = 1; last < c.e.n; last *= 5)
      for (int memory = 0; memory < 2; memory++)
        cancel_partition(&opts, &c, last, memory != 0);
  }
  close_pools();
  elements_free(&c.e);
}

/* ---- predicates that are uneven, or use the pool ---- */

/* The first element holds up everything behind it until the others are done. */
typedef struct uneven {
  elements e;
  unsigned char *base;
  atomic_ulong others;
  size_t enough;
} uneven;

static bool first_is_slow(const void *elem, void *ctx) {
  uneven *u = ctx;
  if (elem == u->base)
    AWAIT(atomic_load(&u->others) >= u->enough);
  else
    atomic_fetch_add(&u->others, 1);
  return key_at(&u->e, elem) < u->e.below;
}

TEST(a_slow_element_holds_up_nobody) {
  uint64_t random = harness_seed();
  uneven u = {.e = elements_of(200003 / harness_slowdown(), 4, 1000, &random)};
  unsigned char *expected = array_of(u.e.n, 4), *dst = array_of(u.e.n, 4);
  size_t count = serial_filter(&u.e, expected, true);
  open_pools();
  for (unsigned i = 1; i < THREADS_COUNT; i++) {
    weft_opts opts = opts_in(i);
    atomic_store(&u.others, 0);
    u.base = u.e.base;
    u.enough = u.e.n / 2;
    CHECK_EQ(weft_filter_with(&opts, dst, u.e.base, u.e.n, 4, first_is_slow, &u), count);
    CHECK(memcmp(dst, expected, count * 4) == 0);
  }
  close_pools();
  free(expected);
  free(dst);
  elements_free(&u.e);
}

/* Blocks of one element, nearly all of which wait for the first one: what they keep is
 * small, and so is what they take. */
TEST(blocks_that_wait_take_little_memory) {
  uint64_t random = harness_seed();
  uneven u = {.e = elements_of(4001, 4, 1000, &random)};
  unsigned char *expected = array_of(u.e.n, 4), *dst = array_of(u.e.n, 4);
  size_t count = serial_filter(&u.e, expected, true);
  serial_filter(&u.e, expected + count * 4, false);
  open_pools();
  for (unsigned i = 1; i < THREADS_COUNT; i++) {
    weft_opts opts = opts_in(i);
    opts.max_len = 1;
    atomic_store(&u.others, 0);
    refuse_memory(REFUSE_NONE, 0);
    u.base = u.e.base;
    u.enough = u.e.n - 1;
    CHECK_EQ(weft_filter_with(&opts, dst, u.e.base, u.e.n, 4, first_is_slow, &u), count);
    CHECK(memcmp(dst, expected, count * 4) == 0);
    CHECK(memory_requested_bytes() < u.e.n * 256 + 64 * 32768);

    memcpy(dst, u.e.base, u.e.n * 4);
    atomic_store(&u.others, 0);
    refuse_memory(REFUSE_NONE, 0);
    u.base = dst;
    CHECK_EQ(weft_partition_with(&opts, dst, u.e.n, 4, first_is_slow, &u), count);
    CHECK(memcmp(dst, expected, u.e.n * 4) == 0);
    CHECK(memory_requested_bytes() < u.e.n * 256 + 64 * 65536);
  }
  close_pools();
  free(expected);
  free(dst);
  elements_free(&u.e);
}

/* Waits inside the predicate, where the thread may run other blocks of the same call. */
static bool below_by_tree(const void *elem, void *ctx) {
  tree root = {3, 0};
  tree_count(&root);
  CHECK_EQ(root.leaves, 8);
  return is_below(elem, ctx);
}

TEST(predicates_may_join) {
  uint64_t random = harness_seed();
  elements e = elements_of(20011 / harness_slowdown(), 4, 1000, &random);
  unsigned char *expected = array_of(e.n, 4), *dst = array_of(e.n, 4);
  size_t count = serial_filter(&e, expected, true);
  open_pools();
  FOR_POOLS(opts) {
    CHECK_EQ(weft_filter_with(&opts, dst, e.base, e.n, 4, below_by_tree, &e), count);
    CHECK(memcmp(dst, expected, count * 4) == 0);
    check_looks(&e, 1);
  }
  close_pools();
  free(expected);
  free(dst);
  elements_free(&e);
}
