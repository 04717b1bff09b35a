/* WEFT_SPLIT_HOME: blocks come to the same threads each time, and to others where those
 * have something else to do. Block lengths are tested with all options (options.c).
 *
 * SPDX-License-Identifier: MIT */
#include "par/support.h"

enum { MOST = 8 };

/* As many blocks as threads; each waits in its block until all have begun, so each thread
 * has exactly one. */
typedef struct meeting {
  unsigned blocks;
  atomic_uint begun;
  int thread[MOST]; /* of each block */
} meeting;

static void meet(size_t begin, size_t end, void *ctx) {
  meeting *m = (meeting *)ctx;
  CHECK_EQ(end - begin, 1);
  m->thread[begin] = weft_worker_index();
  atomic_fetch_add(&m->begun, 1);
  AWAIT(atomic_load(&m->begun) == m->blocks);
}

static void run_meeting(meeting *m) {
  weft_opts opts = WEFT_OPTS_HOME(1);
  opts.target_chunks = m->blocks;
  atomic_store(&m->begun, 0);
  weft_for_with(&opts, m->blocks, meet, m);
  CHECK_EQ(atomic_load(&m->begun), m->blocks);
}

static void meet_often(void *ctx) {
  meeting *m = (meeting *)ctx;
  m->blocks = weft_thread_count();
  if (m->blocks > MOST) return;
  /* A thread of the pool that calls leaves nobody for the place of a caller. */
  bool inside = weft_worker_index() != 0;
  if (inside) m->blocks--;
  for (unsigned round = 0; round < 50; round++) {
    run_meeting(m);
    for (unsigned i = 0; i < m->blocks; i++)
      CHECK_EQ(m->thread[i], (int)i + (inside ? 1 : 0));
  }
}

TEST(block_i_is_for_thread_i) {
  for (unsigned threads = 2; threads <= MOST; threads += 3) {
    meeting m = {0};
    weft_pool *pool = pool_of(threads);
    weft_pool_run(pool, meet_often, &m);
    weft_pool_destroy(pool);
  }
}

TEST(from_a_thread_of_the_pool_too) {
  for (unsigned threads = 3; threads <= MOST; threads += 2) {
    meeting m = {0};
    weft_pool *pool = pool_of(threads);
    REQUIRE(weft_pool_detach(pool, meet_often, &m) == 0);
    weft_pool_wait_idle(pool);
    CHECK_EQ(m.blocks, threads - 1);
    weft_pool_destroy(pool);
  }
}

/* ---- shares of several blocks ---- */

typedef struct shares {
  size_t n;
  atomic_uchar *runs;
} shares;

static void count_runs(size_t begin, size_t end, void *ctx) {
  shares *s = (shares *)ctx;
  for (size_t i = begin; i < end; i++) atomic_fetch_add(&s->runs[i], 1);
}

static atomic_bool may_go;
static atomic_uint busy;

static void stay_busy(void *ctx) {
  (void)ctx;
  atomic_fetch_add(&busy, 1);
  AWAIT(atomic_load(&may_go));
}

/* All started threads are busy with something else: the caller does everything. */
TEST(nobody_waits_for_a_busy_thread) {
  enum { N = 1000 };
  shares s = {N, calloc(N, sizeof(atomic_uchar))};
  weft_pool *pool = pool_of(4);
  atomic_store(&may_go, false);
  atomic_store(&busy, 0);
  for (int i = 0; i < 3; i++) REQUIRE(weft_pool_detach(pool, stay_busy, NULL) == 0);
  AWAIT(atomic_load(&busy) == 3);
  weft_opts opts = WEFT_OPTS_HOME(7);
  opts.pool = pool;
  weft_for_with(&opts, N, count_runs, &s);
  for (size_t i = 0; i < N; i++) CHECK_EQ(atomic_load(&s.runs[i]), 1);
  atomic_store(&may_go, true);
  weft_pool_destroy(pool);
  free(s.runs);
}

/* More threads than shares fit into a frame, and loops inside of loops. */
static void inner_loop(size_t begin, size_t end, void *ctx) {
  shares *s = (shares *)ctx;
  weft_opts opts = WEFT_OPTS_HOME(1);
  shares part = {0, NULL};
  for (size_t i = begin; i < end; i++) {
    part.runs = &s->runs[i * 10];
    weft_for_with(&opts, 10, count_runs, &part);
  }
}

TEST(many_threads_and_loops_inside) {
  enum { N = 400 };
  shares s = {N, calloc(N * 10, sizeof(atomic_uchar))};
  weft_pool *pool = pool_of(100);
  weft_opts opts = WEFT_OPTS_HOME(1);
  opts.pool = pool;
  opts.target_chunks = 300;
  weft_for_with(&opts, N, inner_loop, &s);
  for (size_t i = 0; i < N * 10; i++) CHECK_EQ(atomic_load(&s.runs[i]), 1);
  weft_pool_destroy(pool);
  free(s.runs);
}

/* ---- stopping ---- */

static int fail_from_500(size_t begin, size_t end, void *ctx) {
  (void)ctx;
  for (size_t i = begin; i < end; i++)
    if (i >= 500) return (int)i;
  return 0;
}

TEST(the_lowest_error_wins) {
  weft_opts opts = WEFT_OPTS_HOME(3);
  opts.target_chunks = 200;
  for (int round = 0; round < 20; round++)
    CHECK_EQ(weft_try_for_with(&opts, 1000, fail_from_500, NULL), 500);
}
