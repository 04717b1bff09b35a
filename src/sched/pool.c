/* sched/pool.c - the life of a pool: creation, threads, the end.
 *
 * All places and their deques exist before the first thread starts. The end: the pool
 * goes on working until every injected function has returned; then the terminate latch of
 * each worker is set, which wakes it by the same protocol as work does; all threads are
 * joined before memory is freed. One thread creates and one ends a pool; any thread may
 * inject.
 *
 * SPDX-License-Identifier: MIT */
#include "pool.h"

#include "../core/aligned.h"
#include "bind.h"
#include "blocking.h"
#include "broadcast.h"
#include "record.h"
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(void *) != 8 || sizeof(wf_task) == 24, "a task is three words");
_Static_assert(WEFT_MAX_THREADS + WEFT_MAX_GUESTS + WEFT_MAX_BLOCKING <
                   WF_LATCH_MAX_THIEF,
               "a latch holds the index of every worker, and counters have 16 bits");
_Static_assert(offsetof(wf_worker, deque) == 0 && offsetof(wf_deque, owner) == 0,
               "wf_self points at the worker");

/* ---- memory ---- */

/* Zeroed memory that starts at a cache line; freed by wf_aligned_free. */
static void *allocate_lines(size_t size) {
  size_t lines = (size + WF_CACHE_LINE - 1) / WF_CACHE_LINE;
  void *memory = wf_aligned_alloc(WF_CACHE_LINE, lines * WF_CACHE_LINE);
  if (memory != NULL) memset(memory, 0, lines * WF_CACHE_LINE);
  return memory;
}

void wf_worker_init(wf_worker *worker, weft_pool *pool, unsigned index) {
  worker->pool = pool;
  worker->index = index;
  worker->last_victim = -1;
  wf_rng_seed(&worker->rng, (uint64_t)(uintptr_t)worker ^ index);
  wf_latch_init(&worker->terminate);
  wf_deque_init(&worker->deque, pool->options.deque_capacity, 0, pool->eager);
  wf_deque_init(&worker->spawned, pool->options.deque_capacity, 0, pool->eager);
  worker->arena.collects = pool->steals_batches;
}

/* Allocates one block for all bit sets: workers that are present, those at background
 * work, and one set for each kind of sleeper. Each begins at a cache line: every steal
 * reads the first two, and workers that sleep or wake write the others. */
static bool allocate_sets(weft_pool *pool) {
  size_t line_words = WF_CACHE_LINE / sizeof(wf_u64);
  size_t stride = pool->words * line_words;
  wf_u64 *sets =
      (wf_u64 *)allocate_lines((size_t)(2 + WF_SLEEPER_KINDS) * stride * sizeof(wf_u64));
  if (sets == NULL) return false;
  pool->x_present = sets;
  pool->x_background = sets + stride;
  for (int kind = 0; kind < WF_SLEEPER_KINDS; kind++)
    pool->sleep.x_sets[kind] = sets + (size_t)(kind + 2) * stride;
  return true;
}

/* Gives the places of started threads their deques. */
static bool prepare_deques(weft_pool *pool) {
  for (unsigned i = 1; i <= pool->thread_places; i++)
    if (wf_deque_prepare(&pool->workers[i].deque) != 0) return false;
  return true;
}

/* From this many CPUs on woken workers wake others, and a worker that has found work
 * wakes two: a chain of single wake-ups takes 7 us for each worker, some 0.5 ms for 64. A
 * choice: in smaller pools the chain is short, and wake-ups for nothing count more. Not
 * in pools with more threads than CPUs, where a woken thread may have to wait for its
 * turn. */
enum { TREES_FROM_CPUS = 8 };

/* In pools with more threads idle workers take spawned tasks in batches. A choice: it is
 * where searches stop to look at all workers (search.c). With 8 simulated cores, 10,000
 * tasks of 1 us that one worker spawns take 1.6 ms, near the ideal of 1.3; with 16 and
 * single steals they took 6.5 ms. */
enum { BATCHES_ABOVE = 8 };

/* Sets everything that follows from the options. At most half of the CPUs search at once,
 * as in Go and Tokio, and at most half of the threads are at background work, so that the
 * other half is free for what is urgent: both are choices. One still counts as one. */
static void set_sizes(weft_pool *pool) {
  const wf_options *options = &pool->options;
  pool->thread_places = options->threads > 1 && !options->starts_all
                            ? options->threads - 1
                            : options->threads;
  pool->stand_in_first = pool->thread_places + options->guests;
  pool->slots = pool->stand_in_first + options->stand_ins;
  pool->words = wf_bitset_words(pool->slots);
  pool->thread_words = wf_bitset_words(pool->thread_places + 1);
  pool->queue_limit = options->queue_limit;
  pool->steals = options->threads > 1;
  pool->eager = !wf_sys_barrier_prepare();
  pool->exceeds_cpus = options->threads > options->cpus;
  unsigned busy = options->threads < options->cpus ? options->threads : options->cpus;
  pool->max_searchers = busy > 1 ? busy / 2 : 1;
  pool->wakes_in_trees = busy >= TREES_FROM_CPUS && !pool->exceeds_cpus;
  wf_counters_init(&pool->sleep.counters, pool->thread_places);
  pool->steals_batches = pool->thread_places > BATCHES_ABOVE;
  pool->background_limit = pool->thread_places > 1 ? pool->thread_places / 2 : 1;
}

/* Between two CPUs there is nothing to choose. Without memory, or files of the system,
 * nobody counts as nearer than others. */
static void find_near(weft_pool *pool) {
  const wf_options *options = &pool->options;
  wf_topology all;
  if (!pool->steals || options->cpus <= 2) return;
  if (options->topology.count > 0) {
    pool->victims = wf_victims_create(&options->topology, pool->words);
  } else if (wf_topology_read(&all, "", NULL, 0)) {
    pool->victims = wf_victims_create(&all, pool->words);
    wf_topology_free(&all);
  }
}

static bool assign_seats(weft_pool *pool) {
  const wf_options *options = &pool->options;
  if (options->bind == WEFT_BIND_NONE) return true;
  pool->seats = (unsigned *)malloc(options->topology.count * sizeof *pool->seats);
  if (pool->seats == NULL) return false;
  pool->seat_count = wf_bind_order(&options->topology, options->bind, pool->seats);
  return true;
}

bool wf_pool_furnish(weft_pool *pool) {
  set_sizes(pool);
  wf_injector_init(&pool->injector, 0);
  wf_injector_init(&pool->background, 0);
  wf_once_latch_init(&pool->drained);
  pool->workers = (wf_worker *)allocate_lines(pool->slots * sizeof(wf_worker));
  if (pool->workers != NULL)
    for (unsigned i = 0; i < pool->slots; i++) wf_worker_init(&pool->workers[i], pool, i);
  wf_pool_check(pool);
  if (pool->workers == NULL || !allocate_sets(pool) || !prepare_deques(pool) ||
      !assign_seats(pool))
    return false;
  find_near(pool);
  wf_steer_init(pool);
  return true;
}

void wf_pool_clear(weft_pool *pool) {
  for (unsigned i = 0; pool->workers != NULL && i < pool->slots; i++) {
    wf_deque_destroy(&pool->workers[i].deque);
    wf_deque_destroy(&pool->workers[i].spawned);
    wf_arena_destroy(&pool->workers[i].arena);
    wf_record_forget(&pool->workers[i]);
  }
  wf_injector_destroy(&pool->injector);
  wf_injector_destroy(&pool->background);
  wf_steer_free(pool);
  wf_victims_destroy(pool->victims);
  free(pool->seats);
  wf_aligned_free(pool->x_present);
  wf_aligned_free(pool->workers);
}

int wf_pool_allocate(weft_pool **out, const wf_options *options) {
  weft_pool *pool = (weft_pool *)allocate_lines(sizeof *pool);
  if (pool == NULL) {
    wf_options taken = *options;
    wf_options_free(&taken);
    return WEFT_ENOMEM;
  }
  pool->options = *options;
  wf_u32_store_relaxed(&pool->x_generation, wf_fork_generation()); /* nobody sees it */
  if (!wf_pool_furnish(pool)) {
    wf_pool_free(pool);
    return WEFT_ENOMEM;
  }
  *out = pool;
  return 0;
}

void wf_pool_free(weft_pool *pool) {
  wf_pool_clear(pool);
  wf_options_free(&pool->options);
  wf_aligned_free(pool);
}

/* ---- threads ---- */

/* Writes "name-7". A name that is too long is cut, the number never. */
static void thread_name(char out[WF_THREAD_NAME_MAX + 1], const char *prefix,
                        unsigned index) {
  char number[WF_THREAD_NAME_MAX + 1];
  int digits = snprintf(number, sizeof number, "-%u", index);
  WF_ASSERT(digits > 0 && digits <= WF_THREAD_NAME_MAX);
  size_t room = WF_THREAD_NAME_MAX - (size_t)digits;
  size_t length = strlen(prefix) < room ? strlen(prefix) : room;
  /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): the number has the NUL */
  memcpy(out, prefix, length);
  memcpy(out + length, number, (size_t)digits + 1);
}

int wf_worker_start_thread(wf_worker *worker, void (*main)(void *worker)) {
  const wf_options *options = &worker->pool->options;
  char name[WF_THREAD_NAME_MAX + 1];
  thread_name(name, options->name, worker->index);
  return wf_sys_thread_start(&worker->thread, name, options->stack_size, main, worker);
}

int wf_pool_start(weft_pool *pool) {
  int status = 0;
  for (unsigned i = 1; i <= pool->thread_places && status == 0; i++) {
    wf_bitset_add(pool->x_present, i);
    status = wf_worker_start_thread(&pool->workers[i], wf_worker_main);
    if (status != 0)
      wf_bitset_remove(pool->x_present, i);
    else /* relaxed: a hook may ask early; everybody else comes after the creation */
      wf_u32_store_relaxed(&pool->x_started, i);
  }
  /* Release: pairs with the acquire in wf_pool_await_start. */
  wf_u32_store_release(&pool->x_ready, 1);
  wf_sys_wake_all(&pool->x_ready);
  wf_sys_threads_await();
  return status;
}

void wf_pool_await_start(weft_pool *pool) {
  /* Acquire: pairs with the release in wf_pool_start. */
  while (wf_u32_load_acquire(&pool->x_ready) == 0) wf_sys_wait(&pool->x_ready, 0);
}

/* ---- the end ---- */

static void stop_threads(weft_pool *pool) {
  unsigned started = wf_pool_started(pool);
  for (unsigned i = 1; i <= started; i++)
    if (wf_latch_set(&pool->workers[i].terminate)) wf_sleep_wake_worker(pool, i);
  for (unsigned i = 1; i <= started; i++) wf_sys_thread_join(pool->workers[i].thread);
  /* Relaxed: stand-ins, in a hook, take either number. */
  wf_u32_store_relaxed(&pool->x_started, 0);
  wf_pool_check_none_idle(pool);
  WF_ASSERT(wf_u32_peek(&pool->x_background_count) == 0);
  WF_ASSERT(pool->broadcasts_due == NULL);
}

/* Runs what the exit hooks have detached when no thread was left to run it. */
static void run_leftovers(weft_pool *pool) {
  wf_injected left;
  while (wf_injector_take(&pool->injector, &left) ||
         wf_injector_take(&pool->background, &left)) {
    if (pool->queue_limit != 0) wf_pool_begins(pool, left.fn);
    weft_pool_run(pool, left.fn, left.ctx);
  }
}

int wf_pool_create(weft_pool **out, const wf_options *options) {
  wf_fork_prepare();
  wf_record_prepare();
  weft_pool *pool;
  int status = wf_pool_allocate(&pool, options);
  if (status != 0) return status;
  wf_report_add(pool);
  /* To get fewer threads than wanted is no error; an impossible stack size is. */
  if (wf_pool_start(pool) == WEFT_EINVAL && wf_pool_started(pool) == 0) {
    wf_report_remove(pool);
    wf_pool_free(pool);
    return WEFT_EINVAL;
  }
  *out = pool;
  return 0;
}

int weft_pool_create(weft_pool **out, const weft_config *config) {
  if (out == NULL) return WEFT_EINVAL;
  *out = NULL;
  wf_options options;
  int status = wf_options_resolve(&options, config, wf_environment_read());
  return status != 0 ? status : wf_pool_create(out, &options);
}

/* Is a thread from outside in the pool, with a place or without? */
static bool has_guests(const weft_pool *pool) {
  for (unsigned i = 0; i < WF_SERIAL_NUMBERS; i++)
    if (wf_bitset_has(pool->x_serial, i)) return true;
  for (unsigned i = 0; i < pool->slots; i++)
    if ((i == 0 || i > pool->thread_places) && i < pool->stand_in_first &&
        wf_bitset_has(pool->x_present, i))
      return true;
  return false;
}

/* Ends the program if the pool is in use. */
static void check_may_be_destroyed(const weft_pool *pool, const char *call) {
  if (wf_guest_forked_in() == pool)
    wf_fatal(call, "this thread has forked typed tasks and has not joined them");
  if (has_guests(pool)) wf_fatal(call, "the pool is in use by another thread");
}

/* Nobody is in a queue any more. Not true for a pool of the parent process: a lock may be
 * in the hands of a thread that is not in this one. */
static void check_unlocked(const weft_pool *pool) {
  for (unsigned i = 0; i < pool->slots; i++) {
    WF_ASSERT(wf_u32_peek(&pool->workers[i].deque.lock.x_state) == WF_LOCK_FREE);
    WF_ASSERT(wf_u32_peek(&pool->workers[i].spawned.lock.x_state) == WF_LOCK_FREE);
  }
  WF_ASSERT(wf_u32_peek(&pool->injector.push_lock.x_state) == WF_LOCK_FREE);
  WF_ASSERT(wf_u32_peek(&pool->injector.take_lock.x_state) == WF_LOCK_FREE);
  WF_ASSERT(wf_u32_peek(&pool->background.push_lock.x_state) == WF_LOCK_FREE);
  WF_ASSERT(wf_u32_peek(&pool->background.take_lock.x_state) == WF_LOCK_FREE);
}

void wf_pool_destroy(weft_pool *pool, const char *call) {
  if (pool == NULL) return;
  if (wf_guest_find(pool) != NULL)
    wf_fatal(call,
             "called from inside the pool: it would wait for itself (or a scope was "
             "not ended)");
  if (wf_fork_is_stale(pool)) { /* its threads are in the parent process */
    wf_report_remove(pool);
    wf_pool_free(pool);
    return;
  }
  check_may_be_destroyed(pool, call);
  wf_pool_check(pool);
  wf_pool_drain(pool);
  wf_broadcast_close(pool);
  stop_threads(pool); /* exit hooks may still begin blocking sections */
  wf_stand_in_end_all(pool);
  WF_ASSERT(wf_u32_peek(&pool->x_stand_ins_active) == 0);
  WF_ASSERT(wf_sleep_count(pool, WF_SLEEPER_HELPER) == 0);
  run_leftovers(pool);
  wf_steer_await_wakers(pool);
  check_unlocked(pool);
  wf_report_remove(pool);
  wf_pool_free(pool);
}

void weft_pool_destroy(weft_pool *pool) {
  wf_pool_destroy(pool, "weft_pool_destroy");
}
