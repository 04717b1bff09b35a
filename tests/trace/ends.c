/* Traces of programs that do not end as they should: by abort, by signals, by _exit, by
 * exit while workers run; of forked processes; and what the environment asks for.
 *
 * Each program is a TEST_BY_NAME that another test starts.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "process/child.h"

#include "check.h"
#include "sys/sys.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <weft.h>

/* ---- programs that end in many ways ---- */

static double values[4000], detached_values[4000];
static atomic_int blocks_run;

static void smooth(size_t begin, size_t end, void *ctx) {
  double *v = (double *)ctx;
  atomic_fetch_add(&blocks_run, 1);
  for (size_t i = begin; i < end; i++)
    for (int k = 0; k < 20; k++) v[i] = v[i] * 1.0001 + 1;
}

/* A worker that is at work when the process ends. */
static void work_for_ever(void *ctx) {
  weft_name("the last task");
  for (;;) weft_for(4000, smooth, ctx);
}

static void begin_work(void) {
  /* As in a program without the harness, which handles them. */
  static const int signals[] = {SIGSEGV, SIGABRT, SIGBUS, SIGTERM, SIGINT, SIGQUIT};
  for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
    signal(signals[i], SIG_DFL);
  REQUIRE(weft_detach(work_for_ever, detached_values) == 0);
  while (atomic_load(&blocks_run) < 100) sched_yield();
}

TEST_BY_NAME(program_aborts) {
  begin_work();
  abort();
}

TEST_BY_NAME(program_misuses_weft) {
  begin_work();
  weft_blocking_begin(); /* outside: nothing */
  weft_opts wrong = {0};
  weft_for_with(&wrong, 1, smooth, values);
}

TEST_BY_NAME(program_crashes) {
  begin_work();
  raise(SIGSEGV);
}

static void crash(void *ctx) {
  weft_name("crashes");
  *(volatile int *)ctx = 1;
}

TEST_BY_NAME(program_crashes_in_a_task) {
  begin_work();
  weft_pool_run(NULL, crash, (void *)8);
}

TEST_BY_NAME(program_is_terminated) {
  begin_work();
  raise(SIGTERM);
}

TEST_BY_NAME(program_is_killed) {
  begin_work();
  raise(SIGKILL);
}

TEST_BY_NAME(program_leaves_at_once) {
  begin_work();
  _exit(3);
}

TEST_BY_NAME(program_exits) {
  begin_work();
  exit(4);
}

static void exit_here(void *ctx) {
  (void)ctx;
  exit(5);
}

TEST_BY_NAME(program_exits_in_a_task) {
  begin_work();
  weft_handle *handle;
  REQUIRE(weft_async(&handle, exit_here, NULL) == 0);
  weft_handle_wait(handle);
}

/* Runs a program with a trace; the trace is strict JSON in any case. */
static trace traced_program(const char *name, const char *more, int code, char *path) {
  static char output[1 << 16];
  char env[600];
  trace_path(path, name);
  unlink(path);
  snprintf(env, sizeof env, "WEFT_NUM_THREADS=3 WEFT_TEST_TIMEOUT=%u WEFT_TRACE='%s' %s",
           HARNESS_DEFAULT_LIMIT / 2 * harness_slowdown(), path, more);
  int got = harness_run_self(env, name, output, sizeof output);
  if (!CHECK_MSG(got == code, "%s: exit code %d, not %d", name, got, code))
    fprintf(stderr, "---- output of %s:\n%s----\n", name, output);
  return read_trace(path);
}

/* A program that dies by a signal waits 2 s for the last lines. They may take longer in
 * an emulator on a busy machine. */
static bool is_cut_off(const trace *t, uint64_t start_ns) {
  return end_reason(t)[0] == '\0' && wf_sys_now_ns() - start_ns > UINT64_C(1900000000);
}

static void check_end(const char *name, int code, const char *reason) {
  char path[256];
  const uint64_t start_ns = wf_sys_now_ns();
  trace t = traced_program(name, "", code, path);
  const bool cut_off = code >= 128 && is_cut_off(&t, start_ns);
  CHECK_MSG(cut_off || strcmp(end_reason(&t), reason) == 0, "%s: %s", name,
            end_reason(&t));
  if (!cut_off && reason[0] != '\0') {
    CHECK(count_events(&t, "block", "weft_for") > 0);
    CHECK(count_events(&t, "task", "the last task") >= 1); /* it is open */
    CHECK(end_number(&t, "cpu_us") > 0);
  }
  check_by_python(path);
  drop_trace(&t, path);
}

TEST(a_trace_is_whole_however_the_process_ends) {
  check_end("program_exits", 4, "exit");
  check_end("program_exits_in_a_task", 5, "exit");
  check_end("program_leaves_at_once", 3, "");
  check_end("program_is_killed", 128 + SIGKILL, "");
}

/* The sanitizers handle these signals themselves, and the harness some of them. */
TEST(a_trace_of_a_program_that_dies_by_a_signal) {
  if (!FORKS_FREELY) return;
  check_end("program_is_terminated", TERMINATED, "signal 15");
  check_end("program_aborts", ABORTED, "signal 6");
  check_end("program_misuses_weft", ABORTED, "signal 6");
  check_end("program_crashes", 128 + SIGSEGV, "signal 11");
  check_end("program_crashes_in_a_task", 128 + SIGSEGV, "signal 11");
}

/* ---- killed at any moment ---- */

TEST_BY_NAME(program_traces_much) {
  begin_work();
  for (;;) weft_for(4000, smooth, values);
}

static void become_program_that_traces_much(const char *path) {
  setenv("WEFT_TRACE", path, 1);
  setenv("WEFT_NUM_THREADS", "3", 1);
  exec_self("program_traces_much");
  _exit(1);
}

static void await_size(const char *path, off_t wanted) {
  struct stat found;
  while (stat(path, &found) != 0 || found.st_size < wanted) sched_yield();
}

/* Ctrl-C at a terminal comes from the system, as a fault does, but it does not come
 * again: it must end the program all the same, after the trace. Ctrl-\, too. */
static void check_key(char key, int signal_number, const char *reason) {
  char path[256];
  trace_path(path, "key");
  unlink(path);
  int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  REQUIRE(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
  const char *name = ptsname(terminal);
  pid_t child = fork_here();
  if (child == 0) {
    if (setsid() < 0 || open(name, O_RDWR) < 0) _exit(2); /* it is its terminal now */
    become_program_that_traces_much(path);
  }
  await_size(path, 20000);
  const uint64_t start_ns = wf_sys_now_ns();
  REQUIRE(write(terminal, &key, 1) == 1);
  CHECK_EQ(wait_for_child(child), 128 + signal_number);
  close(terminal);
  trace t = read_trace(path);
  CHECK(is_cut_off(&t, start_ns) || strcmp(end_reason(&t), reason) == 0);
  drop_trace(&t, path);
}

TEST(a_trace_of_a_program_that_is_ended_at_the_terminal) {
  if (!FORKS_FREELY) return; /* as above */
  check_key(3, SIGINT, "signal 2");
  check_key(28, SIGQUIT, "signal 3");
}

/* The file is opened as it is, again and again, while the program writes it, and in the
 * end when it was killed. A reader that comes between two writes of the program sees a
 * file that is as whole as after SIGKILL. */
TEST(a_trace_of_a_program_that_is_killed_at_any_moment) {
  char path[256];
  trace_path(path, "killed");
  for (int round = 0; round < 6; round++) {
    unlink(path);
    pid_t child = fork_here();
    if (child == 0) become_program_that_traces_much(path);
    await_size(path, 20000 + 50000 * round);
    REQUIRE(kill(child, SIGKILL) == 0);
    CHECK_EQ(wait_for_child(child), 128 + SIGKILL);
    trace t = read_trace(path);
    CHECK(t.count > 50);
    if (round == 0) check_by_python(path);
    drop_trace(&t, path);
  }
}

/* ---- fork ---- */

static bool fork_in_traced(void *path) {
  /* A child does not write into the parent's trace; it can have its own. */
  for (int i = 0; i < 3; i++) weft_for(4000, smooth, values);
  char own[300];
  snprintf(own, sizeof own, "%s.child", (const char *)path);
  bool right = weft_trace_start(own) == 0;
  weft_frame_mark("in the child");
  weft_for(4000, smooth, values);
  weft_trace_stop();
  return right;
}

TEST(a_child_has_no_part_in_the_trace) {
  char path[256], own[300];
  if (!children_may_start_threads()) return;
  trace_path(path, "forked");
  snprintf(own, sizeof own, "%s.child", path);
  REQUIRE(weft_trace_start(path) == 0);
  weft_for(4000, smooth, values);
  CHECK_EQ(run_child(fork_in_traced, path), 0);
  weft_frame_mark("in the parent");
  weft_for(4000, smooth, values);
  weft_trace_stop();
  trace t = read_trace(path);
  CHECK_EQ(count_events(&t, "call", "weft_for"), 2);
  CHECK_EQ(count_events(&t, "frame", "in the parent"), 1);
  CHECK_EQ(count_events(&t, "frame", "in the child"), 0);
  drop_trace(&t, path);
  t = read_trace(own);
  CHECK_EQ(count_events(&t, "call", "weft_for"), 1);
  CHECK_EQ(count_events(&t, "frame", "in the child"), 1);
  drop_trace(&t, own);
}

/* ---- the environment ---- */

TEST_BY_NAME(program_works) {
  for (int i = 0; i < 20; i++) weft_for(4000, smooth, values);
}

static void check_output(const char *env, const char *word, unsigned times) {
  static char output[1 << 16];
  char all[600];
  snprintf(all, sizeof all, "WEFT_NUM_THREADS=3 %s", env);
  CHECK_EQ(harness_run_self(all, "program_works", output, sizeof output), 0);
  if (!CHECK_MSG(occurrences(output, word) == times, "%s: \"%s\" %u times", env, word,
                 occurrences(output, word)))
    fprintf(stderr, "----\n%s----\n", output);
}

TEST(a_path_that_cannot_be_written_is_one_line) {
  check_output("WEFT_TRACE=/no/such/folder/t.json",
               "weft: WEFT_TRACE: cannot write '/no/such/folder/t.json': No such file or "
               "directory\n",
               1);
  check_output("WEFT_TRACE=/", "weft: WEFT_TRACE: cannot write '/': Is a directory\n", 1);
  check_output("WEFT_TRACE=", "weft:", 0);
}

/* Two programs with one path: the second one works without a trace. */
TEST(a_file_that_another_trace_writes) {
  char path[256], env[400];
  trace_path(path, "shared");
  REQUIRE(weft_trace_start(path) == 0);
  snprintf(env, sizeof env, "WEFT_TRACE='%s'", path);
  check_output(env, "another trace is being written there\n", 1);
  weft_trace_stop();
  trace t = read_trace(path);
  CHECK(strcmp(end_reason(&t), "stop") == 0);
  drop_trace(&t, path);
}

TEST(a_table_at_exit) {
  check_output("WEFT_STATS=1", "weft: pool 1 \"weft\": 3 threads", 1);
  check_output("WEFT_STATS=1", "\n  weft-1 ", 1);
  check_output("WEFT_STATS=1", "\n  weft-2 ", 1);
  check_output("WEFT_STATS=1", "\n  caller 0 ", 1);
  check_output("WEFT_STATS=1", "\n  total ", 1);
  check_output("WEFT_STATS=0", "weft:", 0);
  check_output("WEFT_STATS=nonsense",
               "weft: WEFT_STATS: \"nonsense\" is not 0, 1 or live", 1);
}

TEST_BY_NAME(program_is_watched) {
  char path[300];
  size_t length = 0, where;
  const char *error;
  snprintf(path, sizeof path, "%s/weft-%ld.json", getenv("XDG_RUNTIME_DIR"),
           (long)getpid());
  for (int i = 0; i < 5; i++) {
    char *text = NULL;
    do {
      weft_for(4000, smooth, values);
      free(text);
      text = read_whole(path, &length);
    } while (text == NULL || strstr(text, "\"worker\":1,") == NULL ||
             strstr(text, "\"worker\":2,") == NULL);
    json *whole = json_parse(text, length, &error, &where);
    if (CHECK_MSG(whole != NULL, "%s", error)) {
      const json *pool = json_get(whole, "pools")->first;
      CHECK_EQ((long)json_get_number(whole, "pid", 0), (long)getpid());
      CHECK_EQ((int)json_get_number(pool, "threads", 0), 3);
      CHECK(json_get(pool, "workers")->count >= 2);
    }
    json_free(whole);
    free(text);
  }
}

TEST(live_statistics_are_a_file_while_the_program_runs) {
  static char output[1 << 16];
  char folder[] = "/tmp/weft-live-XXXXXX", env[200];
  REQUIRE(mkdtemp(folder) != NULL);
  snprintf(env, sizeof env, "WEFT_NUM_THREADS=3 WEFT_STATS=live XDG_RUNTIME_DIR=%s",
           folder);
  if (!CHECK_EQ(harness_run_self(env, "program_is_watched", output, sizeof output), 0))
    fprintf(stderr, "----\n%s----\n", output);
  CHECK(rmdir(folder) == 0); /* it is empty */
}

/* ---- the very first call ---- */

static void run_range(size_t begin, size_t end, void *ctx) {
  smooth(begin, end, ctx);
}

TEST_BY_NAME(program_with_one_loop) {
  weft_opts whole = WEFT_OPTS_INIT;
  whole.min_len = 4000;
  weft_for_with(&whole, 4000, run_range, values);
}

/* The call that makes the first pool, and starts the trace, is in it. */
TEST(the_first_call_of_a_program_is_in_its_trace) {
  char path[256];
  trace t = traced_program("program_with_one_loop", "", 0, path);
  CHECK_EQ(count_events(&t, "call", "weft_for [0, 4000)"), 1);
  CHECK_EQ(count_events(&t, "block", "weft_for [0, 4000)"), 1);
  drop_trace(&t, path);
}

/* ---- long programs ---- */

TEST_BY_NAME(program_traces_more_than_the_limit) {
  weft_opts one = WEFT_OPTS_INIT;
  one.max_len = 1;
  for (int i = 0; i < 10; i++) {
    weft_for_with(&one, 4000, smooth, values);
    weft_frame_mark(NULL);
  }
}

/* A limit of 1 MiB, and ten times as many events: short slices are left out, what is long
 * stays, and the file says so. */
TEST(a_file_with_a_limit) {
  char path[256];
  trace t =
      traced_program("program_traces_more_than_the_limit", "WEFT_TRACE_LIMIT=1", 0, path);
  struct stat found;
  REQUIRE(stat(path, &found) == 0);
  CHECK_MSG(found.st_size < (1 << 20) + 20000, "%ld bytes", (long)found.st_size);
  CHECK_MSG(found.st_size > (1 << 19), "%ld bytes", (long)found.st_size);
  CHECK(end_number(&t, "dropped_short") + end_number(&t, "dropped") > 1000);
  CHECK_EQ(count_events(&t, "frame", NULL), 10);
  CHECK(strcmp(end_reason(&t), "exit") == 0);
  check_by_python(path);
  drop_trace(&t, path);
}
