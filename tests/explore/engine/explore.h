/* explore.h - what a scenario of the interleaving explorer needs.
 *
 *     #include <explore/engine/explore.h>
 *
 *     static wf_u32 x_flag;
 *     static void setup(void) { wf_u32_store_relaxed(&x_flag, 0); }
 *     static void setter(void) { wf_u32_store_release(&x_flag, 1); }
 *     static void waiter(void) { while (wf_u32_load_acquire(&x_flag) == 0)
 * wf_sys_relax(); } SCENARIO(flag, .setup = setup, .threads = {setter, waiter})
 *
 * The threads run as coroutines on one thread of the system, with the real sources of the
 * library, whose shared words, waits, barriers, threads and memory are the explorer's. A
 * scenario is run once for each schedule within its bound, in each of its modes. How to
 * write one and what is checked: README.md in this folder's parent.
 *
 * SPDX-License-Identifier: MIT */
#ifndef EXPLORE_H
#define EXPLORE_H

#include "simulated/system.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void xp_fn(void);

/* The memory that the threads see. */
typedef enum xp_mode {
  XP_SC = 1,  /* one access after the other */
  XP_TSO = 2, /* a store buffer for each thread, as on x86 */
  XP_RA = 4,  /* C11: loads may be old, stores may be overtaken, within the orders */
  XP_ALL_MODES = 7
} xp_mode;

typedef enum xp_failure {
  XP_NOTHING,
  XP_ASSERTION, /* XP_CHECK, the invariant, abort() in the library */
  XP_DEADLOCK,  /* no thread can run, and not all have ended: a lost wake-up */
  XP_LIVELOCK,  /* more steps than .steps */
  XP_RACE,      /* two accesses to plain memory, not ordered, one of them a write */
  XP_DEAD, /* access to freed memory, to a frame that was left, to xp_dead() memory */
  XP_LEAK, /* memory that was not freed */
  XP_CRASH /* a signal */
} xp_failure;

enum { XP_MAX_THREADS = 12, XP_UNBOUNDED = -1 };

/* Everything left out is 0, and means the default that the comment names. */
typedef struct xp_scenario {
  const char *name;
  xp_fn *setup;                   /* before the threads, alone */
  xp_fn *threads[XP_MAX_THREADS]; /* the first ones; they may start others */
  xp_fn *check;                   /* after all have ended, alone; frees what is left */
  xp_fn *invariant;               /* after each step; sees the newest values */
  unsigned modes;                 /* 0: all */
  int bound;                      /* preemptions; 0: 2; XP_UNBOUNDED */
  int sc_bound, ra_bound;         /* in these modes; 0: as bound */
  int quick_bound;                /* in the quick set; 0: as above; -2: not in it */
  int stale_bound;                /* RA: old values read; 0: bound + 1 */
  unsigned spurious;              /* waits that may return without reason */
  unsigned failing_allocations;   /* allocations that may fail */
  unsigned failing_threads;       /* thread starts that may fail */
  unsigned failing_masks;         /* reads and changes of CPU masks that may fail */
  int timeouts;        /* timed waits that may end while others can run; 0: 1; -1: none */
  unsigned lock_spins; /* of wf_lock before it blocks */
  unsigned steps;      /* 0: 20000; more are a livelock */
  uint64_t tick_ns;    /* how far each look at the clock moves it; 0: 4000 */
  bool no_barrier;     /* wf_sys_barrier_prepare says no */
  bool barrier_ends; /* wf_sys_barrier is refused from some call on, from each in turn */
  bool may_leak;
  xp_failure expect;       /* it passes if this is found; XP_NOTHING: none */
  const char *incomplete;  /* why the search need not come to its end */
  uint64_t max_executions; /* with .incomplete; 0: 200000 */
  const char *outcomes[3]; /* litmus tests: exactly these, in SC, TSO and RA */
  unsigned random; /* the number of random schedules (PCT) to run instead of a search */
  struct xp_scenario *next;
} xp_scenario;

#define SCENARIO(scenario_name, ...)                                                     \
  __attribute__((constructor)) static void xp_add_##scenario_name(void) {                \
    static xp_scenario entry = {.name = #scenario_name, __VA_ARGS__};                    \
    xp_add(&entry);                                                                      \
  }
void xp_add(xp_scenario *scenario);

/* ---- checks ---- */

#define XP_CHECK(condition)                                                              \
  ((condition) ? (void)0 : xp_fail(XP_ASSERTION, __FILE__, __LINE__, #condition))
_Noreturn void xp_fail(xp_failure kind, const char *file, int line, const char *text);

/* Plain memory that threads share: two accesses that are not ordered by happens-before
 * are a race. Checked in the modes SC and RA. The library's own plain accesses are
 * reported by the compiler and need no such call. */
void xp_plain_read(const void *memory, size_t size);
void xp_plain_write(const void *memory, size_t size);

/* From here on nobody may touch the memory, until it is alive again. Freed memory and
 * frames that were left are dead without this. */
void xp_dead(const void *memory, size_t size);
void xp_alive(const void *memory, size_t size);

/* The outcome of this execution, for litmus tests; see xp_outcomes(). */
void xp_outcome(uint32_t outcome);
/* All outcomes of the search that ended last, in ascending order. */
size_t xp_outcomes(const uint32_t **out);

/* ---- other ---- */

/* The number of the calling thread: .threads[0] is 1; 0 in setup and check. */
unsigned xp_self(void);

/* Waits until the condition holds, without choosing among schedules in which it does not
 * yet: for what is not part of the scenario. The condition reads shared words. */
void xp_await(bool (*condition)(void));

/* One of 0 .. n-1; every one is explored. */
unsigned xp_any(unsigned n);

/* The CPUs of a thread, one bit each, as wf_sys_mask_set has left them; threads start
 * with those of the thread that starts them, and the first ones with both of two. */
uint64_t xp_thread_cpus(unsigned thread);

/* The number of allocations that are alive. */
size_t xp_live_allocations(void);

/* Runs one search of a scenario; for the self-tests. */
typedef struct xp_result {
  xp_failure failure;
  bool complete;
  uint64_t executions, pruned;
  unsigned max_depth;
  double seconds;
} xp_result;
xp_result xp_search(const xp_scenario *scenario, xp_mode mode, int bound);

/* How often wf_sys_fd_notify was called; a setup sets it to 0. */
extern unsigned xp_notified;

#endif
