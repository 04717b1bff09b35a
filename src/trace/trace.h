/* trace/trace.h - recording what the scheduler does: the one header of this layer that
 * the layers above include. It costs a load and a branch where nothing is recorded, and
 * is used on slow paths only.
 *
 * A track is where one worker records: a ring of records with one writer, the thread in
 * the worker's place. README.md explains rings, the file and the end of the process.
 *
 * Functions run on the thread that owns the track unless marked [any].
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_TRACE_TRACE_H
#define WF_TRACE_TRACE_H

#include "../core/atomic.h"
#include "../sys/sys.h"

#include <weft/trace.h>

/* ---- is anybody interested? ---- */

/* Bits of the word: a trace runs, there is an observer, callers from outside are timed
 * for the statistics. Above them: the number of the trace, so that one load says both. */
enum { WF_WATCH_TRACE = 1, WF_WATCH_OBSERVER = 2, WF_WATCH_TIMES = 4 };
enum { WF_WATCH_SESSION_SHIFT = 8 };

/* "hidden" spares the way over the table of a shared library: one instruction of four at
 * every place that asks. */
#if !defined(_WIN32)
__attribute__((visibility("hidden")))
#endif
extern wf_u32 wf_trace_x_watch;

/* [any] A peek, as in assertions: any recent value will do, and for the explorer, where
 * nothing is recorded, it is no step. */
static inline uint32_t wf_trace_watch(void) {
  return wf_u32_peek(&wf_trace_x_watch);
}

/* [any] Is anything recorded? */
static inline bool wf_trace_is_on(void) {
  return (wf_trace_watch() & (WF_WATCH_TRACE | WF_WATCH_OBSERVER)) != 0;
}

/* ---- tracks ---- */

typedef struct wf_track wf_track;

typedef enum wf_role { WF_ROLE_STARTED, WF_ROLE_CALLER, WF_ROLE_STAND_IN } wf_role;

/* What a trace says about a pool. */
typedef struct wf_pool_facts {
  unsigned number; /* from 1 */
  unsigned threads, cpus;
  const char *idle, *steer; /* constant */
  char name[WF_THREAD_NAME_MAX + 1];
} wf_pool_facts;

/* A track for a worker; NULL without memory. */
wf_track *wf_track_create(const wf_pool_facts *pool, unsigned worker, wf_role role);

/* [any] The worker is no more, and no thread writes to the track. */
void wf_track_close(wf_track *track);

/* ---- events ---- */

/* Of tasks: why it is recorded. */
typedef enum wf_task_kind {
  WF_TASK_STOLEN,
  WF_TASK_SPAWNED,
  WF_TASK_INJECTED,
  WF_TASK_ASYNC,
  WF_TASK_BROADCAST,
  WF_TASK_RUN,
  WF_TASK_NODE, /* of a graph */
  WF_TASK_STAGE /* of a pipeline, with one item */
} wf_task_kind;

/* Of sleeps. The numbers are those of wf_sleeper. */
typedef enum wf_sleep_kind {
  WF_SLEEP_IDLE,
  WF_SLEEP_HELPER,
  WF_SLEEP_CLOSED,
  WF_SLEEP_STAND_IN
} wf_sleep_kind;

/* Something begins; wf_trace_end ends the newest that has begun. track may be NULL: there
 * is no memory. */
void wf_trace_begin_task(wf_track *track, wf_task_kind kind, uintptr_t fn, int from);
/* The same with a name, which is constant, or NULL. */
void wf_trace_begin_named(wf_track *track, wf_task_kind kind, uintptr_t fn,
                          const char *name);
void wf_trace_begin_call(wf_track *track, const char *name, uint64_t n);
void wf_trace_begin_block(wf_track *track, const char *name, uint64_t first,
                          uint64_t last);
void wf_trace_begin(wf_track *track, weft_event_kind kind, const char *name);
void wf_trace_begin_sleep(wf_track *track, wf_sleep_kind kind);
void wf_trace_end(wf_track *track, weft_event_kind kind);

/* A sleep ends. waker: the tid of the thread that ended it (wf_trace_tid), at wake_ns; 0
 * for wake_ns: nobody did. */
void wf_trace_end_sleep(wf_track *track, uint64_t waker, uint64_t wake_ns);

/* The task that has begun last is of another kind than it seemed. */
void wf_trace_retask(wf_track *track, wf_task_kind kind, uintptr_t fn);

void wf_trace_name(wf_track *track, const char *name);

/* A moment. The track is NULL for a thread that is in no pool, or if there is no memory.
 */
void wf_trace_moment(wf_track *track, weft_event_kind kind, int from, uint64_t first,
                     uint64_t last, const char *name);

/* [any] The number of a worker's track in the file; of no pool: 0. */
static inline uint64_t wf_trace_tid(unsigned pool, unsigned worker) {
  return pool == 0 ? 0 : (uint64_t)pool * 10000 + worker;
}

/* [any] A copy of a name that lasts until the process ends; equal names share it. NULL
 * if `name` is NULL, or if there is no room: some ten thousand names have it. (names.c)
 */
const char *wf_trace_keep(const char *name);

/* ---- the trace and its file: [any] ---- */

/* The thread that writes the file calls this now and then, and a last time before the
 * end: it calls the two functions below for all pools, the second if it is asked to. */
typedef void wf_sampler_fn(bool with_stats);

/* As weft_trace_start and weft_trace_stop. *error is the system's number if the result is
 * WEFT_EIO. */
int wf_trace_start(const char *path, uint64_t limit_bytes, wf_sampler_fn *sampler,
                   int *error);
void wf_trace_stop(const char *reason);

void wf_trace_sample_pool(unsigned pool, unsigned working, unsigned searching,
                          unsigned asleep, uint64_t queued);
void wf_trace_sample_worker(unsigned pool, unsigned worker, const weft_stats *stats);

int wf_trace_observe(const weft_observer *observer);

/* Sets or clears WF_WATCH_TIMES. */
void wf_trace_time_callers(bool wanted);

/* In a forked process, on its only thread: there is no trace here. */
void wf_trace_after_fork(void);

#endif
