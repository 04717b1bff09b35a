/* sched/steer.h - keeping woken workers off the CPU of their waker. Why, when and how is
 * explained in steer.md.
 *
 * Who calls: sleep.c, in this order for each sleep.
 *
 *     sleeper   wf_steer_before_sleep
 *               registers, blocks
 *     waker     has claimed the sleeper
 *               wf_steer_before_wake    narrows its mask
 *               x_park := AWAKE; wakes: the kernel chooses a CPU here
 *               wf_steer_after_wake     sets the mask back
 *     sleeper   wf_steer_after_sleep    makes sure that its mask is its own again, and
 *                                       judges where it runs
 *               looks for work once
 *               wf_steer_give_way       on its waker's CPU: lets the waker go on
 *               wf_steer_yield          awake on the same CPU for long: moves away
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_SCHED_STEER_H
#define WF_SCHED_STEER_H

#include "../core/atomic.h"
#include "../sys/sys.h"

struct weft_pool;
struct wf_worker;

/* Who may set a worker's mask, besides its own thread. */
enum {
  WF_STEER_NONE,     /* nobody: the mask is as the user has set it */
  WF_STEER_NARROWED, /* the mask is narrowed: the first to take this word sets it back */
  WF_STEER_RESTORING /* the thread that took it is setting the mask back */
};

/* A part of the worker. Fields without x_ belong to the thread in the place while it is
 * awake and x_state is NONE; to its claimer from the claim to x_park := AWAKE; and the
 * masks to whoever moves x_state away from NARROWED, until it is NONE.
 *
 * Invariants: x_state != NONE  =>  knows_mask;  knows_mask  =>  all masks exist. */
typedef struct wf_steered {
  uint32_t thread;      /* the number by which the thread in the place can be steered */
  bool knows_mask;      /* `own` is what the thread had when it went to sleep */
  bool follows_cpuset;  /* `own` is merely that of its cpuset: see wf_sys_mask_origin */
  bool was_steered;     /* this wake-up was */
  bool is_probe;        /* the pool steers, but has left this one to the kernel */
  bool beside_waker;    /* runs in time, but on its CPU: not judged yet */
  int woken_by;         /* CPU of the waker, or -1 */
  uint64_t woken_ticks; /* when */
  wf_cpu_mask *own, *narrow, *now; /* all or none; parts of wf_steering.masks */
  wf_u32 x_state;                  /* one of the three above */
  wf_u32 x_cpu; /* one more than where the thread was last; 0: not known. A hint. */
} wf_steered;

/* A part of the pool. The words up to x_refused are written without care for lost
 * updates: one misplaced wake-up more or less decides nothing. */
typedef struct wf_steering {
  wf_cpu_mask *masks;   /* of all workers, or NULL; constant after creation */
  wf_u32 x_active;      /* 1 while wake-ups are steered */
  wf_u32 x_evidence;    /* for misplaced wake-ups, 0 .. WF_STEER_MOST */
  wf_u32 x_until_probe; /* steered wake-ups until one is left to the kernel */
  wf_u32 x_interval;    /* between two of them */
  wf_u32 x_refused;     /* 1: the system refuses the calls; nobody is steered any more */
  wf_u32 x_wakers;      /* threads between narrowing a mask and setting it back */
  wf_u64 x_misplaced;   /* statistics */
  wf_u64 x_steered;     /* statistics */
} wf_steering;

/* All of these are choices; steer.md, "Only where it helps", says how they are used. A
 * wake-up in time is one less evidence, so a pool steers after two misplaced wake-ups in
 * a row, and stops after eight good probes at most. A misplaced probe costs one late
 * start (1 to 2 ms): at first every 16th wake-up, at last every 512th is a probe. */
enum {
  WF_STEER_MISPLACED = 2, /* evidence for each misplaced wake-up */
  WF_STEER_START = 4,     /* evidence from which on wake-ups are steered */
  WF_STEER_MOST = 8,      /* the most evidence */
  WF_STEER_FIRST_INTERVAL = 16,
  WF_STEER_LAST_INTERVAL = 512
};

/* When the workers exist; and before they are freed. */
void wf_steer_init(struct weft_pool *pool);
void wf_steer_free(struct weft_pool *pool);

/* The thread in the place is about to sleep: notes what its mask is. Makes no system call
 * unless the pool steers. */
void wf_steer_before_sleep(struct wf_worker *worker);

/* The caller has claimed the sleeper and will wake it next. True: its mask is narrowed,
 * and the caller calls wf_steer_after_wake when it has woken it. */
bool wf_steer_before_wake(struct weft_pool *pool, struct wf_worker *sleeper);
void wf_steer_after_wake(struct weft_pool *pool, struct wf_worker *sleeper);

/* The thread runs again, woken by another one. Afterwards its mask is the user's, and no
 * other thread will touch it. */
void wf_steer_after_sleep(struct wf_worker *worker);

/* A woken worker has found nothing to do at once. If it runs on the CPU of its waker, it
 * lets that one go on before it searches any longer. To be called by the thread in the
 * place. */
void wf_steer_give_way(struct wf_worker *worker);

/* Notes where the thread in the place runs. Called by itself, when it gives tasks away.
 */
void wf_steer_note_cpu(struct wf_worker *worker);

/* A worker that searches gives its CPU away for a moment. If it gets it back late, from
 * another worker of the pool, it moves to another CPU. Called by the thread in the place.
 */
void wf_steer_yield(struct wf_worker *worker);

/* Waits until no thread uses a place of the pool to set a mask back: before they are
 * freed. */
void wf_steer_await_wakers(struct weft_pool *pool);

#endif
