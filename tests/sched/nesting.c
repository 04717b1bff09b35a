/* The stacks of threads that wait: while a thread waits, it runs other tasks on its
 * stack, and those wait in turn. It starts such a task only while at least half of the
 * stack is free. Let D be the stack that a program needs when one thread makes all its
 * calls one after the other. A task and its calls then need at most 1.5 * D + 2 KiB,
 * because weft's frames are larger where threads share work. So a stack of 3 * D + 4 KiB
 * never overflows, in whatever way tasks run on top of each other (weft_config.stack_size
 * in weft/pool.h promises it): the first test runs on stacks of exactly that length.
 *
 * Here the stacks are small, those of started threads and those of callers, and the
 * programs use as much of them as they can. D is measured where no other thread takes
 * part; how deep threads get is measured in every task.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "stack_use.h"

#include <stdio.h>

/* ---- measuring ---- */

static _Thread_local own_stack here;
static _Thread_local size_t used_at_start; /* by what is below the outermost function */

static atomic_ulong deepest; /* bytes, without those below the outermost function */
static atomic_ulong excess;  /* bytes beyond what is allowed, on any thread */
static size_t allowed_need;  /* of one task and what it calls; SIZE_MAX: do not check */

static void begin_measuring(void) {
  here = find_own_stack();
  used_at_start = stack_used(&here);
}

static void begin_on_started(unsigned worker, void *ctx) {
  (void)worker;
  (void)ctx;
  begin_measuring();
}

static bool measures_whole;
static _Thread_local bool is_unmeasured; /* a caller with a large stack of its own */
static void measure_whole(void);

static void measure(void) {
  if (measures_whole) {
    if (!is_unmeasured) measure_whole();
    return;
  }
  size_t used = stack_used(&here) - used_at_start;
  keep_largest(&deepest, used);
  if (allowed_need == SIZE_MAX) return;
  size_t allowed = here.size / 2 + allowed_need;
  if (used > allowed) keep_largest(&excess, used - allowed);
}

/* ---- programs ---- */

/* A program is called with its size, and gives a number that is known in advance. */
typedef struct program {
  const char *name;
  weft_fn *fn; /* gets a struct run */
  unsigned small, large;
  unsigned long rounds;
} program;

typedef struct run {
  unsigned size;
  uint64_t result;
} run;

/* Tasks that yield put others on top as well; not where the serial depth is measured. */
static bool with_yields;

static void leaf(void) {
  measure();
  spin(20);
  if (with_yields) weft_yield();
}

/* Joins, scopes and handles in turn, three branches each. */
typedef struct node {
  unsigned depth, salt;
  uint64_t leaves;
} node;

static void node_run(void *ctx);

static void node_join(node below[3]) {
  weft_join(node_run, &below[0], node_run, &below[1]);
  node_run(&below[2]);
}

static void node_scope(node below[3]) {
  weft_scope scope;
  weft_scope_begin(&scope);
  for (int i = 0; i < 3; i++) weft_spawn(&scope, node_run, &below[i]);
  CHECK_EQ(weft_scope_end(&scope), 0);
}

static void node_handles(node below[3]) {
  weft_handle *handles[2];
  for (int i = 0; i < 2; i++) REQUIRE(weft_async(&handles[i], node_run, &below[i]) == 0);
  node_run(&below[2]);
  for (int i = 0; i < 2; i++) CHECK_EQ(weft_handle_wait(handles[i]), 0);
}

static void node_run(void *ctx) {
  node *self = ctx;
  measure();
  if (self->depth == 0) {
    leaf();
    self->leaves = 1;
    return;
  }
  node below[3];
  for (unsigned i = 0; i < 3; i++) below[i] = (node){self->depth - 1, self->salt + i, 0};
  if ((self->depth + self->salt) % 3 == 0)
    node_join(below);
  else if ((self->depth + self->salt) % 3 == 1)
    node_scope(below);
  else
    node_handles(below);
  self->leaves = below[0].leaves + below[1].leaves + below[2].leaves;
}

static void run_mixture(void *ctx) {
  run *r = ctx;
  uint64_t leaves = 1;
  node root = {6, r->size, 0};
  node_run(&root);
  for (int i = 0; i < 6; i++) leaves *= 3;
  CHECK_EQ(root.leaves, leaves);
  r->result = root.leaves;
}

/* Thousands of tasks can be taken, and each of them waits: a join in a scope in a join.
 */
static void wait_a_little(void *ctx) {
  count_one(ctx);
  leaf();
}

static void join_a_little(void *ctx) {
  measure();
  weft_join(wait_a_little, ctx, wait_a_little, ctx);
}

static void wait_a_lot(void *ctx) {
  weft_scope scope;
  measure();
  weft_scope_begin(&scope);
  weft_spawn(&scope, join_a_little, ctx);
  weft_join(join_a_little, ctx, wait_a_little, ctx);
  weft_spawn(&scope, join_a_little, ctx);
  CHECK_EQ(weft_scope_end(&scope), 0);
}

static void run_wide(void *ctx) {
  run *r = ctx;
  atomic_ulong leaves = 0;
  weft_scope scope;
  weft_scope_begin(&scope);
  for (unsigned i = 0; i < r->size; i++) weft_spawn(&scope, wait_a_lot, &leaves);
  CHECK_EQ(weft_scope_end(&scope), 0);
  r->result = atomic_load(&leaves);
  CHECK_EQ(r->result, 7 * (uint64_t)r->size);
}

/* Tasks that each spawn more than a thread keeps, so that weft_spawn runs some itself. */
typedef struct bush {
  weft_scope *scope;
  atomic_ulong *leaves;
  unsigned fan;
} bush;

static void bush_leaf(void *ctx) {
  const bush *self = ctx;
  atomic_fetch_add(self->leaves, 1);
  leaf();
}

static void bush_twig(void *ctx) {
  const bush *self = ctx;
  measure();
  for (int i = 0; i < 3; i++) weft_spawn_copy(self->scope, self, sizeof *self, bush_leaf);
}

static void bush_branch(void *ctx) {
  const bush *self = ctx;
  measure();
  for (unsigned i = 0; i < self->fan; i++)
    weft_spawn_copy(self->scope, self, sizeof *self, bush_twig);
}

static void run_bush(void *ctx) {
  run *r = ctx;
  atomic_ulong leaves = 0;
  weft_scope scope;
  weft_scope_begin(&scope);
  bush b = {&scope, &leaves, r->size};
  for (int i = 0; i < 4; i++) weft_spawn_copy(&scope, &b, sizeof b, bush_branch);
  CHECK_EQ(weft_scope_end(&scope), 0);
  r->result = atomic_load(&leaves);
  CHECK_EQ(r->result, 4 * 3 * (uint64_t)r->size);
}

/* Chains of scopes: each task opens a scope for the next and gives others a chance to
 * take it, so that the threads steal from each other level by level. */
typedef struct chain {
  unsigned left;
  bool with_join;
  atomic_bool begun;
} chain;

static void let_it_be_taken(void *ctx) {
  chain *next = ctx;
  for (unsigned round = 0; round < 21 && !atomic_load(&next->begun);)
    harness_pause(&round);
}

static void chain_link(void *ctx) {
  chain *self = ctx;
  measure();
  atomic_store(&self->begun, true);
  if (self->left == 0) {
    leaf();
    return;
  }
  chain next = {.left = self->left - 1, .with_join = !self->with_join};
  if (self->with_join) {
    weft_join(let_it_be_taken, &next, chain_link, &next);
  } else {
    weft_scope scope;
    weft_scope_begin(&scope);
    weft_spawn(&scope, chain_link, &next);
    let_it_be_taken(&next);
    CHECK_EQ(weft_scope_end(&scope), 0);
  }
}

static void run_chains(void *ctx) {
  run *r = ctx;
  weft_scope scope;
  chain first[4];
  weft_scope_begin(&scope);
  for (int i = 0; i < 4; i++) {
    first[i].left = r->size;
    first[i].with_join = i % 2 == 0;
    atomic_init(&first[i].begun, false);
    weft_spawn(&scope, chain_link, &first[i]);
  }
  CHECK_EQ(weft_scope_end(&scope), 0);
  for (int i = 0; i < 4; i++) CHECK(atomic_load(&first[i].begun));
}

/* ---- running them ---- */

typedef struct caller {
  weft_pool *pool;
  const program *of;
  unsigned size;
  unsigned long rounds;
} caller;

static void call_rounds(void *ctx) {
  const caller *c = ctx;
  begin_measuring();
  for (unsigned long i = 0; i < c->rounds; i++) {
    run r = {c->size + (c->of->fn == run_mixture ? (unsigned)i : 0), 0};
    weft_pool_run(c->pool, c->of->fn, &r);
  }
}

/* The calling thread is not one of those whose stacks the pool has made. */
static void call_rounds_unmeasured(void *ctx) {
  is_unmeasured = true;
  call_rounds(ctx);
}

/* How deep is the program by itself? On one thread with a large stack, while the started
 * thread is busy, so that every call is made by the thread that waits for it. */
static size_t serial_need(const program *p) {
  gate plug = {0};
  weft_pool *pool = pool_of(1);
  caller alone = {pool, p, p->small, 3};
  allowed_need = SIZE_MAX;
  atomic_store(&deepest, 0);
  plug_threads(&plug, pool);
  run_with_stack(scaled_stack(8 * 1024 * 1024), call_rounds, &alone);
  unplug(&plug);
  weft_pool_destroy(pool);
  return atomic_load(&deepest);
}

enum { CALLERS = 4 };

static void check_program(const program *p, unsigned threads, bool yields) {
  const size_t stack = thread_stack(64 * 1024), reserve = scaled_stack(2 * 1024);
  with_yields = false;
  const size_t serial = serial_need(p), need = serial / 2 * 3;
  CHECK_MSG(3 * serial + 2 * reserve <= stack, "%s needs %zu bytes by itself", p->name,
            serial);
  allowed_need = need + reserve;
  atomic_store(&deepest, 0);
  atomic_store(&excess, 0);
  with_yields = yields;

  weft_config config = WEFT_CONFIG_INIT;
  config.threads = threads;
  config.stack_size = stack;
  config.on_start = begin_on_started;
  caller c = {pool_with(&config), p, p->large, p->rounds};
  stack_call calls[CALLERS];
  pthread_t callers[CALLERS];
  for (int i = 0; i < CALLERS; i++) {
    calls[i] = (stack_call){call_rounds, &c};
    callers[i] = start_with_stack(stack, &calls[i]);
  }
  for (int i = 0; i < CALLERS; i++) pthread_join(callers[i], NULL);
  weft_pool_destroy(c.pool);
  CHECK_MSG(atomic_load(&excess) == 0, "%s: %lu bytes too deep", p->name,
            atomic_load(&excess));
  printf("  %s, %u threads%s: %zu bytes by itself, %lu of %zu at most\n", p->name,
         threads, yields ? ", yielding" : "", serial, atomic_load(&deepest), stack);
}

static void check_everywhere(const program *p) {
  for (unsigned threads = 2; threads <= 8; threads *= 2) {
    check_program(p, threads, false);
    check_program(p, threads, true);
  }
}

/* ---- the promise of weft/pool.h, literally ---- */

/* Enough for a program that needs D bytes, with all that a thread has on its stack, if
 * one thread makes all calls one after the other. */
static size_t promised_stack(size_t d) {
  return 3 * d + 4096;
}

static atomic_ulong overflow; /* bytes beyond the stack that was asked for */
static size_t asked_for;

/* Also what lies below the outermost function: that is part of D, too. */
static void measure_whole(void) {
  size_t used = stack_used(&here);
  keep_largest(&deepest, used);
  if (used > asked_for) keep_largest(&overflow, used - asked_for);
}

static void check_promise(const program *p, unsigned threads) {
  with_yields = false;
  measures_whole = true;
  asked_for = SIZE_MAX;
  const size_t d = serial_need(p), stack = promised_stack(d);
  asked_for = stack > scaled_stack(16 * 1024) ? stack : scaled_stack(16 * 1024);
  atomic_store(&deepest, 0);
  atomic_store(&overflow, 0);
  with_yields = true;

  weft_config config = WEFT_CONFIG_INIT;
  config.threads = threads;
  config.stack_size = asked_for;
  config.on_start = begin_on_started;
  caller c = {pool_with(&config), p, p->large, p->rounds};
  run_with_stack(scaled_stack(8 * 1024 * 1024), call_rounds_unmeasured, &c);
  weft_pool_destroy(c.pool);
  measures_whole = false;
  CHECK_MSG(atomic_load(&overflow) == 0, "%s: %lu bytes too deep", p->name,
            atomic_load(&overflow));
  printf("  %s, %u threads: D = %zu bytes, %lu of %zu used\n", p->name, threads, d,
         atomic_load(&deepest), asked_for);
}

TEST(stacks_as_long_as_promised) {
  const program programs[] = {
      {"mixture", run_mixture, 0, 0, scaled(10)},
      {"wide", run_wide, 10, (unsigned)scaled(2000), scaled(1)},
      {"bush", run_bush, 3, (unsigned)scaled(2000), scaled(1)},
      {"chains", run_chains, 30, 30, scaled(10)},
  };
  for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++)
    check_promise(&programs[i], 4);
}

/* ---- a lemma: what a task and its calls need ---- */

TEST(joins_scopes_and_handles_on_small_stacks) {
  const program p = {"mixture", run_mixture, 0, 0, scaled(30)};
  check_everywhere(&p);
}

TEST(thousands_of_tasks_that_wait) {
  const program p = {"wide", run_wide, 10, (unsigned)scaled(5000), scaled(3)};
  check_everywhere(&p);
}

TEST(spawns_that_run_tasks_themselves) {
  const program p = {"bush", run_bush, 3, (unsigned)scaled(6000), scaled(2)};
  check_everywhere(&p);
}

TEST(chains_that_threads_take_from_each_other) {
  const program p = {"chains", run_chains, 30, 30, scaled(30)};
  check_everywhere(&p);
}
