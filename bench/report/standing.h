/* report/standing.h - how weft stands in a case, and what contestants are.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_REPORT_STANDING_H
#define BENCH_REPORT_STANDING_H

#include "../harness/goals.h"

typedef struct standing {
  double ratio;     /* time of the fastest peer / time of weft */
  double limit;     /* the goal against this peer, or NAN */
  bool met;         /* or there is no goal */
  const char *peer; /* the fastest */
} standing;

/* False if weft or every peer is missing. */
bool case_standing(const goals *g, const row *its, const bench_case *c, standing *out);

bool is_peer(const char *name);
bool is_ours(const char *name);
/* The class that colours a contestant: weft, rayon, tbb, omp, peer, serial. */
const char *class_of(const char *name);

/* Its median time, NAN if it is missing. */
double time_of(const contestant *c);
const contestant *fastest(const bench_case *c, bool (*counts)(const char *name));

#endif
