/* lanes/scope.c - what queued background work does to those who wait for a result.
 *
 * The main thread, outside the pool, has 100 us of work: 16 tasks in a scope, and the
 * same as a tree of joins. It is timed in a quiet pool, while 64 background tasks of 1 ms
 * are kept queued, and while 64 normal ones are. The three take turns in blocks of 40
 * samples, or of half a second where samples take long. Before each sample the thread
 * rests for 0.3 ms, so that samples meet the long tasks at any point.
 *
 * serial is the same work in a loop. A running task is not interrupted: on two CPUs, of
 * which one runs a long task, nobody can be much faster than serial.
 *
 * Usage: lanes_scope [threads [blocks]]
 *
 * SPDX-License-Identifier: MIT */
#include "feeder.h"

enum {
  LEAVES_DEPTH = 4,
  LEAVES = 1 << LEAVES_DEPTH,
  FLOOD_DEPTH = 64,
  FLOOD_PERIOD_US = 5000,
  PAUSE_US = 300,
  BLOCK_SAMPLES = 40,
  BLOCK_NS = 500000000
};

static uint64_t leaf_steps;
static uint64_t results[LEAVES];

static void leaf(void *ctx) {
  uint64_t *result = (uint64_t *)ctx;
  *result = bench_spin((uint64_t)(result - results), leaf_steps);
}

/* ---- the same work in three ways ---- */

static void work_serial(void) {
  for (int i = 0; i < LEAVES; i++) leaf(&results[i]);
}

static void work_scope(void) {
  weft_scope scope;
  weft_scope_begin(&scope);
  for (int i = 0; i < LEAVES; i++) weft_spawn(&scope, leaf, &results[i]);
  bench_check("weft-scope", (uint64_t)weft_scope_end(&scope), 0);
}

/* The children of node k are 2k and 2k + 1; the leaves come last. */
static void node(void *ctx) {
  uintptr_t index = (uintptr_t)ctx;
  if (index >> LEAVES_DEPTH != 0)
    leaf(&results[index - LEAVES]);
  else
    weft_join(node, (void *)(2 * index), node, (void *)(2 * index + 1));
}

static void work_join(void) {
  node((void *)(uintptr_t)1);
}

/* ---- timing ---- */

typedef struct series {
  void (*work)(void);
  const char *name[3]; /* quiet, background, normal */
  bench_samples times[3];
} series;

static void sample(series *s, int load, bool warm, uint64_t expected) {
  bench_sleep_us(PAUSE_US);
  memset(results, 0, sizeof results);
  double before = bench_now_ns();
  s->work();
  double took = bench_now_ns() - before;
  uint64_t sum = 0;
  for (int i = 0; i < LEAVES; i++) sum += results[i];
  bench_check(s->name[load], sum, expected);
  if (warm) bench_add(&s->times[load], took);
}

static void print(series *s) {
  double quiet = bench_quantile(&s->times[0], 0.5);
  for (int load = 0; load < 3; load++) {
    if (s->times[load].count == 0) continue;
    bench_print_times(s->name[load], &s->times[load]);
    bench_print(s->name[load], "p99_ns", bench_quantile(&s->times[load], 0.99));
    bench_print(s->name[load], "of_quiet_x",
                bench_quantile(&s->times[load], 0.5) / quiet);
    free(s->times[load].values);
  }
}

int main(int argc, char **argv) {
  bench_weft_start(bench_arg(argc, argv, 1, 2));
  long blocks = bench_arg(argc, argv, 2, 5);
  uint64_t flood_steps = bench_spin_count(1e6);
  leaf_steps = bench_spin_count(1e5 / LEAVES);
  uint64_t expected = 0;
  for (uint64_t i = 0; i < LEAVES; i++) expected += bench_spin(i, leaf_steps);

  series serial = {.work = work_serial,
                   .name = {"serial", "serial+background", "serial+normal"}};
  series scope = {.work = work_scope,
                  .name = {"weft-scope", "weft-scope+background", "weft-scope+normal"}};
  series join = {.work = work_join,
                 .name = {"weft-join", "weft-join+background", "weft-join+normal"}};
  for (long block = -1; block < blocks; block++) { /* the first one warms up */
    for (int load = 0; load < 3; load++) {
      feeder flood;
      if (load != 0)
        feeder_start(&flood, load == 1 ? WEFT_LANE_BACKGROUND : WEFT_LANE_NORMAL,
                     flood_steps, FLOOD_DEPTH, FLOOD_PERIOD_US);
      double start = bench_now_ns();
      for (int i = 0; i < BLOCK_SAMPLES && bench_now_ns() - start < BLOCK_NS; i++) {
        sample(&serial, load, block >= 0, expected);
        sample(&scope, load, block >= 0, expected);
        sample(&join, load, block >= 0, expected);
      }
      if (load != 0) feeder_stop(&flood);
    }
  }
  print(&serial);
  print(&scope);
  print(&join);
  bench_passed_alone();
  weft_shutdown();
  return 0;
}
