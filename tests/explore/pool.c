/* A whole pool under the explorer: made, used, ended.
 *
 * SPDX-License-Identifier: MIT */
#include <explore/engine/explore.h>

#include <core/atomic.h>
#include <sys/sys.h>
#include <weft.h>

static unsigned ran;

static void setup(void) {
  ran = 0;
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

static void nothing(void *ctx) {
  (void)ctx;
}

static void create_and_destroy(void) {
  weft_config config = small_config(2);
  weft_pool *pool;
  XP_CHECK(weft_pool_create(&pool, &config) == 0);
  weft_pool_destroy(pool);
}
SCENARIO(pool_life, .setup = setup, .threads = {create_and_destroy})

static void join_two(void *ctx) {
  (void)ctx;
  weft_join(nothing, NULL, nothing, NULL);
}

static void join_in_pool(void) {
  weft_config config = small_config(2);
  weft_pool *pool;
  XP_CHECK(weft_pool_create(&pool, &config) == 0);
  weft_pool_run(pool, join_two, NULL);
  weft_pool_destroy(pool);
}
SCENARIO(pool_join, .setup = setup, .threads = {join_in_pool}, .quick_bound = 1)

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
  weft_join(nested_joins, ctx, nothing, NULL);
}

static void nested_in_pool(void) {
  weft_config config = small_config(2);
  weft_pool *pool;
  pair pairs[3] = {{0, 0}, {0, 0}, {0, 0}};
  XP_CHECK(weft_pool_create(&pool, &config) == 0);
  weft_pool_run(pool, offered_and_nested, pairs);
  weft_pool_destroy(pool);
}
SCENARIO(pool_take_over, .setup = setup, .threads = {nested_in_pool}, .tick_ns = 3100,
         .ra_bound = 1, .quick_bound = 1)
