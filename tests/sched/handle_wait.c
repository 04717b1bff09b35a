/* Waiting for handles with a time limit, for any and for all of several: from outside,
 * from a guest, from threads of the pool and of other pools; the limit against the end of
 * the function; what is waited for wrongly.
 *
 * SPDX-License-Identifier: MIT */
#include "support.h"

#include <signal.h>
#include <stdio.h>

enum { MILLISECOND = 1000 * 1000 };

/* ---- a time limit ---- */

static void held_then_late(weft_pool *pool) {
  gate hold = {0};
  weft_opts opts = opts_on(pool);
  weft_handle *handle;
  CHECK_EQ(weft_async_with(&opts, &handle, gate_pass, &hold), 0);
  CHECK_EQ(weft_handle_wait_for(handle, 0), WEFT_EBUSY);
  for (int i = 0; i < 3; i++) {
    uint64_t before = wf_sys_now_ns();
    CHECK_EQ(weft_handle_wait_for(handle, MILLISECOND), WEFT_EBUSY);
    CHECK(wf_sys_now_ns() - before >= MILLISECOND);
  }
  CHECK_EQ(weft_handle_wait_any_for(&handle, 1, MILLISECOND), SIZE_MAX);
  gate_open(&hold);
  CHECK_EQ(weft_handle_wait_for(handle, UINT64_MAX), 0);
  CHECK_EQ(atomic_load(&hold.left), 1);
}

static void held_then_late_in(void *ctx) {
  held_then_late(ctx);
}

TEST(the_time_is_over) {
  weft_pool *other = pool_of(2);
  for (unsigned threads = 1; threads <= 3; threads++) {
    weft_pool *pool = pool_of(threads);
    held_then_late(pool);                          /* from outside: sleeps */
    weft_pool_run(pool, held_then_late_in, pool);  /* a guest: helps */
    weft_pool_run(other, held_then_late_in, pool); /* a guest elsewhere */
    weft_pool_destroy(pool);
  }
  weft_pool_destroy(other);
}

/* From outside the function is left to the pool, even if nobody has begun it. */
TEST(a_function_that_nobody_has_begun_is_left_alone) {
  gate plug = {0};
  atomic_ulong ran = 0;
  weft_pool *pool = pool_of(2);
  weft_opts opts = opts_on(pool);
  weft_handle *handle;
  plug_threads(&plug, pool);
  CHECK_EQ(weft_async_with(&opts, &handle, count_one, &ran), 0);
  CHECK_EQ(weft_handle_wait_for(handle, MILLISECOND), WEFT_EBUSY);
  CHECK_EQ(weft_handle_wait_any_for(&handle, 1, MILLISECOND), SIZE_MAX);
  CHECK_EQ(atomic_load(&ran), 0);
  CHECK_EQ(weft_handle_wait(handle), 0); /* this one runs it */
  CHECK_EQ(atomic_load(&ran), 1);
  unplug(&plug);
  weft_pool_destroy(pool);
}

/* The only thread of a pool runs it: nobody else would. */
static void wait_on_the_only_thread(void *ctx) {
  atomic_ulong ran = 0;
  weft_handle *handles[3];
  weft_opts opts = opts_on(ctx);
  for (int i = 0; i < 3; i++)
    CHECK_EQ(weft_async_with(&opts, &handles[i], count_one, &ran), 0);
  CHECK_EQ(weft_handle_wait_for(handles[1], 0), WEFT_EBUSY); /* only a look */
  CHECK_EQ(weft_handle_wait_for(handles[1], 1), 0);
  CHECK_EQ(atomic_load(&ran), 1);
  handles[1] = handles[2];
  size_t first = weft_handle_wait_any(handles, 2);
  CHECK(first < 2 && weft_handle_done(handles[first]));
  CHECK_EQ(weft_handle_wait_all(handles, 2), 0);
  CHECK_EQ(atomic_load(&ran), 3);
}

TEST(a_thread_of_the_pool_runs_what_nobody_has_begun) {
  weft_pool *pool = pool_of(1), *other = pool_of(1);
  run_on_started(pool, wait_on_the_only_thread, pool);
  gate plug = {0};
  plug_threads(&plug, other);
  run_on_started(pool, wait_on_the_only_thread, other); /* in another pool */
  unplug(&plug);
  weft_pool_destroy(other);
  weft_pool_destroy(pool);
}

/* A guest that is at a task of others runs it, too. The only thread of the pool waits for
 * that task, and takes nothing from the queue meanwhile. */
typedef struct depended_on {
  atomic_bool outer_begun, inner_begun;
  atomic_ulong ran;
  uint64_t limit_ns;
} depended_on;

static void until_outer_begun(void *ctx) {
  while (!atomic_load(&((depended_on *)ctx)->outer_begun)) spin(10);
}

static void until_inner_begun(void *ctx) {
  while (!atomic_load(&((depended_on *)ctx)->inner_begun)) spin(10);
}

static void wait_while_helping(void *ctx) {
  depended_on *d = ctx;
  weft_handle *handles[2];
  atomic_store(&d->inner_begun, true);
  CHECK_EQ(weft_worker_index(), 0); /* the guest */
  for (int i = 0; i < 2; i++) CHECK_EQ(weft_async(&handles[i], count_one, &d->ran), 0);
  if (d->limit_ns == 0)
    CHECK(weft_handle_wait_any(handles, 2) < 2);
  else
    CHECK_EQ(weft_handle_wait_any_for(handles, 2, d->limit_ns), 0);
  CHECK_EQ(weft_handle_wait_all(handles, 2), 0);
  CHECK_EQ(atomic_load(&d->ran), 2);
}

static void on_the_only_thread(void *ctx) {
  atomic_store(&((depended_on *)ctx)->outer_begun, true);
  weft_join(until_inner_begun, ctx, wait_while_helping, ctx);
}

static void guest_that_helps(void *ctx) {
  weft_join(until_outer_begun, ctx, on_the_only_thread, ctx);
}

TEST(a_guest_that_helps_runs_what_nobody_has_begun) {
  weft_pool *pool = pool_of(2); /* one thread, and this one */
  depended_on ever = {0}, for_a_while = {.limit_ns = UINT64_C(1) << 62};
  weft_pool_run(pool, guest_that_helps, &ever);
  weft_pool_run(pool, guest_that_helps, &for_a_while);
  weft_pool_destroy(pool);
}

/* Limits of all lengths against functions of all lengths: late or done, and never lost.
 */
static void spin_a_while(void *ctx) {
  unsigned char *own = ctx;
  spin((unsigned)*own * 8);
  *own = 255; /* plain: seen after the wait */
}

static void race_with_time(void *ctx) {
  weft_opts opts = opts_on(ctx);
  for (unsigned long i = 0; i < scaled(1000); i++) {
    unsigned char own = (unsigned char)(i % 250);
    weft_handle *handle;
    uint64_t limit = i * 97 % 30000;
    CHECK_EQ(weft_async_with(&opts, &handle, spin_a_while, &own), 0);
    while (weft_handle_wait_for(handle, limit) == WEFT_EBUSY) limit = limit * 2 + 1;
    CHECK_EQ(own, 255);
  }
}

TEST(limits_race_with_the_end) {
  weft_pool *other = pool_of(2);
  for (unsigned threads = 1; threads <= 3; threads++) {
    weft_pool *pool = threads % 2 == 0 ? sleepy_pool_of(threads) : pool_of(threads);
    race_with_time(pool);
    weft_pool_run(pool, race_with_time, pool);
    run_on_started(pool, race_with_time, pool);
    run_on_started(other, race_with_time, pool);
    weft_pool_destroy(pool);
  }
  weft_pool_destroy(other);
}

/* ---- any of several ---- */

enum { SEVERAL = 9 };

/* Each order of ends: the one that is let go is the one that is found. */
TEST(the_one_that_is_done) {
  weft_pool *pool = pool_of(SEVERAL + 1); /* all can run at once */
  weft_opts opts = opts_on(pool);
  for (unsigned which = 0; which < SEVERAL; which++) {
    gate holds[SEVERAL] = {{0}};
    weft_handle *handles[SEVERAL];
    for (unsigned i = 0; i < SEVERAL; i++) {
      CHECK_EQ(weft_async_with(&opts, &handles[i], gate_pass, &holds[i]), 0);
      AWAIT(atomic_load(&holds[i].inside) == 1);
    }
    CHECK_EQ(weft_handle_wait_any_for(handles, SEVERAL, 1000), SIZE_MAX);
    gate_open(&holds[which]);
    CHECK_EQ(weft_handle_wait_any(handles, SEVERAL), which);
    CHECK_EQ(weft_handle_wait_any(handles, SEVERAL), which); /* frees none */
    CHECK(weft_handle_done(handles[which]));
    weft_handle *twice[] = {handles[(which + 1) % SEVERAL], handles[which],
                            handles[(which + 1) % SEVERAL], handles[which]};
    CHECK_EQ(weft_handle_wait_any(twice, 4), 1);
    weft_handle *same[] = {twice[0], twice[0]};
    CHECK_EQ(weft_handle_wait_any_for(same, 2, 1000), SIZE_MAX);
    gate_open(&holds[(which + 1) % SEVERAL]);
    CHECK_EQ(weft_handle_wait_any(same, 2), 0);
    for (unsigned i = 0; i < SEVERAL; i++) gate_open(&holds[i]);
    CHECK_EQ(weft_handle_wait_all(handles, SEVERAL), 0);
    for (unsigned i = 0; i < SEVERAL; i++) CHECK_EQ(atomic_load(&holds[i].left), 1);
  }
  weft_pool_destroy(pool);
}

/* One after the other, as they come; handles of two pools. */
static void take_as_they_come(void *ctx) {
  weft_pool *const *pools = ctx;
  for (unsigned long round = 0; round < scaled(200); round++) {
    weft_handle *handles[SEVERAL];
    unsigned char own[SEVERAL];
    unsigned number[SEVERAL];
    size_t n = 1 + round % SEVERAL;
    for (unsigned i = 0; i < n; i++) {
      weft_opts opts = opts_on(pools[i % 2]);
      own[i] = (unsigned char)((i * 7 + round) % 100);
      number[i] = i;
      CHECK_EQ(weft_async_with(&opts, &handles[i], spin_a_while, &own[i]), 0);
    }
    while (n > 0) {
      size_t i = round % 3 == 0 ? weft_handle_wait_any_for(handles, n, UINT64_MAX)
                                : weft_handle_wait_any(handles, n);
      REQUIRE(i < n);
      CHECK_EQ(own[number[i]], 255);
      CHECK_EQ(weft_handle_wait_for(handles[i], 0), 0);
      n--;
      handles[i] = handles[n];
      number[i] = number[n];
    }
  }
}

TEST(handles_as_they_come) {
  static const unsigned sizes[] = {1, 2, 3, 8, 64};
  weft_pool *third = sleepy_pool_of(2);
  for (unsigned s = 0; s < 5; s++) {
    weft_pool *pools[] = {sleepy_pool_of(sizes[s]), pool_of(2)};
    take_as_they_come(pools);
    weft_pool_run(pools[0], take_as_they_come, pools);
    run_on_started(pools[0], take_as_they_come, pools);
    run_on_started(third, take_as_they_come, pools);
    weft_pool_destroy(pools[0]);
    weft_pool_destroy(pools[1]);
  }
  weft_pool_destroy(third);
}

/* Several threads, each with handles of its own. */
static void *take_in_thread(void *arg) {
  take_as_they_come(arg);
  return NULL;
}

TEST(several_threads_wait_at_once) {
  enum { THREADS = 4 };
  pthread_t threads[THREADS];
  weft_pool *pools[] = {sleepy_pool_of(2), pool_of(3)};
  for (int t = 0; t < THREADS; t++)
    REQUIRE(pthread_create(&threads[t], NULL, take_in_thread, pools) == 0);
  for (int t = 0; t < THREADS; t++) pthread_join(threads[t], NULL);
  weft_pool_destroy(pools[0]);
  weft_pool_destroy(pools[1]);
}

/* What is waited for joins and spawns, and the waiting threads help. */
static void tree_of_8(void *ctx) {
  check_tree(8);
  mark(ctx);
}

static void wait_for_trees(void *ctx) {
  for (unsigned long i = 0; i < scaled(100); i++) {
    unsigned char marks[4] = {0};
    weft_handle *handles[4];
    for (int k = 0; k < 4; k++)
      CHECK_EQ(weft_async(&handles[k], tree_of_8, &marks[k]), 0);
    size_t first = weft_handle_wait_any(handles, 4);
    CHECK_EQ(marks[first], 1);
    CHECK_EQ(weft_handle_wait_all(handles, 4), 0);
    check_marks(marks, 4, 1);
  }
  (void)ctx;
}

TEST(waiting_threads_help) {
  in_pools(wait_for_trees, NULL);
  wait_for_trees(NULL); /* from outside: the global pool */
  weft_shutdown();
}

/* A thread of the pool that waits answers broadcasts, also if the limit is over as soon
 * as the wait begins, and also inside weft_isolate, where it does so because what it
 * waits for broadcasts. */
static void count_each(unsigned index, unsigned count, void *ctx) {
  CHECK(index < count);
  count_one(ctx);
}

static atomic_bool broadcast_begun;

static void broadcast_now(void *ctx) {
  atomic_store(&broadcast_begun, true);
  weft_broadcast(count_each, ctx);
}

static void wait_for_broadcast(void *ctx) {
  weft_handle *handle;
  CHECK_EQ(weft_async(&handle, broadcast_now, ctx), 0);
  CHECK_EQ(weft_handle_wait_any(&handle, 1), 0);
  CHECK_EQ(weft_handle_wait(handle), 0);
  for (uint64_t limit_ns = 1; limit_ns <= 1000; limit_ns *= 1000) {
    atomic_store(&broadcast_begun, false);
    CHECK_EQ(weft_async(&handle, broadcast_now, ctx), 0);
    AWAIT(atomic_load(&broadcast_begun)); /* on another thread */
    while (weft_handle_wait_for(handle, limit_ns) == WEFT_EBUSY) {
    }
  }
}

static void wait_isolated(void *ctx) {
  weft_isolate(wait_for_broadcast, ctx);
}

TEST(waiting_threads_answer_broadcasts) {
  atomic_ulong calls = 0;
  for (unsigned long i = 0; i < scaled(50); i++) {
    weft_pool *pool = pool_of(3);
    run_on_started(pool, wait_for_broadcast, &calls);
    run_on_started(pool, wait_isolated, &calls);
    weft_pool_run(pool, wait_for_broadcast, &calls);
    weft_pool_run(pool, wait_isolated, &calls);
    weft_pool_destroy(pool);
  }
}

/* ---- all of several ---- */

static void wait_for_all(void *ctx) {
  static const size_t counts[] = {0, 1, 2, 3, 10, 100};
  (void)ctx;
  for (unsigned c = 0; c < 6; c++) {
    size_t n = counts[c];
    unsigned char marks[100] = {0};
    weft_handle *handles[100];
    for (size_t i = 0; i < n; i++) CHECK_EQ(weft_async(&handles[i], mark, &marks[i]), 0);
    CHECK_EQ(weft_handle_wait_all(handles, n), 0);
    check_marks(marks, n, 1);
  }
}

TEST(all_of_several) {
  in_pools(wait_for_all, NULL);
  wait_for_all(NULL);
  CHECK_EQ(weft_handle_wait_all(NULL, 0), 0);
  CHECK_EQ(weft_handle_wait_all(NULL, 1), WEFT_EINVAL);
  atomic_ulong ran = 0;
  weft_handle *handles[] = {NULL, NULL};
  CHECK_EQ(weft_async(&handles[0], count_one, &ran), 0);
  CHECK_EQ(weft_handle_wait_all(handles, 2), WEFT_EINVAL); /* frees none */
  CHECK_EQ(weft_handle_wait_all(handles, 1), 0);
  CHECK_EQ(weft_handle_wait_for(NULL, 1), WEFT_EINVAL);
  weft_shutdown();
}

/* ---- misuse ---- */

static weft_handle *kept; /* where a leak checker finds it */

TEST_BY_NAME(any_of_none) {
  weft_handle_wait_any(&kept, 0);
}

TEST_BY_NAME(any_of_null) {
  weft_handle_wait_any(&kept, 1);
}

TEST_BY_NAME(any_of_no_array) {
  weft_handle_wait_any_for(NULL, 1, 1);
}

TEST_BY_NAME(all_with_one_twice) {
  weft_async(&kept, do_nothing, NULL);
  weft_handle *handles[] = {kept, kept};
  weft_handle_wait_all(handles, 2);
}

static void wait_for_itself(void *ctx) {
  atomic_bool *ready = ctx;
  AWAIT(atomic_load(ready));
  weft_handle_wait_for(kept, UINT64_MAX);
}

TEST_BY_NAME(wait_for_with_its_own_handle) {
  static atomic_bool ready;
  weft_async(&kept, wait_for_itself, &ready);
  atomic_store(&ready, true);
  AWAIT(false);
}

static gate kept_hold;

static void *wait_any_for_ever(void *arg) {
  weft_handle_wait_any(&kept, 1);
  return arg;
}

TEST_BY_NAME(any_by_two_threads) {
  pthread_t thread;
  weft_async(&kept, gate_pass, &kept_hold);
  REQUIRE(pthread_create(&thread, NULL, wait_any_for_ever, NULL) == 0);
  wait_any_for_ever(NULL);
}

TEST(misuse_is_reported) {
  static const struct {
    const char *test, *call;
  } table[] = {{"any_of_none", "weft_handle_wait_any"},
               {"any_of_null", "weft_handle_wait_any"},
               {"any_of_no_array", "weft_handle_wait_any_for"},
               {"all_with_one_twice", "weft_handle_wait_all"},
               {"wait_for_with_its_own_handle", "weft_handle_wait_for"},
               {"any_by_two_threads", "weft_handle_wait_any"}};
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    char output[8192], expected[64];
    int status = harness_run_self("ulimit -c 0;", table[i].test, output, sizeof output);
    snprintf(expected, sizeof expected, "weft: %s: ", table[i].call);
    CHECK_MSG(status == 128 + SIGABRT && strstr(output, expected) != NULL,
              "%s ended with %d: %s", table[i].test, status, output);
  }
}
