/* Isolated code keeps strangers away: also the tasks that a FIFO scope would run first,
 * those of a pool that it comes back to, and those that wait for a handle; but it answers
 * the broadcasts of others.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "support.h"

#include <pthread.h>

static weft_opts fifo_on(weft_pool *pool) {
  weft_opts opts = opts_on(pool);
  opts.order = WEFT_ORDER_FIFO;
  return opts;
}

/* A mutex that tells a thread which takes it twice, instead of letting it hang. */
static void checked_mutex_init(pthread_mutex_t *mutex) {
  pthread_mutexattr_t attributes;
  REQUIRE(pthread_mutexattr_init(&attributes) == 0);
  REQUIRE(pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK) == 0);
  REQUIRE(pthread_mutex_init(mutex, &attributes) == 0);
  pthread_mutexattr_destroy(&attributes);
}

static void lock(pthread_mutex_t *mutex) {
  REQUIRE(pthread_mutex_lock(mutex) == 0);
}

static void unlock(pthread_mutex_t *mutex) {
  REQUIRE(pthread_mutex_unlock(mutex) == 0);
}

/* ---- a lock in tasks of a FIFO scope, and across pools ---- */

/* Of a FIFO scope a thread runs the oldest task, which isolated code has not made. */
typedef struct guarded {
  pthread_mutex_t mutex;
  weft_scope scope;
  weft_pool *pools[2];
  unsigned long updates; /* guarded by the mutex */
} guarded;

static void take_a_while(void *ctx) {
  (void)ctx;
  give_others_time();
}

static void recompute(void *ctx) {
  guarded *g = ctx;
  weft_scope inner;
  weft_spawn(&g->scope, do_nothing, NULL);
  weft_join(take_a_while, NULL, take_a_while, NULL);
  weft_scope_begin(&inner);
  weft_spawn(&inner, do_nothing, NULL);
  CHECK_EQ(weft_scope_end(&inner), 0);
  weft_yield();
  g->updates++;
}

static void update(void *ctx) {
  guarded *g = ctx;
  lock(&g->mutex);
  weft_isolate(recompute, g);
  unlock(&g->mutex);
}

TEST(a_lock_in_tasks_of_a_fifo_scope) {
  for (unsigned threads = 1; threads <= 3; threads++) {
    guarded g = {.pools = {pool_of(threads)}};
    weft_opts opts = fifo_on(g.pools[0]);
    const unsigned long tasks = scaled(500);
    checked_mutex_init(&g.mutex);
    weft_scope_begin_with(&opts, &g.scope);
    for (unsigned long i = 0; i < tasks; i++) weft_spawn(&g.scope, update, &g);
    CHECK_EQ(weft_scope_end(&g.scope), 0);
    CHECK_EQ(g.updates, tasks);
    pthread_mutex_destroy(&g.mutex);
    weft_pool_destroy(g.pools[0]);
  }
}

/* A thread comes back to a pool that it is in already, below the isolation: the tasks
 * that it has spawned there before are strangers to the isolated code. */
static void lock_and_unlock(void *ctx) {
  guarded *g = ctx;
  lock(&g->mutex);
  g->updates++;
  unlock(&g->mutex);
}

static void back_in_the_first(void *ctx) {
  weft_scope scope;
  (void)ctx;
  weft_join(take_a_while, NULL, take_a_while, NULL);
  weft_scope_begin(&scope);
  weft_spawn(&scope, do_nothing, NULL);
  CHECK_EQ(weft_scope_end(&scope), 0);
  weft_yield();
}

static void come_back(void *ctx) {
  weft_pool_run(((guarded *)ctx)->pools[0], back_in_the_first, ctx);
}

static void lock_in_the_second(void *ctx) {
  guarded *g = ctx;
  lock(&g->mutex);
  weft_isolate(come_back, g);
  unlock(&g->mutex);
}

static void go_through_both(void *ctx) {
  guarded *g = ctx;
  weft_scope_begin(&g->scope);
  for (int i = 0; i < 20; i++) weft_spawn(&g->scope, lock_and_unlock, g);
  weft_pool_run(g->pools[1], lock_in_the_second, g);
  CHECK_EQ(weft_scope_end(&g->scope), 0);
}

TEST(isolated_code_comes_back_to_a_pool) {
  for (unsigned threads = 1; threads <= 3; threads++) {
    guarded g = {.pools = {pool_of(threads), pool_of(threads)}};
    const unsigned long rounds = scaled(200);
    checked_mutex_init(&g.mutex);
    for (unsigned long i = 0; i < rounds; i++)
      weft_pool_run(g.pools[0], go_through_both, &g);
    CHECK_EQ(g.updates, 20 * rounds);
    pthread_mutex_destroy(&g.mutex);
    for (int i = 0; i < 2; i++) weft_pool_destroy(g.pools[i]);
  }
}

/* Broadcasts of isolated tasks, one on each thread at once: while each waits for the
 * others it answers them, for otherwise none would ever end. */
enum { BROADCASTING = 10 };

typedef struct announced {
  atomic_uint calls, count;
} announced;

static void note_announced(unsigned index, unsigned count, void *ctx) {
  announced *a = ctx;
  CHECK_MSG(index < count, "index %u of %u", index, count);
  atomic_store(&a->count, count);
  atomic_fetch_add(&a->calls, 1);
}

static atomic_uint broadcasting; /* tasks that have begun */

static void broadcast_with_others(void *ctx) {
  announced a = {.calls = 0};
  atomic_fetch_add(&broadcasting, 1);
  AWAIT(atomic_load(&broadcasting) >= *(unsigned *)ctx); /* they are on all threads */
  weft_broadcast(note_announced, &a);
  CHECK_EQ(atomic_load(&a.calls), atomic_load(&a.count));
}

static void broadcast_isolated(void *ctx) {
  weft_isolate(broadcast_with_others, ctx);
}

TEST(isolated_broadcasts_answer_each_other) {
  for (unsigned threads = 2; threads <= 4; threads++) {
    weft_pool *pool = pool_of(threads);
    weft_opts opts = opts_on(pool);
    for (unsigned long i = 0; i < scaled(100); i++) {
      weft_scope scope;
      atomic_store(&broadcasting, 0);
      weft_scope_begin_with(&opts, &scope);
      for (int k = 0; k < BROADCASTING; k++)
        weft_spawn(&scope, broadcast_isolated, &threads);
      CHECK_EQ(weft_scope_end(&scope), 0);
      CHECK_EQ(atomic_load(&broadcasting), BROADCASTING);
    }
    weft_pool_destroy(pool);
  }
}

/* Tasks wait for handles whose functions wait in joins: none of the tasks may come to lie
 * on a function, or two of them would wait for each other, or one for itself. */
static void join_twice(void *ctx) {
  weft_join(take_a_while, NULL, take_a_while, NULL);
  weft_join(take_a_while, NULL, take_a_while, NULL);
  count_one(ctx);
}

static void wait_for_handle(void *ctx) {
  CHECK_EQ(weft_handle_wait(ctx), 0);
}

TEST(tasks_that_wait_for_handles_are_not_on_top_of_them) {
  uint64_t random = harness_seed();
  for (unsigned threads = 2; threads <= 4; threads++) {
    weft_config config = WEFT_CONFIG_INIT;
    config.threads = threads;
    REQUIRE(weft_init(&config) == 0);
    for (unsigned long i = 0; i < scaled(200); i++) {
      atomic_ulong ran = 0;
      weft_handle *handles[2];
      weft_scope scope;
      weft_scope_begin(&scope);
      for (int k = 0; k < 2; k++) REQUIRE(weft_async(&handles[k], join_twice, &ran) == 0);
      spin((unsigned)(harness_random(&random) % 3000));
      for (int k = 0; k < 2; k++) weft_spawn(&scope, wait_for_handle, handles[k]);
      for (int k = 0; k < 20; k++) weft_spawn(&scope, do_nothing, NULL);
      CHECK_EQ(weft_scope_end(&scope), 0);
      CHECK_EQ(atomic_load(&ran), 2);
    }
    weft_shutdown();
  }
}

/* What a task of isolated code spawns is not left behind on the thread that ran it: that
 * thread might block on a lock that the isolated code holds. */
typedef struct remains {
  weft_pool *pool;
  weft_scope scope; /* of the isolated code */
  gate plug;
  atomic_ulong children;
  atomic_bool spawned, taken, seen;
} remains;

static void have_children(void *ctx) {
  remains *r = ctx;
  weft_spawn(&r->scope, count_one, &r->children);
  weft_spawn(&r->scope, count_one, &r->children);
  atomic_store(&r->taken, true);
}

static void hold_on(void *ctx) {
  remains *r = ctx;
  weft_scope_begin(&r->scope);
  weft_spawn(&r->scope, have_children, r);
  atomic_store(&r->spawned, true);
  AWAIT(atomic_load(&r->seen));
  CHECK_EQ(weft_scope_end(&r->scope), 0);
}

static void isolate_and_hold_on(void *ctx) {
  weft_isolate(hold_on, ctx);
}

static void yield_until_taken(void *ctx) {
  remains *r = ctx;
  AWAIT(atomic_load(&r->spawned));
  while (!atomic_load(&r->taken)) weft_yield();
  CHECK_EQ(atomic_load(&r->children), 2); /* here a thread may block */
  atomic_store(&r->seen, true);
}

static void one_isolates_one_yields(unsigned index, void *arg) {
  remains *r = arg;
  weft_pool_run(r->pool, index == 0 ? isolate_and_hold_on : yield_until_taken, r);
}

TEST(tasks_of_isolated_code_leave_nothing_behind) {
  for (unsigned long i = 0; i < scaled(50); i++) {
    remains r = {.pool = pool_of(2)};
    plug_threads(&r.plug, r.pool);
    harness_run_threads(2, one_isolates_one_yields, &r);
    CHECK_EQ(atomic_load(&r.children), 2);
    unplug(&r.plug);
    weft_pool_destroy(r.pool);
  }
}

/* Nor are tasks that others spawn for it: these find their way without the spawner, who
 * goes on to block. */
static void spawn_and_block(void *ctx) {
  remains *r = ctx;
  AWAIT(atomic_load(&r->spawned));
  weft_spawn(&r->scope, count_one, &r->children);
  atomic_store(&r->seen, true);
  AWAIT(atomic_load(&r->children) == 1);
}

static void wait_for_a_gift(void *ctx) {
  remains *r = ctx;
  weft_scope_begin(&r->scope);
  atomic_store(&r->spawned, true);
  AWAIT(atomic_load(&r->seen));
  CHECK_EQ(weft_scope_end(&r->scope), 0);
}

static void isolate_and_wait_for_a_gift(void *ctx) {
  weft_isolate(wait_for_a_gift, ctx);
}

static void one_isolates_one_spawns(unsigned index, void *arg) {
  remains *r = arg;
  weft_pool_run(r->pool, index == 0 ? isolate_and_wait_for_a_gift : spawn_and_block, r);
}

TEST(tasks_for_isolated_code_do_not_wait_for_their_spawner) {
  for (unsigned long i = 0; i < scaled(50); i++) {
    remains r = {.pool = pool_of(2)};
    plug_threads(&r.plug, r.pool);
    harness_run_threads(2, one_isolates_one_spawns, &r);
    CHECK_EQ(atomic_load(&r.children), 1);
    unplug(&r.plug);
    weft_pool_destroy(r.pool);
  }
}
