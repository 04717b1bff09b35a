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
