/* pool/pool.h - the structures of a pool, and what its files offer each other.
 *
 * A pool has a fixed number of worker places ("slots"). Place 0 and those after the
 * started threads are for guests: threads from outside that take part for the time of a
 * call. Places 1 .. thread_places belong to the threads the pool starts. A place is in
 * use while its bit is in the set `x_present`.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_POOL_POOL_H
#define WF_POOL_POOL_H

#include "../core/atomic.h"
#include "../core/bitset.h"
#include "../core/deque.h"
#include "../core/injector.h"
#include "../core/latch.h"
#include "../core/rng.h"
#include "../sys/sys.h"
#include "options.h"
#include "sleep.h"

#include <weft/pool.h>

/* One place. The deque comes first: wf_self points at its owner part. Fields without x_
 * belong to the thread that is in the place; it hands them on through x_present. */
typedef struct wf_worker {
  wf_deque deque; /* two cache lines */

  _Alignas(WF_CACHE_LINE) weft_pool *pool;
  unsigned index;
  bool serial;           /* a context without a place: everything runs inline */
  bool asks;             /* has searched long enough to ask others for work */
  unsigned help_depth;   /* tasks of others on this thread's stack */
  unsigned search_count; /* for the look at the injector in turn */
  unsigned futile_wakes; /* in a row that found no work */
  int last_victim;       /* who had work last, or -1 */
  wf_rng rng;
  wf_thread thread;
  wf_latch terminate; /* set once when the pool ends; started threads wait on it */

  /* Statistics: written by the thread in the place, read by anybody. */
  _Alignas(WF_CACHE_LINE) wf_u64 x_tasks;
  wf_u64 x_steals;
  wf_u64 x_exposes;
  wf_u64 x_takeovers;
  wf_u64 x_sleeps;

  /* 1 while the thread sleeps and nobody has claimed it. */
  _Alignas(WF_CACHE_LINE) wf_u32 x_park;
} wf_worker;

/* A call without a place has one of so many numbers, see guest.c. */
enum { WF_SERIAL_NUMBERS = 1024, WF_SERIAL_WORDS = WF_SERIAL_NUMBERS / 64 };

struct weft_pool {
  /* Constant after creation; what a caller needs to enter comes first, in one line. */
  wf_worker *workers;
  wf_u64 *x_present;
  unsigned thread_places; /* places 1 .. thread_places */
  unsigned slots;         /* all places */
  unsigned words;         /* of a bit set over all places */
  unsigned max_searchers; /* awake workers that look for work at once */
  wf_u32 x_started;       /* so many of the thread places have a thread */
  bool steals;            /* false in a pool of one thread */
  bool eager;             /* no process-wide barrier on this system */
  wf_options options;

  _Alignas(WF_CACHE_LINE) wf_injector injector;
  _Alignas(WF_CACHE_LINE) wf_sleep sleep;
  wf_u64 x_serial[WF_SERIAL_WORDS]; /* numbers of contexts without a place, see guest.c */

  /* The end: waits until every injected function has returned. */
  _Alignas(WF_CACHE_LINE) wf_u64 x_injected_done;
  wf_u32 x_draining;
  wf_once_latch drained;
};

static inline wf_worker *wf_worker_of(wf_owner *owner) {
  return (wf_worker *)(void *)owner; /* the owner part is the first member of the first */
}

static inline unsigned wf_pool_started(const weft_pool *pool) {
  return wf_u32_load_relaxed(&pool->x_started); /* relaxed: constant after creation */
}

/* ---- pool.c ---- */

/* Makes the pool without its threads (tests play the workers themselves), and starts
 * them. */
int wf_pool_allocate(weft_pool **out, const wf_options *options);
void wf_pool_free(weft_pool *pool);
void wf_worker_init(wf_worker *worker, weft_pool *pool, unsigned index);

/* An injected function has returned. */
void wf_pool_injected_done(weft_pool *pool);

/* Reports misuse that cannot be returned as an error, and aborts. */
_Noreturn void wf_fatal(const char *call, const char *problem);

/* ---- worker.c ---- */

/* What a started thread runs. */
void wf_worker_main(void *worker);

/* Waits until the latch is set, and helps meanwhile. */
void wf_worker_wait(wf_worker *worker, wf_latch *latch);

/* Tells the pool what a slow half of the deque has made public. */
void wf_worker_tell(wf_worker *worker, wf_deque_news news);

/* Is there work that a sleeper of this kind would take? Closes the pins of all deques and
 * looks into their private parts too. */
bool wf_worker_sees_work(wf_worker *worker, wf_sleeper kind);

/* ---- guest.c ---- */

/* The worker that this thread already is in the pool, or NULL. */
wf_worker *wf_guest_find(const weft_pool *pool);

/* Calls fn(ctx) with this thread being the worker. */
void wf_guest_run_as(wf_worker *worker, weft_fn *fn, void *ctx);

/* ---- global.c ---- */

weft_pool *wf_pool_or_current(const weft_pool *pool);

#endif
