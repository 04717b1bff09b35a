/* Results that were not measured, for tests of what is made of results.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_BENCH_MADE_UP_H
#define TESTS_BENCH_MADE_UP_H

#include <bench/harness/results.h>
#include <stdlib.h>

/* Nine rounds around a time, 1 % apart, in an order that is not sorted; all different, so
 * that the exact test applies. offset makes them differ from others around the same. */
static inline void add_rounds(results *r, const char *row_id, const char *kase,
                              const char *who, double ns, double offset) {
  static const double steps[] = {0, 3, -2, 1, -4, 4, 2, -1, -3};
  contestant *c = case_contestant(row_case(results_row(r, row_id, "a row"), kase), who,
                                  "program 1 2");
  for (int i = 0; i < 9; i++) {
    double value = ns * (1 + (steps[i] + offset) / 100);
    contestant_add(c, "best_ns", value * 0.9);
    contestant_add(c, "median_ns", value);
  }
  if (c->answer == NULL) c->answer = copy_text("42");
}

static inline results made_up(void) {
  results r = {.started = copy_text("2026-01-31T12:00:00Z"),
               .size = copy_text("full"),
               .rounds = 9,
               .threads = 2,
               .seconds = 1.5};
  results_fact(&r, "cpu", "made \"up\"");
  return r;
}

#endif
