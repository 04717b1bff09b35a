/* scenarios_iter.h - iterators, with functions and with kernel stages: they compute, so
 * whatever fails, the result is right. Only weft_iter_append may say that there is no
 * memory.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_FAULT_SCENARIOS_ITER_H
#define TESTS_FAULT_SCENARIOS_ITER_H

#include "fault/scenarios_par.h"

static const uint64_t SUM_OF_ROWS = (uint64_t)ROWS * (ROWS - 1) / 2;

static weft_iter over_source(void) {
  fill_arrays();
  return weft_iter_slice(source, ROWS, sizeof *source);
}

static void widen_row(void *out, const void *in, void *ctx) {
  uint64_t wide = *(const uint32_t *)in;
  (void)ctx;
  memcpy(out, &wide, sizeof wide);
}

static void emit_twice(const void *in, weft_out *out, void *ctx) {
  (void)ctx;
  weft_emit(out, in, sizeof(uint32_t));
  weft_emit(out, in, sizeof(uint32_t));
}

static void add_rows(void *acc, const void *elem, void *ctx) {
  (void)ctx;
  *(uint32_t *)acc += *(const uint32_t *)elem;
}

static bool is_below_5000(const void *elem, void *ctx) {
  (void)ctx;
  return *(const uint32_t *)elem < 5000;
}

/* ---- stages with functions ---- */

static int iter_sums(weft_pool *pool) {
  (void)pool;
  weft_iter it = over_source();
  weft_iter_filter(&it, is_even, NULL);
  weft_iter_map(&it, sizeof(uint64_t), widen_row, NULL);
  /* The even ones: 2 * (0 + ... + ROWS / 2 - 1). */
  return is_true(weft_iter_sum_u64(&it) == (uint64_t)(ROWS / 2) * (ROWS / 2 - 1));
}

static int iter_reduces(weft_pool *pool) {
  (void)pool;
  weft_iter it = over_source();
  uint32_t zero = 0, sum = 1;
  weft_iter_flat_map(&it, sizeof(uint32_t), emit_twice, NULL);
  weft_iter_reduce(&it, &sum, sizeof sum, &zero, add_rows, NULL);
  return is_true(sum == (uint32_t)(2 * SUM_OF_ROWS));
}

static int iter_searches(weft_pool *pool) {
  (void)pool;
  weft_iter it = over_source();
  uint32_t first = 1, last = 1, any = 1;
  bool right = weft_iter_find_first(&it, &first, sizeof first, is_even, NULL) &&
               first == source[0];
  right = right && weft_iter_find_last(&it, &last, sizeof last, is_even, NULL) &&
          last % 2 == 0;
  right =
      right && weft_iter_find_any(&it, &any, sizeof any, is_4321, NULL) && any == 4321;
  size_t at = weft_iter_position(&it, is_4321, NULL);
  right = right && at < ROWS && source[at] == 4321;
  return is_true(right && !weft_iter_all(&it, is_even, NULL));
}

static int iter_extremes(weft_pool *pool) {
  (void)pool;
  weft_iter it = over_source();
  uint32_t least = 1, most = 1;
  bool right = weft_iter_min_by(&it, &least, sizeof least, by_u32, NULL) &&
               weft_iter_max_by(&it, &most, sizeof most, by_u32, NULL);
  return is_true(right && least == 0 && most == ROWS - 1 && weft_iter_min_u32(&it) == 0);
}

static int iter_partitions(weft_pool *pool) {
  (void)pool;
  weft_iter it = over_source();
  static uint32_t odd[ROWS];
  weft_counts n =
      weft_iter_partition(&it, target, odd, ROWS, sizeof *target, is_even, NULL);
  size_t yes = 0, no = 0;
  if (n.yes != ROWS / 2 || n.no != ROWS / 2) return WRONG;
  for (size_t i = 0; i < ROWS; i++)
    if ((source[i] % 2 == 0 ? target[yes++] : odd[no++]) != source[i]) return WRONG;
  return 0;
}

static int iter_sorts(weft_pool *pool) {
  (void)pool;
  weft_iter it = over_source();
  size_t n = weft_iter_sort(&it, target, ROWS, sizeof *target, by_u32, NULL);
  if (n != ROWS || ascends(target, ROWS) != 0) return WRONG;
  uint32_t zero = 0, sum = 0;
  n = weft_iter_scan(&it, target, ROWS, sizeof *target, &zero, true, add_rows, NULL);
  for (size_t i = 0; i < ROWS; i++) {
    sum += source[i];
    if (target[i] != sum) return WRONG;
  }
  return is_true(n == ROWS);
}

static int iter_appends(weft_pool *pool) {
  (void)pool;
  weft_iter it = over_source();
  weft_buffer buffer = {NULL, 0, 0};
  weft_iter_filter(&it, is_even, NULL);
  int status = weft_iter_append(&it, &buffer, sizeof *source);
  bool right = buffer.count == (status == 0 ? ROWS / 2 : 0);
  free(buffer.data);
  return right ? status : WRONG;
}

/* Two sides, chunks, and where a sequence ends. */
typedef struct row_pair {
  uint32_t left, right;
} row_pair;

static bool is_pair_of_equals(const void *elem, void *ctx) {
  const row_pair *pair = elem;
  (void)ctx;
  return pair->left == pair->right;
}

static int iter_zips(weft_pool *pool) {
  (void)pool;
  weft_iter it = over_source(), other = over_source();
  weft_iter_zip(&it, &other, sizeof(row_pair), offsetof(row_pair, right));
  if (!weft_iter_all(&it, is_pair_of_equals, NULL)) return WRONG;
  weft_iter chain = weft_iter_slice(source, ROWS, sizeof *source);
  weft_iter_chain(&chain, &other);
  weft_iter_skip(&chain, ROWS / 2);
  weft_iter_step(&chain, 2);
  if (weft_iter_count(&chain) != ROWS * 3 / 4) return WRONG;
  weft_iter sorted = weft_iter_slice(sorted_source, ROWS, sizeof *sorted_source);
  weft_iter_take_while(&sorted, is_below_5000, NULL);
  return is_true(weft_iter_count(&sorted) == 5000);
}

static void sum_chunk(void *out, const void *in, void *ctx) {
  const weft_chunk *chunk = in;
  uint64_t sum = 0;
  (void)ctx;
  for (size_t i = 0; i < chunk->count; i++) sum += ((const uint32_t *)chunk->data)[i];
  memcpy(out, &sum, sizeof sum);
}

static int iter_chunks(weft_pool *pool) {
  (void)pool;
  weft_iter it = over_source();
  weft_iter_chunk(&it, 70);
  weft_iter_map(&it, sizeof(uint64_t), sum_chunk, NULL);
  return is_true(weft_iter_sum_u64(&it) == SUM_OF_ROWS);
}

/* ---- sources of unknown length ---- */

static size_t pull_rows(void *out, size_t room, void *ctx) {
  uint32_t *next = ctx;
  size_t n = 0;
  for (; n < room && n < 100 && *next < ROWS; n++, ++*next)
    memcpy((char *)out + n * sizeof *next, next, sizeof *next);
  return n;
}

static int iter_pulls(weft_pool *pool) {
  (void)pool;
  fill_arrays();
  uint32_t next = 0;
  weft_iter it = weft_iter_pull(sizeof next, pull_rows, &next);
  size_t n = weft_iter_collect(&it, target, ROWS, sizeof *target);
  return n == ROWS ? ascends(target, ROWS) : WRONG;
}

static int iter_lines(weft_pool *pool) {
  (void)pool;
  static char text[3 * ROWS];
  for (size_t i = 0; i < sizeof text; i++) text[i] = i % 3 == 2 ? '\n' : 'x';
  weft_iter it = weft_iter_lines(text, sizeof text);
  return is_true(weft_iter_count(&it) == ROWS);
}

/* ---- kernel stages ---- */

WEFT_KERNEL_MAP(kernel_widen, uint32_t, uint64_t, x)
WEFT_KERNEL_FILTER(kernel_even, uint32_t, x % 2 == 0)
WEFT_KERNEL_FILTER_MAP(kernel_halves, uint32_t, uint32_t, x % 2 == 0, x / 2)
WEFT_KERNEL_FLAT_MAP(kernel_twice, uint32_t, uint32_t, 2, x)
WEFT_KERNEL_ZIP(kernel_differ, uint32_t, uint32_t, uint32_t, x != y)

static int kernel_sums(weft_pool *pool) {
  (void)pool;
  weft_iter it = over_source();
  weft_iter_apply(&it, &kernel_even, NULL);
  weft_iter_apply(&it, &kernel_widen, NULL);
  if (weft_iter_sum_u64(&it) != (uint64_t)(ROWS / 2) * (ROWS / 2 - 1)) return WRONG;
  weft_iter twice = over_source();
  weft_iter_apply(&twice, &kernel_twice, NULL);
  return is_true(weft_iter_count(&twice) == 2 * ROWS &&
                 weft_iter_sum_u32(&twice) == 2 * SUM_OF_ROWS);
}

static int kernel_collects(weft_pool *pool) {
  (void)pool;
  weft_iter it = over_source();
  size_t kept = 0;
  weft_iter_apply(&it, &kernel_halves, NULL);
  size_t n = weft_iter_collect(&it, target, ROWS, sizeof *target);
  for (size_t i = 0; i < ROWS; i++)
    if (source[i] % 2 == 0 && target[kept++] != source[i] / 2) return WRONG;
  return is_true(n == kept);
}

static int kernel_searches(weft_pool *pool) {
  (void)pool;
  weft_iter it = over_source(), other = over_source();
  uint32_t found = 1;
  weft_iter_apply(&it, &kernel_even, NULL);
  bool right =
      weft_iter_find_first(&it, &found, sizeof found, NULL, NULL) && found == source[0];
  weft_iter zipped = over_source();
  weft_iter_zip_apply(&zipped, &other, &kernel_differ, NULL);
  return is_true(right && weft_iter_sum_u32(&zipped) == 0);
}

/* clang-format off */
static const scenario ITER_SCENARIOS[] = {
    {"iterator: sum", iter_sums, IN_POOL, ONLY_OK, 0, false},
    {"iterator: sum from outside", iter_sums, WITH_GLOBAL, ONLY_OK, 0, false},
    {"iterator: reduce", iter_reduces, IN_POOL, ONLY_OK, 0, false},
    {"iterator: searches", iter_searches, IN_POOL, ONLY_OK, 0, false},
    {"iterator: least and largest", iter_extremes, IN_POOL, ONLY_OK, 0, false},
    {"iterator: partition", iter_partitions, IN_POOL, ONLY_OK, 0, false},
    {"iterator: sort and scan", iter_sorts, IN_POOL, ONLY_OK, 0, false},
    {"iterator: append", iter_appends, IN_POOL, OR_ENOMEM, 0, false},
    {"iterator: two sides", iter_zips, IN_POOL, ONLY_OK, 0, false},
    {"iterator: chunks", iter_chunks, IN_POOL, ONLY_OK, 0, false},
    {"iterator: pull", iter_pulls, IN_POOL, OR_THE_END, 0, false},
    {"iterator: lines", iter_lines, IN_POOL, ONLY_OK, 0, false},
    {"kernels: sum", kernel_sums, IN_POOL, ONLY_OK, 0, false},
    {"kernels: collect", kernel_collects, IN_POOL, ONLY_OK, 0, false},
    {"kernels: searches", kernel_searches, IN_POOL, ONLY_OK, 0, false},
    {"kernels from outside", kernel_sums, WITH_GLOBAL, ONLY_OK, 0, false},
};
/* clang-format on */

#endif
