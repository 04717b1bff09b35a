/* Recorded ratios in pages: the places are filled, and nothing else is touched.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "made_up.h"
#include <bench/harness/docs.h>
#include <harness/harness.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const three_goals = "P1|tbb / weft|>=|2|t1:tbb t1:weft /|\n"
                                       "P1|omp / weft|>=|4|t1:omp-gcc t1:weft /|\n"
                                       "P2|weft / tbb|<=|0.1|c:weft c:tbb /|\n";

/* What a run with one goal met and two missed leaves behind. */
typedef struct kept_run {
  goals goals;
  record record;
  causes causes;
} kept_run;

static kept_run keep(const char *why) {
  kept_run k = {0};
  results r = made_up();
  add_rounds(&r, "P1", "t1", "weft", 1000, 0);
  add_rounds(&r, "P1", "t1", "tbb", 3000, 0.5);
  add_rounds(&r, "P1", "t1", "omp-gcc", 2500, 0.25);
  add_rounds(&r, "P2", "c", "weft", 100, 0);
  add_rounds(&r, "P2", "c", "tbb", 200, 0.5);
  char *problem = goals_read(&k.goals, three_goals);
  REQUIRE(problem == NULL);
  problem = causes_read(&k.causes, why);
  REQUIRE(problem == NULL);
  char path[] = "/tmp/weft-bench-test-XXXXXX";
  int file = mkstemp(path);
  REQUIRE(file >= 0);
  close(file);
  text out = {0};
  record_write(&k.goals, &r, &out);
  REQUIRE(write_file(path, out.chars, out.length));
  k.record = record_load(path);
  unlink(path);
  text_free(&out);
  results_free(&r);
  return k;
}

static void drop(kept_run *k) {
  goals_free(&k->goals);
  record_free(&k->record);
  causes_free(&k->causes);
}

static char *filled(const kept_run *k, const char *page) {
  text out = {0};
  char *problem = docs_fill(page, &k->record, &k->goals, &k->causes, &out);
  CHECK_MSG(problem == NULL, "%s", problem);
  free(problem);
  return out.chars;
}

static void check_has(const char *page, const char *part) {
  CHECK_MSG(strstr(page, part) != NULL, "no \"%s\" in:\n%s", part, page);
}

TEST(what_is_recorded_comes_back) {
  kept_run k = keep("");
  REQUIRE(k.record.count == 3);
  CHECK_STR_EQ(k.record.run.started, "2026-01-31T12:00:00Z");
  CHECK_EQ(k.record.run.rounds, 9);
  const recorded *first = find_recorded(&k.record, &k.goals.items[0]);
  REQUIRE(first != NULL);
  CHECK_EQ((int)first->outcome.verdict, (int)GOAL_MET);
  CHECK(first->outcome.sure > 0.99 && first->outcome.best > 2);
  CHECK_EQ((int)find_recorded(&k.record, &k.goals.items[2])->outcome.verdict,
           (int)GOAL_MISSED);
  const bench_case *t1 = find_case(find_row(&k.record.run, "P1"), "t1");
  CHECK(contestant_value(find_contestant(t1, "tbb"), "median_ns") == 3015);
  CHECK(find_row(&k.record.run, "P2") == NULL);
  drop(&k);
}

TEST(places_are_filled_and_the_rest_stays) {
  kept_run k = keep("");
  char *page = filled(&k, "before\n<!-- measured: goals -->\nold\n<!-- end -->\nbetween\n"
                          "<!-- measured: run -->\n<!-- end -->\nafter\n");
  check_has(page, "before\n<!-- measured: goals -->\n| row |");
  check_has(page, "| P1 | tbb / weft | ≥ 2 | 3.02 | ");
  check_has(page, " | yes |\n");
  check_has(page, " | **no** |\n<!-- end -->\nbetween\n<!-- measured: run -->\n");
  check_has(page, "Measured on 2026-01-31");
  check_has(page, "1 of 3\ngoals met.\n<!-- end -->\nafter\n");
  CHECK(strstr(page, "old") == NULL);
  char *again = filled(&k, page);
  CHECK_STR_EQ(again, page);
  free(again);
  free(page);
  drop(&k);
}

TEST(a_run_in_pieces_is_called_so) {
  kept_run k = keep("");
  const char *empty = "<!-- measured: run -->\n<!-- end -->\n"
                      "<!-- measured: machine -->\n<!-- end -->\n";
  char *page = filled(&k, empty);
  CHECK(strstr(page, "pieces") == NULL);
  free(page);
  k.record.run.pieces = 3;
  page = filled(&k, empty);
  check_has(page, "Measured on 2026-01-31 in one run, made in 3 pieces: ");
  check_has(page, "0 minutes in 3 pieces, 2 threads |");
  free(page);
  drop(&k);
}

/* The record of a run with the program fib(10), which forks 88 times. */
static record record_of_forks(void) {
  record kept = {0};
  kept.run = made_up();
  bench_case *t1 = row_case(results_row(&kept.run, "P1", "fib"), "t1");
  contestant_add(case_contestant(t1, "serial-noinline", "fib 1 10"), "median_ns", 880);
  contestant_add(case_contestant(t1, "weft", "fib 1 10"), "median_ns", 880 + 88 * 1.25);
  contestant_add(case_contestant(t1, "rayon-install", "fib 10"), "median_ns",
                 880 + 88 * 8);
  return kept;
}

TEST(figures_are_for_users) {
  kept_run k = keep("");
  record plain = k.record;
  k.record = record_of_forks();
  static const struct {
    const char *row, *what;
    double value;
  } ratios[] = {{"P8", "u64: Rayon / weft", 2.67},
                {"P8", "i32: Rayon / weft", 3.81},
                {"P8", "i32: ips4o / weft", 4.4},
                {"P11", "2 threads: Rayon scope / weft", 9.02}};
  for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++) {
    GROW(k.record.items, k.record.count);
    k.record.items[k.record.count++] = (recorded){.row = copy_text(ratios[i].row),
                                                  .what = copy_text(ratios[i].what),
                                                  .outcome.median = ratios[i].value};
  }
  char *page = filled(&k, "<!-- measured: figures -->\n<!-- end -->\n");
  check_has(page, "A fork and a join add **1.2 ns** to a call; with Rayon 8.0 ns. Speed");
  check_has(page, "sorting numbers 2.7 to 3.8;");
  check_has(page, "spawning tasks 9.0.");
  check_has(page, "2026-01-31");
  CHECK(strstr(page, "goals") == NULL && strstr(page, "chains") == NULL);
  free(page);
  record_free(&k.record);
  k.record = plain;
  drop(&k);
}

TEST(long_parts_are_wrapped_at_100_columns) {
  /* Characters count, not bytes: 14 times "≥ 3.00 " fill a line of 2 + 14 * 7 - 1. */
  text out = {0}, chars = {0};
  for (int i = 0; i < 30; i++) text_add(&chars, "\xe2\x89\xa5 3.00  ");
  text_wrap(&out, "* ", "  ", chars.chars);
  words lines = split(out.chars, "\n");
  CHECK_EQ(lines.count, 3);
  CHECK_EQ(strncmp(out.chars, "* \xe2\x89\xa5 3.00 \xe2\x89\xa5", 13), 0);
  CHECK_EQ(strcspn(out.chars, "\n"), 100 + 2 * 14 - 1);
  check_has(out.chars, "\xe2\x89\xa5 3.00\n  \xe2\x89\xa5");
  words_free(&lines);
  text_free(&out);
  text_free(&chars);
}

TEST(missed_goals_have_causes_and_met_ones_do_not) {
  kept_run k = keep("# why\nP1|omp*|They are **lucky**.\nP1|*|Not for this one.\n"
                    "P3|*|Nor this.\n");
  char *page = filled(&k, "<!-- measured: missed -->\n<!-- end -->\n");
  check_has(page, "* **P1**, omp / weft: 2.51 (≥ 4).\n  They are **lucky**.\n");
  check_has(page, "* **cause not known**, P2 weft / tbb: 0.50 (≤ 0.10).\n");
  CHECK(strstr(page, "Not for") == NULL && strstr(page, "Nor") == NULL);
  words alone = goals_without_cause(&k.record, &k.goals, &k.causes);
  REQUIRE(alone.count == 1);
  CHECK_STR_EQ(alone.items[0], "P2: weft / tbb");
  words_free(&alone);
  free(page);
  drop(&k);
}

TEST(pages_and_causes_with_mistakes_are_refused) {
  static const char *const pages[] = {"<!-- measured: goals -->\nno end\n",
                                      "<!-- measured: nonsense -->\n<!-- end -->\n"};
  kept_run k = keep("");
  for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
    text out = {0};
    char *problem = docs_fill(pages[i], &k.record, &k.goals, &k.causes, &out);
    CHECK_MSG(problem != NULL, "%s", pages[i]);
    free(problem);
    text_free(&out);
  }
  char *problem = causes_read(&k.causes, "P1|no cause\n");
  CHECK(problem != NULL);
  free(problem);
  drop(&k);
}
