/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc */
/* link: -Wl,--wrap=free */
/* Loops and joins ask for no memory once their threads have their deques, and do all
 * their work if there is none from the start.
 *
 * SPDX-License-Identifier: MIT */
#include "harness/memory_faults.h"
#include "par/loop/blocks.h"

static unsigned long counted(void) {
  allow_memory();
  return memory_requests();
}

/* ---- everything of weft/loop.h ---- */

enum { N = 2000 };
static unsigned char touched[N + 1];

static void touch(size_t begin, size_t end, void *ctx) {
  (void)ctx;
  for (size_t i = begin; i < end; i++) touched[i]++;
}

static int touch_all(size_t begin, size_t end, void *ctx) {
  touch(begin, end, ctx);
  return 0;
}

static void touch_elem(void *elem, size_t index, void *ctx) {
  (void)index, (void)ctx;
  ++*(unsigned char *)elem;
}

static void touch_chunk(void *first, size_t count, size_t index, void *ctx) {
  (void)index, (void)ctx;
  for (size_t i = 0; i < count; i++) ((unsigned char *)first)[i]++;
}

static void touch_step(size_t i, void *ctx) {
  touch(i, i + 2 < N ? i + 2 : N, ctx);
}

static void touch_tile(size_t r0, size_t r1, size_t c0, size_t c1, void *ctx) {
  for (size_t r = r0; r < r1; r++) touch(r * 50 + c0, r * 50 + c1, ctx);
}

static void touch_nested(size_t begin, size_t end, void *ctx) {
  for (size_t i = begin; i < end; i++)
    weft_for_each(touched + i * 50, 50, 1, touch_elem, ctx);
}

WEFT_LOOP(touch_typed, i, unsigned char *, a) {
  a[i]++;
}
WEFT_TRY_LOOP(try_touch_typed, i, unsigned char *, a) {
  a[i]++;
  return 0;
}
WEFT_LOOP_2D(touch_cell, r, c, unsigned char *, a) {
  a[r * 50 + c]++;
}
WEFT_SUM_LOOP(touch_sum, size_t, i, unsigned char *, a) {
  return ++a[i];
}

static void run_typed_loops(const weft_opts *opts) {
  touch_typed_with(opts, N, touched);
  check_marks(touched, N, 1);
  CHECK_EQ(try_touch_typed_with(opts, N, touched), 0);
  check_marks(touched, N, 1);
  touch_cell_with(opts, N / 50, 50, touched);
  check_marks(touched, N, 1);
  CHECK_EQ(touch_sum_with(opts, N, touched), N);
  check_marks(touched, N, 1);
}

static void run_all_loops(void *ctx) {
  const weft_opts *opts = ctx;
  weft_for_with(opts, N, touch, NULL);
  check_marks(touched, N, 1);
  CHECK_EQ(weft_try_for_with(opts, N, touch_all, NULL), 0);
  check_marks(touched, N, 1);
  weft_for_each_with(opts, touched, N, 1, touch_elem, NULL);
  check_marks(touched, N, 1);
  weft_chunks_with(opts, touched, N, 1, 7, touch_chunk, NULL);
  check_marks(touched, N, 1);
  weft_for_step_with(opts, 0, N, 2, touch_step, NULL);
  check_marks(touched, N, 1);
  weft_for_2d_with(opts, N / 50, 50, 3, 7, touch_tile, NULL);
  check_marks(touched, N, 1);
  weft_for_with(opts, N / 50, touch_nested, NULL);
  check_marks(touched, N, 1);
  run_typed_loops(opts);
  if (weft_worker_index() >= 0) check_tree(8); /* a join is a pool's as well */
}

static void run_all_ways(void *ctx) {
  weft_pool *pool = ctx;
  for (int split = WEFT_SPLIT_ADAPTIVE; split <= WEFT_SPLIT_RECURSIVE; split++)
    for (unsigned workers = 0; workers <= 2; workers++) {
      weft_opts opts = opts_on(pool);
      opts.split = (weft_split)split;
      opts.max_workers = workers;
      run_all_loops(&opts);
    }
}

/* From inside and from outside, on the caller's place and on started threads. */
static void run_everywhere(weft_pool *pool, unsigned long rounds) {
  for (unsigned long i = 0; i < rounds; i++) {
    run_all_ways(pool);
    weft_pool_run(pool, run_all_ways, pool);
    run_on_started(pool, run_all_ways, pool);
  }
}

TEST(loops_ask_for_no_memory) {
  for (unsigned i = 0; i < THREADS_COUNT; i++) {
    weft_pool *pool = pool_of(THREADS[i]);
    /* The rings of the deques come with the threads, the guest's with its first call. */
    run_everywhere(pool, 1);
    refuse_memory(REFUSE_NONE, 0);
    run_everywhere(pool, scaled(20));
    CHECK_EQ(counted(), 0);
    weft_pool_destroy(pool);
  }
  weft_shutdown();
}

/* run_on_started injects, which may allocate: not here. */
static void run_refused(weft_pool *pool) {
  refuse_all_memory();
  run_all_ways(pool);
  weft_pool_run(pool, run_all_ways, pool);
  counted();
}

/* The guest's place has no deque; deques that cannot grow; a place as usual. */
TEST(loops_without_memory) {
  for (unsigned i = 0; i < THREADS_COUNT; i++) {
    weft_config config = WEFT_CONFIG_INIT;
    config.threads = THREADS[i];
    config.deque_capacity = 2;
    weft_pool *pool = pool_with(&config);
    for (unsigned long round = 0; round < scaled(10); round++) {
      run_refused(pool);
      if (round == 3) weft_pool_run(pool, do_nothing, NULL);
    }
    weft_pool_destroy(pool);
  }
  weft_shutdown();
}

TEST(loops_without_even_a_pool) {
  refuse_all_memory();
  CHECK(weft_pool_current() == NULL);
  for (int split = WEFT_SPLIT_ADAPTIVE; split <= WEFT_SPLIT_RECURSIVE; split++) {
    weft_opts opts = WEFT_OPTS_INIT;
    opts.split = (weft_split)split;
    run_all_loops(&opts);
  }
  CHECK(counted() > 0);
  weft_shutdown();
}
