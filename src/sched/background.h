/* sched/background.h - background work: how many workers are at it.
 *
 * The lane WEFT_LANE_BACKGROUND has an injector of its own. A worker counts itself in
 * before it takes something from there, or a part of what another worker took, and counts
 * itself out when it is through; the count has a limit, so that some workers stay free
 * for other work. Thieves that wait for something take nothing from a worker whose bit in
 * x_background is set. Which source a worker turns to when is decided in search.c. The
 * race between a full lane and one that gets room: sleep.md, "Background work".
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_SCHED_BACKGROUND_H
#define WF_SCHED_BACKGROUND_H

#include "pool.h"

/* [any] May one more worker be at background work? Only a look: wf_background_begin
 * decides. */
static inline bool wf_background_has_room(const weft_pool *pool) {
  /* Relaxed: a value that is a little old makes no difference to a look. */
  return wf_u32_load_relaxed(&pool->x_background_count) < pool->background_limit;
}

/* Is the code that runs on the worker background work, so that it may take tasks of other
 * workers that are at background work, too? */
static inline bool wf_background_is_around(const wf_worker *worker) {
  const wf_region *region = worker->deque.owner.region;
  return region != NULL && region->background;
}

/* Counts the worker as being at background work; false if enough others are. */
bool wf_background_begin(wf_worker *worker);

/* The worker has found nothing after all. */
void wf_background_cancel(wf_worker *worker);

/* The worker is through with the background work that it found. */
void wf_background_end(wf_worker *worker);

/* [any] A worker at background work has made tasks public, or there is more in the lane:
 * wakes an idle worker if another one may take it. */
void wf_background_tell(weft_pool *pool);

#endif
