/* The description files of workloads: loops, sizes, limits, mistakes.
 *
 * SPDX-License-Identifier: MIT */
#include <bench/harness/plan.h>
#include <bench/harness/results.h>
#include <harness/harness.h>
#include <stdlib.h>
#include <string.h>

static plan read_plan(run_size size, const char *content) {
  plan p = {0};
  plan_options options = {"", size, 2, 6};
  char *problem = plan_read(&p, &options, "work", content);
  CHECK_MSG(problem == NULL, "%s", problem);
  free(problem);
  return p;
}

/* All runs as "row case program args;". */
static char *runs_of(const plan *p) {
  text all = {0};
  text_add(&all, "");
  for (size_t i = 0; i < p->count; i++) {
    text_print(&all, "%s %s %s", p->runs[i].row, p->runs[i].kase, p->runs[i].program);
    for (size_t k = 0; k < p->runs[i].args.count; k++)
      text_print(&all, " %s", p->runs[i].args.items[k]);
    text_add(&all, ";");
  }
  return all.chars;
}

static void check_runs(run_size size, const char *content, const char *expected) {
  plan p = read_plan(size, content);
  char *runs = runs_of(&p);
  CHECK_STR_EQ(runs, expected);
  free(runs);
  plan_free(&p);
}

static void check_problem(const char *content, const char *part) {
  plan p = {0};
  plan_options options = {"", SIZE_FULL, 2, 2};
  char *problem = plan_read(&p, &options, "work", content);
  CHECK_MSG(problem != NULL && strstr(problem, part) != NULL, "%s",
            problem != NULL ? problem : "no problem");
  free(problem);
  plan_free(&p);
}

TEST(a_row_a_case_and_its_runs) {
  plan p = read_plan(SIZE_FULL, "# first\nrow P1 the title, in words\n\n  case one # c\n"
                                "run serial\nmost 3\nleast 2\ncpus 2\nrun omp_gcc 4 x\n"
                                "row P2\ncase two\nrun weft");
  REQUIRE(p.row_count == 2 && p.count == 3);
  CHECK_STR_EQ(p.rows[0].id, "P1");
  CHECK_STR_EQ(p.rows[0].title, "the title, in words");
  CHECK_STR_EQ(p.rows[1].title, "");
  CHECK_STR_EQ(p.runs[0].program, "work_serial");
  CHECK_STR_EQ(p.runs[0].kind, "serial");
  CHECK_STR_EQ(p.runs[1].kind, "omp");
  CHECK_EQ(p.runs[0].most, 0);
  CHECK_EQ(p.runs[1].most, 3);
  CHECK_EQ(p.runs[0].least, 0);
  CHECK_EQ(p.runs[1].least, 2);
  CHECK_EQ(p.runs[2].least, 0);
  CHECK_EQ(p.runs[1].cpus, 2);
  CHECK_EQ(p.runs[2].most, 0); /* the next row begins anew */
  CHECK_EQ(p.runs[2].cpus, 0);
  plan_free(&p);
}

TEST(loops_repeat_and_nest) {
  check_runs(SIZE_FULL,
             "row R\nfor a in x y\ncase $a\nfor b in 1 2\nrun weft $a$b $b\nend\nend\n",
             "R x work_weft x1 1;R x work_weft x2 2;R y work_weft y1 1;"
             "R y work_weft y2 2;");
}

TEST(sizes_choose_their_list) {
  const char *content =
      "set n 30 | 20 | 10\nset words a b | c\nset one 1\nrow R\ncase c\n"
      "for w in $words\nrun weft $n $w $one\nend\n";
  check_runs(SIZE_FULL, content, "R c work_weft 30 a 1;R c work_weft 30 b 1;");
  check_runs(SIZE_QUICK, content, "R c work_weft 20 c 1;");
  check_runs(SIZE_TINY, content, "R c work_weft 10 c 1;");
}

TEST(threads_are_known) {
  check_runs(SIZE_FULL, "row R\ncase c\nfor t in $counts\nrun weft $t of $threads\nend\n",
             "R c work_weft 1 of 2;R c work_weft 2 of 2;R c work_weft 4 of 2;"
             "R c work_weft 6 of 2;");
}

TEST(mistakes_are_named_with_their_line) {
  check_problem("row R\nrun weft\n", "line 2: run without");
  check_problem("case c\n", "line 1: case wants");
  check_problem("row R\ncase c\nrun weft $nothing\n", "line 3: a variable");
  check_problem("row R\ncase c\nfor a in x\nrun weft\n", "line 3: for without its end");
  check_problem("for a of x\nend\n", "line 1: usage: for");
  check_problem("set n\n", "line 1: set wants");
  check_problem("rows R\n", "unknown instruction");
  check_problem("end\n", "unknown instruction");
}

TEST(programs_are_known_by_their_names) {
  CHECK_STR_EQ(kind_of_program("serial"), "serial");
  CHECK_STR_EQ(kind_of_program("serial_noinline"), "serial");
  CHECK_STR_EQ(kind_of_program("rayon"), "rayon");
  CHECK_STR_EQ(kind_of_program("tbb_graph"), "tbb");
  CHECK_STR_EQ(kind_of_program("weft_task"), "weft");
  CHECK_STR_EQ(kind_of_program("pair"), "weft");
  CHECK_STR_EQ(kind_of_program("ompire"), "weft");
}

TEST(rows_are_sorted_as_people_count) {
  plan p = read_plan(SIZE_FULL, "row lanes\ncase c\nrun a\nrow P10\ncase c\nrun b\n"
                                "row P2\ncase c\nrun c\nrow P1t\ncase c\nrun d\n"
                                "row P1\ncase c\nrun e\nrun f\n");
  plan_sort(&p);
  char *runs = runs_of(&p);
  CHECK_STR_EQ(runs, "P1 c work_e;P1 c work_f;P1t c work_d;P2 c work_c;P10 c work_b;"
                     "lanes c work_a;");
  free(runs);
  plan_free(&p);
}
