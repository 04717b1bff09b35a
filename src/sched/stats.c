/* sched/stats.c - what can be asked about a pool: its size, how busy it is, statistics.
 *
 * Any thread may ask. The first part answers the program, the second the algorithms of
 * src/par, which see a pool only through sched.h and ask about the pool that the calling
 * thread is in.
 *
 * SPDX-License-Identifier: MIT */
#include "stats.h"

#include <string.h>

/* ---- for the program ---- */

unsigned weft_thread_count(void) {
  const weft_pool *pool = weft_pool_current();
  return pool != NULL ? wf_pool_threads(pool) : 1;
}

unsigned weft_worker_limit(void) {
  const weft_pool *pool = weft_pool_current();
  return pool != NULL ? pool->slots : 1;
}

void wf_stats_of_worker(const wf_worker *worker, uint64_t now_ns, weft_stats *out) {
  *out = (weft_stats)WEFT_STATS_INIT;
  /* Relaxed: each has one writer, and any recent value will do. */
  out->injected = wf_u64_load_relaxed(&worker->x_injected);
  out->tasks = wf_u64_load_relaxed(&worker->x_tasks) + out->injected;
  out->steals = wf_u64_load_relaxed(&worker->x_steals);
  out->exposes = wf_u64_load_relaxed(&worker->x_exposes);
  out->takeovers = wf_u64_load_relaxed(&worker->x_takeovers);
  out->futile = wf_u64_load_relaxed(&worker->x_futile);
  out->wakes = wf_u64_load_relaxed(&worker->x_wakes);
  out->sleeps = wf_u64_load_relaxed(&worker->x_sleeps);
  out->misplaced = wf_u64_load_relaxed(&worker->x_misplaced);
  out->steered = wf_u64_load_relaxed(&worker->x_steered);
  out->failed_steals = wf_u64_load_relaxed(&worker->x_failed_steals);
  out->deepest = wf_u64_load_relaxed(&worker->x_deepest);
  if (out->deepest == 0 && out->tasks > 0) out->deepest = 1; /* see wf_stats_depth */
  out->searching_ns = wf_u64_load_relaxed(&worker->x_searching_ns);
  out->asleep_ns = wf_timer_read(&worker->x_asleep, now_ns);
  uint64_t present_ns = wf_timer_read(&worker->x_presence, now_ns);
  uint64_t idle_ns = out->searching_ns + out->asleep_ns;
  out->working_ns = present_ns > idle_ns ? present_ns - idle_ns : 0;
}

void wf_stats_of_pool(const weft_pool *pool, weft_stats *out) {
  *out = (weft_stats)WEFT_STATS_INIT;
  uint64_t now_ns = wf_sys_now_ns();
  for (unsigned i = 0; i < pool->slots; i++) {
    weft_stats one;
    wf_stats_of_worker(&pool->workers[i], now_ns, &one);
    out->tasks += one.tasks;
    out->steals += one.steals;
    out->exposes += one.exposes;
    out->takeovers += one.takeovers;
    out->sleeps += one.sleeps;
    out->failed_steals += one.failed_steals;
    out->futile += one.futile;
    if (one.deepest > out->deepest) out->deepest = one.deepest;
    out->working_ns += one.working_ns;
    out->searching_ns += one.searching_ns;
    out->asleep_ns += one.asleep_ns;
  }
  /* Relaxed, as above. These are counted by the threads that inject and wake. */
  out->injected = wf_u64_load_relaxed(&pool->injector.x_pushed) +
                  wf_u64_load_relaxed(&pool->background.x_pushed);
  out->wakes = wf_u64_load_relaxed(&pool->sleep.x_wakes);
  out->misplaced = wf_u64_load_relaxed(&pool->steering.x_misplaced);
  out->steered = wf_u64_load_relaxed(&pool->steering.x_steered);
}

/* Copies what fits into the caller's structure. An older header may end anywhere: only
 * whole numbers are copied. */
static void copy_stats(weft_stats *to, const weft_stats *from) {
  size_t given = to->struct_size;
  size_t size = given < sizeof *from ? given : sizeof *from;
  size -= (size - offsetof(weft_stats, tasks)) % sizeof from->tasks;
  memcpy(to, from, size);
  to->struct_size = given;
}

static bool has_size(const weft_stats *stats) {
  return stats != NULL && stats->struct_size >= sizeof(size_t);
}

void weft_pool_stats(const weft_pool *pool, weft_stats *total) {
  if (!has_size(total)) return;
  weft_stats sum = WEFT_STATS_INIT;
  pool = wf_pool_or_current(pool);
  if (pool != NULL) wf_stats_of_pool(pool, &sum);
  copy_stats(total, &sum);
}

int weft_pool_worker_stats(const weft_pool *pool, unsigned worker, weft_stats *out) {
  if (!has_size(out)) return WEFT_EINVAL;
  weft_stats one = WEFT_STATS_INIT;
  pool = wf_pool_or_current(pool);
  if (pool == NULL) return WEFT_ENOMEM;
  if (worker >= pool->slots) return WEFT_EINVAL;
  wf_stats_of_worker(&pool->workers[worker], wf_sys_now_ns(), &one);
  copy_stats(out, &one);
  return 0;
}

/* ---- for algorithms ---- */

weft_pool *wf_sched_pool(void) {
  const wf_worker *worker = wf_worker_now();
  return worker != NULL ? worker->pool : NULL;
}

unsigned wf_sched_threads(void) {
  const wf_worker *worker = wf_worker_now();
  if (worker == NULL || worker->serial || worker->alone) return 1;
  return wf_pool_threads(worker->pool);
}

/* Is the worker one of those that the pool has started, stand-ins apart? */
static bool is_started_thread(const wf_worker *worker) {
  return worker->index >= 1 && worker->index <= worker->pool->thread_places;
}

wf_homes wf_sched_homes(void) {
  const wf_worker *worker = wf_worker_now();
  WF_ASSERT(worker != NULL);
  unsigned started = wf_pool_started(worker->pool);
  bool inside = is_started_thread(worker) && started > 0;
  return inside ? (wf_homes){started, 1} : (wf_homes){started + 1, 0};
}

unsigned wf_sched_home(wf_homes homes) {
  const wf_worker *worker = wf_worker_now();
  WF_ASSERT(worker != NULL);
  if (!is_started_thread(worker)) return 0;
  return (worker->index - homes.first) % homes.count;
}

wf_load wf_sched_load(void) {
  WF_ASSERT(wf_self != NULL);
  const weft_pool *pool = wf_worker_of(wf_self)->pool;
  unsigned sleeping = wf_sleep_sleeping(pool);
  return (wf_load){pool->options.cpus, sleeping,
                   wf_sleep_searching_beside(pool, sleeping)};
}

wf_idlers wf_sched_idlers(void) {
  WF_ASSERT(wf_self != NULL);
  const weft_pool *pool = wf_worker_of(wf_self)->pool;
  bool any_asleep = wf_sleep_any(pool, WF_SLEEPER_IDLE);
  return (wf_idlers){wf_counters_inactive(&pool->sleep.counters), any_asleep};
}

unsigned wf_sched_wake(unsigned n) {
  WF_ASSERT(wf_self != NULL);
  return wf_sleep_wake_batch(wf_worker_of(wf_self)->pool, n);
}
