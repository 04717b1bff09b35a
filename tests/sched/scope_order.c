/* The order in which a thread runs the tasks of a scope, the options that choose it, and
 * what else options say about scopes.
 *
 * SPDX-License-Identifier: MIT */
#include "support.h"

/* ---- recording the order ---- */

typedef struct record {
  weft_scope scope;
  unsigned long spawned, ran; /* so far; one thread writes them */
  unsigned long *order;       /* the numbers of the tasks as they ran */
} record;

typedef struct step {
  record *of;
  unsigned long number;
  unsigned children; /* that it spawns in turn */
} step;

static void step_run(void *ctx);

static void spawn_step(record *r, unsigned children) {
  step next = {r, r->spawned++, children};
  weft_spawn_copy(&r->scope, &next, sizeof next, step_run);
}

static void step_run(void *ctx) {
  const step *self = ctx;
  record *r = self->of;
  r->order[r->ran++] = self->number;
  for (unsigned i = 0; i < self->children; i++) spawn_step(r, self->children - 1);
}

static void record_begin(record *r, unsigned long most, weft_order order) {
  weft_opts opts = WEFT_OPTS_INIT;
  opts.order = order;
  memset(r, 0, sizeof *r);
  r->order = malloc(most * sizeof *r->order);
  REQUIRE(r->order != NULL);
  weft_scope_begin_with(&opts, &r->scope);
}

/* ---- FIFO ---- */

/* All numbers in their order. */
static void check_fifo(record *r, unsigned long count) {
  CHECK_EQ(weft_scope_end(&r->scope), 0);
  CHECK_EQ(r->ran, count);
  for (unsigned long i = 0; i < r->ran; i++)
    if (!CHECK_EQ(r->order[i], i)) break;
  free(r->order);
}

static void fifo_flat(void *ctx) {
  static const unsigned long counts[] = {1, 2, 10, 1000, 50000};
  (void)ctx;
  for (unsigned c = 0; c < sizeof counts / sizeof counts[0]; c++) {
    unsigned long count = counts[c] <= 1000 ? counts[c] : scaled(counts[c]);
    record r;
    record_begin(&r, count, WEFT_ORDER_FIFO);
    for (unsigned long i = 0; i < count; i++) spawn_step(&r, 0);
    check_fifo(&r, count);
  }
}

/* Tasks that spawn put theirs behind those that wait: level by level. So few that no
 * spawn has reason to run tasks itself. */
static void fifo_levels(void *ctx) {
  (void)ctx;
  for (unsigned long round = 0; round < scaled(200); round++) {
    record r;
    record_begin(&r, 1000, WEFT_ORDER_FIFO);
    for (int i = 0; i < 3; i++) spawn_step(&r, 4);
    check_fifo(&r, 3 * (1 + 4 + 4 * 3 + 4 * 3 * 2 + 4 * 3 * 2));
  }
}

static void on_one_thread(weft_fn *fn) {
  weft_pool *pool = pool_of(1);
  weft_pool_run(pool, fn, NULL);
  run_on_started(pool, fn, NULL);
  weft_pool_destroy(pool);
  /* The same where the other thread is busy. */
  gate plug = {0};
  pool = pool_of(2);
  plug_threads(&plug, pool);
  weft_pool_run(pool, fn, NULL);
  unplug(&plug);
  weft_pool_destroy(pool);
}

TEST(fifo_on_one_thread_is_the_order_of_spawns) {
  on_one_thread(fifo_flat);
}

TEST(fifo_on_one_thread_goes_level_by_level) {
  on_one_thread(fifo_levels);
}

/* Two FIFO scopes of one thread do not take from each other's order. */
static void fifo_twice(void *ctx) {
  (void)ctx;
  for (unsigned long round = 0; round < scaled(200); round++) {
    record outer, inner;
    record_begin(&outer, 200, WEFT_ORDER_FIFO);
    for (int i = 0; i < 50; i++) spawn_step(&outer, 0);
    record_begin(&inner, 200, WEFT_ORDER_FIFO);
    for (int i = 0; i < 50; i++) {
      spawn_step(&inner, 0);
      spawn_step(&outer, 0);
    }
    check_fifo(&inner, 50);
    check_fifo(&outer, 100);
  }
}

TEST(fifo_scopes_inside_each_other) {
  on_one_thread(fifo_twice);
}

/* With many threads the order is not to be seen, but still every task runs once. */
static void fifo_marks(void *ctx) {
  unsigned long count = scaled(20000);
  unsigned char *marks = marks_of(count);
  (void)ctx;
  for (int round = 0; round < 5; round++) {
    weft_opts opts = WEFT_OPTS_INIT;
    weft_scope scope;
    opts.order = WEFT_ORDER_FIFO;
    weft_scope_begin_with(&opts, &scope);
    for (unsigned long m = 0; m < count; m++) weft_spawn(&scope, mark, &marks[m]);
    CHECK_EQ(weft_scope_end(&scope), 0);
    check_marks(marks, count, 1);
  }
  free(marks);
}

TEST(fifo_on_many_threads_runs_every_task_once) {
  in_pools(fifo_marks, NULL);
}

typedef struct fifo_shared {
  weft_scope scope;
  unsigned char *marks;
  unsigned long each;
} fifo_shared;

static void fifo_spawner(unsigned index, void *arg) {
  fifo_shared *s = arg;
  for (unsigned long i = 0; i < s->each; i++)
    weft_spawn(&s->scope, mark, &s->marks[index * s->each + i]);
}

typedef struct fifo_tree {
  weft_scope *scope;
  unsigned depth;
  atomic_ulong *ran;
} fifo_tree;

static void fifo_grow(void *ctx) {
  const fifo_tree *self = ctx;
  fifo_tree below = {self->scope, self->depth - 1, self->ran};
  atomic_fetch_add(self->ran, 1);
  for (int i = 0; i < 3 && self->depth > 0; i++)
    weft_spawn_copy(self->scope, &below, sizeof below, fifo_grow);
}

TEST(fifo_spawned_by_many_threads) {
  enum { SPAWNERS = 4 };
  for (unsigned threads = 1; threads <= 8; threads *= 2) {
    atomic_ulong ran = 0;
    fifo_shared s = {.each = scaled(5000)};
    weft_pool *pool = pool_of(threads);
    weft_opts opts = opts_on(pool);
    opts.order = WEFT_ORDER_FIFO;
    s.marks = marks_of(SPAWNERS * s.each);
    weft_scope_begin_with(&opts, &s.scope);
    fifo_tree root = {&s.scope, 7, &ran};
    weft_spawn_copy(&s.scope, &root, sizeof root, fifo_grow);
    harness_run_threads(SPAWNERS, fifo_spawner, &s);
    CHECK_EQ(weft_scope_end(&s.scope), 0);
    check_marks(s.marks, SPAWNERS * s.each, 1);
    CHECK_EQ(atomic_load(&ran), (3 * 2187 - 1) / 2);
    free(s.marks);
    weft_pool_destroy(pool);
  }
}

/* ---- LIFO ---- */

static void lifo_flat(void *ctx) {
  (void)ctx;
  for (unsigned long count = 1; count <= 100; count += 33) {
    record r;
    record_begin(&r, count, WEFT_ORDER_LIFO);
    for (unsigned long i = 0; i < count; i++) spawn_step(&r, 0);
    CHECK_EQ(weft_scope_end(&r.scope), 0);
    CHECK_EQ(r.ran, count);
    for (unsigned long i = 0; i < r.ran; i++) CHECK_EQ(r.order[i], count - 1 - i);
    free(r.order);
  }
}

/* A task's own tasks come before those that waited already: 1 spawns 2 and 3; of these 3
 * comes first and spawns 4, then 2 comes and spawns 5. */
static void lifo_depth_first(void *ctx) {
  static const unsigned long expected[] = {1, 3, 4, 2, 5, 0};
  record r;
  (void)ctx;
  record_begin(&r, 6, WEFT_ORDER_LIFO);
  spawn_step(&r, 0);
  spawn_step(&r, 2);
  CHECK_EQ(weft_scope_end(&r.scope), 0);
  CHECK_EQ(r.ran, 6);
  for (unsigned i = 0; i < 6; i++) CHECK_EQ(r.order[i], expected[i]);
  free(r.order);
}

TEST(lifo_on_one_thread_is_newest_first) {
  on_one_thread(lifo_flat);
}

TEST(lifo_on_one_thread_is_depth_first) {
  on_one_thread(lifo_depth_first);
}

/* ---- options ---- */

/* "NULL means all defaults, and so does each field that is 0." */
static void check_default(void *ctx) {
  const weft_opts *opts = ctx;
  record r;
  memset(&r, 0, sizeof r);
  unsigned long order[3];
  r.order = order;
  weft_scope_begin_with(opts, &r.scope);
  for (int i = 0; i < 3; i++) spawn_step(&r, 0);
  CHECK_EQ(weft_scope_end(&r.scope), 0);
  CHECK_EQ(r.ran, 3);
  for (unsigned i = 0; i < 3; i++) CHECK_EQ(order[i], 2 - i);
}

TEST(default_options) {
  weft_pool *pool = pool_of(1);
  weft_opts opts = WEFT_OPTS_INIT, zero = {0};
  zero.struct_size = sizeof zero;
  weft_pool_run(pool, check_default, NULL);
  weft_pool_run(pool, check_default, &opts);
  weft_pool_run(pool, check_default, &zero);
  weft_pool_destroy(pool);
}

/* A program compiled with an older header hands in a shorter structure: what lies behind
 * it must not be read. */
TEST(shorter_options) {
  weft_pool *pool = pool_of(1);
  weft_opts opts;
  memset(&opts, 0xff, sizeof opts);
  opts.struct_size = offsetof(weft_opts, min_len);
  opts.pool = pool;
  check_default(&opts);
  weft_pool_destroy(pool);
}

/* The pool of the options, from outside, from inside another one and from inside itself.
 */
typedef struct two_pools {
  weft_pool *from, *to;
} two_pools;

static void spawn_there(void *ctx) {
  const two_pools *both = ctx;
  weft_pool *before = weft_pool_current();
  int index = weft_worker_index();
  weft_opts opts = opts_on(both->to);
  spot *spots = spots_of(100, both->to);
  weft_scope scope;
  weft_scope_begin_with(&opts, &scope);
  CHECK_EQ(weft_pool_current(), both->to);
  check_tree(4);
  for (int i = 0; i < 100; i++) weft_spawn(&scope, run_spot, &spots[i]);
  CHECK_EQ(weft_scope_end(&scope), 0);
  check_spots(spots, 100);
  CHECK_EQ(weft_pool_current(), before);
  CHECK_EQ(weft_worker_index(), index);
  free(spots);
}

TEST(the_pool_of_the_options) {
  for (unsigned from = 1; from <= 3; from++) {
    for (unsigned to = 1; to <= 3; to++) {
      two_pools both = {pool_of(from), pool_of(to)};
      two_pools same = {both.to, both.to};
      for (unsigned long i = 0; i < scaled(200); i++) {
        spawn_there(&both);
        weft_pool_run(both.from, spawn_there, &both);
        run_on_started(both.from, spawn_there, &both);
        run_on_started(both.to, spawn_there, &same);
      }
      weft_pool_destroy(both.from);
      weft_pool_destroy(both.to);
    }
  }
  weft_shutdown(); /* the outside call has asked for the current pool */
}
