/* harness/results.c - the model of results.h: building it and looking things up.
 *
 * SPDX-License-Identifier: MIT */
#include "results.h"
#include "stats.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

row *results_row(results *r, const char *id, const char *title) {
  row *found = (row *)find_row(r, id);
  if (found == NULL) {
    GROW(r->rows, r->count);
    found = &r->rows[r->count++];
    *found = (row){.id = copy_text(id), .title = copy_text("")};
  }
  if (found->title[0] == 0 && title != NULL) {
    free(found->title);
    found->title = copy_text(title);
  }
  return found;
}

bench_case *row_case(row *r, const char *name) {
  bench_case *found = (bench_case *)find_case(r, name);
  if (found != NULL) return found;
  GROW(r->cases, r->count);
  found = &r->cases[r->count++];
  *found = (bench_case){.name = copy_text(name)};
  return found;
}

contestant *case_contestant(bench_case *c, const char *name, const char *command) {
  contestant *found = (contestant *)find_contestant(c, name);
  if (found != NULL) return found;
  GROW(c->contestants, c->count);
  found = &c->contestants[c->count++];
  *found = (contestant){.name = copy_text(name), .command = copy_text(command)};
  return found;
}

void contestant_add(contestant *c, const char *metric, double value) {
  series *s = (series *)find_series(c, metric);
  if (s == NULL) {
    GROW(c->series, c->count);
    s = &c->series[c->count++];
    *s = (series){.metric = copy_text(metric)};
  }
  GROW(s->values, s->count);
  s->values[s->count++] = value;
}

void results_fact(results *r, const char *key, const char *value) {
  for (size_t i = 0; i < r->fact_count; i++)
    if (strcmp(r->facts[i].key, key) == 0) {
      free(r->facts[i].value);
      r->facts[i].value = copy_text(value);
      return;
    }
  GROW(r->facts, r->fact_count);
  r->facts[r->fact_count++] = (fact){copy_text(key), copy_text(value)};
}

/* ---- the end ---- */

static void free_contestant(contestant *c) {
  for (size_t i = 0; i < c->count; i++) {
    free(c->series[i].metric);
    free(c->series[i].values);
  }
  free(c->series);
  free(c->name);
  free(c->command);
  free(c->answer);
}

static void free_row(row *r) {
  for (size_t i = 0; i < r->count; i++) {
    bench_case *c = &r->cases[i];
    for (size_t k = 0; k < c->count; k++) free_contestant(&c->contestants[k]);
    free(c->contestants);
    free(c->name);
  }
  free(r->cases);
  free(r->id);
  free(r->title);
}

void results_free(results *r) {
  for (size_t i = 0; i < r->count; i++) free_row(&r->rows[i]);
  for (size_t i = 0; i < r->fact_count; i++) {
    free(r->facts[i].key);
    free(r->facts[i].value);
  }
  free(r->rows);
  free(r->facts);
  free(r->started);
  free(r->size);
  words_free(&r->missing);
  words_free(&r->failed);
  *r = (results){0};
}

/* ---- merging ---- */

static int compare_rows(const void *a, const void *b) {
  return compare_row_ids(((const row *)a)->id, ((const row *)b)->id);
}

static bool same_text(const char *a, const char *b) {
  return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* A fact of a that b does not have, or has otherwise. The load is another each time, and
 * so may be the memory that the system leaves of the same machine. */
static const char *fact_that_differs(const results *a, const results *b) {
  for (size_t i = 0; i < a->fact_count; i++)
    if (strcmp(a->facts[i].key, "load") != 0 && strcmp(a->facts[i].key, "memory") != 0 &&
        !same_text(a->facts[i].value, find_fact(b, a->facts[i].key)))
      return a->facts[i].key;
  return NULL;
}

const char *results_differ(const results *a, const results *b) {
  const char *commit = find_fact(b, "weft");
  if (!same_text(a->size, b->size)) return "size";
  if (a->rounds != b->rounds) return "rounds";
  if (a->threads != b->threads) return "threads";
  if (commit != NULL && strchr(commit, ' ') != NULL)
    return "weft"; /* "1234abc and changes" */
  const char *key = fact_that_differs(a, b);
  return key != NULL ? key : fact_that_differs(b, a);
}

/* Failures begin with the row: those of rows that were not measured again are kept. */
static void keep_failures(results *newer, const results *older) {
  for (size_t i = 0; i < older->failed.count; i++) {
    const char *failure = older->failed.items[i];
    char *id = copy_bytes(failure, strcspn(failure, " "));
    if (find_row(newer, id) == NULL) words_add(&newer->failed, failure, strlen(failure));
    free(id);
  }
}

/* When it began, and of which code it is. */
static void merge_heads(results *newer, results *older) {
  const char *before = find_fact(older, "weft"), *now = find_fact(newer, "weft");
  newer->seconds += older->seconds;
  if (results_differ(older, newer) == NULL) {
    char *later = newer->started;
    newer->started = older->started;
    older->started = later;
    newer->pieces =
        (newer->pieces > 0 ? newer->pieces : 1) + (older->pieces > 0 ? older->pieces : 1);
  } else if (before != NULL && now != NULL && strcmp(before, now) != 0) {
    text both = {0};
    bool has_both = strncmp(before, now, strlen(now)) == 0 && before[strlen(now)] == ',';
    if (!has_both) text_print(&both, "%s, other rows ", now);
    text_add(&both, before);
    results_fact(newer, "weft", both.chars);
    text_free(&both);
  }
}

/* What the older results say about programs that the newer ones did not start. */
static void keep_words(words *newer, const words *older) {
  for (size_t i = 0; i < older->count; i++)
    if (!words_have(newer, older->items[i]))
      words_add(newer, older->items[i], strlen(older->items[i]));
}

void results_merge(results *older, results *newer) {
  merge_heads(newer, older);
  keep_failures(newer, older);
  for (size_t i = 0; i < older->count; i++) {
    row *old = &older->rows[i];
    if (find_row(newer, old->id) != NULL) continue;
    GROW(newer->rows, newer->count);
    newer->rows[newer->count++] = *old;
    *old = (row){0};
  }
  qsort(newer->rows, newer->count, sizeof *newer->rows, compare_rows);
  keep_words(&newer->missing, &older->missing);
  results_free(older);
  *older = *newer;
  *newer = (results){0};
}

/* ---- looking ---- */

const char *find_fact(const results *r, const char *key) {
  for (size_t i = 0; i < r->fact_count; i++)
    if (strcmp(r->facts[i].key, key) == 0) return r->facts[i].value;
  return NULL;
}

const row *find_row(const results *r, const char *id) {
  for (size_t i = 0; i < r->count; i++)
    if (strcmp(r->rows[i].id, id) == 0) return &r->rows[i];
  return NULL;
}

const bench_case *find_case(const row *r, const char *name) {
  for (size_t i = 0; r != NULL && i < r->count; i++)
    if (strcmp(r->cases[i].name, name) == 0) return &r->cases[i];
  return NULL;
}

const contestant *find_contestant(const bench_case *c, const char *name) {
  for (size_t i = 0; c != NULL && i < c->count; i++)
    if (strcmp(c->contestants[i].name, name) == 0) return &c->contestants[i];
  return NULL;
}

const series *find_series(const contestant *c, const char *metric) {
  for (size_t i = 0; c != NULL && i < c->count; i++)
    if (strcmp(c->series[i].metric, metric) == 0) return &c->series[i];
  return NULL;
}

double contestant_value(const contestant *c, const char *metric) {
  const series *s = find_series(c, metric);
  if (s == NULL) return NAN;
  if (strcmp(metric, "best_ns") == 0) return smallest(s->values, s->count);
  return median(s->values, s->count);
}

/* How often fib(n), the last argument of the command, forks. */
static double forks_of(const char *command) {
  const char *last = strrchr(command, ' ');
  long n = last != NULL ? strtol(last, NULL, 10) : 0;
  double a = 0, b = 1;
  for (long i = 0; i < n; i++) {
    double next = a + b;
    a = b;
    b = next;
  }
  return b - 1; /* fib(n + 1) - 1 of its calls are not leaves, and each of those forks */
}

double fork_cost_ns(const results *r, const char *who) {
  const row *p1 = find_row(r, "P1");
  const bench_case *c = p1 != NULL ? find_case(p1, "t1") : NULL;
  const contestant *serial = c != NULL ? find_contestant(c, "serial-noinline") : NULL;
  const contestant *forks = c != NULL ? find_contestant(c, who) : NULL;
  if (serial == NULL || forks == NULL) return NAN;
  double calls = contestant_value(serial, "median_ns");
  return (contestant_value(forks, "median_ns") - calls) / forks_of(forks->command);
}

int compare_row_ids(const char *a, const char *b) {
  char *a_rest = NULL, *b_rest = NULL;
  long a_number = a[0] == 'P' ? strtol(a + 1, &a_rest, 10) : 0;
  long b_number = b[0] == 'P' ? strtol(b + 1, &b_rest, 10) : 0;
  if ((a_number != 0) != (b_number != 0)) return a_number != 0 ? -1 : 1;
  if (a_number == 0) return strcmp(a, b);
  if (a_number != b_number) return a_number < b_number ? -1 : 1;
  return strcmp(a_rest, b_rest);
}
