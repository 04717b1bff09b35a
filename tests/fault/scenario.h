/* scenario.h - what a scenario is, and what scenarios share.
 *
 * A scenario uses the library in one way and returns its status: 0, what the call
 * returned, or WRONG if something was not as documented. It may be run any number of
 * times, with any fault under way, and leaves nothing behind.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_FAULT_SCENARIO_H
#define TESTS_FAULT_SCENARIO_H

#include "fault/shim.h"
#include "sched/support.h"

#include <weft.h>

enum { WRONG = -1000 };

/* Where it runs. */
typedef enum scenario_place {
  ALONE,      /* there is no pool; it makes what it needs and ends it */
  IN_POOL,    /* as a guest of a pool that is new */
  AT_POOL,    /* from outside, given a pool that is new */
  WITH_GLOBAL /* from outside, and the global pool runs */
} scenario_place;

/* What it may return when a fault has struck, besides what it returns without. */
enum {
  ONLY_OK = 0,
  OR_ENOMEM = 1, /* if memory was refused */
  OR_THE_END = 2 /* ends the program if mappings are refused too: then it is not run */
};

typedef struct scenario {
  const char *name;
  int (*run)(weft_pool *pool);
  scenario_place place;
  unsigned results; /* the enum above */
  int plain;        /* what it returns without a fault */
  bool no_requests; /* asks for no memory when it is run a second time */
} scenario;

/* ---- results ---- */

/* Each call counts itself. */
static inline int all_ran(atomic_ulong *ran, unsigned long times) {
  return atomic_load(ran) == times ? 0 : WRONG;
}

static inline uint64_t leaves_of(unsigned depth) {
  tree root = {depth, 0};
  tree_count(&root);
  return root.leaves;
}

/* ---- the pool that is used ---- */

/* Two started threads; deques that must grow; few places, so that callers find none. */
static inline weft_config small_config(void) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = 3;
  config.guests = 2;
  config.deque_capacity = 2;
  config.idle = WEFT_IDLE_POWER_SAVING;
  return config;
}

/* Does the pool do its work, now that nothing fails any more? */
static inline void use_spawning(void *ctx) {
  bool *right = ctx;
  atomic_ulong ran = 0;
  weft_scope scope;
  *right = leaves_of(8) == 256;
  weft_scope_begin(&scope);
  for (int i = 0; i < 50; i++) weft_spawn(&scope, count_one, &ran);
  if (weft_scope_end(&scope) != 0 || atomic_load(&ran) != 50) *right = false;
}

static inline bool is_usable(weft_pool *pool) {
  bool right = false;
  atomic_ulong ran = 0;
  weft_opts opts = opts_on(pool);
  weft_handle *handle;
  weft_pool_run(pool, use_spawning, &right);
  if (weft_async_with(&opts, &handle, count_one, &ran) != 0) return false;
  if (weft_handle_wait(handle) != 0 || atomic_load(&ran) != 1) return false;
  opts.lane = WEFT_LANE_BACKGROUND;
  if (weft_detach_with(&opts, count_one, &ran) != 0) return false;
  if (weft_pool_detach(pool, count_one, &ran) != 0) return false;
  AWAIT(atomic_load(&ran) == 3);
  return right;
}

#endif
