/* weft_isolate: while isolated work waits, its threads run nothing but what is part of
 * it. So a lock can be held around parallel calls inside tasks.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "asleep.h"

#include <pthread.h>

static const unsigned SIZES[] = {2, 3, 8};
enum { SIZE_COUNT = sizeof SIZES / sizeof SIZES[0] };

/* ---- a call like any other ---- */

typedef struct call {
  pthread_t thread;
  unsigned calls;
} call;

static void note_call(void *ctx) {
  call *c = ctx;
  CHECK(pthread_equal(pthread_self(), c->thread));
  c->calls++;
}

static void isolate_isolated(void *ctx) {
  weft_isolate(note_call, ctx);
}

static void isolate_calls(void *ctx) {
  call c = {pthread_self(), 0};
  (void)ctx;
  weft_isolate(note_call, &c);
  CHECK_EQ(c.calls, 1);
  weft_isolate(isolate_isolated, &c);
  CHECK_EQ(c.calls, 2);
}

TEST(it_calls_on_the_calling_thread) {
  isolate_calls(NULL); /* outside */
  in_pools(isolate_calls, NULL);
}

/* ---- parts of isolated work know whose they are ---- */

/* A part is a piece of code that runs as one task: it knows what forked or spawned it. A
 * thread remembers the part that it stands in. */
typedef struct part {
  const struct part *parent;
  weft_pool *pool; /* where its tasks run; NULL: the current one */
  unsigned depth;
  bool strictly;   /* see part_enter */
  unsigned leaves; /* the result */
} part;

static _Thread_local const part *innermost;

static const part *root_of(const part *p) {
  while (p->parent != NULL) p = p->parent;
  return p;
}

static bool is_inside(const part *p, const part *of) {
  while (p != NULL && p != of) p = p->parent;
  return p != NULL;
}

/* What waits on this thread waits for something that this part belongs to: the same
 * whole, or, strictly, the very part that waits. If not, the program ends, because the
 * next thing would be a deadlock. */
static const part *part_enter(const part *p) {
  const part *outer = innermost;
  bool belongs =
      outer == NULL || (p->strictly ? is_inside(p, outer) : root_of(p) == root_of(outer));
  REQUIRE(belongs);
  innermost = p;
  return outer;
}

static void part_run(void *ctx);

/* A tree whose nodes are joins and scopes in turn. */
static void part_split(void *ctx) {
  part *self = ctx;
  part below[3];
  for (int i = 0; i < 3; i++) {
    below[i] = *self;
    below[i].parent = self;
    below[i].depth--;
  }
  if (self->depth % 2 == 0) {
    weft_join(part_run, &below[0], part_run, &below[1]);
    part_run(&below[2]);
  } else {
    weft_scope scope;
    weft_scope_begin(&scope);
    for (int i = 0; i < 3; i++) weft_spawn(&scope, part_run, &below[i]);
    CHECK_EQ(weft_scope_end(&scope), 0);
  }
  for (int i = 0; i < 3; i++) self->leaves += below[i].leaves;
}

static void part_run(void *ctx) {
  part *self = ctx;
  const part *outer = part_enter(self);
  if (self->depth == 0) {
    spin(30);
    self->leaves = 1;
  } else if (self->pool != NULL) {
    weft_pool_run(self->pool, part_split, self);
  } else {
    part_split(self);
  }
  innermost = outer;
}

/* What is no part of anything isolated: it may not come while such a part waits. */
static void stranger(void *ctx) {
  REQUIRE(innermost == NULL);
  count_one(ctx);
}

/* ---- a lock around parallel work ---- */

typedef struct locked {
  pthread_mutex_t mutex;
  unsigned depth;
  weft_pool *pool;       /* where the isolated work is done; NULL: the current one */
  unsigned long updates; /* guarded by the mutex */
} locked;

static void locked_init(locked *l, unsigned depth) {
  pthread_mutexattr_t attributes;
  REQUIRE(pthread_mutexattr_init(&attributes) == 0);
  /* Taking it twice is an error, and does not hang. */
  REQUIRE(pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK) == 0);
  REQUIRE(pthread_mutex_init(&l->mutex, &attributes) == 0);
  pthread_mutexattr_destroy(&attributes);
  l->depth = depth;
  l->pool = NULL;
  l->updates = 0;
}

static unsigned leaves_of(unsigned depth) {
  unsigned leaves = 1;
  while (depth-- > 0) leaves *= 3;
  return leaves;
}

static void update(void *ctx) {
  locked *l = ctx;
  /* Otherwise the lock is held below on this stack, or by a thread that waits for this.
   */
  REQUIRE(innermost == NULL);
  REQUIRE(pthread_mutex_lock(&l->mutex) == 0);
  part whole = {.pool = l->pool, .depth = l->depth};
  weft_isolate(part_run, &whole);
  CHECK_EQ(whole.leaves, leaves_of(l->depth));
  l->updates++;
  REQUIRE(pthread_mutex_unlock(&l->mutex) == 0);
}

enum { TASKS = 20 };

static void update_in_a_scope(void *ctx) {
  weft_scope scope;
  weft_scope_begin(&scope);
  for (int i = 0; i < TASKS; i++) weft_spawn(&scope, update, ctx);
  CHECK_EQ(weft_scope_end(&scope), 0);
}

TEST_LIMIT(a_lock_around_isolated_work, 240) {
  for (unsigned i = 0; i < SIZE_COUNT; i++) {
    for (unsigned depth = 1; depth <= 4; depth++) {
      locked l;
      locked_init(&l, depth);
      weft_pool *pool = pool_of(SIZES[i]);
      unsigned long rounds = scaled(10000 / TASKS);
      for (unsigned long round = 0; round < rounds; round++)
        weft_pool_run(pool, update_in_a_scope, &l);
      weft_pool_destroy(pool);
      CHECK_EQ(l.updates, TASKS * rounds);
      pthread_mutex_destroy(&l.mutex);
    }
  }
}

/* By joins, scopes and detached functions, from several threads at once, with others
 * around that have nothing to do with it. */
typedef struct updaters {
  locked l;
  weft_pool *pools[2];
  atomic_ulong strangers;
} updaters;

static void update_twice(void *ctx) {
  weft_join(update, ctx, update, ctx);
}

static void update_in_joins(void *ctx) {
  weft_join(update_twice, ctx, update_twice, ctx);
}

static void strangers_in_a_scope(void *ctx) {
  weft_scope scope;
  weft_scope_begin(&scope);
  for (int i = 0; i < 20; i++) weft_spawn(&scope, stranger, ctx);
  weft_join(stranger, ctx, stranger, ctx);
  CHECK_EQ(weft_scope_end(&scope), 0);
}

static void update_from_outside(unsigned index, void *arg) {
  updaters *u = arg;
  weft_pool *pool = u->pools[index % 2];
  for (unsigned long i = 0; i < scaled(200); i++) {
    CHECK_EQ(weft_pool_detach(pool, update, &u->l), 0);
    CHECK_EQ(weft_pool_detach(pool, stranger, &u->strangers), 0);
    weft_pool_run(pool, index / 2 % 2 == 0 ? update_in_joins : strangers_in_a_scope,
                  index / 2 % 2 == 0 ? (void *)&u->l : (void *)&u->strangers);
  }
}

static void check_updaters(updaters *u) {
  const unsigned long rounds = scaled(200);
  atomic_store(&u->strangers, 0);
  harness_run_threads(8, update_from_outside, u);
  weft_pool_destroy(u->pools[0]);
  if (u->pools[1] != u->pools[0]) weft_pool_destroy(u->pools[1]);
  CHECK_EQ(u->l.updates, rounds * (8 + 4 * 4));
  CHECK_EQ(atomic_load(&u->strangers), rounds * (8 + 4 * 22));
  pthread_mutex_destroy(&u->l.mutex);
}

TEST_LIMIT(a_lock_and_all_kinds_of_work, 120) {
  for (unsigned i = 0; i < SIZE_COUNT; i++) {
    updaters u;
    locked_init(&u.l, 3);
    u.pools[0] = u.pools[1] = pool_of(SIZES[i]);
    check_updaters(&u);
  }
}

/* The isolated work goes into one of the pools; tasks of both take the lock. */
TEST_LIMIT(a_lock_around_work_in_another_pool, 120) {
  for (unsigned i = 0; i < SIZE_COUNT; i++) {
    updaters u;
    locked_init(&u.l, 3);
    u.pools[0] = pool_of(SIZES[i]);
    u.pools[1] = u.l.pool = pool_of(2);
    check_updaters(&u);
  }
}

/* ---- a thread that waits inside runs only its own ---- */

/* "While fn, or anything that it forks or spawns, waits for its own tasks, the waiting
 * thread runs only tasks made by what is waiting": not even those of its siblings. */
static void isolate_strictly(void *ctx) {
  (void)ctx;
  for (unsigned long i = 0; i < scaled(300); i++) {
    part whole = {.depth = 5, .strictly = true};
    weft_isolate(part_run, &whole);
    CHECK_EQ(whole.leaves, leaves_of(5));
  }
}

static void isolate_strictly_there(unsigned index, void *arg) {
  (void)index;
  weft_pool_run(arg, isolate_strictly, NULL);
}

TEST(waiting_parts_run_only_their_own) {
  for (unsigned i = 0; i < SIZE_COUNT; i++) {
    weft_pool *pool = pool_of(SIZES[i]);
    harness_run_threads(2, isolate_strictly_there, pool);
    weft_pool_destroy(pool);
  }
}

/* The same on purpose: the caller waits for b, whose thread waits for c, and there is
 * nothing to run but strangers. */
typedef struct standstill {
  weft_pool *pool;
  part whole, b, c;
  pthread_t threads[2]; /* of the caller and of b */
  pid_t thread_ids[2];
  gate hold;           /* c stands in it */
  gate with_strangers; /* and so does the task that has made the strangers */
  atomic_ulong strangers;
} standstill;

static void until_all_stand(void *ctx) {
  standstill *s = ctx;
  AWAIT(atomic_load(&s->hold.inside) == 1);
  AWAIT(atomic_load(&s->with_strangers.inside) == 1);
}

static void part_c(void *ctx) {
  standstill *s = ctx;
  const part *outer = part_enter(&s->c);
  CHECK(!pthread_equal(pthread_self(), s->threads[0]));
  CHECK(!pthread_equal(pthread_self(), s->threads[1]));
  gate_pass(&s->hold);
  innermost = outer;
}

static void part_b(void *ctx) {
  standstill *s = ctx;
  const part *outer = part_enter(&s->b);
  s->threads[1] = pthread_self();
  s->thread_ids[1] = own_thread_id();
  CHECK(!pthread_equal(pthread_self(), s->threads[0]));
  weft_join(until_all_stand, s, part_c, s);
  innermost = outer;
}

static void part_a(void *ctx) {
  standstill *s = ctx;
  const part *outer = part_enter(&s->whole);
  weft_join(until_all_stand, s, part_b, s);
  innermost = outer;
}

static void isolate_to_a_standstill(void *ctx) {
  standstill *s = ctx;
  s->threads[0] = pthread_self();
  s->thread_ids[0] = own_thread_id();
  weft_isolate(part_a, s);
}

static void make_strangers(void *ctx) {
  standstill *s = ctx;
  weft_scope scope;
  weft_scope_begin(&scope);
  for (int i = 0; i < 5; i++) weft_spawn(&scope, stranger, &s->strangers);
  gate_pass(&s->with_strangers);
  CHECK_EQ(weft_scope_end(&scope), 0);
}

static void *bring_strangers(void *arg) {
  standstill *s = arg;
  AWAIT(atomic_load(&s->hold.inside) == 1);
  CHECK_EQ(weft_pool_detach(s->pool, make_strangers, s), 0);
  AWAIT(atomic_load(&s->with_strangers.inside) == 1);
  CHECK_EQ(weft_pool_detach(s->pool, stranger, &s->strangers), 0);
  for (int i = 0; i < 2; i++) let_it_sleep(s->thread_ids[i]);
  CHECK_EQ(atomic_load(&s->strangers), 0); /* all who could run one wait isolated */
  gate_open(&s->hold);
  gate_open(&s->with_strangers);
  return NULL;
}

TEST(strangers_do_not_run_on_isolated_threads) {
  for (unsigned long i = 0; i < scaled(200); i++) {
    standstill s = {.pool = pool_of(4)};
    pthread_t thread;
    s.b.parent = &s.whole;
    s.c.parent = &s.b;
    REQUIRE(pthread_create(&thread, NULL, bring_strangers, &s) == 0);
    weft_pool_run(s.pool, isolate_to_a_standstill, &s);
    pthread_join(thread, NULL);
    weft_pool_destroy(s.pool);
    CHECK_EQ(atomic_load(&s.strangers), 6);
  }
}

/* ---- it still runs its own ---- */

static void run_on(void *ctx) {
  part *self = ctx;
  const part *outer = part_enter(self);
  CHECK(outer != NULL); /* on the isolated thread: no other is free */
  self->leaves++;
  innermost = outer;
}

/* Spawned, forked, by the isolated code itself and by its tasks. */
static void run_all_oneself(void *ctx) {
  part *whole = ctx;
  const part *outer = part_enter(whole);
  part below[5];
  weft_scope scope, inner;
  for (int i = 0; i < 5; i++) below[i] = (part){.parent = whole};
  weft_scope_begin(&scope);
  weft_spawn(&scope, run_on, &below[0]);
  weft_scope_begin(&inner);
  weft_spawn(&inner, run_on, &below[1]);
  weft_spawn(&scope, run_on, &below[2]);
  CHECK_EQ(weft_scope_end(&inner), 0);
  CHECK_EQ(below[1].leaves, 1);
  weft_join(run_on, &below[3], run_on, &below[4]);
  CHECK_EQ(weft_scope_end(&scope), 0);
  for (int i = 0; i < 5; i++) CHECK_EQ(below[i].leaves, 1);
  innermost = outer;
}

static void isolate_all_oneself(void *ctx) {
  (void)ctx;
  for (unsigned long i = 0; i < scaled(2000); i++) {
    part whole = {.depth = 0};
    weft_isolate(run_all_oneself, &whole);
  }
}

TEST(isolated_threads_run_their_own) {
  for (unsigned threads = 1; threads <= 3; threads++) {
    gate plug = {0};
    weft_pool *pool = pool_of(threads);
    plug_threads(&plug, pool);
    weft_pool_run(pool, isolate_all_oneself, NULL);
    unplug(&plug);
    weft_pool_destroy(pool);
  }
}

/* Others take its tasks as ever. */
static void pair_by_join_and_scope(void *ctx) {
  join_pairing(ctx);
  pairing pair = {.a_thread = pthread_self()};
  weft_scope scope;
  weft_scope_begin(&scope);
  weft_spawn(&scope, b_begins, &pair);
  a_until_b(&pair);
  CHECK_EQ(weft_scope_end(&scope), 0);
}

static void isolate_pairs(void *ctx) {
  (void)ctx;
  for (unsigned long i = 0; i < scaled(2000); i++)
    weft_isolate(pair_by_join_and_scope, NULL);
}

TEST(isolated_work_is_stolen) {
  for (unsigned threads = 2; threads <= 3; threads++) {
    weft_pool *pool = pool_of(threads);
    weft_pool_run(pool, isolate_pairs, NULL);
    weft_pool_destroy(pool);
  }
}

/* A handle that isolated code has made, begun by somebody else or by nobody. */
static void wait_for_own_handle(void *ctx) {
  weft_handle *handle;
  REQUIRE(weft_async(&handle, count_one, ctx) == 0);
  CHECK_EQ(weft_handle_wait(handle), 0);
}

static void isolate_handles(void *ctx) {
  atomic_ulong ran = 0;
  (void)ctx;
  for (unsigned long i = 1; i <= scaled(1000); i++) {
    weft_isolate(wait_for_own_handle, &ran);
    CHECK_EQ(atomic_load(&ran), i);
  }
}

TEST(handles_of_isolated_work) {
  in_pools(isolate_handles, NULL);
  gate plug = {0};
  weft_pool *pool = pool_of(2);
  plug_threads(&plug, pool);
  weft_pool_run(pool, isolate_handles, NULL);
  unplug(&plug);
  weft_pool_destroy(pool);
}

/* ---- afterwards all is as before ---- */

/* One started thread stands in a task that this thread waits for, the other in a join
 * whose second half is a stranger to this thread, and left to it. */
typedef struct afterwards {
  atomic_bool begun, other_begun;
  atomic_ulong ran;
} afterwards;

static void stay_in_the_scope(void *ctx) {
  afterwards *s = ctx;
  atomic_store(&s->begun, true);
  AWAIT(atomic_load(&s->ran) == 1);
}

static void stay_in_the_join(void *ctx) {
  afterwards *s = ctx;
  atomic_store(&s->other_begun, true);
  AWAIT(atomic_load(&s->ran) == 1);
}

static void join_of_others(void *ctx) {
  afterwards *s = ctx;
  weft_join(stay_in_the_join, s, count_one, &s->ran);
}

TEST(helping_goes_on_afterwards) {
  weft_pool *pool = pool_of(3);
  weft_opts opts = opts_on(pool);
  for (unsigned long i = 0; i < scaled(500); i++) {
    afterwards s = {.ran = 0};
    weft_handle *others;
    weft_scope scope;
    weft_scope_begin_with(&opts, &scope);
    weft_isolate(do_nothing, NULL);
    weft_spawn(&scope, stay_in_the_scope, &s);
    AWAIT(atomic_load(&s.begun));
    REQUIRE(weft_async(&others, join_of_others, &s) == 0);
    AWAIT(atomic_load(&s.other_begun));
    CHECK_EQ(weft_scope_end(&scope), 0);
    CHECK_EQ(atomic_load(&s.ran), 1);
    CHECK_EQ(weft_handle_wait(others), 0);
  }
  weft_pool_destroy(pool);
}
