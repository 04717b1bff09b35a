/* sched/record.h - where the scheduler says what it does: to the trace, to the observer
 * and to static probes.
 *
 * Each function is a probe, a load and a branch while nobody records, and only slow paths
 * call them. What comes after the branch is out of line: an injected task is some 400
 * instructions, and a few more for each of these would show. Functions run on the thread
 * that is in the worker's place, unless marked [any].
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_SCHED_RECORD_H
#define WF_SCHED_RECORD_H

#include "../trace/probes.h"
#include "../trace/trace.h"
#include "pool.h"

/* gcc keeps one copy of a function that is called in several places, and calls it to find
 * that nobody records. */
#define WF_RECORD_INLINE static inline __attribute__((always_inline))

/* The worker's track, made when it is used first; NULL without memory, and for contexts
 * that have no place. */
wf_track *wf_record_track(wf_worker *worker);

/* [any] The track of the calling thread, or NULL: it is in no pool. */
wf_track *wf_record_track_here(void);

/* [any] Called when a pool is made, also by a forked process: starts the trace and the
 * statistics that the environment asks for, once. */
void wf_record_prepare(void);
void wf_record_after_fork(void);

/* The pool is about to be freed: its tracks are closed. */
void wf_record_forget(wf_worker *worker);

/* ---- tasks ---- */

static inline void wf_record_task(wf_worker *worker, wf_task_kind kind, weft_fn *fn,
                                  int from) {
  WF_PROBE3(task__begin, worker->index, (int)kind, (void *)(uintptr_t)fn);
  if (WF_UNLIKELY(wf_trace_is_on()))
    wf_trace_begin_task(wf_record_track(worker), kind, (uintptr_t)fn, from);
}

static inline void wf_record_task_end(wf_worker *worker) {
  WF_PROBE1(task__end, worker->index);
  if (WF_UNLIKELY(wf_trace_is_on()))
    wf_trace_end(wf_record_track(worker), WEFT_EVENT_TASK);
}

/* Calls fn(ctx) as a task. Asked once: of a task that runs when the trace starts, the end
 * would be of no use. */
void wf_record_call_slow(wf_worker *worker, wf_task_kind kind, weft_fn *fn, void *ctx,
                         int from);
WF_RECORD_INLINE void wf_record_call(wf_worker *worker, wf_task_kind kind, weft_fn *fn,
                                     void *ctx, int from) {
  WF_PROBE3(task__begin, worker->index, (int)kind, (void *)(uintptr_t)fn);
  if (WF_UNLIKELY(wf_trace_is_on()))
    wf_record_call_slow(worker, kind, fn, ctx, from);
  else
    fn(ctx);
  WF_PROBE1(task__end, worker->index);
}

/* [any] The function that the calling thread runs as injected is only the cover of
 * another one. */
void wf_record_retask_slow(wf_task_kind kind, uintptr_t fn);
WF_RECORD_INLINE void wf_record_retask(wf_task_kind kind, weft_fn *fn) {
  if (WF_UNLIKELY(wf_trace_is_on())) wf_record_retask_slow(kind, (uintptr_t)fn);
}

/* ---- what else begins and ends ---- */

static inline void wf_record_begin(wf_worker *worker, weft_event_kind kind,
                                   const char *name) {
  if (WF_UNLIKELY(wf_trace_is_on())) wf_trace_begin(wf_record_track(worker), kind, name);
}

static inline void wf_record_end(wf_worker *worker, weft_event_kind kind) {
  if (WF_UNLIKELY(wf_trace_is_on())) wf_trace_end(wf_record_track(worker), kind);
}

/* A sleep begins. Whoever is about to end it has perhaps come already. */
static inline void wf_record_sleep(wf_worker *worker, wf_sleeper kind) {
  WF_PROBE2(sleep__begin, worker->index, (int)kind);
  if (WF_UNLIKELY(wf_trace_is_on()))
    wf_trace_begin_sleep(wf_record_track(worker), (wf_sleep_kind)kind);
}

/* It has ended; `woken`: by another thread. */
static inline void wf_record_sleep_end(wf_worker *worker, bool woken) {
  WF_PROBE2(sleep__end, worker->index, (int)woken);
  if (WF_UNLIKELY(wf_trace_is_on()))
    wf_trace_end_sleep(wf_record_track(worker), worker->waker_tid,
                       woken ? worker->wake_ns : 0);
}

/* ---- moments ---- */

/* [any] The calling thread has claimed the sleeper and is about to wake it: the sleeper's
 * fields are its own until then. */
void wf_record_wake_slow(wf_worker *sleeper);
static inline void wf_record_wake(wf_worker *sleeper) {
  WF_PROBE1(wake, sleeper->index);
  if (WF_UNLIKELY(wf_trace_is_on())) wf_record_wake_slow(sleeper);
}

static inline void wf_record_steal(wf_worker *worker, unsigned victim) {
  WF_PROBE2(steal, worker->index, victim);
  if (WF_UNLIKELY(wf_trace_is_on()))
    wf_trace_moment(wf_record_track(worker), WEFT_EVENT_STEAL, (int)victim, 0, 0, NULL);
}

static inline void wf_record_expose(wf_worker *worker, unsigned tasks) {
  WF_PROBE2(expose, worker->index, tasks);
  if (WF_UNLIKELY(wf_trace_is_on()))
    wf_trace_moment(wf_record_track(worker), WEFT_EVENT_EXPOSE, -1, 0, tasks, NULL);
}

static inline void wf_record_take_over(wf_worker *worker, unsigned victim,
                                       unsigned tasks) {
  WF_PROBE3(takeover, worker->index, victim, tasks);
  if (WF_UNLIKELY(wf_trace_is_on()))
    wf_trace_moment(wf_record_track(worker), WEFT_EVENT_TAKEOVER, (int)victim, 0, tasks,
                    NULL);
}

/* [any] */
void wf_record_inject_slow(bool background);
WF_RECORD_INLINE void wf_record_inject(bool background) {
  WF_PROBE1(inject, (int)background);
  if (WF_UNLIKELY(wf_trace_is_on())) wf_record_inject_slow(background);
}

#endif
