/* run.c - runs one call: shares its tiles among threads of weft or of an executor.
 *
 * The caller holds the pool's turn, fills the lanes, asks for threads, takes part itself
 * as number 0, and waits for the threads that came. It does not wait for threads that
 * never came: every thread looks into all lanes before it leaves, so when the caller is
 * done, each tile was taken by somebody who is still in the call or has run it.
 *
 * A thread takes one tile at a time (in dynamic forms: what one call of the function
 * gets), never a stock of them, because a function may wait for other tiles.
 *
 * SPDX-License-Identifier: MIT */
#include "run.h"

#include <stdio.h>
#include <stdlib.h>

#include "denormals.h"
#include "pool.h"

static _Thread_local const struct part *current;

void wfp_misuse(const char *name, const char *mistake) {
  (void)fprintf(stderr, "weft: %s: %s\n", name, mistake);
  abort();
}

const struct part *wfp_part_in(const struct pthreadpool *pool) {
  const struct part *p = current;
  while (p != NULL && p->pool != pool) p = p->outer;
  return p;
}

/* ---- taking tiles ---- */

/* Calls the function for `count` tiles side by side. */
static void run_tiles(const struct job *job, size_t thread, struct grid_place *place,
                      size_t number, size_t count) {
  size_t values[GRID_VALUES];
  wfp_grid_seek(&job->grid, place, number);
  wfp_grid_values(&job->grid, place, count, values);
  job->invoke(job, thread, values);
}

/* Takes what the next call of the function gets from a lane: returns how many tiles, 0 if
 * the lane is empty. Relaxed suffices: the numbers say who runs which tile, and nothing
 * else; the scope, or the gate, orders what threads do in a call. */
static size_t claim(struct lane *lane, const struct grid *grid, size_t *number) {
  uintptr_t next = wf_word_load_relaxed(&lane->x_next);
  if (!grid->dynamic) {
    if (next >= lane->end) return 0;
    /* It may run past the end by one for each thread. */
    *number = wf_word_fetch_add_relaxed(&lane->x_next, 1);
    return *number < lane->end ? 1 : 0;
  }
  while (next < lane->end) {
    /* Half of what is left, so that a lane lasts for a few calls of the function and
     * other threads can still help at its end. */
    size_t count = (lane->end - next + 1) / 2;
    size_t most = wfp_grid_side_by_side(grid, next);
    if (count > most) count = most;
    if (wf_word_cas_relaxed(&lane->x_next, &next, next + count)) {
      *number = next;
      return count;
    }
  }
  return 0;
}

/* One thread's share of a call. */
static void take_part(struct pthreadpool *pool, const struct job *job, size_t index) {
  /* Relaxed: only saves the look into the lanes. */
  if (wf_u32_load_relaxed(&pool->x_all_taken) != 0) return;
  const struct part *before = current;
  const struct part self = {pool, index, job->outer};
  current = &self;
  bool flush = (job->flags & PTHREADPOOL_FLAG_DISABLE_DENORMALS) != 0;
  uint64_t settings = flush ? denormals_off() : 0;

  struct grid_place place = {0};
  for (size_t i = 0; i < pool->parts; i++) {
    struct lane *lane = &pool->lanes[(index + i) % pool->parts];
    size_t number = 0;
    for (size_t count; (count = claim(lane, &job->grid, &number)) > 0;) {
      run_tiles(job, index, &place, number, count);
    }
  }
  wf_u32_store_relaxed(&pool->x_all_taken, 1);

  if (flush) denormals_restore(settings);
  current = before;
}

/* The whole call on the calling thread. Dynamic forms get rows as long as they can be. */
static void run_alone(const struct job *job, size_t thread) {
  bool flush = (job->flags & PTHREADPOOL_FLAG_DISABLE_DENORMALS) != 0;
  uint64_t settings = flush ? denormals_off() : 0;
  struct grid_place place = {0};
  for (size_t number = 0, count; number < job->grid.total; number += count) {
    count = job->grid.dynamic ? wfp_grid_side_by_side(&job->grid, number) : 1;
    run_tiles(job, thread, &place, number, count);
  }
  if (flush) denormals_restore(settings);
}

/* ---- threads of weft ---- */

static void seat_task(void *context) {
  const struct seat *seat = context;
  take_part(seat->pool, seat->pool->job, seat->index);
}

/* Tasks that nobody has begun when the caller is done find all tiles taken. If a scope
 * around the call is cancelled, they do not run at all, and the caller does the work. */
static void run_with_weft(struct pthreadpool *pool, const struct job *job) {
  weft_opts opts = WEFT_OPTS_INIT;
  opts.pool = pool->weft;
  opts.name = "pthreadpool";
  weft_scope scope;
  weft_scope_begin_with(&opts, &scope);
  for (size_t i = 1; i < pool->parts; i++) weft_spawn(&scope, seat_task, &pool->seats[i]);
  take_part(pool, job, 0);
  (void)weft_scope_end(&scope);
}

/* ---- threads of an executor ---- */

/* What an executor runs. It may come late, when its call has ended, and then joins the
 * call that is open now, if there is one and it has a lane for this seat. */
static void seat_main(void *context) {
  struct seat *seat = context;
  struct pthreadpool *pool = seat->pool;
  (void)pthread_mutex_lock(&pool->gate);
  const struct job *job = pool->open;
  bool joins = job != NULL && seat->index < pool->parts;
  if (joins) {
    pool->working++;
    (void)pthread_mutex_unlock(&pool->gate);
    take_part(pool, job, seat->index);
    (void)pthread_mutex_lock(&pool->gate);
    pool->working--;
  }
  seat->promised = false;
  pool->promises--;
  if (pool->working == 0 || pool->promises == 0)
    (void)pthread_cond_broadcast(&pool->left);
  (void)pthread_mutex_unlock(&pool->gate);
}

static void run_with_executor(struct pthreadpool *pool, const struct job *job) {
  (void)pthread_mutex_lock(&pool->gate);
  pool->open = job;
  (void)pthread_mutex_unlock(&pool->gate);
  for (size_t i = 1; i < pool->parts; i++) {
    struct seat *seat = &pool->seats[i];
    (void)pthread_mutex_lock(&pool->gate);
    bool asks = !seat->promised;
    if (asks) {
      seat->promised = true;
      pool->promises++;
    }
    (void)pthread_mutex_unlock(&pool->gate);
    /* Without the gate: the executor may run the task at once. */
    if (asks) pool->executor.schedule(pool->executor_context, seat, seat_main);
  }
  take_part(pool, job, 0);
  (void)pthread_mutex_lock(&pool->gate);
  pool->open = NULL;
  while (pool->working > 0) (void)pthread_cond_wait(&pool->left, &pool->gate);
  (void)pthread_mutex_unlock(&pool->gate);
}

/* ---- all calls ---- */

/* Gives each thread that may take part the same number of tiles, or one more. */
static void fill_lanes(struct pthreadpool *pool, size_t total) {
  size_t each = total / pool->parts;
  size_t more = total % pool->parts;
  size_t begin = 0;
  for (size_t i = 0; i < pool->parts; i++) {
    struct lane *lane = &pool->lanes[i];
    size_t length = each + (i < more ? 1 : 0);
    /* Relaxed: threads come later, by way of a scope or the gate. */
    wf_word_store_relaxed(&lane->x_next, begin);
    begin += length;
    lane->end = begin;
  }
  wf_u32_store_relaxed(&pool->x_all_taken, 0);
}

void wfp_run(pthreadpool_t pool, struct job *job) {
  size_t total = job->grid.total;
  const struct part *inside = pool != NULL ? wfp_part_in(pool) : NULL;
  if (inside != NULL || pool == NULL || total <= 1 || pool->max_threads == 1) {
    run_alone(job, inside != NULL ? inside->index : 0);
    return;
  }
  job->outer = current;
  (void)pthread_mutex_lock(&pool->turn);
  size_t threads = wf_word_load_relaxed(&pool->x_threads);
  pool->parts = threads < total ? threads : total;
  pool->job = job;
  fill_lanes(pool, total);
  if (pool->parts == 1) {
    take_part(pool, job, 0);
  } else if (pool->executor.num_threads != NULL) {
    run_with_executor(pool, job);
  } else {
    run_with_weft(pool, job);
  }
  pool->job = NULL;
  (void)pthread_mutex_unlock(&pool->turn);
}
