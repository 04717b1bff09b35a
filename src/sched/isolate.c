/* sched/isolate.c - weft_isolate and weft_yield: which tasks a thread runs on top of what
 * it does.
 *
 * weft_isolate allows fewer of them than usual, weft_yield asks for one. Both run on the
 * calling thread, which enters the current pool if it is in none. What isolation means
 * for helping, for spawns and for broadcasts: scope.md, "Isolation".
 *
 * SPDX-License-Identifier: MIT */
#include "frame.h"
#include "pool.h"

#include <weft/task.h>

/* A region of its own marks everything that fn forks or spawns. A thread that runs such a
 * part is in the region too, and helps nobody outside of it. */
static void isolate_on(wf_worker *worker, weft_fn *fn, void *ctx) {
  const wf_region *around = worker->deque.owner.region;
  const wf_ptr waited_by[] = {
      [WF_BELOW] = {(void *)(uintptr_t)wf_isolation(worker)}, [WF_WAITER] = {NULL}};
  wf_region region = {NULL, &region, false, false, waited_by};
  if (around != NULL) {
    region.scope = around->scope;
    region.background = around->background;
  }
  wf_frame outer;
  wf_frame_open(worker, &outer, &region);
  WF_ASSERT(wf_isolation(worker) == &region);
  fn(ctx);
  wf_frame_expect_closed(worker, &outer);
  WF_ASSERT(wf_isolation(worker) == &region);
  wf_frame_leave(worker, &outer);
}

void weft_isolate(weft_fn *fn, void *ctx) {
  if (fn == NULL) wf_fatal("weft_isolate", "fn is NULL");
  if (wf_self != NULL) {
    isolate_on(wf_worker_of(wf_self), fn, ctx);
    return;
  }
  /* From outside: without this, each call that fn makes would enter the pool and help
   * there. */
  wf_entry entry;
  weft_pool *pool = weft_pool_current();
  wf_worker *worker = pool != NULL ? wf_guest_enter(&entry, pool) : NULL;
  if (worker == NULL) {
    fn(ctx);
    return;
  }
  isolate_on(worker, fn, ctx);
  wf_guest_leave(&entry, "weft_isolate");
}

bool weft_yield(void) {
  if (wf_self != NULL) {
    wf_worker *worker = wf_worker_of(wf_self);
    return !worker->serial && !worker->alone && wf_worker_run_any(worker);
  }
  wf_entry entry;
  weft_pool *pool = wf_global_if_running();
  wf_worker *worker = pool != NULL ? wf_guest_enter(&entry, pool) : NULL;
  if (worker == NULL) return false;
  bool ran = !worker->serial && wf_worker_run_any(worker);
  wf_guest_leave(&entry, "weft_yield");
  return ran;
}
