/* Pools of pthreadpool.h: creating, numbers of threads, callers at the same time, calls
 * from inside, functions that wait, executors, flags, misuse.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "harness/harness.h"

#include <core/atomic.h>
#include <float.h>
#include <pthread.h>
#include <pthreadpool.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <weft.h>

#define THREADS 4

static void add_one(void *context, size_t i) {
  (void)i;
  (void)wf_u32_fetch_add_relaxed(context, 1);
}

/* How often a call with this range runs its function. */
static uint32_t count_1d(pthreadpool_t pool, size_t range) {
  wf_u32 count = {0};
  pthreadpool_parallelize_1d(pool, add_one, &count, range, 0);
  return wf_u32_load_relaxed(&count);
}

/* ---- creating ---- */

TEST(sizes_of_pools) {
  static const size_t sizes[] = {1, 2, 3, 17};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    pthreadpool_t pool = pthreadpool_create(sizes[i]);
    REQUIRE(pool != NULL);
    CHECK_EQ(pthreadpool_get_threads_count(pool), sizes[i]);
    CHECK_EQ(harness_thread_count(), sizes[i]);
    CHECK_EQ(count_1d(pool, 1000), 1000);
    pthreadpool_destroy(pool);
    CHECK_EQ(harness_thread_count(), 1);
  }
  pthreadpool_t pool = pthreadpool_create(0);
  REQUIRE(pool != NULL);
  CHECK(pthreadpool_get_threads_count(pool) >= 1);
  CHECK_EQ(count_1d(pool, 1000), 1000);
  pthreadpool_destroy(pool);
}

TEST(null_and_too_many) {
  CHECK_EQ(pthreadpool_get_threads_count(NULL), 1);
  CHECK_EQ(pthreadpool_set_threads_count(NULL, 5), 1);
  CHECK_EQ(count_1d(NULL, 77), 77);
  pthreadpool_release_executor_threads(NULL);
  pthreadpool_destroy(NULL);
  CHECK(pthreadpool_create(WEFT_MAX_THREADS + 1) == NULL);
  CHECK(pthreadpool_create(SIZE_MAX) == NULL);
  CHECK(!pthreadpool_update_executor(NULL, NULL, NULL));
}

/* ---- numbers of threads ---- */

struct numbers {
  size_t limit;
  wf_u32 wrong;
  wf_u32 busy[THREADS];
};

static void take_number(void *context, size_t thread, size_t i) {
  struct numbers *numbers = context;
  (void)i;
  /* Pairs with the release below, of another function with this number. */
  if (thread >= numbers->limit || wf_u32_exchange_acquire(&numbers->busy[thread], 1)) {
    (void)wf_u32_fetch_add_relaxed(&numbers->wrong, 1);
    return;
  }
  /* Pairs with the acquire above. */
  (void)wf_u32_exchange_release(&numbers->busy[thread], 0);
}

TEST(set_threads_count) {
  pthreadpool_t pool = pthreadpool_create(THREADS);
  for (size_t set = 0; set <= 2 * THREADS; set++) {
    size_t expected = set == 0 || set > THREADS ? THREADS : set;
    CHECK_EQ(pthreadpool_set_threads_count(pool, set), expected);
    CHECK_EQ(pthreadpool_get_threads_count(pool), expected);
    struct numbers numbers = {.limit = expected};
    for (int i = 0; i < 20; i++) {
      pthreadpool_parallelize_1d_with_thread(pool, take_number, &numbers, 100, 0);
    }
    CHECK_EQ(wf_u32_load_relaxed(&numbers.wrong), 0);
  }
  pthreadpool_destroy(pool);
}

struct callers {
  pthreadpool_t pool;
  struct numbers numbers;
  wf_u32 count;
};

static void call_often(unsigned index, void *arg) {
  struct callers *callers = arg;
  for (int i = 0; i < 50; i++) {
    pthreadpool_parallelize_1d_with_thread(callers->pool, take_number, &callers->numbers,
                                           20 + index, 0);
    (void)wf_u32_fetch_add_relaxed(&callers->count, count_1d(callers->pool, 10));
  }
}

/* Numbers are unique among all calls of a pool, because calls take turns. */
TEST(callers_take_turns) {
  struct callers callers = {pthreadpool_create(THREADS), {.limit = THREADS}, {0}};
  harness_run_threads(5, call_often, &callers);
  CHECK_EQ(wf_u32_load_relaxed(&callers.numbers.wrong), 0);
  CHECK_EQ(wf_u32_load_relaxed(&callers.count), 5 * 50 * 10);
  pthreadpool_destroy(callers.pool);
}

/* ---- functions that wait ---- */

struct crowd {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  size_t here, total;
};

/* Item 0 waits until all others are done: nobody may have it and keep others back. */
static void wait_for_all(void *context, size_t i, size_t count) {
  struct crowd *crowd = context;
  (void)pthread_mutex_lock(&crowd->lock);
  crowd->here += count;
  (void)pthread_cond_broadcast(&crowd->changed);
  while (i == 0 && crowd->here < crowd->total) {
    (void)pthread_cond_wait(&crowd->changed, &crowd->lock);
  }
  (void)pthread_mutex_unlock(&crowd->lock);
}

/* Waits until as many functions as there are threads run at the same time. */
static void meet_all(void *context, size_t i) {
  (void)i;
  struct crowd *crowd = context;
  (void)pthread_mutex_lock(&crowd->lock);
  crowd->here++;
  (void)pthread_cond_broadcast(&crowd->changed);
  while (crowd->here < crowd->total) {
    (void)pthread_cond_wait(&crowd->changed, &crowd->lock);
  }
  (void)pthread_mutex_unlock(&crowd->lock);
}

static struct crowd crowd_of(size_t total) {
  return (struct crowd){PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, total};
}

TEST(a_function_that_waits_for_the_others) {
  pthreadpool_t pool = pthreadpool_create(2);
  for (int i = 0; i < 50; i++) {
    struct crowd crowd = crowd_of(103);
    pthreadpool_parallelize_1d_tile_1d(pool, wait_for_all, &crowd, 103, 4, 0);
    CHECK_EQ(crowd.here, 103);
    crowd = crowd_of(103);
    pthreadpool_parallelize_1d_tile_1d_dynamic(pool, wait_for_all, &crowd, 103, 4, 0);
    CHECK_EQ(crowd.here, 103);
  }
  pthreadpool_destroy(pool);
}

TEST(all_threads_at_the_same_time) {
  pthreadpool_t pool = pthreadpool_create(THREADS);
  for (int i = 0; i < 50; i++) {
    struct crowd crowd = crowd_of(THREADS);
    pthreadpool_parallelize_1d(pool, meet_all, &crowd, THREADS, 0);
    CHECK_EQ(crowd.here, THREADS);
  }
  pthreadpool_destroy(pool);
}

/* ---- calls from inside ---- */

struct nested {
  pthreadpool_t pool, other;
  wf_u32 count;
  wf_u32 wrong;
};

static void inner(void *context, size_t thread, size_t i) {
  struct nested *nested = context;
  (void)i;
  if (thread >= THREADS) (void)wf_u32_fetch_add_relaxed(&nested->wrong, 1);
  (void)wf_u32_fetch_add_relaxed(&nested->count, 1);
}

/* A pool inside another one leads back to the first. */
static void back_again(void *context, size_t i) {
  struct nested *nested = context;
  (void)i;
  pthreadpool_parallelize_1d_with_thread(nested->pool, inner, nested, 5, 0);
}

static void outer(void *context, size_t i) {
  struct nested *nested = context;
  (void)i;
  pthreadpool_parallelize_1d_with_thread(nested->pool, inner, nested, 5, 0);
  pthreadpool_parallelize_1d(nested->other, back_again, nested, 3, 0);
  if (pthreadpool_set_threads_count(nested->pool, 1) != THREADS)
    (void)wf_u32_fetch_add_relaxed(&nested->wrong, 1);
}

TEST(calls_from_inside_do_not_hang) {
  struct nested nested = {pthreadpool_create(THREADS), pthreadpool_create(2), {0}, {0}};
  pthreadpool_parallelize_1d(nested.pool, outer, &nested, 40, 0);
  CHECK_EQ(wf_u32_load_relaxed(&nested.count), 40 * (5 + 3 * 5));
  CHECK_EQ(wf_u32_load_relaxed(&nested.wrong), 0);
  pthreadpool_destroy(nested.other);
  pthreadpool_destroy(nested.pool);
}

static void from_a_task(void *context) {
  (void)count_1d(context, 100);
}

/* Tasks of weft may call, also when the scope around them is cancelled. */
TEST(calls_from_tasks_of_weft) {
  pthreadpool_t pool = pthreadpool_create(THREADS);
  weft_scope scope;
  weft_scope_begin(&scope);
  for (int i = 0; i < 20; i++) weft_spawn(&scope, from_a_task, pool);
  CHECK_EQ(count_1d(pool, 100), 100);
  weft_scope_cancel(&scope, 1);
  CHECK_EQ(count_1d(pool, 100), 100);
  CHECK_EQ(weft_scope_end(&scope), 1);
  pthreadpool_destroy(pool);
  weft_shutdown();
}

/* ---- executors ---- */

/* Threads of the test, with a queue. `held` keeps tasks back. */
struct executor {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  struct {
    void (*task)(void *);
    void *context;
  } queue[64];
  size_t first, last, given;
  bool held, ends;
  int threads;
};

static int executor_threads(void *context) {
  return ((struct executor *)context)->threads;
}

static void executor_schedule(void *context, void *task_context, void (*task)(void *)) {
  struct executor *executor = context;
  (void)pthread_mutex_lock(&executor->lock);
  REQUIRE(executor->last - executor->first < 64);
  executor->queue[executor->last % 64].task = task;
  executor->queue[executor->last++ % 64].context = task_context;
  executor->given++;
  (void)pthread_cond_broadcast(&executor->changed);
  (void)pthread_mutex_unlock(&executor->lock);
}

static void *executor_main(void *arg) {
  struct executor *executor = arg;
  (void)pthread_mutex_lock(&executor->lock);
  for (;;) {
    while ((executor->first == executor->last || executor->held) && !executor->ends) {
      (void)pthread_cond_wait(&executor->changed, &executor->lock);
    }
    if (executor->first == executor->last) break;
    size_t i = executor->first++ % 64;
    void (*task)(void *) = executor->queue[i].task;
    void *context = executor->queue[i].context;
    (void)pthread_mutex_unlock(&executor->lock);
    task(context);
    (void)pthread_mutex_lock(&executor->lock);
  }
  (void)pthread_mutex_unlock(&executor->lock);
  return NULL;
}

static void executor_set(struct executor *executor, bool held, bool ends) {
  (void)pthread_mutex_lock(&executor->lock);
  executor->held = held;
  executor->ends = ends;
  (void)pthread_cond_broadcast(&executor->changed);
  (void)pthread_mutex_unlock(&executor->lock);
}

static struct pthreadpool_executor functions = {executor_threads, executor_schedule};

#define LENT 3

static void executor_start(struct executor *executor, pthread_t *threads) {
  *executor = (struct executor){.lock = PTHREAD_MUTEX_INITIALIZER,
                                .changed = PTHREAD_COND_INITIALIZER,
                                .threads = LENT};
  for (int i = 0; i < LENT; i++) {
    REQUIRE(pthread_create(&threads[i], NULL, executor_main, executor) == 0);
  }
}

static void executor_end(struct executor *executor, pthread_t *threads) {
  executor_set(executor, false, true);
  for (int i = 0; i < LENT; i++) (void)pthread_join(threads[i], NULL);
}

TEST(threads_of_an_executor) {
  static struct executor executor;
  pthread_t threads[LENT];
  executor_start(&executor, threads);
  pthreadpool_t pool = pthreadpool_create_v2(&functions, &executor, 100);
  REQUIRE(pool != NULL);
  CHECK_EQ(pthreadpool_get_threads_count(pool), LENT + 1);
  for (int i = 0; i < 200; i++) {
    CHECK_EQ(count_1d(pool, 100), 100);
    struct crowd crowd = crowd_of(LENT + 1);
    pthreadpool_parallelize_1d(pool, meet_all, &crowd, LENT + 1, 0);
    struct numbers numbers = {.limit = LENT + 1};
    pthreadpool_parallelize_1d_with_thread(pool, take_number, &numbers, 100, 0);
    CHECK_EQ(wf_u32_load_relaxed(&numbers.wrong), 0);
  }
  pthreadpool_release_executor_threads(pool);
  pthreadpool_destroy(pool);
  executor_end(&executor, threads);
}

/* Tasks that never begin hold up no call, are not asked for again, and join a later call;
 * pthreadpool_destroy waits for them. */
TEST(an_executor_that_is_late) {
  static struct executor executor;
  pthread_t threads[LENT];
  executor_start(&executor, threads);
  executor_set(&executor, true, false);
  pthreadpool_t pool = pthreadpool_create_v2(&functions, &executor, LENT + 1);
  for (int i = 0; i < 20; i++) CHECK_EQ(count_1d(pool, 100), 100);
  CHECK_EQ(executor.given, LENT);
  executor_set(&executor, false, false);
  struct crowd crowd = crowd_of(LENT + 1);
  pthreadpool_parallelize_1d(pool, meet_all, &crowd, LENT + 1, 0);
  executor_set(&executor, true, false);
  CHECK_EQ(count_1d(pool, 100), 100);
  executor_set(&executor, false, false);
  pthreadpool_destroy(pool);
  executor_end(&executor, threads);
}

static void schedule_at_once(void *context, void *task_context, void (*task)(void *)) {
  (void)wf_u32_fetch_add_relaxed(context, 1);
  task(task_context);
}

static int five_threads(void *context) {
  (void)context;
  return 5;
}

static int no_threads(void *context) {
  (void)context;
  return -1;
}

TEST(executors_that_run_tasks_at_once_or_have_no_threads) {
  struct pthreadpool_executor at_once = {five_threads, schedule_at_once};
  struct pthreadpool_executor none = {no_threads, schedule_at_once};
  wf_u32 given = {0}, other = {0};
  pthreadpool_t pool = pthreadpool_create_v2(&at_once, &given, 3);
  CHECK_EQ(pthreadpool_get_threads_count(pool), 3);
  CHECK_EQ(count_1d(pool, 100), 100);
  CHECK_EQ(wf_u32_load_relaxed(&given), 2);
  CHECK(!pthreadpool_update_executor(pool, &at_once, &given));
  CHECK(!pthreadpool_update_executor(pool, NULL, &given));
  CHECK(pthreadpool_update_executor(pool, &at_once, &other));
  CHECK_EQ(count_1d(pool, 100), 100);
  CHECK_EQ(wf_u32_load_relaxed(&given), 2);
  CHECK_EQ(wf_u32_load_relaxed(&other), 2);
  pthreadpool_destroy(pool);
  pool = pthreadpool_create_v2(&none, &given, 0);
  CHECK_EQ(pthreadpool_get_threads_count(pool), 1);
  CHECK_EQ(count_1d(pool, 100), 100);
  pthreadpool_destroy(pool);
  /* A pool with threads of weft can be given an executor later. */
  pool = pthreadpool_create(THREADS);
  CHECK(pthreadpool_update_executor(pool, &at_once, &other));
  CHECK_EQ(count_1d(pool, 100), 100);
  CHECK_EQ(wf_u32_load_relaxed(&other), 2 + THREADS - 1);
  pthreadpool_destroy(pool);
}

/* ---- flags ---- */

#if defined(__x86_64__) || defined(__aarch64__)

static volatile float tiny = FLT_MIN;

static bool has_denormals(void) {
  volatile float half = tiny / 2;
  return half != 0;
}

struct flush {
  struct crowd crowd;
  wf_u32 with_denormals;
};

static void look(void *context, size_t i) {
  struct flush *flush = context;
  if (has_denormals()) (void)wf_u32_fetch_add_relaxed(&flush->with_denormals, 1);
  meet_all(&flush->crowd, i);
}

TEST(denormals_are_off_during_a_call) {
  pthreadpool_t pool = pthreadpool_create(THREADS);
  for (uint32_t i = 0; i < 20; i++) {
    for (size_t range = 1; range <= THREADS; range += THREADS - 1) {
      uint32_t flags = i % 2 == 0 ? PTHREADPOOL_FLAG_DISABLE_DENORMALS : 0;
      struct flush flush = {crowd_of(range), {0}};
      pthreadpool_parallelize_1d(pool, look, &flush, range,
                                 flags | PTHREADPOOL_FLAG_YIELD_WORKERS);
      CHECK_EQ(wf_u32_load_relaxed(&flush.with_denormals), flags != 0 ? 0 : range);
      CHECK(has_denormals());
    }
  }
  pthreadpool_destroy(pool);
}

#endif

/* ---- misuse ---- */

static void two(void *context, size_t i, size_t j) {
  (void)context;
  (void)i;
  (void)j;
}

TEST_BY_NAME(null_function) {
  pthreadpool_parallelize_1d(NULL, NULL, NULL, 1, 0);
}

TEST_BY_NAME(tile_of_zero) {
  pthreadpool_parallelize_1d_tile_1d(NULL, two, NULL, 100, 0, 0);
}

TEST_BY_NAME(grid_too_large) {
  pthreadpool_parallelize_2d(NULL, two, NULL, SIZE_MAX / 2, 2, 0);
}

static void destroy_own(void *context, size_t i) {
  (void)i;
  pthreadpool_destroy(context);
}

TEST_BY_NAME(destroyed_from_inside) {
  pthreadpool_t pool = pthreadpool_create(2);
  pthreadpool_parallelize_1d(pool, destroy_own, pool, 2, 0);
}

TEST(misuse_is_reported) {
  static const struct {
    const char *test, *message;
  } table[] = {
      {"null_function", "weft: pthreadpool_parallelize_1d: a NULL function"},
      {"tile_of_zero", "weft: pthreadpool_parallelize_1d_tile_1d: a tile of 0"},
      {"grid_too_large", "weft: pthreadpool_parallelize_2d: a grid of more than"},
      {"destroyed_from_inside", "weft: pthreadpool_destroy: called by a function"},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    char output[4096];
    int status = harness_run_self("ulimit -c 0;", table[i].test, output, sizeof output);
    CHECK_EQ(status, 128 + SIGABRT);
    CHECK_MSG(strstr(output, table[i].message) != NULL, "%s: %s", table[i].test, output);
  }
}
