/* The life of pools: creation and destruction with any number of threads, the global
 * pool, configuration, hooks, names and stacks of threads, and what misuse leads to.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "support.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static const unsigned SIZES[] = {1, 2, 3, 8, 64};
enum { SIZE_COUNT = sizeof SIZES / sizeof SIZES[0] };

/* ---- V1: create and destroy ---- */

TEST(v1_pool_lifecycle) {
  unsigned baseline = harness_thread_count();
  for (unsigned i = 0; i < SIZE_COUNT; i++) {
    unsigned threads = SIZES[i];
    weft_pool *pool = pool_of(threads);
    unsigned started = threads > 1 ? threads - 1 : 1;
    CHECK_EQ(wf_pool_started(pool), started);
    CHECK_EQ(harness_thread_count(), baseline + started);
    weft_pool_destroy(pool);
    CHECK_EQ(harness_thread_count(), baseline);
  }
}

TEST(v1_destroy_of_nothing) {
  weft_pool_destroy(NULL);
}

TEST(v1_create_destroy_cycles) {
  unsigned baseline = harness_thread_count();
  for (unsigned long i = 0; i < scaled(2000); i++) {
    weft_pool *pool = pool_of((unsigned)(i % 4) + 1);
    if (i % 2 == 0) check_tree_in(pool, 4);
    weft_pool_destroy(pool);
  }
  CHECK_EQ(harness_thread_count(), baseline);
}

/* Several pools at once, destroyed in another order than they were made. */
TEST(v1_pools_side_by_side) {
  weft_pool *pools[SIZE_COUNT];
  unsigned baseline = harness_thread_count();
  for (unsigned i = 0; i < SIZE_COUNT; i++) pools[i] = pool_of(SIZES[i]);
  for (unsigned i = 0; i < SIZE_COUNT; i++) check_tree_in(pools[i], 8);
  for (unsigned i = 0; i < SIZE_COUNT; i += 2) weft_pool_destroy(pools[i]);
  for (unsigned i = 1; i < SIZE_COUNT; i += 2) check_tree_in(pools[i], 8);
  for (unsigned i = 1; i < SIZE_COUNT; i += 2) weft_pool_destroy(pools[i]);
  CHECK_EQ(harness_thread_count(), baseline);
}

static void create_and_destroy(unsigned index, void *arg) {
  (void)arg;
  for (unsigned long i = 0; i < scaled(200); i++) {
    weft_pool *pool = pool_of(index % 3 + 1);
    check_tree_in(pool, 5);
    weft_pool_destroy(pool);
  }
}

TEST(v1_pools_of_many_threads) {
  unsigned baseline = harness_thread_count();
  harness_run_threads(6, create_and_destroy, NULL);
  CHECK_EQ(harness_thread_count(), baseline);
}

/* ---- V26: the end comes to sleeping, sleepy and busy workers ---- */

TEST(v26_end_while_all_sleep) {
  for (unsigned long i = 0; i < scaled(500); i++) {
    weft_pool *pool = sleepy_pool_of((unsigned)(i % 4) + 1);
    AWAIT(all_asleep(pool));
    weft_pool_destroy(pool);
  }
}

/* The moment of the end walks over the time in which the workers get sleepy. */
TEST(v26_end_while_getting_sleepy) {
  uint64_t random = harness_seed();
  for (unsigned long i = 0; i < scaled(2000); i++) {
    weft_pool *pool = sleepy_pool_of((unsigned)(i % 3) + 2);
    uint64_t spins = harness_random(&random) % 20000;
    for (uint64_t spin = 0; spin < spins; spin++) wf_sys_relax();
    weft_pool_destroy(pool);
  }
}

static void count_after_a_tree(void *ctx) {
  check_tree(6);
  count_one(ctx);
}

TEST(v26_end_while_busy_drops_nothing) {
  for (unsigned long i = 0; i < scaled(500); i++) {
    enum { JOBS = 20 };
    atomic_ulong done = 0;
    weft_pool *pool = pool_of((unsigned)(i % 4) + 1);
    for (int job = 0; job < JOBS; job++)
      CHECK_EQ(weft_pool_detach(pool, count_after_a_tree, &done), 0);
    weft_pool_destroy(pool);
    CHECK_EQ(atomic_load(&done), JOBS);
  }
}

/* ---- the global pool ---- */

TEST(global_pool_starts_on_first_join) {
  unsigned baseline = harness_thread_count();
  atomic_ulong calls = 0;
  CHECK_EQ(weft_worker_index(), -1);
  weft_join(count_one, &calls, count_one, &calls);
  CHECK_EQ(atomic_load(&calls), 2);
  CHECK_EQ(weft_worker_index(), -1);
  CHECK(harness_thread_count() > baseline);
  CHECK_EQ(weft_init(NULL), WEFT_EBUSY);
  weft_shutdown();
  CHECK_EQ(harness_thread_count(), baseline);
  weft_shutdown();
}

TEST(global_pool_with_configurations) {
  for (unsigned i = 0; i < SIZE_COUNT; i++) {
    weft_config config = WEFT_CONFIG_INIT;
    config.threads = SIZES[i];
    CHECK_EQ(weft_init(&config), 0);
    CHECK_EQ(weft_init(&config), WEFT_EBUSY);
    CHECK_EQ(weft_init(NULL), WEFT_EBUSY);
    CHECK_EQ(weft_thread_count(), SIZES[i]);
    CHECK_EQ(weft_pool_current()->options.threads, SIZES[i]);
    check_tree(10);
    weft_shutdown();
  }
}

TEST(global_pool_refuses_nonsense_and_still_starts) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = WEFT_MAX_THREADS + 1;
  CHECK_EQ(weft_init(&config), WEFT_EINVAL);
  config.threads = 2;
  CHECK_EQ(weft_init(&config), 0);
  CHECK_EQ(weft_thread_count(), 2);
  weft_shutdown();
}

TEST(global_pool_cycles) {
  unsigned baseline = harness_thread_count();
  for (unsigned long i = 0; i < scaled(500); i++) {
    if (i % 2 == 0) CHECK_EQ(weft_init(NULL), 0);
    check_tree(3);
    weft_shutdown();
  }
  CHECK_EQ(harness_thread_count(), baseline);
}

static void first_use(unsigned index, void *arg) {
  weft_pool **seen = arg;
  seen[index] = weft_pool_current();
}

TEST(global_pool_is_started_once_by_many) {
  enum { THREADS = 8 };
  for (unsigned long i = 0; i < scaled(100); i++) {
    weft_pool *seen[THREADS];
    harness_run_threads(THREADS, first_use, seen);
    for (int t = 0; t < THREADS; t++) CHECK_EQ(seen[t], seen[0]);
    CHECK(seen[0] != NULL);
    weft_shutdown();
  }
}

/* ---- V11: questions about the current pool, and configurations ---- */

typedef struct inside {
  weft_pool *pool;
  unsigned threads;
  unsigned guests;
} inside;

static void ask_from_inside(void *ctx) {
  const inside *expected = ctx;
  unsigned places = expected->threads > 1 ? expected->threads - 1 : 1;
  CHECK_EQ(weft_pool_current(), expected->pool);
  CHECK_EQ(weft_thread_count(), expected->threads);
  /* The threads that take over for blocked ones have places too. */
  CHECK_EQ(weft_worker_limit(), places + expected->guests + expected->threads);
  CHECK_EQ(weft_worker_index(), 0);
}

TEST(v11_the_current_pool) {
  static const unsigned guests[] = {1, 2, 64, WEFT_MAX_GUESTS};
  for (unsigned i = 0; i < SIZE_COUNT; i++) {
    for (unsigned g = 0; g < 4; g++) {
      weft_config config = WEFT_CONFIG_INIT;
      config.threads = SIZES[i];
      config.guests = guests[g];
      inside expected = {pool_with(&config), SIZES[i], guests[g]};
      CHECK_EQ(weft_worker_index(), -1);
      weft_pool_run(expected.pool, ask_from_inside, &expected);
      CHECK_EQ(weft_worker_index(), -1);
      weft_pool_destroy(expected.pool);
    }
  }
}

TEST(v11_every_idle_mode) {
  static const weft_idle modes[] = {WEFT_IDLE_LOW_LATENCY, WEFT_IDLE_BALANCED,
                                    WEFT_IDLE_POWER_SAVING, WEFT_IDLE_DEFAULT};
  for (unsigned i = 0; i < 4; i++) {
    weft_config config = WEFT_CONFIG_INIT;
    config.threads = 3;
    config.idle = modes[i];
    weft_pool *pool = pool_with(&config);
    for (unsigned round = 0; round < 20; round++) {
      check_tree_in(pool, 10);
      AWAIT(all_asleep(pool));
    }
    weft_pool_destroy(pool);
  }
}

TEST(v11_most_threads) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = harness_slowdown() == 1 ? WEFT_MAX_THREADS : 100;
  config.guests = WEFT_MAX_GUESTS;
  config.stack_size = 192 * 1024; /* the least of all systems is no more */
  weft_pool *pool = pool_with(&config);
  check_tree_in(pool, 12);
  weft_pool_destroy(pool);
}

static int create_status(const weft_config *config) {
  weft_pool *pool = (weft_pool *)(uintptr_t)config; /* anything but NULL */
  int status = weft_pool_create(&pool, config);
  if (status != 0)
    CHECK(pool == NULL);
  else
    weft_pool_destroy(pool);
  return status;
}

TEST(v11_errors_of_configurations) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = 1;
  CHECK_EQ(create_status(&config), 0);
  CHECK_EQ(weft_pool_create(NULL, &config), WEFT_EINVAL);
  CHECK_EQ(weft_pool_create(NULL, NULL), WEFT_EINVAL);

  weft_config bad = config;
  bad.struct_size = 0;
  CHECK_EQ(create_status(&bad), WEFT_EINVAL);
  bad = config;
  bad.threads = WEFT_MAX_THREADS + 1;
  CHECK_EQ(create_status(&bad), WEFT_EINVAL);
  bad.threads = UINT32_MAX;
  CHECK_EQ(create_status(&bad), WEFT_EINVAL);
  bad = config;
  bad.guests = WEFT_MAX_GUESTS + 1;
  CHECK_EQ(create_status(&bad), WEFT_EINVAL);
  bad = config;
  bad.idle = (weft_idle)(WEFT_IDLE_DEFAULT + 1);
  CHECK_EQ(create_status(&bad), WEFT_EINVAL);
  static const size_t stacks[] = {1, 4096, SIZE_MAX};
  for (size_t i = 0; i < sizeof stacks / sizeof stacks[0]; i++) {
    bad = config;
    bad.stack_size = stacks[i];
    CHECK_EQ(create_status(&bad), WEFT_EINVAL);
    CHECK_EQ(weft_init(&bad), WEFT_EINVAL);
  }
  bad = config;
  bad.deque_capacity = SIZE_MAX;
  CHECK_EQ(create_status(&bad), WEFT_EINVAL);
}

/* A program compiled with an older header hands in a shorter structure: what lies behind
 * it must not be read. */
TEST(v11_shorter_configuration) {
  weft_config config = WEFT_CONFIG_INIT;
  memset(&config, 0xff, sizeof config); /* nonsense in all that is not to be read */
  config.struct_size = offsetof(weft_config, stack_size);
  config.threads = 2;
  weft_pool *pool = pool_with(&config);
  CHECK_EQ(pool->options.threads, 2);
  CHECK_EQ(pool->options.stack_size, 0);
  CHECK_EQ(pool->options.guests, 64);
  CHECK_EQ(pool->options.deque_capacity, 1024);
  CHECK_STR_EQ(pool->options.name, "weft");
  check_tree_in(pool, 6);
  weft_pool_destroy(pool);
}

TEST(v11_longer_configuration) {
  struct {
    weft_config config;
    char future[64];
  } longer = {WEFT_CONFIG_INIT, {0}};
  memset(longer.future, 0xff, sizeof longer.future);
  longer.config.struct_size = sizeof longer;
  longer.config.threads = 2;
  weft_pool *pool = pool_with(&longer.config);
  CHECK_EQ(pool->options.threads, 2);
  weft_pool_destroy(pool);
}

/* ---- hooks ---- */

enum { HOOKED = 8 };

typedef struct hooks {
  atomic_uint starts[HOOKED + 1], exits[HOOKED + 1];
  pthread_t thread[HOOKED + 1];
  atomic_ulong joined;
} hooks;

static void use_the_pool(unsigned worker, hooks *seen) {
  CHECK_EQ(weft_worker_index(), worker);
  unsigned count = weft_thread_count();
  CHECK_MSG(count >= 1 && count <= HOOKED, "%u threads", count);
  CHECK(weft_worker_limit() > worker);
  weft_join(count_one, &seen->joined, count_one, &seen->joined);
}

static void on_start(unsigned worker, void *ctx) {
  hooks *seen = ctx;
  REQUIRE(worker >= 1 && worker < HOOKED);
  seen->thread[worker] = pthread_self();
  use_the_pool(worker, seen);
  atomic_fetch_add(&seen->starts[worker], 1);
}

static void on_exit_hook(unsigned worker, void *ctx) {
  hooks *seen = ctx;
  REQUIRE(worker >= 1 && worker < HOOKED);
  CHECK(pthread_equal(seen->thread[worker], pthread_self()));
  CHECK_EQ(atomic_load(&seen->starts[worker]), 1);
  use_the_pool(worker, seen);
  atomic_fetch_add(&seen->exits[worker], 1);
}

TEST(hooks_run_once_on_each_thread) {
  for (unsigned long round = 0; round < scaled(100); round++) {
    hooks seen = {0};
    weft_config config = WEFT_CONFIG_INIT;
    config.threads = HOOKED;
    config.on_start = on_start;
    config.on_exit = on_exit_hook;
    config.hook_ctx = &seen;
    weft_pool *pool = pool_with(&config);
    check_tree_in(pool, 8);
    for (int i = 1; i < HOOKED; i++) CHECK_EQ(atomic_load(&seen.exits[i]), 0);
    weft_pool_destroy(pool);
    CHECK_EQ(atomic_load(&seen.starts[0]), 0);
    CHECK_EQ(atomic_load(&seen.exits[0]), 0);
    for (int i = 1; i < HOOKED; i++) {
      CHECK_EQ(atomic_load(&seen.starts[i]), 1);
      CHECK_EQ(atomic_load(&seen.exits[i]), 1);
    }
    CHECK_EQ(atomic_load(&seen.joined), 4 * (HOOKED - 1));
  }
}

/* "The hooks may use the pool", and destroy runs all that was detached. */
static void detach_at_exit(unsigned worker, void *ctx) {
  (void)worker;
  CHECK_EQ(weft_detach(count_one, ctx), 0);
}

TEST(v26_detached_by_the_exit_hook_runs) {
  for (unsigned threads = 1; threads <= 3; threads++) {
    atomic_ulong ran = 0;
    weft_config config = WEFT_CONFIG_INIT;
    config.threads = threads;
    config.on_exit = detach_at_exit;
    config.hook_ctx = &ran;
    weft_pool_destroy(pool_with(&config));
    CHECK_EQ(atomic_load(&ran), threads > 1 ? threads - 1 : 1);
  }
}

/* ---- names and stacks ---- */

#if defined(__linux__)

/* How many threads of this process have the name. */
static unsigned threads_named(const char *name) {
  unsigned count = 0;
  DIR *tasks = opendir("/proc/self/task");
  REQUIRE(tasks != NULL);
  for (struct dirent *entry; (entry = readdir(tasks)) != NULL;) {
    char path[320], comm[64] = "";
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
    FILE *file = fopen(path, "r");
    if (file == NULL) continue;
    if (fgets(comm, sizeof comm, file) != NULL) comm[strcspn(comm, "\n")] = '\0';
    fclose(file);
    count += strcmp(comm, name) == 0;
  }
  closedir(tasks);
  return count;
}

static void check_names(const char *name, const char *first, const char *tenth) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = 11;
  config.name = name;
  weft_pool *pool = pool_with(&config);
  AWAIT(threads_named(first) == 1 && threads_named(tenth) == 1);
  weft_pool_destroy(pool);
}

TEST(thread_names) {
  check_names(NULL, "weft-1", "weft-10");
  check_names("lane", "lane-1", "lane-10");
  check_names("a-very-long-name-indeed", "a-very-long-n-1", "a-very-long--10");
  check_names("", "-1", "-10");
}

/* The configuration may be gone or changed as soon as the pool is made. */
TEST(thread_name_is_copied) {
  char name[] = "copied";
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = 2;
  config.name = name;
  weft_pool *pool = pool_with(&config);
  memset(name, 'x', sizeof name - 1);
  CHECK_STR_EQ(pool->options.name, "copied");
  AWAIT(threads_named("copied-1") == 1);
  weft_pool_destroy(pool);
}

static void find_stack_size(void *ctx) {
  pthread_attr_t attributes;
  size_t size = 0;
  void *base;
  REQUIRE(pthread_getattr_np(pthread_self(), &attributes) == 0);
  REQUIRE(pthread_attr_getstack(&attributes, &base, &size) == 0);
  pthread_attr_destroy(&attributes);
  atomic_store((atomic_ulong *)ctx, size);
}

TEST(stack_size_is_honoured) {
  static const size_t sizes[] = {512 * 1024, 12 * 1024 * 1024, 100 * 1024 * 1024};
  for (unsigned i = 0; i < 3; i++) {
    atomic_ulong size = 0;
    weft_config config = WEFT_CONFIG_INIT;
    config.threads = 1;
    config.stack_size = sizes[i];
    weft_pool *pool = pool_with(&config);
    CHECK_EQ(weft_pool_detach(pool, find_stack_size, &size), 0);
    weft_pool_destroy(pool);
    /* A little may be taken for guard pages. There may be more: the C library reuses the
     * stacks of threads that have ended. */
    CHECK_MSG(atomic_load(&size) + 65536 >= sizes[i], "%lu", atomic_load(&size));
  }
}

#endif

/* ---- misuse ends the program, with a message ---- */

static void destroy_it(void *ctx) {
  weft_pool_destroy(ctx);
}

TEST_BY_NAME(destroy_from_detached_task) {
  weft_pool *pool = pool_of(2);
  weft_pool_detach(pool, destroy_it, pool);
  for (;;) harness_linger(1000);
}

TEST_BY_NAME(destroy_from_guest) {
  weft_pool *pool = pool_of(2);
  weft_pool_run(pool, destroy_it, pool);
}

typedef struct two_pools {
  weft_pool *outer, *inner;
} two_pools;

static void destroy_outer_from_inner(void *ctx) {
  const two_pools *both = ctx;
  weft_pool_run(both->inner, destroy_it, both->outer);
}

TEST_BY_NAME(destroy_from_a_pool_inside) {
  two_pools both = {pool_of(2), pool_of(2)};
  weft_pool_run(both.outer, destroy_outer_from_inner, &both);
}

static atomic_bool is_inside;

static void stay(void *ctx) {
  (void)ctx;
  atomic_store(&is_inside, true);
  for (;;) harness_linger(1000);
}

static void *run_and_stay(void *arg) {
  weft_pool_run(arg, stay, NULL);
  return NULL;
}

TEST_BY_NAME(destroy_while_in_use) {
  pthread_t thread;
  weft_pool *pool = pool_of(2);
  REQUIRE(pthread_create(&thread, NULL, run_and_stay, pool) == 0);
  AWAIT(atomic_load(&is_inside));
  weft_pool_destroy(pool);
}

static void shut_down(void *ctx) {
  (void)ctx;
  weft_shutdown();
}

TEST_BY_NAME(shutdown_from_a_task) {
  weft_detach(shut_down, NULL);
  for (;;) harness_linger(1000);
}

TEST_BY_NAME(shutdown_from_a_join) {
  weft_join(shut_down, NULL, do_nothing, NULL);
}

static void *stay_inside(void *arg) {
  atomic_bool *entered = arg;
  weft_scope scope;
  weft_scope_begin(&scope);
  atomic_store(entered, true);
  while (atomic_load(entered)) sched_yield();
  return NULL;
}

TEST_BY_NAME(shutdown_while_in_use) {
  static atomic_bool entered;
  pthread_t thread;
  REQUIRE(weft_init(NULL) == 0);
  REQUIRE(pthread_create(&thread, NULL, stay_inside, &entered) == 0);
  AWAIT(atomic_load(&entered));
  weft_shutdown();
}

static void check_death(const char *test, const char *call, const char *problem) {
  char output[4096];
  CHECK_EQ(harness_run_self("ulimit -c 0;", test, output, sizeof output), 128 + SIGABRT);
  CHECK_MSG(strstr(output, call) != NULL, "%s printed: %s", test, output);
  CHECK_MSG(strstr(output, problem) != NULL, "%s printed: %s", test, output);
}

TEST(v1_misuse_ends_the_program) {
  static const char destroy[] = "weft: weft_pool_destroy: ";
  static const char shutdown[] = "weft: weft_shutdown: ";
  check_death("destroy_from_detached_task", destroy, "inside the pool");
  check_death("destroy_from_guest", destroy, "inside the pool");
  check_death("destroy_from_a_pool_inside", destroy, "inside the pool");
  check_death("destroy_while_in_use", destroy, "in use by another thread");
  check_death("shutdown_from_a_task", shutdown, "inside the pool");
  check_death("shutdown_from_a_join", shutdown, "inside the pool");
  check_death("shutdown_while_in_use", shutdown, "in use by another thread");
}
