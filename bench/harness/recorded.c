/* harness/recorded.c - writes and reads recorded.json, and compares a new run with it for
 * `weft-bench check`.
 *
 * SPDX-License-Identifier: MIT */
#include "recorded.h"
#include "tables.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the file ---- */

/* A row that the pages show, and the one metric they need, or NULL: all. */
typedef struct kept_row {
  const char *id, *metric;
} kept_row;

/* What the pages show of rows without goals, of P1, and of rows whose processes are
 * points: times, and CPU where there is any. */
static void keep_row(results *run, const results *r, kept_row keep) {
  static const char *const kept[] = {"median_ns", "call_ns", "cpu_percent",
                                     "cpu_ms_per_s", "speedup_x"};
  const row *from = find_row(r, keep.id);
  for (size_t k = 0; from != NULL && k < from->count; k++) {
    bench_case *into =
        row_case(results_row(run, keep.id, from->title), from->cases[k].name);
    for (size_t i = 0; i < from->cases[k].count; i++) {
      const contestant *who = &from->cases[k].contestants[i];
      for (size_t m = 0; m < sizeof kept / sizeof *kept; m++) {
        if (keep.metric != NULL && strcmp(keep.metric, kept[m]) != 0) continue;
        const series *values = find_series(who, kept[m]);
        for (size_t n = 0; values != NULL && n < values->count; n++)
          contestant_add(case_contestant(into, who->name, who->command), kept[m],
                         values->values[n]);
      }
    }
  }
}

/* The head of the results and those rows. */
static results run_of(const results *r) {
  static const kept_row rows[] = {
      {"P1", "median_ns"},  {"P4", "speedup_x"},     {"P12", "median_ns"},
      {"P17", "speedup_x"}, {"primitives", NULL},    {"idle-modes", NULL},
      {"wake-ways", NULL},  {"recursive-sum", NULL}, {"pread", NULL}};
  results run = {.started = copy_text(r->started),
                 .size = copy_text(r->size),
                 .seconds = r->seconds,
                 .pieces = r->pieces,
                 .rounds = r->rounds,
                 .threads = r->threads};
  for (size_t i = 0; i < r->fact_count; i++)
    results_fact(&run, r->facts[i].key, r->facts[i].value);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) keep_row(&run, r, rows[i]);
  return run;
}

static void write_ratio(json_writer *w, const goal *g, const outcome *o) {
  w->compact = w->depth + 1;
  json_begin(w, '{');
  json_key(w, "row");
  json_text(w, g->row);
  json_key(w, "what");
  json_text(w, g->what);
  json_key(w, "value");
  json_number(w, o->median);
  json_key(w, "tolerance");
  json_number(w, round(100 * fmin(0.5, fmax(0.1, 2 * o->tolerance))) / 100);
  json_key(w, "best");
  json_number(w, o->best);
  json_key(w, "sure");
  json_number(w, o->sure);
  json_key(w, "machine");
  json_number(w, o->machine);
  json_key(w, "fastest");
  json_text(w, o->fastest[0] != 0 ? o->fastest : NULL);
  if (o->worst[0] != 0) {
    json_key(w, "worst");
    json_text(w, o->worst);
  }
  json_key(w, "met");
  json_text(w, verdict_words(o->verdict));
  json_end(w, '}');
  w->compact = 0;
}

void record_write(const goals *g, const results *r, text *out) {
  json_writer w = {0};
  json_begin(&w, '{');
  json_key(&w, "format");
  json_text(&w, RECORDED_FORMAT);
  json_key(&w, "ratios");
  json_begin(&w, '[');
  for (size_t i = 0; i < g->count; i++) {
    outcome o = goal_outcome(&g->items[i], r);
    if (o.verdict != GOAL_UNKNOWN) write_ratio(&w, &g->items[i], &o);
  }
  json_end(&w, ']');
  results run = run_of(r);
  json_key(&w, "run");
  json_begin(&w, '{');
  results_json(&run, &w);
  json_end(&w, '}');
  json_end(&w, '}');
  results_free(&run);
  *out = w.out;
}

static verdict verdict_named(const char *name) {
  for (int v = GOAL_UNKNOWN; v <= GOAL_MISSED; v++)
    if (strcmp(name, verdict_words((verdict)v)) == 0) return (verdict)v;
  return GOAL_UNKNOWN;
}

static recorded read_ratio(const json_value *v) {
  recorded r = {copy_text(json_member_text(v, "row", "")),
                copy_text(json_member_text(v, "what", "")),
                json_member_number(v, "tolerance", 0.1),
                {.verdict = verdict_named(json_member_text(v, "met", "")),
                 .median = json_member_number(v, "value", NAN),
                 .best = json_member_number(v, "best", NAN),
                 .sure = json_member_number(v, "sure", NAN),
                 .machine = json_member_number(v, "machine", NAN)}};
  snprintf(r.outcome.fastest, sizeof r.outcome.fastest, "%s",
           json_member_text(v, "fastest", ""));
  snprintf(r.outcome.worst, sizeof r.outcome.worst, "%s",
           json_member_text(v, "worst", ""));
  return r;
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
    GROW(kept.items, kept.count);
    kept.items[kept.count++] = read_ratio(&list->items[i]);
  }
  kept.run = results_read(json_member(&file, "run"));
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
  results_free(&r->run);
  *r = (record){0};
}

/* ---- comparing ---- */

/* A share of nothing is nothing: then the limit of the goal gives the scale, or one. */
static bool still_holds(const recorded *kept, const goal *g, double value) {
  double scale = fabs(kept->outcome.median);
  if (scale < 1e-9) scale = fabs(g->limit) > 0 ? fabs(g->limit) : 1;
  double slack = kept->tolerance * scale;
  return g->at_least ? value >= kept->outcome.median - slack
                     : value <= kept->outcome.median + slack;
}

static bool is_of(const recorded *kept, const goal *g) {
  return strcmp(g->row, kept->row) == 0 && strcmp(g->what, kept->what) == 0;
}

const recorded *find_recorded(const record *kept, const goal *g) {
  for (size_t i = 0; i < kept->count; i++)
    if (is_of(&kept->items[i], g)) return &kept->items[i];
  return NULL;
}

static const goal *find_goal(const goals *g, const recorded *kept) {
  for (size_t i = 0; i < g->count; i++)
    if (is_of(kept, &g->items[i])) return &g->items[i];
  return NULL;
}

static void add_row(table *t, const recorded *kept, double value, bool ok) {
  text was = {0}, is = {0};
  add_figure(&was, kept->outcome.median);
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
