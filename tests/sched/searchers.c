/* link: -Wl,--wrap=wf_sys_relax,--wrap=wf_sys_thread_yield */
/* How many workers look for work at once, and for how long after wake-ups that found
 * nothing: max_searchers of the pool, futile_wakes of a worker.
 *
 * SPDX-License-Identifier: MIT */
#include "played_pool.h"
#include "sched/idle.h"

/* ---- max_searchers: more have no patience ---- */

static _Thread_local bool counts_pauses;
static atomic_ulong pauses; /* of the thread that plays a worker */

void __real_wf_sys_relax(void);
void __wrap_wf_sys_relax(void);
void __real_wf_sys_thread_yield(void);
void __wrap_wf_sys_thread_yield(void);

void __wrap_wf_sys_relax(void) {
  if (counts_pauses) atomic_fetch_add(&pauses, 1);
  __real_wf_sys_relax();
}

void __wrap_wf_sys_thread_yield(void) {
  if (counts_pauses) atomic_fetch_add(&pauses, 1);
  __real_wf_sys_thread_yield();
}

static void *play_worker(void *worker) {
  counts_pauses = true;
  wf_worker_main(worker);
  return NULL;
}

/* A worker of this pool finds nothing: how often does it pause before it sleeps? Frees
 * the pool. */
static unsigned long pauses_of(weft_pool *pool, unsigned index) {
  wf_worker *worker = &pool->workers[index];
  pthread_t thread;
  unsigned asleep = wf_sleep_sleeping(pool);
  pool->options.idle = WEFT_IDLE_LOW_LATENCY; /* the longest budget */
  atomic_store(&pauses, 0);
  REQUIRE(pthread_create(&thread, NULL, play_worker, worker) == 0);
  AWAIT(wf_sleep_sleeping(pool) == asleep + 1);
  const unsigned long before_sleep = atomic_load(&pauses);
  if (wf_latch_set(&worker->terminate)) wf_sleep_wake_worker(pool, index);
  pthread_join(thread, NULL);
  wf_pool_free(pool);
  return before_sleep;
}

/* Worker 1 beside `searching` others. */
static unsigned long pauses_beside(unsigned searching) {
  weft_pool *pool = played_pool(0);
  while (searching-- > 0) play_searcher(pool, 2);
  return pauses_of(pool, 1);
}

TEST(a_worker_beside_enough_searchers_sleeps_at_once) {
  weft_pool *pool = played_pool(0);
  const unsigned most = pool->max_searchers;
  wf_pool_free(pool);
  CHECK_EQ(most, (WORKERS + AWAKE + 1) / 2);
  CHECK_EQ(pauses_beside(most), 0);
  CHECK_EQ(pauses_beside(most + 1), 0);
}

TEST(a_worker_beside_fewer_searchers_is_patient) {
  CHECK(pauses_beside(0) > 0);
  CHECK(pauses_beside((WORKERS + AWAKE + 1) / 2 - 1) > 0);
}

/* Those that sleep do not search. */
TEST(sleepers_are_no_searchers) {
  weft_pool *pool = played_pool(0);
  for (unsigned i = 2; i <= WORKERS; i++) play_sleeper(pool, i, WF_SLEEPER_IDLE);
  CHECK(pauses_of(pool, 1) > 0);
}

/* In a pool with several groups the group of the worker stands for all of them. Of 40
 * workers 20 may search: in each of the five groups four, with the worker itself. */
static unsigned long pauses_in_groups(unsigned beside, unsigned elsewhere,
                                      unsigned asleep) {
  enum { INDEX = 17 };
  weft_pool *pool = empty_pool(39);
  REQUIRE(pool->sleep.counters.groups == 5 && pool->max_searchers == 20);
  REQUIRE(wf_worker_group(&pool->workers[INDEX]) == 2);
  wf_bitset_add(pool->x_present, INDEX);
  while (beside-- > 0) play_searcher(pool, INDEX + 1);
  while (elsewhere-- > 0) play_searcher(pool, 1);
  for (unsigned i = 1; i <= asleep; i++) play_sleeper(pool, 24 + i, WF_SLEEPER_IDLE);
  return pauses_of(pool, INDEX);
}

TEST(a_group_stands_for_all) {
  CHECK(pauses_in_groups(0, 0, 0) > 0);
  CHECK(pauses_in_groups(3, 0, 0) > 0);   /* five times four: 20 of 20 */
  CHECK_EQ(pauses_in_groups(4, 0, 0), 0); /* about 25 */
  CHECK_EQ(pauses_in_groups(7, 0, 0), 0);
  CHECK(pauses_in_groups(0, 30, 0) > 0); /* not seen from here */
  CHECK(pauses_in_groups(4, 0, 5) > 0);  /* 25 inactive, of which 5 sleep */
  CHECK_EQ(pauses_in_groups(4, 0, 4), 0);
}

/* Half of the CPUs that the pool can use, and at least one. */
TEST(half_of_the_cpus_may_search) {
  static const struct {
    unsigned threads, cpus, most;
  } CASES[] = {{1, 1, 1}, {2, 2, 1}, {3, 3, 1}, {4, 4, 2},
               {8, 4, 2}, {4, 8, 2}, {9, 16, 4}};
  for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
    wf_options options;
    weft_config config = WEFT_CONFIG_INIT;
    config.threads = CASES[i].threads;
    weft_pool *pool = NULL;
    REQUIRE(wf_options_resolve(&options, &config, (wf_environment){0}) == 0);
    options.cpus = CASES[i].cpus;
    REQUIRE(wf_pool_allocate(&pool, &options) == 0);
    CHECK_EQ(pool->max_searchers, CASES[i].most);
    wf_pool_free(pool);
  }
}

/* ---- futile_wakes: half the patience each time ---- */

TEST(patience_halves_with_each_futile_wake_up) {
  weft_pool *pool = played_pool(0);
  wf_worker *worker = &pool->workers[1];
  wf_patience usual, after;
  pool->options.idle = WEFT_IDLE_LOW_LATENCY;
  wf_patience_start(&usual, worker);
  CHECK_EQ(worker->futile_wakes, 0);
  for (unsigned round = 0; round < 20; round++) {
    wf_patience_restart_after_sleep(&after, worker);
    const unsigned halvings = round < 6 ? round : 6;
    const uint64_t expected = usual.total_ns >> halvings;
    CHECK_EQ(after.total_ns, expected); /* longer than the least, 2 us, throughout */
  }
  wf_patience_start(&after, worker); /* an ordinary start knows nothing of them */
  CHECK_EQ(after.total_ns, usual.total_ns);
  wf_pool_free(pool);
}

/* In a pool with one started thread: what a task left there is what the next one finds,
 * unless the thread has found work in between. */
enum { LEFT_BEHIND = 5 };
static atomic_uint found_wakes;

static void leave_wakes(void *ctx) {
  wf_worker_now()->futile_wakes = LEFT_BEHIND;
  atomic_fetch_add((atomic_ulong *)ctx, 1);
}

static void look_at_wakes(void *ctx) {
  atomic_store(&found_wakes, wf_worker_now()->futile_wakes);
  atomic_fetch_add((atomic_ulong *)ctx, 1);
}

TEST(work_that_is_found_ends_the_row) {
  atomic_ulong ran = 0;
  weft_pool *pool = pool_of(2);
  for (int i = 0; i < 20; i++) {
    atomic_store(&found_wakes, LEFT_BEHIND);
    atomic_store(&ran, 0);
    REQUIRE(weft_pool_detach(pool, leave_wakes, &ran) == 0);
    AWAIT(atomic_load(&ran) == 1 && all_asleep(pool));
    REQUIRE(weft_pool_detach(pool, look_at_wakes, &ran) == 0);
    AWAIT(atomic_load(&ran) == 2);
    CHECK_EQ(atomic_load(&found_wakes), 0);
  }
  weft_pool_destroy(pool);
}

/* The same for work that a waiting thread does meanwhile: it waits for a half that
 * another thread has taken, and takes the half of that one. */
typedef struct helped {
  atomic_bool other_begun, looked;
} helped;

static void look_as_help(void *ctx) {
  helped *h = ctx;
  atomic_store(&found_wakes, wf_worker_now()->futile_wakes);
  atomic_store(&h->looked, true);
}

static void await_look(void *ctx) {
  helped *h = ctx;
  AWAIT(atomic_load(&h->looked));
}

static void taken_half(void *ctx) {
  helped *h = ctx;
  atomic_store(&h->other_begun, true);
  weft_join(await_look, h, look_as_help, h);
}

static void first_half(void *ctx) {
  helped *h = ctx;
  AWAIT(atomic_load(&h->other_begun));
  wf_worker_now()->futile_wakes = LEFT_BEHIND;
}

static void wait_with_wakes(void *ctx) {
  weft_join(first_half, ctx, taken_half, ctx);
}

TEST(help_ends_the_row_as_well) {
  weft_pool *pool = pool_of(2);
  for (int i = 0; i < 20; i++) {
    helped h = {false, false};
    atomic_store(&found_wakes, LEFT_BEHIND);
    weft_pool_run(pool, wait_with_wakes, &h);
    CHECK_EQ(atomic_load(&found_wakes), 0);
  }
  weft_pool_destroy(pool);
}
