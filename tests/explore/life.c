/* Pools with threads of their own: the end in each phase, threads that do not start,
 * memory that is missing, joins, the global pool.
 *
 * SPDX-License-Identifier: MIT */
#include <explore/engine/explore.h>

#include <core/atomic.h>
#include <sys/sys.h>
#include <weft.h>

static wf_u32 x_ran;

static void nothing_ran(void) {
  wf_u32_init(&x_ran, 0);
}

static weft_config small_config(unsigned threads) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = threads;
  config.guests = 1;
  config.blocking = WEFT_NO_BLOCKING;
  config.deque_capacity = 4;
  config.idle = WEFT_IDLE_POWER_SAVING;
  return config;
}

static void count_run(void *ctx) {
  (void)ctx;
  wf_u32_fetch_add_relaxed(&x_ran, 1);
}

static weft_pool *make(unsigned threads) {
  weft_config config = small_config(threads);
  weft_pool *pool;
  XP_CHECK(weft_pool_create(&pool, &config) == 0);
  return pool;
}

static void ran(uint32_t expected) {
  XP_CHECK(wf_u32_load_relaxed(&x_ran) == expected);
}

/* ---- the end ---- */

static void end_at_once(void) {
  weft_pool_destroy(make(2));
}
static void end_of_two(void) {
  weft_pool_destroy(make(3));
}
SCENARIO(end_at_once, .setup = nothing_ran, .threads = {end_at_once}, .bound = 3)
SCENARIO(end_of_two_threads, .setup = nothing_ran, .threads = {end_of_two},
         .quick_bound = 1)
SCENARIO(end_spurious, .setup = nothing_ran, .threads = {end_at_once}, .spurious = 2,
         .bound = 3, .ra_bound = 2, .quick_bound = 2)

static void end_with_queued(void) {
  weft_pool *pool = make(2);
  XP_CHECK(weft_pool_detach(pool, count_run, NULL) == 0);
  weft_pool_destroy(pool);
  ran(1);
}
SCENARIO(end_with_queued_work, .setup = nothing_ran, .threads = {end_with_queued},
         .bound = 3, .ra_bound = 2, .quick_bound = 1)
SCENARIO(end_with_queued_work_no_barrier, .setup = nothing_ran,
         .threads = {end_with_queued}, .no_barrier = true, .bound = 3, .ra_bound = 2,
         .quick_bound = 1)
SCENARIO(end_with_queued_work_spurious, .setup = nothing_ran,
         .threads = {end_with_queued}, .spurious = 2, .quick_bound = -2)

/* What is detached detaches more: the end waits for all of it. */
static void detaches_more(void *ctx) {
  XP_CHECK(weft_detach(count_run, ctx) == 0);
  count_run(ctx);
}
static void end_with_growing_work(void) {
  weft_pool *pool = make(2);
  XP_CHECK(weft_pool_detach(pool, detaches_more, NULL) == 0);
  weft_pool_destroy(pool);
  ran(2);
}
SCENARIO(end_with_growing_work, .setup = nothing_ran, .threads = {end_with_growing_work},
         .quick_bound = 1)

/* An exit hook detaches when threads may have ended. */
static void detach_at_exit(unsigned worker, void *ctx) {
  (void)worker;
  XP_CHECK(weft_detach(count_run, ctx) == 0);
}
static void end_with_hooks(void) {
  weft_config config = small_config(2);
  weft_pool *pool;
  config.on_exit = detach_at_exit;
  XP_CHECK(weft_pool_create(&pool, &config) == 0);
  weft_pool_destroy(pool);
  ran(1);
}
SCENARIO(end_with_exit_hook, .setup = nothing_ran, .threads = {end_with_hooks},
         .bound = 3, .ra_bound = 2, .quick_bound = 1)

/* No broadcasts any more means that nothing is left which could make one: it goes to both
 * started threads. */
static void is_one_of_two(unsigned index, unsigned count, void *ctx) {
  XP_CHECK(index < count && count == 2);
  count_run(ctx);
}
static void broadcasts(void *ctx) {
  weft_broadcast(is_one_of_two, ctx);
}
static void end_with_broadcast(void) {
  weft_pool *pool = make(3);
  XP_CHECK(weft_pool_detach(pool, count_run, NULL) == 0);
  XP_CHECK(weft_pool_detach(pool, broadcasts, NULL) == 0);
  weft_pool_destroy(pool);
  ran(3);
}
SCENARIO(end_with_queued_broadcast, .setup = nothing_ran, .threads = {end_with_broadcast},
         .modes = XP_SC | XP_TSO, .quick_bound = 1)
SCENARIO(end_with_queued_broadcast_ra, .setup = nothing_ran,
         .threads = {end_with_broadcast}, .modes = XP_RA, .bound = 1, .quick_bound = -2)

/* The hook of a stand-in broadcasts while the pool ends: as many are called as the
 * function is told. */
typedef struct announced {
  wf_u32 x_calls, x_count;
} announced;
static void note_announced(unsigned index, unsigned count, void *ctx) {
  announced *a = (announced *)ctx;
  XP_CHECK(index < count);
  wf_u32_store_relaxed(&a->x_count, count);
  wf_u32_fetch_add_relaxed(&a->x_calls, 1);
}
static void broadcast_in_hook(unsigned worker, void *ctx) {
  announced a = {0};
  (void)ctx;
  if (worker < 2) return; /* the started thread */
  weft_broadcast(note_announced, &a);
  XP_CHECK(wf_u32_load_relaxed(&a.x_calls) == wf_u32_load_relaxed(&a.x_count));
}
static void blocks(void *ctx) {
  weft_blocking_begin();
  count_run(ctx);
  weft_blocking_end();
}
static void end_with_stand_in(void) {
  weft_config config = small_config(2);
  weft_pool *pool;
  config.blocking = 1;
  config.on_start = broadcast_in_hook;
  XP_CHECK(weft_pool_create(&pool, &config) == 0);
  XP_CHECK(weft_pool_detach(pool, blocks, NULL) == 0);
  XP_CHECK(weft_pool_detach(pool, count_run, NULL) == 0);
  weft_pool_destroy(pool);
  ran(2);
}
SCENARIO(end_with_stand_in_hook, .setup = nothing_ran, .threads = {end_with_stand_in},
         .modes = XP_SC, .quick_bound = 1)

/* A background function at the end. */
static void end_with_background(void) {
  weft_pool *pool = make(2);
  weft_opts opts = WEFT_OPTS_INIT;
  opts.pool = pool;
  opts.lane = WEFT_LANE_BACKGROUND;
  XP_CHECK(weft_detach_with(&opts, count_run, NULL) == 0);
  weft_pool_destroy(pool);
  ran(1);
}
SCENARIO(end_with_background_work, .setup = nothing_ran, .threads = {end_with_background},
         .bound = 3, .ra_bound = 2, .quick_bound = 1)

/* ---- the start ---- */

static void join_two(void *ctx) {
  weft_join(count_run, ctx, count_run, ctx);
}

/* With fewer threads than wanted, or none, everything still runs. */
static void works_all_the_same(void) {
  weft_config config = small_config(3);
  weft_pool *pool;
  if (weft_pool_create(&pool, &config) != 0) return;
  weft_pool_run(pool, join_two, NULL);
  XP_CHECK(weft_pool_detach(pool, count_run, NULL) == 0);
  weft_pool_destroy(pool);
  ran(3);
}
SCENARIO(start_with_missing_threads, .setup = nothing_ran,
         .threads = {works_all_the_same}, .modes = XP_SC | XP_TSO, .failing_threads = 2,
         .bound = 1, .quick_bound = -2)

static void created_or_not(void) {
  weft_config config = small_config(2);
  weft_pool *pool;
  if (weft_pool_create(&pool, &config) != 0) return;
  weft_pool_run(pool, join_two, NULL);
  weft_pool_destroy(pool);
  ran(2);
}
SCENARIO(start_without_memory, .setup = nothing_ran, .threads = {created_or_not},
         .failing_allocations = 1, .bound = 1)

/* A hook at the start comes when all threads are there, or are known not to be. */
static void sees_all_threads(unsigned worker, void *ctx) {
  (void)worker;
  XP_CHECK(weft_thread_count() == 3);
  count_run(ctx);
}
static void start_with_hooks(void) {
  weft_config config = small_config(3);
  weft_pool *pool;
  config.on_start = sees_all_threads;
  XP_CHECK(weft_pool_create(&pool, &config) == 0);
  weft_pool_destroy(pool);
  ran(2);
}
SCENARIO(start_hook_sees_all_threads, .setup = nothing_ran, .threads = {start_with_hooks},
         .quick_bound = 1)

/* ---- work of its own threads ---- */

static void join_in_pool(void) {
  weft_pool *pool = make(2);
  weft_pool_run(pool, join_two, NULL);
  weft_pool_destroy(pool);
  ran(2);
}
SCENARIO(pool_join, .setup = nothing_ran, .threads = {join_in_pool}, .quick_bound = 1)

/* Tasks that stay private until a worker, which looks at its clock more often, asks for
 * them and takes over: each half sees what was written before the fork, and the join sees
 * what the halves have written. */
typedef struct pair {
  unsigned in, out;
} pair;

static void copy_pair(void *ctx) {
  pair *p = (pair *)ctx;
  p->out = p->in;
}

static void inner_join(void *ctx) {
  pair *pairs = (pair *)ctx;
  pairs[1].in = 2;
  weft_join(copy_pair, &pairs[0], copy_pair, &pairs[1]);
}

static void nested_joins(void *ctx) {
  pair *pairs = (pair *)ctx;
  pairs[0].in = 1;
  pairs[2].in = 3;
  weft_join(inner_join, pairs, copy_pair, &pairs[2]);
  for (unsigned i = 0; i < 3; i++) XP_CHECK(pairs[i].out == i + 1);
}

/* The first fork is offered at once; those inside stay private. */
static void offered_and_nested(void *ctx) {
  weft_join(nested_joins, ctx, count_run, NULL);
}

static void nested_in_pool(void) {
  weft_pool *pool = make(2);
  pair pairs[3] = {{0, 0}, {0, 0}, {0, 0}};
  weft_pool_run(pool, offered_and_nested, pairs);
  weft_pool_destroy(pool);
}
SCENARIO(pool_take_over, .setup = nothing_ran, .threads = {nested_in_pool},
         .tick_ns = 3100, .ra_bound = 1, .quick_bound = 1)

/* ---- the global pool ---- */

static void uses_global(void) {
  weft_config config = small_config(2);
  int status = weft_init(&config);
  XP_CHECK(status == 0 || status == WEFT_EBUSY);
  weft_join(count_run, NULL, count_run, NULL);
}
static void two_have_joined(void) {
  ran(4);
}
static wf_u32 x_through;
static void global_begins(void) {
  nothing_ran();
  wf_u32_init(&x_through, 0);
}
static void first_of_two(void) {
  uses_global();
  while (wf_u32_load_acquire(&x_through) == 0) wf_sys_wait(&x_through, 0);
  weft_shutdown();
}
static void second_of_two(void) {
  uses_global();
  wf_u32_store_release(&x_through, 1);
  wf_sys_wake_all(&x_through);
}
SCENARIO(global_used_by_two, .setup = global_begins,
         .threads = {first_of_two, second_of_two}, .check = two_have_joined, .bound = 1,
         .modes = XP_SC | XP_TSO, .quick_bound = -2)

/* A thread that has not made the pool, nor waited for its maker, finds it whole. */
static wf_u32 x_made;

static void made_by_another(void) {
  global_begins();
  wf_u32_init(&x_made, 0);
}
static void makes_global(void) {
  weft_config config = small_config(2);
  XP_CHECK(weft_init(&config) == 0);
  wf_u32_store_relaxed(&x_made, 1);
  while (wf_u32_load_acquire(&x_through) == 0) wf_sys_wait(&x_through, 0);
  weft_shutdown();
}
static void finds_global(void) {
  while (wf_u32_load_relaxed(&x_made) == 0) wf_sys_relax();
  if (xp_any(2) == 0) {
    const unsigned places = weft_worker_limit();
    XP_CHECK(places == 2);
  } else {
    weft_yield();
  }
  wf_u32_store_release(&x_through, 1);
  wf_sys_wake_all(&x_through);
}
SCENARIO(global_found_by_another, .setup = made_by_another,
         .threads = {makes_global, finds_global}, .bound = 1)

/* ---- one pool inside another ---- */

static weft_pool *outer_pool, *inner_pool;

static void in_inner(void *ctx) {
  weft_pool_run(inner_pool, join_two, ctx);
}
static void pool_in_pool(void) {
  outer_pool = make(2);
  inner_pool = make(2);
  weft_pool_run(outer_pool, in_inner, NULL);
  weft_pool_destroy(inner_pool);
  weft_pool_destroy(outer_pool);
  ran(2);
}
SCENARIO(pool_inside_pool, .setup = nothing_ran, .threads = {pool_in_pool}, .bound = 1,
         .quick_bound = -2)
