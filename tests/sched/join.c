/* weft_join: both halves run exactly once, results are right for every shape of tree on
 * every size of pool, what is written before is seen after, and a half that nobody asked
 * for is found while its owner is busy.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "sched/support.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const unsigned SIZES[] = {1, 2, 3, 8};
enum { SIZE_COUNT = sizeof SIZES / sizeof SIZES[0] };

/* Calls fn(ctx) in pools of several sizes, in ordinary ones and in those whose deques
 * must grow at once. */
static void in_every_pool(weft_fn *fn, void *ctx) {
  for (unsigned i = 0; i < SIZE_COUNT; i++) {
    for (unsigned capacity = 0; capacity <= 2; capacity += 2) {
      weft_config config = WEFT_CONFIG_INIT;
      config.threads = SIZES[i];
      config.deque_capacity = capacity;
      weft_pool *pool = pool_with(&config);
      weft_pool_run(pool, fn, ctx);
      weft_pool_destroy(pool);
    }
  }
}

/* ---- V7, V2: a single join ---- */

typedef struct half {
  unsigned calls;
  unsigned order; /* the how-manieth call it was */
  pthread_t thread;
  unsigned *next;
} half;

static void half_run(void *ctx) {
  half *self = ctx;
  self->calls++;
  self->order = (*self->next)++;
  self->thread = pthread_self();
}

static void half_run_anywhere(void *ctx) {
  half *self = ctx;
  self->calls++;
  self->thread = pthread_self();
}

static void join_serially(void *ctx) {
  (void)ctx;
  unsigned next = 0;
  half a = {.next = &next}, b = {.next = &next};
  weft_join(half_run, &a, half_run, &b);
  CHECK_EQ(a.calls, 1);
  CHECK_EQ(b.calls, 1);
  CHECK_EQ(a.order, 0);
  CHECK_EQ(b.order, 1);
  CHECK(pthread_equal(a.thread, pthread_self()));
  CHECK(pthread_equal(b.thread, pthread_self()));
}

TEST(v30_one_thread_keeps_program_order) {
  weft_pool *pool = pool_of(1);
  for (unsigned long i = 0; i < scaled(10000); i++)
    weft_pool_run(pool, join_serially, NULL);
  weft_pool_destroy(pool);
}

static void join_anywhere(void *ctx) {
  (void)ctx;
  for (unsigned long i = 0; i < scaled(20000); i++) {
    half a = {0}, b = {0};
    weft_join(half_run_anywhere, &a, half_run_anywhere, &b);
    CHECK_EQ(a.calls, 1);
    CHECK_EQ(b.calls, 1);
    CHECK(pthread_equal(a.thread, pthread_self()));
  }
}

TEST(v7_both_halves_run_once) {
  in_every_pool(join_anywhere, NULL);
}

TEST(v7_join_from_outside) {
  join_anywhere(NULL);
  weft_shutdown();
}

/* In a one-thread pool the calls come in the order of the serial program. */
typedef struct trace {
  unsigned depth;
  unsigned *order; /* the numbers of the leaves, as they ran */
  unsigned *ran;
  unsigned number;
} trace;

static void trace_leaves(void *ctx) {
  const trace *self = ctx;
  if (self->depth == 0) {
    self->order[(*self->ran)++] = self->number;
    return;
  }
  trace left = *self, right = *self;
  left.depth--;
  right.depth--;
  left.number = self->number * 2;
  right.number = self->number * 2 + 1;
  weft_join(trace_leaves, &left, trace_leaves, &right);
}

TEST(v30_one_thread_runs_a_tree_in_order) {
  static unsigned order[1 << 12];
  unsigned ran = 0;
  trace root = {12, order, &ran, 0};
  weft_pool *pool = pool_of(1);
  weft_pool_run(pool, trace_leaves, &root);
  weft_pool_destroy(pool);
  CHECK_EQ(ran, 1 << 12);
  for (unsigned i = 0; i < ran; i++) CHECK_EQ(order[i], i);
}

/* ---- V28: trees; Fibonacci ---- */

static void count_trees(void *ctx) {
  (void)ctx;
  check_tree(10);
  check_tree(15);
  if (harness_slowdown() == 1) check_tree(20);
}

TEST_LIMIT(v28_trees_of_depth_10_15_20, 120) {
  in_every_pool(count_trees, NULL);
}

typedef struct fib {
  long n, result;
} fib;

static void fib_run(void *ctx) {
  fib *self = ctx;
  if (self->n < 2) {
    self->result = self->n;
    return;
  }
  fib left = {self->n - 1, 0}, right = {self->n - 2, 0};
  weft_join(fib_run, &left, fib_run, &right);
  self->result = left.result + right.result;
}

TEST(v28_fibonacci) {
  bool slow = harness_slowdown() > 1;
  fib number = {slow ? 18 : 27, 0};
  in_every_pool(fib_run, &number);
  CHECK_EQ(number.result, slow ? 2584 : 196418);
}

/* A tree of random shape; every node counts itself once, in a plain place of its own, and
 * does a random amount of work. */
typedef struct wild {
  uint64_t seed;
  unsigned size; /* nodes in this subtree */
  unsigned char *marks;
} wild;

static void wild_run(void *ctx) {
  wild *self = ctx;
  if (self->size == 0) return;
  uint64_t random = self->seed;
  self->marks[0]++;
  for (uint64_t i = harness_random(&random) % 64; i > 0; i--) wf_sys_relax();
  unsigned rest = self->size - 1;
  unsigned left_size = rest == 0 ? 0 : (unsigned)(harness_random(&random) % (rest + 1));
  wild left = {harness_random(&random), left_size, self->marks + 1};
  wild right = {harness_random(&random), rest - left_size, self->marks + 1 + left_size};
  weft_join(wild_run, &left, wild_run, &right);
}

static void wild_trees(void *ctx) {
  static unsigned char marks[10000];
  for (unsigned long i = 0; i < scaled(30); i++) {
    uint64_t *seed = ctx;
    memset(marks, 0, sizeof marks);
    wild root = {harness_random(seed), sizeof marks, marks};
    wild_run(&root);
    for (size_t m = 0; m < sizeof marks; m++)
      if (marks[m] != 1) CHECK_MSG(false, "node %zu ran %d times", m, marks[m]);
  }
}

TEST(v7_wild_trees_run_every_node_once) {
  uint64_t seed = harness_seed();
  in_every_pool(wild_trees, &seed);
}

/* ---- V13: sorting ---- */

static int *random_ints(size_t n) {
  int *values = malloc(n * sizeof *values);
  uint64_t random = harness_seed();
  REQUIRE(values != NULL);
  for (size_t i = 0; i < n; i++) values[i] = (int)(harness_random(&random) >> 40);
  return values;
}

static int compare_ints(const void *a, const void *b) {
  const int *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

typedef struct span {
  int *values;
  int *scratch;
  size_t n;
} span;

/* Without a cut-off: every partition is a join. */
static void quicksort(void *ctx) {
  const span *self = ctx;
  if (self->n < 2) return;
  int *v = self->values;
  int pivot = v[self->n / 2];
  size_t low = 0, high = self->n - 1;
  for (;;) {
    while (v[low] < pivot) low++;
    while (v[high] > pivot) high--;
    if (low >= high) break;
    int swapped = v[low];
    v[low++] = v[high];
    v[high--] = swapped;
  }
  span left = {v, NULL, low}, right = {v + low, NULL, self->n - low};
  weft_join(quicksort, &left, quicksort, &right);
}

static void mergesort(void *ctx) {
  const span *self = ctx;
  if (self->n < 2) return;
  size_t half_n = self->n / 2;
  span left = {self->values, self->scratch, half_n};
  span right = {self->values + half_n, self->scratch + half_n, self->n - half_n};
  weft_join(mergesort, &left, mergesort, &right);
  size_t i = 0, j = half_n;
  for (size_t k = 0; k < self->n; k++) {
    bool from_left = j == self->n || (i < half_n && self->values[i] <= self->values[j]);
    self->scratch[k] = self->values[from_left ? i++ : j++];
  }
  memcpy(self->values, self->scratch, self->n * sizeof *self->values);
}

static void check_sort(weft_fn *sort, size_t n) {
  int *input = random_ints(n), *sorted = random_ints(n);
  int *values = malloc(n * sizeof *values), *scratch = malloc(n * sizeof *scratch);
  REQUIRE(values != NULL && scratch != NULL);
  qsort(sorted, n, sizeof *sorted, compare_ints);
  for (unsigned i = 0; i < SIZE_COUNT; i++) {
    weft_pool *pool = pool_of(SIZES[i]);
    memcpy(values, input, n * sizeof *values);
    span all = {values, scratch, n};
    weft_pool_run(pool, sort, &all);
    CHECK_EQ(memcmp(values, sorted, n * sizeof *values), 0);
    weft_pool_destroy(pool);
  }
  free(input);
  free(sorted);
  free(values);
  free(scratch);
}

TEST(v13_quicksort) {
  check_sort(quicksort, 1000);
  check_sort(quicksort, scaled(1000 * 1000));
}

TEST(v13_mergesort) {
  check_sort(mergesort, 1000);
  check_sort(mergesort, scaled(1000 * 1000));
}

/* ---- V13, V16: deep recursion ---- */

/* A join in a join in a join: the deep half is `a`, and the tasks of all levels are in
 * the deque at once, or it is `b`, and it is the stack that is deep. */
typedef struct ladder {
  unsigned depth;
  bool a_is_deep;
  unsigned rungs; /* the result */
} ladder;

static void ladder_side(void *ctx) {
  *(unsigned *)ctx += 1;
}

static void ladder_run(void *ctx) {
  ladder *self = ctx;
  if (self->depth == 0) return;
  ladder rest = {self->depth - 1, self->a_is_deep, 0};
  unsigned side = 0;
  if (self->a_is_deep)
    weft_join(ladder_run, &rest, ladder_side, &side);
  else
    weft_join(ladder_side, &side, ladder_run, &rest);
  self->rungs = rest.rungs + side;
}

static void climb(void *ctx) {
  (void)ctx;
  const unsigned depth = harness_slowdown() == 1 ? 10000 : 2000;
  for (unsigned long round = 0; round < scaled(20); round++) {
    for (int a_is_deep = 0; a_is_deep <= 1; a_is_deep++) {
      ladder top = {depth, a_is_deep != 0, 0};
      ladder_run(&top);
      CHECK_EQ(top.rungs, depth);
    }
  }
}

TEST(v16_deep_recursion_grows_the_deque) {
  in_every_pool(climb, NULL);
}

/* On a started thread, which has the stack that was asked for. */
TEST(v16_deep_recursion_on_started_threads) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = 3;
  config.stack_size = 64u << 20;
  config.deque_capacity = 2;
  weft_pool *pool = pool_with(&config);
  for (int i = 0; i < 4; i++) CHECK_EQ(weft_pool_detach(pool, climb, NULL), 0);
  weft_pool_destroy(pool);
}

/* ---- take-over ---- */

static void pairings_inside(void *ctx) {
  (void)ctx;
  for (unsigned long i = 0; i < scaled(2000); i++) {
    check_tree(4);
    join_pairing(NULL);
  }
}

TEST(v2_takeover_of_a_busy_owner) {
  for (unsigned threads = 2; threads <= 3; threads++) {
    weft_pool *pool = pool_of(threads);
    weft_pool_run(pool, pairings_inside, NULL);
    for (unsigned long i = 0; i < scaled(2000); i++)
      weft_pool_run(pool, join_pairing, NULL);
    weft_pool_destroy(pool);
  }
}

static void pairings_and_count(void *ctx) {
  pairings_inside(NULL);
  count_one(ctx);
}

TEST(v2_takeover_of_a_busy_started_thread) {
  atomic_ulong done = 0;
  weft_pool *pool = pool_of(3);
  CHECK_EQ(weft_pool_detach(pool, pairings_and_count, &done), 0);
  weft_pool_destroy(pool); /* the pool works as one until all has returned */
  CHECK_EQ(atomic_load(&done), 1);
}

/* The only other thread waits for its own task, and must help: the guest's `b` runs on
 * the started thread and there forks a pair whose second half only the guest can run. */
static void b_begins_and_joins(void *ctx) {
  b_begins(ctx);
  join_pairing(NULL);
}

static void nested_pairings(void *ctx) {
  (void)ctx;
  for (unsigned long i = 0; i < scaled(5000); i++) {
    pairing pair = {.a_thread = pthread_self()};
    weft_join(a_until_b, &pair, b_begins_and_joins, &pair);
  }
}

TEST(v3_waiter_helps_its_thief) {
  weft_pool *pool = pool_of(2);
  weft_pool_run(pool, nested_pairings, NULL);
  weft_pool_destroy(pool);
}

/* ---- V3: what happened before is visible; ThreadSanitizer looks on ---- */

enum { PLAIN = 64 };

typedef struct plain {
  unsigned depth;
  unsigned before[PLAIN]; /* written by the forker, read by both halves */
  unsigned sum;           /* written by a half, read by the forker */
} plain;

static void plain_run(void *ctx) {
  plain *self = ctx;
  self->sum = 0;
  for (int i = 0; i < PLAIN; i++) self->sum += self->before[i];
  if (self->depth == 0) return;
  plain left = {.depth = self->depth - 1}, right = {.depth = self->depth - 1};
  for (unsigned i = 0; i < PLAIN; i++) {
    left.before[i] = self->before[i] + i;
    right.before[i] = self->before[i] * 3;
  }
  unsigned expected_left = 0, expected_right = 0;
  for (int i = 0; i < PLAIN; i++) {
    expected_left += left.before[i];
    expected_right += right.before[i];
  }
  weft_join(plain_run, &left, plain_run, &right);
  if (left.sum != expected_left || right.sum != expected_right)
    CHECK_MSG(false, "%u %u, %u %u", left.sum, expected_left, right.sum, expected_right);
}

static void plain_trees(void *ctx) {
  (void)ctx;
  for (unsigned long i = 0; i < scaled(100); i++) {
    plain root = {.depth = 9};
    for (unsigned p = 0; p < PLAIN; p++) root.before[p] = p;
    plain_run(&root);
  }
}

TEST(v3_plain_data_is_handed_over) {
  in_every_pool(plain_trees, NULL);
}

/* ---- V12: a high rate of forks under contention ---- */

static void many_small_trees(unsigned index, void *arg) {
  for (unsigned long i = 0; i < scaled(20000); i++)
    check_tree_in(arg, (unsigned)(i + index) % 7);
}

TEST(v12_high_rate_of_joins) {
  for (unsigned i = 0; i < SIZE_COUNT; i++) {
    weft_pool *pool = pool_of(SIZES[i]);
    harness_run_threads(4, many_small_trees, pool);
    weft_pool_destroy(pool);
  }
}
