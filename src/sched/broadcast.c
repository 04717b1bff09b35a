/* sched/broadcast.c - a call on every thread. Delivery is in mail.c.
 *
 * SPDX-License-Identifier: MIT */
#include "mail.h"

#include <weft/task.h>

/* Is the worker one of the threads that the pool has started, other than spares? */
static bool is_started(const wf_worker *worker) {
  return worker->index >= 1 && worker->index <= worker->pool->thread_places;
}

static void await_calls(wf_worker *worker, wf_broadcast *broadcast) {
  if (broadcast->blocks) {
    wf_once_latch_wait(&broadcast->done_outside);
    return;
  }
  worker->broadcasts++;
  wf_worker_wait(worker, &broadcast->done.latch, NULL, "weft_broadcast");
  worker->broadcasts--;
}

/* The call on this very thread. What it leaves open is told now: the wait that follows
 * looks at the scope around it, which would be gone. */
static void call_here(wf_worker *worker, const wf_broadcast *broadcast, unsigned index) {
  unsigned frames = worker != NULL ? worker->frames : 0;
  broadcast->fn(index, broadcast->count, broadcast->ctx);
  if (worker != NULL && worker->frames != frames)
    wf_fatal("weft_scope_begin", "a function has ended and left its scope open");
}

/* The calling thread is the worker, or came from outside and found no place. */
static void broadcast_from(weft_pool *pool, wf_worker *worker, wf_broadcast_fn *fn,
                           void *ctx) {
  bool started = worker != NULL && !worker->alone && is_started(worker);
  wf_broadcast broadcast = {.fn = fn, .ctx = ctx, .region = wf_guest_region()};
  broadcast.count = wf_pool_started(pool) + (started ? 0 : 1);
  broadcast.first_index = started ? 0 : 1;
  broadcast.blocks = worker == NULL || worker->serial || worker->alone;
  broadcast.waiter = broadcast.blocks ? 0 : worker->index;
  if (!wf_mail_post(pool, &broadcast, started ? worker->index : 0)) {
    fn(0, 1, ctx); /* in a hook at the end of the pool */
    return;
  }
  call_here(worker, &broadcast, started ? worker->index - 1 : 0);
  if (!wf_count_latch_count_off(&broadcast.done)) await_calls(worker, &broadcast);
  wf_mail_end(pool, &broadcast);
}

void weft_broadcast_with(const weft_opts *o, wf_broadcast_fn *fn, void *ctx) {
  weft_opts opts;
  if (wf_opts_read(&opts, o) != 0)
    wf_fatal("weft_broadcast_with", "invalid options; start from WEFT_OPTS_INIT");
  if (fn == NULL) wf_fatal("weft_broadcast", "fn is NULL");
  weft_pool *pool = wf_pool_or_current(opts.pool);
  if (pool == NULL) { /* no memory for a pool: this thread is the only one */
    fn(0, 1, ctx);
    return;
  }
  wf_entry entry;
  wf_worker *worker = wf_guest_enter(&entry, pool);
  broadcast_from(pool, worker, fn, ctx);
  if (worker != NULL) wf_guest_leave(&entry, "weft_broadcast");
}

void weft_broadcast(wf_broadcast_fn *fn, void *ctx) {
  weft_broadcast_with(NULL, fn, ctx);
}
