/* harness/measure.h - runs a plan: rounds of processes that take turns, and whose answers
 * are compared.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_HARNESS_MEASURE_H
#define BENCH_HARNESS_MEASURE_H

#include "goals.h"
#include "plan.h"

enum { OTHER_ROUNDS = 3 };

typedef struct measure_options {
  const char *folder; /* where the sources are */
  const char *bin;    /* where the programs are */
  int rounds;
  bool every_round; /* also what would otherwise run in few rounds only */
  /* A program none of whose contestants is in a goal runs in OTHER_ROUNDS rounds, as do
   * all programs of a row without goals. NULL: there is no such limit. */
  const goals *goals;
  double limit_s; /* of one process */
  words rows;     /* only these, if there are any */
  words only;     /* only programs of these kinds, if there are any; see plan.h */
  /* Called after each row with what there is so far, or NULL. */
  void (*after_row)(const results *r, void *ctx);
  void *ctx;
} measure_options;

/* Adds rows and seconds to r, whose facts the caller knows. Programs that are not built
 * go to r->missing. Whatever goes wrong with a program is said at once and goes to
 * r->failed: that it has not even a source, a crash, a line that is not of the protocol,
 * an answer that differs from that of the case's first contestant, which by convention is
 * the sequential program. */
void measure(const plan *p, const measure_options *options, results *r);

#endif
