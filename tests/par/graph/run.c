/* weft_graph_run: every node once, after those before it, in all shapes and pools; again
 * and again, from outside and from tasks, inside other graphs, several at once.
 *
 * SPDX-License-Identifier: MIT */
#include "support.h"

/* ---- shapes ---- */

typedef struct many_runs {
  net *n;
  unsigned runs;
} many_runs;

static void run_some(void *ctx) {
  many_runs *m = ctx;
  for (unsigned i = 0; i < m->runs; i++)
    if (!CHECK_EQ(weft_graph_run(m->n->graph), 0)) return;
}

/* Pools of all sizes, for the time of a test. */
static weft_pool *pools[GRAPH_THREADS_COUNT];

static void open_pools(void) {
  for (unsigned i = 0; i < GRAPH_THREADS_COUNT; i++) pools[i] = pool_of(GRAPH_THREADS[i]);
}

static void close_pools(void) {
  for (unsigned i = 0; i < GRAPH_THREADS_COUNT; i++) weft_pool_destroy(pools[i]);
}

/* Runs the net in each pool, by a guest and by a started thread, and frees it. */
static void check_net(net *n, unsigned runs) {
  uint64_t total = 0;
  net_build(n, n->nodes % 2 == 0);
  for (unsigned i = 0; i < GRAPH_THREADS_COUNT; i++) {
    many_runs m = {n, runs};
    weft_pool_run(pools[i], run_some, &m);
    net_check(n, total += runs);
    run_on_started(pools[i], run_some, &m);
    net_check(n, total += runs);
  }
  net_free(n);
}

TEST(small_shapes) {
  open_pools();
  check_net(net_of(0), 3);
  for (size_t n = 1; n <= 20; n++) {
    check_net(net_of(n), 3);
    check_net(chain_of(n), 3);
    check_net(tree_of(n), 3);
    check_net(fan_in_of(n), 3);
    check_net(diamond_of(n), 3);
    if (n <= 6) check_net(wavefront_of(n), 3);
    if (n <= 6) check_net(layers_of(3, n), 3);
    check_net(comb_of(n, n % 2 == 0), 3);
  }
  close_pools();
}

TEST(large_shapes) {
  open_pools();
  check_net(net_of(scaled(20000)), 2);
  check_net(chain_of(scaled(20000)), 2);
  check_net(tree_of(scaled(20000)), 2);
  check_net(fan_in_of(scaled(20000)), 2);
  check_net(diamond_of(scaled(20000)), 2);
  check_net(wavefront_of(100 / harness_slowdown()), 2);
  check_net(layers_of(4, 100 / harness_slowdown()), 2);
  check_net(comb_of(scaled(20000), true), 2);
  check_net(comb_of(scaled(20000), false), 2);
  close_pools();
}

TEST(random_graphs) {
  uint64_t random = harness_seed();
  open_pools();
  for (unsigned i = 0; i < 20; i++)
    check_net(random_of(1 + harness_random(&random) % scaled(1000), 1 + i % 7, &random),
              3);
  check_net(random_of(scaled(20000), 4, &random), 2);
  close_pools();
}

/* ---- many runs ---- */

TEST(small_graphs_run_many_times) {
  weft_pool *pool = pool_of(3);
  net *n = diamond_of(6);
  net_build(n, false);
  many_runs m = {n, (unsigned)scaled(20000)};
  weft_pool_run(pool, run_some, &m);
  net_check(n, m.runs);
  weft_pool_destroy(pool);
  net_free(n);
}

TEST(the_global_pool_is_used_outside_of_pools) {
  net *n = wavefront_of(20);
  net_build(n, false);
  for (unsigned run = 1; run <= 20; run++) {
    CHECK_EQ(weft_graph_run(n->graph), 0);
    net_check(n, run);
  }
  net_free(n);
  weft_shutdown();
}

/* A graph may grow between two runs. */
TEST(nodes_and_edges_are_added_between_runs) {
  enum { STEPS = 40 };
  atomic_ulong ran = 0;
  weft_graph *g;
  weft_node *last = NULL;
  REQUIRE(weft_graph_create(&g) == 0);
  unsigned long expected = 0;
  for (unsigned long i = 1; i <= STEPS; i++) {
    weft_node *node = weft_graph_add(g, "step", count_one, &ran);
    REQUIRE(node != NULL);
    if (last != NULL) CHECK_EQ(weft_graph_edge(g, last, node), 0);
    last = node;
    CHECK_EQ(weft_graph_run(g), 0);
    expected += i;
    CHECK_EQ(atomic_load(&ran), expected);
  }
  weft_graph_destroy(g);
}

/* ---- options ---- */

static void check_pool(cell *c) {
  (void)c;
  CHECK_EQ(weft_thread_count(), 3);
}

TEST(options_name_the_pool) {
  weft_pool *outer = pool_of(2), *inner = pool_of(3);
  net *n = wavefront_of(10);
  for (size_t i = 0; i < n->nodes; i++) n->cells[i].extra = check_pool;
  net_build(n, false);
  weft_opts opts = opts_on(inner);
  CHECK_EQ(weft_graph_run_with(&opts, n->graph), 0);
  net_check(n, 1);
  CHECK_EQ(weft_graph_run_with(&opts, n->graph), 0);
  net_check(n, 2);
  weft_pool_destroy(outer);
  weft_pool_destroy(inner);
  net_free(n);
}

static crowd busy;

static void be_busy(cell *c) {
  (void)c;
  crowd_enter(&busy);
  if (c->value % 8 == 0) sched_yield();
  crowd_leave(&busy);
}

TEST(no_more_nodes_at_once_than_max_workers) {
  weft_pool *pool = pool_of(8);
  net *n = layers_of(20, 20);
  for (size_t i = 0; i < n->nodes; i++) n->cells[i].extra = be_busy;
  net_build(n, false);
  unsigned runs = 0;
  for (unsigned most = 1; most <= 4; most++) {
    weft_opts opts = opts_on(pool);
    opts.max_workers = most;
    atomic_store(&busy.most, 0);
    for (unsigned i = 0; i < scaled(40); i++, runs++)
      CHECK_EQ(weft_graph_run_with(&opts, n->graph), 0);
    CHECK(atomic_load(&busy.most) <= most);
    net_check(n, runs);
  }
  weft_pool_destroy(pool);
  net_free(n);
}

/* ---- nodes that run at the same time ---- */

typedef struct meeting {
  atomic_uint came;
  unsigned wanted;
} meeting;

static void meet_others(void *ctx) {
  meeting *m = ctx;
  atomic_fetch_add(&m->came, 1);
  AWAIT(atomic_load(&m->came) % m->wanted == 0);
}

/* Nodes that became ready together are all within reach of other threads, whatever the
 * thread that made them ready does. */
TEST(ready_nodes_are_offered) {
  enum { RUNS = 20 };
  for (unsigned threads = 2; threads <= 4; threads++) {
    weft_pool *pool = pool_of(threads);
    meeting first = {.wanted = threads}, second = {.wanted = threads};
    weft_graph *g;
    REQUIRE(weft_graph_create(&g) == 0);
    weft_node *middle = weft_graph_add(g, "middle", do_nothing, NULL);
    for (unsigned i = 0; i < threads; i++) {
      weft_node *before = weft_graph_add(g, NULL, meet_others, &first);
      weft_node *after = weft_graph_add(g, NULL, meet_others, &second);
      CHECK_EQ(weft_graph_edge(g, before, middle), 0);
      CHECK_EQ(weft_graph_edge(g, middle, after), 0);
    }
    weft_opts opts = opts_on(pool);
    for (unsigned i = 0; i < RUNS; i++) CHECK_EQ(weft_graph_run_with(&opts, g), 0);
    CHECK_EQ(atomic_load(&second.came), RUNS * threads);
    weft_graph_destroy(g);
    weft_pool_destroy(pool);
  }
}

/* ---- inside nodes ---- */

static void add_range(size_t begin, size_t end, void *ctx) {
  atomic_fetch_add((atomic_ulong *)ctx, end - begin);
}

static void use_weft(cell *c) {
  atomic_ulong sum = 0;
  weft_for(100, add_range, &sum);
  CHECK_EQ(atomic_load(&sum), 100);
  check_tree(c->value % 4);
  if (c->value % 5 == 0) weft_yield();
}

TEST(nodes_use_loops_and_joins) {
  net *n = wavefront_of(30 / harness_slowdown() + 2);
  for (size_t i = 0; i < n->nodes; i++) n->cells[i].extra = use_weft;
  open_pools();
  check_net(n, 3);
  close_pools();
}

static void run_inner(void *ctx) {
  CHECK_EQ(weft_graph_run(((net *)ctx)->graph), 0);
}

TEST(a_graph_in_a_node_of_another) {
  enum { INNER = 12 };
  net *inner[INNER];
  weft_graph *outer;
  weft_pool *pool = pool_of(3);
  REQUIRE(weft_graph_create(&outer) == 0);
  weft_node *first = weft_graph_add(outer, "first", do_nothing, NULL), *last = NULL;
  for (size_t i = 0; i < INNER; i++) {
    inner[i] = wavefront_of(i + 2);
    net_build(inner[i], false);
    weft_node *node = weft_graph_add(outer, "inner", run_inner, inner[i]);
    CHECK_EQ(weft_graph_edge(outer, i % 3 == 0 ? first : last, node), 0);
    last = node;
  }
  weft_opts opts = opts_on(pool);
  for (unsigned run = 1; run <= 10; run++) {
    CHECK_EQ(weft_graph_run_with(&opts, outer), 0);
    for (size_t i = 0; i < INNER; i++) net_check(inner[i], run);
  }
  for (size_t i = 0; i < INNER; i++) net_free(inner[i]);
  weft_graph_destroy(outer);
  weft_pool_destroy(pool);
}

/* What a node spawns into the scope around it has ended before the next node starts. */
typedef struct spawner {
  unsigned char *marks;
  size_t tasks;
} spawner;

static void spawn_twice(void *ctx) {
  unsigned char *pair = ctx;
  weft_spawn(weft_scope_current(), mark, pair + 1);
  mark(pair);
}

static void spawn_pairs(void *ctx) {
  spawner *s = ctx;
  for (size_t i = 0; i < s->tasks; i++)
    weft_spawn(weft_scope_current(), spawn_twice, s->marks + 2 * i);
}

static void expect_pairs(void *ctx) {
  spawner *s = ctx;
  check_marks(s->marks, 2 * s->tasks, 1);
}

static void run_spawning(void *ctx) {
  enum { CHAINS = 4, LINKS = 10 };
  spawner s[CHAINS][LINKS];
  weft_graph *g;
  (void)ctx;
  REQUIRE(weft_graph_create(&g) == 0);
  for (size_t c = 0; c < CHAINS; c++) {
    weft_node *last = NULL;
    for (size_t i = 0; i < LINKS; i++) {
      s[c][i] = (spawner){marks_of(2 * 30), (c + i) % 30};
      weft_node *spawns = weft_graph_add(g, "spawns", spawn_pairs, &s[c][i]);
      weft_node *expects = weft_graph_add(g, "expects", expect_pairs, &s[c][i]);
      if (last != NULL) CHECK_EQ(weft_graph_edge(g, last, spawns), 0);
      CHECK_EQ(weft_graph_edge(g, spawns, expects), 0);
      last = expects;
    }
  }
  for (unsigned i = 0; i < scaled(50); i++) CHECK_EQ(weft_graph_run(g), 0);
  weft_graph_destroy(g);
  for (size_t c = 0; c < CHAINS; c++)
    for (size_t i = 0; i < LINKS; i++) free(s[c][i].marks);
}

TEST(what_a_node_spawns_ends_before_its_successors_start) {
  in_pools(run_spawning, NULL);
}

static void run_isolated(void *ctx) {
  weft_isolate(run_some, ctx);
}

TEST(graphs_in_isolated_code) {
  weft_pool *pool = pool_of(3);
  net *n = wavefront_of(12);
  for (size_t i = 0; i < n->nodes; i++) n->cells[i].extra = use_weft;
  net_build(n, false);
  many_runs m = {n, 10};
  weft_pool_run(pool, run_isolated, &m);
  net_check(n, 10);
  weft_pool_destroy(pool);
  net_free(n);
}

/* Nodes that wait run other nodes meanwhile: stacks stay bounded, and all ends. */
TEST(nodes_of_many_graphs_wait_for_each_other) {
  enum { GRAPHS = 8 };
  net *n[GRAPHS];
  many_runs m[GRAPHS];
  weft_pool *pool = pool_of(3);
  weft_scope scope;
  weft_opts opts = opts_on(pool);
  for (size_t i = 0; i < GRAPHS; i++) {
    n[i] = layers_of(10, 10);
    for (size_t k = 0; k < n[i]->nodes; k++) n[i]->cells[k].extra = use_weft;
    net_build(n[i], false);
    m[i] = (many_runs){n[i], 3};
  }
  weft_scope_begin_with(&opts, &scope);
  for (size_t i = 0; i < GRAPHS; i++) weft_spawn(&scope, run_some, &m[i]);
  CHECK_EQ(weft_scope_end(&scope), 0);
  for (size_t i = 0; i < GRAPHS; i++) {
    net_check(n[i], 3);
    net_free(n[i]);
  }
  weft_pool_destroy(pool);
}

/* ---- several runs at once ---- */

typedef struct own_graph {
  weft_pool *pool;
  atomic_ulong wrong;
} own_graph;

static void run_own_graph(unsigned index, void *ctx) {
  own_graph *own = ctx;
  weft_opts opts = opts_on(own->pool);
  uint64_t random = harness_seed() + index;
  net *n = random_of(500, 4, &random);
  net_build(n, false);
  for (unsigned run = 1; run <= 10; run++) {
    if (weft_graph_run_with(&opts, n->graph) != 0) atomic_fetch_add(&own->wrong, 1);
    net_check(n, run);
  }
  net_free(n);
}

TEST(threads_from_outside_run_their_graphs_in_one_pool) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = 3;
  config.guests = 2; /* others are served by started threads */
  own_graph own = {.pool = pool_with(&config)};
  harness_run_threads(6, run_own_graph, &own);
  CHECK_EQ(atomic_load(&own.wrong), 0);
  weft_pool_destroy(own.pool);
}

typedef struct reentry {
  weft_graph *graph;
  int run, edge;
  weft_node *node, *added;
} reentry;

static void use_own_graph(void *ctx) {
  reentry *r = ctx;
  r->run = weft_graph_run(r->graph);
  r->edge = weft_graph_edge(r->graph, r->node, r->node);
  r->added = weft_graph_add(r->graph, "late", do_nothing, NULL);
}

TEST(a_graph_that_runs_is_neither_run_nor_changed) {
  reentry r = {.run = 1, .edge = 1};
  REQUIRE(weft_graph_create(&r.graph) == 0);
  r.node = weft_graph_add(r.graph, "self", use_own_graph, &r);
  CHECK_EQ(weft_graph_run(r.graph), 0);
  CHECK_EQ(r.run, WEFT_EBUSY);
  CHECK_EQ(r.edge, WEFT_EBUSY);
  CHECK(r.added == NULL);
  CHECK_EQ(weft_graph_run(r.graph), 0);
  weft_graph_destroy(r.graph);
}

typedef struct contested {
  net *n;
  weft_pool *pool;
  atomic_ulong ran, refused, other;
} contested;

static void contest(unsigned index, void *ctx) {
  contested *c = ctx;
  weft_opts opts = opts_on(c->pool);
  (void)index;
  for (unsigned i = 0; i < scaled(300); i++) {
    int status = weft_graph_run_with(&opts, c->n->graph);
    atomic_fetch_add(status == 0            ? &c->ran
                     : status == WEFT_EBUSY ? &c->refused
                                            : &c->other,
                     1);
  }
}

TEST(of_concurrent_runs_one_wins_and_the_others_are_refused) {
  contested c = {.n = wavefront_of(8), .pool = pool_of(2)};
  net_build(c.n, false);
  harness_run_threads(4, contest, &c);
  CHECK_EQ(atomic_load(&c.other), 0);
  CHECK_EQ(atomic_load(&c.ran) + atomic_load(&c.refused), 4 * scaled(300));
  net_check(c.n, atomic_load(&c.ran));
  weft_pool_destroy(c.pool);
  net_free(c.n);
}
