/* stream/probe.c - P5: the bandwidth that two bare threads reach, half of the arrays
 * each: what the machine gives.
 *
 * sum, dot: reads what the loop reads (contestant bandwidth). map, saxpy: copies an array
 * with ordinary loads and stores (bandwidth), and by memcpy (memcpy), which may write
 * past the caches. For saxpy, too, a copy is the measure: an ordinary store first fetches
 * the line that it writes to, so both read two arrays and write one.
 *
 * The second thread watches for work without ever sleeping.
 *
 * Usage: stream_probe sum|dot|map|saxpy [n]
 *
 * SPDX-License-Identifier: MIT */
#include "stream.h"
#include <pthread.h>

/* What a thread does: reads one or two arrays, or copies x to y. */
typedef struct part {
  const double *x;
  double *y;
  size_t n;
  int kind;
  uint64_t answer;
} part;

enum { READ_ONE, READ_TWO, COPY, MEMCPY };
enum { EMPTY, POSTED, DONE, QUIT };

static uint32_t state;
static part halves[2];

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

static void run_part(part *p) {
  if (p->kind == READ_ONE || p->kind == READ_TWO) p->answer = read_array(p->x, p->n);
  if (p->kind == READ_TWO) p->answer += read_array(p->y, p->n);
  if (p->kind == COPY) copy_array(p->y, p->x, p->n);
  if (p->kind == MEMCPY) memcpy(p->y, p->x, p->n * sizeof *p->x);
}

static void *helper(void *arg) {
  (void)arg;
  for (;;) {
    uint32_t now = __atomic_load_n(&state, __ATOMIC_ACQUIRE);
    if (now == QUIT) return NULL;
    if (now != POSTED) continue;
    run_part(&halves[1]);
    __atomic_store_n(&state, DONE, __ATOMIC_RELEASE);
  }
}

static void run_both(void *ctx) {
  (void)ctx;
  __atomic_store_n(&state, POSTED, __ATOMIC_RELEASE);
  run_part(&halves[0]);
  while (__atomic_load_n(&state, __ATOMIC_ACQUIRE) != DONE) {
  }
}

static void measure(const char *who, double *x, double *y, size_t n, int kind) {
  static const double accesses[] = {1, 2, 2, 2};
  part first = {x, y, n / 2, kind, 0};
  part second = {x + n / 2, y + n / 2, n - n / 2, kind, 0};
  halves[0] = first;
  halves[1] = second;
  bench_job job = {NULL, run_both, NULL, NULL};
  bench_samples times = bench_sample_job(&job);
  if (kind == READ_ONE || kind == READ_TWO) {
    uint64_t expected = 0;
    for (size_t i = 0; i < n; i++) expected += read_array(&x[i], 1);
    for (size_t i = 0; i < n && kind == READ_TWO; i++) expected += read_array(&y[i], 1);
    bench_check(who, halves[0].answer + halves[1].answer, expected);
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
  bench_passed(n);
  return 0;
}
