/* Taking over from an owner that is busy: a thread in a long leaf, which neither forks
 * nor joins, answers nobody, and yet all that it has forked must come to run as long as
 * others have nothing to do. Sleeping is allowed only when nothing is left.
 *
 * SPDX-License-Identifier: MIT */
#include "sched/search.h"
#include "support.h"

/* ---- one thief, played by the test ---- */

/* The owner, worker 2, has forked and is in its leaf. Before the thief may sleep it must
 * be able to take every one of the tasks, oldest first. */
static void take_all(unsigned count) {
  enum { MOST = 64 };
  wf_options options;
  weft_config config = WEFT_CONFIG_INIT;
  weft_pool *pool = NULL;
  wf_task tasks[MOST], *stolen = NULL;
  config.threads = 4;
  REQUIRE(count <= MOST);
  REQUIRE(wf_options_resolve(&options, &config, (wf_environment){0}) == 0);
  REQUIRE(wf_pool_allocate(&pool, &options) == 0);
  wf_bitset_add(pool->x_present, 1);
  wf_bitset_add(pool->x_present, 2);
  wf_deque *deque = &pool->workers[2].deque;
  for (unsigned i = 0; i < count; i++) {
    wf_deque_news news;
    tasks[i] = (wf_task){do_nothing, NULL, {{0}}};
    if (wf_deque_push(deque, &tasks[i])) CHECK(wf_deque_fork_slow(deque, &news) == NULL);
  }
  unsigned taken = 0;
  while (wf_search_sees_work(&pool->workers[1], WF_SLEEPER_IDLE)) {
    REQUIRE(wf_deque_steal(deque, &stolen) == WF_STEAL_GOT);
    CHECK_EQ(stolen, &tasks[taken]);
    taken++;
  }
  CHECK_EQ(taken, count);
  wf_pool_free(pool);
}

TEST(v19_thief_takes_all_from_a_busy_owner) {
  for (unsigned count = 1; count <= 64; count++) take_all(count);
}

/* ---- real pools ---- */

/* Forks, one inside the other, around a leaf that ends when all have begun. */
typedef struct chain {
  unsigned depth;
  atomic_uint begun;
  atomic_bool go;
} chain;

static void begin_link(void *ctx) {
  chain *links = ctx;
  atomic_fetch_add(&links->begun, 1);
  AWAIT(atomic_load(&links->go)); /* keeps its thread, so that each link needs another */
}

static void fork_links(void *ctx) {
  chain *links = ctx;
  if (links->depth == 0) {
    unsigned others = weft_thread_count() - 1;
    AWAIT(atomic_load(&links->begun) == others);
    atomic_store(&links->go, true);
    return;
  }
  links->depth--;
  weft_join(fork_links, links, begin_link, links);
}

static void run_chain(void *ctx) {
  chain links = {.depth = *(const unsigned *)ctx};
  fork_links(&links);
  CHECK_EQ(atomic_load(&links.begun), *(const unsigned *)ctx);
}

/* As many forks as there are sleepers: all of them must come to run, each on a thread of
 * its own, before the innermost leaf ends. */
TEST(v19_every_sleeper_comes_for_a_chain) {
  for (unsigned threads = 2; threads <= 8; threads += 3) {
    unsigned depth = threads - 1;
    weft_pool *pool = sleepy_pool_of(threads);
    for (unsigned long i = 0; i < scaled(4000); i++) {
      if (i % 2 == 0) AWAIT(all_asleep(pool));
      weft_pool_run(pool, run_chain, &depth);
    }
    weft_pool_destroy(pool);
  }
}
