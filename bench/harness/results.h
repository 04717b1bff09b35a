/* harness/results.h - what was measured: rows, cases, contestants, series of numbers.
 *
 * A row has cases, a case has contestants, and a contestant one series per metric with a
 * number for each round. Best, median and spread are computed when they are needed.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_HARNESS_RESULTS_H
#define BENCH_HARNESS_RESULTS_H

#include "text.h"

#define RESULTS_FORMAT "weft-bench-1"

typedef struct series {
  char *metric;
  double *values;
  size_t count;
} series;

typedef struct contestant {
  char *name;
  char *command; /* program and arguments */
  char *answer;  /* that it gave in every round */
  series *series;
  size_t count;
} contestant;

typedef struct bench_case {
  char *name;
  contestant *contestants;
  size_t count;
} bench_case;

typedef struct row {
  char *id, *title;
  bench_case *cases;
  size_t count;
} row;

/* Something about the machine or the build, such as cpu or compiler.gcc. */
typedef struct fact {
  char *key, *value;
} fact;

typedef struct results {
  char *started; /* in UTC, as in 2026-01-31T12:00:00Z */
  char *size;    /* full, quick or tiny */
  double seconds;
  int pieces; /* how often the run was begun or resumed; 0 counts as 1 */
  int rounds, threads;
  fact *facts;
  size_t fact_count;
  words missing; /* programs that were not there to be run */
  words failed;  /* those that crashed, hung or gave a wrong answer, with the reason */
  row *rows;
  size_t count;
} results;

/* ---- building: each returns what is there already, or adds it at the end ---- */

row *results_row(results *r, const char *id, const char *title);
bench_case *row_case(row *r, const char *name);
contestant *case_contestant(bench_case *c, const char *name, const char *command);
void contestant_add(contestant *c, const char *metric, double value);
void results_fact(results *r, const char *key, const char *value);
void results_free(results *r);

/* Puts every row of the newer results into the older ones, in place of a row of the same
 * name; other rows stay, with their failures. Facts are those of the newer, which is
 * empty after. If both are pieces of one run, it has begun when the older did; else the
 * fact "weft" names both commits, if they differ. */
void results_merge(results *older, results *newer);

/* NULL if both can be pieces of one run: the same size, rounds, threads and facts (load
 * and memory apart), and no changes to the code that were not committed. Else what
 * differs. */
const char *results_differ(const results *a, const results *b);

/* ---- looking: NULL if there is none ---- */

const char *find_fact(const results *r, const char *key);
const row *find_row(const results *r, const char *id);
const bench_case *find_case(const row *r, const char *name);
const contestant *find_contestant(const bench_case *c, const char *name);
const series *find_series(const contestant *c, const char *metric);

/* The value of a metric over all rounds: the smallest of best_ns, of all others the
 * median. NAN if it was not measured. */
double contestant_value(const contestant *c, const char *metric);

/* What a fork and a join add to a call, in nanoseconds: the time of a contestant of row
 * P1 on one thread, minus that of the same program with plain calls, divided by the forks
 * of fib(n). n is the last argument of its command. NAN if it was not measured. */
double fork_cost_ns(const results *r, const char *who);

/* The order of rows in tables: P1, P1p, P1t, P2, ..., P16, then by name. */
int compare_row_ids(const char *a, const char *b);

/* ---- files ---- */

/* Everything as CSV, one line per number: row,case,round,contestant,metric,value. */
void results_csv(const results *r, text *out);

/* The members of the JSON object from "format" to "rows"; the caller opens and closes it
 * and may add members of its own. */
struct json_writer;
void results_json(const results *r, struct json_writer *w);

/* What such members say. */
struct json_value;
results results_read(const struct json_value *object);

/* Reads such a file. Ends the program with a message if there is none. */
results results_load(const char *path);

#endif
