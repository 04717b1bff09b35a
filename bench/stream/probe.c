/* stream/probe.c - P5: the bandwidth that two bare threads reach: what the machine gives.
 *
 * sum, dot: reads what the loop reads (contestant bandwidth). map, saxpy: copies an array
 * with ordinary loads and stores (bandwidth), and by memcpy (memcpy), which may do
 * without fetching the lines that it writes to. For saxpy, too, a copy is the measure: an
 * ordinary store fetches the line first, so both read two arrays and write one.
 *
 * One thread goes through the arrays from the front, the other one from the back, in
 * blocks, until all of them are taken: on a busy machine the one that loses its CPU does
 * less. The second thread watches for work without ever sleeping.
 *
 * Usage: stream_probe sum|dot|map|saxpy [n]
 *
 * SPDX-License-Identifier: MIT */
#include "stream.h"
#include <pthread.h>

enum { READ_ONE, READ_TWO, COPY, MEMCPY };
enum { EMPTY, POSTED, DONE, QUIT };
enum { BLOCK = 1 << 15 };

/* What both do. */
static const double *array_x;
static double *array_y;
static size_t length, blocks;
static int kind;

static uint32_t state;
static size_t taken;
static uint64_t answers[2];

/* Sixteen bytes, eight of these at a time: one cache line after the other, and enough of
 * them in flight. */
typedef uint64_t pair __attribute__((vector_size(16), aligned(8), may_alias));

static uint64_t read_array(const double *x, size_t n) {
  pair s[8] = {{0, 0}};
  size_t i = 0;
  for (; i + 16 <= n; i += 16) {
    const pair *p = (const pair *)(x + i);
    for (int k = 0; k < 8; k++) s[k] += p[k];
  }
  uint64_t total = 0;
  for (int k = 0; k < 8; k++) total += s[k][0] + s[k][1];
  for (; i < n; i++) {
    uint64_t bits;
    memcpy(&bits, &x[i], sizeof bits);
    total += bits;
  }
  return total;
}

static void copy_array(double *y, const double *x, size_t n) {
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const pair *from = (const pair *)(x + i);
    pair a = from[0], b = from[1], c = from[2], d = from[3];
    pair *to = (pair *)(y + i);
    to[0] = a;
    to[1] = b;
    to[2] = c;
    to[3] = d;
    __asm__ volatile("" ::: "memory"); /* or the loop becomes a call of memcpy */
  }
  for (; i < n; i++) y[i] = x[i];
}

static uint64_t run_block(size_t block) {
  size_t begin = block * BLOCK;
  size_t n = length - begin < BLOCK ? length - begin : BLOCK;
  const double *x = array_x + begin;
  double *y = array_y + begin;
  if (kind == READ_ONE) return read_array(x, n);
  if (kind == READ_TWO) return read_array(x, n) + read_array(y, n);
  if (kind == COPY) copy_array(y, x, n);
  if (kind == MEMCPY) memcpy(y, x, n * sizeof *x);
  return 0;
}

/* Thread 0 takes the blocks from the front, thread 1 those from the back. */
static void run_part(int thread) {
  uint64_t answer = 0;
  for (size_t i = 0; __atomic_fetch_add(&taken, 1, __ATOMIC_RELAXED) < blocks; i++)
    answer += run_block(thread == 0 ? i : blocks - 1 - i);
  answers[thread] = answer;
}

static void *helper(void *arg) {
  (void)arg;
  for (;;) {
    uint32_t now = __atomic_load_n(&state, __ATOMIC_ACQUIRE);
    if (now == QUIT) return NULL;
    if (now != POSTED) continue;
    run_part(1);
    __atomic_store_n(&state, DONE, __ATOMIC_RELEASE);
  }
}

static void run_both(void *ctx) {
  (void)ctx;
  __atomic_store_n(&taken, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&state, POSTED, __ATOMIC_RELEASE);
  run_part(0);
  while (__atomic_load_n(&state, __ATOMIC_ACQUIRE) != DONE) {
  }
}

static void measure(const char *who, double *x, double *y, size_t n, int what) {
  static const double accesses[] = {1, 2, 2, 2};
  array_x = x;
  array_y = y;
  length = n;
  blocks = (n + BLOCK - 1) / BLOCK;
  kind = what;
  bench_job job = {NULL, run_both, NULL, NULL};
  bench_samples times = bench_sample_job(&job, NULL);
  if (kind == READ_ONE || kind == READ_TWO) {
    uint64_t expected = 0;
    for (size_t i = 0; i < n; i++) expected += read_array(&x[i], 1);
    for (size_t i = 0; i < n && kind == READ_TWO; i++) expected += read_array(&y[i], 1);
    bench_check(who, answers[0] + answers[1], expected);
  } else {
    bench_check(who, memcmp(x, y, n * sizeof *x) != 0, 0);
    memset(y, 0, n * sizeof *y);
  }
  if (times.count != 0) {
    bench_print_times(who, &times);
    bench_print(who, "gb_per_s",
                8 * accesses[kind] * (double)n / bench_quantile(&times, 0.5));
  }
  free(times.values);
}

int main(int argc, char **argv) {
  int which = stream_choose(argc, argv);
  size_t n = (size_t)bench_arg(argc, argv, 2, STREAM_N);
  double *x = (double *)bench_array(n, sizeof *x);
  double *y = (double *)bench_array(n, sizeof *y);
  for (size_t i = 0; i < n; i++) {
    x[i] = stream_x(i);
    y[i] = stream_y(i);
  }
  pthread_t thread;
  if (pthread_create(&thread, NULL, helper, NULL) != 0) return 2;
  if (which < 2) {
    measure("bandwidth", x, y, n, which == 0 ? READ_ONE : READ_TWO);
  } else {
    measure("bandwidth", x, y, n, COPY);
    measure("memcpy", x, y, n, MEMCPY);
  }
  __atomic_store_n(&state, QUIT, __ATOMIC_RELEASE);
  pthread_join(thread, NULL);
  bench_passed_alone();
  return 0;
}
