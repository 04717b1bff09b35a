/* What the examples of weft/pool.h use; see tools/check-examples.
 *
 * SPDX-License-Identifier: MIT */
#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <weft.h>

static size_t n = 10;
static weft_config config = WEFT_CONFIG_INIT;
static atomic_int cache[10];
static void warm_up(void *ctx) {
  atomic_fetch_add((atomic_int *)ctx, 1);
}

static void with_pool(int (*example)(weft_pool *)) {
  weft_pool *made;
  assert(weft_pool_create(&made, NULL) == 0);
  example(made);
  assert(atomic_load(&cache[9]) == 1);
  weft_pool_destroy(made);
}
#define PARAMETERS_weft_pool_wait_idle_1 weft_pool *pool
#define RUN_weft_pool_wait_idle_1        with_pool
