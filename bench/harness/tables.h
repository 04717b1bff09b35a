/* harness/tables.h - results for people to read, as Markdown tables.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_HARNESS_TABLES_H
#define BENCH_HARNESS_TABLES_H

#include "goals.h"
#include "results.h"

/* Cells are collected, then printed with columns as wide as they need to be. */
typedef struct table {
  words *lines;
  size_t count;
} table;

void table_line(table *t);
__attribute__((format(printf, 2, 3))) void table_cell(table *t, const char *format, ...);
/* The first line is the heading. The first left columns are aligned to the left. */
void table_print(const table *t, size_t left, text *out);
void table_free(table *t);

/* Numbers for people: 64.1 ms; 1.68. */
void add_time(text *out, double ns);
void add_figure(text *out, double value);

/* All tables of a report: machine, each row and case, then the goals. */
void report_print(const results *r, const goals *g, text *out);
/* The last one alone. */
void report_goals(const results *r, const goals *g, text *out);

#endif
