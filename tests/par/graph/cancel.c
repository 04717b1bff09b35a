/* Errors and cancelling: the first error is returned, nodes that have not started are
 * skipped, and the next run is whole again, wherever the last one stopped.
 *
 * SPDX-License-Identifier: MIT */
#include "support.h"

#include <limits.h>

/* ---- a node that fails ---- */

static const cell *fails; /* the one that fails, or NULL */

static void fail_here(cell *c) {
  if (c == fails) weft_scope_cancel(weft_scope_current(), 7);
}

/* Does `node` come after `failed`, by any way? Edges lead to larger numbers. */
static void mark_after(const net *n, size_t failed, unsigned char *after) {
  memset(after, 0, n->nodes);
  after[failed] = 1;
  for (size_t i = 0; i < n->edges; i++)
    if (after[n->pair[i][0]] != 0) after[n->pair[i][1]] = 1;
  after[failed] = 0;
}

/* Every node fails in turn: nothing after it runs, and what runs does so once. */
static void check_failures(net *n, weft_pool *pool) {
  weft_opts opts = opts_on(pool);
  unsigned char *after = marks_of(n->nodes);
  uint64_t *runs = calloc(n->nodes + 1, sizeof *runs);
  REQUIRE(runs != NULL);
  for (size_t i = 0; i < n->nodes; i++) n->cells[i].extra = fail_here;
  net_build(n, false);
  for (size_t failed = 0; failed < n->nodes; failed++) {
    fails = &n->cells[failed];
    mark_after(n, failed, after);
    for (size_t i = 0; i < n->nodes; i++) runs[i] = n->cells[i].runs;
    CHECK_EQ(weft_graph_run_with(&opts, n->graph), 7);
    CHECK_EQ(n->cells[failed].runs, runs[failed] + 1);
    for (size_t i = 0; i < n->nodes; i++) {
      CHECK(n->cells[i].runs - runs[i] <= 1);
      if (after[i] != 0) CHECK_EQ(n->cells[i].runs, runs[i]);
    }
  }
  /* And then a whole run, from numbers that are equal again. */
  fails = NULL;
  for (size_t i = 0; i < n->nodes; i++) n->cells[i].runs = 0;
  CHECK_EQ(weft_graph_run_with(&opts, n->graph), 0);
  net_check(n, 1);
  CHECK_EQ(weft_graph_run_with(&opts, n->graph), 0);
  net_check(n, 2);
  free(runs);
  free(after);
  net_free(n);
}

TEST(every_node_of_every_shape_fails_in_turn) {
  uint64_t random = harness_seed();
  for (unsigned i = 0; i < GRAPH_THREADS_COUNT; i++) {
    weft_pool *pool = pool_of(GRAPH_THREADS[i]);
    check_failures(net_of(20), pool);
    check_failures(chain_of(20), pool);
    check_failures(tree_of(31), pool);
    check_failures(diamond_of(20), pool);
    check_failures(wavefront_of(6), pool);
    check_failures(layers_of(4, 5), pool);
    check_failures(comb_of(10, true), pool);
    check_failures(random_of(60, 3, &random), pool);
    weft_pool_destroy(pool);
  }
}

/* ---- who cancels ---- */

static void cancel_with(void *ctx) {
  weft_scope_cancel(weft_scope_current(), *(const int *)ctx);
}

TEST(the_first_error_wins) {
  int first = 3, second = 4;
  weft_pool *pool = pool_of(1);
  weft_opts opts = opts_on(pool);
  weft_graph *g;
  REQUIRE(weft_graph_create(&g) == 0);
  weft_graph_add(g, "first", cancel_with, &first);
  weft_graph_add(g, "second", cancel_with, &second);
  CHECK_EQ(weft_graph_run_with(&opts, g), 3);
  first = 0;
  CHECK_EQ(weft_graph_run_with(&opts, g), WEFT_ECANCELED);
  weft_graph_destroy(g);
  weft_pool_destroy(pool);
}

/* Both are running when one of them cancels. */
typedef struct two_nodes {
  atomic_uint came;
  atomic_bool seen;
} two_nodes;

static void cancel_and_wait(void *ctx) {
  two_nodes *two = ctx;
  atomic_fetch_add(&two->came, 1);
  AWAIT(atomic_load(&two->came) == 2);
  weft_scope_cancel(weft_scope_current(), 5);
  AWAIT(atomic_load(&two->seen));
}

static void wait_for_cancel(void *ctx) {
  two_nodes *two = ctx;
  atomic_fetch_add(&two->came, 1);
  AWAIT(weft_scope_cancelled(weft_scope_current()));
  atomic_store(&two->seen, true);
}

TEST(running_nodes_see_it_before_the_one_that_cancelled_ends) {
  weft_pool *pool = pool_of(3);
  weft_opts opts = opts_on(pool);
  two_nodes two = {0};
  weft_graph *g;
  REQUIRE(weft_graph_create(&g) == 0);
  weft_graph_add(g, "cancels", cancel_and_wait, &two);
  weft_graph_add(g, "sees", wait_for_cancel, &two);
  for (int run = 0; run < 20; run++) {
    atomic_store(&two.came, 0);
    atomic_store(&two.seen, false);
    CHECK_EQ(weft_graph_run_with(&opts, g), 5);
    CHECK(atomic_load(&two.seen));
  }
  weft_graph_destroy(g);
  weft_pool_destroy(pool);
}

static void cancel_here(void *ctx) {
  (void)ctx;
  weft_scope_cancel(weft_scope_current(), 9);
}

static void cancel_in_range(size_t begin, size_t end, void *ctx) {
  (void)end;
  if (begin == 0) cancel_here(ctx);
}

static void cancel_in_task(void *ctx) {
  weft_spawn(weft_scope_current(), cancel_here, ctx);
}

static void cancel_in_join(void *ctx) {
  weft_join(do_nothing, ctx, cancel_here, ctx);
}

static void cancel_in_loop(void *ctx) {
  weft_for(100, cancel_in_range, ctx);
}

static void run_cancelling(void *ctx) {
  static weft_fn *const ways[] = {cancel_here, cancel_in_task, cancel_in_join,
                                  cancel_in_loop};
  (void)ctx;
  for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
    unsigned char ran = 0;
    weft_graph *g;
    REQUIRE(weft_graph_create(&g) == 0);
    weft_node *node = weft_graph_add(g, "cancels", ways[i], NULL);
    weft_node *after = weft_graph_add(g, "after", mark, &ran);
    CHECK_EQ(weft_graph_edge(g, node, after), 0);
    for (int run = 0; run < 10; run++) CHECK_EQ(weft_graph_run(g), 9);
    CHECK_EQ(ran, 0);
    weft_graph_destroy(g);
  }
}

/* By the node itself, by a task that it has spawned, by a join, by a loop. */
TEST(parts_of_a_node_cancel_the_run) {
  in_pools(run_cancelling, NULL);
}

/* A scope of the node's own is no part of that. */
static void cancel_own_scope(void *ctx) {
  weft_scope scope;
  weft_scope_begin(&scope);
  weft_scope_cancel(weft_scope_current(), 9);
  CHECK_EQ(weft_scope_end(&scope), 9);
  CHECK(!weft_scope_cancelled(weft_scope_current()));
  mark(ctx);
}

TEST(a_scope_inside_a_node_is_its_own) {
  unsigned char ran[2] = {0};
  weft_graph *g;
  REQUIRE(weft_graph_create(&g) == 0);
  weft_node *node = weft_graph_add(g, "own scope", cancel_own_scope, &ran[0]);
  weft_node *after = weft_graph_add(g, "after", mark, &ran[1]);
  CHECK_EQ(weft_graph_edge(g, node, after), 0);
  CHECK_EQ(weft_graph_run(g), 0);
  CHECK_EQ(ran[0], 1);
  CHECK_EQ(ran[1], 1);
  weft_graph_destroy(g);
}

/* ---- from outside of the graph ---- */

typedef struct outer_scope {
  weft_scope *scope;
  unsigned char ran[3];
} outer_scope;

static void cancel_outer(void *ctx) {
  outer_scope *outer = ctx;
  mark(&outer->ran[0]);
  weft_scope_cancel(outer->scope, 11);
}

static void build_outer(weft_graph **g, outer_scope *outer) {
  REQUIRE(weft_graph_create(g) == 0);
  weft_node *node = weft_graph_add(*g, "cancels", cancel_outer, outer);
  weft_node *after = weft_graph_add(*g, "after", mark, &outer->ran[1]);
  CHECK_EQ(weft_graph_edge(*g, node, after), 0);
}

TEST(the_scope_around_a_run_cancels_it) {
  weft_scope scope;
  outer_scope outer = {.scope = &scope};
  weft_graph *g;
  build_outer(&g, &outer);
  weft_scope_begin(&scope);
  CHECK_EQ(weft_graph_run(g), 11);
  CHECK_EQ(outer.ran[0], 1);
  CHECK_EQ(outer.ran[1], 0);
  CHECK_EQ(weft_graph_run(g), 11); /* nothing starts any more */
  CHECK_EQ(outer.ran[0], 1);
  CHECK_EQ(weft_scope_end(&scope), 11);
  weft_graph_destroy(g);
}

typedef struct elsewhere {
  weft_graph *graph;
  weft_scope *cancel;
  int status;
} elsewhere;

static void run_elsewhere(void *ctx) {
  elsewhere *e = ctx;
  weft_opts opts = WEFT_OPTS_INIT;
  opts.cancel = e->cancel;
  e->status = weft_graph_run_with(&opts, e->graph);
}

/* A handle's function is not inside the scope of the thread that waits for it. */
TEST(a_scope_of_the_options_cancels_a_run) {
  weft_scope scope;
  outer_scope outer = {.scope = &scope};
  elsewhere e = {.cancel = &scope};
  build_outer(&e.graph, &outer);
  for (unsigned char run = 1; run <= 10; run++) {
    weft_scope_begin(&scope);
    for (int again = 0; again < 2; again++) { /* the second time nothing starts */
      weft_handle *handle;
      REQUIRE(weft_async(&handle, run_elsewhere, &e) == 0);
      CHECK_EQ(weft_handle_wait(handle), 0);
      CHECK_EQ(e.status, WEFT_ECANCELED);
      CHECK_EQ(outer.ran[0], run);
      CHECK_EQ(outer.ran[1], 0);
    }
    CHECK_EQ(weft_scope_end(&scope), 11);
  }
  weft_graph_destroy(e.graph);
}

/* ---- at any moment ---- */

static atomic_ulong countdown; /* the node that brings it to 0 fails */

static void count_down(cell *c) {
  (void)c;
  if (atomic_fetch_sub(&countdown, 1) == 1) weft_scope_cancel(weft_scope_current(), 7);
}

/* Wide and deep graphs stop in the middle, with nodes in deques, below others and held;
 * the next run has them all. */
TEST(a_run_that_stopped_in_the_middle_leaves_nothing_behind) {
  uint64_t random = harness_seed();
  weft_pool *pool = pool_of(3);
  weft_opts opts = opts_on(pool);
  net *nets[] = {net_of(3000), diamond_of(3000), comb_of(2000, true), layers_of(5, 40),
                 wavefront_of(30)};
  for (size_t k = 0; k < sizeof nets / sizeof nets[0]; k++) {
    net *n = nets[k];
    for (size_t i = 0; i < n->nodes; i++) n->cells[i].extra = count_down;
    net_build(n, false);
    for (unsigned long run = 0; run < scaled(60); run++) {
      opts.max_workers = run % 5 == 0 ? 2 : 0;
      atomic_store(&countdown, 1 + harness_random(&random) % n->nodes);
      CHECK_EQ(weft_graph_run_with(&opts, n->graph), 7);
      for (size_t i = 0; i < n->nodes; i++) n->cells[i].runs = 0;
      atomic_store(&countdown, ULONG_MAX);
      CHECK_EQ(weft_graph_run_with(&opts, n->graph), 0);
      net_check(n, 1);
      for (size_t i = 0; i < n->nodes; i++) n->cells[i].runs = 0;
    }
    net_free(n);
  }
  weft_pool_destroy(pool);
}
