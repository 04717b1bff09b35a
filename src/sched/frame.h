/* sched/frame.h - what surrounds running code: its region, its mark, its isolation.
 *
 * Each task on a thread's stack is a frame; so are the body of a scope, of weft_isolate
 * and of a handle's function, and the time between entering a pool and leaving it. A
 * frame knows which region the code around it was in and which tasks that code had
 * spawned, and puts both back when it ends. Frames are nested as calls are. Why waiting
 * threads need marks: scope.md, "Who runs what while waiting".
 *
 * All functions run on the thread that is in the worker's place.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_SCHED_FRAME_H
#define WF_SCHED_FRAME_H

#include "worker.h"

/* What the worker had before the frame began. Tasks of `spawned` from the worker's mark
 * on were made by the newest frame, or by tasks that ended in it. */
typedef struct wf_frame {
  const wf_region *region;
  uint64_t mark;
  unsigned frames, blocking_depth; /* the worker must come back to these */
  wf_region isolated;              /* see wf_frame_enter */
} wf_frame;

/* Indices of wf_region.waited_by: the isolation below on the same thread, and the one
 * that waits for the handle; see broadcast.c. */
enum { WF_BELOW, WF_WAITER, WF_WAITED_BY };

/* The isolation of the newest frame, or NULL. */
static inline const wf_region *wf_isolation(const wf_worker *worker) {
  const wf_region *region = worker->deque.owner.region;
  return region != NULL ? region->isolation : NULL;
}

/* Opens a frame and does not look at isolation: for code that stays in the region around
 * it, or is about to isolate itself. */
static inline void wf_frame_open(wf_worker *worker, wf_frame *outer,
                                 const wf_region *region) {
  WF_ASSERT((int64_t)(wf_deque_bottom(&worker->spawned) - worker->mark) >= 0);
  outer->region = worker->deque.owner.region;
  outer->mark = worker->mark;
  outer->frames = worker->frames;
  outer->blocking_depth = worker->blocking_depth;
  worker->deque.owner.region = region;
  worker->mark = wf_deque_bottom(&worker->spawned);
  worker->frames++;
}

/* A task begins. What runs on top of isolated code is isolated too, even if it belongs to
 * a scope that is not: a lock may be held below. Then it gets a region of its own. */
static inline void wf_frame_enter(wf_worker *worker, wf_frame *outer,
                                  const wf_region *region) {
  WF_ASSERT(wf_self == &worker->deque.owner);
  const wf_region *isolation = wf_isolation(worker);
  if (WF_UNLIKELY(isolation != NULL &&
                  (region == NULL || region->isolation != isolation))) {
    outer->isolated = region != NULL ? *region : (wf_region){0};
    outer->isolated.isolation = isolation;
    region = &outer->isolated;
  }
  WF_ASSERT(isolation == NULL || region->isolation == isolation);
  wf_frame_open(worker, outer, region);
}

/* Closes a frame. If the thread has run tasks from below the outer frame's mark
 * meanwhile, what is there now was made later: the mark stays below it. */
static inline void wf_frame_leave(wf_worker *worker, const wf_frame *outer) {
  WF_ASSERT(worker->frames > 0);
  WF_ASSERT((int64_t)(wf_deque_bottom(&worker->spawned) - worker->mark) >= 0);
  worker->deque.owner.region = outer->region;
  if ((int64_t)(outer->mark - worker->mark) < 0) worker->mark = outer->mark;
  worker->frames--;
}

/* A function of the program ends: it has closed what it has opened, or the program ends
 * with a message. */
static inline void wf_frame_expect_closed(const wf_worker *worker,
                                          const wf_frame *outer) {
  if (WF_UNLIKELY(worker->frames != outer->frames + 1))
    wf_fatal("weft_scope_begin", "a function has ended and left its scope open");
  if (WF_UNLIKELY(worker->blocking_depth != outer->blocking_depth))
    wf_fatal("weft_blocking_begin", "a function has ended and left its section open");
}

/* A task ends. What a task of isolated code has spawned does not stay behind on a thread
 * that goes on outside: that thread might block on a lock which is held until all of it
 * is done (scope.md, "Isolation"). */
static inline void wf_frame_leave_task(wf_worker *worker, const wf_frame *outer) {
  wf_frame_expect_closed(worker, outer);
  const wf_region *isolation = wf_isolation(worker);
  if (WF_UNLIKELY(isolation != NULL &&
                  (outer->region == NULL || outer->region->isolation != isolation)))
    wf_worker_run_leftovers(worker);
  wf_frame_leave(worker, outer);
}

#endif
