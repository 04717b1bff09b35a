/* Ten million times from sleep to work and back, none lost. A lost wake-up
 * stops the progress, and the watchdog of the harness shows the stacks.
 *
 * SPDX-License-Identifier: MIT */
#include "sched/support.h"

#include <stdio.h>

static unsigned long cycles(void) {
  return harness_slowdown() == 1 ? 10000000 : 200000;
}

static void report(const char *what, unsigned long done, unsigned long total) {
  if (done % (total / 10) != 0) return;
  printf("  %s: %lu of %lu\n", what, done, total);
  fflush(stdout);
}

/* Detaches one job, waits for it, waits until all sleep. */
static void detach_cycles(unsigned threads, unsigned long total) {
  char what[64];
  atomic_ulong ran = 0;
  weft_pool *pool = sleepy_pool_of(threads);
  snprintf(what, sizeof what, "detach, %u threads", threads);
  for (unsigned long i = 1; i <= total; i++) {
    AWAIT(all_asleep(pool));
    if (weft_pool_detach(pool, count_one, &ran) != 0) CHECK(false);
    AWAIT(atomic_load(&ran) == i);
    report(what, i, total);
  }
  weft_pool_destroy(pool);
}

TEST_LIMIT(v19_eight_million_wakes_by_detach, 3000) {
  detach_cycles(1, cycles() / 10 * 5);
  detach_cycles(2, cycles() / 10 * 2);
  detach_cycles(3, cycles() / 10);
}

/* The second half of a join must be found by a sleeper, because the first one, a leaf,
 * does not end before it has begun. */
static void wait_until(void *ctx) {
  AWAIT(atomic_load((atomic_bool *)ctx));
}

static void begin(void *ctx) {
  atomic_store((atomic_bool *)ctx, true);
}

static void join_once(void *ctx) {
  (void)ctx;
  atomic_bool begun = false;
  weft_join(wait_until, &begun, begin, &begun);
}

static void join_cycles(unsigned threads, unsigned long total) {
  char what[64];
  weft_pool *pool = sleepy_pool_of(threads);
  snprintf(what, sizeof what, "join, %u threads", threads);
  for (unsigned long i = 1; i <= total; i++) {
    AWAIT(all_asleep(pool));
    weft_pool_run(pool, join_once, NULL);
    report(what, i, total);
  }
  weft_pool_destroy(pool);
}

TEST_LIMIT(v19_two_million_wakes_by_join, 3000) {
  join_cycles(2, cycles() / 10);
  join_cycles(3, cycles() / 10);
}
