/* iter/iter.h - chains of lazy stages over 10 M elements of 8 bytes.
 *
 *     sum      filter (half stays) -> map -> sum of integers
 *     dot      zip of two arrays of doubles -> product -> sum
 *     flat     flat map (0 to 7 elements from each) -> count
 *     collect  filter (half stays) -> map -> a new array; getting its memory is timed
 *     map      map -> an array that is there
 *     find     filter (the first that stays is at 99/100) -> find the first
 *
 * The Rust twin is rayon.rs.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_ITER_ITER_H
#define BENCH_ITER_ITER_H

#include "../common/bench.h"

enum { ITER_N = 10000000 };

enum iter_op { ITER_SUM, ITER_DOT, ITER_FLAT, ITER_COLLECT, ITER_MAP, ITER_FIND };

/* Returns what is to be checked: a sum, a count, a value. */
typedef struct iter_ops {
  int64_t (*sum)(const int64_t *a, size_t n);
  double (*dot)(const double *a, const double *b, size_t n);
  size_t (*flat)(const int64_t *a, size_t n);
  size_t (*collect)(int64_t **out, const int64_t *a, size_t n);
  void (*map)(int64_t *out, const int64_t *a, size_t n);
  int64_t (*find)(const int64_t *a, size_t n, int64_t limit);
} iter_ops;

typedef struct iter_state {
  const char *who;
  iter_ops ops;
  int64_t *a, *out;
  double *x, *y;
  size_t n, got;
} iter_state;

static iter_state iter;

BENCH_HELPER int64_t iter_element(enum iter_op op, size_t i, size_t n) {
  if (op != ITER_FIND) return (int64_t)(bench_mix(i) >> 40);
  return i == n - n / 100 ? 1000001 : (int64_t)(bench_mix(i) % 1000000);
}

BENCH_HELPER long iter_run_sum(long n) {
  return (long)iter.ops.sum(iter.a, (size_t)n);
}

/* Small whole numbers, so that the sum is exact in any order. */
BENCH_HELPER long iter_run_dot(long n) {
  return (long)iter.ops.dot(iter.x, iter.y, (size_t)n);
}

BENCH_HELPER long iter_run_flat(long n) {
  return (long)iter.ops.flat(iter.a, (size_t)n);
}

BENCH_HELPER long iter_run_find(long n) {
  return (long)iter.ops.find(iter.a, (size_t)n, 1000000);
}

BENCH_HELPER void iter_drop(void *ctx) {
  (void)ctx;
  free(iter.out);
  iter.out = NULL;
}

BENCH_HELPER void iter_run_collect(void *ctx) {
  (void)ctx;
  iter.got = iter.ops.collect(&iter.out, iter.a, iter.n);
}

BENCH_HELPER void iter_check_collect(void *ctx) {
  (void)ctx;
  size_t next = 0;
  uint64_t wrong = 0;
  for (size_t i = 0; i < iter.n; i++)
    if (iter.a[i] % 2 == 0) wrong += iter.out[next++] != iter.a[i] * iter.a[i];
  bench_check(iter.who, iter.got, next);
  bench_check(iter.who, wrong, 0);
}

BENCH_HELPER void iter_run_map(void *ctx) {
  (void)ctx;
  iter.ops.map(iter.out, iter.a, iter.n);
}

BENCH_HELPER void iter_check_map(void *ctx) {
  (void)ctx;
  uint64_t wrong = 0;
  for (size_t i = 0; i < iter.n; i++) wrong += iter.out[i] != iter.a[i] * iter.a[i];
  bench_check(iter.who, wrong, 0);
}

/* The answers, by plain loops. */
BENCH_HELPER long iter_expected(enum iter_op op) {
  long sum = 0;
  for (size_t i = 0; i < iter.n; i++) {
    if (op == ITER_SUM && iter.a[i] % 2 == 0) sum += iter.a[i] * iter.a[i];
    if (op == ITER_DOT) sum += (long)(iter.x[i] * iter.y[i]);
    if (op == ITER_FLAT) sum += iter.a[i] % 8;
  }
  return op == ITER_FIND ? 1000001 : sum;
}

/* How many calls a chain makes if each stage calls a function for each of its elements.
 */
BENCH_HELPER size_t iter_calls(enum iter_op op) {
  size_t kept = 0;
  if (op == ITER_FIND) return iter.n - iter.n / 100 + 1;
  if (op == ITER_SUM || op == ITER_COLLECT)
    for (size_t i = 0; i < iter.n; i++) kept += iter.a[i] % 2 == 0;
  return iter.n + kept;
}

/* The whole of a contestant: measures the operation that the first argument names.
 * `threads`: of a contestant that calls element functions, for the goals about the time
 * of a call; 0: of others. */
BENCH_HELPER void iter_measure(const char *who, iter_ops ops, int argc, char **argv,
                               long n, long threads) {
  static const char *const names[] = {"sum", "dot", "flat", "collect", "map", "find"};
  bench_work *const work[] = {iter_run_sum, iter_run_dot, iter_run_flat,
                              NULL,         NULL,         iter_run_find};
  enum iter_op op = (enum iter_op)bench_choose(argc, argv, 1, names, 6);
  iter_state s = {who, ops, NULL, NULL, NULL, NULL, (size_t)n, 0};
  s.a = (int64_t *)bench_array(s.n, sizeof *s.a);
  s.x = (double *)bench_array(s.n, sizeof *s.x);
  s.y = (double *)bench_array(s.n, sizeof *s.y);
  for (size_t i = 0; i < s.n; i++) {
    s.a[i] = iter_element(op, i, s.n);
    s.x[i] = (double)(bench_mix(i) % 16);
    s.y[i] = (double)(bench_mix(i + 7) % 16);
  }
  if (op == ITER_MAP) {
    s.out = (int64_t *)bench_array(s.n, sizeof *s.out);
    memset(s.out, 0, s.n * sizeof *s.out);
  }
  iter = s;
  if (threads > 0)
    bench_print(who, "calls_per_thread", (double)iter_calls(op) / (double)threads);
  if (op == ITER_COLLECT || op == ITER_MAP) {
    bench_job job = {op == ITER_COLLECT ? iter_drop : NULL,
                     op == ITER_COLLECT ? iter_run_collect : iter_run_map,
                     op == ITER_COLLECT ? iter_check_collect : iter_check_map, NULL};
    bench_measure_job(who, &job);
    bench_passed(s.n);
  } else {
    bench_measure(who, work[op], n, n, iter_expected(op));
  }
  free(iter.a);
  free(iter.out);
  free(iter.x);
  free(iter.y);
}

#endif
