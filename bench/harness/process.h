/* harness/process.h - runs one contestant process and reads its output.
 *
 * The protocol: a program prints one fact per line on standard output,
 *
 *     contestant.metric value          weft.median_ns 64123456.0
 *     check answer ok                  check 9227465 ok
 *
 * and ends with status 0. The answer "-" is not compared with others. A program may be
 * several contestants, if these must take turns more closely than processes can.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_HARNESS_PROCESS_H
#define BENCH_HARNESS_PROCESS_H

#include "text.h"

/* What the kernel reports about a process that has ended. */
typedef struct process_use {
  double wall_s, cpu_s;
  double voluntary, involuntary; /* context switches */
  double peak_rss_kib;
} process_use;

typedef struct process_result {
  bool ok;       /* ended by itself, in time, with status 0 */
  char *problem; /* if not: why, in words */
  text out, errors;
  process_use use;
} process_result;

/* Runs argv[0] with these arguments (NULL ends them) on at most `cpus` CPUs (0: all). A
 * process that takes longer than the limit is killed, with all processes of its group. */
process_result process_run(char *const *argv, int cpus, double limit_s);
void process_free(process_result *result);

/* One line of the output, taken apart. */
typedef enum fact_kind { FACT_NONE, FACT_METRIC, FACT_CHECK } fact_kind;

typedef struct output_fact {
  fact_kind kind;
  char who[64], metric[64];
  double value;
  char answer[64];
} output_fact;

/* FACT_NONE is a line that breaks the protocol. */
output_fact read_fact(const char *line);

#endif
