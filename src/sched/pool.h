/* sched/pool.h - the structures of a pool, and what its files offer each other.
 *
 * A pool has a fixed number of worker places ("slots"). Place 0 and those after the
 * started threads are for guests: threads from outside that take part for the time of a
 * call. Places 1 .. thread_places belong to the threads the pool starts. The last ones
 * are for spares, the threads that take over while others are in blocking sections. A
 * place is in use while its bit is in the set `x_present`.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_SCHED_POOL_H
#define WF_SCHED_POOL_H

#include "../core/arena.h"
#include "../core/atomic.h"
#include "../core/bitset.h"
#include "../core/deque.h"
#include "../core/injector.h"
#include "../core/latch.h"
#include "../core/rng.h"
#include "../sys/sys.h"
#include "options.h"
#include "sleep.h"

#include <weft/detail/scope.h>
#include <weft/opts.h>
#include <weft/pool.h>

/* One place. The deque comes first: wf_self points at its owner part. Fields without x_
 * belong to the thread that is in the place; it hands them on through x_present. */
typedef struct wf_worker {
  wf_deque deque;   /* forked halves of joins: two cache lines, as the next one */
  wf_deque spawned; /* tasks of scopes; has no ring before the first one */

  _Alignas(WF_CACHE_LINE) weft_pool *pool;
  unsigned index;
  bool serial;     /* a context without a place: joins run inline, spawns are queued */
  bool asks;       /* has searched long enough to ask others for work */
  bool background; /* what runs at the bottom of its stack is background work */
  bool alone;      /* in a forked process: the threads it worked with do not exist */
  unsigned frames; /* tasks on this thread's stack, and open scopes; see wf_frame */
  wf_entry *entry; /* by which the thread has entered the place last */
  const struct wf_running *running; /* handles whose functions are on the stack */
  uint64_t mark; /* tasks from this index of `spawned` on were made by the newest */
  struct weft_scope *waits_for;    /* the scope whose end it waits for, or NULL */
  struct weft_scope *credit_scope; /* whose credits it holds, see scoped.h */
  uintptr_t credits;
  unsigned blocking_depth; /* blocking sections it is in */
  unsigned broadcasts;     /* that it waits for */
  unsigned outside_forks;  /* typed tasks that its thread has open while it is outside */
  unsigned spawn_depth;    /* tasks that weft_spawn has run on its stack */
  unsigned spawn_looks;    /* spawns until the next look whether there are enough tasks */
  unsigned help_depth;     /* tasks of others on this thread's stack */
  unsigned search_count;   /* for the look at the injector in turn */
  unsigned futile_wakes;   /* in a row that found no work */
  int last_victim;         /* who had work last, or -1 */
  wf_rng rng;
  wf_thread thread;
  wf_latch terminate; /* set once when the pool ends; started threads wait on it */

  wf_arena arena; /* where tasks that it spawns live */

  /* Statistics: written by the thread in the place, read by anybody. */
  _Alignas(WF_CACHE_LINE) wf_u64 x_tasks;
  wf_u64 x_steals;
  wf_u64 x_exposes;
  wf_u64 x_takeovers;
  wf_u64 x_sleeps;

  /* 1 while the thread sleeps and nobody has claimed it. */
  _Alignas(WF_CACHE_LINE) wf_u32 x_park;
  wf_u32 x_mail; /* broadcasts that it has not taken up yet */
} wf_worker;

struct wf_broadcast;

/* A call without a place has one of so many numbers, see guest.c. */
enum { WF_SERIAL_NUMBERS = 1024, WF_SERIAL_WORDS = WF_SERIAL_NUMBERS / 64 };

struct weft_pool {
  /* Constant after creation; what a caller needs to enter comes first, in one line. */
  wf_worker *workers;
  wf_u64 *x_present;
  unsigned thread_places; /* places 1 .. thread_places */
  unsigned spare_first;   /* places spare_first .. slots - 1 are for spares */
  unsigned slots;         /* all places */
  unsigned words;         /* of a bit set over all places */
  unsigned max_searchers; /* awake workers that look for work at once */
  wf_u32 x_started;       /* so many of the thread places have a thread */
  wf_u32 x_ready;         /* 1 when there will be no more */
  bool steals;            /* false in a pool of one thread */
  bool eager;             /* no process-wide barrier on this system */
  bool has_alone;         /* a thread that forked in the pool is still in these places */
  wf_u64 *x_background;   /* which workers are at background work */
  wf_options options;

  _Alignas(WF_CACHE_LINE) wf_injector injector;
  _Alignas(WF_CACHE_LINE) wf_injector background; /* the other lane */
  unsigned background_limit; /* so many workers may be at background work at once */
  wf_u32 x_background_count; /* so many are */
  _Alignas(WF_CACHE_LINE) wf_sleep sleep;
  wf_u64 x_serial[WF_SERIAL_WORDS]; /* numbers of contexts without a place, see guest.c */

  /* Broadcasts, oldest first, that somebody has not taken up; and all that are under way.
   * See mail.c. */
  wf_lock mail_lock;
  struct wf_broadcast *mail, *under_way;
  bool ending; /* threads may have ended: no more broadcasts. Under the lock. */

  /* Blocking sections; see spare.c. */
  wf_lock spare_lock;
  wf_u32 x_spare_threads; /* started so far, written under the lock */
  wf_u32 x_spare_active;  /* of them at work */
  wf_u32 x_blocked;       /* threads in blocking sections */
  wf_u32 x_spares_closed; /* at the end of the pool: no more of them are started */

  /* The end: waits until every injected function has returned. */
  _Alignas(WF_CACHE_LINE) wf_u64 x_injected_done;
  wf_u32 x_draining;
  wf_once_latch drained;

  /* Last, because it outlives everything above it: the process the pool was made for, see
   * fork.c. */
  _Alignas(WF_CACHE_LINE) wf_u32 x_generation;
};

static inline wf_worker *wf_worker_of(wf_owner *owner) {
  return (wf_worker *)(void *)owner; /* the owner part is the first member of the first */
}

static inline unsigned wf_pool_started(const weft_pool *pool) {
  return wf_u32_load_relaxed(&pool->x_started); /* relaxed: constant after creation */
}

/* ---- fatal.c ---- */

/* Reports misuse that cannot be returned as an error, and aborts. */
_Noreturn void wf_fatal(const char *call, const char *problem);

/* ---- frames ---- */

/* A task on a thread's stack, or the body of a scope: which region the code around it was
 * in, and which tasks that code had spawned. Tasks of `spawned` from the mark on were
 * made by the newest frame, or by tasks that ended in it. */
typedef struct wf_frame {
  const wf_region *region;
  uint64_t mark;
  unsigned frames, blocking_depth; /* as many as there shall be at its end */
  wf_region isolated;              /* see wf_frame_enter */
} wf_frame;

/* Who waits for an isolation: see wf_region. */
enum { WF_BELOW, WF_WAITER, WF_WAITED_BY };

/* The isolation of the newest frame, or NULL. */
static inline const wf_region *wf_isolation(const wf_worker *worker) {
  const wf_region *region = worker->deque.owner.region;
  return region != NULL ? region->isolation : NULL;
}

/* Opens a frame without looking at isolation: for code that stays in the region around
 * it, or is about to isolate itself. */
static inline void wf_frame_open(wf_worker *worker, wf_frame *outer,
                                 const wf_region *region) {
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
  const wf_region *isolation = wf_isolation(worker);
  if (WF_UNLIKELY(isolation != NULL &&
                  (region == NULL || region->isolation != isolation))) {
    outer->isolated = region != NULL ? *region : (wf_region){0};
    outer->isolated.isolation = isolation;
    region = &outer->isolated;
  }
  wf_frame_open(worker, outer, region);
}

/* If the thread has run tasks from below the outer frame's mark meanwhile, what is there
 * now was made later. */
static inline void wf_frame_leave(wf_worker *worker, const wf_frame *outer) {
  worker->deque.owner.region = outer->region;
  if ((int64_t)(outer->mark - worker->mark) < 0) worker->mark = outer->mark;
  worker->frames--;
}

/* A function ends: it has closed what it has opened, or the program ends. */
static inline void wf_frame_check(const wf_worker *worker, const wf_frame *outer) {
  if (WF_UNLIKELY(worker->frames != outer->frames + 1))
    wf_fatal("weft_scope_begin", "a function has ended and left its scope open");
  if (WF_UNLIKELY(worker->blocking_depth != outer->blocking_depth))
    wf_fatal("weft_blocking_begin", "a function has ended and left its section open");
}

/* Runs what the newest frame has spawned and nobody has taken. */
void wf_worker_run_leftovers(wf_worker *worker);

/* A task ends. What a task of isolated code has spawned does not stay behind on a thread
 * that goes on outside: that thread might block on a lock which is held until all of it
 * is done (src/sched/scope.md, "Isolation"). */
static inline void wf_frame_leave_task(wf_worker *worker, const wf_frame *outer) {
  wf_frame_check(worker, outer);
  const wf_region *isolation = wf_isolation(worker);
  if (WF_UNLIKELY(isolation != NULL &&
                  (outer->region == NULL || outer->region->isolation != isolation)))
    wf_worker_run_leftovers(worker);
  wf_frame_leave(worker, outer);
}

/* ---- pool.c ---- */

/* Makes the pool without its threads (tests play the workers themselves). */
int wf_pool_allocate(weft_pool **out, const wf_options *options);
void wf_pool_free(weft_pool *pool);
/* Makes, and frees, everything inside the pool's own structure, which keeps its address.
 */
bool wf_pool_furnish(weft_pool *pool);
void wf_pool_clear(weft_pool *pool);
/* Starts the threads; 0 if all have started. The pool works with those it has. */
int wf_pool_start(weft_pool *pool);
/* Waits until all threads have started. */
void wf_pool_await_start(weft_pool *pool);
void wf_worker_init(wf_worker *worker, weft_pool *pool, unsigned index);
int wf_worker_start_thread(wf_worker *worker, void (*main)(void *worker));

/* An injected function has returned. */
void wf_pool_injected_done(weft_pool *pool);

/* Hands fn(ctx) to the started threads. `ticket` may be NULL. */
int wf_pool_inject(weft_pool *pool, weft_lane lane, weft_fn *fn, void *ctx,
                   wf_ticket *ticket);
/* Takes it back, if no thread has taken it up. */
bool wf_pool_revoke(weft_pool *pool, weft_lane lane, const wf_ticket *ticket);

/* ---- worker.c ---- */

/* What a started thread runs. */
void wf_worker_main(void *worker);

/* Waits until the latch is set, and helps meanwhile. `call` is named if that can never
 * happen; `scope` is the scope whose latch it is, or NULL. */
void wf_worker_wait(wf_worker *worker, wf_latch *latch, struct weft_scope *scope,
                    const char *call);

/* Takes the newest task that this worker has spawned, if it is at `mark` or above. */
wf_task *wf_worker_take_spawned_slow(wf_worker *worker);
static inline wf_task *wf_worker_take_spawned(wf_worker *worker, uint64_t mark) {
  if ((int64_t)(wf_deque_bottom(&worker->spawned) - mark) <= 0) return NULL;
  wf_task *task = wf_deque_take_private(&worker->spawned);
  return WF_LIKELY(task != NULL) ? task : wf_worker_take_spawned_slow(worker);
}

/* Is there room on the stack for one more task that is not the newest of the worker's
 * own? So many lie on top of each other at most, whoever runs them. */
bool wf_worker_has_room(const wf_worker *worker);

/* The same for one of others, which are not taken everywhere. */
bool wf_worker_may_help(wf_worker *worker);

/* What a spare runs. */
void wf_spare_main(void *worker);

/* Runs one task, whosesoever, if there is one. */
bool wf_worker_run_any(wf_worker *worker);

/* Tells the pool what a slow half of the deque has made public. */
void wf_worker_tell_slow(wf_worker *worker, wf_deque_news news);
static inline void wf_worker_tell(wf_worker *worker, wf_deque_news news) {
  if (WF_UNLIKELY(news.exposed > 0)) wf_worker_tell_slow(worker, news);
}

/* ---- search.c ---- */

/* Is there work that a sleeper of this kind would take? Closes the pins of all deques and
 * looks into their private parts too. */
bool wf_worker_sees_work(wf_worker *worker, wf_sleeper kind);

/* ---- guest.c ---- */

/* The worker that this thread already is in the pool, or NULL. */
wf_worker *wf_guest_find(const weft_pool *pool);

/* Calls fn(ctx) with this thread being the worker. */
void wf_guest_run_as(wf_worker *worker, weft_fn *fn, void *ctx);

/* Brings the calling thread into a pool until wf_guest_leave with the same entry; the
 * worker it is there. If all places are taken it gets a context of its own, without a
 * place; NULL if there is no memory for that. `call` is named in messages. */
wf_worker *wf_guest_enter(wf_entry *entry, weft_pool *pool);
void wf_guest_leave(wf_entry *entry, const char *call);

/* A place for one more forked task of a thread that is in no pool, whose worker it does
 * not become; NULL if there is none. */
wf_worker *wf_guest_fork_place(void);
/* Calls fn(ctx), which joins the newest of these tasks, as the worker of that place.
 * False if the thread has no place. */
bool wf_guest_join_place(weft_fn *fn, void *ctx, const char *call);

/* The region of the code that the calling thread runs, or NULL. */
const wf_region *wf_guest_region(void);
/* Sets it for a thread that is in no pool; returns the one before. */
const wf_region *wf_guest_set_region_outside(const wf_region *region);

/* Is at least half of the calling thread's stack free? Yes if the system does not tell.
 */
bool wf_stack_is_half_free(void);

/* This thread was a worker and is not any more: it is about to end. */
void wf_guest_end_thread(void);
bool wf_guest_thread_has_ended(void);

/* In a forked process: the only thread keeps the workers that it is. */
void wf_guest_after_fork(void);

/* ---- fork.c ---- */

/* Counts the forks between the first process and this one. */
uint32_t wf_fork_generation(void);
void wf_fork_prepare(void);
/* Makes a pool that was inherited from a parent process work again; false if there is no
 * memory. */
bool wf_fork_revive(weft_pool *pool);

/* Was the pool made in a parent of this process, and not revived yet? */
static inline bool wf_fork_is_stale(const weft_pool *pool) {
  /* Acquire: pairs with the release in wf_fork_revive. explorer: knows no fork; without
   * it a pool could be used while another thread gives it its new innards. */
  return wf_u32_load_acquire(&pool->x_generation) != wf_fork_generation();
}

/* ---- global.c ---- */

/* The pool, or the current one if it is NULL; ready for use. NULL if there is none. */
weft_pool *wf_pool_or_current(const weft_pool *pool);
/* The global pool if it runs, else NULL. */
weft_pool *wf_global_if_running(void);
void wf_global_after_fork(void);

/* Fills in the defaults of a call's options; 0 or WEFT_EINVAL. */
int wf_opts_read(weft_opts *out, const weft_opts *given);

#endif
