/* harness/goals.c - reads goals.txt and computes the outcome of each goal from the
 * results: its figure, how sure it is, and whether it is met.
 *
 * SPDX-License-Identifier: MIT */
#include "goals.h"
#include "stats.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST_STACK = 8 };

/* ---- the file ---- */

/* The next column of a line, without space around it; moves *line behind it. */
static char *next_column(const char **line) {
  size_t length = strcspn(*line, "|\n"), first = strspn(*line, " "), end = length;
  while (end > first && (*line)[end - 1] == ' ') end--;
  char *column =
      copy_bytes(*line + (first < end ? first : end), first < end ? end - first : 0);
  *line += length;
  if (**line == '|') ++*line;
  return column;
}

/* sense and limit, condition and what it needs: false if they make no sense. */
static bool read_numbers(goal *g, const char *sense, const char *limit,
                         const char *condition) {
  char *end;
  g->at_least = strcmp(sense, ">=") == 0;
  if (!g->at_least && strcmp(sense, "<=") != 0) return false;
  g->limit = strtod(limit, &end);
  if (end == limit || *end != 0) return false;
  if (condition[0] == 0) return true;
  const char *space = strrchr(condition, ' ');
  if (space == NULL) return false;
  g->condition = copy_bytes(condition, (size_t)(space - condition));
  g->condition_needs = strtod(space, &end);
  return *end == 0;
}

char *goals_read(goals *g, const char *content) {
  text problem = {0};
  for (int number = 1; *content != 0 && problem.length == 0; number++) {
    size_t length = strcspn(content, "\n");
    const char *line = content;
    content += length + (content[length] != 0);
    if (length == 0 || line[0] == '#') continue;
    GROW(g->items, g->count);
    goal *item = &g->items[g->count++];
    *item = (goal){0};
    item->row = next_column(&line);
    item->what = next_column(&line);
    char *sense = next_column(&line), *limit = next_column(&line);
    item->expression = next_column(&line);
    char *condition = next_column(&line);
    if (!read_numbers(item, sense, limit, condition) || item->expression[0] == 0)
      text_print(&problem, "goals, line %d: not row|what|sense|limit|how|condition",
                 number);
    free(sense);
    free(limit);
    free(condition);
  }
  return problem.chars;
}

goals goals_load(const char *path) {
  goals g = {0};
  char *content = read_file(path);
  if (content == NULL) die("cannot read %s", path);
  char *problem = goals_read(&g, content);
  if (problem != NULL) die("%s: %s", path, problem);
  free(content);
  return g;
}

void goals_free(goals *g) {
  for (size_t i = 0; i < g->count; i++) {
    free(g->items[i].row);
    free(g->items[i].what);
    free(g->items[i].expression);
    free(g->items[i].condition);
  }
  free(g->items);
  *g = (goals){0};
}

/* ---- expressions ---- */

/* What an evaluation leaves behind besides its value. */
typedef struct evaluation {
  const row *row;
  const bench_case *each; /* what * stands for in place of a case */
  const char *time;       /* the metric of terms that name none: median_ns or best_ns */
  bool missing, timed, subtracts, ranks;
  char fastest[64];
  const series *terms[DEEPEST_STACK]; /* in the order of the expression */
  size_t term_count;
} evaluation;

static bool in_list(const char *list, const char *name) {
  words patterns = split(list, ",");
  bool found = false;
  for (size_t i = 0; i < patterns.count; i++) found |= matches(patterns.items[i], name);
  words_free(&patterns);
  return found;
}

static bool names_in(const char *expression, const char *kase, const char *who) {
  bool found = false;
  words tokens = split(expression, " ");
  for (size_t i = 0; i < tokens.count; i++) {
    words parts = split(tokens.items[i], ":");
    found |=
        parts.count >= 2 && matches(parts.items[0], kase) && in_list(parts.items[1], who);
    words_free(&parts);
  }
  words_free(&tokens);
  return found;
}

bool goals_have_row(const goals *g, const char *row_id) {
  for (size_t i = 0; i < g->count; i++)
    if (strcmp(g->items[i].row, row_id) == 0) return true;
  return false;
}

bool goals_name(const goals *g, const char *row_id, const char *kase, const char *who) {
  for (size_t i = 0; i < g->count; i++) {
    const goal *item = &g->items[i];
    if (strcmp(item->row, row_id) != 0) continue;
    if (names_in(item->expression, kase, who)) return true;
    if (item->condition != NULL && names_in(item->condition, kase, who)) return true;
  }
  return false;
}

/* The value of the contestant, or of the fastest of a list of them; that of its rounds
 * which the percent tells, if it is not negative. */
static double value_of(evaluation *e, const bench_case *c, const char *list,
                       const char *metric, double percent) {
  const contestant *best = NULL;
  bool is_list = strpbrk(list, "*,") != NULL;
  for (size_t i = 0; c != NULL && i < c->count; i++) {
    const contestant *who = &c->contestants[i];
    if (!in_list(list, who->name) || find_series(who, metric) == NULL) continue;
    if (best == NULL || contestant_value(who, metric) < contestant_value(best, metric))
      best = who;
  }
  if (best == NULL) {
    e->missing = true;
    return NAN;
  }
  if (is_list) snprintf(e->fastest, sizeof e->fastest, "%s", best->name);
  const series *rounds = find_series(best, metric);
  if (e->term_count < DEEPEST_STACK) e->terms[e->term_count++] = rounds;
  return percent < 0 ? contestant_value(best, metric)
                     : ranked(rounds->values, rounds->count, percent);
}

/* case:contestant, case:contestant:metric or case:contestant:metric%percent */
static double term_value(evaluation *e, const char *term) {
  words parts = split(term, ":");
  double value = NAN, percent = -1;
  char *mark = parts.count == 3 ? strchr(parts.items[2], '%') : NULL;
  if (mark != NULL) {
    percent = strtod(mark + 1, NULL);
    *mark = 0;
  }
  e->timed |= parts.count == 2;
  e->ranks |= mark != NULL;
  if (parts.count == 2 || parts.count == 3)
    value = value_of(
        e, parts.items[0][0] == '*' ? e->each : find_case(e->row, parts.items[0]),
        parts.items[1], parts.count == 3 ? parts.items[2] : e->time, percent);
  else
    e->missing = true;
  words_free(&parts);
  return value;
}

static double combine(evaluation *e, char op, double a, double b) {
  e->subtracts |= op == '-';
  switch (op) {
  case '+':
    return a + b;
  case '-':
    return a - b;
  case '*':
    return a * b;
  default:
    e->missing |= b == 0;
    return b != 0 ? a / b : NAN;
  }
}

static double evaluate(evaluation *e, const char *expression) {
  double stack[DEEPEST_STACK] = {0};
  size_t top = 0;
  words tokens = split(expression, " ");
  for (size_t i = 0; i < tokens.count; i++) {
    const char *token = tokens.items[i];
    bool is_operator = strlen(token) == 1 && strchr("+-*/", token[0]) != NULL;
    if (is_operator ? top < 2 : top == DEEPEST_STACK)
      die("goals: not a postfix expression: %s", expression);
    if (is_operator) {
      top--;
      stack[top - 1] = combine(e, token[0], stack[top - 1], stack[top]);
    } else if (strchr(token, ':') != NULL) {
      stack[top++] = term_value(e, token);
    } else {
      stack[top++] = strtod(token, NULL);
    }
  }
  if (top != 1) die("goals: not a postfix expression: %s", expression);
  words_free(&tokens);
  return stack[0];
}

/* ---- outcomes ---- */

static bool holds(const goal *g, double value) {
  return g->at_least ? value >= g->limit : value <= g->limit;
}

/* For "a b /": is a larger (smaller) than limit times b? The rank test says how likely
 * such rounds would be if it were not so. */
static double sureness(const goal *g, const evaluation *e, bool met) {
  words tokens = split(g->expression, " ");
  bool ratio = tokens.count == 3 && strcmp(tokens.items[2], "/") == 0;
  words_free(&tokens);
  if (!ratio || e->term_count != 2 || e->ranks) return NAN;
  const series *a = e->terms[0], *b = e->terms[1];
  if (a->count < 3 || b->count < 3) return NAN;
  double *limits = must_realloc(NULL, b->count * sizeof *limits);
  for (size_t i = 0; i < b->count; i++) limits[i] = g->limit * b->values[i];
  rank_test test = mann_whitney(a->values, a->count, limits, b->count);
  free(limits);
  return 1 - (g->at_least == met ? test.greater : test.less);
}

static double tolerance_of(const evaluation *e) {
  double sum = 0;
  for (size_t i = 0; i < e->term_count; i++)
    sum += spread(e->terms[i]->values, e->terms[i]->count);
  return sum;
}

/* each: the case that * stands for, or NULL. */
static outcome outcome_in(const goal *g, const results *r, const bench_case *each) {
  outcome o = {GOAL_UNKNOWN, NAN, NAN, 0, NAN, NAN, "", ""};
  evaluation by_median = {.row = find_row(r, g->row), .each = each, .time = "median_ns"};
  o.median = evaluate(&by_median, g->expression);
  if (by_median.missing) return o;
  memcpy(o.fastest, by_median.fastest, sizeof o.fastest);
  o.tolerance = tolerance_of(&by_median);
  /* The bests of different things do not subtract. */
  if (by_median.timed && !by_median.subtracts) {
    evaluation by_best = {.row = by_median.row, .each = each, .time = "best_ns"};
    o.best = evaluate(&by_best, g->expression);
  }
  bool met = holds(g, o.median);
  o.verdict = met                                    ? GOAL_MET
              : isfinite(o.best) && holds(g, o.best) ? GOAL_BEST
                                                     : GOAL_MISSED;
  o.sure = sureness(g, &by_median, met);
  if (g->condition != NULL) {
    evaluation machine = {.row = by_median.row, .each = each, .time = "median_ns"};
    o.machine = evaluate(&machine, g->condition);
    if (!met && !machine.missing && o.machine < g->condition_needs)
      o.verdict = GOAL_MACHINE;
  }
  return o;
}

/* Of all cases that have what the expression needs, the one that is worst. */
static outcome outcome_in_all(const goal *g, const results *r) {
  outcome worst = {GOAL_UNKNOWN, NAN, NAN, 0, NAN, NAN, "", ""};
  const row *its = find_row(r, g->row);
  for (size_t i = 0; its != NULL && i < its->count; i++) {
    outcome o = outcome_in(g, r, &its->cases[i]);
    if (o.verdict == GOAL_UNKNOWN) continue;
    if (worst.verdict != GOAL_UNKNOWN &&
        (g->at_least ? o.median >= worst.median : o.median <= worst.median))
      continue;
    worst = o;
    snprintf(worst.worst, sizeof worst.worst, "%s", its->cases[i].name);
  }
  return worst;
}

outcome goal_outcome(const goal *g, const results *r) {
  bool all = g->expression[0] == '*' || strstr(g->expression, " *:") != NULL;
  return all ? outcome_in_all(g, r) : outcome_in(g, r, NULL);
}

const char *verdict_words(verdict v) {
  static const char *const names[] = {"not measured", "yes", "best only",
                                      "machine too busy", "no"};
  return names[v];
}

void goals_json(const goals *g, const results *r, json_writer *w) {
  json_begin(w, '[');
  for (size_t i = 0; i < g->count; i++) {
    const goal *item = &g->items[i];
    if (find_row(r, item->row) == NULL) continue;
    outcome o = goal_outcome(item, r);
    json_begin(w, '{');
    json_key(w, "row");
    json_text(w, item->row);
    json_key(w, "what");
    json_text(w, item->what);
    json_key(w, "sense");
    json_text(w, item->at_least ? ">=" : "<=");
    json_key(w, "limit");
    json_number(w, item->limit);
    json_key(w, "expression");
    json_text(w, item->expression);
    json_key(w, "median");
    json_number(w, o.median);
    json_key(w, "best");
    json_number(w, o.best);
    json_key(w, "sure");
    json_number(w, o.sure);
    json_key(w, "fastest");
    json_text(w, o.fastest[0] != 0 ? o.fastest : NULL);
    json_key(w, "worst");
    json_text(w, o.worst[0] != 0 ? o.worst : NULL);
    json_key(w, "machine");
    json_number(w, o.machine);
    json_key(w, "met");
    json_text(w, verdict_words(o.verdict));
    json_end(w, '}');
  }
  json_end(w, ']');
}
