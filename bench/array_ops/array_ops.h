/* array_ops/array_ops.h - P10: operations on an array of 10 M doubles.
 *
 *     filter      keeps the order; half of the elements stay, at random
 *     filter-few  the same, 1 of 100 stays
 *     filter-new  as filter, but the result goes to new memory; getting that is timed
 *     count       half of the elements count
 *     early       finds the first of many at 1/1000 of the array
 *     late        at 99/100
 *     absent      finds nothing
 *     scan        running sum
 *
 * An element counts, stays or is found if it is above a limit that is known only at run
 * time. Results of filter and scan are checked completely after every call, which is not
 * timed. Elements of scan are small whole numbers: its sums are exact in any order.
 *
 * The Rust twin is rayon.rs.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_ARRAY_OPS_ARRAY_OPS_H
#define BENCH_ARRAY_OPS_ARRAY_OPS_H

#include "../common/bench.h"

enum { ARRAY_OPS_N = 10000000 };

/* The operations of a contestant; NULL: it does not have this one. find returns SIZE_MAX
 * for none; dst has room for n elements. */
typedef struct array_ops {
  size_t (*filter)(double *dst, const double *src, size_t n, double limit);
  size_t (*count)(const double *a, size_t n, double limit);
  size_t (*find)(const double *a, size_t n, double limit);
  void (*scan)(double *dst, const double *src, size_t n);
} array_ops;

enum array_op {
  FILTER,
  FILTER_FEW,
  FILTER_NEW,
  COUNT,
  FIND_EARLY,
  FIND_LATE,
  FIND_ABSENT,
  SCAN
};

typedef struct array_state {
  const char *who;
  array_ops ops;
  enum array_op op;
  double *src, *dst;
  size_t n, got;
  double limit;
  uint64_t expected;
} array_state;

static array_state array;

/* Where the first match is; n: nowhere. */
BENCH_HELPER size_t array_first(enum array_op op, size_t n) {
  if (op == FIND_EARLY) return n / 1000;
  return op == FIND_LATE ? n - n / 100 : n;
}

BENCH_HELPER double array_element(enum array_op op, size_t i, size_t n) {
  if (op <= COUNT) return bench_mix_unit(i);
  if (op == SCAN) return (double)(bench_mix(i) % 16);
  size_t first = array_first(op, n);
  int is_match = first < n && i >= first && (i - first) % 1000 == 0;
  return is_match ? 0.5 : -(double)(bench_mix(i) >> 12);
}

/* ---- filter and scan: one call is one sample ---- */

/* Giving back is not timed. */
BENCH_HELPER void array_drop(void *ctx) {
  (void)ctx;
  if (array.op == FILTER_NEW) free(array.dst);
}

BENCH_HELPER void array_run_filter(void *ctx) {
  (void)ctx;
  if (array.op == FILTER_NEW) array.dst = (double *)bench_array(array.n, sizeof(double));
  array.got = array.ops.filter(array.dst, array.src, array.n, array.limit);
}

BENCH_HELPER void array_check_filter(void *ctx) {
  (void)ctx;
  size_t next = 0;
  uint64_t wrong = 0;
  bench_check(array.who, array.got, array.expected);
  for (size_t i = 0; i < array.n; i++)
    if (array.src[i] > array.limit) wrong += array.dst[next++] != array.src[i];
  bench_check(array.who, wrong, 0);
}

BENCH_HELPER void array_run_scan(void *ctx) {
  (void)ctx;
  array.ops.scan(array.dst, array.src, array.n);
}

BENCH_HELPER void array_check_scan(void *ctx) {
  (void)ctx;
  double sum = 0;
  uint64_t wrong = 0;
  for (size_t i = 0; i < array.n; i++) {
    sum += array.src[i];
    wrong += array.dst[i] != sum;
  }
  bench_check(array.who, wrong, 0);
}

/* ---- count and find: many calls may be one sample ---- */

BENCH_HELPER long array_run_count(long n) {
  return (long)array.ops.count(array.src, (size_t)n, array.limit);
}

BENCH_HELPER long array_run_find(long n) {
  size_t at = array.ops.find(array.src, (size_t)n, array.limit);
  return at == SIZE_MAX ? n : (long)at;
}

BENCH_HELPER int array_can(const array_ops *ops, enum array_op op) {
  if (op <= FILTER_NEW) return ops->filter != NULL;
  if (op == COUNT) return ops->count != NULL;
  return op == SCAN ? ops->scan != NULL : ops->find != NULL;
}

/* The whole of a contestant: measures the operation that the first argument names. */
BENCH_HELPER void array_measure(const char *who, array_ops ops, int argc, char **argv,
                                long n) {
  static const char *const names[] = {"filter", "filter-few", "filter-new", "count",
                                      "early",  "late",       "absent",     "scan"};
  enum array_op op = (enum array_op)bench_choose(argc, argv, 1, names, 8);
  if (!array_can(&ops, op)) {
    fprintf(stderr, "%s: has no %s\n", who, argv[1]);
    exit(2);
  }
  array_state s = {who, ops, op, NULL, NULL, (size_t)n, 0, 0, 0};
  s.limit = op == FILTER_FEW ? 0.98 : 0;
  s.src = (double *)bench_array(s.n, sizeof *s.src);
  s.dst = (double *)bench_array(s.n, sizeof *s.dst);
  memset(s.dst, 0, s.n * sizeof *s.dst);
  for (size_t i = 0; i < s.n; i++) {
    s.src[i] = array_element(op, i, s.n);
    s.expected += s.src[i] > s.limit;
  }
  array = s;
  if (op <= FILTER_NEW) {
    bench_job job = {array_drop, array_run_filter, array_check_filter, NULL};
    bench_measure_job(who, &job);
    bench_passed(s.expected);
  } else if (op == SCAN) {
    bench_job job = {NULL, array_run_scan, array_check_scan, NULL};
    bench_measure_job(who, &job);
    bench_passed(s.n);
  } else if (op == COUNT) {
    bench_measure(who, array_run_count, n, n, (long)s.expected);
  } else {
    bench_measure(who, array_run_find, n, n, (long)array_first(op, s.n));
  }
  free(array.src);
  free(array.dst);
}

#endif
