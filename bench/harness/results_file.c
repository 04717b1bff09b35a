/* harness/results_file.c - results as JSON and CSV; see results.h. README.md explains the
 * members of the JSON file.
 *
 * SPDX-License-Identifier: MIT */
#include "json.h"
#include "results.h"
#include "stats.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- CSV ---- */

void results_csv(const results *r, text *out) {
  text_add(out, "row,case,round,contestant,metric,value\n");
  for (size_t i = 0; i < r->count; i++)
    for (size_t j = 0; j < r->rows[i].count; j++) {
      const bench_case *c = &r->rows[i].cases[j];
      for (size_t k = 0; k < c->count; k++)
        for (size_t m = 0; m < c->contestants[k].count; m++) {
          const series *s = &c->contestants[k].series[m];
          for (size_t n = 0; n < s->count; n++)
            text_print(out, "%s,%s,%zu,%s,%s,%.10g\n", r->rows[i].id, c->name, n + 1,
                       c->contestants[k].name, s->metric, s->values[n]);
        }
    }
}

/* ---- JSON out ---- */

static void write_words(json_writer *w, const char *key, const words *list) {
  json_key(w, key);
  json_begin(w, '[');
  for (size_t i = 0; i < list->count; i++) json_text(w, list->items[i]);
  json_end(w, ']');
}

/* What readers would otherwise have to compute; reading the file back ignores it. */
static void write_summary(json_writer *w, const contestant *c, const contestant *weft) {
  const series *s = find_series(c, "median_ns");
  if (s == NULL) return;
  const series *ours = find_series(weft, "median_ns");
  double middle = median(s->values, s->count);
  json_key(w, "summary");
  int before = w->compact;
  w->compact = w->depth + 1;
  json_begin(w, '{');
  json_key(w, "rounds");
  json_number(w, (double)s->count);
  json_key(w, "best_ns");
  json_number(w, contestant_value(c, "best_ns"));
  json_key(w, "median_ns");
  json_number(w, middle);
  json_key(w, "spread");
  json_number(w, spread(s->values, s->count));
  if (ours != NULL && ours != s) {
    json_key(w, "times_weft");
    json_number(w, middle / median(ours->values, ours->count));
    json_key(w, "differs_by_chance");
    json_number(w, mann_whitney(s->values, s->count, ours->values, ours->count).differ);
  }
  json_end(w, '}');
  w->compact = before;
}

static void write_contestant(json_writer *w, const contestant *c,
                             const contestant *weft) {
  json_begin(w, '{');
  json_key(w, "name");
  json_text(w, c->name);
  json_key(w, "command");
  json_text(w, c->command);
  json_key(w, "answer");
  json_text(w, c->answer);
  write_summary(w, c, weft);
  json_key(w, "metrics");
  json_begin(w, '{');
  for (size_t i = 0; i < c->count; i++) {
    json_key(w, c->series[i].metric);
    json_numbers(w, c->series[i].values, c->series[i].count);
  }
  json_end(w, '}');
  json_end(w, '}');
}

static void write_row(json_writer *w, const row *r) {
  json_begin(w, '{');
  json_key(w, "id");
  json_text(w, r->id);
  json_key(w, "title");
  json_text(w, r->title);
  json_key(w, "cases");
  json_begin(w, '[');
  for (size_t i = 0; i < r->count; i++) {
    const bench_case *c = &r->cases[i];
    json_begin(w, '{');
    json_key(w, "name");
    json_text(w, c->name);
    json_key(w, "contestants");
    json_begin(w, '[');
    for (size_t k = 0; k < c->count; k++)
      write_contestant(w, &c->contestants[k], find_contestant(c, "weft"));
    json_end(w, ']');
    json_end(w, '}');
  }
  json_end(w, ']');
  json_end(w, '}');
}

void results_json(const results *r, json_writer *w) {
  json_key(w, "format");
  json_text(w, RESULTS_FORMAT);
  json_key(w, "started");
  json_text(w, r->started);
  json_key(w, "seconds");
  json_number(w, r->seconds);
  if (r->pieces > 1) {
    json_key(w, "pieces");
    json_number(w, r->pieces);
  }
  json_key(w, "size");
  json_text(w, r->size);
  json_key(w, "rounds");
  json_number(w, r->rounds);
  json_key(w, "threads");
  json_number(w, r->threads);
  json_key(w, "machine");
  json_begin(w, '{');
  for (size_t i = 0; i < r->fact_count; i++) {
    json_key(w, r->facts[i].key);
    json_text(w, r->facts[i].value);
  }
  json_end(w, '}');
  write_words(w, "missing", &r->missing);
  write_words(w, "failed", &r->failed);
  json_key(w, "rows");
  json_begin(w, '[');
  for (size_t i = 0; i < r->count; i++) write_row(w, &r->rows[i]);
  json_end(w, ']');
}

/* ---- JSON in ---- */

/* A list of the object, as something to go through even if it is not there. */
static const json_value *member_list(const json_value *object, const char *key) {
  static const json_value nothing = {.kind = JSON_LIST};
  const json_value *list = json_member(object, key);
  return list != NULL ? list : &nothing;
}

static void read_words(words *list, const json_value *value) {
  for (size_t i = 0; i < value->count; i++)
    if (value->items[i].kind == JSON_TEXT)
      words_add(list, value->items[i].chars, strlen(value->items[i].chars));
}

static void read_case(bench_case *c, const json_value *contestants) {
  for (size_t i = 0; i < contestants->count; i++) {
    const json_value *v = &contestants->items[i];
    contestant *who = case_contestant(c, json_member_text(v, "name", ""),
                                      json_member_text(v, "command", ""));
    const char *answer = json_member_text(v, "answer", NULL);
    if (answer != NULL && who->answer == NULL) who->answer = copy_text(answer);
    const json_value *metrics = member_list(v, "metrics");
    for (size_t k = 0; metrics->kind == JSON_OBJECT && k < metrics->count; k++) {
      const json_value *numbers = &metrics->items[k];
      for (size_t n = 0; n < numbers->count; n++)
        if (numbers->items[n].kind == JSON_NUMBER)
          contestant_add(who, metrics->keys[k], numbers->items[n].number);
    }
  }
}

static void read_rows(results *r, const json_value *rows) {
  for (size_t i = 0; i < rows->count; i++) {
    const json_value *cases = member_list(&rows->items[i], "cases");
    row *into = results_row(r, json_member_text(&rows->items[i], "id", ""),
                            json_member_text(&rows->items[i], "title", ""));
    for (size_t k = 0; k < cases->count; k++) {
      const json_value *c = &cases->items[k];
      read_case(row_case(into, json_member_text(c, "name", "")),
                member_list(c, "contestants"));
    }
  }
}

results results_read(const json_value *file) {
  results all = {0}, *r = &all;
  r->started = copy_text(json_member_text(file, "started", ""));
  r->size = copy_text(json_member_text(file, "size", "full"));
  r->seconds = json_member_number(file, "seconds", 0);
  r->pieces = (int)json_member_number(file, "pieces", 1);
  r->rounds = (int)json_member_number(file, "rounds", 0);
  r->threads = (int)json_member_number(file, "threads", 0);
  const json_value *machine = member_list(file, "machine");
  for (size_t i = 0; machine->kind == JSON_OBJECT && i < machine->count; i++)
    if (machine->items[i].kind == JSON_TEXT)
      results_fact(r, machine->keys[i], machine->items[i].chars);
  read_words(&r->missing, member_list(file, "missing"));
  read_words(&r->failed, member_list(file, "failed"));
  read_rows(r, member_list(file, "rows"));
  return all;
}

results results_load(const char *path) {
  char *chars = read_file(path), *problem = NULL;
  if (chars == NULL) die("cannot read %s", path);
  json_value file;
  if (!json_read(chars, &file, &problem)) die("%s, %s", path, problem);
  if (strcmp(json_member_text(&file, "format", ""), RESULTS_FORMAT) != 0)
    die("%s is not a result file (its format is not %s)", path, RESULTS_FORMAT);
  results r = results_read(&file);
  json_free(&file);
  free(chars);
  return r;
}
