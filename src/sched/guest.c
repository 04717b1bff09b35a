/* sched/guest.c - threads from outside that take part in a pool.
 *
 * A caller leases one of the guests' places for its outermost call and runs its own code
 * on its own stack: no hand-over, no context switch. When all places are taken, a thread
 * that is in no pool hands its function to a started thread and blocks. A thread that is
 * a worker elsewhere must not block, or two pools could wait for each other: it runs the
 * function itself, sequentially, in a context without a place.
 *
 * A thread may be in several pools, one inside the other. When it comes back to one that
 * it is already in, it is the same worker again. Everything here runs on the calling
 * thread, and concerns places that this thread has, or takes.
 *
 * SPDX-License-Identifier: MIT */
#include "../core/aligned.h"
#include "idle.h"
#include "record.h"
#include "scope.h"
#include "stats.h"

#include <stdlib.h>
#include <string.h>

/* Fast thread-local memory is scarce in libraries that are loaded late: what can be a
 * field of the worker is one, and only the rest is here. */
#if !defined(_WIN32) /* there: src/sys/windows.c */
__thread wf_owner *wf_self;
#endif

/* The entry by which this thread has entered a pool last; `outer` leads to the others.
 * They are in frames of this thread. */
static wf_entry *innermost_entry(void) {
  return wf_self != NULL ? wf_worker_of(wf_self)->entry : NULL;
}

/* Was this thread a worker that has ended? */
#if defined(_WIN32)
#define thread_has_ended (*(bool *)wf_sys_local(WF_LOCAL_HAS_ENDED))
#else
static __thread bool thread_has_ended;
#endif

void wf_guest_end_thread(void) {
  thread_has_ended = true;
}

bool wf_guest_thread_has_ended(void) {
  return thread_has_ended;
}

/* ---- places ---- */

/* Takes a place if it is free. */
static bool try_lease(weft_pool *pool, unsigned index) {
  if (wf_bitset_has(pool->x_present, index)) return false;
  /* The RMW pairs with the one of the guest that left: its fields are handed on. */
  return wf_bitset_add(pool->x_present, index);
}

/* The lowest free place, with a deque, or NULL. The lowest, so that a single caller is
 * always worker 0. */
static wf_worker *lease(weft_pool *pool) {
  unsigned index = 0;
  while (index < pool->stand_in_first && !try_lease(pool, index))
    index = index == 0 ? pool->thread_places + 1 : index + 1;
  if (index >= pool->stand_in_first) return NULL;
  wf_worker *worker = &pool->workers[index];
  wf_worker_check_vacant(worker);
  if (wf_deque_prepare(&worker->deque) != 0) {
    wf_bitset_remove(pool->x_present, index);
    return NULL;
  }
  worker->mark = wf_deque_bottom(&worker->spawned);
  worker->shared_ticks = 0;
  /* Only the first of several guests: with many of them the pool wakes up fast enough. */
  if (pool->wakes_in_trees && index == 0) wf_idle_give_forks(worker);
  return worker;
}

/* Tasks that this thread has spawned into scopes of others, and that nobody has taken, go
 * into the pool's queue; without memory for that the thread runs them now. */
static void hand_over_spawned(wf_worker *worker) {
  wf_task *task;
  if (worker->alone) return; /* they are the parent process's */
  while ((task = wf_worker_take_spawned(worker, worker->mark)) != NULL) {
    if (wf_pool_started(worker->pool) == 0 ||
        wf_scope_enqueue(wf_scope_of_task(task), task) != 0)
      task->execute(task);
  }
  wf_worker_settle(worker);
}

static void give_place_back(wf_worker *worker, const char *call) {
  if (!wf_deque_is_empty(&worker->deque))
    wf_fatal(call, "the function has left forks that were not joined");
  if (worker->blocking_depth > 0)
    wf_fatal(call, "the function has left a blocking section that was not ended");
  if (worker->alone) return; /* its place was in the parent process */
  /* Sealed now, while the deque is in this CPU's cache, and not by the next guest. */
  wf_deque_seal_if_open(&worker->deque);
  wf_deque_seal_if_open(&worker->spawned);
  wf_worker_check_vacant(worker);
  bool removed = wf_bitset_remove(worker->pool->x_present, worker->index);
  WF_ASSERT(removed);
}

/* ---- contexts without a place ---- */

/* The lowest number that no other call without a place has now. Calls beyond
 * WF_SERIAL_NUMBERS share that number. */
static unsigned lease_number(weft_pool *pool) {
  unsigned number = 0;
  while (number < WF_SERIAL_NUMBERS && (wf_bitset_has(pool->x_serial, number) ||
                                        !wf_bitset_add(pool->x_serial, number)))
    number++;
  return number;
}

/* A worker without a place: its deque has one slot and is always closed, so that each
 * fork and each join takes the slow half, which runs everything inline. */
typedef struct serial_place {
  wf_worker worker;
  wf_ptr sentinel, slot;
} serial_place;

static wf_worker *make_serial(weft_pool *pool) {
  serial_place *place = (serial_place *)wf_aligned_alloc(WF_CACHE_LINE, sizeof *place);
  if (place == NULL) return NULL;
  memset(place, 0, sizeof *place);
  place->worker.pool = pool;
  place->worker.index = pool->slots + lease_number(pool); /* beyond the last place */
  place->worker.serial = true;
  wf_ptr_store_relaxed(&place->worker.deque.owner.x_bottom, &place->slot);
  wf_ptr_store_relaxed(&place->worker.deque.owner.x_gate, (void *)UINTPTR_MAX);
  return &place->worker;
}

static void drop_serial(wf_worker *worker) {
  unsigned number = worker->index - worker->pool->slots;
  WF_ASSERT(worker->serial && worker->frames == 0 && worker->entry == NULL);
  WF_ASSERT(number <= WF_SERIAL_NUMBERS);
  wf_worker_settle(worker);
  if (number < WF_SERIAL_NUMBERS && !worker->alone) {
    bool removed = wf_bitset_remove(worker->pool->x_serial, number);
    WF_ASSERT(removed);
  }
  wf_aligned_free(worker);
}

/* ---- entering and leaving ---- */

wf_worker *wf_guest_find(const weft_pool *pool) {
  const wf_entry *here = innermost_entry();
  while (here != NULL && here->worker->pool != pool) here = here->outer;
  return here != NULL ? here->worker : NULL;
}

/* The region of code that is in no pool, which happens when there is no memory for one.
 */
#if defined(_WIN32)
#define region_outside (*(const wf_region **)wf_sys_local(WF_LOCAL_REGION))
#else
static __thread const wf_region *region_outside;
#endif

const wf_region *wf_guest_region(void) {
  return wf_self != NULL ? wf_self->region : region_outside;
}

const wf_region *wf_guest_set_region_outside(const wf_region *region) {
  const wf_region *before = region_outside;
  region_outside = region;
  return before;
}

/* From here on this thread is the worker, and what runs is in the same region as before.
 * The entry is a frame: if the thread comes back to a pool, what it spawned there earlier
 * was made by other code. */
static void push_entry(wf_entry *entry, wf_worker *worker) {
  wf_frame outer;
  const wf_region *region = wf_guest_region();
  entry->worker = worker;
  entry->outer = innermost_entry();
  entry->before = worker->entry;
  wf_frame_open(worker, &outer, region);
  entry->outer_region = outer.region;
  entry->outer_mark = outer.mark;
  worker->entry = entry;
  wf_self = &worker->deque.owner;
}

static void pop_entry(wf_entry *entry) {
  wf_entry *outer = entry->outer;
  wf_worker_check(entry->worker);
  WF_ASSERT(entry->worker->entry == entry); /* entries are nested */
  wf_frame frame = {.region = entry->outer_region, .mark = entry->outer_mark};
  wf_frame_leave(entry->worker, &frame);
  entry->worker->entry = entry->before;
  wf_self = outer != NULL ? &outer->worker->deque.owner : NULL;
}

void wf_guest_run_as(wf_worker *worker, weft_fn *fn, void *ctx) {
  wf_entry entry;
  push_entry(&entry, worker);
  fn(ctx);
  pop_entry(&entry);
}

wf_worker *wf_guest_enter(wf_entry *entry, weft_pool *pool) {
  wf_worker *worker = wf_guest_find(pool);
  entry->leased = worker == NULL;
  if (worker == NULL) worker = lease(pool);
  if (worker == NULL) worker = make_serial(pool);
  if (worker != NULL) push_entry(entry, worker);
  return worker;
}

void wf_guest_leave(wf_entry *entry, const char *call) {
  wf_worker *worker = entry->worker;
  if (entry->leased && !worker->serial) hand_over_spawned(worker);
  pop_entry(entry);
  if (!entry->leased) return;
  if (worker->serial)
    drop_serial(worker);
  else
    give_place_back(worker, call);
}

/* ---- running in a pool ---- */

/* A function handed to a started thread by a caller that blocks. */
typedef struct handed_in {
  weft_fn *fn;
  void *ctx;
  wf_once_latch done;
} handed_in;

void wf_guest_run_handed_in(void *ctx) {
  handed_in *call = (handed_in *)ctx;
  wf_record_retask(WF_TASK_RUN, call->fn);
  call->fn(call->ctx);
  wf_once_latch_set(&call->done); /* the caller may be gone after this */
}

/* False if there is nobody to hand it to. */
static bool hand_in(weft_pool *pool, weft_fn *fn, void *ctx) {
  handed_in call = {fn, ctx, {{0}}};
  wf_once_latch_init(&call.done);
  if (wf_pool_started(pool) == 0) return false;
  if (wf_pool_inject(pool, WEFT_LANE_NORMAL, wf_guest_run_handed_in, &call, NULL) != 0)
    return false;
  wf_once_latch_wait(&call.done);
  return true;
}

/* Records and times the call. */
static __attribute__((noinline)) void run_watched(wf_worker *worker, weft_fn *fn,
                                                  void *ctx) {
  bool is_timed = !worker->serial;
  if (is_timed) wf_timer_start(&worker->x_presence, wf_sys_now_ns());
  wf_record_task(worker, WF_TASK_RUN, fn, -1);
  fn(ctx);
  wf_record_task_end(worker);
  if (is_timed) wf_timer_stop(&worker->x_presence, wf_sys_now_ns());
}

static void run_inside(wf_entry *entry, wf_worker *worker, weft_fn *fn, void *ctx) {
  unsigned frames = worker->frames;
  if (WF_UNLIKELY(wf_trace_watch() != 0) && entry->leased)
    run_watched(worker, fn, ctx);
  else
    fn(ctx);
  if (worker->frames != frames)
    wf_fatal("weft_pool_run", "the function has left a scope open");
  wf_guest_leave(entry, "weft_pool_run");
}

void weft_pool_run(weft_pool *pool, weft_fn *fn, void *ctx) {
  if (WF_UNLIKELY(fn == NULL)) wf_fatal("weft_pool_run", "fn is NULL");
  pool = wf_pool_or_current(pool);
  wf_entry entry = {.leased = true};
  if (pool == NULL) { /* no memory even for a pool */
    fn(ctx);
    return;
  }
  wf_worker *worker = wf_guest_find(pool);
  if (worker != NULL) {
    entry.leased = false;
    push_entry(&entry, worker);
  } else if ((worker = lease(pool)) != NULL) {
    push_entry(&entry, worker);
  } else if (wf_self == NULL && hand_in(pool, fn, ctx)) {
    return;
  } else if ((worker = make_serial(pool)) != NULL) {
    push_entry(&entry, worker);
  } else {
    fn(ctx);
    return;
  }
  run_inside(&entry, worker, fn, ctx);
}

/* ---- forks of a thread that is in no pool ---- */

/* While such a thread has typed tasks open it holds a place, without being its worker.
 * The tasks lie in the place's deque, where others find them, and the thread is the
 * worker for the time of each join. */
#if defined(_WIN32)
#define fork_place (*(wf_worker **)wf_sys_local(WF_LOCAL_FORK_PLACE))
#else
static __thread wf_worker *fork_place;
#endif

wf_worker *wf_guest_fork_place(void) {
  if (fork_place == NULL) {
    weft_pool *pool = wf_pool_or_current(NULL);
    if (pool != NULL) fork_place = lease(pool);
  }
  return fork_place;
}

bool wf_guest_join_place(weft_fn *fn, void *ctx, const char *call) {
  wf_worker *worker = fork_place;
  wf_entry entry = {.leased = true};
  if (worker == NULL) return false;
  WF_ASSERT(worker->outside_forks != NULL);
  push_entry(&entry, worker);
  fn(ctx);
  hand_over_spawned(worker);
  pop_entry(&entry);
  if (worker->outside_forks == NULL) {
    fork_place = NULL;
    give_place_back(worker, call);
  }
  return true;
}

weft_pool *wf_guest_forked_in(void) {
  return fork_place != NULL ? fork_place->pool : NULL;
}

int weft_worker_index(void) {
  return wf_self != NULL ? (int)wf_worker_of(wf_self)->index : -1;
}

/* ---- after a fork ---- */

static void keep_alone(wf_worker *worker) {
  worker->alone = true;
  worker->track = NULL; /* it was the parent's */
  worker->pool->has_alone = true;
  if (worker->serial) return;
  wf_deque_after_fork(&worker->deque);
  wf_deque_after_fork(&worker->spawned);
}

/* The thread that forked keeps what it has on its stack. No other thread exists here:
 * what others had locked is free, and nobody will ever look into its deques. */
void wf_guest_after_fork(void) {
  for (wf_entry *here = innermost_entry(); here != NULL; here = here->outer) {
    const wf_region *region = here->worker->deque.owner.region;
    keep_alone(here->worker);
    if (region != NULL) wf_scope_after_fork(region->scope);
    if (here->outer_region != NULL) wf_scope_after_fork(here->outer_region->scope);
  }
  if (fork_place != NULL) keep_alone(fork_place);
}
