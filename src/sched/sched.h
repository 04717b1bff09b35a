/* sched/sched.h - what the algorithms of src/par may use of the scheduler.
 *
 * The only header of src/sched that a file of src/par includes; tools/check-layers checks
 * that. It has no pool and no worker in it, so that an algorithm cannot look into their
 * fields: it asks the functions below, which all speak of the calling thread and of the
 * pool that this thread is in. Entering a pool is weft_pool_run, as for everybody.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_SCHED_SCHED_H
#define WF_SCHED_SCHED_H

#include "../core/assert.h"
#include "../core/atomic.h"
#include "../core/deque.h"
#include "../core/latch.h"
#include "../core/lock.h"
#include "../sys/sys.h"
#include "../trace/trace.h"

#include <weft/detail/scope.h>
#include <weft/opts.h>
#include <weft/pool.h>

/* ---- errors (fatal.c) ---- */

/* Reports misuse that cannot be returned as an error, and aborts. `call` names the
 * function that the program has called. */
_Noreturn void wf_fatal(const char *call, const char *problem);

/* ---- options of a call (options.c) ---- */

/* Copies the options of a call and fills in defaults; `given` may be NULL. Returns 0 or
 * WEFT_EINVAL. */
int wf_opts_read(weft_opts *out, const weft_opts *given);

/* ---- forks that may be taken back (join.c) ---- */

/* A thread offers work while it does something else, and goes on with that work itself if
 * nobody has taken it. Offers are taken back in reverse order, as joins are. */

/* Forks fn(ctx). The task lives in the caller's frame. `self` is wf_self, not NULL. */
static inline void wf_offer(wf_owner *self, wf_task *task, weft_fn *fn, void *ctx) {
  task->execute = fn;
  task->context = ctx;
  wf_latch_init_forked(&task->completion, self->region);
  wf_fork_push(self, task);
}

/* The slow half of wf_take_back: the task is perhaps not private any more. `call` is
 * named in messages. */
bool wf_take_back_slow(wf_owner *self, wf_task *task, const char *call);

/* True: nobody has taken the task, and it is the caller's again. False: another thread
 * has run it to its end; the caller has waited for that, and has helped meanwhile. */
static inline bool wf_take_back(wf_owner *self, wf_task *task) {
  if (wf_join_pop(self)) return true;
  return wf_take_back_slow(self, task, "weft_join");
}

/* ---- parcels: offers whose taker goes on by itself (parcel.c) ---- */

/* Work that many threads share, and that one of them, the waiter, waits for. It lives in
 * the waiter's frame. `x_left` is how much of it has not ended yet, in units of the
 * caller, and is only taken off; whoever takes off the last part sets the latch, unless
 * it is the waiter. parcel.md has the argument. */
typedef struct wf_shared_work {
  wf_word x_left;
  wf_latch ended;
  wf_owner *waiter;
} wf_shared_work;

/* An offer that is copied by the thread that takes it. So the thread that made the offer
 * waits for the copy, not for the end of the work, and only the waiter waits for that. */
typedef struct wf_parcel {
  wf_task task; /* in the deque; execute is a mark, its context is not used */
  weft_fn *fn;  /* fn(copy of the parcel) */
  wf_shared_work *work;
  /* How much of `work` the taker is responsible for when fn returns. fn lowers it by what
   * others have taken from it. */
  uintptr_t amount;
  uintptr_t content[3]; /* fn's */
} wf_parcel;

/* [the waiter] There is `amount` to do. The calling thread is in a pool. */
static inline void wf_shared_begin(wf_shared_work *work, uintptr_t amount) {
  WF_ASSERT(wf_self != NULL && amount > 0);
  wf_word_init(&work->x_left, amount);
  wf_latch_init(&work->ended);
  work->waiter = wf_self;
}

void wf_shared_end_slow(wf_shared_work *work, uintptr_t amount, const char *call);

/* [the waiter] It is responsible for `amount`, which has ended. Returns when all has
 * ended, and helps meanwhile. Costs next to nothing if nobody has taken a part. `call` is
 * named in messages. */
static inline void wf_shared_end(wf_shared_work *work, uintptr_t amount,
                                 const char *call) {
  WF_ASSERT(wf_self == work->waiter);
  /* Acquire: pairs with the subtraction in take_off (parcel.c). If the rest is the
   * caller's, nobody has taken a part, or all who have are done with the work. */
  if (wf_word_load_acquire(&work->x_left) != amount)
    wf_shared_end_slow(work, amount, call);
}

/* What the task of a parcel has as its function: a mark, never called. */
void wf_parcel_mark(void *ctx);

/* Offers a parcel, of which all but the task is set. It lives in the caller's frame.
 * `self` is wf_self, not NULL. `region` is that of the waiter's code: the caller's own
 * may be in a frame that is gone before the part ends. */
static inline void wf_parcel_offer(wf_owner *self, wf_parcel *parcel,
                                   const wf_region *region) {
  parcel->task.execute = wf_parcel_mark;
  wf_latch_init_forked(&parcel->task.completion, region);
  wf_fork_push(self, &parcel->task);
}

/* Makes all that the calling thread has on offer public, and wakes nobody: for callers
 * that know of threads that search, and wake others by themselves. */
void wf_offers_show(wf_owner *self);

bool wf_parcel_take_back_slow(wf_owner *self, wf_parcel *parcel);

/* True: nobody has taken the parcel, and it is the caller's again. False: another thread
 * has a copy. */
static inline bool wf_parcel_take_back(wf_owner *self, wf_parcel *parcel) {
  if (wf_join_pop(self)) return true;
  return wf_parcel_take_back_slow(self, parcel);
}

/* ---- requests ---- */

/* Does another thread want work of this one? True too before its first offer, so that the
 * first offer is made at once. */
static inline bool wf_is_asked(const wf_owner *self) {
  /* The owner part is the first member of the deque. */
  const wf_deque *deque = (const wf_deque *)(const void *)self;
  /* Pins that are always closed say nothing, except while they are new to the owner. */
  if (wf_deque_is_eager(deque))
    return wf_deque_count(deque) == 0 || wf_deque_is_pinned(deque);
  return wf_deque_is_asked(deque);
}

/* ---- tasks of a scope that live in memory of the caller (spawn.c) ---- */

/* weft_spawn for callers that have a place for the task, and something to do when its
 * deque is full. `execute` is called with the task itself and calls wf_placed_run; the
 * context is the caller's to use. The task must stay where it is until then, and may be
 * pushed again as soon as `execute` has been called. */

/* Puts a task, of which `execute` is set, into the calling worker's deque. The caller is
 * in the scope: its body, or a task of it. False: there is no deque for it, or the deque
 * holds more than others will soon take; the task is still the caller's. Allocates
 * nothing, except that the deque may grow up to its usual size. */
bool wf_placed_push(struct weft_scope *s, wf_task *task);

/* Takes back the newest task that the code around has pushed, or NULL. Tasks of others
 * that lie above it are run. Only tasks of this scope with this `execute` are returned.
 */
wf_task *wf_placed_take(struct weft_scope *s, weft_fn *execute);

/* Calls fn(ctx) as the task's function, inside its scope, unless that is cancelled. */
void wf_placed_run(wf_task *task, weft_fn *fn, void *ctx);

/* May the task that runs go on with further tasks of its scope? If not, the thread helps
 * while it waits for something else, and should come back to that soon. */
bool wf_placed_may_stay(const struct weft_scope *s);

/* ---- functions called one after the other, each in a scope (scope.c) ---- */

/* Opens a scope whose errors are those of the scope around it: to cancel one is to cancel
 * the other. It ends as others do. */
void wf_scope_begin_part(struct weft_scope *s);

/* Calls fn(ctx) in a scope that was opened by wf_scope_begin_part, and returns when all
 * that fn has spawned there has ended. Costs a few nanoseconds if that is nothing. To be
 * called by the thread that began the scope, where it did. */
void wf_scope_call(struct weft_scope *s, weft_fn *fn, void *ctx);

/* ---- the calling thread and its pool (stats.c) ---- */

/* The pool that the calling thread is in, or NULL. Starts none. */
weft_pool *wf_sched_pool(void);

/* Is the calling thread in this pool, or, if it is NULL, in any? */
static inline bool wf_sched_is_inside(const weft_pool *pool) {
  return wf_self != NULL && (pool == NULL || pool == wf_sched_pool());
}

/* How many threads, the calling one included, may work on what it does: 1 outside of a
 * pool, in a pool that does not steal, and in a context without a place. */
unsigned wf_sched_threads(void);

/* The threads that can take part in what the calling thread, which is in a pool, does:
 * each has a number, the same for as long as the pool lives. If the calling thread came
 * from outside it is number 0 and started threads follow; else they begin with 0. */
typedef struct wf_homes {
  unsigned count; /* at least 1 */
  unsigned first; /* index of the worker whose number is 0 */
} wf_homes;
wf_homes wf_sched_homes(void);
/* The number of the calling thread, below homes.count; 0 for threads from outside and
 * stand-ins. */
unsigned wf_sched_home(wf_homes homes);

/* How busy the pool of the calling thread is. Sums of words that are read one after the
 * other, and change meanwhile. */
typedef struct wf_load {
  unsigned cpus;      /* that the pool's threads can use */
  unsigned sleeping;  /* idle threads that sleep */
  unsigned searching; /* idle threads that look for work */
} wf_load;

/* To be called inside a pool. */
wf_load wf_sched_load(void);

/* What every loop asks first, for less: how many threads of the pool are idle, asleep or
 * not, and whether any of them sleeps. */
typedef struct wf_idlers {
  unsigned count;
  bool any_asleep;
} wf_idlers;

/* To be called inside a pool. */
wf_idlers wf_sched_idlers(void);

/* Wakes up to n sleeping threads of the pool in one go, for work that the caller gives
 * away when it is asked. Returns how many. To be called inside a pool. */
unsigned wf_sched_wake(unsigned n);

/* Does the calling thread, which is inside a pool, run isolated code? Then it helps with
 * nothing but parts of that code. */
static inline bool wf_sched_is_isolated(void) {
  return wf_self->region != NULL && wf_self->region->isolation != NULL;
}

/* Is at least half of the calling thread's stack free? Yes if the system does not tell.
 * (worker.c) */
bool wf_stack_is_half_free(void);

/* Is this the address of a variable on the calling thread's stack whose function has
 * returned? `frame` is the frame of a function that the program has called. No if the
 * system does not tell, or for code on a stack of its own making. (worker.c) */
bool wf_stack_was_left(const void *address, const void *frame);

/* Do the bytes of both have some in common? Live variables do not. */
static inline bool wf_bytes_overlap(const void *a, size_t a_size, const void *b,
                                    size_t b_size) {
  uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
  return x < y ? y - x < a_size : x - y < b_size;
}

/* ---- traces (record.c) ---- */

/* Says that a parallel call, or a block of one, begins and ends on the calling thread,
 * which is in a pool. To be called only if wf_trace_is_on: callers ask once for a call.
 * `name` is constant; n: elements of the call, 0 if that is not known. */
void wf_sched_call_begins(const char *name, uint64_t n);
void wf_sched_block_begins(const char *name, uint64_t first, uint64_t last);
void wf_sched_call_ends(bool is_block);

/* The same for a node of a graph, or a stage of a pipeline with an item. Its name is as
 * wf_trace_keep returns it, or NULL. */
void wf_sched_part_begins(wf_task_kind kind, const char *name, uintptr_t fn);
void wf_sched_part_ends(void);

/* ---- cancellation ---- */

/* How many open scopes of the process are cancelled, or about to be (scope.c). In a cache
 * line of its own: every task reads it, and it changes rarely. */
extern struct wf_cancelled_scopes {
  _Alignas(WF_CACHE_LINE) wf_u32 x_count;
} wf_cancelled_scopes;

/* May any scope be cancelled? If not, nobody has to look at all that are around. */
static inline bool wf_scope_may_be_cancelled(void) {
  /* Relaxed, pairs with the additions in count_cancelled: who knows that a scope was
   * cancelled has seen it counted; scope.md. */
  return WF_UNLIKELY(wf_u32_load_relaxed(&wf_cancelled_scopes.x_count) != 0);
}

/* Is the scope, or one around it, cancelled? */
static inline bool wf_scope_is_cancelled(const struct weft_scope *scope) {
  if (!wf_scope_may_be_cancelled()) return false;
  for (; scope != NULL; scope = scope->parent)
    /* Acquire: pairs with the CAS in weft_scope_cancel: what the canceller did before is
     * visible to the threads that stop for it. */
    if (wf_u32_load_acquire(&scope->x_error) != 0) return true;
  return false;
}

#endif
