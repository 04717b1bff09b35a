/* harness/plan.h - the plan, a list of the processes to run, from the workload.txt of
 * every folder.
 *
 * A workload.txt has one instruction per line; # begins a comment.
 *
 *     row ID [title]             what follows belongs to this row; several folders may
 *                                add to one row, and one of them gives the title
 *     case NAME                  what follows is compared with each other
 *     run PROGRAM [argument...]  one process per round. The program is a file of this
 *                                folder without its ending; omp.c makes two of them,
 *                                omp_gcc and omp_clang, ips4o.cpp ips4o and ips4o_native
 *     most N                     the runs that follow, up to the next row, take part in
 *                                at most N rounds, because they are long or do not vary
 *     least N                    they take part in at least N rounds: for what differs
 *                                from process to process. (Contestants that no goal is
 *                                about have 3 rounds, see measure.h, or this number.)
 *     cpus N                     the same runs may use N CPUs only
 *     set NAME full | quick | tiny
 *                                $NAME stands for the first list of words; in a quick
 *                                run for the second, in a tiny one for the third, if
 *                                there are as many
 *     for NAME in word...        the lines up to the matching end, once for each word
 *     end
 *
 * Always set: threads, and counts, a list of the numbers of threads from 1 up to
 * all CPUs (doubling, and all of them).
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_HARNESS_PLAN_H
#define BENCH_HARNESS_PLAN_H

#include "text.h"

typedef enum run_size { SIZE_FULL, SIZE_QUICK, SIZE_TINY } run_size;

/* One process of each round. */
typedef struct plan_run {
  char *row, *kase;
  char *program; /* with its folder: fib_weft */
  char *source;  /* the file it is made of, without its ending: fib/weft */
  char *kind;    /* serial, weft, or the name of the peer: see kind_of_program */
  words args;
  int most, least, cpus; /* 0: no limit */
} plan_run;

typedef struct plan_row {
  char *id, *title;
} plan_row;

typedef struct plan {
  plan_row *rows; /* in the order of compare_row_ids */
  size_t row_count;
  plan_run *runs; /* by row, else in the order of the files */
  size_t count;
} plan;

typedef struct plan_options {
  const char *folder; /* bench/ itself */
  run_size size;
  int threads, cpus;
} plan_options;

/* Reads folder/<*>/workload.txt. Ends the program with a message if one has a mistake. */
plan plan_load(const plan_options *options);

/* The same for one file that is in memory: for each instruction adds to the plan. Returns
 * NULL, or what is wrong, which the caller frees. */
char *plan_read(plan *p, const plan_options *options, const char *workload,
                const char *content);

/* Brings rows and runs into order; plan_load does it by itself. */
void plan_sort(plan *p);
void plan_free(plan *p);

/* Is there a file that the program of the run can be made of? */
bool run_has_source(const char *folder, const plan_run *run);

/* Whose program it is, by its name without the folder: serial, rayon, tbb, omp, ips4o,
 * vqsort, pthreadpool, taskflow, lace if it begins so, and else weft. */
const char *kind_of_program(const char *name);

#endif
