/* harness/main.c - the command: measures, shows, compares, checks.
 *
 *     weft-bench [options] [row ...]         measures; all rows if none is named
 *     weft-bench show FILE                   the tables of a result file
 *     weft-bench compare OLD NEW [--all]     what changed beyond noise
 *     weft-bench record FILE                 prints the ratios to keep in recorded.json
 *     weft-bench docs PAGE...                writes the recorded ratios into these pages
 *     weft-bench check [options] [row ...]   measures at the recorded size, compares with
 *                                            the recorded ratios
 *     weft-bench list                        the rows
 *
 *     --rounds N      rounds; each runs every contestant once, in turn (9)
 *     --every-round   all contestants in all rounds; otherwise those that no goal is
 *                     about run in 3, and slow ones in fewer
 *     --quick         smaller sizes and shorter waits: a look, not a result
 *     --tiny          even smaller, 1 round: does everything work?
 *     --threads N     threads of the rows that do not fix the number themselves (2)
 *     --only LIST     only contestants of these kinds: serial, weft, rayon, tbb, omp,
 *                     ips4o, vqsort, pthreadpool, taskflow, lace, separated by
 *                     commas
 *     --update        keep the rows of the result file that are not measured now
 *     --resume        go on with a run that was interrupted: measure only the rows that
 *                     the result file does not have. It must be of the same commit,
 *                     machine, size, rounds and threads.
 *     --folder DIR    where workloads, goals and recorded ratios are (bench)
 *     --out DIR       where programs are and results go (build/bench)
 *
 * Results: OUT/results.json, OUT/results.csv, OUT/report.txt. Status 0: all is well, 1: a
 * wrong answer, a crash or a ratio that got worse, 2: nothing could be measured.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "compare.h"
#include "docs.h"
#include "goals.h"
#include "machine.h"
#include "measure.h"
#include "plan.h"
#include "recorded.h"
#include "tables.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct command_line {
  const char *folder, *out;
  words names; /* what is no option */
  words only;
  int rounds, threads;
  run_size size;
  bool update, resume, all, every_round;
} command_line;

static const char *const size_names[] = {"full", "quick", "tiny"};

static char *path_in(const char *folder, const char *name) {
  text path = {0};
  text_print(&path, "%s/%s", folder, name);
  return path.chars;
}

static void save(const char *folder, const char *name, const text *content) {
  char *path = path_in(folder, name);
  if (!write_file(path, content->chars, content->length)) exit(2);
  free(path);
}

/* ---- options ---- */

/* The value of an option that needs one. */
static const char *value_for(int argc, char **argv, int *i) {
  if (*i + 1 >= argc) die("%s needs a value", argv[*i]);
  return argv[++*i];
}

static int number_for(int argc, char **argv, int *i) {
  const char *option = argv[*i];
  int number = atoi(value_for(argc, argv, i));
  if (number < 1) die("%s needs a number", option);
  return number;
}

static command_line read_options(int argc, char **argv) {
  command_line c = {.folder = "bench", .out = "build/bench", .threads = 2};
  for (int i = 1; i < argc; i++) {
    const char *a = argv[i];
    if (strcmp(a, "--rounds") == 0)
      c.rounds = number_for(argc, argv, &i);
    else if (strcmp(a, "--threads") == 0)
      c.threads = number_for(argc, argv, &i);
    else if (strcmp(a, "--only") == 0) {
      words_free(&c.only);
      c.only = split(value_for(argc, argv, &i), ",");
    } else if (strcmp(a, "--folder") == 0)
      c.folder = value_for(argc, argv, &i);
    else if (strcmp(a, "--out") == 0)
      c.out = value_for(argc, argv, &i);
    else if (strcmp(a, "--quick") == 0)
      c.size = SIZE_QUICK;
    else if (strcmp(a, "--tiny") == 0)
      c.size = SIZE_TINY;
    else if (strcmp(a, "--update") == 0)
      c.update = true;
    else if (strcmp(a, "--resume") == 0)
      c.update = c.resume = true;
    else if (strcmp(a, "--every-round") == 0)
      c.every_round = true;
    else if (strcmp(a, "--all") == 0)
      c.all = true;
    else if (a[0] == '-')
      die("unknown option %s (bench/harness/main.c explains them)", a);
    else
      words_add(&c.names, a, strlen(a));
  }
  if (c.rounds == 0) c.rounds = c.size == SIZE_TINY ? 1 : 9;
  return c;
}

static goals load_goals(const command_line *c) {
  char *path = path_in(c->folder, "goals.txt");
  goals g = goals_load(path);
  free(path);
  return g;
}

static plan load_plan(const command_line *c) {
  plan_options options = {c->folder, c->size, c->threads, usable_cpus()};
  return plan_load(&options);
}

/* ---- measuring ---- */

static void save_json(const command_line *c, const goals *g, const results *r,
                      const char *name) {
  json_writer w = {0};
  json_begin(&w, '{');
  results_json(r, &w);
  json_key(&w, "goals");
  goals_json(g, r, &w);
  json_end(&w, '}');
  save(c->out, name, &w.out);
  text_free(&w.out);
}

typedef struct saving {
  const command_line *line;
  const goals *goals;
} saving;

/* The results of an earlier run with the new ones in their place. Goes by way of files,
 * as merging takes both apart and the new ones are still needed. */
static results merged(const command_line *c, const goals *g, const results *r) {
  char *path = path_in(c->out, "newer.json"), *old = path_in(c->out, "older.json");
  save_json(c, g, r, "newer.json");
  results newer = results_load(path), older = results_load(old);
  results_merge(&older, &newer);
  free(path);
  free(old);
  return older;
}

/* A run that is interrupted keeps the rows that it has. */
static void save_rows_so_far(const results *r, void *ctx) {
  const saving *s = ctx;
  if (s->line->update) {
    results all = merged(s->line, s->goals, r);
    save_json(s->line, s->goals, &all, "results.json");
    results_free(&all);
  } else {
    save_json(s->line, s->goals, r, "results.json");
  }
}

static void check_names(const plan *p, const words *names) {
  for (size_t i = 0; i < names->count; i++) {
    bool known = false;
    for (size_t k = 0; k < p->row_count; k++)
      known |= strcmp(p->rows[k].id, names->items[i]) == 0;
    if (!known) die("unknown row %s (weft-bench list names them)", names->items[i]);
  }
}

/* Without rows: when, where and how. */
static results head_of_run(const command_line *c, int rounds) {
  results r = {.started = time_now(),
               .size = copy_text(size_names[c->size]),
               .rounds = rounds,
               .threads = c->threads};
  char *facts = path_in(c->out, "build.txt");
  machine_facts(&r, facts);
  free(facts);
  return r;
}

static results measure_rows(const command_line *c, const goals *g, const words *rows,
                            int rounds) {
  plan p = load_plan(c);
  check_names(&p, rows);
  results r = head_of_run(c, rounds);
  char *bin = path_in(c->out, "bin");
  saving s = {c, g};
  measure_options options = {.folder = c->folder,
                             .bin = bin,
                             .rounds = rounds,
                             .every_round = c->every_round,
                             .goals = g,
                             .limit_s = c->size == SIZE_FULL ? 600 : 120,
                             .rows = *rows,
                             .only = c->only,
                             .after_row = save_rows_so_far,
                             .ctx = &s};
  if (c->size != SIZE_FULL)
    setenv("BENCH_QUICK", "1", 1); /* see bench_choose_limits in common/bench.h */
  else
    unsetenv("BENCH_QUICK");
  if (c->size == SIZE_TINY) setenv("BENCH_TINY", "1", 1);
  measure(&p, &options, &r);
  free(bin);
  plan_free(&p);
  return r;
}

static void save_all(const command_line *c, const goals *g, const results *r) {
  text csv = {0}, report = {0};
  save_json(c, g, r, "results.json");
  results_csv(r, &csv);
  save(c->out, "results.csv", &csv);
  report_print(r, g, &report);
  save(c->out, "report.txt", &report);
  fputs(report.chars, stdout);
  text_free(&csv);
  text_free(&report);
}

static bool has_weft(const results *r) {
  for (size_t i = 0; i < r->count; i++)
    for (size_t k = 0; k < r->rows[i].count; k++)
      for (size_t n = 0; n < r->rows[i].cases[k].count; n++)
        if (is_weft(r->rows[i].cases[k].contestants[n].name)) return true;
  return false;
}

/* Keeps a copy of the earlier results; without any there is nothing to update. */
static void keep_older(command_line *c) {
  char *path = path_in(c->out, "results.json"), *old = path_in(c->out, "older.json");
  char *content = c->update ? read_file(path) : NULL;
  if (content == NULL || !write_file(old, content, strlen(content))) c->update = false;
  free(content);
  free(path);
  free(old);
}

/* Leaves of the rows that were asked for those that the interrupted run does not have. */
static void keep_missing_rows(command_line *c) {
  char *old = path_in(c->out, "older.json");
  results older = results_load(old), now = head_of_run(c, c->rounds);
  const char *what = results_differ(&older, &now);
  if (what != NULL)
    die("the run cannot be resumed: \"%s\" differs, or is not of a commit", what);
  plan p = load_plan(c);
  words missing = {0};
  check_names(&p, &c->names);
  for (size_t i = 0; i < p.row_count; i++) {
    const char *id = p.rows[i].id;
    if (find_row(&older, id) == NULL &&
        (c->names.count == 0 || words_have(&c->names, id)))
      words_add(&missing, id, strlen(id));
  }
  if (missing.count == 0) die("the run has all rows");
  words_free(&c->names);
  c->names = missing;
  plan_free(&p);
  results_free(&older);
  results_free(&now);
  free(old);
}

static int command_run(command_line *c) {
  keep_older(c);
  if (c->resume && c->update) keep_missing_rows(c);
  goals g = load_goals(c);
  results r = measure_rows(c, &g, &c->names, c->rounds);
  int status = 0;
  if (!has_weft(&r)) {
    say("no weft was measured");
    status = 1;
  }
  if (c->update) {
    results all = merged(c, &g, &r);
    results_free(&r);
    r = all;
  }
  if (r.failed.count != 0) status = 1;
  save_all(c, &g, &r);
  results_free(&r);
  goals_free(&g);
  return status;
}

/* The size of the recorded run: the ratios of other sizes are other ratios. */
static run_size recorded_size(const record *kept, run_size otherwise) {
  for (int size = SIZE_FULL; kept->run.size != NULL && size <= SIZE_TINY; size++)
    if (strcmp(kept->run.size, size_names[size]) == 0) return (run_size)size;
  return otherwise;
}

/* A row that seems worse is measured once more, with more rounds, before it is called so:
 * a busy machine must not look like a regression. */
static int command_check(command_line *c) {
  goals g = load_goals(c);
  char *path = path_in(c->folder, "recorded.json");
  record kept = record_load(path);
  c->size = recorded_size(&kept, c->size);
  results r = measure_rows(c, &g, &c->names, c->rounds);
  words worse = {0}, again = {0};
  text first = {0}, second = {0};
  int status = r.failed.count != 0;
  size_t bad = record_check(&kept, &g, &r, &worse, &first);
  fputs(first.chars, stdout);
  if (bad != 0) {
    say("measuring the rows that seem worse once more");
    results more = measure_rows(c, &g, &worse, 2 * c->rounds);
    bad = record_check(&kept, &g, &more, &again, &second);
    fputs(second.chars, stdout);
    results_merge(&r, &more);
  }
  save_json(c, &g, &r, "results.json");
  for (size_t i = 0; i < again.count; i++)
    say("row %s is worse than recorded", again.items[i]);
  text_free(&first);
  text_free(&second);
  words_free(&worse);
  words_free(&again);
  record_free(&kept);
  results_free(&r);
  goals_free(&g);
  free(path);
  return status != 0 || bad != 0;
}

/* ---- the other commands ---- */

static int command_show(const command_line *c) {
  if (c->names.count != 2) die("usage: weft-bench show FILE");
  goals g = load_goals(c);
  results r = results_load(c->names.items[1]);
  text out = {0};
  report_print(&r, &g, &out);
  fputs(out.chars, stdout);
  text_free(&out);
  results_free(&r);
  goals_free(&g);
  return 0;
}

static int command_compare(const command_line *c) {
  if (c->names.count != 3) die("usage: weft-bench compare OLD NEW");
  results before = results_load(c->names.items[1]);
  results after = results_load(c->names.items[2]);
  changes list = compare_results(&before, &after);
  text out = {0};
  changes_print(&list, c->all, &out);
  fputs(out.chars, stdout);
  text_free(&out);
  changes_free(&list);
  results_free(&before);
  results_free(&after);
  return 0;
}

static int command_record(const command_line *c) {
  if (c->names.count != 2) die("usage: weft-bench record FILE");
  goals g = load_goals(c);
  results r = results_load(c->names.items[1]);
  text out = {0};
  record_write(&g, &r, &out);
  fputs(out.chars, stdout);
  text_free(&out);
  results_free(&r);
  goals_free(&g);
  return 0;
}

/* Status 1 if a goal was missed and causes.txt does not say why. */
static int command_docs(const command_line *c) {
  char *ratios = path_in(c->folder, "recorded.json");
  char *reasons = path_in(c->folder, "causes.txt");
  goals g = load_goals(c);
  record kept = record_load(ratios);
  causes why = causes_load(reasons);
  for (size_t i = 1; i < c->names.count; i++) {
    const char *path = c->names.items[i];
    char *page = read_file(path);
    text out = {0};
    if (page == NULL) die("cannot read %s", path);
    char *problem = docs_fill(page, &kept, &g, &why, &out);
    if (problem != NULL) die("%s: %s", path, problem);
    if (!write_file(path, out.chars, out.length)) die("cannot write %s", path);
    text_free(&out);
    free(page);
  }
  words alone = goals_without_cause(&kept, &g, &why);
  for (size_t i = 0; i < alone.count; i++)
    say("missed, and %s has no cause for it: %s", reasons, alone.items[i]);
  int status = alone.count != 0;
  words_free(&alone);
  causes_free(&why);
  record_free(&kept);
  goals_free(&g);
  free(ratios);
  free(reasons);
  return status;
}

static int command_list(const command_line *c) {
  plan p = load_plan(c);
  for (size_t i = 0; i < p.row_count; i++)
    printf("%-12s %s\n", p.rows[i].id, p.rows[i].title);
  plan_free(&p);
  return 0;
}

int main(int argc, char **argv) {
  command_line c = read_options(argc, argv);
  const char *word = c.names.count != 0 ? c.names.items[0] : "";
  int status;
  if (strcmp(word, "show") == 0) {
    status = command_show(&c);
  } else if (strcmp(word, "compare") == 0) {
    status = command_compare(&c);
  } else if (strcmp(word, "record") == 0) {
    status = command_record(&c);
  } else if (strcmp(word, "docs") == 0) {
    status = command_docs(&c);
  } else if (strcmp(word, "list") == 0) {
    status = command_list(&c);
  } else if (strcmp(word, "check") == 0) {
    free(c.names.items[0]);
    memmove(c.names.items, c.names.items + 1, --c.names.count * sizeof *c.names.items);
    c.update = false; /* here results are compared, not collected */
    status = command_check(&c);
  } else {
    status = command_run(&c);
  }
  words_free(&c.names);
  words_free(&c.only);
  return status;
}
