/* trees.c - trees of joins: fib, and an unbalanced tree (UTS).
 *
 * SPDX-License-Identifier: MIT */
#include <scale/workload.h>

/* ---- fib: each leaf has the same work ---- */

typedef struct fib_call {
  unsigned n;
  double leaf_ns;
  uint64_t leaves;
} fib_call;

static void fib(void *ctx) {
  fib_call *call = ctx;
  if (call->n < 2) {
    scale_work(call->leaf_ns);
    call->leaves = 1;
    return;
  }
  fib_call a = {call->n - 1, call->leaf_ns, 0}, b = {call->n - 2, call->leaf_ns, 0};
  weft_join(fib, &a, fib, &b);
  call->leaves = a.leaves + b.leaves;
}

static void run_fib_with(scale_run *run, unsigned n, double leaf_ns) {
  fib_call warm = {12, 100, 0}, call = {n, leaf_ns, 0};
  weft_pool_run(run->pool, fib, &warm);
  scale_begin();
  weft_pool_run(run->pool, fib, &call);
  scale_end();
  run->work_ns = (double)call.leaves * leaf_ns;
}

static uint64_t fib_leaves(unsigned n) {
  uint64_t a = 1, b = 1;
  for (unsigned i = 1; i < n; i++) {
    uint64_t next = a + b;
    a = b;
    b = next;
  }
  return n == 0 ? 1 : b;
}

/* As many leaves as are needed for some 1,500 on each core; their work adds up to 2 ms
 * for each core. */
WORKLOAD(fib, "a tree of joins, 2 ms of work for each core") {
  double total_ns = 2e6 * run->size * run->threads;
  unsigned n = 2;
  while ((double)fib_leaves(n) < total_ns / 1300) n++;
  run_fib_with(run, n, total_ns / (double)fib_leaves(n));
}

/* What the library itself costs: no work in the leaves. */
WORKLOAD(fib_bare, "a tree of joins without work, fib(27)") {
  run_fib_with(run, 27, 0);
  run->work_ns = 0;
}

/* ---- UTS: a tree of which nobody knows where it is deep ---- */

/* The binomial tree of the benchmark UTS, with another hash: a node has FANOUT children
 * with this chance, and none otherwise, so that the tree below a child of the root has
 * 100 nodes on average, and sometimes thousands. */
enum { FANOUT = 4, CHANCE_OF_65536 = 16220, ROOTS_PER_CORE = 16 };

typedef struct uts_call {
  uint64_t first; /* the numbers of its nodes: first, first + 1 ... */
  unsigned count;
  double node_ns;
} uts_call;

static bool has_children(uint64_t node) {
  return (scale_mix(node) & 65535) < CHANCE_OF_65536;
}

static uint64_t child_of(uint64_t node) {
  return scale_mix(node ^ UINT64_C(0x5851f42d4c957f2d));
}

static uint64_t count_nodes(uint64_t node) {
  uint64_t nodes = 1;
  if (has_children(node))
    for (unsigned i = 0; i < FANOUT; i++) nodes += count_nodes(child_of(node) + i);
  return nodes;
}

/* Halves the range of siblings until one is left. */
static void uts(void *ctx) {
  const uts_call *call = ctx;
  if (call->count > 1) {
    unsigned half = call->count / 2;
    uts_call a = {call->first, half, call->node_ns};
    uts_call b = {call->first + half, call->count - half, call->node_ns};
    weft_join(uts, &a, uts, &b);
    return;
  }
  scale_work(call->node_ns);
  if (!has_children(call->first)) return;
  uts_call children = {child_of(call->first), FANOUT, call->node_ns};
  uts(&children);
}

WORKLOAD(uts, "an unbalanced tree of joins, 2 ms of work for each core") {
  unsigned roots = (unsigned)(ROOTS_PER_CORE * run->size * run->threads) + 1;
  uint64_t nodes = 0;
  for (unsigned i = 0; i < roots; i++) nodes += count_nodes(i);
  run->work_ns = 2e6 * run->size * run->threads;
  uts_call warm = {1, 2, 100}, call = {0, roots, run->work_ns / (double)nodes};
  weft_pool_run(run->pool, uts, &warm);
  scale_begin();
  weft_pool_run(run->pool, uts, &call);
  scale_end();
}
