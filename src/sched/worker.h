/* sched/worker.h - a worker: a place in a pool with its deques, and the thread in it.
 *
 * A pool has a fixed number of places (see pool.h). A thread of the pool keeps its place
 * for life; a guest takes one for the time of a call; a stand-in is in its place for as
 * long as it works. The bit of a place in the pool's set `x_present` says that somebody
 * is in it, and setting and clearing that bit hands the fields of the place on.
 *
 * The functions here run on the thread that is in the place, unless they say otherwise.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_SCHED_WORKER_H
#define WF_SCHED_WORKER_H

#include "../core/arena.h"
#include "../core/rng.h"
#include "sched.h"
#include "sleep.h"
#include "steer.h"

struct wf_work;
struct wf_running;
struct wf_track;

/* Values of wf_worker.x_state, for people who look at a program that runs. */
enum { WF_STATE_WORKING, WF_STATE_SEARCHING, WF_STATE_BLOCKED };

/* Values of wf_worker.x_turn: there is no ring yet; no thief is at the deque; one takes a
 * batch. Only a hint, who should go on to another victim. */
enum { WF_TURN_NONE, WF_TURN_FREE, WF_TURN_TAKEN };

/* How deep tasks may lie on top of each other on one stack. Choices, against helping that
 * nests without bound (rayon#1064 reports 128 levels): from 16 tasks of others on, a
 * waiting thread takes tasks only from the thief of its own task; from 64 on it takes
 * none. The half of the stack that must be free (wf_stack_is_half_free) is what protects
 * memory; these two keep a chain of strangers from making the waiting thread late. Tasks
 * that weft_spawn runs in place (spawn.c) lie at most 8 deep. */
enum { WF_HELP_ANYBODY_DEPTH = 16, WF_HELP_THIEF_DEPTH = 64, WF_SPAWN_DEPTH = 8 };

/* Invariants, for the thread in the place:
 *
 *     wf_self = &deque.owner, unless the thread has entered another pool on top
 *     serial  <=>  index >= pool->slots
 *     frames = entries + tasks + bodies of scopes and isolations on the thread's stack
 *     mark <= bottom of `spawned`, kept_end <= bottom of `spawned`
 *     help_depth <= WF_HELP_THIEF_DEPTH, help_depth <= frames
 *     spawn_depth <= WF_SPAWN_DEPTH
 *     credits > 0  =>  credits <= credit_scope->x_pending
 *     blocking_depth > 0  =>  the pool counts this worker in x_blocked
 *
 * wf_worker_check (pool.h) asserts them. A place that nobody is in has empty deques and
 * frames = help_depth = spawn_depth = blocking_depth = credits = 0, which
 * wf_worker_check_vacant asserts. */
typedef struct wf_worker {
  /* The deque comes first: wf_self points at its owner part. */
  wf_deque deque;   /* forked halves of joins: two cache lines, as the next one */
  wf_deque spawned; /* tasks of scopes; has no ring before the first one */

  /* For thieves that take batches from `spawned`: see "Batches" in scope.md. A line of
   * its own, which is all that other thieves read meanwhile. */
  _Alignas(WF_CACHE_LINE) wf_u32 x_turn;
  wf_u32 x_isolates; /* 1: tasks of isolated code may be in `spawned`. Stays so. */

  /* Constant while the pool exists. */
  _Alignas(WF_CACHE_LINE) weft_pool *pool;
  unsigned index;
  bool serial; /* a context without a place: joins run inline, spawns are queued */

  /* From here to `track`: the thread in the place alone. What a spawn needs is in the
   * first cache line. */

  /* Where the code that runs now stands; see frame.h. */
  bool alone;      /* in a forked process: the threads it worked with do not exist */
  bool background; /* the bottom of its stack is background work; see background.h */
  bool asks;       /* has searched long enough to ask others for work; see idle.h */
  bool is_blind;   /* its last look before a sleep had no barrier; see sleep.md */
  bool stays;      /* it waits for a moment, and takes nothing of others; see parcel.md */
  unsigned frames; /* entries, tasks and open scopes on its stack */
  uint64_t mark;   /* tasks of `spawned` from this index on were made by the newest */
  wf_entry *entry; /* by which the thread has entered the place last */
  const struct wf_running *running; /* handles whose functions are on the stack */
  wf_task *begun; /* the forked task that it has begun last; see wf_fast_begun */

  /* Counting for scopes; see scope.h. */
  struct weft_scope *credit_scope;
  uintptr_t credits;

  /* What it waits for, and how deep it is in what. */
  struct weft_scope *waits_for;          /* the scope whose end it waits for, or NULL */
  unsigned help_depth;                   /* tasks of others on its stack */
  unsigned spawn_depth;                  /* tasks that weft_spawn has run on its stack */
  unsigned blocking_depth;               /* blocking sections it is in */
  unsigned broadcast_waits;              /* broadcasts of its own that it waits for */
  struct wf_outside_fork *outside_forks; /* typed tasks that its thread has open while it
                                          * is outside, the newest first */

  /* The search for work, and when to make more. */
  unsigned spawn_looks;  /* spawns until the next look whether there are enough tasks */
  unsigned search_count; /* decides when injected work comes first */
  unsigned futile_wakes; /* in a row, that found no work */
  /* Its claimer's while it sleeps: */
  bool watches;    /* it was woken to be the watcher */
  wf_wakes wakes;  /* whom it wakes for its waker; see "Wake trees" in sleep.md */
  int last_victim; /* the worker that had work last, or has woken it, or -1 */
  /* Its own again: */
  bool was_woken;     /* since it found something to do, or what it waited for */
  uint16_t seat;      /* where it was last seen; see victims.h. 0: not known */
  bool was_called;    /* woken for tasks, as a helper, and has not looked for them yet */
  bool insists;       /* on sleeping: the JEC has kept it from that the last time */
  bool looks_at_all;  /* its next search does: somebody has work */
  bool takes_batches; /* in this search: its stack is empty, and the pool is large */
  uint64_t kept_end;  /* tasks of `spawned` below this index are stolen ones */
  wf_rng rng;
  bool measures;         /* how long it works after a wake-up: */
  uint64_t woken_at_ns;  /* when it found work, by a clock of its own; see idle.c */
  uint64_t shared_ticks; /* when it last gave tasks away or ended a wait; 0: not yet */

  struct wf_track *track; /* where it records, or NULL; see record.h */
  /* Its claimer's while it sleeps, if something is recorded: who wakes it, and when. */
  uint64_t waker_tid, wake_ns;

  /* Threads that the pool starts: written by the thread that starts and ends them. */
  wf_thread thread;
  wf_latch terminate; /* set once, when the pool ends; the thread waits on it */

  wf_arena arena; /* where tasks that it spawns live; other threads return cells */

  /* Statistics: written by the thread in the place, read by anybody. The words of time
   * are wf_timer's; see stats.h. */
  _Alignas(WF_CACHE_LINE) wf_u64 x_tasks; /* of others that it has run, not injected */
  wf_u64 x_steals;
  wf_u64 x_exposes;
  wf_u64 x_takeovers;
  wf_u64 x_sleeps;
  wf_u64 x_failed_steals;
  wf_u64 x_injected; /* that it has run */
  wf_u64 x_wakes;    /* how often it was woken */
  wf_u64 x_futile;
  wf_u64 x_misplaced;
  wf_u64 x_steered;
  wf_u64 x_deepest;
  wf_u64 x_searching_ns;
  wf_u64 x_asleep;   /* a timer */
  wf_u32 x_state;    /* what it does, apart from sleeping */
  wf_u64 x_presence; /* a timer: a started thread's life, a caller's time in the pool */

  /* Written by any thread. */
  _Alignas(WF_CACHE_LINE) wf_u32 x_park; /* 1: it sleeps and nobody has claimed it */
  wf_u32 x_broadcasts;                   /* that it has not taken up yet */
  wf_steered
      steered; /* where it is woken: the thread's, and its claimer's; see steer.h */
} wf_worker;

static inline wf_worker *wf_worker_of(wf_owner *owner) {
  return (wf_worker *)(void *)owner; /* the owner part is the first member of the first */
}

/* The worker that the calling thread is, or NULL. */
static inline wf_worker *wf_worker_now(void) {
  return wf_self != NULL ? wf_worker_of(wf_self) : NULL;
}

/* ---- life of a worker (worker.c, pool.c) ---- */

/* Before the place is used for the first time, while one thread knows it. */
void wf_worker_init(wf_worker *worker, weft_pool *pool, unsigned index);

/* [any] Starts a thread that runs main(worker); 0 or a negative status. */
int wf_worker_start_thread(wf_worker *worker, void (*main)(void *worker));

/* What a started thread runs. */
void wf_worker_main(void *worker);

/* The parts of that which other kinds of threads need too (blocking.c): `loop` is run as
 * the worker, then the thread ends. */
void wf_worker_run_thread(wf_worker *worker, weft_fn *loop);
void wf_worker_call_start_hook(const wf_worker *worker);
void wf_worker_call_exit_hook(wf_worker *worker);

/* Runs what was found, at the bottom of the stack, and what that has spawned. */
void wf_worker_run_at_bottom(wf_worker *worker, const struct wf_work *work);

/* ---- running tasks (worker.c) ---- */

/* Waits until the latch is set, and helps meanwhile. `call` is named if that can never
 * happen; `scope` is the scope whose latch it is, or NULL. */
void wf_worker_wait(wf_worker *worker, wf_latch *latch, struct weft_scope *scope,
                    const char *call);
/* The same until a time; false if the latch was not seen to be set before. A task that it
 * has begun to help with is run to its end. */
bool wf_worker_wait_until(wf_worker *worker, wf_latch *latch, struct weft_scope *scope,
                          uint64_t deadline_ns, const char *call);

/* The slow half of taking back a task, without a wait: false if another thread has it.
 * (join.c) */
bool wf_take_back_unless_taken(wf_owner *self, wf_task *task, const char *call);

/* Runs one task, of any scope or join, if there is one. */
bool wf_worker_run_any(wf_worker *worker);

/* Is there room on the stack for one more task that is not the newest of the worker's
 * own? The number of such tasks on one stack is limited, wherever they come from. */
bool wf_worker_has_room(const wf_worker *worker);

/* The same for a task of others, which is not taken inside isolated code. */
bool wf_worker_may_help(wf_worker *worker);

/* Takes the newest task that this worker has spawned, if it is at `mark` or above. */
wf_task *wf_worker_take_spawned_slow(wf_worker *worker);
static inline wf_task *wf_worker_take_spawned(wf_worker *worker, uint64_t mark) {
  if ((int64_t)(wf_deque_bottom(&worker->spawned) - mark) <= 0) return NULL;
  wf_task *task = wf_deque_take_private(&worker->spawned);
  return WF_LIKELY(task != NULL) ? task : wf_worker_take_spawned_slow(worker);
}

/* Gives the worker a ring for spawned tasks. False if there is no memory. */
static inline bool wf_worker_prepare_spawned(wf_worker *worker) {
  if (worker->spawned.slots != NULL) return true;
  if (wf_deque_prepare(&worker->spawned) != 0) return false;
  /* Relaxed: a hint. No thief writes it before it has read this. */
  wf_u32_store_relaxed(&worker->x_turn, WF_TURN_FREE);
  return true;
}

/* Runs what the newest frame has spawned and nobody has taken. */
void wf_worker_run_leftovers(wf_worker *worker);

/* Wakes others for what a slow half of the deque has made public. */
void wf_worker_tell_slow(wf_worker *worker, wf_deque_news news);
void wf_worker_tell_some(wf_worker *worker, wf_deque_news news, unsigned most);
static inline void wf_worker_tell(wf_worker *worker, wf_deque_news news) {
  if (WF_UNLIKELY(news.exposed > 0)) wf_worker_tell_slow(worker, news);
}

#endif
