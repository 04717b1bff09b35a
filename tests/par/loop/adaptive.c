/* weft_for: every index once, for all lengths, called from any thread.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "process/child.h"

#include "par/loop/blocks.h"

static const unsigned POOLS[] = {1, 2, 3, 8, 64};
enum { POOLS_COUNT = sizeof POOLS / sizeof POOLS[0], LONGEST = 1000003 };

static weft_pool *pool_with_guests(unsigned threads, unsigned guests) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = threads;
  config.guests = guests;
  return pool_with(&config);
}

static size_t longest(void) {
  return LONGEST / harness_slowdown();
}

static unsigned char *longest_marks(void) {
  return marks_of(longest() + 1);
}

/* ---- lengths ---- */

/* The marks have one byte more than the loop may touch. */
static void cover(const weft_opts *opts, size_t n, unsigned char *marks) {
  weft_for_with(opts, n, mark_block, marks);
  CHECK_MSG(marks[n] == 0, "index %zu of a loop over %zu", n, n);
  check_marks(marks, n, 1);
}

static void cover_lengths(void *ctx) {
  for (unsigned i = 0; i < LENGTHS_COUNT && LENGTHS[i] <= longest(); i++)
    cover(NULL, LENGTHS[i], ctx);
}

TEST(every_index_once_inside_pools) {
  unsigned char *marks = longest_marks();
  for (unsigned p = 0; p < POOLS_COUNT; p++) {
    weft_pool *pool = pool_of(POOLS[p]);
    for (int round = 0; round < 3; round++) {
      weft_pool_run(pool, cover_lengths, marks);
      run_on_started(pool, cover_lengths, marks);
    }
    weft_pool_destroy(pool);
  }
  free(marks);
}

TEST(every_index_once_from_outside) {
  unsigned char *marks = longest_marks();
  for (unsigned p = 0; p < POOLS_COUNT; p++) {
    weft_pool *pool = pool_of(POOLS[p]);
    weft_opts opts = opts_on(pool);
    for (unsigned i = 0; i < LENGTHS_COUNT && LENGTHS[i] <= longest(); i++)
      cover(&opts, LENGTHS[i], marks);
    weft_pool_destroy(pool);
  }
  cover_lengths(marks); /* the global pool */
  weft_shutdown();
  free(marks);
}

/* Short loops, again and again: starting and ending is where threads meet. */
static void cover_small(void *ctx) {
  for (size_t n = 0; n < 40; n++) cover(NULL, n, ctx);
}

TEST(every_index_once_in_short_loops) {
  for (unsigned p = 0; p < POOLS_COUNT; p++) {
    unsigned char marks[64] = {0};
    weft_pool *pool = pool_of(POOLS[p]);
    weft_opts opts = opts_on(pool);
    for (unsigned long i = 0; i < scaled(100); i++) {
      weft_pool_run(pool, cover_small, marks);
      run_on_started(pool, cover_small, marks);
      for (size_t n = 0; n < 40; n++) cover(&opts, n, marks);
    }
    weft_pool_destroy(pool);
  }
}

/* Deques of two places, which must grow. */
TEST(every_index_once_with_small_deques) {
  unsigned char *marks = longest_marks();
  for (unsigned p = 0; p < POOLS_COUNT; p++) {
    weft_config config = WEFT_CONFIG_INIT;
    config.threads = POOLS[p];
    config.deque_capacity = 2;
    weft_pool *pool = pool_with(&config);
    weft_pool_run(pool, cover_lengths, marks);
    weft_pool_destroy(pool);
  }
  free(marks);
}

/* ---- many callers ---- */

typedef struct callers {
  weft_pool *pool, *home;
  gate place; /* the holder of the only guest place stands in it */
  atomic_uint finished;
} callers;

enum { CALLERS = 6 };

static void loops_of_caller(void *ctx) {
  unsigned char *marks = marks_of(5000);
  weft_opts opts = opts_on(((callers *)ctx)->pool);
  for (size_t n = 0; n < 5000; n = 2 * n + 1)
    for (unsigned long i = 0; i < scaled(20); i++) cover(&opts, n, marks);
  free(marks);
}

static void call_loops(unsigned index, void *arg) {
  (void)index;
  loops_of_caller(arg);
}

TEST(every_index_once_for_many_callers) {
  for (unsigned p = 0; p < POOLS_COUNT; p++) {
    for (unsigned guests = 1; guests <= CALLERS; guests += CALLERS - 1) {
      callers c = {.pool = pool_with_guests(POOLS[p], guests)};
      harness_run_threads(CALLERS, call_loops, &c);
      weft_pool_destroy(c.pool);
    }
  }
}

static void hold_the_place(void *ctx) {
  gate_pass(&((callers *)ctx)->place);
}

/* One thread keeps the only guest place. Others hand their loops to a started thread, or,
 * if they are workers of another pool, run them on a place without a deque. */
static void call_without_place(unsigned index, void *arg) {
  callers *c = arg;
  if (index == 0) {
    weft_pool_run(c->pool, hold_the_place, c);
    return;
  }
  AWAIT(atomic_load(&c->place.inside) == 1);
  if (index % 2 == 0)
    loops_of_caller(c);
  else
    weft_pool_run(c->home, loops_of_caller, c);
  if (atomic_fetch_add(&c->finished, 1) + 1 == CALLERS - 1) gate_open(&c->place);
}

TEST(every_index_once_without_a_place) {
  for (unsigned p = 0; p < POOLS_COUNT; p++) {
    callers c = {.pool = pool_with_guests(POOLS[p], 1),
                 .home = pool_with_guests(2, CALLERS)};
    harness_run_threads(CALLERS, call_without_place, &c);
    weft_pool_destroy(c.pool);
    weft_pool_destroy(c.home);
  }
}

/* ---- ranges beyond memory ---- */

static const size_t HUGE_LENGTHS[] = {
#if SIZE_MAX > UINT32_MAX
    ((size_t)1 << 32) - 1,
    (size_t)1 << 32,
    ((size_t)1 << 32) + 1,
    ((size_t)1 << 32) + 12345,
    (size_t)1000 * 1000 * 1000 * 1000,
#endif
    SIZE_MAX / 2,
    SIZE_MAX / 2 + 1,
    SIZE_MAX - 4096,
    SIZE_MAX - 1,
    SIZE_MAX,
};
enum { HUGE_COUNT = sizeof HUGE_LENGTHS / sizeof HUGE_LENGTHS[0] };

static void tally_huge(const weft_opts *opts) {
  tally t = {0};
  for (unsigned i = 0; i < HUGE_COUNT; i++) {
    weft_for_with(opts, HUGE_LENGTHS[i], tally_block, &t);
    tally_is(&t, HUGE_LENGTHS[i]);
  }
}

static void tally_all_huge(void *ctx) {
  (void)ctx;
  for (int split = WEFT_SPLIT_ADAPTIVE; split <= WEFT_SPLIT_RECURSIVE; split++) {
    for (unsigned workers = 0; workers <= 3; workers++) {
      weft_opts opts = WEFT_OPTS_INIT;
      opts.split = (weft_split)split;
      opts.max_workers = workers;
      tally_huge(&opts);
      opts.target_chunks = 1000;
      tally_huge(&opts);
      opts.max_len = SIZE_MAX / 1000;
      tally_huge(&opts);
      opts.target_chunks = 0;
      opts.min_len = SIZE_MAX / 3;
      tally_huge(&opts);
      opts.max_len = 0;
      tally_huge(&opts);
    }
  }
}

TEST(ranges_beyond_memory) {
  for (unsigned p = 0; p < POOLS_COUNT; p++) {
    weft_pool *pool = pool_of(POOLS[p]);
    weft_pool_run(pool, tally_all_huge, NULL);
    run_on_started(pool, tally_all_huge, NULL);
    weft_pool_destroy(pool);
  }
}

/* ---- bodies of very different cost ---- */

typedef struct costs {
  unsigned char *marks;
  size_t n;
  int shape;
} costs;

enum { SHAPES = 6 };

static unsigned cost_of(const costs *c, size_t i) {
  uint64_t random = harness_seed() + i;
  switch (c->shape) {
  case 0: /* cheap, then dear */
    return i < c->n / 2 ? 0 : 100;
  case 1: /* dear, then cheap */
    return i < c->n / 2 ? 100 : 0;
  case 2: /* one */
    return i == c->n / 3 ? 100000 : 0;
  case 3: /* the last one */
    return i + 1 == c->n ? 100000 : 0;
  case 4: /* a slope */
    return (unsigned)(200 * i / c->n);
  default:
    return harness_random(&random) % 64 == 0 ? 3000 : 0;
  }
}

static void spin_and_mark(size_t begin, size_t end, void *ctx) {
  const costs *c = ctx;
  for (size_t i = begin; i < end; i++) {
    spin(cost_of(c, i) / harness_slowdown());
    c->marks[i]++;
  }
}

static void cover_costs(void *ctx) {
  costs c = {.marks = ctx};
  for (c.shape = 0; c.shape < SHAPES; c.shape++) {
    for (c.n = 2; c.n < 5000; c.n *= 13) {
      weft_for(c.n, spin_and_mark, &c);
      check_marks(c.marks, c.n, 1);
    }
  }
}

TEST(every_index_once_whatever_it_costs) {
  unsigned char *marks = longest_marks();
  in_each_pool(cover_costs, marks);
  free(marks);
}

/* ---- forked children ---- */

static bool loops_are_right(void *arg) {
  unsigned char marks[1000] = {0};
  weft_opts opts = opts_on(arg);
  for (size_t n = 0; n <= sizeof marks; n += 37) {
    weft_for_with(&opts, n, mark_block, marks);
    for (size_t i = 0; i < sizeof marks; i++)
      if (marks[i] != (i < n)) return false;
    memset(marks, 0, sizeof marks);
  }
  return true;
}

TEST(loops_in_forked_children) {
  if (!children_may_start_threads()) return;
  for (unsigned p = 0; p < 4; p++) {
    weft_pool *pool = pool_of(POOLS[p]);
    CHECK(loops_are_right(pool));
    CHECK_EQ(run_child(loops_are_right, pool), 0);
    CHECK_EQ(run_child(loops_are_right, NULL), 0);
    CHECK(loops_are_right(pool));
    weft_pool_destroy(pool);
  }
  weft_shutdown();
}

static void fork_in_a_task(void *ctx) {
  weft_pool *pool = ctx;
  CHECK(loops_are_right(pool));
  CHECK_EQ(run_child(loops_are_right, pool), 0);
  CHECK_EQ(run_child(loops_are_right, NULL), 0);
  CHECK(loops_are_right(pool));
}

/* The child is alone in the pool's places. */
TEST(loops_in_children_forked_by_tasks) {
  if (!children_may_start_threads()) return;
  for (unsigned p = 0; p < 4; p++) {
    weft_pool *pool = pool_of(POOLS[p]);
    weft_pool_run(pool, fork_in_a_task, pool);
    run_on_started(pool, fork_in_a_task, pool);
    weft_pool_destroy(pool);
  }
}
