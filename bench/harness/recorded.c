/* harness/recorded.c - see recorded.h.
 *
 * SPDX-License-Identifier: MIT */
#include "recorded.h"
#include "tables.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void record_write(const goals *g, const results *r, text *out) {
  json_writer w = {0};
  json_begin(&w, '{');
  json_key(&w, "format");
  json_text(&w, RECORDED_FORMAT);
  json_key(&w, "started");
  json_text(&w, r->started);
  json_key(&w, "ratios");
  json_begin(&w, '[');
  for (size_t i = 0; i < g->count; i++) {
    outcome o = goal_outcome(&g->items[i], r);
    if (o.verdict == GOAL_UNKNOWN) continue;
    w.compact = w.depth + 1;
    json_begin(&w, '{');
    json_key(&w, "row");
    json_text(&w, g->items[i].row);
    json_key(&w, "what");
    json_text(&w, g->items[i].what);
    json_key(&w, "value");
    json_number(&w, o.median);
    json_key(&w, "tolerance");
    json_number(&w, round(100 * fmin(0.5, fmax(0.1, 2 * o.tolerance))) / 100);
    json_end(&w, '}');
    w.compact = 0;
  }
  json_end(&w, ']');
  json_end(&w, '}');
  *out = w.out;
}

record record_load(const char *path) {
  record kept = {0};
  char *chars = read_file(path), *problem = NULL;
  if (chars == NULL) die("cannot read %s", path);
  json_value file;
  if (!json_read(chars, &file, &problem)) die("%s, %s", path, problem);
  if (strcmp(json_member_text(&file, "format", ""), RECORDED_FORMAT) != 0)
    die("%s has no recorded ratios (its format is not %s)", path, RECORDED_FORMAT);
  const json_value *list = json_member(&file, "ratios");
  for (size_t i = 0; list != NULL && i < list->count; i++) {
    const json_value *v = &list->items[i];
    GROW(kept.items, kept.count);
    kept.items[kept.count++] = (recorded){copy_text(json_member_text(v, "row", "")),
                                          copy_text(json_member_text(v, "what", "")),
                                          json_member_number(v, "value", NAN),
                                          json_member_number(v, "tolerance", 0.1)};
  }
  json_free(&file);
  free(chars);
  return kept;
}

void record_free(record *r) {
  for (size_t i = 0; i < r->count; i++) {
    free(r->items[i].row);
    free(r->items[i].what);
  }
  free(r->items);
  *r = (record){0};
}

/* A share of nothing is nothing: then the limit of the goal gives the scale, or one. */
static bool still_holds(const recorded *kept, const goal *g, double value) {
  double scale = fabs(kept->value);
  if (scale < 1e-9) scale = fabs(g->limit) > 0 ? fabs(g->limit) : 1;
  double slack = kept->tolerance * scale;
  return g->at_least ? value >= kept->value - slack : value <= kept->value + slack;
}

static const goal *find_goal(const goals *g, const recorded *kept) {
  for (size_t i = 0; i < g->count; i++)
    if (strcmp(g->items[i].row, kept->row) == 0 &&
        strcmp(g->items[i].what, kept->what) == 0)
      return &g->items[i];
  return NULL;
}

static void add_row(table *t, const recorded *kept, double value, bool ok) {
  text was = {0}, is = {0};
  add_figure(&was, kept->value);
  add_figure(&is, value);
  table_line(t);
  table_cell(t, "%s", kept->row);
  table_cell(t, "%s", kept->what);
  table_cell(t, "%s", was.chars);
  table_cell(t, "%s", is.chars);
  table_cell(t, "%.0f %%", 100 * kept->tolerance);
  table_cell(t, "%s", ok ? "holds" : "WORSE");
  text_free(&was);
  text_free(&is);
}

size_t record_check(const record *kept, const goals *g, const results *r, words *worse,
                    text *out) {
  size_t bad = 0, compared = 0;
  table t = {0};
  table_line(&t);
  static const char *const heads[] = {"row", "ratio", "recorded", "now", "tolerance", ""};
  for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
    table_cell(&t, "%s", heads[i]);
  for (size_t i = 0; i < kept->count; i++) {
    const goal *item = find_goal(g, &kept->items[i]);
    if (item == NULL) continue;
    outcome o = goal_outcome(item, r);
    if (o.verdict == GOAL_UNKNOWN || o.verdict == GOAL_MACHINE) continue;
    bool ok = still_holds(&kept->items[i], item, o.median);
    compared++;
    add_row(&t, &kept->items[i], o.median, ok);
    if (ok) continue;
    bad++;
    if (!words_have(worse, item->row)) words_add(worse, item->row, strlen(item->row));
  }
  table_print(&t, 2, out);
  text_print(out, "%zu ratios compared with the recorded ones, %zu worse.\n", compared,
             bad);
  table_free(&t);
  return bad;
}
