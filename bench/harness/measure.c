/* harness/measure.c - runs the processes of a plan round by round and collects what they
 * print. `weft-bench run` and `weft-bench check` call it.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "measure.h"
#include "process.h"
#include "progress.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct measuring {
  const plan *plan;
  const measure_options *options;
  results *results;
  double start;
  bool *chosen; /* of the plan's runs: those that will be started */
  bool *named;  /* those that goals are about; true until it is known */
  progress progress;
} measuring;

static char *path_of(const measuring *m, const plan_run *run) {
  text path = {0};
  text_print(&path, "%s/%s", m->options->bin, run->program);
  return path.chars;
}

/* fib_weft 2 35: for messages and for the result file. */
static char *command_of(const plan_run *run) {
  text command = {0};
  text_add(&command, run->program);
  for (size_t i = 0; i < run->args.count; i++)
    text_print(&command, " %s", run->args.items[i]);
  return command.chars;
}

static void failure(measuring *m, const plan_run *run, const char *reason,
                    const char *errors) {
  char *command = command_of(run);
  text message = {0};
  text_print(&message, "%s %s: %s: %s", run->row, run->kase, command, reason);
  free(command);
  text line = {0};
  text_print(&line, "bench: FAILED: %s", message.chars);
  progress_print(line.chars);
  text_free(&line);
  if (errors != NULL && errors[0] != 0) progress_print(errors);
  if (!words_have(&m->results->failed, message.chars))
    words_add(&m->results->failed, message.chars, message.length);
  text_free(&message);
}

/* ---- one process ---- */

/* What one process has printed, before it is believed. */
typedef struct printed {
  output_fact *facts;
  size_t count;
  const char *answer; /* within facts */
  bool broken;
} printed;

static printed read_output(const char *out) {
  printed p = {0};
  words lines = split(out, "\n");
  for (size_t i = 0; i < lines.count; i++) {
    GROW(p.facts, p.count);
    p.facts[p.count] = read_fact(lines.items[i]);
    p.broken |= p.facts[p.count++].kind == FACT_NONE;
  }
  for (size_t i = 0; i < p.count; i++)
    if (p.facts[i].kind == FACT_CHECK) p.answer = p.facts[i].answer;
  words_free(&lines);
  return p;
}

/* The answer of the case so far; all its contestants must give the same. */
static const char *case_answer(const bench_case *c) {
  for (size_t i = 0; i < c->count; i++)
    if (c->contestants[i].answer != NULL && strcmp(c->contestants[i].answer, "-") != 0)
      return c->contestants[i].answer;
  return NULL;
}

static size_t count_contestants(const printed *p) {
  size_t count = 0;
  const char *last = "";
  for (size_t i = 0; i < p->count; i++)
    if (p->facts[i].kind == FACT_METRIC && strcmp(p->facts[i].who, last) != 0) {
      last = p->facts[i].who;
      count++;
    }
  return count;
}

/* What the kernel counted belongs to a contestant only if it had the process alone. */
static void add_use(contestant *who, const process_use *use) {
  contestant_add(who, "process_wall_s", use->wall_s);
  contestant_add(who, "process_cpu_s", use->cpu_s);
  contestant_add(who, "process_switches", use->voluntary);
  contestant_add(who, "process_preemptions", use->involuntary);
  contestant_add(who, "process_peak_kib", use->peak_rss_kib);
}

static void keep(measuring *m, const plan_run *run, const printed *p,
                 const process_use *use) {
  const char *title = NULL;
  for (size_t i = 0; i < m->plan->row_count; i++)
    if (strcmp(m->plan->rows[i].id, run->row) == 0) title = m->plan->rows[i].title;
  bench_case *c = row_case(results_row(m->results, run->row, title), run->kase);
  const char *expected = case_answer(c);
  if (expected != NULL && strcmp(p->answer, "-") != 0 &&
      strcmp(expected, p->answer) != 0) {
    text reason = {0};
    text_print(&reason, "answer %s, but %s of %s", p->answer, expected,
               c->contestants[0].name);
    failure(m, run, reason.chars, NULL);
    text_free(&reason);
    return;
  }
  char *command = command_of(run);
  contestant *who = NULL;
  for (size_t i = 0; i < p->count; i++) {
    if (p->facts[i].kind != FACT_METRIC) continue;
    who = case_contestant(c, p->facts[i].who, command);
    contestant_add(who, p->facts[i].metric, p->facts[i].value);
    if (who->answer == NULL) who->answer = copy_text(p->answer);
  }
  if (who != NULL && count_contestants(p) == 1) add_use(who, use);
  free(command);
}

static bool is_named(const measuring *m, const plan_run *run, const printed *p) {
  if (m->options->goals == NULL) return true;
  for (size_t i = 0; i < p->count; i++)
    if (p->facts[i].kind == FACT_METRIC &&
        goals_name(m->options->goals, run->row, run->kase, p->facts[i].who))
      return true;
  return false;
}

static int rounds_of(const measuring *m, size_t i) {
  int most = m->plan->runs[i].most, least = m->plan->runs[i].least;
  int rounds = m->options->rounds;
  if (!m->named[i] && (most == 0 || most > OTHER_ROUNDS)) most = OTHER_ROUNDS;
  if (most != 0 && most < rounds && !m->options->every_round) rounds = most;
  return least > rounds ? least : rounds;
}

static void run_one(measuring *m, size_t index, int round) {
  const plan_run *run = &m->plan->runs[index];
  char *path = path_of(m, run), *command = command_of(run);
  char **argv = must_realloc(NULL, (run->args.count + 2) * sizeof *argv);
  argv[0] = path;
  for (size_t i = 0; i < run->args.count; i++) argv[i + 1] = run->args.items[i];
  argv[run->args.count + 1] = NULL;
  text what = {0};
  text_print(&what, "%s %s, round %d: %s", run->row, run->kase, round, command);
  progress_show(&m->progress, what.chars);

  process_result result = process_run(argv, run->cpus, m->options->limit_s);
  progress_done(&m->progress, index, result.use.wall_s);
  printed p = read_output(result.out.chars);
  if (!result.ok) {
    failure(m, run, result.problem, result.errors.chars);
  } else if (p.broken || p.answer == NULL) {
    failure(m, run, p.broken ? "a line that is no fact" : "no answer", result.out.chars);
  } else {
    keep(m, run, &p, &result.use);
    m->named[index] = is_named(m, run, &p);
    progress_limit(&m->progress, index, rounds_of(m, index) - round);
  }

  free(p.facts);
  process_free(&result);
  text_free(&what);
  free(argv);
  free(path);
  free(command);
}

/* ---- all of them ---- */

static double seconds_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool wanted(const words *list, const char *word) {
  return list->count == 0 || words_have(list, word);
}

static void choose(measuring *m) {
  for (size_t i = 0; i < m->plan->count; i++) {
    const plan_run *run = &m->plan->runs[i];
    m->named[i] =
        m->options->goals == NULL || goals_have_row(m->options->goals, run->row);
    m->chosen[i] =
        wanted(&m->options->rows, run->row) && wanted(&m->options->only, run->kind);
    if (!m->chosen[i]) continue;
    char *path = path_of(m, run);
    m->chosen[i] = access(path, X_OK) == 0;
    free(path);
    if (m->chosen[i]) continue;
    if (!run_has_source(m->options->folder, run)) {
      failure(m, run, "there is no such source", NULL);
    } else if (!words_have(&m->results->missing, run->program)) {
      words_add(&m->results->missing, run->program, strlen(run->program));
    }
  }
}

static void measure_row(measuring *m, const char *id) {
  size_t count = 0;
  int rounds = 0;
  for (size_t i = 0; i < m->plan->count; i++) {
    if (!m->chosen[i] || strcmp(m->plan->runs[i].row, id) != 0) continue;
    count++;
    if (rounds_of(m, i) > rounds) rounds = rounds_of(m, i);
  }
  if (count == 0) return;
  text note = {0};
  int left = (int)progress_left(&m->progress);
  text_print(&note, "row %s: %zu programs, %d rounds; about %d:%02d left in all", id,
             count, rounds, left / 60, left % 60);
  progress_note(&m->progress, note.chars);
  text_free(&note);
  for (int round = 1; round <= rounds; round++)
    for (size_t i = 0; i < m->plan->count; i++)
      if (m->chosen[i] && round <= rounds_of(m, i) &&
          strcmp(m->plan->runs[i].row, id) == 0)
        run_one(m, i, round);
  m->results->seconds = seconds_now() - m->start;
  if (m->options->after_row != NULL) m->options->after_row(m->results, m->options->ctx);
}

void measure(const plan *p, const measure_options *options, results *r) {
  measuring m = {.plan = p, .options = options, .results = r, .start = seconds_now()};
  m.chosen = must_realloc(NULL, p->count * sizeof *m.chosen);
  m.named = must_realloc(NULL, p->count * sizeof *m.named);
  int *runs = must_realloc(NULL, p->count * sizeof *runs);
  choose(&m);
  for (size_t i = 0; i < p->count; i++) runs[i] = m.chosen[i] ? rounds_of(&m, i) : 0;
  m.progress = progress_begin(runs, p->count);
  for (size_t i = 0; i < p->row_count; i++) measure_row(&m, p->rows[i].id);
  progress_end(&m.progress);
  free(runs);
  free(m.chosen);
  free(m.named);
}
