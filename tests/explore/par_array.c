/* Loops and the calls on arrays under the explorer: blocks that a crew takes, the word of
 * a search, counts that several threads add to, errors of which the lowest counts, and
 * the slots of a radix sort.
 *
 * Elements meet: a function that is called for one waits until the other one's is called,
 * too. So both threads are in the call without a preemption that brings them there.
 *
 * SPDX-License-Identifier: MIT */
#include "sched_kit.h"

#include <par/base/failure.h>
#include <par/fold/simd.h>
#include <par/sort/radix/radix.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 4, MANY = 4098 };

/* On the heap, where plain accesses are checked for races. */
typedef struct world {
  unsigned runs[CELLS]; /* of each element */
  int values[CELLS];
  int32_t *many; /* of numbers that are looked at by several threads */
  size_t counts[2];
  char slots[2 * WF_CACHE_LINE];
  wf_radix radix;
  wf_failure failure;
} world;

static world *w;
static wf_u32 x_begun; /* calls that have begun */

static void make_world(void) {
  w = (world *)calloc(1, sizeof *w);
  XP_CHECK(w != NULL);
  wf_u32_init(&x_begun, 0);
}

static void in_pool_of_two(void) {
  one_worker();
  make_world();
}

static weft_opts in_pool(unsigned max_workers) {
  weft_opts opts = WEFT_OPTS_INIT;
  opts.pool = pool;
  opts.max_len = 1;
  opts.max_workers = max_workers;
  return opts;
}

/* The first two calls wait for each other; relaxed, so that nothing is ordered by it. */
static void meet_first(void) {
  if (wf_u32_fetch_add_relaxed(&x_begun, 1) >= 2) return;
  while (wf_u32_load_relaxed(&x_begun) < 2) wf_sys_relax();
}

static void end_world(void) {
  free(w);
  free_pool();
}

/* ---- loops: each index once ---- */

static void run_cells(size_t begin, size_t end, void *ctx) {
  (void)ctx;
  for (size_t i = begin; i < end; i++) w->runs[i]++;
}
static void meet_in_cells(size_t begin, size_t end, void *ctx) {
  meet_first();
  run_cells(begin, end, ctx);
}
static void check_cells(void) {
  for (unsigned i = 0; i < CELLS; i++) XP_CHECK(w->runs[i] == 1);
  end_world();
}

static void run_loop(unsigned max_workers, weft_split split, weft_range_fn *body) {
  weft_opts opts = in_pool(max_workers);
  opts.split = split;
  weft_for_with(&opts, CELLS, body, NULL);
  done_with_pool();
}
static void loop_by_demand(void) {
  run_loop(0, WEFT_SPLIT_ADAPTIVE, meet_in_cells);
}
static void loop_by_halves(void) {
  run_loop(0, WEFT_SPLIT_RECURSIVE, run_cells);
}
static void loop_by_crew(void) {
  run_loop(2, WEFT_SPLIT_ADAPTIVE, meet_in_cells);
}
static void loop_at_home(void) {
  run_loop(0, WEFT_SPLIT_HOME, meet_in_cells);
}
LARGE_SCENARIO(loop_adaptive, .setup = in_pool_of_two,
               .threads = {worker_1, loop_by_demand}, .check = check_cells)
LARGE_SCENARIO(loop_recursive, .setup = in_pool_of_two,
               .threads = {worker_1, loop_by_halves}, .check = check_cells)
LARGE_SCENARIO(loop_home, .setup = in_pool_of_two, .threads = {worker_1, loop_at_home},
               .check = check_cells)
LARGE_SCENARIO(loop_crew, .setup = in_pool_of_two, .threads = {worker_1, loop_by_crew},
               .check = check_cells)

/* ---- searches ---- */

static bool is_set(const void *elem, void *ctx) {
  (void)ctx;
  meet_first();
  return *(const int *)elem != 0;
}
static int by_value(const void *a, const void *b, void *ctx) {
  (void)ctx;
  int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

/* Both of the first two match: the lower one is found, whoever is the first. */
static void two_match(void) {
  in_pool_of_two();
  w->values[0] = w->values[1] = w->values[3] = 1;
}
static void search_first(void) {
  weft_opts opts = in_pool(0);
  XP_CHECK(weft_find_first_with(&opts, w->values, CELLS, sizeof(int), is_set, NULL) == 0);
  done_with_pool();
}
static void search_any(void) {
  weft_opts opts = in_pool(0);
  size_t at = weft_find_any_with(&opts, w->values, CELLS, sizeof(int), is_set, NULL);
  XP_CHECK(at == 0 || at == 1 || at == 3);
  done_with_pool();
}
LARGE_SCENARIO(find_first_of_two, .setup = two_match, .threads = {worker_1, search_first},
               .check = end_world)
LARGE_SCENARIO(find_any_of_two, .setup = two_match, .threads = {worker_1, search_any},
               .check = end_world)

/* The least of equal ones is that of the lowest index. */
static int by_value_after_meeting(const void *a, const void *b, void *ctx) {
  meet_first();
  return by_value(a, b, ctx);
}
static void search_least(void) {
  weft_opts opts = in_pool(2);
  opts.max_len = opts.min_len = 2;
  size_t at = weft_min_index_with(&opts, w->values, CELLS, sizeof(int),
                                  by_value_after_meeting, NULL);
  XP_CHECK(at == 2);
  done_with_pool();
}
static void least_is_third(void) {
  in_pool_of_two();
  w->values[0] = 5, w->values[1] = 4, w->values[2] = w->values[3] = 3;
}
LARGE_SCENARIO(least_index, .setup = least_is_third, .threads = {worker_1, search_least},
               .check = end_world)

/* ---- sums ---- */

static void count_set(void) {
  weft_opts opts = in_pool(0);
  XP_CHECK(weft_count_with(&opts, w->values, CELLS, sizeof(int), is_set, NULL) == 3);
  done_with_pool();
}
LARGE_SCENARIO(count_by_two, .setup = two_match, .threads = {worker_1, count_set},
               .check = end_world)

static size_t key_of(const void *elem, void *ctx) {
  (void)ctx;
  meet_first();
  return (size_t) * (const int *)elem;
}
static void count_keys(void) {
  weft_opts opts = in_pool(0);
  weft_histogram_with(&opts, w->counts, 2, w->values, CELLS, sizeof(int), key_of, NULL);
  XP_CHECK(w->counts[0] == 1 && w->counts[1] == 3);
  done_with_pool();
}
LARGE_SCENARIO(histogram_by_two, .setup = two_match, .threads = {worker_1, count_keys},
               .check = end_world)

/* ---- is it sorted? ---- */

static void two_falls(void) {
  in_pool_of_two();
  for (int i = 0; i < CELLS; i++) w->values[i] = -i;
}
static void look_for_order(void) {
  weft_opts opts = in_pool(0);
  XP_CHECK(!weft_is_sorted_with(&opts, w->values, CELLS, sizeof(int),
                                by_value_after_meeting, NULL));
  done_with_pool();
}
LARGE_SCENARIO(order_is_broken, .setup = two_falls, .threads = {worker_1, look_for_order},
               .check = end_world)

/* The same for numbers, which more than one thread looks at from 4096 on. */
static void two_late_falls(void) {
  in_pool_of_two();
  w->many = (int32_t *)calloc(MANY, sizeof *w->many);
  XP_CHECK(w->many != NULL);
  w->many[MANY / 3] = w->many[MANY - 9] = 1; /* what follows is less */
}
static void look_at_numbers(void) {
  weft_opts opts = in_pool(0);
  opts.max_len = MANY / 2;
  opts.min_len = MANY / 2;
  XP_CHECK(!weft_is_sorted_i32_with(&opts, w->many, MANY));
  done_with_pool();
}
static void free_numbers(void) {
  free(w->many);
  end_world();
}
SCENARIO(numbers_are_not_in_order, .setup = two_late_falls,
         .threads = {worker_1, look_at_numbers}, .check = free_numbers,
         .modes = XP_SC | XP_TSO, .bound = 1)

/* ---- errors: that of the lowest index ---- */

static int fail_at(size_t begin, size_t end, void *ctx) {
  (void)end, (void)ctx;
  meet_first();
  return begin == 0 ? 0 : -(int)begin;
}
static void try_loop(void) {
  weft_opts opts = in_pool(0);
  XP_CHECK(weft_try_for_with(&opts, CELLS, fail_at, NULL) == -1);
  done_with_pool();
}
LARGE_SCENARIO(try_loop_fails_twice, .setup = in_pool_of_two,
               .threads = {worker_1, try_loop}, .check = end_world)

/* The same without a pool: a thread that has seen a failure need not run what is behind
 * it, and the lowest one counts. */
static void no_failure_yet(void) {
  make_world();
  wf_failure_init(&w->failure);
}
static void fail(size_t position) {
  if (!wf_failure_is_before(&w->failure, position))
    wf_failure_note(&w->failure, position, -(int)position);
}
static void fail_at_1(void) {
  fail(1);
}
static void fail_at_2(void) {
  fail(2);
}
static void fail_at_3(void) {
  fail(3);
}
static void lowest_failure_counts(void) {
  weft_opts opts = WEFT_OPTS_INIT;
  XP_CHECK(wf_failure_status(&w->failure, &opts) == -1);
  free(w);
}
SCENARIO(failures_meet, .setup = no_failure_yet,
         .threads = {fail_at_1, fail_at_2, fail_at_3}, .check = lowest_failure_counts,
         .bound = 3, .quick_bound = 2)

/* ---- the slots of a radix sort ---- */

static void two_slots(void) {
  make_world();
  w->radix = (wf_radix){.blocks = 2, .slots = w->slots, .slot_size = WF_CACHE_LINE};
  wf_word_init(&w->radix.x_free, 3);
}
/* Two leaves in a slot at once are a race. */
static void use_slot(void) {
  char *slot = wf_radix_take_slot(&w->radix);
  if (slot == NULL) return;
  *slot = (char)(*slot + 1);
  wf_radix_put_slot(&w->radix, slot);
}
static void use_slot_twice(void) {
  use_slot();
  use_slot();
}
static void slots_are_free(void) {
  XP_CHECK(wf_word_peek(&w->radix.x_free) == 3);
  XP_CHECK(w->slots[0] + w->slots[WF_CACHE_LINE] >= 2);
  free(w);
}
SCENARIO(radix_slots, .setup = two_slots, .threads = {use_slot, use_slot, use_slot},
         .check = slots_are_free, .bound = XP_UNBOUNDED, .quick_bound = 2)
SCENARIO(radix_slots_again, .setup = two_slots,
         .threads = {use_slot_twice, use_slot_twice}, .check = slots_are_free,
         .bound = XP_UNBOUNDED, .quick_bound = 3)

/* ---- choices that all threads make alike ---- */

static void choose_loops(void) {
  const wf_simd *simd = wf_simd_get();
  XP_CHECK(simd != NULL && simd == wf_simd_get());
}
SCENARIO(simd_chosen_by_two, .threads = {choose_loops, choose_loops},
         .bound = XP_UNBOUNDED)
