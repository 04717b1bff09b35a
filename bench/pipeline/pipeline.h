/* pipeline/pipeline.h - pipeline: items that go through stages of about a microsecond.
 *
 *     opo       ordered, parallel, ordered: read, compute, write
 *     parallel  four parallel stages
 *     serial    four stages, one item at a time in each, in order
 *     mixed     ordered, parallel, serial, parallel, ordered
 *
 * A stage runs the spin of all benchmarks for 735 steps, which take 1.0 us on the machine
 * of the recorded results. The first stage takes as long as the others. Every contestant
 * has at most 16 items in flight. The answer is the sum of what the items have in the
 * end; ordered stages also check that the items come in order.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_PIPELINE_PIPELINE_H
#define BENCH_PIPELINE_PIPELINE_H

#include "../common/bench.h"

enum { PIPE_STEPS = 735, PIPE_ITEMS = 2000, PIPE_IN_FLIGHT = 16, PIPE_MOST_STAGES = 5 };

typedef enum pipe_kind { PIPE_ORDERED, PIPE_SERIAL, PIPE_PARALLEL } pipe_kind;

typedef struct pipe_mixture {
  const char *name;
  int count;
  pipe_kind kinds[PIPE_MOST_STAGES];
} pipe_mixture;

static const pipe_mixture pipe_mixtures[] = {
    {"opo", 3, {PIPE_ORDERED, PIPE_PARALLEL, PIPE_ORDERED}},
    {"parallel", 4, {PIPE_PARALLEL, PIPE_PARALLEL, PIPE_PARALLEL, PIPE_PARALLEL}},
    {"serial", 4, {PIPE_ORDERED, PIPE_ORDERED, PIPE_ORDERED, PIPE_ORDERED}},
    {"mixed",
     5,
     {PIPE_ORDERED, PIPE_PARALLEL, PIPE_SERIAL, PIPE_PARALLEL, PIPE_ORDERED}}};
enum { PIPE_MIXTURES = sizeof pipe_mixtures / sizeof pipe_mixtures[0] };

/* The work of a stage; in kernel.c, so that all contestants have the same machine code.
 */
#ifdef __cplusplus
extern "C" {
#endif
uint64_t pipe_work(uint64_t value, int stage);
#ifdef __cplusplus
}
#endif

/* What the last stage of a run has seen, and how many items have come in wrong order. */
typedef struct pipe_result {
  uint64_t sum, wrong;
} pipe_result;

typedef pipe_result pipe_run(const pipe_mixture *mixture);

static pipe_run *pipe_contestant;
static const pipe_mixture *pipe_measured;

BENCH_HELPER long pipe_call(long n) {
  (void)n;
  pipe_result result = pipe_contestant(pipe_measured);
  bench_check("pipeline", result.wrong, 0);
  return (long)(result.sum >> 1);
}

/* The whole of a contestant: measures the mixture that the first argument names. */
BENCH_HELPER void pipe_measure(const char *who, pipe_run *run, int argc, char **argv) {
  static const char *names[PIPE_MIXTURES];
  for (int i = 0; i < PIPE_MIXTURES; i++) names[i] = pipe_mixtures[i].name;
  pipe_contestant = run;
  pipe_measured = &pipe_mixtures[bench_choose(argc, argv, 1, names, PIPE_MIXTURES)];
  bench_measure_first(who, pipe_call, 1);
}

#endif
