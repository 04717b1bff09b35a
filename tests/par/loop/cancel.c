/* Loops with a scope in their options: they stop soon after it was cancelled, by whomever
 * and whenever, and run to their end if it was not.
 *
 * SPDX-License-Identifier: MIT */
#include "par/loop/blocks.h"

static weft_opts stopped_by(weft_scope *scope) {
  weft_opts opts = WEFT_OPTS_INIT;
  opts.cancel = scope;
  return opts;
}

static void for_all_ways(void (*fn)(weft_opts *opts), weft_scope *scope) {
  for (int split = WEFT_SPLIT_ADAPTIVE; split <= WEFT_SPLIT_RECURSIVE; split++)
    for (unsigned workers = 0; workers <= 3; workers++) {
      weft_opts opts = stopped_by(scope);
      opts.split = (weft_split)split;
      opts.max_workers = workers;
      fn(&opts);
    }
}

/* ---- before ---- */

static int fail_block(size_t begin, size_t end, void *ctx) {
  (void)begin, (void)end;
  count_one(ctx);
  return 1;
}

static void count_block(size_t begin, size_t end, void *ctx) {
  (void)begin, (void)end;
  count_one(ctx);
}

static void count_elem(void *elem, size_t index, void *ctx) {
  (void)elem, (void)index;
  count_one(ctx);
}

static void count_chunk(void *first, size_t count, size_t index, void *ctx) {
  (void)first, (void)count, (void)index;
  count_one(ctx);
}

static void count_step(size_t i, void *ctx) {
  (void)i;
  count_one(ctx);
}

static void count_tile(size_t r0, size_t r1, size_t c0, size_t c1, void *ctx) {
  (void)r0, (void)r1, (void)c0, (void)c1;
  count_one(ctx);
}

static void run_nothing(weft_opts *opts) {
  char elements[100] = {0};
  atomic_ulong ran = 0;
  weft_for_with(opts, 100, count_block, &ran);
  weft_for_each_with(opts, elements, 100, 1, count_elem, &ran);
  weft_chunks_with(opts, elements, 100, 1, 7, count_chunk, &ran);
  weft_for_step_with(opts, 3, 100, 2, count_step, &ran);
  weft_for_2d_with(opts, 10, 10, 3, 3, count_tile, &ran);
  CHECK_EQ(weft_try_for_with(opts, 100, fail_block, &ran), WEFT_ECANCELED);
  CHECK_EQ(atomic_load(&ran), 0);
}

static void run_after_cancel(void *ctx) {
  weft_scope scope, inner;
  (void)ctx;
  weft_scope_begin(&scope);
  weft_scope_begin(&inner); /* cancelled with the one around it */
  weft_scope_cancel(&scope, 17);
  for_all_ways(run_nothing, &scope);
  for_all_ways(run_nothing, &inner);
  CHECK_EQ(weft_scope_end(&inner), 17);
  CHECK_EQ(weft_scope_end(&scope), 17);
}

TEST(a_loop_in_a_cancelled_scope_runs_nothing) {
  in_each_pool(run_after_cancel, NULL);
  run_after_cancel(NULL);
  weft_shutdown();
}

/* ---- never ---- */

static void run_everything(weft_opts *opts) {
  unsigned char marks[3000] = {0};
  weft_for_with(opts, sizeof marks, mark_block, marks);
  check_marks(marks, sizeof marks, 1);
}

static void run_uncancelled(void *ctx) {
  weft_scope scope, other;
  (void)ctx;
  weft_scope_begin(&scope);
  weft_scope_begin(&other);
  weft_scope_cancel(&other, 1); /* an inner one does not matter */
  for_all_ways(run_everything, &scope);
  CHECK_EQ(weft_scope_end(&other), 1);
  CHECK_EQ(weft_scope_end(&scope), 0);
}

TEST(a_loop_whose_scope_is_not_cancelled_runs_to_its_end) {
  in_each_pool(run_uncancelled, NULL);
}

/* ---- meanwhile ---- */

enum { PLACES = 4096 };

/* Blocks that begin when the scope is known to be cancelled: a thread may have looked at
 * the scope just before, so one for each thread. */
typedef struct stop {
  weft_scope *scope;
  size_t when; /* the index that cancels */
  bool slowly;
  atomic_bool cancelled;
  atomic_uint late[PLACES];
  unsigned char *marks;
} stop;

static void stop_at(size_t begin, size_t end, void *ctx) {
  stop *s = ctx;
  if (atomic_load(&s->cancelled)) {
    unsigned before = atomic_fetch_add(&s->late[weft_worker_index()], 1);
    CHECK_MSG(before == 0, "worker %d: late block %u", weft_worker_index(), before);
  }
  for (size_t i = begin; i < end; i++) {
    s->marks[i]++;
    if (s->slowly) spin(10);
    if (i == s->when) {
      weft_scope_cancel(s->scope, 5);
      atomic_store(&s->cancelled, true);
    }
  }
}

enum { STOPPED_LENGTH = 5000 };

static unsigned char *stop_marks;

static void run_until_stopped(weft_opts *opts) {
  static const size_t WHEN[] = {0, 1, 5, 100, STOPPED_LENGTH / 2, STOPPED_LENGTH - 1};
  for (unsigned i = 0; i < 6; i++) {
    weft_scope scope;
    stop *s = calloc(1, sizeof *s);
    REQUIRE(s != NULL);
    s->scope = &scope;
    s->when = WHEN[i];
    s->slowly = i % 2 == 1;
    s->marks = stop_marks;
    weft_scope_begin(&scope);
    opts->cancel = &scope;
    weft_for_with(opts, STOPPED_LENGTH, stop_at, s);
    CHECK_EQ(weft_scope_end(&scope), 5);
    for (size_t m = 0; m < STOPPED_LENGTH; m++)
      if (!CHECK(stop_marks[m] <= 1)) break;
    CHECK_EQ(stop_marks[s->when], 1);
    memset(stop_marks, 0, STOPPED_LENGTH);
    free(s);
  }
}

static void run_all_until_stopped(void *ctx) {
  (void)ctx;
  for (unsigned long i = 0; i < scaled(3); i++) for_all_ways(run_until_stopped, NULL);
}

TEST(no_block_starts_after_the_cancel) {
  stop_marks = marks_of(STOPPED_LENGTH);
  in_each_pool(run_all_until_stopped, NULL);
  free(stop_marks);
}

/* A loop that would take for ever is ended from outside: by a thread that is in no pool.
 */
typedef struct endless {
  weft_scope scope;
  weft_opts opts;
  atomic_bool running;
  atomic_ulong blocks;
} endless;

static void go_on(size_t begin, size_t end, void *ctx) {
  endless *e = ctx;
  (void)begin, (void)end;
  atomic_store(&e->running, true);
  atomic_fetch_add(&e->blocks, 1);
  spin(100);
}

static void run_endless(void *ctx) {
  endless *e = ctx;
  weft_for_with(&e->opts, SIZE_MAX, go_on, e);
}

static void stop_endless(unsigned index, void *arg) {
  endless *e = arg;
  if (index == 0) {
    weft_scope_begin_with(&e->opts, &e->scope);
    e->opts.cancel = &e->scope;
    run_endless(e);
    CHECK_EQ(weft_scope_end(&e->scope), 3);
  } else {
    AWAIT(atomic_load(&e->running));
    weft_scope_cancel(&e->scope, 3);
  }
}

TEST(an_endless_loop_ends_when_it_is_cancelled) {
  for (unsigned i = 0; i < THREADS_COUNT; i++)
    for (int split = WEFT_SPLIT_ADAPTIVE; split <= WEFT_SPLIT_RECURSIVE; split++)
      for (unsigned workers = 0; workers <= 2; workers++) {
        weft_pool *pool = pool_of(THREADS[i]);
        endless e = {.opts = WEFT_OPTS_INIT};
        e.opts.pool = pool;
        e.opts.max_len = 2;
        e.opts.split = (weft_split)split;
        e.opts.max_workers = workers;
        harness_run_threads(2, stop_endless, &e);
        weft_pool_destroy(pool);
      }
}

/* ---- weft_try_for ---- */

typedef struct try_stop {
  weft_scope *scope;
  size_t cancel_at, fail_at;
} try_stop;

static int stop_or_fail(size_t begin, size_t end, void *ctx) {
  const try_stop *t = ctx;
  for (size_t i = begin; i < end; i++) {
    if (i == t->cancel_at) weft_scope_cancel(t->scope, 8);
    if (i == t->fail_at) return 9;
  }
  return 0;
}

static void check_try_stop(weft_opts *opts) {
  weft_scope scope;
  try_stop t = {&scope, 50, SIZE_MAX};
  weft_scope_begin(&scope);
  opts->cancel = &scope;
  CHECK_EQ(weft_try_for_with(opts, 100, stop_or_fail, &t), WEFT_ECANCELED);
  CHECK_EQ(weft_scope_end(&scope), 8);
  /* The block that cancels finds an error: that one is the result. */
  t.fail_at = 50;
  weft_scope_begin(&scope);
  CHECK_EQ(weft_try_for_with(opts, 100, stop_or_fail, &t), 9);
  CHECK_EQ(weft_scope_end(&scope), 8);
}

static void check_try_stops(void *ctx) {
  (void)ctx;
  for (unsigned long i = 0; i < scaled(50); i++) for_all_ways(check_try_stop, NULL);
}

TEST(try_for_tells_that_it_was_cancelled) {
  in_each_pool(check_try_stops, NULL);
}
