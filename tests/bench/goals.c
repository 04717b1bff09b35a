/* Goals, recorded ratios and the comparison of two runs, on made-up results.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "made_up.h"
#include <bench/harness/compare.h>
#include <bench/harness/goals.h>
#include <bench/harness/recorded.h>
#include <harness/harness.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static goals read_goals(const char *content) {
  goals g = {0};
  char *problem = goals_read(&g, content);
  CHECK_MSG(problem == NULL, "%s", problem);
  free(problem);
  return g;
}

static outcome judge(const char *line, const results *r) {
  goals g = read_goals(line);
  REQUIRE(g.count == 1);
  outcome o = goal_outcome(&g.items[0], r);
  goals_free(&g);
  return o;
}

static bool near(double a, double b) {
  return fabs(a - b) < 1e-9 * fabs(b);
}

/* ---- goals ---- */

static results three_contestants(void) {
  results r = made_up();
  add_rounds(&r, "P1", "t1", "weft", 1000, 0);
  add_rounds(&r, "P1", "t1", "tbb", 3000, 0.5);
  add_rounds(&r, "P1", "t1", "omp-gcc", 2500, 0.25);
  return r;
}

TEST(goals_name_their_contestants) {
  goals g = read_goals("P1|a|>=|2|t1:tbb*,omp-gcc t1:weft:cpu%95 /|pair:two:x 1.9\n"
                       "P2|b|>=|2|*:lace 1e9 /|\n");
  CHECK(goals_have_row(&g, "P1") && goals_have_row(&g, "P2"));
  CHECK(!goals_have_row(&g, "P"));
  CHECK(goals_name(&g, "P1", "t1", "weft"));
  CHECK(goals_name(&g, "P1", "t1", "tbb-auto"));
  CHECK(goals_name(&g, "P1", "t1", "omp-gcc"));
  CHECK(!goals_name(&g, "P1", "t1", "omp-gcc-both"));
  CHECK(!goals_name(&g, "P1", "t2", "weft"));
  CHECK(goals_name(&g, "P1", "pair", "two")); /* by the condition */
  CHECK(goals_name(&g, "P2", "any", "lace"));
  CHECK(!goals_name(&g, "P2", "any", "weft"));
  goals_free(&g);
}

TEST(ratios_are_those_of_medians) {
  results r = three_contestants();
  outcome o = judge("P1|a|>=|2|t1:tbb t1:weft /|", &r);
  CHECK_EQ((int)o.verdict, (int)GOAL_MET);
  CHECK(near(o.median, 3015.0 / 1000));
  CHECK(near(o.best, 3000 * 0.965 / 960)); /* the smallest of all rounds */
  CHECK(o.sure > 0.99);
  CHECK_EQ(o.fastest[0], '\0');
  o = judge("P1|a|>=|4|t1:tbb t1:weft /|", &r);
  CHECK_EQ((int)o.verdict, (int)GOAL_MISSED);
  CHECK(o.sure > 0.99); /* sure that it is missed */
  o = judge("P1|a|<=|0.5|t1:weft t1:tbb /|", &r);
  CHECK_EQ((int)o.verdict, (int)GOAL_MET);
  results_free(&r);
}

TEST(a_close_goal_is_not_a_sure_one) {
  results r = three_contestants();
  outcome o = judge("P1|a|>=|3|t1:tbb t1:weft /|", &r);
  CHECK_EQ((int)o.verdict, (int)GOAL_MET);
  CHECK_MSG(o.sure < 0.9, "%f", o.sure);
  results_free(&r);
}

TEST(a_list_means_the_fastest) {
  results r = three_contestants();
  outcome o = judge("P1|a|>=|2|t1:tbb,omp-* t1:weft /|", &r);
  CHECK_STR_EQ(o.fastest, "omp-gcc");
  CHECK(near(o.median, 2506.25 / 1000));
  results_free(&r);
}

TEST(what_was_not_measured_is_not_judged) {
  results r = three_contestants();
  CHECK_EQ((int)judge("P1|a|>=|2|t1:rayon t1:weft /|", &r).verdict, (int)GOAL_UNKNOWN);
  CHECK_EQ((int)judge("P1|a|>=|2|t2:tbb t1:weft /|", &r).verdict, (int)GOAL_UNKNOWN);
  CHECK_EQ((int)judge("P2|a|>=|2|t1:tbb t1:weft /|", &r).verdict, (int)GOAL_UNKNOWN);
  CHECK_EQ((int)judge("P1|a|<=|2|t1:weft:cpu_ms|", &r).verdict, (int)GOAL_UNKNOWN);
  results_free(&r);
}

TEST(a_busy_machine_excuses_but_does_not_meet) {
  results r = three_contestants();
  contestant_add(case_contestant(row_case(results_row(&r, "P1", ""), "pair"), "two", "p"),
                 "speedup_x", 1.5);
  const char *line = "P1|a|>=|4|t1:tbb t1:weft /|pair:two:speedup_x 1.9";
  outcome o = judge(line, &r);
  CHECK_EQ((int)o.verdict, (int)GOAL_MACHINE);
  CHECK(near(o.machine, 1.5));
  CHECK_EQ((int)judge("P1|a|>=|2|t1:tbb t1:weft /|pair:two:speedup_x 1.9", &r).verdict,
           (int)GOAL_MET);
  CHECK_EQ((int)judge("P1|a|>=|4|t1:tbb t1:weft /|pair:two:speedup_x 1.4", &r).verdict,
           (int)GOAL_MISSED);
  results_free(&r);
}

/* Twenty processes, one of which is an outlier. */
static results twenty_processes(void) {
  results r = made_up();
  row *its = results_row(&r, "P4", "");
  static const char *const cases[] = {"short", "long"};
  for (int k = 0; k < 2; k++) {
    contestant *who = case_contestant(row_case(its, cases[k]), "weft", "w");
    for (int i = 0; i < 20; i++)
      contestant_add(who, "speedup_x", i == 7 ? 1 : 1.5 + i / 100.0 + k / 10.0);
    contestant_add(case_contestant(row_case(its, cases[k]), "bare", "b"), "speedup_x", 2);
  }
  case_contestant(row_case(its, "not measured"), "bare", "b");
  return r;
}

TEST(a_percent_names_one_of_the_rounds) {
  results r = twenty_processes();
  outcome o = judge("P4|a|>=|1.4|short:weft:speedup_x%5|", &r);
  CHECK_EQ((int)o.verdict, (int)GOAL_MET);
  CHECK(near(o.median, 1.5)); /* 19 of 20 reach it */
  CHECK(near(judge("P4|a|>=|1|short:weft:speedup_x%0|", &r).median, 1));
  CHECK(near(judge("P4|a|<=|2|short:weft:speedup_x%95|", &r).median, 1.68));
  CHECK(near(judge("P4|a|<=|2|short:weft:speedup_x%100|", &r).median, 1.69));
  CHECK(near(judge("P4|a|>=|1|short:bare:speedup_x%5|", &r).median, 2));
  results_free(&r);
}

TEST(a_goal_about_all_cases_is_about_the_worst) {
  results r = twenty_processes();
  outcome o = judge("P4|a|>=|0.8|*:weft:speedup_x%5 *:bare:speedup_x /|", &r);
  CHECK_EQ((int)o.verdict, (int)GOAL_MISSED);
  CHECK(near(o.median, 0.75));
  CHECK_STR_EQ(o.worst, "short");
  o = judge("P4|a|<=|0.9|*:weft:speedup_x *:bare:speedup_x /|", &r);
  CHECK_EQ((int)o.verdict, (int)GOAL_MET);
  CHECK_STR_EQ(o.worst, "long");
  o = judge("P4|a|>=|1|*:weft:speedup_x *:rayon:speedup_x /|", &r);
  CHECK_EQ((int)o.verdict, (int)GOAL_UNKNOWN);
  results_free(&r);
}

TEST(differences_have_no_best) {
  results r = three_contestants();
  outcome o = judge("P1|a|<=|100|t1:tbb t1:omp-gcc - 500 -|", &r);
  CHECK_EQ((int)o.verdict, (int)GOAL_MET);
  CHECK(near(o.median, 3015 - 2506.25 - 500));
  CHECK(isnan(o.best) && isnan(o.sure));
  results_free(&r);
}

TEST(lines_that_are_no_goals_are_refused) {
  static const char *const wrong[] = {"P1|a|=|2|x|\n", "P1|a|>=|two|x|\n", "P1|a|>=\n",
                                      "P1|a|>=|2||\n", "P1|a|>=|2|x|alone\n"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    goals g = {0};
    char *problem = goals_read(&g, wrong[i]);
    CHECK_MSG(problem != NULL && strstr(problem, "line 1") != NULL, "%s", wrong[i]);
    free(problem);
    goals_free(&g);
  }
}

/* ---- recorded ratios ---- */

static const char *const two_goals = "P1|faster than tbb|>=|2|t1:tbb t1:weft /|\n"
                                     "# a comment\n"
                                     "P1|weft / omp|<=|1|t1:weft t1:omp-gcc /|\n";

static record keep(const goals *g, const results *r) {
  char path[] = "/tmp/weft-bench-test-XXXXXX";
  int file = mkstemp(path);
  REQUIRE(file >= 0);
  close(file);
  text out = {0};
  record_write(g, r, &out);
  REQUIRE(write_file(path, out.chars, out.length));
  text_free(&out);
  record kept = record_load(path);
  unlink(path);
  return kept;
}

static size_t check_again(const record *kept, const goals *g, double weft_ns) {
  results r = made_up();
  words worse = {0};
  text out = {0};
  add_rounds(&r, "P1", "t1", "weft", weft_ns, 0);
  add_rounds(&r, "P1", "t1", "tbb", 3000, 0.5);
  add_rounds(&r, "P1", "t1", "omp-gcc", 2500, 0.25);
  size_t bad = record_check(kept, g, &r, &worse, &out);
  CHECK_EQ(worse.count, (size_t)(bad != 0)); /* both are of one row */
  words_free(&worse);
  text_free(&out);
  results_free(&r);
  return bad;
}

TEST(worse_than_recorded_is_found_and_noise_is_not) {
  goals g = read_goals(two_goals);
  results r = three_contestants();
  record kept = keep(&g, &r);
  REQUIRE(kept.count == 2);
  CHECK_STR_EQ(kept.items[0].what, "faster than tbb");
  CHECK(fabs(kept.items[0].outcome.median - 3.015) < 1e-6);
  /* twice the spreads, 4 % each */
  CHECK_MSG(fabs(kept.items[0].tolerance - 0.16) < 0.011, "%f", kept.items[0].tolerance);
  CHECK_EQ(check_again(&kept, &g, 1000), (size_t)0);
  CHECK_EQ(check_again(&kept, &g, 1080), (size_t)0);
  CHECK_EQ(check_again(&kept, &g, 500), (size_t)0); /* better is fine */
  CHECK_EQ(check_again(&kept, &g, 1500), (size_t)2);
  record_free(&kept);
  results_free(&r);
  goals_free(&g);
}

/* ---- two runs ---- */

static const change *find_change(const changes *list, const char *who) {
  const change *found = NULL;
  for (size_t i = 0; i < list->count; i++)
    if (strcmp(list->items[i].who, who) == 0) found = &list->items[i];
  REQUIRE(found != NULL);
  return found;
}

static change_kind change_of_weft(double weft_ns, double others) {
  results before = three_contestants(), after = made_up();
  add_rounds(&after, "P1", "t1", "weft", weft_ns, 0.1);
  add_rounds(&after, "P1", "t1", "tbb", 3000 * others, 0.6);
  add_rounds(&after, "P1", "t1", "omp-gcc", 2500 * others, 0.35);
  changes list = compare_results(&before, &after);
  CHECK_EQ(list.count, (size_t)3);
  change_kind kind = find_change(&list, "weft")->kind;
  text out = {0};
  changes_print(&list, false, &out);
  CHECK_EQ(strstr(out.chars, "| weft ") != NULL, kind != SAME);
  text_free(&out);
  changes_free(&list);
  results_free(&before);
  results_free(&after);
  return kind;
}

TEST(a_change_beyond_noise_is_seen) {
  CHECK_EQ((int)change_of_weft(1000, 1), (int)SAME);
  CHECK_EQ((int)change_of_weft(1030, 1), (int)SAME);
  CHECK_EQ((int)change_of_weft(1300, 1), (int)SLOWER);
  CHECK_EQ((int)change_of_weft(700, 1), (int)FASTER);
}

TEST(a_slower_machine_is_not_a_slower_library) {
  CHECK_EQ((int)change_of_weft(1500, 1.5), (int)SAME);
  CHECK_EQ((int)change_of_weft(1000, 1.5), (int)FASTER);
  CHECK_EQ((int)change_of_weft(2000, 1.5), (int)SLOWER);
}

TEST(one_round_says_nothing) {
  results before = made_up(), after = made_up();
  for (int i = 0; i < 2; i++)
    contestant_add(
        case_contestant(row_case(results_row(i ? &after : &before, "P1", ""), "c"),
                        "weft", "p"),
        "median_ns", i ? 5000 : 1000);
  changes list = compare_results(&before, &after);
  REQUIRE(list.count == 1);
  CHECK_EQ((int)list.items[0].kind, (int)SAME);
  changes_free(&list);
  results_free(&before);
  results_free(&after);
}
