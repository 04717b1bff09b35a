/* harness/docs.h - puts what was recorded into pages: README.md and docs/benchmarks.md.
 *
 * A page has places for it, between the lines
 *
 *     <!-- measured: PART -->
 *     <!-- end -->
 *
 * where PART is one of
 *
 *     figures   sentences for users: the figures that matter to them, when and where
 *     run       a sentence: when, where, how, how many goals were met
 *     machine   a table of the machine and the versions
 *     goals     a table of all goals
 *     missed    a list: each goal that was missed, and why
 *     primitives  a table: what each step costs, beside its limit
 *     row ID    a table of a row without goals that is kept (recorded.c)
 *
 * The causes come from causes.txt, which has a line for each: row | pattern for the goal
 * | cause. The first line whose pattern fits a goal is its cause.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_HARNESS_DOCS_H
#define BENCH_HARNESS_DOCS_H

#include "recorded.h"

typedef struct cause {
  char *row, *what; /* the second is a pattern, see matches() */
  char *why;
} cause;

typedef struct causes {
  cause *items;
  size_t count;
} causes;

/* Ends the program with a message if the file is missing or wrong. */
causes causes_load(const char *path);
/* The same for a text: NULL, or what is wrong, which the caller frees. */
char *causes_read(causes *c, const char *content);
void causes_free(causes *c);

/* The page with new parts. Returns NULL, or what is wrong with the page. */
char *docs_fill(const char *page, const record *kept, const goals *g, const causes *c,
                text *out);

/* The goals that were missed for no known cause: "row: goal". */
words goals_without_cause(const record *kept, const goals *g, const causes *c);

#endif
