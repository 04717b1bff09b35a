/* Graphs at length: large ones, many runs, in pools of all sizes, some of them cancelled.
 *
 * SPDX-License-Identifier: MIT */
#include "par/graph/support.h"

#include <limits.h>

static atomic_ulong countdown; /* the node that brings it to 0 fails */

static void count_down(cell *c) {
  (void)c;
  if (atomic_fetch_sub(&countdown, 1) == 1) weft_scope_cancel(weft_scope_current(), 7);
}

static net *random_shape(uint64_t *random) {
  size_t n = 1 + harness_random(random) % scaled(30000);
  switch (harness_random(random) % 8) {
  case 0:
    return net_of(n);
  case 1:
    return chain_of(n);
  case 2:
    return tree_of(n);
  case 3:
    return diamond_of(n);
  case 4:
    return comb_of(n, true);
  case 5:
    return layers_of(2 + n % 5, 1 + n % 60);
  case 6:
    return wavefront_of(1 + n % 150);
  default:
    return random_of(n, 1 + (unsigned)n % 6, random);
  }
}

TEST_LIMIT(any_shape_in_any_pool, 1200) {
  uint64_t random = harness_seed();
  for (unsigned i = 0; i < 60; i++) {
    net *n = random_shape(&random);
    for (size_t k = 0; k < n->nodes; k++) n->cells[k].extra = count_down;
    net_build(n, i % 2 == 0);
    weft_pool *pool = pool_of(GRAPH_THREADS[i % GRAPH_THREADS_COUNT]);
    weft_opts opts = opts_on(pool);
    for (unsigned run = 0; run < 20; run++) {
      for (size_t k = 0; k < n->nodes; k++) n->cells[k].runs = 0;
      opts.max_workers = (unsigned)(harness_random(&random) % 4);
      bool fails = harness_random(&random) % 3 == 0;
      atomic_store(&countdown,
                   fails ? 1 + harness_random(&random) % n->nodes : ULONG_MAX);
      CHECK_EQ(weft_graph_run_with(&opts, n->graph), fails ? 7 : 0);
      if (!fails) net_check(n, 1);
    }
    weft_pool_destroy(pool);
    net_free(n);
  }
}
