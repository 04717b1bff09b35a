/* harness/recorded.h - the ratios of an earlier run that later ones must keep.
 *
 * Every goal of goals.txt is a ratio, or a figure such as wake-ups that does not depend
 * on the machine. Only these are kept, because they hold on other machines of a similar
 * kind. The figures of README.md and docs/ come from them, too; see docs.h.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_HARNESS_RECORDED_H
#define BENCH_HARNESS_RECORDED_H

#include "goals.h"

#define RECORDED_FORMAT "weft-bench-recorded-2"

/* The figure of one goal. */
typedef struct recorded {
  char *row, *what;
  double tolerance; /* how much worse it may be, as a share of the value */
  outcome outcome;  /* its median is the value */
} recorded;

typedef struct record {
  recorded *items;
  size_t count;
  results run; /* when, where and how; of the rows only P1, for the cost of a fork */
} record;

/* The figures of all goals that were measured, as JSON. The tolerance is twice what the
 * rounds varied, but at least 10 % and at most 50 %. */
void record_write(const goals *g, const results *r, text *out);

/* Ends the program with a message if the file is missing or wrong. */
record record_load(const char *path);
void record_free(record *r);

/* The figure of this goal, or NULL. */
const recorded *find_recorded(const record *kept, const goal *g);

/* Prints for every recorded figure that was measured again whether it still holds. Puts
 * the rows of those that do not into *worse, and returns how many do not. */
size_t record_check(const record *kept, const goals *g, const results *r, words *worse,
                    text *out);

#endif
