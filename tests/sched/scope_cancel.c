/* Cancelling scopes: what has not started is skipped, what runs can see it, the first
 * error wins, and it reaches every scope inside, wherever that was opened.
 *
 * SPDX-License-Identifier: MIT */
#include "support.h"

#include <limits.h>
#include <pthread.h>

/* ---- skipping ---- */

/* With one thread nothing has started before the end. */
static void cancel_before_all(void *ctx) {
  atomic_ulong ran = 0;
  (void)ctx;
  for (int order = WEFT_ORDER_LIFO; order <= WEFT_ORDER_FIFO; order++) {
    for (int spawns_before = 0; spawns_before <= 100; spawns_before += 50) {
      weft_opts opts = WEFT_OPTS_INIT;
      weft_scope scope;
      opts.order = (weft_order)order;
      weft_scope_begin_with(&opts, &scope);
      CHECK(!weft_scope_cancelled(&scope));
      for (int i = 0; i < spawns_before; i++) weft_spawn(&scope, count_one, &ran);
      weft_scope_cancel(&scope, 7);
      CHECK(weft_scope_cancelled(&scope));
      for (int i = spawns_before; i < 100; i++) weft_spawn(&scope, count_one, &ran);
      CHECK_EQ(weft_scope_end(&scope), 7);
    }
  }
  CHECK_EQ(atomic_load(&ran), 0);
}

TEST(tasks_that_have_not_started_are_skipped) {
  weft_pool *pool = pool_of(1);
  weft_pool_run(pool, cancel_before_all, NULL);
  run_on_started(pool, cancel_before_all, NULL);
  weft_pool_destroy(pool);
  gate plug = {0};
  pool = pool_of(3);
  plug_threads(&plug, pool);
  weft_pool_run(pool, cancel_before_all, NULL);
  unplug(&plug);
  weft_pool_destroy(pool);
}

/* What is spawned after the call is skipped on any number of threads. */
static void spawn_when_cancelled(void *ctx) {
  atomic_ulong ran = 0;
  weft_scope scope;
  (void)ctx;
  weft_scope_begin(&scope);
  weft_scope_cancel(&scope, 7);
  for (unsigned long i = 0; i < scaled(20000); i++) weft_spawn(&scope, count_one, &ran);
  CHECK_EQ(weft_scope_end(&scope), 7);
  CHECK_EQ(atomic_load(&ran), 0);
}

TEST(a_cancelled_scope_runs_nothing_new) {
  in_pools(spawn_when_cancelled, NULL);
}

typedef struct countdown {
  weft_scope scope;
  unsigned ran, last; /* number `last` cancels */
} countdown;

static void count_down(void *ctx) {
  countdown *c = ctx;
  if (++c->ran == c->last) weft_scope_cancel(&c->scope, (int)c->last);
}

/* On one thread in the order of spawns: exactly those before the cancelling one run. */
TEST(a_task_skips_those_behind_it) {
  weft_pool *pool = pool_of(1);
  for (unsigned last = 1; last <= 100; last++) {
    countdown c = {.last = last};
    weft_opts opts = opts_on(pool);
    opts.order = WEFT_ORDER_FIFO;
    weft_scope_begin_with(&opts, &c.scope);
    for (int i = 0; i < 100; i++) weft_spawn(&c.scope, count_down, &c);
    CHECK_EQ(weft_scope_end(&c.scope), last);
    CHECK_EQ(c.ran, last);
  }
  weft_pool_destroy(pool);
}

/* ---- running tasks ---- */

typedef struct watcher {
  weft_scope scope;
  atomic_bool begun;
  bool done; /* plain: the end of the scope must make it visible */
  atomic_ulong ran;
} watcher;

/* The rest of a running task is not skipped, and what it spawns is. */
static void watch(void *ctx) {
  watcher *w = ctx;
  atomic_store(&w->begun, true);
  AWAIT(weft_scope_cancelled(&w->scope));
  for (int i = 0; i < 10; i++) weft_spawn(&w->scope, count_one, &w->ran);
  check_tree(5); /* joins do what they always do */
  spin(100);
  w->done = true;
}

TEST(running_tasks_see_it_and_are_waited_for) {
  for (unsigned threads = 2; threads <= 3; threads++) {
    weft_pool *pool = pool_of(threads);
    weft_opts opts = opts_on(pool);
    for (unsigned long i = 0; i < scaled(1000); i++) {
      watcher w = {.done = false};
      weft_scope_begin_with(&opts, &w.scope);
      weft_spawn(&w.scope, watch, &w);
      AWAIT(atomic_load(&w.begun));
      weft_scope_cancel(&w.scope, -99);
      CHECK_EQ(weft_scope_end(&w.scope), -99);
      CHECK(w.done);
      CHECK_EQ(atomic_load(&w.ran), 0);
    }
    weft_pool_destroy(pool);
  }
}

static void *cancel_from_outside(void *arg) {
  watcher *w = arg;
  AWAIT(atomic_load(&w->begun));
  weft_scope_cancel(&w->scope, 12);
  return NULL;
}

/* The scope's thread runs the task, or waits for it, and a thread in no pool cancels. */
TEST(any_thread_may_cancel) {
  for (unsigned threads = 1; threads <= 3; threads++) {
    weft_pool *pool = pool_of(threads);
    weft_opts opts = opts_on(pool);
    for (unsigned long i = 0; i < scaled(200); i++) {
      watcher w = {.done = false};
      pthread_t thread;
      REQUIRE(pthread_create(&thread, NULL, cancel_from_outside, &w) == 0);
      weft_scope_begin_with(&opts, &w.scope);
      weft_spawn(&w.scope, watch, &w);
      CHECK_EQ(weft_scope_end(&w.scope), 12);
      CHECK(w.done);
      CHECK_EQ(atomic_load(&w.ran), 0);
      pthread_join(thread, NULL);
    }
    weft_pool_destroy(pool);
  }
}

/* ---- errors ---- */

TEST(errors_are_the_programs_own) {
  static const int errors[] = {1, -1, 7, WEFT_EINVAL, INT_MAX, INT_MIN, 1 << 30};
  for (unsigned i = 0; i < sizeof errors / sizeof errors[0]; i++) {
    weft_scope scope;
    weft_scope_begin(&scope);
    weft_scope_cancel(&scope, errors[i]);
    CHECK_EQ(weft_scope_end(&scope), errors[i]);
  }
  weft_scope scope;
  weft_scope_begin(&scope);
  weft_scope_cancel(&scope, 0);
  CHECK(weft_scope_cancelled(&scope));
  CHECK_EQ(weft_scope_end(&scope), WEFT_ECANCELED);
  weft_shutdown();
}

TEST(later_errors_change_nothing) {
  weft_scope scope;
  weft_scope_begin(&scope);
  weft_scope_cancel(&scope, 3);
  weft_scope_cancel(&scope, 4);
  weft_scope_cancel(&scope, 0);
  CHECK_EQ(weft_scope_end(&scope), 3);
  weft_scope_begin(&scope); /* the next one in the same memory knows nothing of it */
  CHECK(!weft_scope_cancelled(&scope));
  weft_scope_cancel(&scope, 0);
  weft_scope_cancel(&scope, 4);
  CHECK_EQ(weft_scope_end(&scope), WEFT_ECANCELED);
  weft_scope_begin(&scope);
  CHECK_EQ(weft_scope_end(&scope), 0);
  weft_shutdown();
}

enum { RIVALS = 6 };

typedef struct race {
  weft_scope scope;
  bool was_late[RIVALS]; /* had somebody else been first already? */
} race;

typedef struct rival {
  race *in;
  unsigned number;
} rival;

static void cancel_as(race *r, unsigned number) {
  r->was_late[number] = weft_scope_cancelled(&r->scope);
  weft_scope_cancel(&r->scope, (int)number + 1);
  CHECK(weft_scope_cancelled(&r->scope));
}

static void race_from_outside(unsigned index, void *arg) {
  cancel_as(arg, index);
}

static void race_as_task(void *ctx) {
  const rival *self = ctx;
  cancel_as(self->in, self->number);
}

/* One of them wins, and it is none that came when the scope was cancelled already. */
static void check_winner(race *r, int error) {
  CHECK_MSG(error >= 1 && error <= RIVALS, "%d", error);
  if (error >= 1 && error <= RIVALS) CHECK(!r->was_late[error - 1]);
}

TEST(the_first_of_many_errors_wins) {
  weft_pool *pool = pool_of(3);
  weft_opts opts = opts_on(pool);
  for (unsigned long i = 0; i < scaled(500); i++) {
    race r = {.was_late = {false}};
    weft_scope_begin_with(&opts, &r.scope);
    harness_run_threads(RIVALS, race_from_outside, &r);
    check_winner(&r, weft_scope_end(&r.scope));
  }
  for (unsigned long i = 0; i < scaled(5000); i++) {
    race r = {.was_late = {false}};
    rival rivals[RIVALS];
    weft_scope_begin_with(&opts, &r.scope);
    for (unsigned k = 0; k < RIVALS; k++) {
      rivals[k] = (rival){&r, k};
      weft_spawn(&r.scope, race_as_task, &rivals[k]);
    }
    check_winner(&r, weft_scope_end(&r.scope));
  }
  weft_pool_destroy(pool);
}

/* Nothing runs twice, and nothing after the end, at whatever moment the error comes. */
typedef struct storm {
  weft_scope scope;
  atomic_bool over;
  atomic_ulong ran;
  unsigned long cancel_at;
} storm;

static void storm_task(void *ctx) {
  storm *s = ctx;
  CHECK(!atomic_load(&s->over));
  if (atomic_fetch_add(&s->ran, 1) == s->cancel_at) weft_scope_cancel(&s->scope, 1);
  spin(5);
}

static void storms(void *ctx) {
  static storm s; /* stays readable for a task that comes too late */
  uint64_t *random = ctx;
  for (unsigned long i = 0; i < scaled(1500); i++) {
    atomic_store(&s.over, false);
    atomic_store(&s.ran, 0);
    s.cancel_at = harness_random(random) % 400;
    weft_scope_begin(&s.scope);
    for (int t = 0; t < 300; t++) weft_spawn(&s.scope, storm_task, &s);
    int status = weft_scope_end(&s.scope);
    atomic_store(&s.over, true);
    CHECK_EQ(status, s.cancel_at < 300 ? 1 : 0);
    if (status == 0)
      CHECK_EQ(atomic_load(&s.ran), 300);
    else
      CHECK(atomic_load(&s.ran) > s.cancel_at && atomic_load(&s.ran) <= 300);
  }
}

TEST(cancelling_at_any_moment) {
  uint64_t random = harness_seed();
  in_pools(storms, &random);
}

/* ---- scopes inside scopes ---- */

/* Three scopes of one thread; each is cancelled with its number, or not. */
static void three_levels(void *ctx) {
  (void)ctx;
  for (int cancelled = 0; cancelled < 8; cancelled++) {
    for (int inside_first = 0; inside_first <= 1; inside_first++) {
      weft_scope scopes[3];
      atomic_ulong ran[3] = {0, 0, 0};
      int expected[3] = {0, 0, 0}, nearest = 0;
      for (int i = 0; i < 3; i++) weft_scope_begin(&scopes[i]);
      for (int k = 0; k < 3; k++) {
        int i = inside_first ? 2 - k : k;
        if (cancelled & (1 << i)) weft_scope_cancel(&scopes[i], i + 1);
      }
      for (int i = 0; i < 3; i++) {
        if (cancelled & (1 << i)) nearest = i + 1;
        expected[i] = nearest;
        CHECK_EQ(weft_scope_cancelled(&scopes[i]), nearest != 0);
        weft_spawn(&scopes[i], count_one, &ran[i]);
      }
      for (int i = 2; i >= 0; i--) {
        CHECK_EQ(weft_scope_end(&scopes[i]), expected[i]);
        CHECK_EQ(atomic_load(&ran[i]), expected[i] == 0 ? 1 : 0);
      }
    }
  }
}

TEST(the_nearest_cancelled_scope_gives_the_error) {
  in_pools(three_levels, NULL);
  three_levels(NULL);
  weft_shutdown();
}

/* Cancelled scopes are counted while they are open, each of them once. */
static void count_while_open(void *ctx) {
  (void)ctx;
  weft_scope first, second, part;
  CHECK_EQ(wf_u32_load_relaxed(&wf_cancelled_scopes.x_count), 0);
  weft_scope_begin(&first);
  weft_scope_begin(&second);
  weft_scope_cancel(&first, 1);
  weft_scope_cancel(&first, 2);
  CHECK_EQ(wf_u32_load_relaxed(&wf_cancelled_scopes.x_count), 1);
  weft_scope_cancel(&second, 3);
  wf_scope_begin_part(&part);
  weft_scope_cancel(&part, 4);
  CHECK_EQ(wf_u32_load_relaxed(&wf_cancelled_scopes.x_count), 2);
  CHECK_EQ(weft_scope_end(&part), 3);
  CHECK_EQ(wf_u32_load_relaxed(&wf_cancelled_scopes.x_count), 2);
  CHECK_EQ(weft_scope_end(&second), 3);
  CHECK_EQ(wf_u32_load_relaxed(&wf_cancelled_scopes.x_count), 1);
  weft_scope_begin(&second);
  CHECK_EQ(weft_scope_end(&second), 1); /* of the one around: not its own */
  CHECK_EQ(wf_u32_load_relaxed(&wf_cancelled_scopes.x_count), 1);
  CHECK_EQ(weft_scope_end(&first), 1);
  CHECK_EQ(wf_u32_load_relaxed(&wf_cancelled_scopes.x_count), 0);
}

TEST(cancelled_scopes_are_counted_while_they_are_open) {
  in_pools(count_while_open, NULL);
  count_while_open(NULL);
  weft_shutdown();
}

/* A child that is open somewhere, while the one who holds `parent` cancels it. */
typedef struct family {
  weft_scope *parent;
  weft_pool *pool; /* of the child; NULL: the current one */
  pthread_t a_thread;
  atomic_bool child_is_open;
  atomic_ulong ran;
  unsigned checked;
} family;

static void child_in_between(family *f) {
  weft_opts opts = opts_on(f->pool);
  weft_scope child, grandchild;
  CHECK_EQ(weft_scope_current(), f->parent);
  weft_scope_begin_with(&opts, &child);
  CHECK_EQ(weft_scope_current(), &child);
  CHECK(!weft_scope_cancelled(&child));
  weft_scope_begin(&grandchild);
  atomic_store(&f->child_is_open, true);
  AWAIT(weft_scope_cancelled(&child));
  CHECK(weft_scope_cancelled(&grandchild));
  weft_spawn(&grandchild, count_one, &f->ran);
  CHECK_EQ(weft_scope_end(&grandchild), 9);
  for (int i = 0; i < 10; i++) weft_spawn(&child, count_one, &f->ran);
  CHECK_EQ(weft_scope_end(&child), 9);
  CHECK_EQ(weft_scope_current(), f->parent);
  CHECK_EQ(atomic_load(&f->ran), 0);
  f->checked++;
}

static void child_in_a_task(void *ctx) {
  child_in_between(ctx);
}

static void cancel_the_parent(void *ctx) {
  family *f = ctx;
  AWAIT(atomic_load(&f->child_is_open));
  CHECK_EQ(weft_scope_current(), f->parent);
  weft_scope_cancel(f->parent, 9);
}

/* The child is opened by a task, on another thread. */
static void parent_of_a_task(void *ctx) {
  family *model = ctx;
  for (unsigned long i = 0; i < scaled(500); i++) {
    weft_scope parent;
    family f = {.parent = &parent, .pool = model->pool};
    weft_scope_begin(&parent);
    weft_spawn(&parent, child_in_a_task, &f);
    cancel_the_parent(&f);
    CHECK_EQ(weft_scope_end(&parent), 9);
    CHECK_EQ(f.checked, 1);
  }
}

/* The child is opened by the stolen half of a join in a task. */
static void child_in_a_stolen_half(void *ctx) {
  family *f = ctx;
  CHECK(!pthread_equal(pthread_self(), f->a_thread));
  child_in_between(f);
}

static void join_in_a_task(void *ctx) {
  family *f = ctx;
  f->a_thread = pthread_self();
  weft_join(cancel_the_parent, f, child_in_a_stolen_half, f);
  CHECK_EQ(weft_scope_current(), f->parent);
}

static void parent_of_a_stolen_half(void *ctx) {
  family *model = ctx;
  for (unsigned long i = 0; i < scaled(500); i++) {
    weft_scope parent;
    family f = {.parent = &parent, .pool = model->pool};
    weft_scope_begin(&parent);
    weft_spawn(&parent, join_in_a_task, &f);
    CHECK_EQ(weft_scope_end(&parent), 9);
    CHECK_EQ(f.checked, 1);
  }
}

/* And without a task: the join is in the body of the scope. */
static void join_in_the_body(void *ctx) {
  family *model = ctx;
  for (unsigned long i = 0; i < scaled(500); i++) {
    weft_scope parent;
    family f = {.parent = &parent, .pool = model->pool};
    weft_scope_begin(&parent);
    join_in_a_task(&f);
    CHECK_EQ(weft_scope_end(&parent), 9);
    CHECK_EQ(f.checked, 1);
  }
}

TEST(cancelling_reaches_the_scopes_of_tasks) {
  weft_pool *other = pool_of(2);
  for (unsigned threads = 2; threads <= 4; threads++) {
    for (int elsewhere = 0; elsewhere <= 1; elsewhere++) {
      family model = {.pool = elsewhere ? other : NULL};
      weft_pool *pool = pool_of(threads);
      weft_pool_run(pool, parent_of_a_task, &model);
      weft_pool_run(pool, parent_of_a_stolen_half, &model);
      weft_pool_run(pool, join_in_the_body, &model);
      weft_pool_destroy(pool);
    }
  }
  weft_pool_destroy(other);
}

/* Through weft_pool_run: into another pool, and there through a stolen half. */
static void run_in_the_other_pool(void *ctx) {
  family *f = ctx;
  weft_pool_run(f->pool, child_in_a_task, f);
}

static void join_in_the_other_pool(void *ctx) {
  family *f = ctx;
  weft_pool_run(f->pool, join_in_a_task, f);
}

static void parent_of_another_pool(void *ctx) {
  family *model = ctx;
  for (unsigned long i = 0; i < scaled(300); i++) {
    weft_scope parent;
    family f = {.parent = &parent, .pool = model->pool};
    weft_scope_begin(&parent);
    weft_spawn(&parent, run_in_the_other_pool, &f);
    cancel_the_parent(&f);
    CHECK_EQ(weft_scope_end(&parent), 9);
    CHECK_EQ(f.checked, 1);
    family g = {.parent = &parent, .pool = model->pool};
    weft_scope_begin(&parent);
    weft_spawn(&parent, join_in_the_other_pool, &g);
    CHECK_EQ(weft_scope_end(&parent), 9);
    CHECK_EQ(g.checked, 1);
  }
}

TEST(cancelling_reaches_scopes_in_other_pools) {
  family model = {.pool = pool_of(2)};
  for (unsigned threads = 2; threads <= 3; threads++) {
    weft_pool *pool = pool_of(threads);
    weft_pool_run(pool, parent_of_another_pool, &model);
    weft_pool_destroy(pool);
  }
  weft_pool_destroy(model.pool);
}
