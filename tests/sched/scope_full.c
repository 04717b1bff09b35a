/* Spawns into a deque that is full of tasks nobody takes: weft_spawn then runs what it is
 * given itself.
 *
 * SPDX-License-Identifier: MIT */
#include "support.h"

/* More than the ring of a worker has room for. */
enum { FULL = 3000, MORE = 200 };

static weft_opts opts_of(weft_order order) {
  weft_opts opts = WEFT_OPTS_INIT;
  opts.order = order;
  return opts;
}

/* Calls the function on the only thread of a pool. */
static void on_one_thread(weft_fn *fn, void *ctx) {
  weft_pool *pool = pool_of(1);
  weft_pool_run(pool, fn, ctx);
  weft_pool_destroy(pool);
}

/* ---- what runs where ---- */

typedef struct visit {
  weft_scope *scope;
  unsigned runs;
  weft_scope *seen;         /* the innermost scope around it */
  unsigned children, ended; /* children in a scope of its own, and those that ended */
} visit;

static void child(void *ctx) {
  visit *self = ctx;
  self->ended++;
}

/* Whatever it is run by, it is in its scope and may open others. */
static void run_visit(void *ctx) {
  visit *self = ctx;
  self->runs++;
  self->seen = weft_scope_current();
  if (self->children == 0) return;
  weft_scope scope;
  weft_scope_begin(&scope);
  for (unsigned i = 0; i < self->children; i++) weft_spawn(&scope, child, self);
  CHECK_EQ(weft_scope_end(&scope), 0);
  CHECK_EQ(self->ended, self->children);
}

static void check_visits(const visit *visits, unsigned count, const weft_scope *scope) {
  for (unsigned i = 0; i < count; i++) {
    if (!CHECK_EQ(visits[i].runs, 1)) break;
    if (!CHECK_EQ(visits[i].seen, scope)) break;
  }
}

static void spawn_until_full(void *ctx) {
  static visit visits[FULL];
  (void)ctx;
  memset(visits, 0, sizeof visits);
  weft_scope scope;
  weft_scope_begin(&scope);
  for (unsigned i = 0; i < FULL; i++) {
    visits[i].children = i % 4;
    weft_spawn(&scope, run_visit, &visits[i]);
  }
  CHECK_EQ(visits[0].runs, 0);        /* the first are queued, */
  CHECK_EQ(visits[FULL - 1].runs, 1); /* the last have run */
  CHECK_EQ(weft_scope_current(), &scope);
  CHECK_EQ(weft_scope_end(&scope), 0);
  check_visits(visits, FULL, &scope);
}

TEST(a_full_deque_keeps_the_oldest) {
  on_one_thread(spawn_until_full, NULL);
}

/* ---- scopes inside each other ---- */

/* From inside the inner scope, into the outer one. */
static void spawn_into_outer(void *ctx) {
  static visit visits[FULL + MORE];
  const weft_order *order = ctx;
  weft_opts opts = opts_of(*order);
  memset(visits, 0, sizeof visits);
  weft_scope outer, inner;
  weft_scope_begin_with(&opts, &outer);
  weft_scope_begin(&inner);
  for (unsigned i = 0; i < FULL; i++) weft_spawn(&outer, run_visit, &visits[i]);
  for (unsigned i = FULL; i < FULL + MORE; i++) weft_spawn(&inner, run_visit, &visits[i]);
  CHECK_EQ(weft_scope_end(&inner), 0);
  check_visits(visits + FULL, MORE, &inner);
  CHECK_EQ(weft_scope_end(&outer), 0);
  check_visits(visits, FULL, &outer);
}

static void isolated_spawn_into_outer(void *ctx) {
  weft_isolate(spawn_into_outer, ctx);
}

TEST(a_full_deque_of_an_outer_scope) {
  weft_order orders[] = {WEFT_ORDER_LIFO, WEFT_ORDER_FIFO};
  for (int i = 0; i < 2; i++) {
    on_one_thread(spawn_into_outer, &orders[i]);
    on_one_thread(isolated_spawn_into_outer, &orders[i]);
    in_pools(spawn_into_outer, &orders[i]);
  }
}

/* ---- cancelled ---- */

static void cancel_when_full(void *ctx) {
  unsigned char *marks = marks_of(FULL + MORE);
  const weft_order *order = ctx;
  weft_opts opts = opts_of(*order);
  weft_scope scope;
  weft_scope_begin_with(&opts, &scope);
  for (unsigned i = 0; i < FULL; i++) weft_spawn(&scope, mark, &marks[i]);
  weft_scope_cancel(&scope, 0);
  for (unsigned i = FULL; i < FULL + MORE; i++) weft_spawn(&scope, mark, &marks[i]);
  CHECK_EQ(weft_scope_end(&scope), WEFT_ECANCELED);
  check_marks(marks + FULL, MORE, 0);
  free(marks);
}

TEST(a_full_deque_of_a_cancelled_scope) {
  weft_order orders[] = {WEFT_ORDER_LIFO, WEFT_ORDER_FIFO};
  for (int i = 0; i < 2; i++) on_one_thread(cancel_when_full, &orders[i]);
}

/* ---- others still get their share ---- */

typedef struct share {
  gate plug;
  weft_order order;
  int owner;
  atomic_bool stolen;
} share;

static void note_thief(void *ctx) {
  share *s = ctx;
  if (weft_worker_index() != s->owner) atomic_store(&s->stolen, true);
}

/* The deque is full when the other thread comes, and the owner goes on to spawn until
 * that thread has got something, although it queues nothing more itself. */
static void spawn_until_stolen(void *ctx) {
  share *s = ctx;
  weft_opts opts = opts_of(s->order);
  weft_scope scope;
  s->owner = weft_worker_index();
  weft_scope_begin_with(&opts, &scope);
  for (unsigned i = 0; i < FULL; i++) weft_spawn(&scope, note_thief, s);
  CHECK(!atomic_load(&s->stolen));
  unplug(&s->plug);
  while (!atomic_load(&s->stolen)) weft_spawn(&scope, note_thief, s);
  CHECK_EQ(weft_scope_end(&scope), 0);
}

TEST(a_full_deque_gives_when_asked) {
  for (unsigned long round = 0; round < scaled(100); round++) {
    share s = {.order = round % 2 == 0 ? WEFT_ORDER_LIFO : WEFT_ORDER_FIFO};
    weft_pool *pool = pool_of(2);
    plug_threads(&s.plug, pool);
    weft_pool_run(pool, spawn_until_stolen, &s);
    weft_pool_destroy(pool);
  }
}
