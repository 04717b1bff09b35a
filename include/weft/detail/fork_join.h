/* weft/detail/fork_join.h - the inlined fast path of weft_join. Not API.
 *
 * A fork stores a pointer to a task, which lives in the forking function's frame, into
 * the calling worker's own deque and moves one pointer; the join moves it back. While no
 * other thread wants work, neither executes a fence or an atomic read-modify-write: two
 * words, `limit` and `gate`, tell the owner when to take the slow half. The protocol and
 * its proof are in src/core/deque.md, the instructions in docs/design/fast-path.md.
 *
 * wf_owner_push and wf_owner_pop are the only push and pop of a deque. Three callers use
 * them: weft_join here, typed tasks (detail/typed_task.h, and weft::join with it), and
 * the deque itself for spawned tasks (src/core/deque.h). Everything here runs on the
 * thread that owns the deque.
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

WF_C_BEGIN

/* What a waiter waits for. src/core/latch.h has the states, and a table of what else the
 * word of a task's latch can say. */
typedef struct wf_latch {
  wf_word x_state;
} wf_latch;

struct weft_scope;

/* The surroundings of code that runs: its scope and its isolation. A fork hands them on
 * to the thread that runs the forked half. A region lives in a frame around the fork, so
 * it outlives the task. */
typedef struct wf_region {
  struct weft_scope *scope;          /* the innermost scope around the code, or NULL */
  const struct wf_region *isolation; /* helping stays inside this one; or NULL */
  bool background;                   /* background work: waiting threads do not take it */
  bool yields;                       /* isolated, but weft_yield still runs any task */
  /* Only in the region of an isolation itself: the two that wait for it, each may be
   * NULL. One lies below it on its thread, the other waits for its handle. */
  const wf_ptr *waited_by;
} wf_region;

/* One forked call: three words. It stays readable for thieves until its latch is set, and
 * nothing of it is touched after that. */
typedef struct wf_task {
  weft_fn *execute;
  void *context;
  wf_latch completion;
} wf_task;

/* The latch of a task that is forked in a region, or in none (NULL). The region's address
 * is the word: its low bits are 0, which means "not set". */
static inline void wf_latch_init_forked(wf_latch *latch, const wf_region *region) {
  wf_word_init(&latch->x_state, (uintptr_t)region);
}

/* The words of a worker's deque that fork and join touch. They point into the ring of
 * task pointers. While the pins are open,
 *
 *     gate <= bottom <= limit, and the tasks in [gate, bottom) are the owner's alone.
 *
 * A thread that wants work closes the pins: limit becomes 0 and gate UINTPTR_MAX, so that
 * both comparisons below lead into the slow half. bottom may stand one below the first
 * slot for a moment; the ring has a word there. */
typedef struct wf_owner {
  wf_ptr x_bottom; /* where the next task goes; written by the owner, read by thieves */
  wf_ptr x_limit;  /* a fork that moves bottom up to here takes the slow half */
  wf_ptr x_gate;   /* a join that moves bottom below this takes the slow half */
  const wf_region *region; /* of the code that runs now, or NULL; the owner's alone */
} wf_owner;

/* The deque of the worker that the calling thread is at the moment; NULL for a thread
 * that is in no pool. "initial-exec" keeps the access at one or two instructions in every
 * kind of program. It takes its 8 bytes (weft has 48 in all) from the static TLS space
 * that libc reserves for libraries that are loaded late. */
#if defined(_WIN32)
#define wf_self (*wf_self_slot()) /* see below */
#else
extern WEFT_API __thread wf_owner *wf_self __attribute__((tls_model("initial-exec")));
#endif

#if defined(_WIN32)
/* gcc emulates thread-local variables here, by a call and once per DLL. So wf_self is one
 * of the slots that TlsAlloc gives out: at a fixed place of the block that the system
 * keeps for each thread (TEB, winternl.h), in one or two instructions. */
extern WEFT_API unsigned long wf_self_index; /* set before main (src/sys/windows.c) */
WEFT_API void *wf_self_far(void);            /* where a slot beyond the first 64 is */

#if defined(__x86_64__)
enum { WF_TEB_SLOTS = 0x1480, WF_TEB_FAR_SLOTS = 0x1780 };
static inline char *wf_thread_block(void) {
  char *block;
  __asm__("movq %%gs:0x30, %0" : "=r"(block));
  return block;
}
#elif defined(__i386__)
enum { WF_TEB_SLOTS = 0xe10, WF_TEB_FAR_SLOTS = 0xf94 };
static inline char *wf_thread_block(void) {
  char *block;
  __asm__("movl %%fs:0x18, %0" : "=r"(block));
  return block;
}
#else
#error "weft runs on x86 Windows only"
#endif

static inline wf_owner **wf_self_slot(void) {
  const unsigned long index = wf_self_index;
  if (WF_UNLIKELY(index >= 64)) return (wf_owner **)wf_self_far();
  return (wf_owner **)(void *)(wf_thread_block() + WF_TEB_SLOTS) + index;
}
#endif

/* The slow halves (src/sched/join.c). */
WEFT_API void wf_fork_slow(wf_owner *self);
WEFT_API void wf_join_slow(wf_owner *self, wf_task *task);
WEFT_API void wf_join_outside(weft_fn *a, void *a_ctx, weft_fn *b, void *b_ctx);

/* Ends the program: a function is NULL. */
WEFT_API void wf_join_refuse(void) __attribute__((cold, noreturn));

/* ---- what is written in assembly where that is known to work ---- */

/* Two things that a compiler likes to keep in a register across the call of `a`: the
 * worker, and the address of the task. Every function that forks saves and restores such
 * a register, also on its way to a leaf, and that costs more than computing the value
 * again (measured on fib: 1 ns a join). So both are hidden from the compiler. A third
 * thing saves an instruction: compilers do not compare with a word of memory that is
 * loaded atomically. WEFT_NO_ASM leaves the assembly out. */
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

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WF_HAS_THREAD_SANITIZER 1
#endif
#endif
#if !defined(WF_HAS_THREAD_SANITIZER) && !defined(__SANITIZE_THREAD__)
#define WF_ADDS_TO_BOTTOM 1
#endif

/* Is a place in the ring at or above the one that a pin names? One comparison with
 * memory, which is as good as a relaxed load. */
static inline __attribute__((always_inline)) bool wf_slot_reaches(const wf_ptr *slot,
                                                                  const wf_ptr *pin) {
  bool reaches;
  __asm__ __volatile__("cmp{q} {%2, %1|%1, %2}"
                       : "=@ccae"(reaches)
                       : "r"(slot), "m"(pin->raw));
  return reaches;
}
#else
static inline __attribute__((always_inline)) wf_owner *wf_self_now(void) {
  return *(wf_owner *volatile *)&wf_self;
}
#define WF_ADDRESS_NOW(pointer, variable) ((pointer) = &(variable))

static inline __attribute__((always_inline)) bool wf_slot_reaches(const wf_ptr *slot,
                                                                  const wf_ptr *pin) {
  /* Relaxed: a pin that is closed meanwhile is seen at the next fork or join; where that
   * is too late, the process-wide barrier of the other thread orders it. */
  return (uintptr_t)slot >= (uintptr_t)wf_ptr_load_relaxed(pin);
}
#endif

/* ---- push and pop ---- */

/* The owner's own view of bottom: where the next task goes. */
static inline __attribute__((always_inline)) wf_ptr *
wf_owner_bottom(const wf_owner *self) {
  return (wf_ptr *)wf_ptr_load_relaxed(&self->x_bottom); /* relaxed: its own word */
}

/* Puts a task, of which all fields are set, into `slot`, where bottom is. True: the
 * caller must now take the slow half of a fork. The slot is relaxed: a thief reads it
 * only after it has acquired an index that the release below, or a later one by the slow
 * half, has published. */
static inline __attribute__((always_inline)) bool
wf_owner_push(wf_owner *self, wf_ptr *slot, wf_task *task) {
  wf_ptr_store_relaxed(slot, task);
  /* Release: pairs with the acquire of bottom in wf_deque_take_over. */
  wf_ptr_store_release(&self->x_bottom, slot + 1);
  /* Pairs with the process-wide barrier of a worker that goes to sleep: either that
   * worker sees this task, or this thread sees the limit that the worker has written. */
  wf_light_barrier();
  return wf_slot_reaches(slot + 1, &self->x_limit);
}

/* The same where `slot` was loaded from bottom just before. Where the assembly is known
 * to work, bottom is added to in memory, by one instruction, which takes less time (a
 * tree of joins: 3.7 ns for each instead of 4.25; docs/design/fast-path.md). No other
 * thread writes bottom, and on x86 each store is a release. ThreadSanitizer would not see
 * this one. */
static inline __attribute__((always_inline)) bool
wf_owner_push_next(wf_owner *self, wf_ptr *slot, wf_task *task) {
#if defined(WF_ADDS_TO_BOTTOM)
  wf_ptr_store_relaxed(slot, task); /* as above */
  __asm__ __volatile__("add{q} {$8, %0|%0, 8}" : "+m"(self->x_bottom.raw) : : "memory");
  return wf_slot_reaches(slot + 1, &self->x_limit);
#else
  return wf_owner_push(self, slot, task);
#endif
}

/* Takes the newest entry, which is in `slot`, off the deque. True: it was private, and is
 * the caller's. False: perhaps it was not; the caller puts bottom back (wf_owner_unpop)
 * and finds out under the lock. */
static inline __attribute__((always_inline)) bool wf_owner_pop(wf_owner *self,
                                                               wf_ptr *slot) {
  /* Release: pairs with the acquire of bottom in wf_deque_take_over. */
  wf_ptr_store_release(&self->x_bottom, slot);
  /* Pairs with the process-wide barrier in a take-over: either the thief sees bottom
   * without this task, or this thread sees the gate that the thief has closed. */
  wf_light_barrier();
  return wf_slot_reaches(slot, &self->x_gate);
}

/* Undoes a pop of `slot` that was not allowed. */
static inline __attribute__((always_inline)) void wf_owner_unpop(wf_owner *self,
                                                                 wf_ptr *slot) {
  /* Release: pairs with the acquire of bottom in wf_deque_take_over: a thief may read
   * this value, and must then see the task. */
  wf_ptr_store_release(&self->x_bottom, slot + 1);
}

/* ---- fork and join ---- */

/* Forks a task, of which all fields are set. */
static inline __attribute__((always_inline)) void wf_fork_push(wf_owner *self,
                                                               wf_task *task) {
  wf_ptr *slot = wf_owner_bottom(self);
  if (WF_UNLIKELY(wf_owner_push_next(self, slot, task))) wf_fork_slow(self);
}

/* The fast half of a join. Everything that was forked after a task has been joined before
 * it, so the newest entry is that task, unless a thief took it; then the gate is above
 * it. False: bottom is below the task, and the slow half puts it back. */
static inline __attribute__((always_inline)) bool wf_join_pop(wf_owner *self) {
  return wf_owner_pop(self, wf_owner_bottom(self) - 1);
}

static inline __attribute__((always_inline)) void
wf_join_inline(weft_fn *a, void *a_ctx, weft_fn *b, void *b_ctx) {
  /* Costs nothing where functions are given by name: their addresses are never NULL. */
  if (WF_UNLIKELY(a == NULL || b == NULL)) wf_join_refuse();
  wf_owner *self = wf_self_now();
  if (WF_UNLIKELY(self == NULL)) {
    wf_join_outside(a, a_ctx, b, b_ctx);
    return;
  }

  wf_task task;
  task.execute = b;
  task.context = b_ctx;
  wf_latch_init_forked(&task.completion, self->region);

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

WF_C_END

#ifdef __cplusplus
}
#endif

#endif
