/* sched/steer.c - keeping woken workers off the CPU of their waker.
 *
 * On virtual machines the kernel may queue a woken thread behind its waker although
 * another CPU is idle. A pool in which that happens takes the waker's CPU out of the
 * sleeper's mask before it wakes it, and the sleeper puts its mask back as the first
 * thing it does. Pools in which the kernel places threads well make no system call for
 * this. The argument, and what the user may rely on, is in steer.md.
 *
 * Who calls: sleep.c. Which thread owns what: steer.h.
 *
 * SPDX-License-Identifier: MIT */
#include "steer.h"

#include "../core/assert.h"
#include "pool.h"

/* A worker that runs later than this after its wake-up is late. A halted virtual CPU
 * needs 40 to 65 us to wake (steer.md has the measurements); a thread that is queued
 * behind its waker comes when the waker sleeps, or when the kernel looks again, at the
 * next tick: every 1 to 4 ms, since kernels are built with 250 to 1000 ticks a second. */
enum { LATE_US = 120 };

/* ---- evidence ---- */

/* All words of wf_steering are relaxed: hints, as explained there. */
static bool is_active(const weft_pool *pool) {
  if (pool->options.steer == WEFT_STEER_OFF) return false;
  const wf_steering *s = &pool->steering;
  return wf_u32_load_relaxed(&s->x_active) != 0 &&
         wf_u32_load_relaxed(&s->x_refused) == 0;
}

static void raise_evidence(wf_steering *s) {
  uint32_t evidence = wf_u32_load_relaxed(&s->x_evidence) + WF_STEER_MISPLACED;
  if (evidence > WF_STEER_MOST) evidence = WF_STEER_MOST;
  wf_u32_store_relaxed(&s->x_evidence, evidence);
  if (evidence >= WF_STEER_START) wf_u32_store_relaxed(&s->x_active, 1);
}

static void lower_evidence(wf_steering *s) {
  uint32_t evidence = wf_u32_load_relaxed(&s->x_evidence);
  if (evidence == 0) return;
  wf_u32_store_relaxed(&s->x_evidence, evidence - 1);
  if (evidence == 1) wf_u32_store_relaxed(&s->x_active, 0);
}

/* A wake-up that was left to the kernel although the pool steers: if the kernel still
 * misplaces, the next one of them comes later. */
static void judge_probe(wf_steering *s, bool misplaced) {
  uint32_t interval = wf_u32_load_relaxed(&s->x_interval);
  if (!misplaced)
    interval = WF_STEER_FIRST_INTERVAL;
  else if (interval < WF_STEER_LAST_INTERVAL)
    interval *= 2;
  wf_u32_store_relaxed(&s->x_interval, interval);
}

static void judge(weft_pool *pool, bool misplaced, bool is_probe) {
  wf_steering *s = &pool->steering;
  if (misplaced) wf_u64_fetch_add_relaxed(&s->x_misplaced, 1);
  if (pool->options.steer != WEFT_STEER_AUTO) return;
  if (is_probe) judge_probe(s, misplaced);
  if (misplaced)
    raise_evidence(s);
  else
    lower_evidence(s);
}

/* Is this wake-up one to be left to the kernel, to see whether it places well by now? */
static bool is_time_to_probe(weft_pool *pool) {
  wf_steering *s = &pool->steering;
  if (pool->options.steer == WEFT_STEER_ON) return false;
  uint32_t left = wf_u32_load_relaxed(&s->x_until_probe);
  wf_u32_store_relaxed(&s->x_until_probe,
                       left > 0 ? left - 1 : wf_u32_load_relaxed(&s->x_interval));
  return left == 0;
}

/* ---- masks ---- */

/* The masks of all workers are made with the pool, so that its use allocates nothing. If
 * there is no memory for them, or the system has no masks, nobody is steered. */
void wf_steer_init(weft_pool *pool) {
  enum { MASKS = 3 };
  wf_steering *s = &pool->steering;
  /* Relaxed, all of it: nobody else knows the pool yet. */
  wf_u32_store_relaxed(&s->x_active, pool->options.steer == WEFT_STEER_ON);
  wf_u32_store_relaxed(&s->x_interval, WF_STEER_FIRST_INTERVAL);
  wf_u32_store_relaxed(&s->x_until_probe, WF_STEER_FIRST_INTERVAL);
  if (pool->options.steer == WEFT_STEER_OFF) return;
  s->masks = wf_sys_masks_create(MASKS * pool->slots);
  for (unsigned i = 0; s->masks != NULL && i < pool->slots; i++) {
    wf_steered *worker = &pool->workers[i].steered;
    worker->own = wf_sys_mask_at(s->masks, MASKS * i);
    worker->narrow = wf_sys_mask_at(s->masks, MASKS * i + 1);
    worker->now = wf_sys_mask_at(s->masks, MASKS * i + 2);
  }
}

void wf_steer_free(weft_pool *pool) {
  wf_sys_mask_destroy(pool->steering.masks);
}

static void refuse(weft_pool *pool) {
  wf_u32_store_relaxed(&pool->steering.x_refused, 1); /* relaxed: as all words here */
}

/* What a mask of the calling thread comes from. A thread that the pool has given its CPUs
 * does not follow the cpuset, and need not be given all CPUs for a moment to find out. */
static bool ask_origin(wf_worker *worker) {
  wf_steered *s = &worker->steered;
  if (worker->pool->options.topology.count == 0 || !wf_worker_is_thread(worker))
    return wf_sys_mask_origin(s->own, s->now, &s->follows_cpuset);
  s->follows_cpuset = false;
  wf_sys_mask_copy(s->own, s->now);
  return true;
}

/* What the mask of the calling thread is, and what it comes from. */
static void learn_mask(wf_worker *worker) {
  wf_steered *s = &worker->steered;
  if (s->own == NULL) return; /* the kernel places this thread */
  uint32_t thread = wf_sys_thread_self();
  bool is_same = s->knows_mask && s->thread == thread;
  s->knows_mask = false; /* until all of it is known */
  /* What a mask comes from is asked once for each thread and mask: asking sets the mask
   * for a moment. */
  bool is_known = wf_sys_mask_read(s->now, 0) &&
                  ((is_same && wf_sys_mask_equal(s->now, s->own)) || ask_origin(worker));
  if (!is_known) {
    refuse(worker->pool);
    return;
  }
  s->thread = thread;
  s->knows_mask = true;
}

void wf_steer_before_sleep(wf_worker *worker) {
  WF_ASSERT(wf_u32_peek(&worker->steered.x_state) == WF_STEER_NONE);
  if (is_active(worker->pool))
    learn_mask(worker);
  else
    worker->steered.knows_mask = false;
}

/* One more than the CPU where another worker, which is awake, was seen last; or 0. */
static uint32_t cpu_of_awake(const wf_worker *other) {
  /* Relaxed, both: hints. */
  if (wf_u32_load_relaxed(&other->x_park) != 0) return 0; /* it sleeps */
  return wf_u32_load_relaxed(&other->steered.x_cpu);
}

/* Takes the CPUs of workers that are awake out of the mask, as long as one is left, so
 * that each worker that one thread wakes finds a CPU of its own. */
static void avoid_awake(const weft_pool *pool, const wf_worker *worker,
                        wf_cpu_mask *mask) {
  unsigned left = wf_sys_mask_count(mask);
  for (unsigned i = 0; i < pool->slots && left > 1; i++) {
    uint32_t cpu = cpu_of_awake(&pool->workers[i]);
    if (cpu == 0 || i == worker->index || !wf_sys_mask_has(mask, cpu - 1)) continue;
    wf_sys_mask_clear(mask, cpu - 1);
    left--;
  }
}

/* Where the worker will run, for those that are woken next: where it was, if it may. */
static void expect_cpu(wf_steered *s) {
  uint32_t cpu = wf_u32_load_relaxed(&s->x_cpu);
  if (cpu != 0 && wf_sys_mask_has(s->narrow, cpu - 1)) return;
  cpu = 0;
  while (!wf_sys_mask_has(s->narrow, cpu)) cpu++; /* it is not empty */
  wf_u32_store_relaxed(&s->x_cpu, cpu + 1);
}

/* True if the worker's mask is without the CPU now. */
static bool narrow(weft_pool *pool, wf_worker *worker, unsigned cpu) {
  wf_steered *s = &worker->steered;
  if (!s->knows_mask) return false;
  if (!wf_sys_mask_read(s->now, s->thread)) {
    refuse(pool);
    return false;
  }
  /* Somebody has given the thread other CPUs while it slept: they are what counts, and
   * the thread itself finds out what they are before it sleeps next. */
  if (!wf_sys_mask_equal(s->now, s->own)) return false;
  wf_sys_mask_copy(s->narrow, s->own);
  wf_sys_mask_clear(s->narrow, cpu);
  if (wf_sys_mask_equal(s->narrow, s->own)) return false; /* it cannot come here */
  if (wf_sys_mask_count(s->narrow) == 0) return false;    /* it has this CPU only */
  avoid_awake(pool, worker, s->narrow);
  if (!wf_sys_mask_set(s->narrow, s->thread)) {
    refuse(pool);
    return false;
  }
  expect_cpu(s);
  return true;
}

/* Gives the thread, 0 for the caller, its CPUs back, unless somebody else has given it
 * other ones since. A mask that is a part of the narrow one is taken for what a cpuset
 * has left of it: nobody stays narrowed because CPUs went away just then. */
static void widen(weft_pool *pool, wf_steered *s, uint32_t thread) {
  if (!wf_sys_mask_read(s->now, thread)) {
    refuse(pool);
    return;
  }
  if (!wf_sys_mask_is_part(s->now, s->narrow)) return;
  if (s->follows_cpuset) wf_sys_mask_fill(s->now);
  if (!wf_sys_mask_set(s->follows_cpuset ? s->now : s->own, thread)) refuse(pool);
}

/* ---- the moments of a sleep ---- */

bool wf_steer_before_wake(weft_pool *pool, wf_worker *sleeper) {
  wf_steered *s = &sleeper->steered;
  WF_ASSERT(wf_u32_peek(&s->x_state) == WF_STEER_NONE);
  s->woken_by = -1;
  s->is_probe = s->was_steered = false;
  if (pool->options.steer == WEFT_STEER_OFF) return false;
  s->woken_by = wf_sys_cpu_now();
  if (s->woken_by >= 0 && is_active(pool)) {
    s->is_probe = is_time_to_probe(pool);
    s->was_steered = !s->is_probe && narrow(pool, sleeper, (unsigned)s->woken_by);
    if (s->was_steered) {
      wf_u64_fetch_add_relaxed(&pool->steering.x_steered, 1); /* statistics */
      /* Relaxed: the pool cannot end before the sleeper was woken. */
      wf_u32_fetch_add_relaxed(&pool->steering.x_wakers, 1);
      /* Release: pairs with the acquire of the CAS in wf_steer_after_wake, by a thread
       * that woke the same sleeper before and was held up. */
      wf_u32_store_release(&s->x_state, WF_STEER_NARROWED);
    }
  }
  s->woken_ticks = wf_sys_ticks();
  return s->was_steered;
}

/* The mask is narrow: the first to come sets it back, the waker or the sleeper itself. */
static bool is_first_to_restore(wf_steered *s) {
  uint32_t state = WF_STEER_NARROWED;
  /* Acquire: pairs with the release of NARROWED, whose masks are used here. It fails for
   * the one that comes second. A waker that was held up may even find the next narrowing
   * of the same sleeper: then it undoes that one, a little early. */
  return wf_u32_cas_acquire(&s->x_state, &state, WF_STEER_RESTORING);
}

static void restored(wf_steered *s) {
  /* Release: pairs with the acquire in wf_steer_after_sleep. */
  wf_u32_store_release(&s->x_state, WF_STEER_NONE);
}

void wf_steer_after_wake(weft_pool *pool, wf_worker *sleeper) {
  wf_steered *s = &sleeper->steered;
  if (is_first_to_restore(s)) {
    widen(pool, s, s->thread);
    restored(s);
  }
  /* The last access to the pool. Release: pairs with the acquire in
   * wf_steer_await_wakers. */
  wf_u32_fetch_sub_release(&pool->steering.x_wakers, 1);
}

void wf_steer_await_wakers(weft_pool *pool) {
  /* Acquire: pairs with the release in wf_steer_after_wake. */
  while (wf_u32_load_acquire(&pool->steering.x_wakers) != 0) wf_sys_thread_yield();
}

/* Nearly always the waker was faster: a CPU needs longer to wake than a system call. */
static void get_mask_back(wf_worker *worker) {
  wf_steered *s = &worker->steered;
  if (is_first_to_restore(s)) {
    widen(worker->pool, s, 0);
    restored(s);
  }
  /* Acquire: pairs with the release in restored: the masks are this thread's again. */
  while (wf_u32_load_acquire(&s->x_state) != WF_STEER_NONE) wf_sys_thread_yield();
}

static bool is_late_now(const wf_steered *s) {
  return wf_sys_ticks() - s->woken_ticks > LATE_US * wf_sys_ticks_per_us();
}

void wf_steer_after_sleep(wf_worker *worker) {
  wf_steered *s = &worker->steered;
  weft_pool *pool = worker->pool;
  if (pool->options.steer == WEFT_STEER_OFF) return;
  s->beside_waker = false;
  if (s->was_steered) {
    get_mask_back(worker);
    wf_u64_count(&worker->x_steered, 1);
  }
  int here = wf_sys_cpu_now();
  wf_u32_store_relaxed(&s->x_cpu, (uint32_t)(here + 1)); /* relaxed: a hint */
  if (s->was_steered || s->woken_by < 0 || here < 0) return;
  bool is_late = is_late_now(s);
  s->beside_waker = here == s->woken_by && !is_late;
  if (s->beside_waker) return;
  /* Late and elsewhere says nothing: all CPUs may have been busy, or the kernel has
   * queued it behind its waker and its balancing has moved it a millisecond later. */
  if (is_late && here != s->woken_by) return;
  if (is_late) wf_u64_count(&worker->x_misplaced, 1);
  judge(pool, is_late, s->is_probe);
}

/* The kernel has let this thread run before its waker, which stands still now. To search
 * for long would be in vain: the only one that could give work away cannot run. How long
 * the waker then keeps the CPU shows whether the wake-up was misplaced. */
void wf_steer_give_way(wf_worker *worker) {
  wf_steered *s = &worker->steered;
  if (!s->beside_waker) return;
  s->beside_waker = false;
  wf_sys_thread_yield();
  bool is_late = is_late_now(s);
  if (is_late) wf_u64_count(&worker->x_misplaced, 1);
  judge(worker->pool, is_late, s->is_probe);
}

/* ---- awake on the same CPU ---- */

void wf_steer_note_cpu(wf_worker *worker) {
  wf_u32_store_relaxed(&worker->steered.x_cpu, (uint32_t)(wf_sys_cpu_now() + 1));
}

/* Is another worker that is awake seen on this CPU? */
static bool shares_cpu(const wf_worker *worker, unsigned cpu) {
  const weft_pool *pool = worker->pool;
  for (unsigned i = 0; i < pool->slots; i++) {
    if (i == worker->index || cpu_of_awake(&pool->workers[i]) != cpu + 1) continue;
    if (wf_bitset_has(pool->x_present, i)) return true;
  }
  return false;
}

/* Nobody wakes a worker that is awake, so nobody but itself can bring it elsewhere. */
static void move_away(wf_worker *worker) {
  weft_pool *pool = worker->pool;
  wf_steered *s = &worker->steered;
  int here = wf_sys_cpu_now();
  if (here < 0 || !shares_cpu(worker, (unsigned)here)) return;
  wf_u64_count(&worker->x_misplaced, 1);
  judge(pool, true, false);
  if (!is_active(pool)) return;
  learn_mask(worker);
  if (!narrow(pool, worker, (unsigned)here)) return;
  widen(pool, s, 0);
  wf_u64_fetch_add_relaxed(&pool->steering.x_steered, 1); /* statistics */
  wf_u64_count(&worker->x_steered, 1);
}

void wf_steer_yield(wf_worker *worker) {
  const weft_pool *pool = worker->pool;
  uint64_t before = wf_sys_ticks();
  wf_sys_thread_yield();
  bool is_late = wf_sys_ticks() - before > LATE_US * wf_sys_ticks_per_us();
  /* Where there are more threads than CPUs, they have to share them. */
  if (is_late && pool->options.steer != WEFT_STEER_OFF && !pool->exceeds_cpus)
    move_away(worker);
}
