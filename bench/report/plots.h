/* report/plots.h - the pictures of the report. Each adds one to `out` and returns true,
 * or adds nothing and returns false if what it needs was not measured.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_REPORT_PLOTS_H
#define BENCH_REPORT_PLOTS_H

#include "../harness/recorded.h"

/* Every goal about a peer, and every fastest peer, as a dot: how many times as long it
 * takes. One line for each row that has goals, with these as marks. */
bool plot_overview(const results *r, const goals *g, text *out);

/* The same of the goals that were recorded. */
bool plot_recorded(const record *kept, const goals *g, text *out);

/* The same comparisons of one row as bars. */
bool plot_row(const results *r, const goals *g, const row *its, text *out);

/* What one fork and join costs beyond a call (row P1). */
bool plot_fork(const results *r, text *out);

/* Speed-up over the sequential program: in row scaling by threads, a curve for each work;
 * in row granularity by the length of a body, forked as a tree and run as a loop. */
typedef enum curve_kind { CURVE_THREADS, CURVE_TREE, CURVE_LOOP } curve_kind;

typedef struct curve {
  const row *its;
  curve_kind kind;
  char work[32]; /* fib, or tree */
} curve;

typedef struct curves {
  curve *items;
  size_t count;
} curves;

/* Those of a row; most have none. */
curves curves_of(const row *its);
void curves_free(curves *list);
bool plot_curve(const curve *c, text *out);

/* Row P14: the time with 64 threads beside that with 2, by library and work. */
bool plot_oversubscribed(const row *its, text *out);

/* Best, median and slow ones: how long a task waits, in one case of a row. */
bool plot_latency(const row *its, const char *case_name, text *out);

/* Rows P4, P12 and P17, whose figures depend on the process: each process as a dot. */
bool plot_processes(const row *its, text *out);

/* CPU seconds of the whole process for the same work, beside the least, by case. */
bool plot_cpu(const results *r, text *out);

#endif
