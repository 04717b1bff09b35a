/* Hooks that use the pool, and functions that detach others while the pool ends: nothing
 * hangs, nothing is forgotten, and every thread that was started has been joined when
 * weft_pool_destroy returns.
 *
 * SPDX-License-Identifier: MIT */
#include "support.h"

/* ---- broadcasts that know whether they are complete ---- */

typedef struct announced {
  atomic_uint calls, count;
} announced;

static void note_announced(unsigned index, unsigned count, void *ctx) {
  announced *a = ctx;
  CHECK_MSG(index < count, "index %u of %u", index, count);
  atomic_store(&a->count, count);
  atomic_fetch_add(&a->calls, 1);
}

/* Broadcasts in the current pool. All calls have returned when the broadcast does.
 * Returns how many threads it was. */
static unsigned announce(void) {
  announced a = {.calls = 0};
  weft_broadcast(note_announced, &a);
  CHECK_EQ(atomic_load(&a.calls), atomic_load(&a.count));
  return atomic_load(&a.count);
}

/* ---- pools with hooks ---- */

typedef void hook_fn(unsigned worker, void *ctx);

typedef struct hooked {
  atomic_ulong hooks, detached, ran; /* calls that have ended */
  unsigned threads;
} hooked;

/* Long enough for others to come, such as the thread that a blocking section adds. */
static void linger(void) {
  harness_linger(50);
}

static void linger_blocked(void) {
  weft_blocking_begin();
  linger();
  weft_blocking_end();
}

static weft_pool *hooked_pool(hooked *h, hook_fn *on_start, hook_fn *on_exit) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = h->threads;
  config.on_start = on_start;
  config.on_exit = on_exit;
  config.hook_ctx = h;
  return pool_with(&config);
}

/* Makes and ends pools of several sizes, as idle as they are and after some work. A
 * thread that nobody joins would use a pool that is gone; so they are counted. */
static void check_hooks(hook_fn *on_start, hook_fn *on_exit) {
  const unsigned before = harness_thread_count();
  for (unsigned long i = 0; i < scaled(100); i++) {
    for (unsigned threads = 1; threads <= 4; threads++) {
      hooked h = {.threads = threads};
      weft_pool *pool = hooked_pool(&h, on_start, on_exit);
      const unsigned started = wf_pool_started(pool);
      if (i % 2 == 1) check_tree_in(pool, 6);
      weft_pool_destroy(pool);
      CHECK_MSG(atomic_load(&h.hooks) >= started, "%lu hooks of %u threads",
                atomic_load(&h.hooks), started);
      CHECK_EQ(atomic_load(&h.ran), atomic_load(&h.detached));
      if (!CHECK_EQ(harness_thread_count(), before)) return;
    }
  }
}

/* ---- broadcasts ---- */

/* Threads that have ended do not answer, so the one that calls is the only one. */
static void announce_the_exit(unsigned worker, void *ctx) {
  (void)worker;
  CHECK_EQ(announce(), 1);
  atomic_fetch_add(&((hooked *)ctx)->hooks, 1);
}

TEST(an_exit_hook_broadcasts) {
  check_hooks(NULL, announce_the_exit);
}

/* Other threads may not be there yet, or the pool may be ending already; but the numbers
 * of the threads are always below their count. */
static void announce_the_start(unsigned worker, void *ctx) {
  (void)worker;
  announce();
  atomic_fetch_add(&((hooked *)ctx)->hooks, 1);
}

TEST(a_start_hook_broadcasts) {
  check_hooks(announce_the_start, NULL);
}

TEST(a_start_hook_and_an_exit_hook_broadcast) {
  check_hooks(announce_the_start, announce_the_exit);
}

/* ---- blocking sections ---- */

/* While the pool ends it adds no threads any more. */
static void block_in_the_hook(unsigned worker, void *ctx) {
  (void)worker;
  linger_blocked();
  atomic_fetch_add(&((hooked *)ctx)->hooks, 1);
}

TEST(an_exit_hook_blocks) {
  check_hooks(NULL, block_in_the_hook);
}

TEST(a_start_hook_blocks) {
  check_hooks(block_in_the_hook, NULL);
}

/* What an exit hook detaches may be run when hardly a thread is left. */
static void run_blocked(void *ctx) {
  linger_blocked();
  atomic_fetch_add(&((hooked *)ctx)->ran, 1);
}

static void detach_blocking_work(unsigned worker, void *ctx) {
  hooked *h = ctx;
  (void)worker;
  CHECK_EQ(weft_detach(run_blocked, h), 0);
  atomic_fetch_add(&h->detached, 1);
  atomic_fetch_add(&h->hooks, 1);
}

TEST(an_exit_hook_detaches_work_that_blocks) {
  check_hooks(NULL, detach_blocking_work);
}

/* All of it at once, and the detached function broadcasts too. */
static void run_everything(void *ctx) {
  linger_blocked();
  announce();
  check_tree(4);
  atomic_fetch_add(&((hooked *)ctx)->ran, 1);
}

static void use_everything(unsigned worker, void *ctx) {
  hooked *h = ctx;
  (void)worker;
  CHECK_EQ(weft_detach(run_everything, h), 0);
  atomic_fetch_add(&h->detached, 1);
  linger_blocked();
  announce();
  atomic_fetch_add(&h->hooks, 1);
}

TEST(hooks_do_everything) {
  check_hooks(use_everything, use_everything);
}

/* ---- a function that detaches another one while the pool ends ---- */

/* The first function returns when it has detached the second, at any moment of the end of
 * the pool. It was then too late once to see that the queue was not empty, and the other
 * threads had stopped when the second one wanted their answers. */
typedef struct relay {
  unsigned spins;
  unsigned threads;
  atomic_uint ran;
} relay;

static void second_function(void *ctx) {
  relay *r = ctx;
  spin(r->spins);
  /* It is on a started thread of a pool that still works as one. */
  CHECK_EQ(announce(), r->threads - 1);
  linger_blocked();
  atomic_fetch_add(&r->ran, 1);
}

static void first_function(void *ctx) {
  relay *r = ctx;
  CHECK_EQ(weft_detach(second_function, ctx), 0);
  atomic_fetch_add(&r->ran, 1);
}

TEST(a_detached_function_detaches_another_one_at_the_end) {
  const unsigned before = harness_thread_count();
  uint64_t random = harness_seed();
  for (unsigned i = 0; i < 1000 / harness_slowdown(); i++) {
    weft_config config = WEFT_CONFIG_INIT;
    config.threads = 3;
    config.idle = WEFT_IDLE_LOW_LATENCY;
    relay r = {.threads = config.threads};
    r.spins = (unsigned)(harness_random(&random) % 10000);
    weft_pool *pool = pool_with(&config);
    CHECK_EQ(weft_pool_detach(pool, first_function, &r), 0);
    spin((unsigned)(harness_random(&random) % 3000));
    weft_pool_destroy(pool);
    CHECK_EQ(atomic_load(&r.ran), 2);
    if (!CHECK_EQ(harness_thread_count(), before)) break;
  }
}
