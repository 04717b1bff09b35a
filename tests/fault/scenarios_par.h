/* scenarios_par.h - loops, array algorithms, reductions, scans, sorts: they compute, so
 * whatever fails, the result is right.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_FAULT_SCENARIOS_PAR_H
#define TESTS_FAULT_SCENARIOS_PAR_H

#include "fault/scenario.h"

/* Long enough that sorts and scans request scratch. */
enum { ROWS = 6000, WIDE_ROWS = 600 };

static uint32_t source[ROWS], target[ROWS], sorted_source[ROWS];
static uint64_t wide_source[ROWS], wide_target[ROWS];
static size_t places[ROWS];
static double reals[ROWS];
static unsigned char hits_of[ROWS];

typedef struct wide_row {
  uint32_t key;
  unsigned char rest[196];
} wide_row;
static wide_row wide_rows[WIDE_ROWS];

/* The same every time: a permutation of 0 .. ROWS - 1 (7 and 6000 have no factor in
 * common), so that the sorted array is known. */
static void fill_arrays(void) {
  for (size_t i = 0; i < ROWS; i++) {
    source[i] = (uint32_t)(i * 7 % ROWS);
    target[i] = 0;
    sorted_source[i] = (uint32_t)i;
    wide_source[i] = i * 7 % ROWS;
    wide_target[i] = 0;
    places[i] = i * 7 % ROWS;
    reals[i] = (double)(i * 7 % ROWS);
    hits_of[i] = 0;
  }
  for (size_t i = 0; i < WIDE_ROWS; i++) wide_rows[i].key = (uint32_t)(i * 7 % WIDE_ROWS);
}

static int is_true(bool right) {
  return right ? 0 : WRONG;
}

static int each_hit_once(void) {
  for (size_t i = 0; i < ROWS; i++)
    if (hits_of[i] != 1) return WRONG;
  return 0;
}

static int ascends(const uint32_t *a, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (a[i] != i) return WRONG;
  return 0;
}

static int by_u32(const void *a, const void *b, void *ctx) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  (void)ctx;
  return (x > y) - (x < y);
}

static bool is_even(const void *elem, void *ctx) {
  (void)ctx;
  return *(const uint32_t *)elem % 2 == 0;
}

static bool is_4321(const void *elem, void *ctx) {
  (void)ctx;
  return *(const uint32_t *)elem == 4321;
}

/* ---- loops ---- */

static void hit_range(size_t begin, size_t end, void *ctx) {
  (void)ctx;
  for (size_t i = begin; i < end; i++) hits_of[i]++;
}

static int loop_split(weft_split split) {
  weft_opts opts = WEFT_OPTS_INIT;
  fill_arrays();
  opts.split = split;
  opts.max_len = 100;
  weft_for_with(&opts, ROWS, hit_range, NULL);
  return each_hit_once();
}

static int loop_adaptive(weft_pool *pool) {
  (void)pool;
  return loop_split(WEFT_SPLIT_ADAPTIVE);
}

static int loop_fixed(weft_pool *pool) {
  (void)pool;
  return loop_split(WEFT_SPLIT_FIXED);
}

static int loop_recursive(weft_pool *pool) {
  (void)pool;
  return loop_split(WEFT_SPLIT_RECURSIVE);
}

static int loop_home(weft_pool *pool) {
  (void)pool;
  return loop_split(WEFT_SPLIT_HOME);
}

static int hit_or_fail(size_t begin, size_t end, void *ctx) {
  (void)ctx;
  for (size_t i = begin; i < end; i++) {
    if (i >= 4000) return (int)i;
    hits_of[i]++;
  }
  return 0;
}

static int loop_that_fails(weft_pool *pool) {
  (void)pool;
  fill_arrays();
  return is_true(weft_try_for(ROWS, hit_or_fail, NULL) == 4000);
}

/* Items through a pipeline: ordered, parallel, serial. */
static int make_item_of_rows(void *item, size_t number, void *ctx) {
  (void)ctx;
  *(size_t *)item = number;
  return number < ROWS ? 0 : WEFT_END;
}

static int hit_item(void *item, size_t number, void *ctx) {
  (void)ctx;
  hits_of[number]++;
  return *(size_t *)item == number ? 0 : WRONG;
}

static int check_item(void *item, size_t number, void *ctx) {
  size_t *next = ctx;
  return *(size_t *)item == number && hits_of[number] == 1 && number == (*next)++ ? 0
                                                                                  : WRONG;
}

static int pipelines(weft_pool *pool) {
  size_t next = 0;
  weft_stage stages[] = {{WEFT_STAGE_SERIAL, make_item_of_rows, NULL},
                         {WEFT_STAGE_PARALLEL, hit_item, NULL},
                         {WEFT_STAGE_ORDERED_BLOCKING, check_item, &next}};
  (void)pool;
  fill_arrays();
  int status = weft_pipeline(sizeof(size_t), 0, stages, 3);
  return status != 0 ? status : is_true(next == ROWS && each_hit_once() == 0);
}

static void hit_elem(void *elem, size_t index, void *ctx) {
  (void)index, (void)ctx;
  ++*(unsigned char *)elem;
}

static int loop_over_elements(weft_pool *pool) {
  (void)pool;
  fill_arrays();
  weft_for_each(hits_of, ROWS, 1, hit_elem, NULL);
  return each_hit_once();
}

static void hit_chunk(void *first, size_t count, size_t index, void *ctx) {
  (void)index, (void)ctx;
  for (size_t i = 0; i < count; i++) ((unsigned char *)first)[i]++;
}

static int loop_over_chunks(weft_pool *pool) {
  (void)pool;
  fill_arrays();
  weft_chunks(hits_of, ROWS, 1, 7, hit_chunk, NULL);
  return each_hit_once();
}

static void hit_step(size_t i, void *ctx) {
  hit_range(i, i + 3, ctx);
}

static int loop_by_steps(weft_pool *pool) {
  (void)pool;
  fill_arrays();
  weft_for_step(0, ROWS, 3, hit_step, NULL);
  return each_hit_once();
}

static void hit_tile(size_t r0, size_t r1, size_t c0, size_t c1, void *ctx) {
  for (size_t r = r0; r < r1; r++) hit_range(r * 60 + c0, r * 60 + c1, ctx);
}

static int loop_over_tiles(weft_pool *pool) {
  (void)pool;
  fill_arrays();
  weft_for_2d(ROWS / 60, 60, 7, 13, hit_tile, NULL);
  return each_hit_once();
}

static void hit_row(size_t begin, size_t end, void *ctx) {
  for (size_t i = begin; i < end; i++)
    weft_for_each(hits_of + i * 60, 60, 1, hit_elem, ctx);
}

static int loops_in_loops(weft_pool *pool) {
  (void)pool;
  fill_arrays();
  weft_for(ROWS / 60, hit_row, NULL);
  return each_hit_once();
}

/* ---- arrays ---- */

static void add_one(void *out, const void *in, size_t index, void *ctx) {
  (void)index, (void)ctx;
  *(uint32_t *)out = *(const uint32_t *)in + 1;
}

static int maps(weft_pool *pool) {
  (void)pool;
  bool right = true;
  fill_arrays();
  weft_map(target, 4, source, ROWS, 4, add_one, NULL);
  for (size_t i = 0; i < ROWS; i++) right = right && target[i] == source[i] + 1;
  return is_true(right);
}

static int filters(weft_pool *pool) {
  (void)pool;
  fill_arrays();
  bool right = weft_filter(target, source, ROWS, 4, is_even, NULL) == ROWS / 2;
  for (size_t i = 0; i < ROWS / 2; i++) right = right && target[i] == source[2 * i];
  return is_true(right);
}

static int partitions(weft_pool *pool) {
  (void)pool;
  fill_arrays();
  bool right = weft_partition(source, ROWS, 4, is_even, NULL) == ROWS / 2;
  for (size_t i = 0; i < ROWS / 2; i++) {
    right = right && source[i] == (2 * i) * 7 % ROWS;
    right = right && source[ROWS / 2 + i] == (2 * i + 1) * 7 % ROWS;
  }
  return is_true(right);
}

static int uniques(weft_pool *pool) {
  (void)pool;
  fill_arrays();
  for (size_t i = 0; i < ROWS; i++) source[i] = (uint32_t)(i / 3);
  const bool right = weft_unique(source, ROWS, 4, by_u32, NULL) == ROWS / 3;
  return right ? ascends(source, ROWS / 3) : WRONG;
}

static size_t key_modulo(const void *elem, void *ctx) {
  return *(const uint32_t *)elem % *(const size_t *)ctx;
}

static int histogram_of(size_t keys) {
  bool right = true;
  fill_arrays();
  weft_histogram(places, keys, source, ROWS, 4, key_modulo, &keys);
  for (size_t i = 0; i < keys; i++) right = right && places[i] == ROWS / keys;
  return is_true(right);
}

static int histogram_of_few(weft_pool *pool) {
  (void)pool;
  return histogram_of(10);
}

static int histogram_of_many(weft_pool *pool) {
  (void)pool;
  return histogram_of(3000);
}

static int counts(weft_pool *pool) {
  (void)pool;
  fill_arrays();
  return is_true(weft_count(source, ROWS, 4, is_even, NULL) == ROWS / 2);
}

static int moves(weft_pool *pool) {
  (void)pool;
  bool right = true;
  const uint32_t value = 77;
  fill_arrays();
  weft_copy(target, source, ROWS, 4);
  weft_reverse(target, ROWS, 4);
  for (size_t i = 0; i < ROWS; i++) right = right && target[i] == source[ROWS - 1 - i];
  weft_rotate(target, ROWS, 4, 1000);
  for (size_t i = 0; i < ROWS; i++)
    right = right && target[i] == source[ROWS - 1 - (i + 1000) % ROWS];
  weft_fill(target, ROWS, 4, &value);
  for (size_t i = 0; i < ROWS; i++) right = right && target[i] == value;
  return is_true(right);
}

static int gathers(weft_pool *pool) {
  (void)pool;
  fill_arrays();
  weft_scatter(target, source, places, ROWS, 4);
  if (ascends(target, ROWS) != 0) return WRONG;
  weft_gather(target, sorted_source, places, ROWS, 4);
  return is_true(memcmp(target, source, sizeof source) == 0);
}

/* ---- searches ---- */

static int searches(weft_pool *pool) {
  (void)pool;
  fill_arrays();
  const size_t at = weft_find_first(source, ROWS, 4, is_4321, NULL);
  return is_true(at < ROWS && source[at] == 4321 &&
                 weft_find_last(source, ROWS, 4, is_4321, NULL) == at &&
                 weft_find_any(source, ROWS, 4, is_4321, NULL) == at &&
                 weft_any(source, ROWS, 4, is_4321, NULL) &&
                 !weft_all(source, ROWS, 4, is_4321, NULL));
}

static int extremes(weft_pool *pool) {
  (void)pool;
  fill_arrays();
  return is_true(source[weft_min_index(source, ROWS, 4, by_u32, NULL)] == 0 &&
                 source[weft_max_index(source, ROWS, 4, by_u32, NULL)] == ROWS - 1);
}

static int comparisons(weft_pool *pool) {
  (void)pool;
  fill_arrays();
  memcpy(target, source, sizeof source);
  bool right = weft_equal(source, target, ROWS, 4);
  target[5000]++;
  right = right && !weft_equal(source, target, ROWS, 4);
  return is_true(right && weft_compare(source, ROWS, target, ROWS, 4, by_u32, NULL) < 0);
}

/* ---- reductions and scans ---- */

/* A sum in the middle of more bytes than are kept on the stack while there is memory. */
typedef struct wide_sum {
  unsigned char before[500];
  uint64_t sum;
  unsigned char after[500];
} wide_sum;

static void wide_sum_init(void *acc, void *ctx) {
  (void)ctx;
  memset(acc, 0, sizeof(wide_sum));
}

static void wide_sum_fold(void *acc, size_t begin, size_t end, void *ctx) {
  (void)ctx;
  for (size_t i = begin; i < end; i++) ((wide_sum *)acc)->sum += source[i];
}

static void wide_sum_merge(void *acc, const void *right, void *ctx) {
  (void)ctx;
  ((wide_sum *)acc)->sum += ((const wide_sum *)right)->sum;
}

static int reductions(weft_pool *pool) {
  static const weft_reducer reducer = {sizeof(wide_sum), wide_sum_init, wide_sum_fold,
                                       wide_sum_merge};
  (void)pool;
  wide_sum total;
  fill_arrays();
  weft_reduce(&total, ROWS, &reducer, NULL);
  return is_true(total.sum == (uint64_t)ROWS * (ROWS - 1) / 2);
}

static int local_reductions(weft_pool *pool) {
  static const weft_reducer reducer = {sizeof(wide_sum), wide_sum_init, wide_sum_fold,
                                       wide_sum_merge};
  (void)pool;
  wide_sum total;
  fill_arrays();
  weft_reduce_local(&total, ROWS, &reducer, NULL);
  return is_true(total.sum == (uint64_t)ROWS * (ROWS - 1) / 2);
}

static int try_wide_fold(void *acc, size_t begin, size_t end, void *ctx) {
  wide_sum_fold(acc, begin, end, ctx);
  return begin <= 3000 && 3000 < end ? 3000 : 0;
}

static int try_wide_merge(void *acc, const void *right, void *ctx) {
  wide_sum_merge(acc, right, ctx);
  return 0;
}

static int try_reductions(weft_pool *pool) {
  static const weft_try_reducer reducer = {sizeof(wide_sum), wide_sum_init, try_wide_fold,
                                           try_wide_merge};
  (void)pool;
  wide_sum total;
  fill_arrays();
  return is_true(weft_try_reduce(&total, ROWS, &reducer, NULL) == 3000);
}

/* ---- slots and bags ---- */

typedef struct gathering {
  weft_local *sums;
  weft_bag *rows;
  atomic_ulong lost; /* calls that had no memory */
} gathering;

static void gather_rows(size_t begin, size_t end, void *ctx) {
  gathering *g = ctx;
  for (size_t i = begin; i < end; i++) {
    uint64_t *sum = g->sums != NULL ? weft_local_get(g->sums) : NULL;
    if (sum != NULL)
      *sum += i;
    else if (g->sums != NULL)
      atomic_fetch_add(&g->lost, 1);
    if (g->rows != NULL && weft_bag_add(g->rows, &i) != 0) atomic_fetch_add(&g->lost, 1);
  }
}

static void add_sum(void *slot, void *ctx) {
  *(uint64_t *)ctx += *(const uint64_t *)slot;
}

static int slots(weft_pool *pool) {
  gathering g = {NULL, NULL, 0};
  uint64_t sum = 0;
  (void)pool;
  int status = weft_local_create(&g.sums, sizeof(uint64_t), NULL, NULL);
  if (status != 0) return status;
  weft_for(ROWS, gather_rows, &g);
  weft_local_each(g.sums, add_sum, &sum);
  weft_local_destroy(g.sums);
  if (atomic_load(&g.lost) > 0) return WEFT_ENOMEM;
  return is_true(sum == (uint64_t)ROWS * (ROWS - 1) / 2);
}

static int bags(weft_pool *pool) {
  gathering g = {NULL, NULL, 0};
  (void)pool;
  int status = weft_bag_create(&g.rows, sizeof(size_t));
  if (status != 0) return status;
  weft_for(ROWS, gather_rows, &g);
  bool right = weft_bag_count(g.rows) + atomic_load(&g.lost) == ROWS;
  if (atomic_load(&g.lost) == 0) {
    fill_arrays();
    weft_bag_copy(places, g.rows);
    for (size_t i = 0; i < ROWS; i++) hits_of[places[i]]++;
    right = right && each_hit_once() == 0;
  }
  weft_bag_destroy(g.rows);
  if (!right) return WRONG;
  return atomic_load(&g.lost) > 0 ? WEFT_ENOMEM : 0;
}

static int numeric_reductions(weft_pool *pool) {
  const uint64_t sum = (uint64_t)ROWS * (ROWS - 1) / 2;
  (void)pool;
  fill_arrays();
  return is_true(
      weft_sum_u32(source, ROWS) == sum && weft_sum_f64(reals, ROWS) == (double)sum &&
      weft_min_u32(source, ROWS) == 0 && weft_min_index_u32(source, ROWS) == 0 &&
      weft_max_f64(reals, ROWS) == ROWS - 1);
}

static void add_op(void *acc, const void *x, void *ctx) {
  (void)ctx;
  *(uint64_t *)acc += *(const uint64_t *)x;
}

static int is_scanned(bool inclusive) {
  uint64_t sum = 0;
  for (size_t i = 0; i < ROWS; i++) {
    if (inclusive) sum += wide_source[i];
    if (wide_target[i] != sum) return WRONG;
    if (!inclusive) sum += wide_source[i];
  }
  return 0;
}

static int scans(weft_pool *pool) {
  const uint64_t zero = 0;
  (void)pool;
  fill_arrays();
  weft_scan(wide_target, wide_source, ROWS, 8, &zero, true, add_op, NULL);
  if (is_scanned(true) != 0) return WRONG;
  weft_scan(wide_target, wide_source, ROWS, 8, &zero, false, add_op, NULL);
  return is_scanned(false);
}

static int numeric_scans(weft_pool *pool) {
  (void)pool;
  fill_arrays();
  weft_scan_u64(wide_target, wide_source, ROWS);
  if (is_scanned(true) != 0) return WRONG;
  weft_scan_exclusive_u64(wide_target, wide_source, ROWS);
  return is_scanned(false);
}

/* ---- sorts ---- */

static int sorts(weft_pool *pool) {
  (void)pool;
  fill_arrays();
  weft_sort(source, ROWS, 4, by_u32, NULL);
  return ascends(source, ROWS);
}

static int stable_sorts(weft_pool *pool) {
  (void)pool;
  fill_arrays();
  weft_sort_stable(source, ROWS, 4, by_u32, NULL);
  return ascends(source, ROWS);
}

static int sorts_of_wide_rows(weft_pool *pool) {
  (void)pool;
  bool right = true;
  fill_arrays();
  weft_sort(wide_rows, WIDE_ROWS, sizeof(wide_row), by_u32, NULL);
  for (size_t i = 0; i < WIDE_ROWS; i++) right = right && wide_rows[i].key == i;
  return is_true(right);
}

static int sorts_by_key(weft_pool *pool) {
  (void)pool;
  fill_arrays();
  weft_sort_by_key(source, ROWS, 4, places, sizeof places[0], by_u32, NULL);
  for (size_t i = 0; i < ROWS; i++)
    if (places[i] != i) return WRONG;
  return ascends(source, ROWS);
}

static int argsorts(weft_pool *pool) {
  (void)pool;
  fill_arrays();
  weft_argsort(places, source, ROWS, 4, by_u32, NULL);
  for (size_t i = 0; i < ROWS; i++)
    if (source[places[i]] != i) return WRONG;
  return 0;
}

static int selections(weft_pool *pool) {
  (void)pool;
  fill_arrays();
  weft_nth_element(source, ROWS, 4, 1234, by_u32, NULL);
  if (source[1234] != 1234) return WRONG;
  weft_partial_sort(source, ROWS, 4, 500, by_u32, NULL);
  return ascends(source, 500);
}

static int merges(weft_pool *pool) {
  (void)pool;
  fill_arrays();
  for (size_t i = 0; i < ROWS / 2; i++) {
    source[i] = (uint32_t)(2 * i);
    source[ROWS / 2 + i] = (uint32_t)(2 * i + 1);
  }
  weft_merge(target, source, ROWS / 2, source + ROWS / 2, ROWS / 2, 4, by_u32, NULL);
  return weft_is_sorted(target, ROWS, 4, by_u32, NULL) ? ascends(target, ROWS) : WRONG;
}

static int numeric_sorts(weft_pool *pool) {
  (void)pool;
  fill_arrays();
  weft_sort_u32(source, ROWS);
  weft_sort_f64(reals, ROWS);
  return is_true(ascends(source, ROWS) == 0 && weft_is_sorted_f64(reals, ROWS));
}

static int numeric_sorts_by_key(weft_pool *pool) {
  (void)pool;
  fill_arrays();
  weft_sort_by_key_u64(wide_source, ROWS, source, 4);
  if (ascends(source, ROWS) != 0) return WRONG;
  fill_arrays();
  weft_argsort_u32(places, source, ROWS);
  for (size_t i = 0; i < ROWS; i++)
    if (source[places[i]] != i) return WRONG;
  return 0;
}

static int numeric_selections(weft_pool *pool) {
  (void)pool;
  fill_arrays();
  weft_nth_element_u32(source, ROWS, 1234);
  if (source[1234] != 1234) return WRONG;
  weft_partial_sort_u32(source, ROWS, 500);
  return ascends(source, 500);
}

/* ---- iterators ---- */

static void fill_source(void *out, size_t first, size_t n, void *ctx) {
  (void)ctx;
  memcpy(out, source + first, n * sizeof *source);
}

/* By position, and in order behind a filter. */
static int iterators_from_functions(weft_pool *pool) {
  (void)pool;
  fill_arrays();
  weft_iter it = weft_iter_from(ROWS, sizeof *source, fill_source, NULL);
  if (weft_iter_sum_u32(&it) != (uint64_t)ROWS * (ROWS - 1) / 2) return WRONG;
  weft_iter_filter(&it, is_even, NULL);
  if (weft_iter_collect(&it, target, ROWS, sizeof *target) != ROWS / 2) return WRONG;
  size_t kept = 0;
  for (size_t i = 0; i < ROWS; i++)
    if (source[i] % 2 == 0 && target[kept++] != source[i]) return WRONG;
  return 0;
}

typedef struct row_range {
  uint32_t begin, end;
} row_range;

static bool halve_rows(void *piece, void *right, void *ctx) {
  row_range *p = piece, *r = right;
  (void)ctx;
  if (p->end - p->begin <= 2) return false;
  r->end = p->end;
  r->begin = p->end = p->begin + (p->end - p->begin) / 2;
  return true;
}

static void emit_rows(const void *piece, weft_out *out, void *ctx) {
  const row_range *p = piece;
  (void)ctx;
  for (uint32_t i = p->begin; i < p->end; i++) weft_emit(out, &i, sizeof i);
}

static int iterators_of_trees(weft_pool *pool) {
  (void)pool;
  fill_arrays();
  row_range whole = {0, ROWS};
  weft_iter it = weft_iter_split(&whole, sizeof whole, halve_rows, NULL);
  weft_iter_flat_map(&it, sizeof *target, emit_rows, NULL);
  if (weft_iter_collect(&it, target, ROWS, sizeof *target) != ROWS) return WRONG;
  return ascends(target, ROWS);
}

/* clang-format off */
static const scenario PAR_SCENARIOS[] = {
    {"loop, adaptive", loop_adaptive, IN_POOL, ONLY_OK, 0, true},
    {"loop, fixed", loop_fixed, IN_POOL, ONLY_OK, 0, true},
    {"loop, recursive", loop_recursive, IN_POOL, ONLY_OK, 0, true},
    {"loop at home", loop_home, IN_POOL, ONLY_OK, 0, true},
    {"loop that fails", loop_that_fails, IN_POOL, ONLY_OK, 0, true},
    {"loop over elements", loop_over_elements, IN_POOL, ONLY_OK, 0, true},
    {"loop over chunks", loop_over_chunks, IN_POOL, ONLY_OK, 0, true},
    {"loop by steps", loop_by_steps, IN_POOL, ONLY_OK, 0, true},
    {"loop over tiles", loop_over_tiles, IN_POOL, ONLY_OK, 0, true},
    {"loops in loops", loops_in_loops, IN_POOL, ONLY_OK, 0, true},
    {"loop from outside", loop_adaptive, WITH_GLOBAL, ONLY_OK, 0, true},
    {"map", maps, IN_POOL, ONLY_OK, 0, true},
    {"filter", filters, IN_POOL, ONLY_OK, 0, false},
    {"partition", partitions, IN_POOL, ONLY_OK, 0, false},
    {"unique", uniques, IN_POOL, ONLY_OK, 0, false},
    {"count", counts, IN_POOL, ONLY_OK, 0, true},
    {"histogram of few keys", histogram_of_few, IN_POOL, ONLY_OK, 0, false},
    {"histogram of many keys", histogram_of_many, IN_POOL, ONLY_OK, 0, false},
    {"copy, reverse, rotate, fill", moves, IN_POOL, ONLY_OK, 0, true},
    {"gather, scatter", gathers, IN_POOL, ONLY_OK, 0, true},
    {"searches", searches, IN_POOL, ONLY_OK, 0, true},
    {"least and largest", extremes, IN_POOL, ONLY_OK, 0, true},
    {"comparisons", comparisons, IN_POOL, ONLY_OK, 0, true},
    {"reduce", reductions, IN_POOL, ONLY_OK, 0, false},
    {"reduce with a sum for each thread", local_reductions, IN_POOL, ONLY_OK, 0, false},
    {"reduce that fails", try_reductions, IN_POOL, ONLY_OK, 0, false},
    {"slots", slots, IN_POOL, OR_ENOMEM, 0, false},
    {"slots from outside", slots, WITH_GLOBAL, OR_ENOMEM, 0, false},
    {"bag", bags, IN_POOL, OR_ENOMEM, 0, false},
    {"reduce numbers", numeric_reductions, IN_POOL, ONLY_OK, 0, true},
    {"scan", scans, IN_POOL, ONLY_OK, 0, false},
    {"scan numbers", numeric_scans, IN_POOL, ONLY_OK, 0, false},
    {"sort", sorts, IN_POOL, ONLY_OK, 0, false},
    {"sort from outside", sorts, WITH_GLOBAL, ONLY_OK, 0, false},
    {"sort, stable", stable_sorts, IN_POOL, ONLY_OK, 0, false},
    {"sort wide rows", sorts_of_wide_rows, IN_POOL, ONLY_OK, 0, false},
    {"sort by key", sorts_by_key, IN_POOL, ONLY_OK, 0, false},
    {"argsort", argsorts, IN_POOL, ONLY_OK, 0, false},
    {"nth element, partial sort", selections, IN_POOL, ONLY_OK, 0, false},
    {"merge", merges, IN_POOL, ONLY_OK, 0, true},
    {"pipeline", pipelines, IN_POOL, ONLY_OK, 0, false},
    {"pipeline from outside", pipelines, WITH_GLOBAL, ONLY_OK, 0, false},
    {"sort numbers", numeric_sorts, IN_POOL, ONLY_OK, 0, false},
    {"sort numbers by key", numeric_sorts_by_key, IN_POOL, ONLY_OK, 0, false},
    {"select numbers", numeric_selections, IN_POOL, ONLY_OK, 0, false},
    {"iterators from functions", iterators_from_functions, IN_POOL, ONLY_OK, 0, false},
    {"iterators of trees", iterators_of_trees, IN_POOL, OR_THE_END, 0, false},
    {"iterators of trees from outside", iterators_of_trees, WITH_GLOBAL, OR_THE_END, 0, false},
};
/* clang-format on */

#endif
