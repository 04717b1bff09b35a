/* Tasks among strangers: spawned into scopes of others, by guests that leave, across
 * pools and lanes; and stacks that stay small whatever a thread takes on top of what it
 * is at.
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

static pthread_t start_thread(void *(*fn)(void *), void *arg) {
  pthread_t thread;
  REQUIRE(pthread_create(&thread, NULL, fn, arg) == 0);
  return thread;
}

/* ---- a guest leaves tasks of somebody else's scope behind ---- */

/* All calls of weft_spawn have returned when the scope ends, so its memory may go at
 * once, although the guest is still handing its tasks over on its way out. */
enum { LEFT_BEHIND = 40 };

typedef struct leaving {
  weft_pool *pool;
  weft_scope *scope;
  atomic_ulong ran;
  atomic_ulong opened, spawned, left; /* rounds that have come so far */
  atomic_bool stop;
} leaving;

static void spawn_for_the_other(void *ctx) {
  leaving *l = ctx;
  AWAIT(atomic_load(&l->opened) > atomic_load(&l->spawned));
  for (int i = 0; i < LEFT_BEHIND; i++) weft_spawn(l->scope, count_one, &l->ran);
  atomic_fetch_add(&l->spawned, 1);
}

static void *come_and_leave(void *arg) {
  leaving *l = arg;
  for (unsigned long i = 0; i < scaled(1000); i++) {
    weft_pool_run(l->pool, spawn_for_the_other, l);
    atomic_fetch_add(&l->left, 1);
  }
  return NULL;
}

/* Takes a CPU away, so that the guest is interrupted at all kinds of places. */
static void *be_in_the_way(void *arg) {
  leaving *l = arg;
  while (!atomic_load(&l->stop)) spin(100);
  return NULL;
}

TEST(a_guest_leaves_with_tasks_of_another_scope) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = 2;
  config.idle = WEFT_IDLE_LOW_LATENCY;
  leaving l = {.pool = pool_with(&config)};
  weft_opts opts = opts_on(l.pool);
  pthread_t guest = start_thread(come_and_leave, &l);
  pthread_t other = start_thread(be_in_the_way, &l);
  for (unsigned long i = 1; i <= scaled(1000); i++) {
    l.scope = malloc(sizeof *l.scope);
    REQUIRE(l.scope != NULL);
    weft_scope_begin_with(&opts, l.scope);
    atomic_store(&l.opened, i);
    AWAIT(atomic_load(&l.spawned) == i);
    CHECK_EQ(weft_scope_end(l.scope), 0);
    memset(l.scope, 0xff, sizeof *l.scope);
    free(l.scope);
    CHECK_EQ(atomic_load(&l.ran), i * LEFT_BEHIND);
    AWAIT(atomic_load(&l.left) == i);
  }
  atomic_store(&l.stop, true);
  pthread_join(guest, NULL);
  pthread_join(other, NULL);
  weft_pool_destroy(l.pool);
}

/* The guest stays, busy with something that weft does not know of, until the scope has
 * ended: so others take its tasks, also in a pool of one thread. */
typedef struct staying {
  weft_pool *pool;
  weft_scope scope;
  atomic_bool opened, spawned, ended;
  atomic_ulong ran;
} staying;

static void spawn_and_stay(void *ctx) {
  staying *s = ctx;
  AWAIT(atomic_load(&s->opened));
  for (int i = 0; i < 5; i++) weft_spawn(&s->scope, count_one, &s->ran);
  atomic_store(&s->spawned, true);
  AWAIT(atomic_load(&s->ended));
}

static void *come_and_stay(void *arg) {
  weft_pool_run(((staying *)arg)->pool, spawn_and_stay, arg);
  return NULL;
}

TEST(a_guest_stays_with_tasks_of_another_scope) {
  for (unsigned threads = 1; threads <= 3; threads++) {
    for (unsigned long i = 0; i < scaled(100); i++) {
      staying s = {.pool = pool_of(threads)};
      weft_opts opts = opts_on(s.pool);
      pthread_t guest = start_thread(come_and_stay, &s);
      weft_scope_begin_with(&opts, &s.scope);
      atomic_store(&s.opened, true);
      AWAIT(atomic_load(&s.spawned));
      CHECK_EQ(weft_scope_end(&s.scope), 0);
      CHECK_EQ(atomic_load(&s.ran), 5);
      atomic_store(&s.ended, true);
      pthread_join(guest, NULL);
      weft_pool_destroy(s.pool);
    }
  }
}

/* A thread of one pool, inside another one, spawns into a scope of the first, and waits
 * in the second for the thread that has that scope: its own deque is no place for the
 * task. */
typedef struct crossing {
  weft_pool *first, *second;
  weft_scope scope; /* of the first */
  atomic_bool opened, spawned, done;
  atomic_ulong ran;
} crossing;

static void end_a_scope_of_the_first(void *ctx) {
  crossing *c = ctx;
  weft_opts opts = opts_on(c->first);
  weft_scope_begin_with(&opts, &c->scope);
  atomic_store(&c->opened, true);
  AWAIT(atomic_load(&c->spawned));
  CHECK_EQ(weft_scope_end(&c->scope), 0);
  CHECK_EQ(atomic_load(&c->ran), 1);
}

static void end_it_isolated(void *ctx) {
  weft_isolate(end_a_scope_of_the_first, ctx);
}

static void wait_in_the_second(void *ctx) {
  crossing *c = ctx;
  weft_scope scope;
  weft_scope_begin(&scope);
  weft_spawn(&scope, end_it_isolated, c);
  AWAIT(atomic_load(&c->opened)); /* a started thread of the second has taken it */
  weft_spawn(&c->scope, count_one, &c->ran);
  atomic_store(&c->spawned, true);
  CHECK_EQ(weft_scope_end(&scope), 0);
}

static void go_into_the_second(void *ctx) {
  crossing *c = ctx;
  weft_pool_run(c->second, wait_in_the_second, c);
  atomic_store(&c->done, true);
}

TEST(tasks_for_a_pool_that_the_thread_does_not_look_at) {
  for (unsigned threads = 1; threads <= 2; threads++) {
    for (unsigned long i = 0; i < scaled(100); i++) {
      crossing c = {.first = pool_of(threads), .second = pool_of(3)};
      REQUIRE(weft_pool_detach(c.first, go_into_the_second, &c) == 0);
      AWAIT(atomic_load(&c.done)); /* no thread of one pool is in the other any more */
      weft_pool_destroy(c.first);
      weft_pool_destroy(c.second);
      CHECK_EQ(atomic_load(&c.ran), 1);
    }
  }
}

/* ---- stacks ---- */

/* Each of many tasks of a FIFO scope spawns another one and yields. What it then runs is
 * the oldest of the scope, which does the same; so there is a limit. */
static weft_scope chain;
static _Thread_local unsigned long depth;
static atomic_ulong deepest;

static void spawn_and_yield(void *ctx) {
  (void)ctx;
  keep_largest(&deepest, ++depth);
  weft_spawn(&chain, do_nothing, NULL);
  weft_yield();
  depth--;
}

TEST(tasks_of_a_fifo_scope_do_not_pile_up) {
  weft_pool *pool = pool_of(1);
  weft_opts opts = fifo_on(pool);
  atomic_store(&deepest, 0);
  weft_scope_begin_with(&opts, &chain);
  for (int i = 0; i < 1000; i++) weft_spawn(&chain, spawn_and_yield, NULL);
  CHECK_EQ(weft_scope_end(&chain), 0);
  const unsigned long most = atomic_load(&deepest);
  CHECK_MSG(most >= 1 && most <= 70, "%lu tasks on top of each other", most);
  weft_pool_destroy(pool);
}

/* Each task yields to the next one, which is its own: a chain as long as the stack is
 * large, if weft_yield did not look at the stack. */
static void next_and_yield(void *ctx) {
  unsigned long *left = ctx;
  if (--*left > 0) weft_spawn(&chain, next_and_yield, left);
  weft_yield();
}

TEST(yielding_to_the_next_one_leaves_stack) {
  weft_pool *pool = pool_of(1);
  weft_opts opts = opts_on(pool);
  unsigned long left = 1000000 / harness_slowdown();
  weft_scope_begin_with(&opts, &chain);
  weft_spawn(&chain, next_and_yield, &left);
  CHECK_EQ(weft_scope_end(&chain), 0);
  CHECK_EQ(left, 0);
  weft_pool_destroy(pool);
}

/* ---- the lane of a scope ---- */

/* Tasks that a thread from outside spawns into a scope of background work are background
 * work too: at most half of the started threads are at it. */
enum { QUEUED = 40 };

static weft_scope background_scope;
static crowd background_crowd;
static atomic_ulong background_ran;

static void work_in_background(void *ctx) {
  (void)ctx;
  crowd_enter(&background_crowd);
  give_others_time();
  crowd_leave(&background_crowd);
  count_one(&background_ran);
}

static void *spawn_from_outside(void *arg) {
  for (int i = 0; i < QUEUED; i++) weft_spawn(&background_scope, work_in_background, arg);
  return NULL;
}

static void open_to_outside(void *ctx) {
  weft_scope_begin(&background_scope);
  pthread_join(start_thread(spawn_from_outside, ctx), NULL);
  CHECK_EQ(weft_scope_end(&background_scope), 0);
}

TEST(tasks_from_outside_are_in_the_lane_of_their_scope) {
  for (unsigned long i = 0; i < scaled(50); i++) {
    weft_pool *pool = pool_of(5);
    weft_opts opts = opts_on(pool);
    opts.lane = WEFT_LANE_BACKGROUND;
    atomic_store(&background_ran, 0);
    atomic_store(&background_crowd.most, 0);
    REQUIRE(weft_detach_with(&opts, open_to_outside, NULL) == 0);
    weft_pool_destroy(pool);
    CHECK_EQ(atomic_load(&background_ran), QUEUED);
    const unsigned long most = atomic_load(&background_crowd.most);
    CHECK_MSG(most <= 2, "%lu of 4 threads at background work", most);
  }
}
