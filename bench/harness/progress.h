/* harness/progress.h - shows how far a run is: on a terminal a bar with the time left, by
 * weft_progress, elsewhere plain lines. Both go to standard error.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_HARNESS_PROGRESS_H
#define BENCH_HARNESS_PROGRESS_H

#include <stddef.h>
#include <weft/progress.h>

/* What each program takes is learned while it runs; until then a guess. */
typedef struct progress {
  int terminal;
  weft_progress *bar;
  double *seconds; /* of one run of each kind of process, 0: not known yet */
  int *left;       /* how many runs of it are to come */
  size_t kinds;
} progress;

/* runs[i] is how often process number i will run. */
progress progress_begin(const int *runs, size_t kinds);
/* A process is about to start; `what` names it. The bar is drawn now, and not while the
 * process runs. */
void progress_show(progress *p, const char *what);
/* Process number i has ended and took this long. */
void progress_done(progress *p, size_t i, double seconds);
/* Process number i will run only this often from now on, if that is less than planned. */
void progress_limit(progress *p, size_t i, int left);
/* A line for those who have no bar: once per row and such. */
void progress_note(progress *p, const char *line);
/* Lines for all. */
void progress_print(const char *lines);
void progress_end(progress *p);

/* How long all runs that are still to come will take. */
double progress_left(const progress *p);

#endif
