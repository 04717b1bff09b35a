/* harness/tables.c - prints results and goals as tables on the terminal, and into
 * report.txt.
 *
 * SPDX-License-Identifier: MIT */
#include "tables.h"
#include "stats.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- tables ---- */

void table_line(table *t) {
  GROW(t->lines, t->count);
  t->lines[t->count++] = (words){0};
}

void table_cell(table *t, const char *format, ...) {
  char cell[200];
  va_list args;
  va_start(args, format);
  int length = vsnprintf(cell, sizeof cell, format, args);
  va_end(args);
  if (length >= (int)sizeof cell) length = (int)sizeof cell - 1;
  words_add(&t->lines[t->count - 1], cell, (size_t)length);
}

static int width_of(const table *t, size_t column) {
  size_t width = 0;
  for (size_t i = 0; i < t->count; i++)
    if (column < t->lines[i].count && strlen(t->lines[i].items[column]) > width)
      width = strlen(t->lines[i].items[column]);
  return (int)width;
}

void table_print(const table *t, size_t left, text *out) {
  size_t columns = t->count != 0 ? t->lines[0].count : 0;
  for (size_t i = 0; i < t->count; i++) {
    text_add(out, "|");
    for (size_t c = 0; c < columns; c++) {
      const char *cell = c < t->lines[i].count ? t->lines[i].items[c] : "";
      int width = width_of(t, c);
      text_print(out, c < left ? " %-*s |" : " %*s |", width, cell);
    }
    text_add(out, "\n");
    if (i != 0) continue;
    text_add(out, "|");
    for (size_t c = 0; c < columns; c++) {
      for (int k = -2; k < width_of(t, c); k++) text_add(out, "-");
      text_add(out, "|");
    }
    text_add(out, "\n");
  }
}

void table_free(table *t) {
  for (size_t i = 0; i < t->count; i++) words_free(&t->lines[i]);
  free(t->lines);
  *t = (table){0};
}

/* ---- numbers ---- */

void add_time(text *out, double ns) {
  if (!isfinite(ns))
    text_add(out, "-");
  else if (ns < 1e3)
    text_print(out, "%.1f ns", ns);
  else if (ns < 1e6)
    text_print(out, "%.2f us", ns / 1e3);
  else if (ns < 1e9)
    text_print(out, "%.2f ms", ns / 1e6);
  else
    text_print(out, "%.2f s", ns / 1e9);
}

void add_figure(text *out, double value) {
  if (!isfinite(value))
    text_add(out, "-");
  else if (value == floor(value) && fabs(value) < 1e15)
    text_print(out, "%.0f", value);
  else
    text_print(out, fabs(value) < 0.01 ? "%.4f" : "%.2f", value);
}

static void cell_time(table *t, double ns) {
  text cell = {0};
  add_time(&cell, ns);
  table_cell(t, "%s", cell.chars);
  text_free(&cell);
}

static void cell_figure(table *t, double value) {
  text cell = {0};
  add_figure(&cell, value);
  table_cell(t, "%s", cell.chars);
  text_free(&cell);
}

/* ---- one case ---- */

/* Who the others are divided by, where they are there. */
static const char *const bases[] = {"serial", "serial-noinline", "weft", "weft-task"};
static const char *const base_heads[] = {"/ serial", "/ not inlined", "/ weft",
                                         "/ weft-task"};
enum { BASES = 4 };

static void print_times(const bench_case *c, text *out) {
  table t = {0};
  double base[BASES];
  table_line(&t);
  table_cell(&t, "%s", c->name);
  table_cell(&t, "best");
  table_cell(&t, "median");
  table_cell(&t, "spread");
  for (int i = 0; i < BASES; i++) {
    base[i] = contestant_value(find_contestant(c, bases[i]), "median_ns");
    if (isfinite(base[i])) table_cell(&t, "%s", base_heads[i]);
  }
  table_cell(&t, "p");
  const series *ours = find_series(find_contestant(c, "weft"), "median_ns");
  for (size_t k = 0; k < c->count; k++) {
    const contestant *who = &c->contestants[k];
    const series *s = find_series(who, "median_ns");
    if (s == NULL) continue;
    double middle = median(s->values, s->count);
    table_line(&t);
    table_cell(&t, "%s", who->name);
    cell_time(&t, contestant_value(who, "best_ns"));
    cell_time(&t, middle);
    table_cell(&t, "%.1f %%", 100 * spread(s->values, s->count));
    for (int i = 0; i < BASES; i++)
      if (isfinite(base[i])) cell_figure(&t, middle / base[i]);
    if (ours == NULL || ours == s)
      table_cell(&t, "-");
    else
      table_cell(&t, "%.3f",
                 mann_whitney(s->values, s->count, ours->values, ours->count).differ);
  }
  if (t.count > 1) {
    text_add(out, "\n");
    table_print(&t, 1, out);
  }
  table_free(&t);
}

/* The names of all metrics of the case but the two times. */
static words other_metrics(const bench_case *c) {
  words names = {0};
  for (size_t k = 0; k < c->count; k++)
    for (size_t m = 0; m < c->contestants[k].count; m++) {
      const char *metric = c->contestants[k].series[m].metric;
      if (strcmp(metric, "best_ns") != 0 && strcmp(metric, "median_ns") != 0 &&
          !words_have(&names, metric))
        words_add(&names, metric, strlen(metric));
    }
  return names;
}

static void print_metrics(const bench_case *c, text *out) {
  words names = other_metrics(c);
  table t = {0};
  table_line(&t);
  table_cell(&t, "%s", c->name);
  for (size_t m = 0; m < names.count; m++) table_cell(&t, "%s", names.items[m]);
  for (size_t k = 0; k < c->count && names.count != 0; k++) {
    table_line(&t);
    table_cell(&t, "%s", c->contestants[k].name);
    for (size_t m = 0; m < names.count; m++) {
      const char *metric = names.items[m], *unit = strrchr(metric, '_');
      double value = contestant_value(&c->contestants[k], metric);
      if (unit != NULL && strcmp(unit, "_ns") == 0)
        cell_time(&t, value);
      else
        cell_figure(&t, value);
    }
  }
  if (t.count > 1) {
    text_add(out, "\n");
    table_print(&t, 1, out);
  }
  table_free(&t);
  words_free(&names);
}

/* ---- the goals ---- */

static void goal_line(table *t, const goal *g, const outcome *o) {
  text measured = {0}, limit = {0};
  add_figure(&limit, g->limit);
  table_line(t);
  table_cell(t, "%s", g->row);
  table_cell(t, "%s %s %s", g->what, g->at_least ? ">=" : "<=", limit.chars);
  add_figure(&measured, o->median);
  if (isfinite(o->best)) {
    text_add(&measured, " (best ");
    add_figure(&measured, o->best);
    text_add(&measured, ")");
  }
  if (o->fastest[0] != 0) text_print(&measured, "; fastest: %s", o->fastest);
  if (o->worst[0] != 0) text_print(&measured, "; worst: %s", o->worst);
  if (isfinite(o->machine)) {
    text_add(&measured, "; machine gives ");
    add_figure(&measured, o->machine);
  }
  table_cell(t, "%s", measured.chars);
  table_cell(t, "%s", verdict_words(o->verdict));
  if (isfinite(o->sure))
    table_cell(t, "%.1f %%", 100 * o->sure);
  else
    table_cell(t, "-");
  text_free(&measured);
  text_free(&limit);
}

void report_goals(const results *r, const goals *g, text *out) {
  table t = {0};
  size_t counts[GOAL_MISSED + 1] = {0};
  table_line(&t);
  table_cell(&t, "row");
  table_cell(&t, "goal");
  table_cell(&t, "measured");
  table_cell(&t, "met");
  table_cell(&t, "sure");
  for (size_t i = 0; i < g->count; i++) {
    if (find_row(r, g->items[i].row) == NULL) continue;
    outcome o = goal_outcome(&g->items[i], r);
    goal_line(&t, &g->items[i], &o);
    counts[o.verdict]++;
  }
  if (t.count > 1) {
    text_add(out, "\n## Goals\n\n");
    table_print(&t, 4, out);
    text_print(
        out,
        "\n%zu met, %zu missed, %zu by the best rounds only, %zu where the machine "
        "gave too little, %zu not measured.\n",
        counts[GOAL_MET], counts[GOAL_MISSED], counts[GOAL_BEST], counts[GOAL_MACHINE],
        counts[GOAL_UNKNOWN]);
  }
  table_free(&t);
}

/* ---- everything ---- */

static void print_head(const results *r, text *out) {
  text_print(out, "weft benchmarks, %s, %.0f s", r->started, r->seconds);
  if (r->pieces > 1) text_print(out, " in %d pieces", r->pieces);
  text_add(out, "\n");
  for (size_t i = 0; i < r->fact_count; i++)
    text_print(out, "%-28s %s\n", r->facts[i].key, r->facts[i].value);
  text_print(
      out,
      "%d rounds (%s sizes), contestants in turn, one process each, %d threads. best: "
      "of all rounds;\nmedian: of the rounds' medians; spread: of their middle half; p: "
      "that the difference to\nweft is chance (Mann-Whitney). Ratios are those of "
      "medians.\n",
      r->rounds, r->size, r->threads);
}

void report_print(const results *r, const goals *g, text *out) {
  print_head(r, out);
  for (size_t i = 0; i < r->count; i++) {
    const row *row_of = &r->rows[i];
    text_print(out, "\n## %s: %s\n", row_of->id, row_of->title);
    for (size_t k = 0; k < row_of->count; k++) {
      print_times(&row_of->cases[k], out);
      print_metrics(&row_of->cases[k], out);
    }
  }
  report_goals(r, g, out);
  for (size_t i = 0; i < r->missing.count; i++)
    text_print(out, "%s%s",
               i == 0
                   ? "\nNot built here (what they need is not installed), so left out: "
                   : ", ",
               r->missing.items[i]);
  if (r->missing.count != 0) text_add(out, "\n");
  for (size_t i = 0; i < r->failed.count; i++)
    text_print(out, "FAILED: %s\n", r->failed.items[i]);
}
