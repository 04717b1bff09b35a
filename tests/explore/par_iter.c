/* Iterators under the explorer: searches that end early, the end of a take_while, counts.
 * Two threads, and functions that meet in the first two batches.
 *
 * SPDX-License-Identifier: MIT */
#include "sched_kit.h"

#include <stdlib.h>

enum { ELEMENTS = 4 };

static int *values; /* on the heap, where plain accesses are checked for races */
static wf_u32 x_begun;

static void set_up(void) {
  one_worker();
  values = (int *)calloc(ELEMENTS, sizeof *values);
  XP_CHECK(values != NULL);
  values[0] = values[1] = values[3] = 1;
  wf_u32_init(&x_begun, 0);
}
static void clean_up(void) {
  free(values);
  free_pool();
}

/* The first two calls wait for each other; relaxed, so that nothing is ordered by it. */
static bool is_set(const void *elem, void *ctx) {
  (void)ctx;
  if (wf_u32_fetch_add_relaxed(&x_begun, 1) < 2)
    while (wf_u32_load_relaxed(&x_begun) < 2) wf_sys_relax();
  return *(const int *)elem != 0;
}

static weft_iter over_values(void) {
  weft_iter it = weft_iter_slice(values, ELEMENTS, sizeof *values);
  weft_opts opts = WEFT_OPTS_INIT;
  opts.pool = pool;
  opts.max_len = 1; /* a batch for each element */
  weft_iter_options(&it, &opts);
  return it;
}

static void find_first(void) {
  weft_iter it = over_values();
  int found = 0;
  XP_CHECK(weft_iter_find_first(&it, &found, sizeof found, is_set, NULL) && found == 1);
  done_with_pool();
}
static void find_position(void) {
  weft_iter it = over_values();
  XP_CHECK(weft_iter_position(&it, is_set, NULL) == 0);
  done_with_pool();
}
static void find_any(void) {
  weft_iter it = over_values();
  XP_CHECK(weft_iter_any(&it, is_set, NULL));
  done_with_pool();
}
static void count_set(void) {
  weft_iter it = over_values();
  weft_iter_filter(&it, is_set, NULL);
  XP_CHECK(weft_iter_count(&it) == 3);
  done_with_pool();
}
/* The search for the end of a take_while meets; the count behind it does not. */
static void take_while_set(void) {
  weft_iter it = over_values();
  weft_iter_take_while(&it, is_set, NULL);
  XP_CHECK(weft_iter_count(&it) == 2);
  done_with_pool();
}

LARGE_SCENARIO(iter_find_first, .setup = set_up, .threads = {worker_1, find_first},
               .check = clean_up)
LARGE_SCENARIO(iter_position, .setup = set_up, .threads = {worker_1, find_position},
               .check = clean_up)
LARGE_SCENARIO(iter_any, .setup = set_up, .threads = {worker_1, find_any},
               .check = clean_up)
LARGE_SCENARIO(iter_count, .setup = set_up, .threads = {worker_1, count_set},
               .check = clean_up)
LARGE_SCENARIO(iter_take_while, .setup = set_up, .threads = {worker_1, take_while_set},
               .check = clean_up)
