/* Traces of programs that end as they should: what is in them, names, errors, sessions,
 * and how many records get lost.
 *
 * SPDX-License-Identifier: MIT */
#include "check.h"
#include "sched/support.h"

#include <pthread.h>
#include <weft.h>

/* On a busy machine each block of a loop has one element, and two records. All of them
 * fit into the ring of one thread: none is dropped, however late they are written. */
enum { ELEMENTS = 1000, PARTS = 40, KEYS = 30000 };

static double values[ELEMENTS], keys[KEYS];

static void work_on_range(size_t begin, size_t end, void *ctx) {
  double *v = (double *)ctx;
  for (size_t i = begin; i < end; i++)
    for (int k = 0; k < 20; k++) v[i] = v[i] * 1.0001 + 1;
}

static void work_on_part(void *ctx) {
  weft_name("part");
  work_on_range(0, ELEMENTS / PARTS, ctx);
}

static void broadcast_nothing(unsigned index, unsigned count, void *ctx) {
  (void)index, (void)count, (void)ctx;
}

static void use_everything(void *ctx) {
  (void)ctx;
  weft_for(ELEMENTS, work_on_range, values);
  weft_scope scope;
  weft_scope_begin(&scope);
  for (int i = 0; i < PARTS; i++)
    weft_spawn(&scope, work_on_part, values + i * (ELEMENTS / PARTS));
  weft_scope_end(&scope);
  weft_blocking_begin();
  weft_blocking_end();
  weft_broadcast(broadcast_nothing, NULL);
  for (int i = 0; i < KEYS; i++) keys[i] = (double)((i * 7919) % 30011);
  weft_sort_f64(keys, KEYS);
  weft_opts named = WEFT_OPTS_INIT;
  named.name = "smooth " WEFT_HERE;
  weft_for_with(&named, ELEMENTS, work_on_range, values);
}

/* The blocks of a call that ran once cover its range. */
static void check_blocks(const trace *t, const char *call, double n) {
  double covered = 0;
  if (t->whole == NULL) return;
  for (const json *e = t->events->first; e != NULL; e = e->next) {
    const json *args = json_get(e, "args");
    if (strcmp(json_get_string(e, "cat"), "block") == 0 &&
        strncmp(json_get_string(args, "call"), call, strlen(call)) == 0)
      covered += json_get_number(args, "end", 0) - json_get_number(args, "begin", 0);
  }
  CHECK_MSG(covered == n, "%s: blocks of %.0f elements", call, covered);
}

/* Each track with slices has a name. */
static void check_tracks(const trace *t) {
  double known = -1;
  if (t->whole == NULL) return;
  for (const json *e = t->events->first; e != NULL; e = e->next) {
    if (json_get_string(e, "ph")[0] != 'X') continue;
    double tid = json_get_number(e, "tid", -1);
    if (tid == known) continue;
    known = tid;
    const json *it = t->events->first;
    while (it != NULL && (strcmp(json_get_string(it, "name"), "thread_name") != 0 ||
                          json_get_number(it, "tid", -1) != tid))
      it = it->next;
    if (!CHECK_MSG(it != NULL, "track %.0f has no name", tid)) return;
  }
}

static void check_everything(const trace *t) {
  CHECK(count_events(t, "call", "weft_for [0, 1000)") == 1);
  CHECK(count_events(t, "call", "weft_sort_f64 [0, 30000)") >= 1);
  CHECK(count_events(t, "call", "smooth ") == 1);
  CHECK(count_events(t, "call", "trace.c:") == 1);
  CHECK_EQ(count_events(t, "scope", NULL), 1);
  CHECK_EQ(count_events(t, "blocking", NULL), 1);
  CHECK_EQ(count_events(t, "task", "part"), PARTS);
  check_blocks(t, "weft_for", ELEMENTS);
  check_blocks(t, "smooth", ELEMENTS);
  check_tracks(t);
}

TEST(traces_of_1_2_3_8_and_64_threads) {
  static const unsigned threads[] = {1, 2, 3, 8, 64};
  for (size_t i = 0; i < sizeof threads / sizeof threads[0]; i++) {
    char path[256];
    trace_path(path, "threads");
    weft_pool *pool = pool_of(threads[i]);
    REQUIRE(weft_trace_start(path) == 0);
    weft_pool_run(pool, use_everything, NULL);
    weft_trace_stop();
    trace t = read_trace(path);
    check_everything(&t);
    CHECK_EQ(count_events(&t, "task", "broadcast"), threads[i] > 1 ? threads[i] - 1 : 1);
    CHECK(count_events(&t, NULL, "weft_stats") >= 1);
    CHECK_EQ(count_events(&t, NULL, "weft_pool"), 1);
    CHECK(strcmp(end_reason(&t), "stop") == 0);
    CHECK_EQ((long)end_number(&t, "dropped"), 0);
    if (threads[i] >= 8) check_by_python(path);
    drop_trace(&t, path);
    weft_pool_destroy(pool);
  }
}

/* Each steal is an arrow; the thief's task is at its end. */
TEST(steals_and_wakes_are_arrows) {
  char path[256];
  trace_path(path, "steals");
  weft_pool *pool = pool_of(2);
  REQUIRE(weft_trace_start(path) == 0);
  for (int i = 0; i < 20; i++) weft_pool_run(pool, join_pairing, NULL);
  weft_trace_stop();
  trace t = read_trace(path);
  CHECK_EQ(count_events(&t, "steal", NULL), 60); /* a moment and two ends each */
  CHECK_EQ(count_events(&t, "task", "stolen task"), 20);
  CHECK_EQ(count_events(&t, "task", "call from outside"), 20);
  CHECK_EQ(count_events(&t, "expose", NULL) + count_events(&t, "takeover", NULL), 20);
  drop_trace(&t, path);
  weft_pool_destroy(pool);
}

/* ---- names ---- */

static void take_odd_names(void *ctx) {
  (void)ctx;
  weft_name(
      "\"quoted\"\\ \n\t\x01\x7f / \xff\xc3 \xed\xa0\x80 \xf0\x9f\x98\x80 \xc3\xbc");
}

static void take_long_name(void *ctx) {
  weft_name((const char *)ctx);
}

TEST(names_with_quotes_and_control_characters) {
  char path[256];
  static char longest[5000];
  memset(longest, '"', sizeof longest - 1);
  trace_path(path, "names");
  weft_pool *pool = pool_of(1);
  REQUIRE(weft_trace_start(path) == 0);
  weft_name("outside of tasks nothing is named");
  weft_pool_run(pool, take_odd_names, NULL);
  weft_pool_run(pool, take_long_name, longest);
  weft_frame_mark("frame \"1\"");
  weft_trace_stop();
  trace t = read_trace(path);
  CHECK_EQ(count_events(&t, "task",
                        "\"quoted\"\\ \n\t\x01\x7f / ?? ??? \xf0\x9f\x98\x80 "
                        "\xc3\xbc"),
           1);
  CHECK_EQ(count_events(&t, "task", "\"\"\"\"\""), 1);
  CHECK_EQ(count_events(&t, "frame", "frame \"1\""), 1);
  CHECK_EQ(count_events(&t, NULL, "nothing is named"), 0);
  drop_trace(&t, path);
  weft_pool_destroy(pool);
}

/* Waits until the beginning of this task is in the file, as that of every long task is,
 * and takes a name then. */
static void take_name_late(void *ctx) {
  for (bool is_there = false; !is_there;) {
    size_t length = 0;
    char *text = read_whole((const char *)ctx, &length);
    REQUIRE(text != NULL);
    for (size_t i = 0; i + 8 <= length && !is_there; i++)
      is_there = memcmp(text + i, "\"ph\":\"B\"", 8) == 0;
    free(text);
    if (!is_there) harness_linger(1000);
  }
  weft_name("late");
}

TEST(a_task_that_is_named_after_its_beginning_was_written) {
  char path[256];
  trace_path(path, "late");
  weft_pool *pool = pool_of(2);
  REQUIRE(weft_trace_start(path) == 0);
  weft_pool_run(pool, take_name_late, path);
  weft_trace_stop();
  trace t = read_trace(path); /* the beginning and the end have the same name */
  CHECK_EQ(count_events(&t, "task", "late"), 1);
  CHECK_EQ(count_events(&t, "task", NULL), 1);
  check_by_python(path);
  drop_trace(&t, path);
  weft_pool_destroy(pool);
}

static void mark_frames(void *ctx) {
  (void)ctx;
  for (int i = 0; i < 10; i++) weft_frame_mark(i % 2 == 0 ? NULL : "odd");
}

TEST(frames_count_by_name) {
  char path[256];
  trace_path(path, "frames");
  weft_pool *pool = pool_of(2);
  REQUIRE(weft_trace_start(path) == 0);
  mark_frames(NULL); /* in no pool */
  weft_pool_run(pool, mark_frames, NULL);
  weft_trace_stop();
  trace t = read_trace(path);
  CHECK_EQ(count_events(&t, "frame", "frame"), 10);
  CHECK_EQ(count_events(&t, "frame", "odd"), 10);
  double highest = 0;
  for (const json *e = t.events->first; e != NULL; e = e->next)
    if (strcmp(json_get_string(e, "cat"), "frame") == 0) {
      double number = json_get_number(json_get(e, "args"), "number", 0);
      if (number > highest) highest = number;
    }
  CHECK_EQ((int)highest, 10);
  drop_trace(&t, path);
  weft_pool_destroy(pool);
}

/* ---- errors ---- */

TEST(paths_that_cannot_be) {
  char path[256], other[256];
  static char longest[2000];
  memset(longest, 'x', sizeof longest - 1);
  trace_path(path, "twice");
  trace_path(other, "other");
  CHECK_EQ(weft_trace_start(NULL), WEFT_EINVAL);
  CHECK_EQ(weft_trace_start(""), WEFT_EINVAL);
  CHECK_EQ(weft_trace_start(longest), WEFT_EINVAL);
  CHECK_EQ(weft_trace_start("/no/such/folder/trace.json"), WEFT_EIO);
  CHECK_EQ(weft_trace_start("/"), WEFT_EIO);
  CHECK(strcmp(weft_strerror(WEFT_EIO), "a file cannot be written") == 0);
  weft_trace_stop(); /* there is none */
  REQUIRE(weft_trace_start(path) == 0);
  CHECK_EQ(weft_trace_start(path), WEFT_EBUSY);
  CHECK_EQ(weft_trace_start(other), WEFT_EBUSY);
  CHECK(access(other, F_OK) != 0);
  weft_trace_stop();
  weft_trace_stop();
  trace t = read_trace(path);
  CHECK(strcmp(end_reason(&t), "stop") == 0);
  drop_trace(&t, path);
}

TEST(the_number_of_the_process_in_the_path) {
  char path[256], expected[300];
  trace_path(path, "%p-%p-%");
  REQUIRE(weft_trace_start(path) == 0);
  weft_trace_stop();
  snprintf(expected, sizeof expected, "%ld-%ld-%%", (long)getpid(), (long)getpid());
  trace_path(path, expected);
  trace t = read_trace(path);
  CHECK(t.whole != NULL);
  drop_trace(&t, path);
}

/* ---- several traces, while threads work ---- */

static atomic_int load_ends;

static void work_under_load(unsigned index, void *arg) {
  weft_pool *pool = (weft_pool *)arg;
  if (index == 0) {
    for (unsigned i = 0; i < 3; i++) {
      char path[256];
      trace_path(path, "again");
      REQUIRE(weft_trace_start(path) == 0);
      weft_pool_run(pool, use_everything, NULL);
      weft_trace_stop();
      trace t = read_trace(path);
      CHECK(strcmp(end_reason(&t), "stop") == 0);
      /* If the writer of the file gets no CPU, the others fill their rings. */
      CHECK_MSG(count_events(&t, "call", "smooth ") >= 1 || end_number(&t, "dropped") > 0,
                "the loop is missing, and nothing was dropped");
      drop_trace(&t, path);
    }
    atomic_store(&load_ends, 1);
  } else {
    static double own[4][ELEMENTS];
    weft_opts in_pool = WEFT_OPTS_INIT;
    in_pool.pool = pool;
    while (!atomic_load(&load_ends))
      weft_for_with(&in_pool, ELEMENTS, work_on_range, own[index]);
  }
}

TEST(start_and_stop_while_threads_work) {
  weft_pool *pool = pool_of(3);
  atomic_store(&load_ends, 0);
  harness_run_threads(3, work_under_load, pool);
  weft_pool_destroy(pool);
}

/* A pool that ends during the trace leaves its tracks behind, to be written and freed. */
TEST(pools_that_end_during_the_trace) {
  char path[256];
  trace_path(path, "pools");
  REQUIRE(weft_trace_start(path) == 0);
  for (unsigned i = 0; i < 8; i++) {
    weft_pool *pool = pool_of(3);
    weft_pool_run(pool, use_everything, NULL);
    weft_pool_destroy(pool);
  }
  weft_trace_stop();
  trace t = read_trace(path);
  CHECK_EQ(count_events(&t, NULL, "weft_pool"), 8);
  CHECK_EQ(count_events(&t, "scope", NULL), 8);
  drop_trace(&t, path);
}

/* ---- more than fits ---- */

static void spawn_many(void *ctx) {
  weft_scope scope;
  weft_scope_begin(&scope);
  for (int i = 0; i < 30000; i++) weft_spawn(&scope, do_nothing, ctx);
  weft_scope_end(&scope);
}

/* Many times the ring, faster than anybody could write it: what is lost is counted, and
 * what is there is nested. */
TEST(what_does_not_fit_is_counted) {
  char path[256];
  trace_path(path, "flood");
  weft_pool *pool = pool_of(3);
  REQUIRE(weft_trace_start(path) == 0);
  weft_pool_run(pool, spawn_many, NULL);
  weft_trace_stop();
  trace t = read_trace(path);
  double written = (double)count_events(&t, "task", "spawned task");
  double dropped = end_number(&t, "dropped");
  CHECK_MSG(written <= 30000 && written + dropped / 2 >= 30000 - 1,
            "%.0f written, %.0f dropped", written, dropped);
  CHECK((count_events(&t, "note", "dropped") > 0) == (dropped > 0));
  drop_trace(&t, path);
  weft_pool_destroy(pool);
}
