/* sched/record.c - tracks of workers, the public calls of weft/trace.h, and what the
 * environment asks for.
 *
 * Any thread may call what is public. The rest runs on the thread that is in the worker's
 * place, and only while something is recorded.
 *
 * SPDX-License-Identifier: MIT */
#include "record.h"

#include "environment.h"
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- tracks ---- */

static wf_role role_of(const wf_worker *worker) {
  const weft_pool *pool = worker->pool;
  if (worker->index >= pool->stand_in_first) return WF_ROLE_STAND_IN;
  return worker->index >= 1 && worker->index <= pool->thread_places ? WF_ROLE_STARTED
                                                                    : WF_ROLE_CALLER;
}

static wf_track *make_track(wf_worker *worker) {
  static const char *const idle[] = {"low_latency", "balanced", "power_saving"};
  static const char *const steer[] = {"default", "auto", "on", "off"};
  const weft_pool *pool = worker->pool;
  const wf_options *options = &pool->options;
  wf_pool_facts facts = {.number = pool->number,
                         .threads = options->threads,
                         .cpus = options->cpus,
                         .idle = idle[options->idle],
                         .steer = steer[options->steer]};
  memcpy(facts.name, options->name, sizeof facts.name);
  return wf_track_create(&facts, worker->index, role_of(worker));
}

wf_track *wf_record_track(wf_worker *worker) {
  if (worker->serial) return NULL;
  if (worker->track == NULL) worker->track = make_track(worker);
  return worker->track;
}

wf_track *wf_record_track_here(void) {
  wf_worker *worker = wf_worker_now();
  return worker != NULL ? wf_record_track(worker) : NULL;
}

void wf_record_forget(wf_worker *worker) {
  wf_track_close(worker->track);
  worker->track = NULL;
}

/* ---- slow halves ---- */

void wf_record_call_slow(wf_worker *worker, wf_task_kind kind, weft_fn *fn, void *ctx,
                         int from) {
  wf_trace_begin_task(wf_record_track(worker), kind, (uintptr_t)fn, from);
  fn(ctx);
  /* In a child that was forked by the task, this asks for the child's track. */
  if (wf_trace_is_on()) wf_trace_end(wf_record_track(worker), WEFT_EVENT_TASK);
}

void wf_record_inject_slow(bool background) {
  wf_trace_moment(wf_record_track_here(), WEFT_EVENT_INJECT, -1, background, 0, NULL);
}

void wf_record_retask_slow(wf_task_kind kind, uintptr_t fn) {
  wf_trace_retask(wf_record_track_here(), kind, fn);
}

void wf_record_wake_slow(wf_worker *sleeper) {
  const wf_worker *self = wf_worker_now();
  bool is_here = self != NULL && !self->serial;
  sleeper->waker_tid = is_here ? wf_trace_tid(self->pool->number, self->index) : 0;
  sleeper->wake_ns = wf_sys_now_ns();
  if (self == NULL || is_here)
    wf_trace_moment(wf_record_track_here(), WEFT_EVENT_WAKE, (int)sleeper->index, 0, 0,
                    NULL);
}

/* For src/par, which knows no worker; see sched.h. */
void wf_sched_call_begins(const char *name, uint64_t n) {
  wf_trace_begin_call(wf_record_track_here(), name, n);
}

void wf_sched_block_begins(const char *name, uint64_t first, uint64_t last) {
  wf_trace_begin_block(wf_record_track_here(), name, first, last);
}

void wf_sched_call_ends(bool is_block) {
  wf_trace_end(wf_record_track_here(), is_block ? WEFT_EVENT_BLOCK : WEFT_EVENT_CALL);
}

void wf_sched_part_begins(wf_task_kind kind, const char *name, uintptr_t fn) {
  wf_trace_begin_named(wf_record_track_here(), kind, fn, name);
}

void wf_sched_part_ends(void) {
  wf_trace_end(wf_record_track_here(), WEFT_EVENT_TASK);
}

/* ---- public ---- */

enum { LONGEST_PATH = 1000 };

static uint64_t limit_bytes(void) {
  return (uint64_t)wf_environment_trace_limit(wf_sys_variable("WEFT_TRACE_LIMIT")) << 20;
}

/* Copies the path, with the number of the process for each "%p". */
static bool expand_path(char out[LONGEST_PATH + 1], const char *path) {
  size_t length = 0;
  for (; *path != '\0'; path++) {
    char number[16];
    const char *part = number;
    if (path[0] == '%' && path[1] == 'p') {
      (void)snprintf(number, sizeof number, "%lu", (unsigned long)wf_sys_process_id());
      path++;
    } else {
      number[0] = *path;
      number[1] = '\0';
    }
    size_t added = strlen(part);
    if (length + added > LONGEST_PATH) return false;
    memcpy(out + length, part, added);
    length += added;
  }
  out[length] = '\0';
  return length > 0;
}

static void stop_at_exit(void) {
  wf_trace_stop("exit");
}

/* Sees to it that a trace is ended when the process is. Once in a process: what is
 * registered is inherited by forked ones. */
static void prepare_exit(void) {
  static wf_u32 x_registered;
  uint32_t expected = 0;
  /* seq_cst: pairs with itself: one thread registers it. */
  if (wf_u32_cas_seq_cst(&x_registered, &expected, 1)) (void)atexit(stop_at_exit);
}

static int start_trace(const char *path, int *error) {
  char expanded[LONGEST_PATH + 1];
  *error = 0;
  if (path == NULL || !expand_path(expanded, path)) return WEFT_EINVAL;
  wf_fork_prepare();
  int status = wf_trace_start(expanded, limit_bytes(), wf_report_sample, error);
  if (status == 0) prepare_exit();
  return status;
}

int weft_trace_start(const char *path) {
  int error;
  return start_trace(path, &error);
}

void weft_trace_stop(void) {
  wf_trace_stop("stop");
}

void weft_name(const char *name) {
  wf_worker *worker = wf_worker_now();
  if (WF_LIKELY(!wf_trace_is_on()) || worker == NULL) return;
  wf_trace_name(wf_record_track(worker), name);
}

void weft_frame_mark(const char *name) {
  if (WF_LIKELY(!wf_trace_is_on())) return;
  wf_trace_moment(wf_record_track_here(), WEFT_EVENT_FRAME, -1, 0, 0, name);
}

int weft_observe(const weft_observer *observer) {
  return wf_trace_observe(observer);
}

/* ---- the environment ---- */

static wf_u32 x_prepared; /* 1: the environment was read in this process */

/* A program that cannot write its trace still does its work. */
static void start_from_environment(const char *path) {
  int error;
  int status = start_trace(path, &error);
  if (status == 0) return;
  char text[LONGEST_PATH + 128];
  const char *why = error != 0 ? wf_sys_error_text(error) : weft_strerror(status);
  if (status == WEFT_EBUSY) why = "another trace is being written there";
  (void)snprintf(text, sizeof text, "weft: WEFT_TRACE: cannot write '%.*s': %s",
                 LONGEST_PATH, path, why);
  wf_sys_print_line(text);
}

void wf_record_prepare(void) {
  uint32_t expected = 0;
  const char *path = wf_sys_variable("WEFT_TRACE");
  const char *wish = wf_sys_variable("WEFT_STATS");
  if (path == NULL && wish == NULL) return;
  /* seq_cst: pairs with itself: one thread goes on. */
  if (!wf_u32_cas_seq_cst(&x_prepared, &expected, 1)) return;
  if (path != NULL && path[0] != '\0') start_from_environment(path);
  if (wf_fork_generation() == 0) wf_report_prepare(wf_environment_stats(wish));
}

/* The child has a trace of its own if its path is another one. */
void wf_record_after_fork(void) {
  wf_trace_after_fork();
  wf_report_after_fork();
  const char *path = wf_sys_variable("WEFT_TRACE");
  if (path != NULL && strstr(path, "%p") != NULL) wf_u32_store_relaxed(&x_prepared, 0);
}
