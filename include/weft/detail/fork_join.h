/* weft/detail/fork_join.h - the inlined fast path of weft_join. Not API.
 *
 * A fork stores a pointer to a task, which lives in the forking function's frame, into
 * the calling worker's own deque and moves one pointer; the join moves it back. While no
 * other thread wants work, neither executes a fence or an atomic read-modify-write: two
 * words, `limit` and `gate`, tell the owner when to take the slow half. The protocol and
 * its proof are in src/core/deque.md, the instructions in docs/design/fast-path.md.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_DETAIL_FORK_JOIN_H
#define WEFT_DETAIL_FORK_JOIN_H

#include <weft/base.h>
#include <weft/detail/atomic.h>

#define WF_LIKELY(condition)   __builtin_expect(!!(condition), 1)
#define WF_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

#ifdef __cplusplus
extern "C" {
#endif

/* What a waiter waits for; the states are in src/core/latch.h. Low bits 0: "not set". */
typedef struct wf_latch {
  wf_word x_state;
} wf_latch;

struct weft_scope;

/* Where code runs, besides on which thread: what a fork hands on to whoever runs the
 * forked half. It lives in a frame around the fork, so it outlives the task. */
typedef struct wf_region {
  struct weft_scope *scope;          /* the innermost scope around, or NULL */
  const struct wf_region *isolation; /* what it may not leave when it helps, or NULL */
  bool background;                   /* background work: not for waiting threads */
  bool yields;                       /* isolated, but weft_yield lets others through */
  /* Of an isolation itself: the two that wait for it, each may be NULL: the one below it
   * on its thread, and the one that waits for its handle. */
  const wf_ptr *waited_by;
} wf_region;

/* One forked call: three words. It stays readable for thieves until its latch is set, and
 * nothing of it is touched after that. The latch starts as the address of the region,
 * whose low bits are 0, "not set"; a thief puts its own number there, see latch.h. */
typedef struct wf_task {
  weft_fn *execute;
  void *context;
  wf_latch completion;
} wf_task;

/* The words of a worker's deque that fork and join touch. They point into the ring of
 * task pointers. Invariant: every slot in [gate, bottom) is the owner's alone, unless
 * somebody asked for work; then limit is 0 and gate is UINTPTR_MAX, and both comparisons
 * below lead into the slow half. bottom may stand one below the first slot for a moment;
 * the ring has a word there. */
typedef struct wf_owner {
  wf_ptr x_bottom; /* where the next task goes; written by the owner, read by thieves */
  wf_ptr x_limit;  /* a fork that moves bottom up to here takes the slow half */
  wf_ptr x_gate;   /* a join that moves bottom below this takes the slow half */
  const wf_region *region; /* of the code that runs now, or NULL; the owner's alone */
} wf_owner;

/* The deque of the worker that the calling thread is at the moment; NULL for a thread
 * that is in no pool. "initial-exec" keeps the access at one or two instructions in every
 * kind of program; it takes its 8 bytes (weft has 48 in all) from the static TLS space
 * that libc reserves for libraries that are loaded late. WEFT_NO_ASM leaves out the few
 * lines of assembly below. */
extern WEFT_API __thread wf_owner *wf_self __attribute__((tls_model("initial-exec")));

/* The slow halves. */
WEFT_API void wf_fork_slow(wf_owner *self);
WEFT_API void wf_join_slow(wf_owner *self, wf_task *task);
WEFT_API void wf_join_outside(weft_fn *a, void *a_ctx, weft_fn *b, void *b_ctx);

/* Two things that a compiler would rather keep in a register across the call of `a`: the
 * worker, and the address of the task. Each register so kept is saved and restored by
 * every function that forks, also on its way to a leaf, which costs more than to compute
 * them again (measured on fib: 1 ns a join). So both are hidden from the compiler. */
#if defined(__x86_64__) && defined(__ELF__) && !defined(__ILP32__) &&                    \
    !defined(__ANDROID__) && !defined(__OpenBSD__) && !defined(WEFT_NO_ASM)
static inline __attribute__((always_inline)) wf_owner *wf_self_now(void) {
  wf_owner *self;
  __asm__ __volatile__(
      "mov{q} {wf_self@gottpoff(%%rip), %0|%0, wf_self@gottpoff[rip]}\n\t"
      "mov{q} {%%fs:(%0), %0|%0, fs:[%0]}"
      : "=r"(self)
      :
      : "memory");
  return self;
}
#define WF_ADDRESS_NOW(pointer, variable)                                                \
  __asm__ __volatile__("lea{q} {%1, %0|%0, %1}" : "=r"(pointer) : "m"(variable))
#else
static inline __attribute__((always_inline)) wf_owner *wf_self_now(void) {
  return *(wf_owner *volatile *)&wf_self;
}
#define WF_ADDRESS_NOW(pointer, variable) ((pointer) = &(variable))
#endif

/* Puts a task, of which all fields are set, on top of the worker's own deque, whose
 * bottom is at `slot`. The slot is relaxed: a thief reads it only after it has acquired
 * an index that the release below, or a later one by the slow half, has published. */
static inline __attribute__((always_inline)) void
wf_fork_push_at(wf_owner *self, wf_ptr *slot, wf_task *task) {
  wf_ptr_store_relaxed(slot, task);
  /* Release: pairs with the acquire of bottom in wf_deque_claim. */
  wf_ptr_store_release(&self->x_bottom, slot + 1);
  /* Pairs with the process-wide barrier of a worker that goes to sleep: either that
   * worker sees this task, or this thread sees the limit that the worker has written. */
  wf_light_barrier();
  if (WF_UNLIKELY((uintptr_t)(slot + 1) >=
                  (uintptr_t)wf_ptr_load_relaxed(&self->x_limit)))
    wf_fork_slow(self);
}

static inline __attribute__((always_inline)) void wf_fork_push(wf_owner *self,
                                                               wf_task *task) {
  wf_fork_push_at(self, (wf_ptr *)wf_ptr_load_relaxed(&self->x_bottom), task);
}

/* Takes the newest entry off, which is in `slot`. True: it was private, and is the
 * caller's. False: perhaps it was not; the slow half of the join finds out. Everything
 * that was forked after a task has been joined before it, so the newest entry is that
 * task, unless it was taken; and then the gate is above it. */
static inline __attribute__((always_inline)) bool wf_join_pop_at(wf_owner *self,
                                                                 wf_ptr *slot) {
  /* Release: pairs with the acquire of bottom in wf_deque_claim. */
  wf_ptr_store_release(&self->x_bottom, slot);
  /* Pairs with the process-wide barrier in a take-over: either the thief sees bottom
   * without this task, or this thread sees the gate that the thief has closed. */
  wf_light_barrier();
  return WF_LIKELY((uintptr_t)slot >= (uintptr_t)wf_ptr_load_relaxed(&self->x_gate));
}

static inline __attribute__((always_inline)) bool wf_join_pop(wf_owner *self) {
  return wf_join_pop_at(self, (wf_ptr *)wf_ptr_load_relaxed(&self->x_bottom) - 1);
}

static inline __attribute__((always_inline)) void
wf_join_inline(weft_fn *a, void *a_ctx, weft_fn *b, void *b_ctx) {
  wf_owner *self = wf_self_now();
  if (WF_UNLIKELY(self == NULL)) {
    wf_join_outside(a, a_ctx, b, b_ctx);
    return;
  }

  wf_task task;
  task.execute = b;
  task.context = b_ctx;
  wf_word_init(&task.completion.x_state, (uintptr_t)self->region);

  wf_fork_push(self, &task);

  a(a_ctx);

  self = wf_self_now();
  if (WF_LIKELY(wf_join_pop(self))) {
    b(task.context);
    return;
  }
  wf_task *where;
  WF_ADDRESS_NOW(where, task);
  wf_join_slow(self, where);
}

#ifdef __cplusplus
}
#endif

#endif
