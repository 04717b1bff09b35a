/* A trace of a program that runs for an hour: the file stays within its limit, memory
 * does not grow, what was left out is noted, and what is there is strict JSON, nested,
 * with arrows that have two ends.
 *
 * The hour of 64 workers is compressed: the test is the clock and the reader, so that it
 * takes seconds and has every look and every sample of a real one. A program in real time
 * runs for 10 seconds, or for as many as WEFT_TEST_HOUR says:
 *
 *     WEFT_TEST_HOUR=3600 test_long_trace_hour in_real_time
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "sched/support.h"
#include "trace/check.h"

#include <sys/stat.h>
#include <trace/record.h>
#include <weft.h>

/* Of this process, in bytes. */
static long resident_bytes(void) {
  long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%*s %ld", &pages) != 1) pages = 0;
  if (file != NULL) fclose(file);
  return pages * sysconf(_SC_PAGESIZE);
}

static long file_bytes(const char *path) {
  struct stat found;
  return stat(path, &found) == 0 ? (long)found.st_size : -1;
}

/* ---- an hour in seconds ---- */

enum { WORKERS = 64, SECONDS = 3600, LOOKS_A_SECOND = 50, LIMIT_MIB = 16 };

#define SECOND_NS UINT64_C(1000000000)
#define LOOK_NS   (SECOND_NS / LOOKS_A_SECOND)

/* Stamps are invented, so the ring is written as track.c does. */
static void put(wf_track *track, wf_record *record, uint64_t ns, unsigned kind,
                wf_record content) {
  if (record == NULL) return; /* dropped, and counted */
  *record = content;
  record->stamp = wf_stamp(ns, kind, 1);
  (void)wf_rec_ring_publish(&track->ring);
}

static void put_begin(wf_track *track, uint64_t ns, unsigned kind, wf_record content) {
  put(track, wf_rec_ring_begin(&track->ring, 1), ns, kind, content);
}

static void put_end(wf_track *track, uint64_t ns) {
  put(track, wf_rec_ring_end(&track->ring, 1), ns, WF_REC_END, (wf_record){0, 0, 0, 0});
}

static uint64_t word(const char *name) {
  return (uint64_t)(uintptr_t)name;
}

/* What a worker does between two looks: a stolen task with a loop in blocks of several
 * lengths. One worker has, every minute, a block of twenty seconds. */
static void work_for_a_look(wf_track *track, unsigned worker, unsigned look,
                            uint64_t now_ns) {
  bool has_long = worker == 1;
  unsigned in_minute = look % (60 * LOOKS_A_SECOND);
  if (has_long && in_minute > 0 && in_minute < 20 * LOOKS_A_SECOND) return;
  if (has_long && in_minute == 20 * LOOKS_A_SECOND) put_end(track, now_ns);
  put(track, wf_rec_ring_moment(&track->ring, 1), now_ns, WF_REC_STEAL,
      (wf_record){0, 0, 1 + (worker + 1) % WORKERS, 0});
  put_begin(track, now_ns + 1000, WF_REC_TASK,
            (wf_record){0, 0, 0, (uint64_t)WF_TASK_STOLEN << 32});
  for (unsigned i = 0; i < 3; i++) {
    uint64_t begin_ns = now_ns + 10000 + i * 3000000;
    static const uint64_t lengths_ns[] = {2000, 90000, 2500000};
    put_begin(track, begin_ns, WF_REC_BLOCK,
              (wf_record){0, word("weft_for"), i * 100, i * 100 + 100});
    put_end(track, begin_ns + lengths_ns[(i + look) % 3]);
  }
  put_end(track, now_ns + 12000000);
  if (worker == 0 && look % LOOKS_A_SECOND == 0)
    put(track, wf_rec_ring_moment(&track->ring, 1), now_ns + 13000000, WF_REC_FRAME,
        (wf_record){0, word("second"), 0, 0});
  if (has_long && in_minute == 0)
    put_begin(track, now_ns + 14000000, WF_REC_BLOCK,
              (wf_record){0, word("twenty seconds"), 0, 1});
}

/* As the sampler of the scheduler does. */
static void sample(bool with_stats) {
  weft_stats stats = WEFT_STATS_INIT;
  wf_trace_sample_pool(1, WORKERS, 0, 0, 0);
  for (unsigned i = 0; with_stats && i < WORKERS; i++)
    wf_trace_sample_worker(1, i, &stats);
}

static size_t count_ends(const trace *t, const char *name) {
  size_t count = 0;
  if (t->whole == NULL) return 0;
  for (const json *e = t->events->first; e != NULL; e = e->next)
    count += json_get_string(e, "ph")[0] == 'E' &&
             strstr(json_get_string(e, "name"), name) != NULL;
  return count;
}

static void check_hour(const char *path, unsigned minutes) {
  trace t = read_trace(path);
  double left_out = end_number(&t, "dropped_short");
  CHECK_MSG(left_out > 1e6, "%.0f slices were left out", left_out);
  CHECK(strcmp(end_reason(&t), "stop") == 0);
  CHECK(end_number(&t, "duration_us") >= 60e6 * minutes);
  CHECK_EQ(count_events(&t, "frame", "second"), 60u * minutes);
  /* What is long is there to the end: each has a beginning and an end. */
  CHECK_EQ(count_events(&t, "block", "twenty seconds"), minutes);
  CHECK_EQ(count_ends(&t, "twenty seconds"), minutes);
  CHECK(count_events(&t, NULL, "weft_stats") >= WORKERS);
  check_by_python(path);
  drop_trace(&t, path);
}

TEST_LIMIT(an_hour_of_64_workers, 900) {
  static wf_file out;
  static wf_text head;
  static wf_track *tracks[WORKERS];
  const unsigned minutes = harness_slowdown() == 1 ? SECONDS / 60 : 10;
  const uint64_t start_ns = wf_sys_now_ns();
  char path[256];
  int error;
  trace_path(path, "hour");
  int file = wf_sys_file_create(path, &error);
  REQUIRE(file >= 0);
  wf_text_put(&head, "{\"traceEvents\":[");
  REQUIRE(wf_file_open(&out, file, &head));
  wf_export_begin(&out, 1, start_ns, (uint64_t)LIMIT_MIB << 20);
  wf_pool_facts pool = {.number = 1,
                        .threads = WORKERS,
                        .cpus = WORKERS,
                        .idle = "balanced",
                        .steer = "auto",
                        .name = "weft"};
  for (unsigned i = 0; i < WORKERS; i++) {
    tracks[i] = wf_track_create(&pool, i, i == 0 ? WF_ROLE_CALLER : WF_ROLE_STARTED);
    REQUIRE(tracks[i] != NULL);
  }
  long early = 0;
  uint64_t now_ns = start_ns;
  for (unsigned look = 0; look < minutes * 60 * LOOKS_A_SECOND; look++) {
    for (unsigned i = 0; i < WORKERS; i++) work_for_a_look(tracks[i], i, look, now_ns);
    now_ns += LOOK_NS;
    for (unsigned i = 0; i < WORKERS; i++) {
      wf_export_track(tracks[i]);
      wf_export_announce(tracks[i], now_ns);
    }
    sample(look % LOOKS_A_SECOND == 0);
    wf_file_flush(&out);
    if (look == 60 * LOOKS_A_SECOND) early = resident_bytes();
  }
  for (unsigned i = 0; i < WORKERS; i++) wf_export_close_track(tracks[i], now_ns);
  wf_export_last();
  sample(true);
  wf_export_end("stop", now_ns);
  wf_file_close(&out);
  long grown = resident_bytes() - early;
  CHECK_MSG(grown < 8 << 20, "%ld bytes more than after a minute", grown);
  long bytes = file_bytes(path);
  CHECK_MSG(bytes < (LIMIT_MIB << 20) + 100000, "%ld bytes", bytes);
  check_hour(path, minutes);
  for (unsigned i = 0; i < WORKERS; i++) wf_track_close(tracks[i]);
}

/* Every line of a file that is full: its size does not change any more but for the end,
 * whatever the program does. */
TEST(beyond_the_limit_nothing_is_added) {
  static wf_file out;
  static wf_text head;
  char path[256];
  int error;
  trace_path(path, "beyond");
  int file = wf_sys_file_create(path, &error);
  REQUIRE(file >= 0);
  wf_text_put(&head, "{\"traceEvents\":[");
  REQUIRE(wf_file_open(&out, file, &head));
  wf_export_begin(&out, 1, 1, 65536);
  weft_stats stats = WEFT_STATS_INIT;
  wf_pool_facts pool = {.number = 1,
                        .threads = 2,
                        .cpus = 2,
                        .idle = "balanced",
                        .steer = "auto",
                        .name = "weft"};
  wf_track *track = wf_track_create(&pool, 1, WF_ROLE_STARTED);
  REQUIRE(track != NULL);
  uint64_t now_ns = SECOND_NS;
  while (out.end < 65536) { /* frames are left out last */
    put(track, wf_rec_ring_moment(&track->ring, 1), now_ns += 1000, WF_REC_FRAME,
        (wf_record){0, word("fill"), 0, 0});
    wf_export_track(track);
    wf_file_flush(&out);
  }
  uint64_t full = out.end;
  for (int i = 0; i < 1000; i++) {
    pool.number = (unsigned)i + 2;
    wf_track *other = wf_track_create(&pool, 1, WF_ROLE_STARTED);
    REQUIRE(other != NULL);
    put_begin(other, now_ns += 1000, WF_REC_TASK, (wf_record){0, 0, 0, 0});
    wf_export_track(other);
    wf_export_announce(other, now_ns += 500 * SECOND_NS);
    put_end(other, now_ns);
    for (int k = 0; k < 9000; k++) (void)wf_rec_ring_begin(&other->ring, 1);
    wf_export_track(other);
    wf_trace_sample_worker(pool.number, 1, &stats);
    wf_trace_sample_pool(pool.number, 1, 1, 0, 0);
    wf_file_flush(&out);
    wf_export_close_track(other, now_ns);
    wf_track_close(other);
  }
  CHECK_EQ(out.end, full);
  wf_export_last();
  wf_trace_sample_worker(1, 1, &stats);
  wf_export_end("stop", now_ns);
  wf_file_close(&out);
  trace t = read_trace(path);
  CHECK(end_number(&t, "dropped") > 1000);
  CHECK_EQ(count_events(&t, NULL, "weft_stats"), 1);
  drop_trace(&t, path);
  wf_track_close(track);
}

/* ---- in real time ---- */

static void count_up(size_t begin, size_t end, void *ctx) {
  atomic_ulong *sum = ctx;
  for (size_t i = begin; i < end; i++) atomic_fetch_add(sum, i);
}

TEST_LIMIT(in_real_time, 4000) {
  const char *wish = getenv("WEFT_TEST_HOUR");
  const uint64_t seconds = wish != NULL ? strtoull(wish, NULL, 10) : 10;
  char path[256];
  atomic_ulong sum = 0;
  unsigned long frames = 0;
  long early = 0;
  trace_path(path, "real");
  setenv("WEFT_TRACE_LIMIT", "4", 1);
  weft_pool *pool = pool_of(8);
  weft_opts opts = WEFT_OPTS_INIT;
  opts.pool = pool;
  REQUIRE(weft_trace_start(path) == 0);
  unsetenv("WEFT_TRACE_LIMIT");
  uint64_t start_ns = wf_sys_now_ns(), now_ns = start_ns;
  while ((now_ns = wf_sys_now_ns()) - start_ns < seconds * SECOND_NS) {
    weft_for_with(&opts, 20000, count_up, &sum);
    if (now_ns - start_ns >= frames * SECOND_NS / 10) {
      weft_frame_mark("tenth");
      frames++;
    }
    if (early == 0 && now_ns - start_ns > seconds * SECOND_NS / 10)
      early = resident_bytes();
  }
  long grown = resident_bytes() - early;
  weft_trace_stop();
  CHECK_MSG(grown < 8 << 20, "%ld bytes more than after a tenth of the time", grown);
  CHECK_MSG(file_bytes(path) < (4 << 20) + 100000, "%ld bytes", file_bytes(path));
  trace t = read_trace(path);
  CHECK(end_number(&t, "dropped_short") + end_number(&t, "dropped") > 0);
  /* Frames stay until the file is full. */
  CHECK(count_events(&t, "frame", "tenth") == frames || frames * 130 > 1 << 20);
  check_by_python(path);
  drop_trace(&t, path);
  weft_pool_destroy(pool);
}
