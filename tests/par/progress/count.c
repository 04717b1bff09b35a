/* weft_progress without a terminal: sums are exact whoever adds, nothing is written and
 * no thread is started; cancelled loops, several at once, no total, NULL, misuse.
 *
 * SPDX-License-Identifier: MIT */
#include "par/support.h"
#include "sched/dies.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static weft_progress_state state_of(weft_progress *p) {
  weft_progress_state state = WEFT_PROGRESS_STATE_INIT;
  weft_progress_get(p, &state);
  return state;
}

static weft_progress *begin_quiet(uint64_t total) {
  weft_progress_opts opts = WEFT_PROGRESS_OPTS_INIT;
  weft_progress *p;
  opts.is_quiet = true;
  REQUIRE(weft_progress_begin_with(&opts, &p, "test", total) == 0);
  return p;
}

/* ---- exact sums ---- */

static void add_block(size_t begin, size_t end, void *ctx) {
  weft_progress_add(ctx, end - begin);
}

static void check_sums(void *ctx) {
  (void)ctx;
  for (unsigned k = 0; k < LENGTHS_COUNT; k++) {
    weft_progress *p = begin_quiet(LENGTHS[k]);
    weft_for(LENGTHS[k], add_block, p);
    CHECK_EQ(state_of(p).done, LENGTHS[k]);
    CHECK_EQ(state_of(p).total, LENGTHS[k]);
    weft_progress_end(p);
  }
}

TEST(sums_are_exact) {
  in_each_pool(check_sums, NULL);
  check_sums(NULL);
}

/* Each thread counts in a line of its own: no count is lost to another thread, although
 * nothing is added atomically. */
static void add_ones(unsigned index, void *ctx) {
  (void)index;
  for (unsigned i = 0; i < 100000 / harness_slowdown(); i++) weft_progress_add(ctx, 1);
}

TEST(threads_outside_of_pools_count_too) {
  weft_progress *p = begin_quiet(0);
  harness_run_threads(12, add_ones, p);
  CHECK_EQ(state_of(p).done, 12UL * (100000 / harness_slowdown()));
  weft_progress_end(p);
}

typedef struct pair {
  weft_progress *rows, *cells;
} pair;

static void add_cells(size_t begin, size_t end, void *ctx) {
  weft_progress_add(((pair *)ctx)->cells, end - begin);
}

static void add_rows(size_t begin, size_t end, void *ctx) {
  for (size_t i = begin; i < end; i++) {
    weft_for(100, add_cells, ctx);
    weft_progress_add(((pair *)ctx)->rows, 1);
  }
}

TEST(several_at_once_and_nested) {
  pair both = {begin_quiet(200), begin_quiet(20000)};
  weft_pool *pool = pool_of(4);
  weft_opts opts = opts_on(pool);
  weft_for_with(&opts, 200, add_rows, &both);
  CHECK_EQ(state_of(both.rows).done, 200);
  CHECK_EQ(state_of(both.cells).done, 20000);
  weft_progress_end(both.rows);
  weft_progress_end(both.cells);
  weft_pool_destroy(pool);
}

/* ---- loops ---- */

static void note_block(size_t begin, size_t end, void *ctx) {
  unsigned char *seen = ctx;
  for (size_t i = begin; i < end; i++) seen[i]++;
}

TEST(a_loop_with_progress_covers_its_range) {
  for (unsigned k = 0; k < LENGTHS_COUNT; k++) {
    size_t n = LENGTHS[k];
    unsigned char *seen = array_of(n, 1);
    memset(seen, 0, n);
    weft_progress_for("covering", n, note_block, seen);
    for (size_t i = 0; i < n; i++) REQUIRE(seen[i] == 1);
    free(seen);
  }
}

typedef struct stopping {
  weft_scope scope;
  weft_progress *progress;
} stopping;

static void stop_at_100(size_t begin, size_t end, void *ctx) {
  stopping *s = ctx;
  weft_progress_add(s->progress, end - begin);
  if (begin <= 100 && 100 < end) weft_scope_cancel(&s->scope, 7);
}

TEST(a_cancelled_loop_counts_what_it_has_done) {
  stopping s;
  weft_opts opts = WEFT_OPTS_INIT;
  const size_t n = (size_t)1 << (sizeof(size_t) < 8 ? 30 : 40);
  s.progress = begin_quiet(n);
  opts.cancel = &s.scope;
  opts.max_len = 64;
  weft_scope_begin(&s.scope);
  weft_for_with(&opts, n, stop_at_100, &s);
  CHECK_EQ(weft_scope_end(&s.scope), 7);
  weft_progress_state state = state_of(s.progress);
  CHECK(state.done > 0 && state.done < state.total);
  weft_progress_end(s.progress);
}

/* ---- totals, rate, time left ---- */

TEST(nothing_is_left_when_all_is_done) {
  weft_progress *p = begin_quiet(10);
  CHECK_EQ(state_of(p).left_ns, UINT64_MAX);
  weft_progress_add(p, 10);
  CHECK_EQ(state_of(p).left_ns, 0);
  weft_progress_add(p, 5); /* more than all */
  CHECK_EQ(state_of(p).done, 15);
  CHECK_EQ(state_of(p).left_ns, 0);
  weft_progress_set_total(p, 100);
  CHECK_EQ(state_of(p).total, 100);
  CHECK(state_of(p).left_ns > 0);
  weft_progress_end(p);
}

TEST(without_a_total_nothing_is_known_of_the_rest) {
  weft_progress *p = begin_quiet(0);
  weft_progress_add(p, UINT64_MAX / 2);
  CHECK_EQ(state_of(p).total, 0);
  CHECK_EQ(state_of(p).left_ns, UINT64_MAX);
  CHECK(state_of(p).rate > 0);
  weft_progress_end(p);
}

TEST(rate_and_time_left_fit_the_clock) {
  weft_progress *p = begin_quiet(1000);
  weft_progress_add(p, 250);
  harness_linger(2000);
  weft_progress_state state = state_of(p);
  double elapsed_s = (double)state.elapsed_ns * 1e-9;
  CHECK(elapsed_s >= 0.002);
  CHECK(state.rate > 0.999 * 250 / elapsed_s && state.rate < 1.001 * 250 / elapsed_s);
  CHECK(state.left_ns > state.elapsed_ns * 29 / 10); /* three quarters, as fast */
  CHECK(state.left_ns < state.elapsed_ns * 31 / 10);
  weft_progress_end(p);
}

TEST(the_program_may_know_better) {
  weft_progress *p = begin_quiet(1000);
  weft_progress_set_left(p, UINT64_C(3600) * 1000000000);
  CHECK(state_of(p).left_ns <= UINT64_C(3600) * 1000000000);
  CHECK(state_of(p).left_ns > UINT64_C(1800) * 1000000000);
  weft_progress_set_left(p, 1);
  harness_linger(10);
  CHECK_EQ(state_of(p).left_ns, 0);
  weft_progress_set_left(p, UINT64_MAX);
  CHECK_EQ(state_of(p).left_ns, UINT64_MAX);
  weft_progress_end(p);
}

/* An older or newer program has another idea of the structures. */
TEST(structures_of_other_sizes) {
  weft_progress *p = begin_quiet(5);
  weft_progress_add(p, 3);
  weft_progress_state state = WEFT_PROGRESS_STATE_INIT;
  state.struct_size = 2 * sizeof(uint64_t) + 3;
  state.total = 77;
  weft_progress_get(p, &state);
  CHECK_EQ(state.done, 3);
  CHECK_EQ(state.total, 77);
  CHECK_EQ(state.struct_size, 2 * sizeof(uint64_t) + 3);
  weft_progress_end(p);

  weft_progress_opts opts = WEFT_PROGRESS_OPTS_INIT;
  opts.struct_size = sizeof(size_t);
  CHECK_EQ(weft_progress_begin_with(&opts, &p, NULL, 0), 0);
  weft_progress_end(p);
  for (size_t size = 0; size < sizeof(size_t); size++) {
    opts.struct_size = size;
    CHECK_EQ(weft_progress_begin_with(&opts, &p, NULL, 0), WEFT_EINVAL);
    CHECK(p == NULL);
  }
  opts.struct_size = offsetof(weft_progress_opts, interval_ms) + 1;
  CHECK_EQ(weft_progress_begin_with(&opts, &p, NULL, 0), WEFT_EINVAL);
}

/* ---- NULL, misuse ---- */

TEST(null_counts_nothing) {
  weft_progress_add(NULL, 1);
  weft_progress_set_total(NULL, 1);
  weft_progress_set_title(NULL, "nobody");
  weft_progress_set_left(NULL, 1);
  weft_progress_end(NULL);
  weft_progress_state state = state_of(NULL);
  CHECK_EQ(state.done, 0);
  CHECK_EQ(state.left_ns, UINT64_MAX);
  weft_progress *p;
  CHECK_EQ(weft_progress_begin(&p, NULL, 0), 0); /* no title is fine */
  weft_progress_set_title(p, NULL);
  weft_progress_end(p);
  CHECK_EQ(weft_progress_begin(NULL, "nowhere", 1), WEFT_EINVAL);
  weft_progress_for("nothing", 0, NULL, NULL);
}

TEST(misuse_is_reported) {
  CHECK_DIES("weft_progress_get: the state is NULL", weft_progress_get(NULL, NULL));
  CHECK_DIES("weft_progress_get: the state has no size", {
    weft_progress_state state = WEFT_PROGRESS_STATE_INIT;
    state.struct_size = 0;
    weft_progress_get(NULL, &state);
  });
  CHECK_DIES("weft_progress_print: the line is NULL", weft_progress_print(NULL));
  CHECK_DIES("weft_progress_for: the function is NULL",
             weft_progress_for("nothing", 1, NULL, NULL));
}

/* ---- a child of fork ---- */

TEST(a_child_ends_what_its_parent_began) {
  weft_progress *p = begin_quiet(10);
  weft_progress_add(p, 4);
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    weft_progress_add(p, 1);
    weft_progress_set_title(p, "child");
    bool is_right = state_of(p).done == 5;
    weft_progress_end(p);
    _exit(is_right ? 0 : 1);
  }
  int status;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK_EQ(status, 0);
  CHECK_EQ(state_of(p).done, 4);
  weft_progress_end(p);
}

/* ---- silent in a pipe ---- */

TEST_BY_NAME(show_progress) {
  weft_progress *p, *second;
  unsigned before = harness_thread_count();
  REQUIRE(weft_progress_begin(&p, "in a pipe", 1000) == 0);
  REQUIRE(weft_progress_begin(&second, "another", 0) == 0);
  CHECK_EQ(harness_thread_count(), before); /* nobody is there to draw */
  weft_progress_add(p, 1000);
  weft_progress_print("a line");
  weft_progress_end(p);
  weft_progress_end(second);
}

TEST(silent_in_a_pipe) {
  char output[2000];
  CHECK_EQ(harness_run_self("TERM=xterm", "show_progress", output, sizeof output), 0);
  CHECK(strstr(output, "a line\n") != NULL);
  CHECK(strstr(output, "in a pipe") == NULL);
  CHECK(strstr(output, "%") == NULL);
  CHECK(strchr(output, '\033') == NULL);
  CHECK(strchr(output, '\r') == NULL);
}
