/* harness/compare.h - two result files: what changed beyond noise.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_HARNESS_COMPARE_H
#define BENCH_HARNESS_COMPARE_H

#include "results.h"

/* Machines are not equally fast every day. What the contestants that do not depend on
 * this library took in the same case, now against before, is the machine's own change; it
 * is taken out of the change of weft's contestants. A change counts if the rank test
 * finds it unlikely to be chance and it is larger than the spread of the rounds, and than
 * a few percent. */
typedef enum change_kind { SAME, FASTER, SLOWER } change_kind;

typedef struct change {
  const char *row, *kase, *who, *metric;
  double before, after; /* medians */
  double drift;         /* the machine's change in this case: after / before, 1: none */
  double ratio;         /* after / before without the drift */
  double chance;        /* two-sided, of the rank test */
  change_kind kind;
} change;

typedef struct changes {
  change *items; /* of every contestant that both have */
  size_t count;
} changes;

/* Points into both results, which must stay as long. */
changes compare_results(const results *before, const results *after);
void changes_free(changes *c);

/* A table of what changed (everything with all), and how much was compared. */
void changes_print(const changes *c, bool all, text *out);

/* Is this one of the library's own contestants? */
bool is_weft(const char *contestant);

#endif
