/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc */
/* link: -Wl,--wrap=free */
/* Graphs and memory: runs need none, and where building gets none it says so and leaves
 * the graph as it was.
 *
 * SPDX-License-Identifier: MIT */
#include "par/refusal.h"
#include "support.h"

/* ---- runs ---- */

static void run_net(void *ctx) {
  net *n = ctx;
  CHECK_EQ(weft_graph_run(n->graph), 0);
}

static void run_net_all_refused(void *ctx) {
  refuse_all_memory();
  run_net(ctx);
  allow_memory();
  CHECK_EQ(memory_requests(), 0);
}

static net *shape(int which) {
  uint64_t random = harness_seed();
  switch (which) {
  case 0:
    return net_of(5000);
  case 1:
    return diamond_of(5000);
  case 2:
    return comb_of(5000, true);
  case 3:
    return layers_of(3, 100);
  case 4:
    return wavefront_of(50);
  default:
    return random_of(5000, 5, &random);
  }
}
enum { SHAPES = 6 };

/* Two threads from outside may be in the pool's places one after the other, and each
 * place gets its ring when it is first used; after that nothing is asked for. */
TEST(runs_need_no_memory) {
  for (unsigned threads = 1; threads <= 3; threads += 2) {
    weft_pool *pool = pool_of(threads);
    for (int which = 0; which < SHAPES; which++) {
      net *n = shape(which);
      net_build(n, false);
      weft_pool_run(pool, run_net, n);
      if (threads == 1) weft_pool_run(pool, run_net_all_refused, n);
      refuse_memory(REFUSE_NONE, 0);
      for (int run = 0; run < 20; run++) weft_pool_run(pool, run_net, n);
      /* A thread that has never pushed a task gets its ring: once for each thread. */
      CHECK(memory_requests() <= threads);
      net_check(n, threads == 1 ? 22 : 21);
      net_free(n);
    }
    weft_pool_destroy(pool);
  }
}

/* The first run too, in a pool that cannot have memory either. */
TEST(runs_without_memory_are_right) {
  for (unsigned threads = 1; threads <= 3; threads++) {
    for (int which = 0; which < SHAPES; which++) {
      weft_config config = WEFT_CONFIG_INIT;
      config.threads = threads;
      config.deque_capacity = 2;
      weft_pool *pool = pool_with(&config);
      net *n = shape(which);
      net_build(n, false);
      refuse_all_memory();
      weft_pool_run(pool, run_net, n);
      weft_pool_run(pool, run_net, n);
      allow_memory();
      net_check(n, 2);
      net_free(n);
      weft_pool_destroy(pool);
    }
  }
}

/* Even without a pool. */
TEST(runs_without_a_pool_are_right) {
  net *n = wavefront_of(20);
  net_build(n, false);
  refuse_all_memory();
  CHECK_EQ(weft_graph_run(n->graph), 0);
  allow_memory();
  net_check(n, 1);
  net_free(n);
  weft_shutdown();
}

/* ---- building ---- */

/* Builds a graph as far as memory goes, each call again until it works; then all of it
 * is there. */
static void build_with_refusals(void *ctx) {
  enum { NODES = 200 };
  (void)ctx;
  weft_graph *g = NULL;
  weft_node *nodes[NODES];
  unsigned char *ran = NULL;
  memory_is_exempt = true;
  ran = marks_of(NODES);
  memory_is_exempt = false;
  int status = weft_graph_create(&g);
  if (status != 0) {
    CHECK_EQ(status, WEFT_ENOMEM);
    CHECK(g == NULL);
    allow_memory();
    REQUIRE(weft_graph_create(&g) == 0);
  }
  for (int i = 0; i < NODES; i++) {
    nodes[i] = weft_graph_add(g, i % 2 == 0 ? "name" : NULL, mark, &ran[i]);
    if (nodes[i] != NULL) continue;
    CHECK_STR_EQ(weft_graph_error(g), "out of memory");
    allow_memory();
    nodes[i] = weft_graph_add(g, i % 2 == 0 ? "name" : NULL, mark, &ran[i]);
    REQUIRE(nodes[i] != NULL);
  }
  for (int i = 1; i < NODES; i++)
    for (int k = 0; k < i; k += 1 + k / 4) {
      status = weft_graph_edge(g, nodes[k], nodes[i]);
      if (status == 0) continue;
      CHECK_EQ(status, WEFT_ENOMEM);
      CHECK_STR_EQ(weft_graph_error(g), "out of memory");
      allow_memory();
      CHECK_EQ(weft_graph_edge(g, nodes[k], nodes[i]), 0);
    }
  CHECK_EQ(weft_graph_run(g), 0);
  weft_graph_destroy(g);
  check_marks(ran, NODES, 1);
  memory_is_exempt = true;
  free(ran);
  memory_is_exempt = false;
}

TEST(building_without_memory_says_so) {
  weft_pool *pool = pool_of(1);
  weft_pool_run(pool, build_with_refusals, NULL); /* the place gets its rings */
  run_on_started(pool, do_nothing, NULL); /* the thread has freed what it started with */
  long before = memory_in_use();
  for (unsigned long number = 1; number <= 60; number++) {
    refuse_memory(REFUSE_ONE, number);
    weft_pool_run(pool, build_with_refusals, NULL);
    if (allow_memory() == 0) break;
  }
  refuse_all_memory();
  weft_pool_run(pool, build_with_refusals, NULL);
  allow_memory();
  CHECK_EQ(memory_in_use(), before);
  weft_pool_destroy(pool);
}
