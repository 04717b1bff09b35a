/* support.h - what the tests of life in real processes share besides child.h: work of
 * every kind whose result is known, and load in the background.
 *
 * Include it first, with _GNU_SOURCE defined before.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_PROCESS_SUPPORT_H
#define TESTS_PROCESS_SUPPORT_H

#include "child.h"
#include "sched/support.h"

#include <weft.h>

/* ---- work with a known result; each returns whether it was right ---- */

static inline bool tree_is_right(unsigned depth) {
  tree root = {depth, 0};
  tree_count(&root);
  return CHECK_EQ(root.leaves, (uint64_t)1 << depth);
}

/* Half of the tasks spawn another one, and each is a small tree. */
typedef struct spawner {
  weft_scope *scope;
  atomic_ulong *ran;
} spawner;

static inline void spawned_leaf(void *ctx) {
  const spawner *self = ctx;
  tree_is_right(2);
  atomic_fetch_add(self->ran, 1);
}

static inline void spawned_branch(void *ctx) {
  const spawner *self = ctx;
  weft_spawn(self->scope, spawned_leaf, ctx);
  tree_is_right(3);
  atomic_fetch_add(self->ran, 1);
}

static inline bool scope_is_right(unsigned long tasks) {
  atomic_ulong ran = 0;
  weft_scope scope;
  spawner self = {&scope, &ran};
  weft_scope_begin(&scope);
  for (unsigned long i = 0; i < tasks; i++) weft_spawn(&scope, spawned_branch, &self);
  bool right = CHECK_EQ(weft_scope_end(&scope), 0);
  return CHECK_EQ(atomic_load(&ran), 2 * tasks) && right;
}

static inline bool async_is_right(void) {
  atomic_ulong ran = 0;
  weft_handle *handle = NULL;
  if (!CHECK_EQ(weft_async(&handle, count_one, &ran), 0)) return false;
  bool right = CHECK_EQ(weft_handle_wait(handle), 0);
  return CHECK_EQ(atomic_load(&ran), 1) && right;
}

/* Yields too, for where the calling thread is the only one that could run the work. Not
 * for pools that hold functions which do not end: one of them might be taken. */
static inline bool detach_is_right(unsigned long jobs) {
  atomic_ulong ran = 0;
  for (unsigned long i = 0; i < jobs; i++)
    if (!CHECK_EQ(weft_detach(count_one, &ran), 0)) _exit(1); /* ran is on this stack */
  while (atomic_load(&ran) < jobs)
    if (!weft_yield()) sched_yield();
  return CHECK_EQ(atomic_load(&ran), jobs);
}

static inline void broadcast_leaf(unsigned index, unsigned count, void *ctx) {
  if (CHECK(index < count)) atomic_fetch_add((atomic_ulong *)ctx, 1);
}

static inline bool broadcast_is_right(void) {
  atomic_ulong ran = 0;
  weft_broadcast(broadcast_leaf, &ran);
  return CHECK(atomic_load(&ran) >= 1);
}

static inline bool everything_is_right(void) {
  bool right = tree_is_right(8);
  right = scope_is_right(50) && right;
  right = async_is_right() && right;
  right = detach_is_right(20) && right;
  return broadcast_is_right() && right;
}

/* The same in a pool. */
static inline void note_everything(void *ctx) {
  *(bool *)ctx = everything_is_right();
}

static inline bool everything_is_right_in(weft_pool *pool) {
  bool right = false;
  weft_pool_run(pool, note_everything, &right);
  return right;
}

/* A pool in which another thread must take the second half of a join. */
static inline void pair_in(weft_pool *pool) {
  weft_pool_run(pool, join_pairing, NULL);
}

/* For work that goes on until it is told to stop. */
static inline void spin_until_true(void *ctx) {
  AWAIT(atomic_load((atomic_bool *)ctx));
}

static inline bool use_everything(void *arg) {
  (void)arg;
  return everything_is_right();
}

/* ---- load in the background ---- */

enum { LOADERS = 3 };

/* Threads from outside that work in a pool until they are told to stop. */
typedef struct load {
  weft_pool *pool;
  pthread_t threads[LOADERS];
  atomic_bool stop;
  atomic_ulong rounds;
} load;

static inline void load_work(void *ctx) {
  load *self = ctx;
  while (!atomic_load(&self->stop)) {
    tree_is_right(9);
    scope_is_right(20);
    atomic_fetch_add(&self->rounds, 1);
  }
}

static inline void *load_main(void *arg) {
  load *self = arg;
  weft_pool_run(self->pool, load_work, self);
  return NULL;
}

/* Starts the load; the pool (NULL: the global one) is at work when the call returns. */
static inline void load_start(load *self, weft_pool *pool) {
  self->pool = pool;
  atomic_init(&self->stop, false);
  atomic_init(&self->rounds, 0);
  for (int i = 0; i < LOADERS; i++)
    REQUIRE(pthread_create(&self->threads[i], NULL, load_main, self) == 0);
  AWAIT(atomic_load(&self->rounds) > 0);
}

static inline void load_stop(load *self) {
  /* It has survived until here: another round on every thread. */
  unsigned long seen = atomic_load(&self->rounds);
  AWAIT(atomic_load(&self->rounds) >= seen + LOADERS);
  atomic_store(&self->stop, true);
  for (int i = 0; i < LOADERS; i++) pthread_join(self->threads[i], NULL);
}

#endif
