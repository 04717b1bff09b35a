/* Memory and stack stay flat: a million spawns in one scope need no more of either than a
 * few thousand do, from any thread and in any shape.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "stack_use.h"

#include <stdio.h>
#include <unistd.h>

static const unsigned SIZES[] = {1, 2, 3, 8};
enum { SIZE_COUNT = sizeof SIZES / sizeof SIZES[0] };

/* ---- resident memory ---- */

static long resident_kib(void) {
  long total, resident;
  FILE *file = fopen("/proc/self/statm", "r");
  REQUIRE(file != NULL);
  REQUIRE(fscanf(file, "%ld %ld", &total, &resident) == 2);
  fclose(file);
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

/* Sanitizers keep freed memory and shadow it. */
static void check_growth(const char *what, long before, long limit_kib) {
  long growth = resident_kib() - before;
  if (harness_slowdown() == 1)
    CHECK_MSG(growth <= limit_kib, "%s: grown by %ld KiB, limit %ld", what, growth,
              limit_kib);
  printf("  %s: %ld KiB\n", what, growth);
}

/* A task takes 64 bytes, and a thread keeps some thousand: a million would be 61 MiB. The
 * limit has room for four thousand on each of eight threads, and their deques. */
enum { MOST_KIB = 4096 };

static void spawn_flat(void *ctx) {
  const unsigned long count = scaled(1000 * 1000);
  const weft_opts *opts = ctx;
  weft_scope scope;
  atomic_ulong ran = 0;
  weft_scope_begin_with(opts, &scope);
  for (unsigned long i = 0; i < count; i++) weft_spawn(&scope, count_one, &ran);
  CHECK_EQ(weft_scope_end(&scope), 0);
  CHECK_EQ(atomic_load(&ran), count);
}

static void check_flat(const char *what, weft_fn *fn, weft_order order, long limit_kib) {
  for (unsigned i = 0; i < SIZE_COUNT; i++) {
    weft_opts opts = WEFT_OPTS_INIT;
    weft_pool *pool = pool_of(SIZES[i]);
    opts.order = order;
    long before = resident_kib();
    weft_pool_run(pool, fn, &opts);
    run_on_started(pool, fn, &opts);
    check_growth(what, before, limit_kib);
    weft_pool_destroy(pool);
  }
}

TEST(a_flat_loop_of_spawns) {
  check_flat("LIFO loop", spawn_flat, WEFT_ORDER_LIFO, MOST_KIB);
  check_flat("FIFO loop", spawn_flat, WEFT_ORDER_FIFO, MOST_KIB);
}

/* A kibibyte of arguments each: a million would be a gigabyte. */
static void count_through_a_copy(void *ctx) {
  atomic_ulong *ran;
  memcpy(&ran, ctx, sizeof ran);
  count_one(ran);
}

static void copy_flat(void *ctx) {
  const unsigned long count = scaled(300 * 1000);
  const weft_opts *opts = ctx;
  unsigned char args[1000] = {0};
  weft_scope scope;
  atomic_ulong ran = 0, *counter = &ran;
  memcpy(args, &counter, sizeof counter);
  weft_scope_begin_with(opts, &scope);
  for (unsigned long i = 0; i < count; i++)
    weft_spawn_copy(&scope, args, sizeof args, count_through_a_copy);
  CHECK_EQ(weft_scope_end(&scope), 0);
  CHECK_EQ(atomic_load(&ran), count);
}

TEST(a_flat_loop_of_copies) {
  check_flat("loop of copies", copy_flat, WEFT_ORDER_LIFO, 64 * 1024);
}

/* A binary tree of tasks with a million nodes. */
typedef struct branch {
  weft_scope *scope;
  atomic_ulong *ran;
  uintptr_t depth;
} branch;

static void branch_out(void *ctx) {
  const branch *self = ctx;
  branch below = {self->scope, self->ran, self->depth - 1};
  atomic_fetch_add(self->ran, 1);
  if (self->depth == 0) return;
  weft_spawn_copy(self->scope, &below, sizeof below, branch_out);
  weft_spawn_copy(self->scope, &below, sizeof below, branch_out);
}

static void grow_tree(void *ctx) {
  const weft_opts *opts = ctx;
  weft_scope scope;
  atomic_ulong ran = 0;
  uintptr_t depth = harness_slowdown() == 1 ? 19 : 13;
  weft_scope_begin_with(opts, &scope);
  branch root = {&scope, &ran, depth};
  weft_spawn_copy(&scope, &root, sizeof root, branch_out);
  CHECK_EQ(weft_scope_end(&scope), 0);
  CHECK_EQ(atomic_load(&ran), (2ul << depth) - 1);
}

TEST(a_tree_of_spawns) {
  check_flat("tree", grow_tree, WEFT_ORDER_LIFO, MOST_KIB);
}

/* Tasks that each spawn more than a thread keeps. */
static void spawn_ten_thousand(void *ctx) {
  const branch *self = ctx;
  atomic_fetch_add(self->ran, 1);
  if (self->depth == 0) return;
  branch below = {self->scope, self->ran, self->depth - 1};
  for (unsigned long i = 0; i < scaled(10000); i++)
    weft_spawn_copy(self->scope, &below, sizeof below, spawn_ten_thousand);
}

static void grow_bush(void *ctx) {
  const weft_opts *opts = ctx;
  weft_scope scope;
  atomic_ulong ran = 0;
  weft_scope_begin_with(opts, &scope);
  branch root = {&scope, &ran, 1};
  for (int i = 0; i < 50; i++)
    weft_spawn_copy(&scope, &root, sizeof root, spawn_ten_thousand);
  CHECK_EQ(weft_scope_end(&scope), 0);
  CHECK_EQ(atomic_load(&ran), 50 * (1 + scaled(10000)));
}

TEST(tasks_that_spawn_thousands) {
  check_flat("bush", grow_bush, WEFT_ORDER_LIFO, MOST_KIB);
}

/* Many scopes one after the other: what one has taken serves the next. */
static void many_scopes(void *ctx) {
  const weft_opts *opts = ctx;
  atomic_ulong ran = 0;
  for (unsigned long i = 0; i < scaled(1000); i++) {
    weft_scope scope;
    weft_scope_begin_with(opts, &scope);
    for (int t = 0; t < 1000; t++) weft_spawn(&scope, count_one, &ran);
    CHECK_EQ(weft_scope_end(&scope), 0);
  }
  CHECK_EQ(atomic_load(&ran), 1000 * scaled(1000));
}

TEST(many_scopes_in_turn) {
  check_flat("scopes in turn", many_scopes, WEFT_ORDER_LIFO, MOST_KIB);
}

/* Handles too give back what they took. */
static void many_handles(void *ctx) {
  atomic_ulong ran = 0;
  (void)ctx;
  for (unsigned long i = 0; i < scaled(100000); i++) {
    weft_handle *handle;
    if (weft_async(&handle, count_one, &ran) != 0) CHECK(false);
    if (weft_handle_wait(handle) != 0) CHECK(false);
  }
  CHECK_EQ(atomic_load(&ran), scaled(100000));
}

TEST(many_handles_in_turn) {
  check_flat("handles in turn", many_handles, WEFT_ORDER_LIFO, MOST_KIB);
}

/* ---- chains ---- */

/* Each task spawns its successor and is done: that is a loop, and takes the stack of
 * one. No other link, or at least not many, may be below a link on the same stack:
 * helping stops when half of the stack is used. */
typedef struct chain {
  weft_scope *scope;
  unsigned long left; /* links to go */
} chain;

static atomic_ulong deepest;         /* bytes beyond half of the stack, at most */
static atomic_ulong longest_nesting; /* links on one stack */
static _Thread_local own_stack here;
static _Thread_local unsigned long nesting;

static void chain_link(void *ctx) {
  chain *self = ctx;
  if (here.top == NULL) here = find_own_stack();
  size_t used = stack_used(&here), half = here.size / 2;
  if (used > half) keep_largest(&deepest, used - half);
  keep_largest(&longest_nesting, ++nesting);
  if (--self->left > 0) weft_spawn(self->scope, chain_link, self);
  nesting--;
}

static void chain_link_by_copy(void *ctx) {
  chain next = *(const chain *)ctx;
  if (here.top == NULL) here = find_own_stack();
  size_t used = stack_used(&here), half = here.size / 2;
  if (used > half) keep_largest(&deepest, used - half);
  keep_largest(&longest_nesting, ++nesting);
  if (--next.left > 0)
    weft_spawn_copy(next.scope, &next, sizeof next, chain_link_by_copy);
  nesting--;
}

typedef struct chain_case {
  unsigned long length;
  weft_order order;
  unsigned long fillers; /* tasks that are spawned before, to fill the worker's store */
  weft_pool *pool;
  weft_fn *link;
} chain_case;

static void run_chain(void *ctx) {
  const chain_case *c = ctx;
  weft_opts opts = opts_on(c->pool);
  weft_scope scope;
  atomic_ulong ran = 0;
  opts.order = c->order;
  weft_scope_begin_with(&opts, &scope);
  for (unsigned long i = 0; i < c->fillers; i++) weft_spawn(&scope, count_one, &ran);
  chain first = {&scope, c->length};
  if (c->link == chain_link)
    weft_spawn(&scope, chain_link, &first);
  else
    weft_spawn_copy(&scope, &first, sizeof first, c->link);
  CHECK_EQ(weft_scope_end(&scope), 0);
  CHECK_EQ(atomic_load(&ran), c->fillers);
  if (c->link == chain_link) CHECK_EQ(first.left, 0);
}

/* The same from a task: its thread has the fillers in its own store. */
static void run_chain_in_a_task(void *ctx) {
  chain_case inner = *(const chain_case *)ctx;
  inner.pool = NULL;
  weft_scope scope;
  weft_opts opts = opts_on(((const chain_case *)ctx)->pool);
  weft_scope_begin_with(&opts, &scope);
  weft_spawn(&scope, run_chain, &inner);
  CHECK_EQ(weft_scope_end(&scope), 0);
}

static void check_chain(weft_fn *run, unsigned threads, weft_order order,
                        unsigned long fillers, weft_fn *link) {
  const size_t stack = scaled_stack(256 * 1024);
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = threads;
  config.stack_size = stack;
  /* Where threads take the links from each other, each takes longer. */
  unsigned long length = scaled(threads <= 2 ? 1000 * 1000 : 200 * 1000);
  chain_case c = {length, order, fillers, pool_with(&config), link};
  atomic_store(&deepest, 0);
  atomic_store(&longest_nesting, 0);
  run_with_stack(stack, run, &c);
  weft_pool_destroy(c.pool);
  /* One link may begin when half is just free; its frames are small. */
  CHECK_MSG(atomic_load(&deepest) <= scaled_stack(4096), "%lu bytes beyond half",
            atomic_load(&deepest));
  printf("  %u threads, %lu others, %s: at most %lu links on one stack\n", threads,
         fillers, order == WEFT_ORDER_FIFO ? "FIFO" : "LIFO",
         atomic_load(&longest_nesting));
}

TEST_LIMIT(a_chain_of_a_million_tasks, 120) {
  for (unsigned i = 0; i < SIZE_COUNT; i++) {
    check_chain(run_chain, SIZES[i], WEFT_ORDER_LIFO, 0, chain_link);
    check_chain(run_chain, SIZES[i], WEFT_ORDER_FIFO, 0, chain_link);
    check_chain(run_chain, SIZES[i], WEFT_ORDER_LIFO, 0, chain_link_by_copy);
  }
}

/* The store of the worker is full of other tasks, which stay there in a pool of one
 * thread: every link finds it full. Twenty thousand are more than "some thousand". */
TEST_LIMIT(a_chain_beside_many_other_tasks, 120) {
  for (unsigned i = 0; i < SIZE_COUNT; i++) {
    check_chain(run_chain, SIZES[i], WEFT_ORDER_LIFO, 20000, chain_link);
    check_chain(run_chain, SIZES[i], WEFT_ORDER_FIFO, 20000, chain_link);
    check_chain(run_chain, SIZES[i], WEFT_ORDER_LIFO, 20000, chain_link_by_copy);
    check_chain(run_chain_in_a_task, SIZES[i], WEFT_ORDER_LIFO, 20000, chain_link);
  }
}
