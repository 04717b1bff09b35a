/* The calls that can fail, weft_try_for_each, weft_try_map and weft_try_reduce: the error
 * of the lowest index whichever comes first in time, nothing behind it for long, all in
 * front of it done, nothing lost.
 *
 * SPDX-License-Identifier: MIT */
#include "par/support.h"

/* ---- elements that fail ---- */

/* Element i fails with error i + 1 if it is marked. */
enum { MOST = 100003 };
static bool marks[MOST];
static atomic_uchar seen[MOST];
static uint64_t values[MOST], copies[MOST];

static int fail_at(size_t index) {
  atomic_fetch_add(&seen[index], 1);
  return marks[index] ? (int)index + 1 : 0;
}

static int try_element(void *elem, size_t index, void *ctx) {
  CHECK_EQ(ctx, (void *)marks);
  CHECK_EQ(elem, (void *)&values[index]);
  return fail_at(index);
}

static int try_copy(void *out, const void *in, size_t index, void *ctx) {
  CHECK_EQ(ctx, (void *)marks);
  *(uint64_t *)out = *(const uint64_t *)in + 1;
  return fail_at(index);
}

/* The sum of the elements, and the first and last index of them, in order. */
typedef struct run {
  uint64_t sum;
  size_t first, end; /* no elements: both 0 */
} run;

static atomic_long accumulators; /* that were made and not merged */

static void run_init(void *acc, void *ctx) {
  (void)ctx;
  atomic_fetch_add(&accumulators, 1);
  *(run *)acc = (run){0, 0, 0};
}

static int run_fold(void *acc, size_t begin, size_t end, void *ctx) {
  run *r = acc;
  (void)ctx;
  CHECK(begin < end);
  r->first = begin;
  for (size_t i = begin; i < end; i++) {
    int error = fail_at(i);
    if (error != 0) return error;
    r->sum += values[i];
    r->end = i + 1;
  }
  return 0;
}

static int run_merge(void *acc, const void *right, void *ctx) {
  run *l = acc;
  const run *r = right;
  (void)ctx;
  atomic_fetch_sub(&accumulators, 1);
  if (r->end == 0) return 0;
  if (l->end == 0) l->first = r->first;
  l->sum += r->sum;
  l->end = r->end;
  return 0;
}

static const weft_try_reducer RUN = {sizeof(run), run_init, run_fold, run_merge};

/* ---- all three, against the serial loop ---- */

static size_t lowest_mark(size_t n) {
  size_t i = 0;
  while (i < n && !marks[i]) i++;
  return i;
}

static void forget_seen(size_t n) {
  for (size_t i = 0; i < n; i++) atomic_store(&seen[i], 0);
}

/* All in front of the failure exactly once, nothing twice. */
static void check_seen(size_t n, size_t lowest) {
  for (size_t i = 0; i < n; i++)
    if (atomic_load(&seen[i]) > 1 || (i <= lowest && atomic_load(&seen[i]) != 1)) {
      CHECK_MSG(false, "index %zu of %zu, lowest %zu", i, n, lowest);
      break;
    }
}

static void check_calls(size_t n, const weft_opts *o) {
  size_t lowest = lowest_mark(n);
  int expected = lowest < n ? (int)lowest + 1 : 0;
  forget_seen(n);
  CHECK_EQ(weft_try_for_each_with(o, values, n, sizeof *values, try_element, marks),
           expected);
  check_seen(n, lowest);

  forget_seen(n);
  memset(copies, 0, n * sizeof *copies);
  CHECK_EQ(weft_try_map_with(o, copies, sizeof *copies, values, n, sizeof *values,
                             try_copy, marks),
           expected);
  check_seen(n, lowest);
  for (size_t i = 0; i < lowest; i++)
    if (!CHECK_EQ(copies[i], values[i] + 1)) break;

  run result = {7, 7, 7};
  uint64_t sum = 0;
  for (size_t i = 0; i < n; i++) sum += values[i];
  forget_seen(n);
  atomic_store(&accumulators, 0);
  CHECK_EQ(weft_try_reduce_with(o, &result, n, &RUN, NULL), expected);
  check_seen(n, lowest);
  CHECK_EQ(atomic_load(&accumulators), 1); /* the result; all others were merged */
  if (expected == 0) CHECK(result.sum == sum && result.end == n);
}

static void fill_values(void) {
  uint64_t random = harness_seed();
  for (size_t i = 0; i < MOST; i++) values[i] = harness_random(&random);
}

/* Each single index of all small sizes; some random ones; long arrays. */
static void check_all(void *ctx) {
  uint64_t random = harness_seed();
  (void)ctx;
  memset(marks, 0, sizeof marks);
  for (size_t n = 0; n <= 40; n++) {
    check_calls(n, NULL);
    for (size_t i = 0; i < n; i++) {
      marks[i] = true;
      check_calls(n, NULL);
      marks[n - 1] = true;
      check_calls(n, NULL);
      marks[i] = marks[n - 1] = false;
    }
  }
  for (int round = 0; round < 20; round++) {
    size_t n = MOST / harness_slowdown();
    for (int k = 0; k < round; k++) marks[harness_random(&random) % n] = true;
    check_calls(n, NULL);
    memset(marks, 0, sizeof marks);
  }
}

TEST(the_error_of_the_lowest_index) {
  fill_values();
  in_each_pool(check_all, NULL);
  weft_pool *pool = pool_of(64);
  weft_pool_run(pool, check_all, NULL);
  weft_pool_destroy(pool);
}

static void check_with_options(void *ctx) {
  (void)ctx;
  memset(marks, 0, sizeof marks);
  marks[700] = marks[701] = marks[2999] = true;
  for (unsigned k = 0; k < 36; k++) {
    weft_opts opts = WEFT_OPTS_INIT;
    opts.split = (weft_split)(k % 3);
    opts.min_len = k / 3 % 2 * 100;
    opts.target_chunks = k / 6 % 2 * 7;
    opts.max_workers = k / 12 % 3;
    check_calls(3000, &opts);
  }
  memset(marks, 0, sizeof marks);
}

TEST(with_all_options) {
  in_each_pool(check_with_options, NULL);
}

/* ---- early stop ---- */

TEST(nothing_behind_an_error_for_long) {
  weft_pool *pool = pool_of(1);
  weft_opts opts = opts_on(pool);
  size_t n = 10000, ran = 0;
  memset(marks, 0, sizeof marks);
  marks[100] = true;
  run result;
  forget_seen(n);
  CHECK_EQ(weft_try_reduce_with(&opts, &result, n, &RUN, NULL), 101);
  for (size_t i = 0; i < n; i++) ran += atomic_load(&seen[i]);
  CHECK_EQ(ran, 101); /* one thread stops as the serial code does */
  CHECK_EQ(result.end, 100);
  forget_seen(n);
  ran = 0;
  CHECK_EQ(weft_try_for_each_with(&opts, values, n, sizeof *values, try_element, marks),
           101);
  for (size_t i = 0; i < n; i++) ran += atomic_load(&seen[i]);
  CHECK_EQ(ran, 101);
  marks[100] = false;
  weft_pool_destroy(pool);
}

/* ---- merges that fail ---- */

static size_t merge_fails_at; /* first index of the right side */

static int failing_merge(void *acc, const void *right, void *ctx) {
  size_t first = ((const run *)right)->first;
  bool has_elements = ((const run *)right)->end != 0;
  run_merge(acc, right, ctx);
  return has_elements && first >= merge_fails_at ? 100000 + (int)first : 0;
}

/* What the tree of weft_reduce over leaves of one element returns if nothing is left out:
 * the position of the failure, or SIZE_MAX; and its error. */
static size_t lowest_failure(size_t first, size_t count, int *error) {
  if (count == 1) {
    if (marks[first]) *error = (int)first + 1;
    return marks[first] ? first : SIZE_MAX;
  }
  int left_error = 0, right_error = 0;
  size_t middle = first + count / 2;
  size_t left = lowest_failure(first, count / 2, &left_error);
  size_t right = lowest_failure(middle, count - count / 2, &right_error);
  if (left != SIZE_MAX || right != SIZE_MAX) {
    *error = left != SIZE_MAX ? left_error : right_error;
    return left != SIZE_MAX ? left : right;
  }
  if (middle < merge_fails_at) return SIZE_MAX;
  *error = 100000 + (int)middle;
  return middle;
}

static void check_merges(void *ctx) {
  const weft_try_reducer r = {sizeof(run), run_init, run_fold, failing_merge};
  weft_opts opts = WEFT_OPTS_INIT;
  (void)ctx;
  opts.max_len = 1;
  memset(marks, 0, sizeof marks);
  for (size_t n = 1; n <= 33; n++)
    for (size_t at = 1; at <= n; at++)
      for (size_t fold = 0; fold <= n; fold += 3) {
        run result;
        int expected = 0;
        merge_fails_at = at;
        marks[fold] = fold < n;
        (void)lowest_failure(0, n, &expected);
        atomic_store(&accumulators, 0);
        int error = weft_try_reduce_with(&opts, &result, n, &r, NULL);
        CHECK_MSG(error == expected, "n %zu, merge %zu, fold %zu: %d", n, at, fold,
                  error);
        CHECK_EQ(atomic_load(&accumulators), 1);
        marks[fold] = false;
      }
}

TEST(errors_of_merges_have_a_position) {
  fill_values();
  in_each_pool(check_merges, NULL);
}

/* Folds and merges that fail: on any number of threads the same error. */
static void same_errors(void *ctx) {
  const weft_try_reducer r = {sizeof(run), run_init, run_fold, failing_merge};
  int *errors = ctx;
  weft_opts opts = WEFT_OPTS_INIT;
  opts.max_len = 1;
  for (size_t at = 1; at < 50; at++)
    for (size_t fold = 0; fold < 50; fold += 7) {
      run result;
      merge_fails_at = at;
      marks[fold] = true;
      *errors++ = weft_try_reduce_with(&opts, &result, 50, &r, NULL);
      marks[fold] = false;
    }
}

TEST(the_same_error_on_any_number_of_threads) {
  int first[49 * 8], errors[49 * 8];
  weft_pool *one = pool_of(1);
  memset(marks, 0, sizeof marks);
  weft_pool_run(one, same_errors, first);
  for (unsigned threads = 2; threads <= 9; threads++) {
    weft_pool *pool = pool_of(threads);
    for (int round = 0; round < 5; round++) {
      weft_pool_run(pool, same_errors, errors);
      CHECK_EQ(memcmp(first, errors, sizeof errors), 0);
    }
    weft_pool_destroy(pool);
  }
  weft_pool_destroy(one);
}

/* ---- accumulators of all sizes ---- */

static void wide_init(void *acc, void *ctx) {
  memset(acc, 0x33, *(const size_t *)ctx);
  *(unsigned char *)acc = 0;
}

static int wide_fold(void *acc, size_t begin, size_t end, void *ctx) {
  const size_t size = *(const size_t *)ctx;
  *(unsigned char *)acc = (unsigned char)(*(unsigned char *)acc + (end - begin));
  return size == 1 || ((unsigned char *)acc)[size - 1] == 0x33 ? 0 : 1;
}

static int wide_merge(void *acc, const void *right, void *ctx) {
  const size_t size = *(const size_t *)ctx;
  const unsigned char *r = right;
  *(unsigned char *)acc = (unsigned char)(*(unsigned char *)acc + r[0]);
  return size == 1 || r[size - 1] == 0x33 ? 0 : 2;
}

static void check_wide(void *ctx) {
  static const size_t SIZES[] = {1, 7, 8, 9, 239, 240, 241, 256, 257, 4080, 4096, 70000};
  static unsigned char result[70000];
  (void)ctx;
  for (unsigned i = 0; i < 12; i++) {
    size_t size = SIZES[i];
    const weft_try_reducer r = {size, wide_init, wide_fold, wide_merge};
    CHECK_EQ(weft_try_reduce(result, 1000, &r, &size), 0);
    CHECK_EQ(result[0], 1000 % 256);
  }
}

TEST(accumulators_of_all_sizes) {
  in_each_pool(check_wide, NULL);
}

/* ---- cancellation ---- */

typedef struct stopping {
  weft_scope scope;
  atomic_ulong left; /* elements until the cancellation */
  bool fails;        /* the element that cancels also fails */
} stopping;

static int stop_element(void *elem, size_t index, void *ctx) {
  stopping *s = ctx;
  (void)elem, (void)index;
  if (atomic_fetch_sub(&s->left, 1) != 1) return 0;
  weft_scope_cancel(&s->scope, 3);
  return s->fails ? 9 : 0;
}

static int stop_map(void *out, const void *in, size_t index, void *ctx) {
  (void)in;
  return stop_element(out, index, ctx);
}

static int stop_fold(void *acc, size_t begin, size_t end, void *ctx) {
  for (size_t i = begin; i < end; i++) {
    int error = stop_element(acc, i, ctx);
    if (error != 0) return error;
  }
  return 0;
}

static int stop_call(unsigned which, const weft_opts *o, stopping *s) {
  const weft_try_reducer r = {sizeof(run), run_init, stop_fold, run_merge};
  run result;
  switch (which) {
  case 0:
    return weft_try_for_each_with(o, values, 1000, sizeof *values, stop_element, s);
  case 1:
    return weft_try_map_with(o, copies, 8, values, 1000, 8, stop_map, s);
  default:
    return weft_try_reduce_with(o, &result, 1000, &r, s);
  }
}

static void check_cancelled(void *ctx) {
  (void)ctx;
  for (unsigned which = 0; which < 3; which++)
    for (unsigned long at = 1; at <= 1000; at += at < 20 ? 1 : 97)
      for (unsigned fails = 0; fails <= 1; fails++) {
        stopping s = {.fails = fails};
        weft_opts opts = WEFT_OPTS_INIT;
        weft_scope_begin(&s.scope);
        atomic_store(&s.left, at);
        opts.cancel = &s.scope;
        CHECK_EQ(stop_call(which, &opts, &s), fails ? 9 : WEFT_ECANCELED);
        atomic_store(&s.left, 0);
        CHECK_EQ(stop_call(which, &opts, &s), WEFT_ECANCELED);
        CHECK_EQ(weft_scope_end(&s.scope), 3);
      }
}

TEST(cancelled_at_each_point) {
  in_each_pool(check_cancelled, NULL);
}

/* ---- one inside another, several at once ---- */

static int inner_element(void *elem, size_t index, void *ctx) {
  (void)elem;
  return index >= 11 && *(const size_t *)ctx >= 100 ? (int)index + 1 : 0;
}

static int nested_element(void *elem, size_t index, void *ctx) {
  (void)elem, (void)ctx;
  return weft_try_for_each(values, 20, sizeof *values, inner_element, &index);
}

static void nested(unsigned index, void *arg) {
  (void)index, (void)arg;
  CHECK_EQ(weft_try_for_each(values, 200, sizeof *values, nested_element, NULL), 12);
}

TEST(nested_and_several_at_once) {
  nested(0, NULL);
  harness_run_threads(4, nested, NULL);
}
