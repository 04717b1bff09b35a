/* sched/pool.h - a pool, and what the files of the scheduler offer each other for it.
 *
 * A pool has a fixed number of places for workers:
 *
 *     0                                  the first guest
 *     1 .. thread_places                 threads that the pool starts
 *     thread_places + 1 .. stand_in_first - 1    more guests
 *     stand_in_first .. slots - 1        stand-ins, for threads in blocking sections
 *
 * A guest is a thread from outside that takes part for the time of a call.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_SCHED_POOL_H
#define WF_SCHED_POOL_H

#include "../core/bitset.h"
#include "../core/injector.h"
#include "options.h"
#include "sleep.h"
#include "victims.h"
#include "worker.h"

struct wf_broadcast;

/* A call without a place has one of this many numbers (guest.c). A choice: 1024 such
 * calls at once are more threads than a process usually has, and the set takes two cache
 * lines. Calls beyond them share the last number. */
enum { WF_SERIAL_NUMBERS = 1024, WF_SERIAL_WORDS = WF_SERIAL_NUMBERS / 64 };

/* Invariants:
 *
 *     1 <= thread_places < stand_in_first <= slots,  words = ceil(slots / 64)
 *     x_started <= thread_places
 *     x_stand_ins_active <= x_stand_ins <= slots - stand_in_first
 *     x_background_count <= background_limit, and one bit of x_background for each
 *     sleepers in x_sets[IDLE] <= inactive <= thread_places in sleep
 *     x_injected_done <= pushed in both lanes + x_handed_back
 *     x_queued <= queue_limit
 *
 * wf_pool_check asserts them. */
struct weft_pool {
  /* Constant after creation; what a caller needs to enter comes first, in one line. */
  wf_worker *workers;
  wf_u64 *x_present;       /* which places have a thread in them */
  unsigned thread_places;  /* places 1 .. thread_places */
  unsigned stand_in_first; /* places stand_in_first .. slots - 1 */
  unsigned slots;          /* all places */
  unsigned words;          /* of a bit set over all places */
  unsigned thread_words;   /* those of them that hold places of started threads */
  unsigned max_searchers;  /* awake workers that look for work at once */
  wf_u32 x_started;        /* how many thread places have a thread */
  wf_u32 x_ready;          /* 1 when x_started has its last value */
  bool steals;             /* false in a pool of one thread */
  bool eager;              /* no process-wide barrier on this system */
  bool exceeds_cpus;       /* more threads than CPUs: wake-ups may be held back */
  bool wakes_in_trees;     /* woken workers wake others; see sleep.md */
  bool steals_batches;     /* idle workers take several spawned tasks at once */
  bool has_alone;          /* a thread that forked in the pool is still in these places */
  wf_u64 *x_background;    /* which workers are at background work */
  size_t queue_limit;      /* functions that may wait in the queues; 0: any number */
  wf_options options;
  wf_victims *victims; /* who is near; NULL: nobody is nearer than others */
  unsigned *seats;     /* CPUs that threads are bound to, see bind.h; or NULL */
  unsigned seat_count; /* 0: threads are not bound to single cores or CPUs */

  /* Work from outside, in two lanes. */
  _Alignas(WF_CACHE_LINE) wf_injector injector;
  _Alignas(WF_CACHE_LINE) wf_injector background;
  unsigned background_limit; /* workers that may be at background work at once */
  wf_u32 x_background_count; /* workers that are */
  _Alignas(WF_CACHE_LINE) wf_sleep sleep;
  wf_steering steering; /* where the kernel places woken threads; see steer.h */
  wf_u64 x_serial[WF_SERIAL_WORDS]; /* numbers of contexts without a place, see guest.c */

  /* Broadcasts (broadcast.c), all under the lock: those that some thread has not taken up
   * yet, oldest first; and all whose calls have not all returned. */
  wf_lock broadcast_lock;
  struct wf_broadcast *broadcasts_due, *broadcasts_under_way;
  bool broadcasts_closed; /* threads may have ended: no more broadcasts */

  /* Blocking sections and stand-ins (blocking.c). */
  wf_lock stand_in_lock;
  wf_u32 x_stand_ins;        /* threads started so far, written under the lock */
  wf_u32 x_stand_ins_active; /* of them at work */
  wf_u32 x_blocked;          /* threads in blocking sections */
  wf_u32 x_stand_ins_closed; /* 1 at the end of the pool: no more of them are started */

  /* Until every injected function has returned (inject.c, inject.md): how many have, how
   * many were counted twice, and who waits for that: the end of the pool, or calls of
   * weft_pool_wait_idle. */
  _Alignas(WF_CACHE_LINE) wf_u64 x_injected_done;
  wf_u64 x_handed_back;
  wf_u32 x_draining;     /* WF_DRAIN_END, and how many wait in weft_pool_wait_idle */
  wf_u32 x_idle_moments; /* times that nothing was left while somebody waited so */
  wf_u64 x_idle_count;   /* the largest count of functions at such a moment */
  wf_once_latch drained; /* for the end */
  wf_word x_queued;      /* functions that the limit counts; 0 in pools without a limit */

  /* Last, because it outlives everything above it: the process the pool was made for, see
   * fork.c. */
  _Alignas(WF_CACHE_LINE) wf_u32 x_generation;
  unsigned number;              /* counts from 1 in the process; see report.h */
  struct weft_pool *next_known; /* the next one in the list of report.c */
};

static inline unsigned wf_pool_started(const weft_pool *pool) {
  /* Relaxed: constant from the creation on until all of them are joined. */
  return wf_u32_load_relaxed(&pool->x_started);
}

/* How many threads work at once, the caller included: at least 1. */
static inline unsigned wf_pool_threads(const weft_pool *pool) {
  unsigned started = wf_pool_started(pool);
  if (!pool->steals || started == 0) return 1;
  return pool->options.starts_all ? started : started + 1;
}

/* Is the place that of a thread which the pool has started, stand-ins included? */
static inline bool wf_worker_is_thread(const wf_worker *worker) {
  const weft_pool *pool = worker->pool;
  return !worker->serial &&
         ((worker->index >= 1 && worker->index <= pool->thread_places) ||
          worker->index >= pool->stand_in_first);
}

/* The worker's part of the counters of idle workers. */
static inline unsigned wf_worker_group(const wf_worker *worker) {
  return wf_counters_group(&worker->pool->sleep.counters, worker->index);
}

/* ---- who sleeps: sums of words that are read one after the other ---- */

/* The bits of one word of a set. */
static inline uint64_t wf_sleep_word(const weft_pool *pool, wf_sleeper kind,
                                     unsigned word) {
  /* seq_cst: pairs with wf_bitset_add; sleep.md, "Post against sleep". explorer: acquire
   * suffices, as in choose_word. */
  return wf_u64_load_seq_cst(&pool->sleep.x_sets[kind][word * WF_SET_STRIDE]);
}

/* How many words of the set of a kind are used. Idle sleepers are in places of started
 * threads. */
static inline unsigned wf_sleep_words(const weft_pool *pool, wf_sleeper kind) {
  return kind == WF_SLEEPER_IDLE ? pool->thread_words : pool->words;
}

/* Does a worker of this kind sleep? */
static inline bool wf_sleep_any(const weft_pool *pool, wf_sleeper kind) {
  uint64_t any = wf_sleep_word(pool, kind, 0);
  for (unsigned word = 1; word < wf_sleep_words(pool, kind) && any == 0; word++)
    any = wf_sleep_word(pool, kind, word);
  return any != 0;
}

/* Workers that sleep, of a kind. */
unsigned wf_sleep_count_slow(const weft_pool *pool, wf_sleeper kind);
static inline unsigned wf_sleep_count(const weft_pool *pool, wf_sleeper kind) {
  if (WF_LIKELY(wf_sleep_words(pool, kind) == 1)) {
    uint64_t bits = wf_sleep_word(pool, kind, 0);
    if (WF_LIKELY((bits & (bits - 1)) == 0)) return bits != 0; /* nobody, or one */
  }
  return wf_sleep_count_slow(pool, kind);
}

/* Idle workers that sleep. */
static inline unsigned wf_sleep_sleeping(const weft_pool *pool) {
  return wf_sleep_count(pool, WF_SLEEPER_IDLE);
}

/* Those that look for work, if `sleeping` sleep. The inactive ones are read after those:
 * a sleeper that has found work meanwhile makes the number too small, which wakes one too
 * many. "Trust" in sleep.md. */
static inline unsigned wf_sleep_searching_beside(const weft_pool *pool,
                                                 unsigned sleeping) {
  unsigned inactive = wf_counters_inactive(&pool->sleep.counters);
  return inactive > sleeping ? inactive - sleeping : 0;
}

static inline unsigned wf_sleep_searching(const weft_pool *pool) {
  return wf_sleep_searching_beside(pool, wf_sleep_sleeping(pool));
}

/* ---- invariants ---- */

/* [any] What the counters of the pool say. */
static inline void wf_pool_check_counters(const weft_pool *pool) {
  (void)pool;
  for (unsigned i = 0; i < WF_COUNTERS_GROUPS; i++)
    WF_ASSERT_SLOW(wf_u32_peek(&pool->sleep.counters.of[i].x_inactive) <=
                   pool->thread_places);
}

/* [the last thread of the pool] */
static inline void wf_pool_check_none_idle(const weft_pool *pool) {
  (void)pool;
  for (unsigned i = 0; i < WF_COUNTERS_GROUPS; i++)
    WF_ASSERT(wf_u32_peek(&pool->sleep.counters.of[i].x_inactive) == 0);
}

/* [any] What the comment of weft_pool states, as far as one thread can see it. */
static inline void wf_pool_check(const weft_pool *pool) {
  WF_ASSERT(pool->thread_places >= 1 && pool->thread_places <= WEFT_MAX_THREADS);
  WF_ASSERT(pool->thread_places < pool->stand_in_first);
  WF_ASSERT(pool->stand_in_first <= pool->slots);
  WF_ASSERT(pool->words == wf_bitset_words(pool->slots));
  WF_ASSERT(pool->thread_words == wf_bitset_words(pool->thread_places + 1));
  WF_ASSERT(pool->max_searchers >= 1 && pool->background_limit >= 1);
  WF_ASSERT(wf_u32_peek(&pool->x_started) <= pool->thread_places);
  WF_ASSERT(wf_u32_peek(&pool->x_stand_ins) <= pool->slots - pool->stand_in_first);
  WF_ASSERT(wf_u32_peek(&pool->x_background_count) <= pool->background_limit);
  WF_ASSERT(wf_word_peek(&pool->x_queued) <= pool->queue_limit);
  wf_pool_check_counters(pool);
}

/* What the comment of wf_worker states. On the thread in the place. */
static inline void wf_worker_check(const wf_worker *worker) {
  WF_ASSERT(wf_self == &worker->deque.owner);
  WF_ASSERT(worker->serial == (worker->index >= worker->pool->slots));
  WF_ASSERT(worker->frames > 0 && worker->entry != NULL);
  WF_ASSERT(worker->help_depth <= WF_HELP_THIEF_DEPTH);
  WF_ASSERT(worker->help_depth <= worker->frames);
  WF_ASSERT(worker->spawn_depth <= WF_SPAWN_DEPTH);
  WF_ASSERT((int64_t)(wf_deque_bottom(&worker->spawned) - worker->mark) >= 0);
  WF_ASSERT((int64_t)(wf_deque_bottom(&worker->spawned) - worker->kept_end) >= 0);
  WF_ASSERT(worker->credits == 0 ||
            worker->credits <= wf_word_peek(&worker->credit_scope->x_pending));
  WF_ASSERT(worker->blocking_depth == 0 || worker->serial || worker->alone ||
            wf_u32_peek(&worker->pool->x_blocked) > 0);
}

/* Nobody is in the place, and nothing was left in it. On the thread that takes the place,
 * or has just left it. */
static inline void wf_worker_check_vacant(const wf_worker *worker) {
  WF_ASSERT(worker->index < worker->pool->slots && !worker->serial);
  WF_ASSERT(worker->frames == 0 && worker->entry == NULL && worker->running == NULL);
  WF_ASSERT(worker->help_depth == 0 && worker->spawn_depth == 0);
  WF_ASSERT(worker->credits == 0 && worker->waits_for == NULL);
  WF_ASSERT(worker->blocking_depth == 0 && worker->broadcast_waits == 0);
  WF_ASSERT(worker->outside_forks == NULL && !worker->background);
}

/* ---- pool.c ---- */

/* Makes the pool without its threads (tests play the workers themselves). It takes over
 * what the options own, also if it fails. */
int wf_pool_allocate(weft_pool **out, const wf_options *options);
void wf_pool_free(weft_pool *pool);

/* Makes, and frees, everything inside the pool's own structure, which keeps its address.
 */
bool wf_pool_furnish(weft_pool *pool);
void wf_pool_clear(weft_pool *pool);

/* weft_pool_create, with the same options. */
int wf_pool_create(weft_pool **out, const wf_options *options);

/* weft_pool_destroy; `call` is named in messages. */
void wf_pool_destroy(weft_pool *pool, const char *call);

/* Starts the threads; 0 if all have started. The pool works with those it has. */
int wf_pool_start(weft_pool *pool);
/* Waits until all threads have started. */
void wf_pool_await_start(weft_pool *pool);

/* ---- inject.c ---- */

/* Hands fn(ctx) to the started threads. `receipt` may be NULL. For functions of the
 * library, which the limit does not count: is_counted in inject.c knows them. */
int wf_pool_inject(weft_pool *pool, weft_lane lane, weft_fn *fn, void *ctx,
                   wf_receipt *receipt);
/* The same for what a program detaches, or makes a handle for: WEFT_EAGAIN at the limit.
 */
int wf_pool_submit(weft_pool *pool, weft_lane lane, weft_fn *fn, void *ctx,
                   wf_receipt *receipt);
/* Takes back what was submitted, if no thread has taken it up. The caller runs it, and
 * calls wf_pool_injected_done then. */
bool wf_pool_revoke(weft_pool *pool, weft_lane lane, const wf_receipt *receipt);
/* A thread has taken fn from a queue of a pool with a limit, and is about to call it. */
void wf_pool_begins(weft_pool *pool, weft_fn *fn);
/* An injected function has returned. */
void wf_pool_injected_done(weft_pool *pool);
/* A function that was taken from the queue does nothing, because another thread runs it:
 * that thread, too, calls wf_pool_injected_done. */
void wf_pool_handed_back(weft_pool *pool);
/* The end of the pool: waits until every function that was injected has returned. */
enum { WF_DRAIN_END = 1U << 30 };
void wf_pool_drain(weft_pool *pool);

/* What the queues hold of the library's own: guest.c, scope.c, handle.c. */
void wf_guest_run_handed_in(void *ctx);
void wf_scope_run_queued(void *ctx);
void wf_handle_run_then(void *ctx);

/* ---- guest.c ---- */

/* The worker that this thread already is in the pool, or NULL. */
wf_worker *wf_guest_find(const weft_pool *pool);

/* Calls fn(ctx) with this thread being the worker. */
void wf_guest_run_as(wf_worker *worker, weft_fn *fn, void *ctx);

/* Brings the calling thread into a pool until wf_guest_leave with the same entry; returns
 * the worker it is there. If all places are taken it gets a context of its own, without a
 * place; NULL if there is no memory for that. `call` is named in messages. */
wf_worker *wf_guest_enter(wf_entry *entry, weft_pool *pool);
void wf_guest_leave(wf_entry *entry, const char *call);

/* The place for forked tasks of a thread that is in no pool, whose worker it does not
 * become; NULL if there is none. The thread keeps it while the worker's outside_forks are
 * not NULL. */
wf_worker *wf_guest_fork_place(void);
/* Calls fn(ctx), which joins the newest of these tasks, as the worker of that place.
 * False if the thread has no place. */
bool wf_guest_join_place(weft_fn *fn, void *ctx, const char *call);
/* The pool that the calling thread has such tasks in, or NULL. */
weft_pool *wf_guest_forked_in(void);

/* The region of the code that the calling thread runs, or NULL. */
const wf_region *wf_guest_region(void);
/* Sets it for a thread that is in no pool; returns the one before. */
const wf_region *wf_guest_set_region_outside(const wf_region *region);

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

#endif
