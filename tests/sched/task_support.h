/* support.h - what the tests of scopes, handles and their companions share: pools of
 * every size, gates, threads that are kept busy, and marks that count calls.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_TASK_SUPPORT_H
#define TESTS_TASK_SUPPORT_H

#include "sched/pool_support.h"

#include <stdlib.h>
#include <string.h>
#include <weft/scope.h>
#include <weft/task.h>

static inline weft_opts opts_on(weft_pool *pool) {
  weft_opts opts = WEFT_OPTS_INIT;
  opts.pool = pool;
  return opts;
}

static inline void spin(unsigned times) {
  for (unsigned i = 0; i < times; i++) wf_sys_relax();
}

/* Lets other threads run for a while. Never needed for a test to pass: it gives a defect
 * the chance to show. */
static inline void give_others_time(void) {
  for (int i = 0; i < 200; i++) sched_yield();
}

/* ---- calls on threads of one's choice ---- */

typedef struct started_call {
  weft_fn *fn;
  void *ctx;
  atomic_bool done;
} started_call;

static inline void run_started_call(void *ctx) {
  started_call *call = ctx;
  call->fn(call->ctx);
  atomic_store(&call->done, true);
}

/* Runs fn(ctx) on a started thread of the pool. The caller waits without taking part. */
static inline void run_on_started(weft_pool *pool, weft_fn *fn, void *ctx) {
  started_call call = {.fn = fn, .ctx = ctx};
  REQUIRE(weft_pool_detach(pool, run_started_call, &call) == 0);
  AWAIT(atomic_load(&call.done));
}

/* Calls fn(ctx) in pools of several sizes, in ordinary ones and in those whose deques
 * must grow at once; by a caller from outside and by a started thread. */
static inline void in_pools(weft_fn *fn, void *ctx) {
  static const unsigned sizes[] = {1, 2, 3, 8};
  for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    for (unsigned capacity = 0; capacity <= 2; capacity += 2) {
      weft_config config = WEFT_CONFIG_INIT;
      config.threads = sizes[i];
      config.deque_capacity = capacity;
      weft_pool *pool = pool_with(&config);
      weft_pool_run(pool, fn, ctx);
      run_on_started(pool, fn, ctx);
      weft_pool_destroy(pool);
    }
  }
}

/* ---- gates ---- */

/* A place where tasks stand until it is opened. */
typedef struct gate {
  atomic_uint inside; /* so many have come */
  atomic_uint left;   /* so many have gone, and touch the gate no more */
  atomic_bool is_open;
} gate;

static inline void gate_pass(void *ctx) {
  gate *g = ctx;
  atomic_fetch_add(&g->inside, 1);
  AWAIT(atomic_load(&g->is_open));
  atomic_fetch_add(&g->left, 1);
}

static inline void gate_open(gate *g) {
  atomic_store(&g->is_open, true);
}

/* Keeps every started thread of a pool busy, from here until unplug. */
static inline void plug_threads(gate *plug, weft_pool *pool) {
  unsigned started = wf_pool_started(pool);
  for (unsigned i = 0; i < started; i++)
    REQUIRE(weft_pool_detach(pool, gate_pass, plug) == 0);
  AWAIT(atomic_load(&plug->inside) == started);
}

static inline void unplug(gate *plug) {
  gate_open(plug);
  AWAIT(atomic_load(&plug->left) == atomic_load(&plug->inside));
}

/* ---- marks ---- */

/* Each task has a mark of its own, a plain byte: so a task that runs twice at once, or
 * whose work is not visible to the one who waits, is a data race that ThreadSanitizer
 * tells. */
static inline void mark(void *ctx) {
  unsigned char *own = ctx;
  ++*own;
}

static inline unsigned char *marks_of(size_t count) {
  unsigned char *marks = calloc(count + 1, 1);
  REQUIRE(marks != NULL);
  return marks;
}

/* Every mark was made exactly `times`; they start again from 0. */
static inline void check_marks(unsigned char *marks, size_t count, unsigned times) {
  for (size_t i = 0; i < count; i++)
    if (marks[i] != times) {
      CHECK_MSG(false, "task %zu of %zu ran %d times, not %u", i, count, marks[i], times);
      break;
    }
  memset(marks, 0, count);
}

/* A mark that also checks in which pool its task runs. */
typedef struct spot {
  weft_pool *pool;
  unsigned runs;
} spot;

static inline void run_spot(void *ctx) {
  spot *own = ctx;
  CHECK_EQ(weft_pool_current(), own->pool);
  CHECK(weft_worker_index() >= 0);
  own->runs++;
}

static inline spot *spots_of(size_t count, weft_pool *pool) {
  spot *spots = malloc((count + 1) * sizeof *spots);
  REQUIRE(spots != NULL);
  for (size_t i = 0; i < count; i++) spots[i] = (spot){pool, 0};
  return spots;
}

static inline void check_spots(const spot *spots, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (!CHECK_MSG(spots[i].runs == 1, "spot %zu of %zu: %u runs", i, count,
                   spots[i].runs))
      break;
}

/* ---- largest values ---- */

static inline void keep_largest(atomic_ulong *largest, unsigned long value) {
  unsigned long seen = atomic_load(largest);
  while (seen < value && !atomic_compare_exchange_weak(largest, &seen, value)) {
  }
}

/* How many are in a section at once, and the most that ever were. */
typedef struct crowd {
  atomic_ulong now, most;
} crowd;

static inline void crowd_enter(crowd *c) {
  keep_largest(&c->most, atomic_fetch_add(&c->now, 1) + 1);
}

static inline void crowd_leave(crowd *c) {
  atomic_fetch_sub(&c->now, 1);
}

#endif
