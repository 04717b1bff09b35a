/* report/standing.h - how weft compares with its peers, and what kind of contestant a
 * name is.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_REPORT_STANDING_H
#define BENCH_REPORT_STANDING_H

#include "../harness/recorded.h"

/* One comparison with a peer: that of a goal, or with the fastest one of a case. */
typedef struct standing {
  const char *row;
  char name[96];
  double ratio;  /* what the peer takes / what weft takes: above 1 weft is better */
  double limit;  /* the goal, or NAN */
  bool met;      /* or there is no goal */
  char peer[64]; /* which, if there were several to choose from */
} standing;

typedef struct standings {
  standing *items;
  size_t count;
} standings;

/* All goals about peers that were measured, in their order; and for each case in which
 * they do not name its fastest peer, that one, without a goal. By row. */
standings standings_of(const results *r, const goals *g);
/* The goals alone, from what was recorded. */
standings recorded_standings(const record *kept, const goals *g);
void standings_free(standings *s);

bool is_peer(const char *name);
bool is_ours(const char *name);
/* The class that colours a contestant: weft, rayon, tbb, omp, peer, serial. */
const char *class_of(const char *name);

/* Its median time, NAN if it is missing. */
double time_of(const contestant *c);
const contestant *fastest(const bench_case *c, bool (*counts)(const char *name));

#endif
