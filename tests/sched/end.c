/* The end of a pool (V26): what was submitted is run by a pool that still works as one,
 * exit hooks are the last thing on their threads, and misuse is reported.
 *
 * SPDX-License-Identifier: MIT */
#include "support.h"

/* ---- exit hooks ---- */

enum { MOST_WORKERS = 8, DETACHED = 200 };

typedef struct hooked {
  atomic_bool ended[MOST_WORKERS]; /* the exit hook of that thread has begun */
  atomic_ulong ran, ran_late;
  weft_pool *pool;
} hooked;

static void note_end(unsigned worker, void *ctx) {
  hooked *all = ctx;
  REQUIRE(worker < MOST_WORKERS);
  atomic_store(&all->ended[worker], true);
}

static void run_hooked(void *ctx) {
  hooked *all = ctx;
  int index = weft_worker_index();
  REQUIRE(index >= 0 && index < MOST_WORKERS);
  if (atomic_load(&all->ended[index])) atomic_fetch_add(&all->ran_late, 1);
  if (atomic_fetch_add(&all->ran, 1) < DETACHED / 2)
    CHECK_EQ(weft_detach(run_hooked, all), 0);
  check_tree(4);
}

/* Tasks that detach tasks while the pool ends: none comes after its thread's hook. */
TEST(v26_no_task_runs_after_the_exit_hook_of_its_thread) {
  for (unsigned long i = 0; i < scaled(300); i++) {
    hooked all;
    weft_config config = WEFT_CONFIG_INIT;
    config.threads = 2 + (unsigned)(i % 3);
    config.guests = 1;
    config.on_exit = note_end;
    config.hook_ctx = &all;
    atomic_init(&all.ran, 0);
    atomic_init(&all.ran_late, 0);
    for (int k = 0; k < MOST_WORKERS; k++) atomic_init(&all.ended[k], false);
    all.pool = pool_with(&config);
    for (int k = 0; k < DETACHED / 2; k++)
      CHECK_EQ(weft_pool_detach(all.pool, run_hooked, &all), 0);
    weft_pool_destroy(all.pool);
    CHECK_EQ(atomic_load(&all.ran), DETACHED);
    CHECK_EQ(atomic_load(&all.ran_late), 0);
  }
}

/* ---- the pool works until everything has returned ---- */

/* The second half must run on another thread, although the pool is ending. */
static void pair_while_ending(void *ctx) {
  const weft_pool *pool = weft_pool_current();
  AWAIT(wf_u32_load_acquire(&pool->x_draining) != 0);
  join_pairing(NULL);
  count_one(ctx);
}

TEST(v26_draining_keeps_its_parallelism) {
  for (unsigned threads = 3; threads <= 8; threads++) { /* at least two are started */
    for (unsigned long i = 0; i < scaled(100); i++) {
      weft_pool *pool = sleepy_pool_of(threads);
      atomic_ulong done = 0;
      CHECK_EQ(weft_pool_detach(pool, pair_while_ending, &done), 0);
      weft_pool_destroy(pool);
      CHECK_EQ(atomic_load(&done), 1);
    }
  }
}

/* ---- calls without a place ---- */

typedef struct crossing {
  weft_pool *to;
  unsigned limit, calls;
} crossing;

static void check_number(void *ctx) {
  crossing *c = ctx;
  c->limit = weft_worker_limit();
  CHECK_EQ(weft_worker_index(), c->limit); /* the lowest one beyond the places */
  c->calls++;
}

static void cross(void *ctx) {
  weft_pool_run(((crossing *)ctx)->to, check_number, ctx);
}

static void cross_often(void *ctx) {
  for (int i = 0; i < 3000; i++) cross(ctx);
}

/* This thread has the only place of c->to; tasks of another pool find none. */
static void occupy_and_cross(void *ctx) {
  weft_pool *from = pool_of(2);
  CHECK_EQ(weft_pool_detach(from, cross_often, ctx), 0);
  weft_pool_destroy(from);
}

TEST(v10_numbers_of_calls_without_a_place_are_given_back) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = 2;
  config.guests = 1;
  weft_pool *pool = pool_with(&config);
  crossing c = {pool, 0, 0};
  weft_pool_run(pool, occupy_and_cross, &c);
  CHECK_EQ(c.calls, 3000);
  weft_pool_destroy(pool);
}
