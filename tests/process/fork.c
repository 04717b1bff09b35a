/* fork by threads that are in no pool: the child can use weft at once, with threads of
 * its own, whatever the parent's pools were doing; the parent notices nothing.
 *
 * Which state meets which use is in fork_matrix.c, forks inside tasks in fork_inside.c.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "support.h"

#include <spawn.h>

extern char **environ;

static void init_global(unsigned threads, weft_idle idle) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = threads;
  config.idle = idle;
  REQUIRE(weft_init(&config) == 0);
}

/* ---- the parent is undisturbed ---- */

static bool do_not_use(void *arg) {
  (void)arg;
  return true;
}

TEST(many_forks_do_not_disturb_a_busy_parent) {
  static load busy;
  unsigned baseline = harness_thread_count();
  init_global(3, WEFT_IDLE_DEFAULT);
  load_start(&busy, NULL);
  unsigned with_load = harness_thread_count();
  for (unsigned i = 0; i < 1000 / harness_slowdown(); i++) {
    CHECK_EQ(run_child(do_not_use, NULL), 0);
    if (i % 100 == 0) everything_is_right();
  }
  CHECK_EQ(harness_thread_count(), with_load);
  load_stop(&busy);
  CHECK_EQ(harness_thread_count(), baseline + 2);
  pair_in(NULL); /* the threads still come when they are needed */
  weft_shutdown();
  CHECK_EQ(harness_thread_count(), baseline);
}

/* The threads of the parent fall asleep and are woken between the forks. */
TEST(many_forks_do_not_disturb_a_sleepy_parent) {
  unsigned baseline = harness_thread_count();
  init_global(4, WEFT_IDLE_POWER_SAVING);
  for (unsigned i = 0; i < 300 / harness_slowdown(); i++) {
    if (i % 2 == 0) AWAIT(all_asleep(weft_pool_current()));
    pid_t child = fork_here();
    if (child == 0) _exit(0);
    everything_is_right(); /* while the child is there */
    pair_in(NULL);
    CHECK_EQ(wait_for_child(child), 0);
  }
  CHECK_EQ(harness_thread_count(), baseline + 3);
  weft_shutdown();
  CHECK_EQ(harness_thread_count(), baseline);
}

/* fork is not the only way to a child, and the others call no handlers. */
static void spawn_true(void) {
  char *arguments[] = {(char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c",
                       (char *)(uintptr_t) "exit 7", NULL};
  pid_t child;
  REQUIRE(posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ) == 0);
  CHECK_EQ(wait_for_child(child), 7);
}

TEST(other_ways_to_start_a_process_from_a_busy_parent) {
  static load busy;
  init_global(3, WEFT_IDLE_DEFAULT);
  load_start(&busy, NULL);
  for (unsigned i = 0; i < 50 / harness_slowdown() + 1; i++) {
    spawn_true();
    int status = system("exit 9");
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 9);
  }
  load_stop(&busy);
  weft_shutdown();
}

/* ---- children that use what they inherit ---- */

/* The child begins with one thread and without the watchdog that the count leaves out. */
enum { ALONE = 0 };

static bool check_threads_of_child(void *arg) {
  weft_pool *pool = arg;
  bool right = CHECK_EQ(harness_thread_count(), ALONE); /* the fork has started none */
  right = tree_is_right(6) && right;                    /* the global pool: two */
  right = CHECK_EQ(harness_thread_count(), ALONE + 2) && right;
  right = everything_is_right_in(pool) && right; /* four more */
  right = CHECK_EQ(harness_thread_count(), ALONE + 6) && right;
  weft_pool_destroy(pool);
  right = CHECK_EQ(harness_thread_count(), ALONE + 2) && right;
  weft_shutdown();
  return CHECK_EQ(harness_thread_count(), ALONE) && right;
}

TEST(children_start_threads_on_first_use_and_end_them) {
  if (!children_may_start_threads()) return;
  init_global(3, WEFT_IDLE_DEFAULT);
  weft_pool *pool = pool_of(5);
  for (int i = 0; i < 10; i++) {
    CHECK_EQ(run_child(check_threads_of_child, pool), 0);
    everything_is_right();
    everything_is_right_in(pool);
  }
  weft_pool_destroy(pool);
  weft_shutdown();
}

/* Threads of the child really work at once, and sleep and wake. */
static bool pair_in_child(void *arg) {
  weft_pool *pool = arg;
  for (int i = 0; i < 20; i++) {
    pair_in(pool);
    pair_in(NULL);
  }
  AWAIT(all_asleep(pool));
  pair_in(pool);
  return everything_is_right_in(pool) && everything_is_right();
}

TEST(children_work_in_parallel) {
  if (!children_may_start_threads()) return;
  init_global(3, WEFT_IDLE_POWER_SAVING);
  weft_pool *pool = sleepy_pool_of(3);
  for (unsigned i = 0; i < 30 / harness_slowdown(); i++) {
    CHECK_EQ(run_child(pair_in_child, pool), 0);
    pair_in(pool);
    if (i % 2 == 0) AWAIT(all_asleep(pool));
  }
  weft_pool_destroy(pool);
  weft_shutdown();
}

/* A pool keeps its configuration. */
static atomic_ulong hooks_run;

static void count_hook(unsigned worker, void *ctx) {
  (void)worker;
  atomic_fetch_add((atomic_ulong *)ctx, 1);
}

static bool check_configuration(void *arg) {
  weft_pool *pool = arg;
  atomic_store(&hooks_run, 0);
  bool right = everything_is_right_in(pool);
  weft_pool_destroy(pool);
  /* Each of the three threads of the child has run both hooks. */
  return CHECK_EQ(atomic_load(&hooks_run), 6) && right;
}

TEST(inherited_pools_keep_their_configuration) {
  if (!children_may_start_threads()) return;
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = 4;
  config.guests = 1;
  config.on_start = config.on_exit = count_hook;
  config.hook_ctx = &hooks_run;
  weft_pool *pool = pool_with(&config);
  everything_is_right_in(pool);
  CHECK_EQ(run_child(check_configuration, pool), 0);
  everything_is_right_in(pool);
  weft_pool_destroy(pool);
}

/* ---- work that waits in the parent stays there ---- */

enum { QUEUED = 10000 };

typedef struct queue {
  weft_pool *pool;
  atomic_bool open; /* until then the threads of the pool are kept busy */
  atomic_ulong ran;
} queue;

static void fill_queue(queue *q, unsigned threads) {
  q->pool = pool_of(threads);
  atomic_init(&q->open, false);
  atomic_init(&q->ran, 0);
  for (unsigned i = 0; i < wf_pool_started(q->pool); i++)
    CHECK_EQ(weft_pool_detach(q->pool, spin_until_true, &q->open), 0);
  for (int i = 0; i < QUEUED; i++)
    CHECK_EQ(weft_pool_detach(q->pool, count_one, &q->ran), 0);
}

/* What the child detaches comes through, past what is in the queue of the parent. */
static bool use_beside_queue(void *arg) {
  queue *q = arg;
  bool right = everything_is_right_in(q->pool);
  pair_in(q->pool);
  right = CHECK_EQ(atomic_load(&q->ran), 0) && right;
  weft_pool_destroy(q->pool);
  return CHECK_EQ(atomic_load(&q->ran), 0) && right;
}

static bool destroy_with_queue(void *arg) {
  queue *q = arg;
  weft_pool_destroy(q->pool);
  return CHECK_EQ(atomic_load(&q->ran), 0);
}

TEST(queued_work_of_the_parent_is_not_run_in_the_child) {
  if (!children_may_start_threads()) return;
  for (unsigned threads = 2; threads <= 3; threads++) {
    queue q;
    fill_queue(&q, threads);
    for (int i = 0; i < 5; i++) {
      CHECK_EQ(run_child(use_beside_queue, &q), 0);
      CHECK_EQ(run_child(destroy_with_queue, &q), 0);
    }
    atomic_store(&q.open, true);
    weft_pool_destroy(q.pool);
    CHECK_EQ(atomic_load(&q.ran), QUEUED);
  }
}

/* ---- handles of the parent ---- */

/* One function that runs until it is told to stop, and one that waits behind it. */
typedef struct handles {
  weft_handle *running, *waiting;
  atomic_bool began, stop;
  atomic_ulong ran;
} handles;

static void begin_and_wait(void *ctx) {
  handles *all = ctx;
  atomic_store(&all->began, true);
  AWAIT(atomic_load(&all->stop));
}

static bool drop_handles(void *arg) {
  handles *all = arg;
  weft_handle_drop(all->running);
  weft_handle_drop(all->waiting);
  return everything_is_right();
}

/* Nobody will ever finish the one that runs; the other may be run here, or be lost. What
 * the child gets is a result or an end with a message, and no hang. */
static bool wait_for_running(void *arg) {
  handles *all = arg;
  REQUIRE(freopen("/dev/null", "w", stderr) != NULL);
  weft_handle_wait(all->running);
  return false;
}

static bool wait_for_waiting(void *arg) {
  handles *all = arg;
  REQUIRE(freopen("/dev/null", "w", stderr) != NULL);
  return weft_handle_wait(all->waiting) == 0 && atomic_load(&all->ran) == 1;
}

TEST(handles_of_the_parent_do_not_hang_the_child) {
  if (!children_may_start_threads()) return;
  init_global(2, WEFT_IDLE_DEFAULT);
  for (int i = 0; i < 5; i++) {
    handles all = {.running = NULL};
    CHECK_EQ(weft_async(&all.running, begin_and_wait, &all), 0);
    AWAIT(atomic_load(&all.began));
    CHECK_EQ(weft_async(&all.waiting, count_one, &all.ran), 0);
    CHECK_EQ(run_child(drop_handles, &all), 0);
    CHECK_EQ(run_child(wait_for_running, &all), ABORTED);
    int result = run_child(wait_for_waiting, &all);
    CHECK_MSG(result == 0 || result == ABORTED, "%d", result);
    atomic_store(&all.stop, true);
    CHECK_EQ(weft_handle_wait(all.running), 0);
    CHECK_EQ(weft_handle_wait(all.waiting), 0);
    CHECK_EQ(atomic_load(&all.ran), 1);
  }
  weft_shutdown();
}

/* ---- generations ---- */

static bool next_generation(void *arg) {
  unsigned left = *(const unsigned *)arg;
  bool right = left % 2 == 1 || everything_is_right(); /* some only hand it on */
  if (left > 0) {
    unsigned next = left - 1;
    right = CHECK_EQ(run_child(next_generation, &next), 0) && right;
    right = everything_is_right() && right; /* as a parent */
  }
  if (left % 3 == 0) weft_shutdown();
  return right;
}

TEST(children_of_children) {
  if (!children_may_start_threads()) return;
  for (unsigned depth = 1; depth <= 6; depth++) {
    CHECK_EQ(run_child(next_generation, &depth), 0);
    everything_is_right();
  }
  weft_shutdown();
  CHECK_EQ(run_child(next_generation, &(unsigned){4}), 0); /* of a pool that has ended */
}

/* ---- children of a parent at full work ---- */

typedef struct family {
  weft_pool *pool;
  unsigned children;
} family;

static bool use_both_pools(void *arg) {
  const family *f = arg;
  bool right = everything_is_right() && everything_is_right_in(f->pool);
  weft_pool_destroy(f->pool);
  weft_shutdown();
  return right && everything_is_right();
}

TEST(children_of_a_busy_parent_use_everything) {
  if (!children_may_start_threads()) return;
  static load global_load, own_load;
  init_global(3, WEFT_IDLE_DEFAULT);
  family f = {sleepy_pool_of(3), 0}; /* its threads sleep and wake all the time */
  load_start(&global_load, NULL);
  load_start(&own_load, f.pool);
  for (unsigned i = 0; i < 50 / harness_slowdown(); i++)
    CHECK_EQ(run_child(use_both_pools, &f), 0);
  load_stop(&own_load);
  load_stop(&global_load);
  weft_pool_destroy(f.pool);
  weft_shutdown();
}

static void have_children(unsigned index, void *arg) {
  family *f = arg;
  for (unsigned i = 0; i < f->children; i++) {
    CHECK_EQ(run_child(use_everything, NULL), 0);
    if ((i + index) % 2 == 0)
      everything_is_right();
    else
      everything_is_right_in(f->pool);
  }
}

TEST(several_threads_fork_at_the_same_time) {
  if (!children_may_start_threads()) return;
  init_global(3, WEFT_IDLE_DEFAULT);
  family f = {pool_of(2), 30 / harness_slowdown()};
  harness_run_threads(4, have_children, &f);
  weft_pool_destroy(f.pool);
  weft_shutdown();
}

/* ---- children of a parent that makes and ends pools ---- */

static atomic_bool stop_churning;

static void *churn(void *arg) {
  (void)arg;
  while (!atomic_load(&stop_churning)) {
    weft_pool *pool = pool_of(2);
    tree_is_right(4);
    check_tree_in(pool, 4);
    weft_shutdown();
    weft_pool_destroy(pool);
  }
  return NULL;
}

/* The fork comes at any moment of the life of a pool, whose locks the child inherits. */
TEST(children_of_a_parent_whose_pools_come_and_go) {
  if (!children_may_start_threads()) return;
  pthread_t churner;
  atomic_store(&stop_churning, false);
  REQUIRE(pthread_create(&churner, NULL, churn, NULL) == 0);
  for (int i = 0; i < 300; i++) CHECK_EQ(run_child(use_everything, NULL), 0);
  atomic_store(&stop_churning, true);
  pthread_join(churner, NULL);
  weft_shutdown();
}
