/* trace.c - reading traces: states, levels, span, and what is found in programs that are
 * slow for known reasons.
 *
 * SPDX-License-Identifier: MIT */
#include "trace/trace.h"

#include "invented_trace.h"

#include <harness/harness.h>

#include <math.h>

static void parse(trace *t, invented *made) {
  char problem[200] = "";
  bool good = trace_parse(t, made->out.chars, made->out.length, problem);
  CHECK_MSG(good, "%s", problem);
  trace_analyse(t);
  trace_find(t);
  text_free(&made->out);
}

static const finding *found(const trace *t, const char *id) {
  for (size_t i = 0; i < t->finding_count; i++)
    if (strcmp(t->findings[i].id, id) == 0) return &t->findings[i];
  return NULL;
}

static bool near_to(double a, double b) {
  return fabs(a - b) < 2; /* ns: the format has three digits behind the microsecond */
}

/* Two workers: 100 us of block and wait on the caller; idle, sleep and a stolen task on
 * the other. */
static void small(invented *made) {
  invented_begin(made, "small", 2, 2);
  invented_block(made, 0, 10, 50, "sum", 0, 100);
  invented_slice(made, 0, 60, 40, "wait", "wait: weft_join", "");
  invented_slice(made, 0, 5, 100, "call", "sum [0, 200)", "\"call\":\"sum\",\"n\":200");
  invented_sleep(made, 1, 10, 20, 0, 5);
  invented_slice(made, 1, 0, 35, "idle", "idle", "");
  invented_arrow(made, "steal", 0, 36, 1, 36);
  invented_block(made, 1, 37, 60, "sum", 100, 200);
  invented_slice(made, 1, 36, 62, "task", "stolen task",
                 "\"kind\":\"stolen\",\"from\":0");
  invented_slice(made, 1, 98, 22, "idle", "idle", "\"open\":true");
  invented_end(made, "exit");
}

TEST(states_and_totals) {
  invented made;
  small(&made);
  trace t;
  parse(&t, &made);
  CHECK_EQ(t.lane_count, 2u);
  CHECK_EQ(t.slice_count, 8u);
  CHECK_STR_EQ(t.program, "small");
  CHECK(near_to(t.duration_ns, 120e3));
  const lane *caller = &t.lanes[0], *thief = &t.lanes[1];
  CHECK(!caller->started && thief->started);
  CHECK(near_to(caller->state_ns[STATE_WORKING], 60e3)); /* 5..60 and 100..105 */
  CHECK(near_to(caller->state_ns[STATE_SEARCHING], 40e3));
  CHECK(near_to(thief->state_ns[STATE_ASLEEP], 20e3));
  CHECK(near_to(thief->state_ns[STATE_SEARCHING], 37e3)); /* 15 and 22 */
  CHECK(near_to(thief->state_ns[STATE_WORKING], 63e3));   /* with 1 us between slices */
  CHECK(near_to(t.work_ns, 123e3));
  CHECK(near_to(trace_work_before(&t, 120000), t.work_ns));
  /* Nobody: 0..5 and 105..120. One: 5..35, 60..98 and 100..105. */
  CHECK(near_to(t.nobody_ns, 22e3)); /* and 98..100 */
  CHECK(near_to(t.alone_ns, 73e3));
  CHECK_EQ(t.steal_count, 1u);
  CHECK_EQ(t.steals[1 * 2 + 0], 1.0);
  CHECK_EQ(t.slices[t.longest[0]].lane, 1u);
  CHECK_STR_EQ(trace_slice_name(&t, &t.slices[t.longest[0]]), "sum [100, 200)");
  /* The stretch with two at work, 35..60, has a block of 25 us in it. */
  CHECK_MSG(fabs(t.span_ns - (73e3 + 25e3)) < 2000, "%g", t.span_ns);
  trace_free(&t);
}

/* Slices that are written when they end, and slices in two halves, nest alike. */
TEST(pairs_of_begin_and_end) {
  invented made;
  invented_begin(&made, "pairs", 2, 2);
  text_add_string(
      &made.out,
      ",\n{\"ph\":\"B\",\"pid\":4711,\"tid\":10000,\"ts\":1.000,\"cat\":\"task\","
      "\"name\":\"early\",\"args\":{}}");
  invented_block(&made, 0, 5, 10, "inner", 0, 10);
  text_add_string(
      &made.out,
      ",\n{\"ph\":\"E\",\"pid\":4711,\"tid\":10000,\"ts\":100.000,\"cat\":\"task\","
      "\"name\":\"early\",\"args\":{\"name\":\"named late\",\"kind\":\"run\"}}"
      ",\n{\"ph\":\"B\",\"pid\":4711,\"tid\":10001,\"ts\":50.000,\"cat\":\"task\","
      "\"name\":\"open\",\"args\":{}}");
  made.end_us = 120;
  invented_end(&made, "signal 11");
  trace t;
  parse(&t, &made);
  CHECK_EQ(t.slice_count, 3u);
  CHECK_STR_EQ(t.names[t.slices[0].name], "named late");
  CHECK_EQ(t.slices[0].end, 100000u);
  CHECK_EQ(t.slices[0].self, 89000u);
  CHECK(t.slices[2].open);
  CHECK_EQ(t.repaired, 0u);
  CHECK(found(&t, "signal") != NULL);
  trace_free(&t);
}

TEST(a_serial_part_is_found) {
  invented made;
  invented_begin(&made, "serial", 4, 4);
  invented_slice(&made, 0, 0, 6000, "task", "parse input", "\"kind\":\"run\"");
  for (unsigned w = 0; w < 4; w++) {
    if (w > 0) invented_slice(&made, w, 0, 5999, "idle", "idle", "");
    invented_block(&made, w, 6000, 3000, "compute", w * 100, w * 100 + 100);
  }
  invented_end(&made, "exit");
  trace t;
  parse(&t, &made);
  const finding *f = found(&t, "serial");
  CHECK(f != NULL);
  if (f != NULL) {
    CHECK_EQ(f->severity, SEVERITY_BAD);
    CHECK_MSG(strstr(f->words, "parse input") != NULL, "%s", f->words);
    CHECK(f->begin == 0 && f->end > 5900000 && f->lane == 0);
  }
  CHECK(t.speedup_max > 1.9 && t.speedup_max < 2.1); /* 18 ms of work, 6 + 3 in a row */
  trace_free(&t);
}

TEST(large_blocks_are_found) {
  invented made;
  invented_begin(&made, "blocks", 2, 2);
  invented_block(&made, 0, 10, 12000, "rows", 0, 1000);
  invented_slice(&made, 0, 5, 12010, "call", "rows [0, 1200)",
                 "\"call\":\"rows\",\"n\":1200");
  invented_block(&made, 1, 40, 2000, "rows", 1000, 1200);
  invented_slice(&made, 1, 2041, 9960, "idle", "idle", "");
  invented_end(&made, "exit");
  trace t;
  parse(&t, &made);
  const finding *f = found(&t, "large-blocks");
  CHECK(f != NULL);
  if (f != NULL) {
    CHECK_MSG(strstr(f->words, "one block of 12.0 ms") != NULL, "%s", f->words);
    CHECK_MSG(strstr(f->title, "weft-1 idle 83 %") != NULL, "%s", f->title);
    CHECK(strstr(f->advice, "min_len") != NULL);
  }
  CHECK(found(&t, "serial") == NULL);
  trace_free(&t);
}

TEST(threads_that_hinder_each_other_are_found) {
  invented made;
  invented_begin(&made, "lock", 2, 2);
  double at = 0;
  for (size_t i = 0; i < 10; i++, at += 101)
    invented_block(&made, 0, at, 100, "count", i, i + 1);
  for (size_t i = 0; i < 20; i++, at += 201) {
    invented_block(&made, 0, at, 200, "count", 10 + i, 11 + i);
    invented_block(&made, 1, at, 200, "count", 40 + i, 41 + i);
  }
  invented_end(&made, "exit");
  trace t;
  parse(&t, &made);
  const finding *f = found(&t, "contention");
  CHECK(f != NULL);
  if (f != NULL) CHECK_MSG(strstr(f->title, "2.0 times slower") != NULL, "%s", f->title);
  trace_free(&t);

  /* With the CPU time of the process, waiting inside tasks is seen directly. */
  invented_begin(&made, "lock", 2, 2);
  invented_block(&made, 0, 0, 20000, "count", 0, 10);
  invented_block(&made, 1, 0, 20000, "count", 10, 20);
  invented_end(&made, "exit");
  char problem[200];
  REQUIRE(trace_parse(&t, made.out.chars, made.out.length, problem));
  t.cpu_ns = 21e6;
  trace_analyse(&t);
  trace_find(&t);
  CHECK(found(&t, "waits-inside") != NULL);
  trace_free(&t);

  /* Threads that take turns quickly use the CPU for it, but stop again and again. */
  REQUIRE(trace_parse(&t, made.out.chars, made.out.length, problem));
  t.cpu_ns = 40e6;
  t.waits = 3000;
  trace_analyse(&t);
  trace_find(&t);
  f = found(&t, "waits-inside");
  CHECK(f != NULL && strstr(f->title, "Tasks stopped to wait 2999 times") != NULL);
  trace_free(&t);

  /* Without a CPU there is neither a lock nor a block that is too large. */
  REQUIRE(trace_parse(&t, made.out.chars, made.out.length, problem));
  t.cpu_ns = 21e6;
  t.starved_ns = 19e6;
  trace_analyse(&t);
  trace_find(&t);
  CHECK(found(&t, "waits-inside") == NULL);
  CHECK(found(&t, "starved") != NULL);
  trace_free(&t);
  text_free(&made.out);
}

/* The time between two calls, in which the program computes, or waits. */
static void outside(invented *made) {
  invented_begin(made, "outside", 2, 2);
  invented_slice(made, 0, 0, 1000, "call", "read, ../../src/main.c:12 [0, 10)",
                 "\"call\":\"read\",\"n\":10");
  invented_slice(made, 0, 9000, 1000, "call", "write, main.c:20 [0, 10)",
                 "\"call\":\"write\",\"n\":10");
  invented_slice(made, 1, 1, 9998, "sleep", "sleep", "\"kind\":\"idle\"");
  invented_slice(made, 1, 0, 10000, "idle", "idle", "");
  invented_end(made, "exit");
}

TEST(what_runs_outside_is_named) {
  static const struct {
    double cpu_ns;
    const char *title;
  } cases[] = {{10e6, "only serial code outside weft ran"},
               {2e6, "the program waited outside weft"},
               {0, "no worker had anything to do"}};
  for (int i = 0; i < 3; i++) {
    invented made;
    trace t;
    char problem[200];
    outside(&made);
    REQUIRE(trace_parse(&t, made.out.chars, made.out.length, problem));
    t.cpu_ns = cases[i].cpu_ns;
    t.run_ns = 40e6;
    t.run_cpu_ns = 60e6;
    trace_analyse(&t);
    trace_find(&t);
    const finding *f = found(&t, "outside");
    CHECK(f != NULL && strstr(f->title, cases[i].title) != NULL);
    if (f != NULL)
      CHECK_MSG(strstr(f->words, "after \"read, main.c:12 [0, 10)\" and before \"write, "
                                 "main.c:20 [0, 10)\"") != NULL,
                "%s", f->words);
    CHECK((found(&t, "before-weft") != NULL) == (cases[i].cpu_ns > 0));
    trace_free(&t);
    text_free(&made.out);
  }
}

TEST(late_wakes_are_counted) {
  invented made;
  invented_begin(&made, "late", 2, 2);
  for (int i = 0; i < 31; i++) {
    invented_sleep(&made, 1, i * 2000 + 10, 1500, 0, 900);
    invented_slice(&made, 1, i * 2000, 1520, "idle", "idle", "");
    invented_slice(&made, 1, i * 2000 + 1521, 470, "task", "stolen task",
                   "\"kind\":\"stolen\"");
    invented_slice(&made, 0, i * 2000 + 600, 1390, "task", "frame", "\"kind\":\"run\"");
  }
  invented_end(&made, "exit");
  trace t;
  parse(&t, &made);
  const finding *f = found(&t, "late-wakes");
  CHECK(f != NULL);
  if (f != NULL)
    CHECK_MSG(strncmp(f->title, "Woken 900 ", 10) == 0 &&
                  strstr(f->title, "late, 31 times") != NULL,
              "%s", f->title);
  trace_free(&t);
}

TEST(small_tasks_frames_and_threads) {
  invented made;
  invented_begin(&made, "small", 8, 2);
  for (int i = 0; i < 3000; i++)
    invented_slice(&made, (unsigned)i % 8, i, 0.4, "task", "tiny",
                   "\"kind\":\"spawned\"");
  for (int i = 0; i < 10; i++) {
    char number[32];
    snprintf(number, sizeof number, "\"number\":%d", i + 1);
    invented_mark(&made, 0, i * 100 + (i > 6 ? 300 : 0), "frame", "frame", number);
  }
  invented_end(&made, "exit");
  trace t;
  parse(&t, &made);
  CHECK(found(&t, "small-tasks") != NULL);
  CHECK(found(&t, "oversubscribed") != NULL);
  const finding *f = found(&t, "frames");
  CHECK(f != NULL && strstr(f->words, "number 8") != NULL);
  trace_free(&t);
}

/* A file that was cut off anywhere is refused, or read with a note; never more than that.
 */
TEST(a_file_that_ends_anywhere) {
  invented made;
  small(&made);
  for (size_t length = 0; length < made.out.length; length++) {
    char *copy =
        malloc(length + 1); /* as long as it is: a sanitizer sees what lies behind */
    REQUIRE(copy != NULL);
    memcpy(copy, made.out.chars, length);
    trace t;
    char problem[200] = "";
    if (trace_parse(&t, copy, length, problem)) {
      trace_analyse(&t);
      trace_find(&t);
      CHECK(t.cut_short || length >= made.out.length - 2);
      CHECK(found(&t, "cut-short") != NULL || !t.cut_short);
    } else {
      CHECK(problem[0] != '\0');
    }
    trace_free(&t);
    free(copy);
  }
  text_free(&made.out);
}

TEST(files_of_others_and_nonsense) {
  static const struct {
    const char *chars;
    const char *problem; /* NULL: it is a trace */
  } cases[] = {
      {"", "not valid JSON"},
      {"hello", "not valid JSON"},
      {"{\"a\":1}", "no trace"},
      {"{\"traceEvents\":[]}", "no tasks"},
      {"{\"traceEvents\":[1]}", "an event is no object"},
      {"{\"traceEvents\":{}}", "no trace"},
      {"[{\"ph\":\"X\",\"ts\":1e6,\"dur\":5,\"pid\":\"a\",\"tid\":\"b\",\"name\":\"x\"}]",
       NULL},
      {"[{\"ph\":\"X\",\"ts\":5,\"dur\":-5,\"pid\":1,\"tid\":1}]", NULL},
      {"[{\"ph\":\"E\",\"ts\":5,\"pid\":1,\"tid\":1},{\"ph\":\"B\",\"ts\":6,\"pid\":1,"
       "\"tid\":1},"
       "{\"ph\":\"s\",\"id\":1,\"ts\":1,\"tid\":1},{\"ph\":\"f\",\"id\":2,\"ts\":1,"
       "\"tid\":1}]",
       NULL},
      /* Two slices that cross: the second is cut. */
      {"[{\"ph\":\"X\",\"ts\":0,\"dur\":10,\"tid\":1,\"name\":\"a\"},{\"ph\":\"X\","
       "\"ts\":5,"
       "\"dur\":10,\"tid\":1,\"name\":\"b\"}]",
       NULL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    trace t;
    char problem[200] = "";
    bool good = trace_parse(&t, cases[i].chars, strlen(cases[i].chars), problem);
    CHECK_MSG(good == (cases[i].problem == NULL), "%s: %s", cases[i].chars, problem);
    if (cases[i].problem != NULL)
      CHECK_MSG(strstr(problem, cases[i].problem) != NULL, "%s: %s", cases[i].chars,
                problem);
    if (good) {
      trace_analyse(&t);
      trace_find(&t);
      text page = {0};
      trace_write_page(&t, &page);
      CHECK(page.length > 10000);
      text_free(&page);
      CHECK(i != 9 || t.repaired == 1);
    }
    trace_free(&t);
  }
}

/* Names come from the program: nothing in them may end the script that holds them. */
TEST(names_cannot_leave_their_place) {
  invented made;
  invented_begin(&made, "</title><script>alert(1)</script>", 1, 1);
  invented_slice(&made, 0, 0, 10, "task", "</script><img src=x onerror=alert(2)>&lt;",
                 "");
  invented_end(&made, "exit");
  trace t;
  parse(&t, &made);
  text page = {0};
  trace_write_page(&t, &page);
  CHECK(strstr(page.chars, "<script>alert") == NULL);
  CHECK(strstr(page.chars, "<img src=x") == NULL);
  CHECK(strstr(page.chars, "{{") == NULL);
  text_free(&page);
  trace_free(&t);
}

TEST(many_lanes_and_many_slices) {
  invented made;
  invented_program(&made, "many", 64, 20000 / harness_slowdown() + 2000);
  trace t;
  parse(&t, &made);
  CHECK_EQ(t.lane_count, 64u);
  CHECK_EQ(t.repaired, 0u);
  double sum = 0;
  for (size_t i = 0; i < t.lane_count; i++) sum += t.lanes[i].state_ns[STATE_WORKING];
  CHECK(near_to(sum, t.work_ns));
  CHECK(t.span_ns <= t.work_ns + 1 && t.span_ns > 0);
  CHECK(t.speedup_here <= 64.01 && t.speedup <= t.speedup_here * 1.001);
  trace_free(&t);
}
