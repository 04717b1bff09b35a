/* harness/compare.c - compares two result files for `weft-bench compare`: a change counts
 * if a rank test and the spread of the rounds say that it is not noise.
 *
 * SPDX-License-Identifier: MIT */
#include "compare.h"
#include "stats.h"
#include "tables.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double UNLIKELY = 0.01, LEAST_CHANGE = 0.05;

bool is_weft(const char *name) {
  return strncmp(name, "weft", 4) == 0 && (name[4] == 0 || name[4] == '-');
}

/* The median over all contestants of the case that are not weft's of after / before. */
static double drift_of(const bench_case *before, const bench_case *after) {
  double *ratios = must_realloc(NULL, (before->count + 1) * sizeof *ratios);
  size_t count = 0;
  for (size_t i = 0; i < before->count; i++) {
    const contestant *old = &before->contestants[i];
    const contestant *new = find_contestant(after, old->name);
    if (is_weft(old->name) || new == NULL) continue;
    double ratio =
        contestant_value(new, "median_ns") / contestant_value(old, "median_ns");
    if (isfinite(ratio) && ratio > 0) ratios[count++] = ratio;
  }
  double drift = count != 0 ? median(ratios, count) : 1;
  free(ratios);
  return drift;
}

static void judge(change *c, const series *before, const series *after) {
  double *scaled = must_realloc(NULL, after->count * sizeof *scaled);
  for (size_t i = 0; i < after->count; i++) scaled[i] = after->values[i] / c->drift;
  rank_test test = mann_whitney(scaled, after->count, before->values, before->count);
  double noise = spread(before->values, before->count);
  noise = fmax(noise, spread(after->values, after->count));
  free(scaled);
  c->chance = test.differ;
  c->kind = SAME;
  if (c->chance > UNLIKELY) return;
  /* In both directions the same: twice as slow is as far as twice as fast. */
  if (fabs(log(c->ratio)) > log(1 + fmax(LEAST_CHANGE, noise)))
    c->kind = c->ratio > 1 ? SLOWER : FASTER;
}

static void compare_contestant(changes *list, const char *row_id,
                               const bench_case *before, const bench_case *after,
                               const contestant *old) {
  const series *a = find_series(old, "median_ns");
  const series *b = find_series(find_contestant(after, old->name), "median_ns");
  if (a == NULL || b == NULL) return;
  change c = {.row = row_id, .kase = before->name, .who = old->name, .metric = a->metric};
  c.before = median(a->values, a->count);
  c.after = median(b->values, b->count);
  c.drift = is_weft(old->name) ? drift_of(before, after) : 1;
  c.ratio = c.after / c.before / c.drift;
  judge(&c, a, b);
  GROW(list->items, list->count);
  list->items[list->count++] = c;
}

changes compare_results(const results *before, const results *after) {
  changes list = {0};
  for (size_t i = 0; i < before->count; i++) {
    const row *old = &before->rows[i], *new = find_row(after, old->id);
    for (size_t k = 0; k < old->count; k++) {
      const bench_case *a = &old->cases[k], *b = find_case(new, a->name);
      for (size_t n = 0; b != NULL && n < a->count; n++)
        compare_contestant(&list, old->id, a, b, &a->contestants[n]);
    }
  }
  return list;
}

void changes_free(changes *c) {
  free(c->items);
  *c = (changes){0};
}

/* ---- in words ---- */

static void time_cell(table *t, double ns) {
  text cell = {0};
  add_time(&cell, ns);
  table_cell(t, "%s", cell.chars);
  text_free(&cell);
}

void changes_print(const changes *list, bool all, text *out) {
  static const char *const words_of[] = {"same", "faster", "SLOWER"};
  size_t counts[3][2] = {{0}};
  table t = {0};
  table_line(&t);
  static const char *const heads[] = {"row",   "case",    "contestant", "", "before",
                                      "after", "machine", "change",     "p"};
  for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
    table_cell(&t, "%s", heads[i]);
  for (size_t i = 0; i < list->count; i++) {
    const change *c = &list->items[i];
    counts[c->kind][is_weft(c->who)]++;
    if (!all && c->kind == SAME) continue;
    table_line(&t);
    table_cell(&t, "%s", c->row);
    table_cell(&t, "%s", c->kase);
    table_cell(&t, "%s", c->who);
    table_cell(&t, "%s", words_of[c->kind]);
    time_cell(&t, c->before);
    time_cell(&t, c->after);
    table_cell(&t, "%+.1f %%", 100 * (c->drift - 1));
    table_cell(&t, "%+.1f %%", 100 * (c->ratio - 1));
    table_cell(&t, "%.4f", c->chance);
  }
  if (t.count > 1) table_print(&t, 4, out);
  table_free(&t);
  text_print(
      out,
      "%zu of weft's times compared: %zu faster, %zu slower, the rest the same within "
      "noise.\n%zu of others: %zu faster, %zu slower (the machine, or their "
      "versions).\n",
      counts[SAME][1] + counts[FASTER][1] + counts[SLOWER][1], counts[FASTER][1],
      counts[SLOWER][1], counts[SAME][0] + counts[FASTER][0] + counts[SLOWER][0],
      counts[FASTER][0], counts[SLOWER][0]);
}
