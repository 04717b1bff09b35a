/* sched/parcel.c - offers whose taker goes on by itself. What they are for is in sched.h,
 * states and races in parcel.md.
 *
 * Called by loops (src/par) on the thread that offers or waits, and by search.c and
 * worker.c on the thread that has taken a parcel.
 *
 * SPDX-License-Identifier: MIT */
#include "parcel.h"

#include "sleep.h"

#include <string.h>

/* How often a thread looks for the copy before it waits as others do. A copy takes two
 * transfers of a cache line, some 200 ns, and a look with its pause 10 to 40 ns. */
enum { LOOKS_FOR_COPY = 20 };

/* With a body of its own: a linker that folds equal functions must not give another one
 * its address. */
void wf_parcel_mark(void *ctx) {
  (void)ctx;
  wf_fatal("weft_for", "a parcel was called");
}

/* ---- the thread that offers ---- */

void wf_offers_show(wf_owner *self) {
  wf_worker *worker = wf_worker_of(self);
  if (!worker->serial) wf_deque_show(&worker->deque);
}

/* The parcel is gone when the caller returns, so the thread that has taken it must have
 * its copy. That thread does nothing else before it, so the wait is short. Helping
 * meanwhile would not be. */
static __attribute__((noinline)) void wait_for_copy(wf_owner *self, wf_latch *copied) {
  wf_worker *worker = wf_worker_of(self);
  for (int i = 0; i < LOOKS_FOR_COPY && !wf_latch_probe(copied); i++) wf_sys_relax();
  if (wf_latch_probe(copied)) return;
  WF_ASSERT(!worker->stays);
  worker->stays = true;
  wf_worker_wait(worker, copied, NULL, "weft_for");
  worker->stays = false;
}

bool wf_parcel_take_back_slow(wf_owner *self, wf_parcel *parcel) {
  if (wf_take_back_unless_taken(self, &parcel->task, "weft_for")) return true;
  wait_for_copy(self, &parcel->task.completion);
  return false;
}

/* ---- the thread that has taken it ---- */

void wf_parcel_copy(wf_worker *worker, wf_work *work) {
  wf_task *task = work->task;
  WF_ASSERT(!work->spawned && task->execute == wf_parcel_mark);
  work->is_parcel = true;
  const wf_parcel *parcel = (const wf_parcel *)(const void *)task;
  work->parcel.fn = parcel->fn;
  work->parcel.work = parcel->work;
  work->parcel.amount = parcel->amount;
  memcpy(work->parcel.content, parcel->content, sizeof parcel->content);
  /* Relaxed: the fork wrote the region before it published the task; the thread that made
   * the offer changes the state only. */
  work->region = wf_latch_region_in(wf_word_load_relaxed(&task->completion.x_state));
  if (wf_latch_set(&task->completion)) wf_sleep_wake_worker(worker->pool, work->owner);
}

/* ---- the end ---- */

/* True if it was the last part. Acquire and release: pairs with itself in other threads:
 * what each part did comes to the thread that takes off the last one. */
static bool take_off(wf_shared_work *work, uintptr_t amount) {
  uintptr_t left = wf_word_fetch_sub_acq_rel(&work->x_left, amount);
  WF_ASSERT(amount > 0 && left >= amount);
  return left == amount;
}

void wf_shared_take_off(wf_worker *worker, wf_shared_work *work, uintptr_t amount) {
  /* Nothing else of the work is read before: that would cost a transfer of the line more.
   * It is not gone before the latch is set, since the waiter waits for that. */
  if (!take_off(work, amount)) return;
  const wf_worker *waiter = wf_worker_of(work->waiter); /* the place stays */
  if (wf_latch_set(&work->ended)) wf_sleep_wake_worker(worker->pool, waiter->index);
}

void wf_shared_end_slow(wf_shared_work *work, uintptr_t amount, const char *call) {
  if (!take_off(work, amount)) wf_worker_wait(wf_worker_now(), &work->ended, NULL, call);
}
