/* Threads from outside that come and go: by the hundred thousand, without a trace; and
 * weft in the destructors of thread-specific data, of such threads and of those that weft
 * has started itself.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "support.h"

/* ---- by the hundred thousand ---- */

enum { BATCH_MIN = 8, BATCH_MAX = 16, MIB = 1024 };

static unsigned long many_threads(unsigned long n) {
  unsigned long slower = harness_slowdown() * harness_slowdown();
  return n / slower > 500 ? n / slower : 500;
}

/* Resident memory in KiB. */
static unsigned long resident(void) {
  unsigned long kib = 0;
  char line[256];
  FILE *file = fopen("/proc/self/status", "r");
  REQUIRE(file != NULL);
  while (fgets(line, sizeof line, file) != NULL)
    if (sscanf(line, "VmRSS: %lu", &kib) == 1) break;
  fclose(file);
  return kib;
}

static atomic_ulong detached_runs;

typedef struct visitor {
  pthread_t thread;
  unsigned long number;
} visitor;

/* A different call each time, so that each is the first and the last of a thread's life.
 */
static void *visit(void *arg) {
  const visitor *self = arg;
  switch (self->number % 5) {
  case 0:
    tree_is_right(5);
    break;
  case 1:
    scope_is_right(4);
    break;
  case 2:
    async_is_right();
    break;
  case 3:
    CHECK_EQ(weft_detach(count_one, &detached_runs), 0);
    break;
  default: /* all of them */
    scope_is_right(2);
    tree_is_right(3);
    async_is_right();
    CHECK_EQ(weft_detach(count_one, &detached_runs), 0);
  }
  return NULL;
}

/* Runs this number of threads, some of them at a time. Returns how often they detached
 * something. */
static unsigned long visit_often(unsigned long threads, uint64_t *random) {
  unsigned long detached = 0;
  for (unsigned long done = 0; done < threads;) {
    visitor batch[BATCH_MAX];
    unsigned size = BATCH_MIN + (unsigned)(harness_random(random) % 9);
    for (unsigned i = 0; i < size; i++) {
      batch[i].number = done + i;
      detached += batch[i].number % 5 >= 3;
      REQUIRE(pthread_create(&batch[i].thread, NULL, visit, &batch[i]) == 0);
    }
    for (unsigned i = 0; i < size; i++) pthread_join(batch[i].thread, NULL);
    done += size;
  }
  return detached;
}

static void visit_without_a_trace(const weft_config *config, unsigned long threads) {
  uint64_t random = harness_seed();
  unsigned baseline = harness_thread_count();
  REQUIRE(weft_init(config) == 0);
  atomic_store(&detached_runs, 0);
  /* The first visitors fill what is kept: stacks and arenas of the C library, the deques
   * of the guests' places. */
  unsigned long detached = visit_often(threads / 10, &random);
  unsigned with_pool = harness_thread_count();
  unsigned long memory = resident();
  detached += visit_often(threads, &random);
  CHECK_EQ(harness_thread_count(), with_pool);
  if (harness_slowdown() == 1) {
    unsigned long now = resident();
    CHECK_MSG(now < memory + 8 * MIB, "%lu KiB before, %lu after", memory, now);
  }
  weft_shutdown();
  CHECK_EQ(harness_thread_count(), baseline);
  CHECK_EQ(atomic_load(&detached_runs), detached);
}

TEST_LIMIT(a_hundred_thousand_threads_leave_no_trace, 240) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = 3;
  visit_without_a_trace(&config, many_threads(100000));
}

/* Most of them find no place: their calls are handed to the started threads. */
TEST_LIMIT(threads_without_places_leave_no_trace, 120) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = 3;
  config.guests = 2;
  visit_without_a_trace(&config, many_threads(20000));
}

TEST_LIMIT(threads_that_meet_a_sleeping_pool_leave_no_trace, 120) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = 3;
  config.idle = WEFT_IDLE_POWER_SAVING;
  visit_without_a_trace(&config, many_threads(20000));
}

/* A handle may outlive the thread that started it, and be waited for by another one. */
typedef struct relay {
  weft_handle *handle;
  atomic_ulong ran;
} relay;

static void *start_for_others(void *arg) {
  relay *self = arg;
  CHECK_EQ(weft_async(&self->handle, count_one, &self->ran), 0);
  return NULL;
}

static void *wait_for_others(void *arg) {
  relay *self = arg;
  CHECK_EQ(weft_handle_wait(self->handle), 0);
  return NULL;
}

TEST(handles_outlive_their_threads) {
  for (unsigned long i = 0; i < scaled(2000); i++) {
    relay self = {.handle = NULL};
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, start_for_others, &self) == 0);
    pthread_join(thread, NULL);
    REQUIRE(pthread_create(&thread, NULL, wait_for_others, &self) == 0);
    pthread_join(thread, NULL);
    CHECK_EQ(atomic_load(&self.ran), 1);
  }
  weft_shutdown();
}

/* A task may outlive the thread that spawned it into a scope of another one. */
static void *spawn_for_others(void *arg) {
  spawner *self = arg;
  for (int i = 0; i < 20; i++) weft_spawn(self->scope, spawned_branch, self);
  return NULL;
}

TEST(spawned_tasks_outlive_their_threads) {
  for (unsigned long i = 0; i < scaled(1000); i++) {
    atomic_ulong ran = 0;
    weft_scope scope;
    spawner self = {&scope, &ran};
    pthread_t thread;
    weft_scope_begin(&scope);
    REQUIRE(pthread_create(&thread, NULL, spawn_for_others, &self) == 0);
    pthread_join(thread, NULL);
    CHECK_EQ(weft_scope_end(&scope), 0);
    CHECK_EQ(atomic_load(&ran), 40);
  }
  weft_shutdown();
}

/* ---- destructors of outside threads ---- */

/* One key from before weft's first use and one from after it: if weft has a key of its
 * own, its destructor comes between them. */
static pthread_key_t early_key, late_key;
static atomic_ulong destructors; /* that have run to their end */

/* The values count down: a destructor that sets its value again is called again, so the
 * last call comes after those of all other keys. */
static void use_at_thread_end(pthread_key_t key, void *value) {
  uintptr_t rounds = (uintptr_t)value;
  tree_is_right(6);
  scope_is_right(5);
  async_is_right();
  if (rounds > 1) REQUIRE(pthread_setspecific(key, (void *)(rounds - 1)) == 0);
  atomic_fetch_add(&destructors, 1);
}

static void use_early(void *value) {
  use_at_thread_end(early_key, value);
}

static void use_late(void *value) {
  use_at_thread_end(late_key, value);
}

enum { ROUNDS = 3 };

static void *leave_destructors(void *arg) {
  unsigned long number = *(const unsigned long *)arg;
  void *rounds = (void *)(uintptr_t)ROUNDS;
  if (number % 2 == 0) everything_is_right(); /* else the first use is in the end */
  if (number % 3 != 0) REQUIRE(pthread_setspecific(early_key, rounds) == 0);
  if (number % 3 != 1) REQUIRE(pthread_setspecific(late_key, rounds) == 0);
  return NULL;
}

TEST(destructors_of_outside_threads) {
  enum { AT_ONCE = 6 }; /* four destructors for three threads, three calls of each */
  unsigned baseline = harness_thread_count();
  unsigned long batches = scaled(500);
  weft_shutdown();
  REQUIRE(pthread_key_create(&early_key, use_early) == 0);
  everything_is_right();
  REQUIRE(pthread_key_create(&late_key, use_late) == 0);
  atomic_store(&destructors, 0);
  for (unsigned long i = 0; i < batches; i++) {
    pthread_t threads[AT_ONCE];
    unsigned long numbers[AT_ONCE];
    for (unsigned k = 0; k < AT_ONCE; k++) {
      numbers[k] = k;
      REQUIRE(pthread_create(&threads[k], NULL, leave_destructors, &numbers[k]) == 0);
    }
    for (unsigned k = 0; k < AT_ONCE; k++) pthread_join(threads[k], NULL);
  }
  CHECK_EQ(atomic_load(&destructors), batches * (AT_ONCE / 3) * 4 * ROUNDS);
  weft_shutdown();
  CHECK_EQ(harness_thread_count(), baseline);
  pthread_key_delete(early_key);
  pthread_key_delete(late_key);
}

/* ---- destructors of threads that weft has started ---- */

static pthread_key_t worker_key;
static atomic_ulong strayed; /* halves and tasks of a destructor that ran elsewhere */

typedef struct homebound {
  pthread_t home;
  unsigned depth;
  weft_scope *scope;
  atomic_ulong *ran;
} homebound;

static void stay_at_home(void *ctx) {
  const homebound *self = ctx;
  if (!pthread_equal(self->home, pthread_self())) atomic_fetch_add(&strayed, 1);
  atomic_fetch_add(self->ran, 1);
}

static void fork_at_home(void *ctx) {
  homebound *self = ctx;
  stay_at_home(self);
  if (self->depth == 0) return;
  homebound next = *self;
  next.depth--;
  weft_join(fork_at_home, &next, fork_at_home, &next);
}

/* The thread has left its pool, which waits for it to end. Calls work, one after the
 * other, on this thread; they start no pool that nobody asked for. */
static void use_on_worker_end(void *value) {
  atomic_ulong ran = 0;
  weft_scope scope;
  homebound self = {pthread_self(), 6, &scope, &ran};
  (void)value;
  fork_at_home(&self);
  CHECK_EQ(atomic_load(&ran), 127);
  weft_scope_begin(&scope);
  for (int i = 0; i < 20; i++) weft_spawn(&scope, stay_at_home, &self);
  CHECK_EQ(weft_scope_end(&scope), 0);
  CHECK_EQ(atomic_load(&ran), 147);
  tree_is_right(6);
  scope_is_right(20);
  atomic_fetch_add(&destructors, 1);
}

static void set_on_start(unsigned worker, void *ctx) {
  (void)ctx;
  REQUIRE(pthread_setspecific(worker_key, (void *)(uintptr_t)worker) == 0);
}

static weft_config config_with_destructor(unsigned threads) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = threads;
  config.on_start = set_on_start;
  return config;
}

TEST(destructors_of_workers_at_the_end_of_a_pool) {
  unsigned baseline = harness_thread_count();
  unsigned long rounds = scaled(200);
  REQUIRE(pthread_key_create(&worker_key, use_on_worker_end) == 0);
  atomic_store(&destructors, 0);
  atomic_store(&strayed, 0);
  for (unsigned long i = 0; i < rounds; i++) {
    weft_config config = config_with_destructor(4);
    weft_pool *pool = pool_with(&config);
    everything_is_right_in(pool);
    weft_pool_destroy(pool);
  }
  CHECK_EQ(atomic_load(&destructors), rounds * 3);
  CHECK_EQ(atomic_load(&strayed), 0);
  CHECK_EQ(harness_thread_count(), baseline);
  pthread_key_delete(worker_key);
}

TEST(destructors_of_workers_at_a_shutdown) {
  unsigned baseline = harness_thread_count();
  unsigned long rounds = scaled(200);
  REQUIRE(pthread_key_create(&worker_key, use_on_worker_end) == 0);
  atomic_store(&destructors, 0);
  atomic_store(&strayed, 0);
  for (unsigned long i = 0; i < rounds; i++) {
    weft_config config = config_with_destructor(3);
    REQUIRE(weft_init(&config) == 0);
    everything_is_right();
    weft_shutdown();
    CHECK_EQ(harness_thread_count(), baseline); /* no destructor has started a pool */
  }
  CHECK_EQ(atomic_load(&destructors), rounds * 2);
  CHECK_EQ(atomic_load(&strayed), 0);
  pthread_key_delete(worker_key);
}

/* While the threads of one pool end, others use the global one. */
TEST(destructors_of_workers_beside_a_busy_pool) {
  static load busy;
  unsigned baseline = harness_thread_count();
  unsigned long rounds = scaled(100);
  weft_config global = WEFT_CONFIG_INIT;
  global.threads = 3;
  REQUIRE(pthread_key_create(&worker_key, use_on_worker_end) == 0);
  REQUIRE(weft_init(&global) == 0);
  load_start(&busy, NULL);
  atomic_store(&destructors, 0);
  for (unsigned long i = 0; i < rounds; i++) {
    weft_config config = config_with_destructor(3);
    weft_pool *pool = pool_with(&config);
    everything_is_right_in(pool);
    weft_pool_destroy(pool);
  }
  CHECK_EQ(atomic_load(&destructors), rounds * 2);
  load_stop(&busy);
  weft_shutdown();
  CHECK_EQ(harness_thread_count(), baseline);
  pthread_key_delete(worker_key);
}
