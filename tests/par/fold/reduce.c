/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc */
/* link: -Wl,--wrap=free */
/* weft_reduce and WEFT_FOLD: exact results of merges that do not commute, the same bits
 * for all numbers of threads, leaves as options want them, accumulators of all sizes, no
 * memory, early ends.
 *
 * SPDX-License-Identifier: MIT */
#include "par/refusal.h"

#include <stddef.h>

/* ---- functions x -> a x + b: their composition is associative, not commutative ---- */

typedef struct line {
  uint64_t a, b;
} line;

/* What element i stands for. */
static line line_of(size_t i) {
  return (line){2 * (uint64_t)i + 3, (uint64_t)i * 0x9e3779b97f4a7c15u + 1};
}

/* First f, then g. */
static line then(line f, line g) {
  return (line){f.a * g.a, g.a * f.b + g.b};
}

static line serial_lines(size_t n) {
  line all = {1, 0};
  for (size_t i = 0; i < n; i++) all = then(all, line_of(i));
  return all;
}

/* Accumulators of any size from 16 on: a line in front, then bytes that must stay. */
static void lines_init(void *acc, void *ctx) {
  size_t size = *(const size_t *)ctx;
  line one = {1, 0};
  CHECK_EQ((uintptr_t)acc % _Alignof(max_align_t), 0);
  memset(acc, 0x5a, size);
  memcpy(acc, &one, sizeof one);
}

static void check_padding(const void *acc, size_t size) {
  const unsigned char *bytes = acc;
  for (size_t i = sizeof(line); i < size; i += i < 64 ? 1 : 61)
    if (bytes[i] != 0x5a) {
      CHECK_MSG(false, "byte %zu of %zu", i, size);
      return;
    }
}

static void lines_fold(void *acc, size_t begin, size_t end, void *ctx) {
  line *all = acc;
  (void)ctx;
  CHECK(begin < end);
  for (size_t i = begin; i < end; i++) *all = then(*all, line_of(i));
}

static void lines_merge(void *acc, const void *right, void *ctx) {
  size_t size = *(const size_t *)ctx;
  line *all = acc;
  check_padding(acc, size);
  check_padding(right, size);
  *all = then(*all, *(const line *)right);
}

static weft_reducer lines_reducer(size_t size) {
  return (weft_reducer){size, lines_init, lines_fold, lines_merge};
}

static void check_lines(size_t n, size_t size) {
  weft_reducer r = lines_reducer(size);
  memory_is_exempt = true;
  void *result = aligned_alloc(16, (size + 15) / 16 * 16);
  memory_is_exempt = false;
  REQUIRE(result != NULL);
  weft_reduce(result, n, &r, &size);
  line expected = serial_lines(n), got = *(line *)result;
  CHECK_MSG(got.a == expected.a && got.b == expected.b, "n %zu, size %zu", n, size);
  check_padding(result, size);
  free(result);
}

static const size_t ACC_SIZES[] = {16, 24, 100, 256, 257, 4096, 4097, 70000};
enum { ACC_SIZES_COUNT = sizeof ACC_SIZES / sizeof ACC_SIZES[0] };

static void all_lines(void *ctx) {
  (void)ctx;
  for (unsigned i = 0; i < LENGTHS_COUNT; i++) {
    if (LENGTHS[i] > 1000003 / harness_slowdown()) continue;
    for (unsigned k = 0; k < ACC_SIZES_COUNT; k++)
      if (k == 0 || LENGTHS[i] < 5000) check_lines(LENGTHS[i], ACC_SIZES[k]);
  }
}

TEST(merges_in_order) {
  in_each_pool(all_lines, NULL);
  all_lines(NULL);
}

static void few_lines(void *ctx) {
  (void)ctx;
  for (unsigned k = 0; k < ACC_SIZES_COUNT; k++) check_lines(1000, ACC_SIZES[k]);
}

static void few_lines_refused(void *ctx) {
  with_refusals(few_lines, ctx);
}

TEST(same_result_without_memory) {
  in_each_pool(few_lines_refused, NULL);
}

/* ---- each index once, and in how many leaves ---- */

typedef struct visits {
  atomic_uchar *seen;
  atomic_size_t folds;
} visits;

static void visits_init(void *acc, void *ctx) {
  (void)ctx;
  *(size_t *)acc = 0;
}

static void visits_fold(void *acc, size_t begin, size_t end, void *ctx) {
  visits *v = ctx;
  atomic_fetch_add(&v->folds, 1);
  for (size_t i = begin; i < end; i++) atomic_fetch_add(&v->seen[i], 1);
  *(size_t *)acc += end - begin;
}

static void visits_merge(void *acc, const void *right, void *ctx) {
  (void)ctx;
  *(size_t *)acc += *(const size_t *)right;
}

static const weft_reducer VISITS = {sizeof(size_t), visits_init, visits_fold,
                                    visits_merge};

static void all_visits(void *ctx) {
  (void)ctx;
  for (unsigned i = 0; i < LENGTHS_COUNT; i++) {
    size_t n = LENGTHS[i], result = 1;
    visits v = {.seen = calloc(n + 1, 1)};
    REQUIRE(v.seen != NULL);
    weft_reduce(&result, n, &VISITS, &v);
    CHECK_EQ(result, n);
    CHECK(atomic_load(&v.folds) <= 512);
    for (size_t k = 0; k < n; k++)
      if (atomic_load(&v.seen[k]) != 1) {
        CHECK_MSG(false, "index %zu of %zu", k, n);
        break;
      }
    free(v.seen);
  }
}

TEST(every_index_once) {
  in_each_pool(all_visits, NULL);
}

TEST(leaves_have_an_end) {
  if (harness_slowdown() > 1) return; /* 20 million atomics */
  size_t result = 0, n = (size_t)40000 * 512;
  visits v = {.seen = calloc(n, 1)};
  REQUIRE(v.seen != NULL);
  weft_reduce(&result, n, &VISITS, &v);
  CHECK_EQ(result, n);
  CHECK_EQ(atomic_load(&v.folds), 625);
  free(v.seen);
}

/* ---- leaves as the options want them ---- */

typedef struct leaves {
  size_t min_len, max_len, target_chunks;
} leaves;

/* The length that the header promises. */
static size_t promised_leaf(size_t n, leaves l) {
  size_t leaf = n / 512 + (n % 512 != 0);
  if (leaf > 32768) leaf = 32768;
  if (l.target_chunks > 0) leaf = n / l.target_chunks + (n % l.target_chunks != 0);
  if (leaf < l.min_len) leaf = l.min_len;
  if (l.max_len > 0 && leaf > l.max_len) leaf = l.max_len;
  return leaf > 0 ? leaf : 1;
}

static const size_t SOME[] = {0, 1, 3, 100, 4000, SIZE_MAX};
enum { SOME_COUNT = sizeof SOME / sizeof SOME[0] };

static void check_leaves(size_t n, leaves l) {
  weft_opts opts = WEFT_OPTS_INIT;
  size_t result = 1, leaf = promised_leaf(n, l);
  visits v = {.seen = calloc(n + 1, 1)};
  REQUIRE(v.seen != NULL);
  opts.min_len = l.min_len;
  opts.max_len = l.max_len;
  opts.target_chunks = l.target_chunks;
  weft_reduce_with(&opts, &result, n, &VISITS, &v);
  CHECK_EQ(result, n);
  CHECK_MSG(atomic_load(&v.folds) == n / leaf + (n % leaf != 0),
            "n %zu, min_len %zu, max_len %zu, target_chunks %zu: %zu folds", n, l.min_len,
            l.max_len, l.target_chunks, atomic_load(&v.folds));
  for (size_t k = 0; k < n; k++)
    if (atomic_load(&v.seen[k]) != 1) {
      CHECK_MSG(false, "index %zu of %zu", k, n);
      break;
    }
  free(v.seen);
}

static void all_leaves(void *ctx) {
  static const size_t NS[] = {0, 1, 2, 5, 64, 513, 4097};
  (void)ctx;
  for (unsigned i = 0; i < 7; i++)
    for (unsigned k = 0; k < SOME_COUNT * SOME_COUNT * SOME_COUNT; k++)
      check_leaves(NS[i],
                   (leaves){SOME[k % SOME_COUNT], SOME[k / SOME_COUNT % SOME_COUNT],
                            SOME[k / SOME_COUNT / SOME_COUNT]});
}

TEST(options_set_the_leaves) {
  weft_pool *pool = pool_of(64);
  in_each_pool(all_leaves, NULL);
  weft_pool_run(pool, all_leaves, NULL);
  weft_pool_destroy(pool);
}

TEST(nothing_is_init_alone) {
  size_t result = 7;
  weft_reducer r = {sizeof result, visits_init, NULL, NULL};
  weft_reduce(&result, 0, &r, NULL);
  CHECK_EQ(result, 0);
}

/* ---- the same bits ---- */

static double *reals;
enum { REALS = 100000 };

static void reals_init(void *acc, void *ctx) {
  (void)ctx;
  *(double *)acc = 0;
}

static void reals_fold(void *acc, size_t begin, size_t end, void *ctx) {
  (void)ctx;
  for (size_t i = begin; i < end; i++) *(double *)acc += reals[i];
}

static void reals_merge(void *acc, const void *right, void *ctx) {
  (void)ctx;
  *(double *)acc += *(const double *)right;
}

static const weft_reducer REAL_SUM = {sizeof(double), reals_init, reals_fold,
                                      reals_merge};

static inline double plus_real(double sum, double x, void *ctx) {
  (void)ctx;
  return sum + x;
}
WEFT_FOLD(fold_reals, double, double, 0.0, plus_real, plus_real)

typedef struct real_sums {
  double reduced[LENGTHS_COUNT], folded[LENGTHS_COUNT];
} real_sums;

static void sum_reals(void *ctx) {
  real_sums *sums = ctx;
  for (unsigned i = 0; i < LENGTHS_COUNT; i++) {
    size_t n = LENGTHS[i] < REALS ? LENGTHS[i] : REALS;
    weft_reduce(&sums->reduced[i], n, &REAL_SUM, NULL);
    sums->folded[i] = fold_reals(reals, n, NULL);
  }
}

TEST(same_bits_for_all_numbers_of_threads) {
  static const unsigned COUNTS[] = {1, 2, 3, 7, 64};
  uint64_t random = harness_seed();
  real_sums first, sums;
  reals = array_of(REALS, sizeof *reals);
  for (size_t i = 0; i < REALS; i++)
    reals[i] = (double)(int64_t)harness_random(&random) * 1e-9;
  for (unsigned i = 0; i < 5; i++) {
    weft_pool *pool = pool_of(COUNTS[i]);
    weft_pool_run(pool, sum_reals, i == 0 ? &first : &sums);
    if (i > 0) CHECK_MSG(memcmp(&first, &sums, sizeof sums) == 0, "%u", COUNTS[i]);
    weft_pool_destroy(pool);
  }
  /* Sums without rounding are the same however they are grouped. */
  for (size_t i = 0; i < REALS; i++) reals[i] = (double)(harness_random(&random) % 1024);
  weft_pool_run(NULL, sum_reals, &sums);
  for (unsigned i = 0; i < LENGTHS_COUNT; i++) CHECK_EQ(sums.reduced[i], sums.folded[i]);
  free(reals);
}

/* The lengths in options set the leaves; the other options change nothing. */
TEST(same_bits_for_other_options) {
  uint64_t random = harness_seed();
  double expected = 0, folded = 0, sum;
  weft_pool *pool = pool_of(3);
  reals = array_of(REALS, sizeof *reals);
  for (size_t i = 0; i < REALS; i++)
    reals[i] = (double)(int64_t)harness_random(&random) * 1e-9;
  for (unsigned lengths = 0; lengths < 8; lengths++)
    for (unsigned k = 0; k < 12; k++) {
      weft_opts opts = WEFT_OPTS_INIT;
      opts.pool = pool;
      opts.split = (weft_split)(k % 3);
      opts.max_workers = k / 3 % 4;
      opts.min_len = lengths & 1 ? 1000 : 0;
      opts.max_len = lengths & 2 ? 5000 : 0;
      opts.target_chunks = lengths & 4 ? 37 : 0;
      weft_reduce_with(&opts, &sum, REALS, &REAL_SUM, NULL);
      if (k == 0) expected = sum;
      CHECK_EQ(memcmp(&sum, &expected, sizeof sum), 0);
      sum = fold_reals_with(&opts, reals, REALS, NULL);
      if (k == 0) folded = sum;
      CHECK_EQ(memcmp(&sum, &folded, sizeof sum), 0);
    }
  weft_pool_destroy(pool);
  free(reals);
}

/* ---- options that are kept ---- */

typedef struct folders {
  atomic_uint now, most;
} folders;

static void crowd_fold(void *acc, size_t begin, size_t end, void *ctx) {
  folders *c = ctx;
  unsigned now = atomic_fetch_add(&c->now, 1) + 1, most = atomic_load(&c->most);
  while (most < now && !atomic_compare_exchange_weak(&c->most, &most, now)) {
  }
  for (int i = 0; i < 100; i++) wf_sys_relax();
  *(size_t *)acc += end - begin;
  atomic_fetch_sub(&c->now, 1);
}

TEST(not_more_workers_than_allowed) {
  weft_reducer r = {sizeof(size_t), visits_init, crowd_fold, visits_merge};
  weft_pool *pool = pool_of(8);
  for (unsigned limit = 1; limit <= 4; limit++) {
    weft_opts opts = WEFT_OPTS_INIT;
    size_t result;
    folders c = {0};
    opts.pool = pool;
    opts.max_workers = limit;
    weft_reduce_with(&opts, &result, 3000, &r, &c);
    CHECK_EQ(result, 3000);
    CHECK_MSG(atomic_load(&c.most) <= limit, "%u of %u", atomic_load(&c.most), limit);
  }
  weft_pool_destroy(pool);
}

static void cancelling_fold(void *acc, size_t begin, size_t end, void *ctx) {
  weft_scope_cancel(ctx, 3);
  *(size_t *)acc += end - begin;
}

static void check_cancelled(void *ctx) {
  weft_reducer r = {sizeof(size_t), visits_init, cancelling_fold, visits_merge};
  weft_opts opts = WEFT_OPTS_INIT;
  weft_scope scope;
  size_t result = 99;
  (void)ctx;
  weft_scope_begin(&scope);
  opts.cancel = &scope;
  weft_reduce_with(&opts, &result, 100000, &r, &scope);
  CHECK(result > 0);
  CHECK(result <= 100000 / 512 * 65 + 65); /* a leaf for each thread at most */
  weft_reduce_with(&opts, &result, 100000, &r, &scope);
  CHECK_EQ(result, 0);
  CHECK_EQ(weft_scope_end(&scope), 3);
}

TEST(cancelled_folds_are_left_out) {
  in_each_pool(check_cancelled, NULL);
}

/* ---- one inside another ---- */

static void nested_fold(void *acc, size_t begin, size_t end, void *ctx) {
  for (size_t i = begin; i < end; i++) {
    size_t size = sizeof(line);
    weft_reducer r = lines_reducer(size);
    _Alignas(16) line got;
    line expected = serial_lines(i * 10);
    weft_reduce(&got, i * 10, &r, &size);
    CHECK(got.a == expected.a && got.b == expected.b);
  }
  *(size_t *)acc += end - begin;
  (void)ctx;
}

static void check_nested(void *ctx) {
  weft_reducer r = {sizeof(size_t), visits_init, nested_fold, visits_merge};
  size_t result;
  (void)ctx;
  weft_reduce(&result, 50, &r, NULL);
  CHECK_EQ(result, 50);
}

TEST(reductions_inside_reductions) {
  in_each_pool(check_nested, NULL);
}

/* ---- WEFT_FOLD with a structure ---- */

static inline line line_step(line all, uint32_t x, void *ctx) {
  return then(all, line_of(x + *(const unsigned *)ctx));
}

static inline line line_merge(line left, line right, void *ctx) {
  CHECK_EQ(*(const unsigned *)ctx, 5);
  return then(left, right);
}

static const line LINE_ONE = {1, 0};
WEFT_FOLD(fold_lines, line, uint32_t, LINE_ONE, line_step, line_merge)

/* None of its functions is used, which is no reason for a warning; and the names in the
 * arguments are those of the user. */
static const line acc = {1, 0};
WEFT_FOLD(fold_nothing, line, uint32_t, acc, line_step, line_merge)

static void check_fold(void *ctx) {
  unsigned plus = 5;
  (void)ctx;
  for (unsigned k = 0; k < LENGTHS_COUNT - 1; k++) {
    size_t n = LENGTHS[k];
    uint32_t *a = array_of(n, sizeof *a);
    line expected = LINE_ONE;
    for (size_t i = 0; i < n; i++) {
      a[i] = (uint32_t)(i * 7);
      expected = then(expected, line_of(a[i] + plus));
    }
    line got = fold_lines(a, n, &plus);
    CHECK_MSG(got.a == expected.a && got.b == expected.b, "n %zu", n);
    free(a);
  }
}

TEST(folds_of_structures) {
  in_each_pool(check_fold, NULL);
}
