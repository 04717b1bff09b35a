/* blocking/io.c - what blocking sections gain: 64 tasks in one scope, called from
 * outside, that sleep for 1 ms each and then compute for 0.1 ms.
 *
 * plain: the tasks just sleep, and the pool's threads with them. sections: they say so,
 * in a pool of the default configuration, which adds as many threads as it has.
 * sections-64: in a pool that may add 64. The three take turns in one process. The
 * computing alone is 6.4 ms of CPU.
 *
 * Usage: blocking_io [threads [samples]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/bench.h"
#include <weft.h>

enum { TASKS = 64, SLEEP_US = 1000, COMPUTE_NS = 100000 };

static uint64_t steps;
static bool sections;
static uint64_t results[TASKS];

static void task(void *ctx) {
  uint64_t *result = (uint64_t *)ctx;
  if (sections) weft_blocking_begin();
  bench_sleep_us(SLEEP_US);
  if (sections) weft_blocking_end();
  *result = bench_spin((uint64_t)(result - results), steps);
}

static double run(const char *who, weft_pool *pool, bool with_sections,
                  uint64_t expected) {
  weft_opts options = WEFT_OPTS_INIT;
  options.pool = pool;
  sections = with_sections;
  memset(results, 0, sizeof results);
  bench_sleep_us(5000); /* what the last run has woken is asleep again */
  double before = bench_now_ns();
  weft_scope scope;
  weft_scope_begin_with(&options, &scope);
  for (int i = 0; i < TASKS; i++) weft_spawn(&scope, task, &results[i]);
  int status = weft_scope_end(&scope);
  double took = bench_now_ns() - before;
  bench_check(who, (uint64_t)status, 0);
  uint64_t sum = 0;
  for (int i = 0; i < TASKS; i++) sum += results[i];
  bench_check(who, sum, expected);
  return took;
}

static weft_pool *create(long threads, unsigned blocking) {
  weft_config config = WEFT_CONFIG_INIT;
  weft_pool *pool;
  config.threads = (unsigned)threads;
  config.blocking = blocking;
  int status = weft_pool_create(&pool, &config);
  if (status == 0) return pool;
  fprintf(stderr, "weft: no pool: %s\n", weft_strerror(status));
  exit(2);
}

int main(int argc, char **argv) {
  long threads = bench_arg(argc, argv, 1, 2), samples = bench_arg(argc, argv, 2, 15);
  weft_pool *pool = create(threads, 0), *large = create(threads, TASKS);
  steps = bench_spin_count(COMPUTE_NS);
  uint64_t expected = 0;
  for (uint64_t i = 0; i < TASKS; i++) expected += bench_spin(i, steps);

  const char *names[3] = {"weft-plain", "weft-sections", "weft-sections-64"};
  bench_samples times[3] = {{NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}};
  for (long i = -2; i < samples; i++) { /* the first two warm up */
    for (int k = 0; k < 3; k++) {
      double took = run(names[k], k == 2 ? large : pool, k != 0, expected);
      if (i >= 0) bench_add(&times[k], took);
    }
  }
  double plain = bench_quantile(&times[0], 0.5);
  for (int k = 0; k < 3; k++) {
    bench_print_times(names[k], &times[k]);
    bench_print(names[k], "speedup_x", plain / bench_quantile(&times[k], 0.5));
    free(times[k].values);
  }
  bench_passed_alone(); /* the steps are calibrated: another process has others */
  weft_pool_destroy(pool);
  weft_pool_destroy(large);
  return 0;
}
