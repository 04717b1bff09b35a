/* The workloads and goals of bench/ as they are: whatever they name is there.
 *
 * SPDX-License-Identifier: MIT */
#include <bench/harness/goals.h>
#include <bench/harness/plan.h>
#include <bench/harness/recorded.h>
#include <harness/harness.h>
#include <stdlib.h>
#include <string.h>

static plan plan_of(run_size size) {
  plan_options options = {BENCH_FOLDER, size, 2, 4};
  return plan_load(&options);
}

TEST(every_program_has_its_source) {
  for (int size = SIZE_FULL; size <= SIZE_TINY; size++) {
    plan p = plan_of((run_size)size);
    CHECK(p.count > 100);
    for (size_t i = 0; i < p.count; i++)
      CHECK_MSG(run_has_source(BENCH_FOLDER, &p.runs[i]), "row %s, case %s: no %s.*",
                p.runs[i].row, p.runs[i].kase, p.runs[i].source);
    plan_free(&p);
  }
}

TEST(every_row_has_a_title) {
  plan p = plan_of(SIZE_FULL);
  for (size_t i = 0; i < p.row_count; i++)
    CHECK_MSG(p.rows[i].title[0] != 0, "row %s", p.rows[i].id);
  plan_free(&p);
}

/* rayon-install is one of rayon's; weft-task, bandwidth and where it must be close by
 * also serial are printed by programs of ours. (Whether they print just that name is seen
 * by the goals that have no figure in recorded.json.) */
static bool may_print(const char *kind, const char *name) {
  char *word = copy_bytes(name, strcspn(name, "-*"));
  const char *wanted = kind_of_program(word);
  bool may = strcmp(kind, wanted) == 0 ||
             (strcmp(wanted, "serial") == 0 && strcmp(kind, "weft") == 0);
  free(word);
  return may;
}

static bool takes_part(const plan *p, const char *id, const char *kase,
                       const char *list) {
  bool found = false;
  words names = split(list, ",");
  for (size_t n = 0; n < names.count; n++)
    for (size_t i = 0; i < p->count; i++)
      found |= strcmp(p->runs[i].row, id) == 0 && matches(kase, p->runs[i].kase) &&
               may_print(p->runs[i].kind, names.items[n]);
  words_free(&names);
  return found;
}

static void check_terms(const plan *p, const goal *g, const char *expression) {
  words tokens = split(expression, " ");
  for (size_t i = 0; i < tokens.count; i++) {
    if (strchr(tokens.items[i], ':') == NULL) continue;
    words parts = split(tokens.items[i], ":");
    REQUIRE(parts.count >= 2);
    CHECK_MSG(takes_part(p, g->row, parts.items[0], parts.items[1]),
              "goal \"%s\" of row %s: nobody like %s", g->what, g->row, tokens.items[i]);
    words_free(&parts);
  }
  words_free(&tokens);
}

/* Is the goal about a library that took no part in the recorded run? These are used from
 * checkouts, or not installed everywhere. */
static bool is_about_absent_peer(const goal *g, const record *kept) {
  static const char *const optional[] = {"lace", "taskflow", "vqsort"};
  const char *peers = "";
  for (size_t i = 0; i < kept->run.fact_count; i++)
    if (strcmp(kept->run.facts[i].key, "peers") == 0) peers = kept->run.facts[i].value;
  for (size_t i = 0; i < sizeof optional / sizeof *optional; i++)
    if (strstr(g->expression, optional[i]) != NULL && strstr(peers, optional[i]) == NULL)
      return true;
  return false;
}

/* A row is recorded whole or not at all: a goal that has no figure where others of its
 * row have one names a contestant or a metric that nobody prints. */
TEST(recorded_rows_are_whole) {
  goals g = goals_load(BENCH_FOLDER "/goals.txt");
  record kept = record_load(BENCH_FOLDER "/recorded.json");
  CHECK(kept.count > 50);
  for (size_t i = 0; i < g.count; i++) {
    bool row_is_there = false;
    for (size_t k = 0; k < kept.count; k++)
      row_is_there |= strcmp(kept.items[k].row, g.items[i].row) == 0;
    if (is_about_absent_peer(&g.items[i], &kept)) continue;
    CHECK_MSG(!row_is_there || find_recorded(&kept, &g.items[i]) != NULL,
              "row %s has no figure of \"%s\"", g.items[i].row, g.items[i].what);
  }
  record_free(&kept);
  goals_free(&g);
}

TEST(goals_are_about_rows_cases_and_contestants_that_there_are) {
  goals g = goals_load(BENCH_FOLDER "/goals.txt");
  plan p = plan_of(SIZE_QUICK);
  for (size_t i = 0; i < g.count; i++) {
    check_terms(&p, &g.items[i], g.items[i].expression);
    if (g.items[i].condition != NULL) check_terms(&p, &g.items[i], g.items[i].condition);
  }
  plan_free(&p);
  goals_free(&g);
}

/* Is one of the runs that may be meant by the term kept out of some of the 9 rounds?
 * Where processes differ there is a number of processes instead. */
static const plan_run *kept_out(const plan *p, const char *id, const char *kase,
                                const char *list) {
  const plan_run *found = NULL;
  words names = split(list, ",");
  for (size_t n = 0; n < names.count; n++)
    for (size_t i = 0; i < p->count; i++) {
      const plan_run *run = &p->runs[i];
      if (run->most != 0 && run->most < 9 && run->least == 0 &&
          strcmp(run->row, id) == 0 && matches(kase, run->kase) &&
          may_print(run->kind, names.items[n]))
        found = run;
    }
  words_free(&names);
  return found;
}

TEST(who_is_in_a_goal_is_in_every_round_of_full_size) {
  goals g = goals_load(BENCH_FOLDER "/goals.txt");
  plan p = plan_of(SIZE_FULL);
  for (size_t i = 0; i < g.count; i++) {
    words tokens = split(g.items[i].expression, " ");
    for (size_t k = 0; k < tokens.count; k++) {
      words parts = split(tokens.items[k], ":");
      const plan_run *out =
          parts.count < 2 ? NULL
                          : kept_out(&p, g.items[i].row, parts.items[0], parts.items[1]);
      CHECK_MSG(out == NULL, "goal \"%s\" of row %s: %s is not in every round",
                g.items[i].what, g.items[i].row, out != NULL ? out->program : "");
      words_free(&parts);
    }
    words_free(&tokens);
  }
  plan_free(&p);
  goals_free(&g);
}
