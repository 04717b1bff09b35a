/* Sources of one's own: what their functions are asked for, trees of every shape, deep
 * and wide ones, pieces of every size, cancellation, use by several threads at once.
 *
 * tests/par/iter/basics.c and chains.c have them with every stage and sink.
 *
 * SPDX-License-Identifier: MIT */
#include "par/array/support.h"
#include "par/iter/sinks.h"

#include <stddef.h>
#include <stdlib.h>

/* ---- by position ---- */

enum { LONG = 5000 };

/* How often each position was asked for. */
typedef struct asked {
  size_t n;
  atomic_uint times[LONG];
  atomic_ulong calls;
} asked;

static void note_and_fill(void *out, size_t first, size_t n, void *ctx) {
  asked *a = ctx;
  int64_t *to = out;
  CHECK(n > 0 && first < a->n && n <= a->n - first);
  atomic_fetch_add(&a->calls, 1);
  for (size_t i = 0; i < n; i++) {
    to[i] = (int64_t)(first + i);
    atomic_fetch_add(&a->times[first + i], 1);
  }
}

/* What is stepped over is not made, and everything else once. */
TEST(a_function_makes_what_is_needed_once) {
  asked *a = calloc(1, sizeof *a);
  REQUIRE(a != NULL);
  a->n = LONG;
  open_pools();
  for (unsigned stride = 1; stride <= 3; stride++)
    for (int back = 0; back <= 1; back++) FOR_POOLS(opts) {
        for (size_t i = 0; i < LONG; i++) atomic_store(&a->times[i], 0);
        weft_iter it = weft_iter_from(LONG, sizeof(int64_t), note_and_fill, a);
        weft_iter_step(&it, stride);
        if (back) weft_iter_reverse(&it);
        weft_iter_options(&it, &opts);
        int64_t expected = 0, wrong = 0;
        for (int64_t i = 0; i < LONG; i += stride) expected += i;
        CHECK_EQ(weft_iter_sum_i64(&it), expected);
        for (size_t i = 0; i < LONG; i++)
          wrong += atomic_load(&a->times[i]) != (i % stride == 0);
        CHECK_EQ(wrong, 0);
      }
  close_pools();
  free(a);
}

TEST(neighbours_are_made_in_one_call) {
  asked *a = calloc(1, sizeof *a);
  REQUIRE(a != NULL);
  a->n = LONG;
  for (int back = 0; back <= 1; back++) {
    weft_iter it = weft_iter_from(LONG, sizeof(int64_t), note_and_fill, a);
    if (back) weft_iter_reverse(&it);
    weft_iter_min_len(&it, LONG); /* one block */
    atomic_store(&a->calls, 0);
    int64_t *got = array_of(LONG, sizeof *got);
    CHECK_EQ(weft_iter_collect(&it, got, LONG, sizeof *got), LONG);
    for (int64_t i = 0; i < LONG; i++) CHECK(got[i] == (back ? LONG - 1 - i : i));
    CHECK(atomic_load(&a->calls) <= LONG / 512 + 1);
    free(got);
  }
  free(a);
}

static void never(void *out, size_t first, size_t n, void *ctx) {
  (void)out, (void)first, (void)n, (void)ctx;
  CHECK(false);
}

static void position_only(void *out, size_t first, size_t n, void *ctx) {
  uint64_t *to = out;
  (void)ctx;
  for (size_t i = 0; i < n; i++) to[i] = first + i;
}

static bool is_limit(const void *elem, void *ctx) {
  return *(const uint64_t *)elem == *(const uint64_t *)ctx;
}

TEST(no_elements_and_very_many) {
  weft_iter none = weft_iter_from(0, 8, never, NULL);
  CHECK_EQ(weft_iter_sum_u64(&none), 0);
  CHECK_EQ(weft_iter_len(&none), 0);
  weft_iter unused = weft_iter_from(1000, 8, never, NULL);
  CHECK_EQ(weft_iter_count(&unused), 1000);
  /* More than could ever be made: a search ends early, from either side. */
  uint64_t near_begin = 123456, near_end = SIZE_MAX - 5000, found = 0;
  weft_iter all = weft_iter_from(SIZE_MAX, 8, position_only, NULL);
  CHECK(weft_iter_find_first(&all, &found, 8, is_limit, &near_begin));
  CHECK_EQ(found, near_begin);
  CHECK(weft_iter_find_last(&all, &found, 8, is_limit, &near_end));
  CHECK_EQ(found, near_end);
}

static bool is_number(const void *elem, void *ctx) {
  return load(elem) == *(const int64_t *)ctx;
}

/* All numbers but one, as far as a size_t counts: their count is the largest of it. */
TEST(the_longest_ranges) {
  const int64_t low = sizeof(size_t) < 8 ? 0 : INT64_MIN;
  const int64_t high = sizeof(size_t) < 8 ? UINT32_MAX : INT64_MAX;
  int64_t numbers[] = {low, low + 70000, high - 70000, high - 1};
  open_pools();
  FOR_POOLS(opts) for (int i = 0; i < 4; i++) {
    weft_iter it = weft_iter_range(low, high);
    weft_iter back = weft_iter_range_step(high, low, -1);
    int64_t found = 7, next = numbers[i] + 1;
    weft_iter_options(&it, &opts);
    weft_iter_options(&back, &opts);
    CHECK(weft_iter_count(&it) == SIZE_MAX && weft_iter_len(&it) == SIZE_MAX);
    if (i < 2) {
      CHECK(weft_iter_find_first(&it, &found, 8, is_number, &numbers[i]));
      CHECK(found == numbers[i]);
      CHECK(weft_iter_find_last(&back, &found, 8, is_number, &next));
    } else {
      CHECK(weft_iter_find_last(&it, &found, 8, is_number, &numbers[i]));
      CHECK(found == numbers[i]);
      CHECK(weft_iter_find_first(&back, &found, 8, is_number, &next));
    }
    CHECK(found == next);
    weft_iter_skip(&it, SIZE_MAX - 10);
    CHECK_EQ(weft_iter_len(&it), 10);
    CHECK_EQ(weft_iter_max_i64(&it), high - 1);
  }
  close_pools();
}

/* ---- trees ---- */

typedef struct span {
  uint64_t begin, end;
} span;

static bool halve(void *piece, void *right, void *ctx) {
  span *p = piece, *r = right;
  if (p->end - p->begin <= *(const uint64_t *)ctx) return false;
  r->end = p->end;
  r->begin = p->end = p->begin + (p->end - p->begin) / 2;
  return true;
}

static bool cut_front(void *piece, void *right, void *ctx) {
  span *p = piece, *r = right;
  if (p->end - p->begin <= *(const uint64_t *)ctx) return false;
  r->end = p->end;
  r->begin = p->end = p->begin + 1;
  return true;
}

static bool cut_back(void *piece, void *right, void *ctx) {
  span *p = piece, *r = right;
  if (p->end - p->begin <= *(const uint64_t *)ctx) return false;
  r->end = p->end;
  r->begin = p->end = p->end - 1;
  return true;
}

/* Where the cut is, is as good as random. */
static bool cut_anywhere(void *piece, void *right, void *ctx) {
  span *p = piece, *r = right;
  uint64_t length = p->end - p->begin, one = 1;
  if (length <= *(const uint64_t *)ctx) return false;
  r->end = p->end;
  r->begin = p->end =
      p->begin + 1 + mixed((int64_t)(p->begin * 31 + p->end), &one) % (length - 1);
  return true;
}

static weft_iter_split_fn *const SHAPES[] = {halve, cut_front, cut_back, cut_anywhere};
enum { SHAPES_COUNT = 4 };

/* The leaves are in order and cover the whole. */
static void check_leaves(const weft_iter *it, uint64_t n, size_t leaves) {
  weft_buffer b = {NULL, 0, 0};
  CHECK_EQ(weft_iter_append(it, &b, sizeof(span)), 0);
  const span *got = b.data;
  size_t wrong = 0;
  for (size_t i = 0; i < b.count; i++)
    wrong += got[i].begin != (i == 0 ? 0 : got[i - 1].end);
  CHECK_EQ(b.count, leaves);
  CHECK(wrong == 0 && got[b.count - 1].end == n);
  free(b.data);
}

TEST(trees_of_every_shape) {
  open_pools();
  FOR_POOLS(opts) for (unsigned shape = 0; shape < SHAPES_COUNT; shape++) {
    for (uint64_t n = 1; n < 20000; n = n * 3 + 1) {
      span whole = {0, n};
      uint64_t leaf = 1;
      weft_iter it = weft_iter_split(&whole, sizeof whole, SHAPES[shape], &leaf);
      weft_iter_options(&it, &opts);
      CHECK_EQ(weft_iter_len(&it), SIZE_MAX);
      CHECK_EQ(weft_iter_count(&it), n);
      check_leaves(&it, n, n);
      CHECK(whole.begin == 0 && whole.end == n);
    }
  }
  close_pools();
}

/* As deep as there are leaves: no recursion would survive this. */
TEST(deep_trees) {
  const uint64_t n = 1000000 / harness_slowdown();
  open_pools();
  for (unsigned shape = 1; shape <= 2; shape++) {
    weft_opts opts = opts_in(shape);
    span whole = {0, n};
    uint64_t leaf = 1;
    weft_iter it = weft_iter_split(&whole, sizeof whole, SHAPES[shape], &leaf);
    weft_iter_options(&it, &opts);
    check_leaves(&it, n, n);
  }
  close_pools();
}

/* ---- pieces of every size ---- */

typedef struct sized_call {
  size_t size;
} sized_call;

/* A piece is a number of parts in its first bytes, and a pattern behind it. */
static bool split_sized(void *piece, void *right, void *ctx) {
  size_t size = ((const sized_call *)ctx)->size;
  unsigned char *p = piece, *r = right;
  enum { STRICTEST = _Alignof(max_align_t) };
  CHECK(size % STRICTEST != 0 || (uintptr_t)p % STRICTEST == 0);
  if (p[0] < 2) return false;
  memset(r, p[0], size);
  r[0] = (unsigned char)(p[0] - p[0] / 2);
  p[0] = (unsigned char)(p[0] / 2);
  return true;
}

static void first_byte(void *out, const void *in, void *ctx) {
  (void)ctx;
  store_at(out, *(const unsigned char *)in);
}

TEST(pieces_of_every_size) {
  static const size_t sizes[] = {1, 2, 3, 7, 16, 100, 4096, 65536, 65537, 300000};
  open_pools();
  FOR_POOLS(opts) for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    sized_call call = {sizes[i]};
    unsigned char *whole = calloc(1, sizes[i]);
    REQUIRE(whole != NULL);
    whole[0] = 100;
    weft_iter it = weft_iter_split(whole, sizes[i], split_sized, &call);
    weft_iter_map(&it, sizeof(int64_t), first_byte, NULL);
    weft_iter_options(&it, &opts);
    CHECK_EQ(weft_iter_sum_i64(&it), 100);
    CHECK_EQ(weft_iter_count(&it), 100);
    free(whole);
  }
  close_pools();
}

/* ---- threads ---- */

typedef struct seen_threads {
  atomic_uint workers[64];
} seen_threads;

static bool halve_and_note(void *piece, void *right, void *ctx) {
  seen_threads *seen = ctx;
  uint64_t leaf = 1;
  int worker = weft_worker_index();
  if (CHECK(worker >= 0 && worker < 64)) atomic_fetch_add(&seen->workers[worker], 1);
  return halve(piece, right, &leaf);
}

/* Sooner or later another thread takes a part of the tree. */
TEST(threads_share_the_tree) {
  weft_config config = WEFT_CONFIG_INIT;
  weft_pool *pool = NULL;
  config.threads = 2;
  REQUIRE(weft_pool_create(&pool, &config) == 0);
  seen_threads seen;
  unsigned used = 0;
  for (unsigned i = 0; i < 64; i++) atomic_init(&seen.workers[i], 0);
  while (used < 2) {
    span whole = {0, 20000};
    weft_iter it = weft_iter_split(&whole, sizeof whole, halve_and_note, &seen);
    weft_iter_pool(&it, pool);
    CHECK_EQ(weft_iter_count(&it), 20000);
    used = 0;
    for (unsigned i = 0; i < 64; i++) used += atomic_load(&seen.workers[i]) > 0;
  }
  weft_pool_destroy(pool);
}

/* The function may use weft itself. */
static bool halve_in_parallel(void *piece, void *right, void *ctx) {
  span *p = piece;
  weft_iter inner = weft_iter_range(0, 100);
  CHECK_EQ(weft_iter_sum_i64(&inner), 4950);
  (void)p;
  return halve(piece, right, ctx);
}

static void use_split(size_t begin, size_t end, void *ctx) {
  for (size_t i = begin; i < end; i++) {
    span whole = {0, 300 + i};
    uint64_t leaf = 1;
    weft_iter it = weft_iter_split(&whole, sizeof whole, halve_in_parallel, &leaf);
    CHECK_EQ(weft_iter_count(&it), 300 + i);
  }
  (void)ctx;
}

static void use_split_outside(unsigned index, void *arg) {
  (void)index;
  use_split(0, 3, arg);
}

TEST(nested_and_several_at_once) {
  open_pools();
  FOR_POOLS(opts) weft_for_with(&opts, 10, use_split, NULL);
  close_pools();
  harness_run_threads(4, use_split_outside, NULL);
}

TEST(options_of_a_split) {
  open_pools();
  for (unsigned workers = 1; workers <= 4; workers++) {
    weft_opts opts = opts_in(3);
    span whole = {0, 10000};
    uint64_t leaf = 1;
    opts.max_workers = workers;
    weft_iter it = weft_iter_split(&whole, sizeof whole, halve, &leaf);
    weft_iter_options(&it, &opts);
    check_leaves(&it, 10000, 10000);
  }
  close_pools();
}

/* ---- cancellation ---- */

typedef struct endless {
  weft_scope scope;
  atomic_ulong left;
} endless;

/* A tree without an end: only cancelling ends it. */
static bool split_forever(void *piece, void *right, void *ctx) {
  endless *e = ctx;
  *(span *)right = *(const span *)piece;
  if (atomic_fetch_sub(&e->left, 1) == 1) weft_scope_cancel(&e->scope, 7);
  return true;
}

/* And one with leaves, but infinitely many. */
static bool split_for_leaves(void *piece, void *right, void *ctx) {
  span *p = piece;
  if (p->begin % 2 == 1) return false;
  split_forever(piece, right, ctx);
  p->begin++;
  return true;
}

TEST(cancelled_while_it_is_split) {
  open_pools();
  FOR_POOLS(opts) for (unsigned long left = 1; left < 3000; left = left * 3 + 1) {
    for (int leaves = 0; leaves <= 1; leaves++) {
      endless e;
      span whole = {0, 1};
      weft_scope_begin(&e.scope);
      atomic_init(&e.left, left);
      weft_iter it = weft_iter_split(&whole, sizeof whole,
                                     leaves ? split_for_leaves : split_forever, &e);
      weft_iter_options(&it, &opts);
      weft_iter_cancel(&it, &e.scope);
      weft_iter_count(&it);
      CHECK_EQ(weft_scope_end(&e.scope), 7);
    }
  }
  close_pools();
}

static void leaf_to_int(void *out, const void *in, void *ctx) {
  (void)ctx;
  store_at(out, (int64_t)((const span *)in)->begin);
}

/* Before the first leaf: nothing of it runs. */
TEST(cancelled_before_it_starts) {
  weft_scope scope;
  span whole = {0, 1000};
  uint64_t leaf = 1;
  weft_scope_begin(&scope);
  weft_scope_cancel(&scope, 3);
  weft_iter it = weft_iter_split(&whole, sizeof whole, halve, &leaf);
  weft_iter_map(&it, sizeof(int64_t), leaf_to_int, NULL);
  weft_iter_cancel(&it, &scope);
  weft_buffer b = {NULL, 0, 0};
  if (weft_iter_append(&it, &b, sizeof(int64_t)) == 0) CHECK(b.count <= 1000);
  free(b.data);
  CHECK_EQ(weft_scope_end(&scope), 3);
}
