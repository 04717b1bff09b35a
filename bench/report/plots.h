/* report/plots.h - the pictures of the report. Each adds one to `out` and returns true,
 * or adds nothing and returns false if what it needs was not measured.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_REPORT_PLOTS_H
#define BENCH_REPORT_PLOTS_H

#include "../harness/goals.h"

/* Every case as a dot: how many times as long the fastest peer takes. One line a row. */
bool plot_overview(const results *r, const goals *g, text *out);

/* The cases of one row as bars, with the goal and the name of the fastest peer. */
bool plot_row(const goals *g, const row *its, text *out);

/* What one fork and join costs beyond a call (row P1). */
bool plot_fork(const results *r, text *out);

/* Speed-up over the sequential program by the number that the names of the cases of a row
 * end or begin with: threads (t1, t2), or nanoseconds of a body (10ns). */
bool plot_speedup(const row *its, bool by_time, text *out);

/* Best, median and slow ones: how long a task waits, in one case of a row. */
bool plot_latency(const row *its, const char *case_name, text *out);

/* CPU seconds of the whole process for the same work, beside the least, by case. */
bool plot_cpu(const results *r, text *out);

#endif
