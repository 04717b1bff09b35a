/* Broadcasts: one call on each thread, no more and no less, with indices that leave no
 * gap, whatever the threads are doing and wherever the caller comes from.
 *
 * SPDX-License-Identifier: MIT */
#include "support.h"

#include <pthread.h>

static const unsigned SIZES[] = {1, 2, 3, 8, 64};
enum { SIZE_COUNT = sizeof SIZES / sizeof SIZES[0], MOST = 128 };

/* ---- one broadcast, checked ---- */

typedef struct roll {
  weft_pool *pool;
  unsigned expected; /* calls */
  bool with_caller;  /* whose thread is among the callees */
  pthread_t caller;
  unsigned before; /* plain: visible to all calls */
  struct {
    unsigned calls; /* plain: visible after the broadcast */
    pthread_t thread;
    int worker;
    unsigned seen;
  } at[MOST];
} roll;

static void answer(unsigned index, unsigned count, void *ctx) {
  roll *r = ctx;
  CHECK_EQ(count, r->expected);
  CHECK_EQ(weft_pool_current(), r->pool);
  if (!CHECK(index < MOST)) return;
  r->at[index].calls++;
  r->at[index].thread = pthread_self();
  r->at[index].worker = weft_worker_index();
  r->at[index].seen = r->before;
}

static void check_roll(const roll *r) {
  unsigned callers = 0;
  for (unsigned i = 0; i < r->expected && i < MOST; i++) {
    CHECK_EQ(r->at[i].calls, 1);
    CHECK_EQ(r->at[i].seen, r->before);
    callers += pthread_equal(r->at[i].thread, r->caller) != 0;
    for (unsigned k = 0; k < i; k++) {
      CHECK(!pthread_equal(r->at[i].thread, r->at[k].thread));
      CHECK(r->at[i].worker != r->at[k].worker);
    }
  }
  for (unsigned i = r->expected; i < MOST; i++) CHECK_EQ(r->at[i].calls, 0);
  CHECK_EQ(callers, r->with_caller ? 1 : 0);
}

/* From outside the pool, or from a guest: its threads and this one. */
static void call_from_outside(weft_pool *pool) {
  weft_opts opts = opts_on(pool);
  roll r = {.pool = pool,
            .expected = wf_pool_started(pool) + 1,
            .with_caller = true,
            .caller = pthread_self(),
            .before = 5};
  weft_broadcast_with(&opts, answer, &r);
  check_roll(&r);
}

static void call_as_guest(void *ctx) {
  weft_pool *pool = weft_pool_current();
  roll r = {.pool = pool,
            .expected = wf_pool_started(pool) + 1,
            .with_caller = true,
            .caller = pthread_self(),
            .before = 6};
  (void)ctx;
  weft_broadcast(answer, &r);
  check_roll(&r);
}

/* From a started thread, which is one of them. */
static void call_from_inside(void *ctx) {
  weft_pool *pool = weft_pool_current();
  roll r = {.pool = pool,
            .expected = wf_pool_started(pool),
            .with_caller = true,
            .caller = pthread_self(),
            .before = 7};
  (void)ctx;
  weft_broadcast(answer, &r);
  check_roll(&r);
}

/* ---- who calls ---- */

TEST(from_outside) {
  for (unsigned i = 0; i < SIZE_COUNT; i++) {
    weft_pool *pool = pool_of(SIZES[i]);
    for (unsigned long round = 0; round < scaled(200); round++) call_from_outside(pool);
    weft_pool_destroy(pool);
  }
}

TEST(from_a_guest) {
  for (unsigned i = 0; i < SIZE_COUNT; i++) {
    weft_pool *pool = pool_of(SIZES[i]);
    for (unsigned long round = 0; round < scaled(200); round++)
      weft_pool_run(pool, call_as_guest, NULL);
    weft_pool_destroy(pool);
  }
}

TEST(from_a_task_on_a_started_thread) {
  for (unsigned i = 0; i < SIZE_COUNT; i++) {
    weft_pool *pool = pool_of(SIZES[i]);
    for (unsigned long round = 0; round < scaled(200); round++)
      run_on_started(pool, call_from_inside, NULL);
    weft_pool_destroy(pool);
  }
}

static void call_another_pool(void *ctx) {
  call_from_outside(ctx);
}

/* The caller is a worker, but of another pool. */
TEST(from_a_task_of_another_pool) {
  weft_pool *other = pool_of(2);
  for (unsigned i = 0; i < SIZE_COUNT; i++) {
    weft_pool *pool = pool_of(SIZES[i]);
    for (unsigned long round = 0; round < scaled(100); round++) {
      weft_pool_run(other, call_another_pool, pool);
      run_on_started(other, call_another_pool, pool);
    }
    weft_pool_destroy(pool);
  }
  weft_pool_destroy(other);
}

TEST(to_the_global_pool) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = 3;
  REQUIRE(weft_init(&config) == 0);
  for (int i = 0; i < 100; i++) {
    call_as_guest(NULL);
    CHECK_EQ(weft_worker_index(), -1);
  }
  weft_shutdown();
}

/* In a scope that a thread from outside has begun it still comes from outside. */
TEST(from_a_scope_of_a_guest) {
  weft_pool *pool = pool_of(3);
  weft_opts opts = opts_on(pool);
  weft_scope scope;
  weft_scope_begin_with(&opts, &scope);
  call_as_guest(NULL);
  CHECK_EQ(weft_scope_end(&scope), 0);
  weft_pool_destroy(pool);
}

/* ---- what the threads are doing ---- */

TEST(to_sleeping_threads) {
  for (unsigned i = 0; i < SIZE_COUNT; i++) {
    weft_pool *pool = sleepy_pool_of(SIZES[i]);
    for (unsigned long round = 0; round < scaled(200); round++) {
      AWAIT(all_asleep(pool));
      call_from_outside(pool);
    }
    weft_pool_destroy(pool);
  }
}

/* The moment of the call walks over the time in which the workers get sleepy. */
TEST(to_threads_that_get_sleepy) {
  uint64_t random = harness_seed();
  for (unsigned threads = 2; threads <= 4; threads++) {
    weft_pool *pool = sleepy_pool_of(threads);
    for (unsigned long round = 0; round < scaled(3000); round++) {
      spin((unsigned)(harness_random(&random) % 3000));
      call_from_outside(pool);
    }
    weft_pool_destroy(pool);
  }
}

typedef struct traffic {
  weft_pool *pool;
  atomic_uint callers; /* that still broadcast */
} traffic;

/* Some threads keep the pool busy as long as others call. */
static void call_or_work(unsigned index, void *arg) {
  traffic *t = arg;
  if (index % 2 == 0) {
    for (unsigned long i = 0; i < scaled(300); i++) call_from_outside(t->pool);
    atomic_fetch_sub(&t->callers, 1);
  } else {
    for (unsigned n = 0; atomic_load(&t->callers) > 0; n++)
      check_tree_in(t->pool, n % 10);
  }
}

TEST(to_busy_threads) {
  for (unsigned i = 0; i + 1 < SIZE_COUNT; i++) {
    traffic t = {.pool = pool_of(SIZES[i]), .callers = 2};
    harness_run_threads(4, call_or_work, &t);
    weft_pool_destroy(t.pool);
  }
}

/* Detached functions, one after the other, and the broadcast comes in between. */
TEST(to_threads_with_a_full_queue) {
  for (unsigned threads = 1; threads <= 4; threads++) {
    atomic_ulong ran = 0;
    weft_pool *pool = pool_of(threads);
    for (unsigned long round = 0; round < scaled(100); round++) {
      for (int i = 0; i < 100; i++) CHECK_EQ(weft_pool_detach(pool, count_one, &ran), 0);
      call_from_outside(pool);
    }
    weft_pool_destroy(pool);
    CHECK_EQ(atomic_load(&ran), 100 * scaled(100));
  }
}

/* A thread that waits makes its call meanwhile. The one it waits for is the one that
 * broadcasts, so otherwise neither would ever go on. */
static void call_when_stolen(void *ctx) {
  b_begins(ctx);
  call_from_inside(NULL);
}

static void wait_in_a_join(void *ctx) {
  (void)ctx;
  pairing pair = {.a_thread = pthread_self()};
  weft_join(a_until_b, &pair, call_when_stolen, &pair);
}

static void wait_in_a_scope(void *ctx) {
  (void)ctx;
  pairing pair = {.a_thread = pthread_self()};
  weft_scope scope;
  weft_scope_begin(&scope);
  weft_spawn(&scope, call_when_stolen, &pair);
  a_until_b(&pair);
  CHECK_EQ(weft_scope_end(&scope), 0);
}

static void wait_for_a_handle(void *ctx) {
  (void)ctx;
  pairing pair = {.a_thread = pthread_self()};
  weft_handle *handle;
  REQUIRE(weft_async(&handle, call_when_stolen, &pair) == 0);
  a_until_b(&pair);
  CHECK_EQ(weft_handle_wait(handle), 0);
}

static void wait_isolated(void *ctx) {
  weft_isolate(wait_in_a_join, ctx);
}

/* What an isolated thread waits for isolates itself, or is a handle's function. */
static void call_isolated(void *ctx) {
  weft_isolate(call_when_stolen, ctx);
}

static void wait_for_an_isolated_join(void *ctx) {
  (void)ctx;
  pairing pair = {.a_thread = pthread_self()};
  weft_join(a_until_b, &pair, call_isolated, &pair);
}

static void wait_isolated_twice(void *ctx) {
  weft_isolate(wait_for_an_isolated_join, ctx);
}

static void wait_isolated_for_a_handle(void *ctx) {
  weft_isolate(wait_for_a_handle, ctx);
}

static void wait_for_a_handle_elsewhere(void *ctx) {
  pairing *pair = ctx;
  atomic_store(&pair->b_began, true);
  wait_for_a_handle(NULL);
}

static void join_a_wait_for_a_handle(void *ctx) {
  (void)ctx;
  pairing pair = {.a_thread = pthread_self()};
  weft_join(a_until_b, &pair, wait_for_a_handle_elsewhere, &pair);
}

/* Through a third thread: this one waits, isolated, for one that waits for a handle. */
static void wait_isolated_for_a_waiter(void *ctx) {
  weft_isolate(join_a_wait_for_a_handle, ctx);
}

/* In pools with that many started threads, and with some more. */
static void to_waiting_threads(unsigned started, weft_fn *fn) {
  for (unsigned threads = started + 1; threads <= started + 3; threads++) {
    weft_pool *pool = pool_of(threads);
    for (unsigned long i = 0; i < scaled(200); i++) run_on_started(pool, fn, NULL);
    weft_pool_destroy(pool);
  }
}

TEST(to_threads_that_wait_in_joins) {
  to_waiting_threads(2, wait_in_a_join);
}

TEST(to_threads_that_wait_in_scopes) {
  to_waiting_threads(2, wait_in_a_scope);
}

TEST(to_threads_that_wait_for_handles) {
  to_waiting_threads(2, wait_for_a_handle);
}

TEST(to_threads_that_wait_isolated) {
  to_waiting_threads(2, wait_isolated);
}

TEST(to_threads_that_wait_isolated_for_isolated_work) {
  to_waiting_threads(2, wait_isolated_twice);
}

TEST(to_threads_that_wait_isolated_for_handles) {
  to_waiting_threads(2, wait_isolated_for_a_handle);
}

TEST(to_threads_that_wait_isolated_for_others_that_do) {
  to_waiting_threads(3, wait_isolated_for_a_waiter);
}

/* ---- what the calls do ---- */

static void work_and_answer(unsigned index, unsigned count, void *ctx) {
  unsigned char marks[10] = {0};
  weft_scope scope;
  answer(index, count, ctx);
  check_tree(6);
  weft_scope_begin(&scope);
  for (unsigned i = 0; i < sizeof marks; i++) weft_spawn(&scope, mark, &marks[i]);
  CHECK_EQ(weft_scope_end(&scope), 0);
  check_marks(marks, sizeof marks, 1);
}

TEST(calls_use_the_pool) {
  for (unsigned i = 0; i + 1 < SIZE_COUNT; i++) {
    weft_pool *pool = pool_of(SIZES[i]);
    weft_opts opts = opts_on(pool);
    for (unsigned long round = 0; round < scaled(100); round++) {
      roll r = {.pool = pool,
                .expected = wf_pool_started(pool) + 1,
                .with_caller = true,
                .caller = pthread_self()};
      weft_broadcast_with(&opts, work_and_answer, &r);
      check_roll(&r);
    }
    weft_pool_destroy(pool);
  }
}

/* Each call broadcasts in turn: all of them at once. */
typedef struct nested {
  pthread_t guest;
  atomic_ulong outer, inner;
} nested;

static void count_inner(unsigned index, unsigned count, void *ctx) {
  CHECK(index < count);
  atomic_fetch_add(&((nested *)ctx)->inner, 1);
}

static void broadcast_again(unsigned index, unsigned count, void *ctx) {
  nested *n = ctx;
  CHECK(index < count);
  atomic_fetch_add(&n->outer, 1);
  weft_broadcast(count_inner, n);
  if (pthread_equal(pthread_self(), n->guest))
    call_as_guest(NULL);
  else
    call_from_inside(NULL);
}

TEST(broadcasts_inside_broadcasts) {
  for (unsigned i = 0; i + 1 < SIZE_COUNT; i++) {
    weft_pool *pool = pool_of(SIZES[i]);
    weft_opts opts = opts_on(pool);
    unsigned long started = wf_pool_started(pool);
    for (unsigned long round = 0; round < scaled(100); round++) {
      nested n = {.guest = pthread_self()};
      weft_broadcast_with(&opts, broadcast_again, &n);
      CHECK_EQ(atomic_load(&n.outer), started + 1);
      CHECK_EQ(atomic_load(&n.inner), started * started + started + 1);
    }
    weft_pool_destroy(pool);
  }
}

/* ---- several at once ---- */

enum { CALLERS = 6 };

static void call_often(unsigned index, void *arg) {
  weft_pool *pool = arg;
  for (unsigned long i = 0; i < scaled(200); i++) {
    if ((index + i) % 2 == 0)
      call_from_outside(pool);
    else
      weft_pool_run(pool, call_as_guest, NULL);
  }
}

TEST(several_callers) {
  for (unsigned i = 0; i < SIZE_COUNT; i++) {
    weft_pool *pool = pool_of(SIZES[i]);
    harness_run_threads(CALLERS, call_often, pool);
    weft_pool_destroy(pool);
  }
}

static void call_and_count(void *ctx) {
  call_from_inside(NULL);
  count_one(ctx);
}

/* From all started threads at once, and from outside on top. */
TEST(callers_inside_and_outside) {
  for (unsigned i = 0; i + 1 < SIZE_COUNT; i++) {
    weft_pool *pool = pool_of(SIZES[i]);
    atomic_ulong called = 0;
    unsigned long rounds = scaled(200);
    for (unsigned long round = 0; round < rounds; round++) {
      CHECK_EQ(weft_pool_detach(pool, call_and_count, &called), 0);
      CHECK_EQ(weft_pool_detach(pool, call_and_count, &called), 0);
      call_from_outside(pool);
    }
    weft_pool_destroy(pool);
    CHECK_EQ(atomic_load(&called), 2 * rounds);
  }
}

static void call_from_outside_often(unsigned index, void *arg) {
  (void)index;
  for (unsigned long i = 0; i < scaled(100); i++) call_from_outside(arg);
}

/* More callers than guest places: their own threads are called all the same. */
TEST(callers_without_a_place) {
  for (unsigned threads = 1; threads <= 3; threads++) {
    weft_config config = WEFT_CONFIG_INIT;
    config.threads = threads;
    config.guests = 1;
    weft_pool *pool = pool_with(&config);
    harness_run_threads(CALLERS, call_from_outside_often, pool);
    weft_pool_destroy(pool);
  }
}
