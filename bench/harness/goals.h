/* harness/goals.h - the goals of goals.txt, compared with what was measured.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_HARNESS_GOALS_H
#define BENCH_HARNESS_GOALS_H

#include "json.h"
#include "results.h"

/* One line of goals.txt; see there for its columns. */
typedef struct goal {
  char *row, *what;
  bool at_least; /* >=, else <= */
  double limit;
  char *expression;
  char *condition;        /* an expression for what the machine gives, or NULL */
  double condition_needs; /* and what it must give for the goal to count */
} goal;

typedef struct goals {
  goal *items;
  size_t count;
} goals;

typedef enum verdict {
  GOAL_UNKNOWN, /* something that it needs was not measured */
  GOAL_MET,     /* by the medians */
  GOAL_BEST,    /* only by the best rounds */
  GOAL_MACHINE, /* missed, but the machine gave less than the condition asks for */
  GOAL_MISSED
} verdict;

typedef struct outcome {
  verdict verdict;
  double median, best; /* of the expression; best is NAN where it has no meaning */
  double tolerance;    /* what the spread of the rounds lets vary, as a share */
  double sure;    /* how sure it is that the median is on its side of the limit, or NAN */
  double machine; /* of the condition, or NAN */
  char fastest[64]; /* which of a list was meant, or empty */
  char worst[64];   /* in which of all cases it was so, or empty */
} outcome;

/* Ends the program with a message if the file is missing or wrong. */
goals goals_load(const char *path);
/* The same for a text: NULL, or what is wrong, which the caller frees. */
char *goals_read(goals *g, const char *content);
void goals_free(goals *g);

outcome goal_outcome(const goal *g, const results *r);
/* Is a goal about this row; and about this contestant, in its condition perhaps? */
bool goals_have_row(const goals *g, const char *row_id);
bool goals_name(const goals *g, const char *row_id, const char *kase, const char *who);
const char *verdict_words(verdict v);

/* A list of outcomes, one for each goal whose row was measured. */
void goals_json(const goals *g, const results *r, json_writer *w);

#endif
