/* Result files: what was measured survives being written and read; merging; CSV.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "made_up.h"
#include <bench/harness/json.h>
#include <harness/harness.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void write_results(const results *r, const char *path) {
  json_writer w = {0};
  json_begin(&w, '{');
  results_json(r, &w);
  json_end(&w, '}');
  REQUIRE(write_file(path, w.out.chars, w.out.length));
  text_free(&w.out);
}

TEST(a_file_has_what_was_measured) {
  char path[] = "/tmp/weft-bench-test-XXXXXX";
  int file = mkstemp(path);
  REQUIRE(file >= 0);
  close(file);
  results r = made_up();
  add_rounds(&r, "P1", "t1", "weft", 1000, 0);
  add_rounds(&r, "P1", "t1", "tbb", 3000, 0.5);
  words_add(&r.missing, "fib_rayon", 9);
  write_results(&r, path);
  results back = results_load(path);
  CHECK_STR_EQ(back.started, "2026-01-31T12:00:00Z");
  CHECK_STR_EQ(back.size, "full");
  CHECK_EQ(back.rounds, 9);
  CHECK_EQ(back.seconds, 1.5);
  REQUIRE(back.fact_count == 1);
  CHECK_STR_EQ(back.facts[0].value, "made \"up\"");
  CHECK(words_have(&back.missing, "fib_rayon"));
  const bench_case *c = find_case(find_row(&back, "P1"), "t1");
  const contestant *weft = find_contestant(c, "weft");
  REQUIRE(weft != NULL);
  CHECK_STR_EQ(weft->command, "program 1 2");
  CHECK_STR_EQ(weft->answer, "42");
  CHECK(fabs(contestant_value(weft, "median_ns") - 1000) < 1e-6);
  CHECK(fabs(contestant_value(weft, "best_ns") - 864) < 1e-6); /* the smallest */
  CHECK_EQ(find_series(weft, "best_ns")->count, (size_t)9);
  CHECK(isnan(contestant_value(weft, "cpu_ms")));
  CHECK(find_contestant(c, "rayon") == NULL);
  results_free(&r);
  results_free(&back);
  unlink(path);
}

TEST(merging_replaces_rows_and_keeps_the_others) {
  results older = made_up(), newer = made_up();
  add_rounds(&older, "P1", "t1", "weft", 1000, 0);
  add_rounds(&older, "P10", "scan", "weft", 5, 0);
  add_rounds(&newer, "P1", "t1", "weft", 2000, 0);
  add_rounds(&newer, "P2", "d10", "weft", 7, 0);
  results_merge(&older, &newer);
  REQUIRE(older.count == 3);
  CHECK_STR_EQ(older.rows[0].id, "P1");
  CHECK_STR_EQ(older.rows[1].id, "P2");
  CHECK_STR_EQ(older.rows[2].id, "P10");
  const contestant *c = &older.rows[0].cases[0].contestants[0];
  CHECK(fabs(contestant_value(c, "median_ns") - 2000) < 1e-6);
  CHECK_EQ(newer.count, (size_t)0);
  results_free(&older);
}

/* A run of one row, at the commit. */
static results piece(const char *commit, const char *started, const char *row_id) {
  results r = made_up();
  free(r.started);
  r.started = copy_text(started);
  results_fact(&r, "weft", commit);
  results_fact(&r, "load", started); /* differs each time */
  add_rounds(&r, row_id, "t1", "weft", 1000, 0);
  return r;
}

TEST(pieces_of_one_run_are_counted_and_keep_its_start) {
  char path[] = "/tmp/weft-bench-test-XXXXXX";
  int file = mkstemp(path);
  REQUIRE(file >= 0);
  close(file);
  results older = piece("1234abc", "2026-01-31T12:00:00Z", "P1");
  for (int i = 0; i < 2; i++) {
    results newer = piece("1234abc", "2026-02-01T12:00:00Z", i == 0 ? "P2" : "P3");
    CHECK(results_differ(&older, &newer) == NULL);
    results_merge(&older, &newer);
  }
  CHECK_STR_EQ(older.started, "2026-01-31T12:00:00Z");
  CHECK_EQ(older.count, (size_t)3);
  CHECK_EQ(older.seconds, 4.5);
  write_results(&older, path);
  results back = results_load(path);
  CHECK_EQ(back.pieces, 3);
  results_free(&older);
  results_free(&back);
  unlink(path);
}

TEST(other_runs_are_no_pieces) {
  results a = piece("1234abc", "1", "P1"), b = piece("1234abc", "2", "P2");
  b.rounds = 3;
  CHECK_STR_EQ(results_differ(&a, &b), "rounds");
  b.rounds = 9;
  results_fact(&b, "cpu", "another");
  CHECK_STR_EQ(results_differ(&a, &b), "cpu");
  results_fact(&b, "cpu", "made \"up\"");
  results_fact(&b, "peers", "tbb");
  CHECK_STR_EQ(results_differ(&a, &b), "peers");
  results_fact(&a, "peers", "tbb");
  CHECK(results_differ(&a, &b) == NULL);
  results_fact(&a, "weft", "1234abc and changes"); /* which ones, nobody knows */
  results_fact(&b, "weft", "1234abc and changes");
  CHECK_STR_EQ(results_differ(&a, &b), "weft");
  results_fact(&b, "weft", "5678def");
  results_merge(&a, &b);
  CHECK_STR_EQ(find_fact(&a, "weft"), "5678def, other rows 1234abc and changes");
  CHECK_STR_EQ(a.started, "2");
  results c = piece("5678def", "3", "P3");
  results_merge(&a, &c); /* still of these two */
  CHECK_STR_EQ(find_fact(&a, "weft"), "5678def, other rows 1234abc and changes");
  CHECK(a.pieces < 2);
  results_free(&a);
}

TEST(merging_keeps_the_failures_of_rows_that_stay) {
  results older = piece("1", "1", "P1"), newer = piece("1", "2", "P2");
  words_add(&older.failed, "P1 t1: x", 8);
  words_add(&older.failed, "P2 t1: x", 8);
  results_merge(&older, &newer);
  REQUIRE(older.failed.count == 1);
  CHECK_STR_EQ(older.failed.items[0], "P1 t1: x");
  results_free(&older);
}

TEST(csv_has_a_line_for_each_number) {
  results r = made_up();
  text out = {0};
  contestant *c =
      case_contestant(row_case(results_row(&r, "P1", "x"), "t1"), "weft", "p");
  contestant_add(c, "median_ns", 12.5);
  contestant_add(c, "median_ns", 13);
  results_csv(&r, &out);
  CHECK_STR_EQ(out.chars, "row,case,round,contestant,metric,value\n"
                          "P1,t1,1,weft,median_ns,12.5\nP1,t1,2,weft,median_ns,13\n");
  text_free(&out);
  results_free(&r);
}

TEST(titles_come_from_whoever_has_one) {
  results r = {0};
  results_row(&r, "P14", NULL);
  results_row(&r, "P14", "the title");
  results_row(&r, "P14", "another");
  CHECK_STR_EQ(r.rows[0].title, "the title");
  results_free(&r);
}
