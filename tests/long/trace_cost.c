/* What an event of a trace costs: the figures of docs/guide/tracing.md. Prints, and
 * checks only that what was recorded is in the file.
 *
 * SPDX-License-Identifier: MIT */
#include "sched/support.h"
#include "trace/check.h"

#include <sched/record.h>
#include <trace/record.h>
#include <weft.h>

enum { PAIRS = 2000, ROUNDS = 50 };

/* Pairs of records that fit into the ring, on a thread that the reader does not disturb
 * more than it does in a program. */
static void record_pairs(void *ctx) {
  uint64_t *best_ns = (uint64_t *)ctx;
  wf_worker *worker = wf_worker_now();
  for (int round = 0; round < ROUNDS; round++) {
    uint64_t start_ns = wf_sys_now_ns();
    for (int i = 0; i < PAIRS; i++) {
      wf_record_begin(worker, WEFT_EVENT_SCOPE, NULL);
      wf_record_end(worker, WEFT_EVENT_SCOPE);
    }
    uint64_t took_ns = wf_sys_now_ns() - start_ns;
    if (took_ns < *best_ns) *best_ns = took_ns;
    /* Until the reader has come: 30 ms. */
    while (wf_sys_now_ns() - start_ns < 30000000) wf_sys_thread_yield();
  }
}

static void record_without_room(void *ctx) {
  uint64_t *best_ns = (uint64_t *)ctx;
  wf_worker *worker = wf_worker_now();
  for (int i = 0; i < 20000; i++) wf_record_begin(worker, WEFT_EVENT_SCOPE, NULL);
  uint64_t start_ns = wf_sys_now_ns();
  for (int i = 0; i < PAIRS; i++) {
    wf_record_begin(worker, WEFT_EVENT_SCOPE, NULL);
    wf_record_end(worker, WEFT_EVENT_SCOPE);
  }
  *best_ns = wf_sys_now_ns() - start_ns;
  for (int i = 0; i < 20000; i++) wf_record_end(worker, WEFT_EVENT_SCOPE);
}

TEST(cost_of_an_event) {
  char path[256];
  uint64_t best_ns = UINT64_MAX, full_ns = 0, off_ns = UINT64_MAX;
  weft_pool *pool = pool_of(1);
  trace_path(path, "cost");
  weft_pool_run(pool, record_pairs, &off_ns);
  REQUIRE(weft_trace_start(path) == 0);
  weft_pool_run(pool, record_pairs, &best_ns);
  weft_pool_run(pool, record_without_room, &full_ns);
  weft_trace_stop();
  printf("one event: %.1f ns; the ring is full: %.1f ns; off: %.1f ns\n",
         (double)best_ns / (2 * PAIRS), (double)full_ns / (2 * PAIRS),
         (double)off_ns / (2 * PAIRS));
  uint64_t start_ns = wf_sys_now_ns();
  trace t = read_trace(path);
  CHECK(count_events(&t, "scope", NULL) + (size_t)end_number(&t, "dropped") / 2 >=
        (size_t)PAIRS * ROUNDS);
  printf("read in %.1f ms\n", (double)(wf_sys_now_ns() - start_ns) / 1e6);
  drop_trace(&t, path);
  weft_pool_destroy(pool);
}

/* Lines of the file, as the reader writes them. */
TEST(cost_of_a_line) {
  enum { LINES = 50000 };
  static wf_file out;
  static wf_text head, line;
  char path[256];
  int error;
  trace_path(path, "lines");
  int file = wf_sys_file_create(path, &error);
  REQUIRE(file >= 0);
  wf_text_put(&head, "{\"traceEvents\":[");
  REQUIRE(wf_file_open(&out, file, &head));
  uint64_t start_ns = wf_sys_now_ns();
  for (int i = 0; i < LINES; i++) {
    line.length = 0;
    wf_text_put(&line, "{\"ph\":\"X\",\"pid\":12345,\"tid\":10001,\"ts\":");
    wf_text_us(&line, (uint64_t)i * 1000);
    wf_text_put(&line,
                ",\"dur\":10.000,\"cat\":\"block\",\"name\":\"weft_for [0, 1000)\","
                "\"args\":{\"call\":\"weft_for\",\"begin\":0,\"end\":1000}}");
    wf_file_line(&out, &line);
  }
  wf_file_flush(&out);
  printf("one line: %.0f ns\n", (double)(wf_sys_now_ns() - start_ns) / LINES);
  wf_file_close(&out);
  size_t length = 0, where;
  const char *why;
  char *text = read_whole(path, &length);
  json *whole = json_parse(text, length, &why, &where);
  CHECK_MSG(whole != NULL && json_get(whole, "traceEvents")->count == LINES, "%s", why);
  json_free(whole);
  free(text);
  unlink(path);
}
