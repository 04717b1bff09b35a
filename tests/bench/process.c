/* Contestant processes: output, failures, the time limit, the protocol.
 *
 * SPDX-License-Identifier: MIT */
#include <bench/harness/process.h>
#include <harness/harness.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

static process_result shell(const char *script, double limit_s) {
  char command[500];
  strncpy(command, script, sizeof command - 1);
  command[sizeof command - 1] = 0;
  char sh[] = "/bin/sh", c[] = "-c";
  char *argv[] = {sh, c, command, NULL};
  return process_run(argv, 0, limit_s);
}

TEST(output_and_errors_are_kept_apart) {
  process_result r = shell("echo out; echo err >&2; echo more", 60);
  CHECK(r.ok);
  CHECK_STR_EQ(r.out.chars, "out\nmore\n");
  CHECK_STR_EQ(r.errors.chars, "err\n");
  CHECK(r.use.wall_s > 0 && r.use.peak_rss_kib > 0);
  process_free(&r);
}

TEST(a_lot_of_output_does_not_block) {
  process_result r = shell("i=0; while [ $i -lt 20000 ]; do echo 0123456789; i=$((i+1)); "
                           "done; echo end >&2",
                           60);
  CHECK(r.ok);
  CHECK_EQ(r.out.length, (size_t)220000);
  CHECK_STR_EQ(r.errors.chars, "end\n");
  process_free(&r);
}

static void check_problem(const char *script, double limit_s, const char *part) {
  process_result r = shell(script, limit_s);
  CHECK(!r.ok);
  CHECK_MSG(r.problem != NULL && strstr(r.problem, part) != NULL, "%s",
            r.problem != NULL ? r.problem : "no problem");
  process_free(&r);
}

TEST(failures_are_told_in_words) {
  check_problem("exit 3", 60, "status 3");
  check_problem("kill -SEGV $$", 60, "signal 11");
  check_problem("/no/such/program", 60, "status 127");
}

/* Also when the process has closed its output, and with its children. */
TEST(who_takes_too_long_is_ended) {
  check_problem("echo begun; sleep 1000", 0.2, "still running");
  check_problem("exec >/dev/null 2>&1; sleep 1000", 0.2, "still running");
}

/* Whether a process is there and not only waits for its end to be noticed. */
static bool lives(const char *pid) {
  char path[64], state = 'Z';
  snprintf(path, sizeof path, "/proc/%s/stat", pid);
  FILE *file = fopen(path, "r");
  if (file == NULL) return false;
  if (fscanf(file, "%*d %*s %c", &state) != 1) state = 'Z';
  fclose(file);
  return state != 'Z';
}

TEST(so_are_its_children) {
  process_result r = shell("sleep 1000 & echo $!; wait", 0.2);
  CHECK(!r.ok);
  r.out.chars[strcspn(r.out.chars, "\n")] = 0;
  REQUIRE(r.out.chars[0] != 0);
  while (lives(r.out.chars)) sched_yield(); /* the signal has been sent */
  process_free(&r);
}

TEST(lines_of_the_protocol) {
  output_fact f = read_fact("weft.median_ns 64123456.5");
  CHECK_EQ((int)f.kind, (int)FACT_METRIC);
  CHECK_STR_EQ(f.who, "weft");
  CHECK_STR_EQ(f.metric, "median_ns");
  CHECK_EQ(f.value, 64123456.5);
  f = read_fact("check 18446744073709551615 ok");
  CHECK_EQ((int)f.kind, (int)FACT_CHECK);
  CHECK_STR_EQ(f.answer, "18446744073709551615");
  f = read_fact("weft-scope+normal.p99_ns 1e3");
  CHECK_STR_EQ(f.who, "weft-scope+normal");
  CHECK_EQ(f.value, 1000.0);
}

TEST(other_lines_are_refused) {
  static const char *const wrong[] = {
      "",        "weft",          "weft.x",     "weft.x one", ".x 1",
      "weft. 1", "weft.x 1 2",    "check 5",    "check 5 no", "check 5 ok more",
      "hello",   "weft.x 1e9999", "weft.x nan", "weft.x inf"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    CHECK_MSG(read_fact(wrong[i]).kind == FACT_NONE, "accepted: %s", wrong[i]);
}
