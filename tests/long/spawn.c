/* A hundred million spawns in one scope, from a loop and by tasks that spawn tasks: every
 * one runs, and memory is the same at the end as after the first million.
 *
 * SPDX-License-Identifier: MIT */
#include "sched/support.h"

#include <stdio.h>
#include <unistd.h>

enum { FIRST = 1000 * 1000 };

static unsigned long all_spawns(void) {
  unsigned long slower = harness_slowdown();
  return 100ul * 1000 * 1000 / (slower * slower);
}

static long resident_kib(void) {
  long total, resident;
  FILE *file = fopen("/proc/self/statm", "r");
  REQUIRE(file != NULL);
  REQUIRE(fscanf(file, "%ld %ld", &total, &resident) == 2);
  fclose(file);
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static void check_flat(const char *what, unsigned threads, long first, long last) {
  printf("  %s, %u threads: %ld KiB after the first million, %ld KiB at the end\n", what,
         threads, first, last);
  /* Sanitizers keep freed memory and shadow it. */
  if (harness_slowdown() == 1)
    CHECK_MSG(last - first <= 1024, "grown by %ld KiB", last - first);
}

static const unsigned SIZES[] = {1, 2, 8};

/* ---- a loop ---- */

typedef struct loop {
  weft_order order;
  long first, last; /* resident memory */
} loop;

static void spawn_in_a_loop(void *ctx) {
  loop *l = ctx;
  const unsigned long count = all_spawns();
  weft_opts opts = WEFT_OPTS_INIT;
  weft_scope scope;
  atomic_ulong ran = 0;
  opts.order = l->order;
  weft_scope_begin_with(&opts, &scope);
  for (unsigned long i = 0; i < count; i++) {
    if (i == FIRST) l->first = resident_kib();
    weft_spawn(&scope, count_one, &ran);
  }
  l->last = resident_kib();
  CHECK_EQ(weft_scope_end(&scope), 0);
  CHECK_EQ(atomic_load(&ran), count);
}

static void check_loops(weft_order order, const char *what) {
  for (unsigned i = 0; i < sizeof SIZES / sizeof SIZES[0]; i++) {
    loop l = {order, 0, 0};
    weft_pool *pool = pool_of(SIZES[i]);
    weft_pool_run(pool, spawn_in_a_loop, &l);
    weft_pool_destroy(pool);
    check_flat(what, SIZES[i], l.first, l.last);
  }
}

TEST_LIMIT(a_hundred_million_spawns_in_a_loop, 1200) {
  check_loops(WEFT_ORDER_LIFO, "LIFO loop");
}

TEST_LIMIT(a_hundred_million_spawns_in_a_fifo_loop, 1200) {
  check_loops(WEFT_ORDER_FIFO, "FIFO loop");
}

/* ---- a tree ---- */

typedef struct tree_of_tasks {
  weft_scope scope;
  atomic_ulong ran;
  atomic_long first;
} tree_of_tasks;

typedef struct twig {
  tree_of_tasks *of;
  uintptr_t size; /* tasks in this part of the tree, this one included */
} twig;

/* Unbalanced, as trees are: a third and two thirds. */
static void twig_run(void *ctx) {
  const twig *self = ctx;
  if (atomic_fetch_add(&self->of->ran, 1) == FIRST)
    atomic_store(&self->of->first, resident_kib());
  uintptr_t rest = self->size - 1;
  twig small = {self->of, rest / 3}, large = {self->of, rest - rest / 3};
  if (large.size > 0) weft_spawn_copy(&self->of->scope, &large, sizeof large, twig_run);
  if (small.size > 0) weft_spawn_copy(&self->of->scope, &small, sizeof small, twig_run);
}

TEST_LIMIT(a_tree_of_a_hundred_million_tasks, 1200) {
  for (unsigned i = 0; i < sizeof SIZES / sizeof SIZES[0]; i++) {
    tree_of_tasks tree_of = {.ran = 0};
    weft_pool *pool = pool_of(SIZES[i]);
    weft_opts opts = opts_on(pool);
    twig root = {&tree_of, all_spawns()};
    weft_scope_begin_with(&opts, &tree_of.scope);
    weft_spawn_copy(&tree_of.scope, &root, sizeof root, twig_run);
    CHECK_EQ(weft_scope_end(&tree_of.scope), 0);
    long last = resident_kib();
    CHECK_EQ(atomic_load(&tree_of.ran), all_spawns());
    weft_pool_destroy(pool);
    check_flat("tree", SIZES[i], atomic_load(&tree_of.first), last);
  }
}
