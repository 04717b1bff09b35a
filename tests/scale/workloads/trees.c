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
  run_fib_with(run, (unsigned)(27 + 0.5), 0);
  run->work_ns = 0;
}
