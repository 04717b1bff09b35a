/* loops.c - parallel loops: short and long bodies, even and uneven, one after the other,
 * inside each other, and the steps of a sort.
 *
 * SPDX-License-Identifier: MIT */
#include <scale/workload.h>

/* The work of element i is 2 * mean * i / n if the loop is uneven: the sum over a range
 * has a formula, so that a body of a nanosecond costs nothing to simulate. */
typedef struct loop {
  size_t n;
  double mean_ns;
  bool uneven;
} loop;

static void body(size_t begin, size_t end, void *ctx) {
  const loop *l = ctx;
  double b = (double)begin, e = (double)end;
  scale_work(l->uneven ? l->mean_ns * (e * e - b * b) / (double)l->n
                       : l->mean_ns * (e - b));
}

static weft_opts in_pool(const scale_run *run) {
  weft_opts opts = WEFT_OPTS_INIT;
  opts.pool = run->pool;
  return opts;
}

static void run_loop(const scale_run *run, loop *l) {
  weft_opts opts = in_pool(run);
  weft_for_with(&opts, l->n, body, l);
}

static void warm_up(const scale_run *run) {
  loop l = {64, 1000, false};
  run_loop(run, &l);
}

static void run_one(scale_run *run, double mean_ns, bool uneven) {
  double total_ns = 1e6 * run->size * run->threads;
  loop l = {(size_t)(total_ns / mean_ns + 0.5), mean_ns, uneven};
  warm_up(run);
  scale_begin();
  run_loop(run, &l);
  scale_end();
  run->work_ns = (double)l.n * mean_ns;
}

WORKLOAD(loop_1ns, "a loop of bodies of 1 ns, 1 ms for each core") {
  run_one(run, 1, false);
}
WORKLOAD(loop_100ns, "a loop of bodies of 100 ns, 1 ms for each core") {
  run_one(run, 100, false);
}
WORKLOAD(loop_10us, "a loop of bodies of 10 us, 1 ms for each core") {
  run_one(run, 10000, false);
}
WORKLOAD(uneven_1ns, "the same, and the last element costs twice the mean") {
  run_one(run, 1, true);
}
WORKLOAD(uneven_100ns, "as uneven_1ns, with 100 ns") {
  run_one(run, 100, true);
}
WORKLOAD(uneven_10us, "as uneven_1ns, with 10 us") {
  run_one(run, 10000, true);
}

static void run_many(scale_run *run, unsigned loops, double each_ns) {
  loop l = {1000, each_ns / 1000, false};
  warm_up(run);
  scale_begin();
  for (unsigned i = 0; i < loops; i++) run_loop(run, &l);
  scale_end();
  run->work_ns = each_ns * loops;
}

WORKLOAD(loops_20us, "1,000 loops one after the other, 20 us of work each") {
  run_many(run, (unsigned)(1000 * run->size) + 1, 20000);
}
WORKLOAD(loops_20us_each, "100 loops one after the other, 20 us for each core") {
  run_many(run, (unsigned)(100 * run->size) + 1, 20000.0 * run->threads);
}
WORKLOAD(eight, "50 loops of 8 elements, 100 us each: 8 CPUs' worth of work") {
  loop l = {8, 100000, false};
  unsigned loops = (unsigned)(50 * run->size) + 1;
  warm_up(run);
  scale_begin();
  for (unsigned i = 0; i < loops; i++) run_loop(run, &l);
  scale_end();
  run->work_ns = 800000.0 * loops;
}

/* ---- inside each other ---- */

static void outer_body(size_t begin, size_t end, void *ctx) {
  loop *inner = ctx;
  for (size_t i = begin; i < end; i++) weft_for(inner->n, body, inner);
}

WORKLOAD(nested, "10 loops of 100 us for each core, inside a loop") {
  loop inner = {100, 1000, false};
  size_t n = (size_t)(10 * run->size * run->threads) + 1;
  weft_opts opts = in_pool(run);
  warm_up(run);
  scale_begin();
  weft_for_with(&opts, n, outer_body, &inner);
  scale_end();
  run->work_ns = (double)n * 100000;
}

/* ---- the steps of a radix sort ---- */

WORKLOAD(sort,
         "sample, count, place, scatter, 1,024 uneven buckets: 1 ms for each core") {
  double total_ns = 1e6 * run->size * run->threads;
  size_t blocks = 8 * (size_t)run->threads;
  loop count = {blocks, 0.2 * total_ns / (double)blocks, false};
  loop scatter = {blocks, 0.3 * total_ns / (double)blocks, false};
  loop buckets = {1024, 0.5 * total_ns / 1024, true};
  warm_up(run);
  scale_begin();
  scale_work(5000); /* the sample */
  run_loop(run, &count);
  scale_work(5000); /* where each block writes */
  run_loop(run, &scatter);
  run_loop(run, &buckets);
  scale_end();
  run->work_ns = total_ns;
}
