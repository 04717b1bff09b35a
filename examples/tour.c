/* tour.c - a short tour of weft: the same work serially and with joins, loops, algorithms
 * and a scope, each result checked, and a table of the times.
 *
 *     make demo
 *
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <weft.h>

/* ---- a search, cut down to single numbers: no cut-off is needed ---- */

static unsigned chain_length(uint64_t n) {
  unsigned length = 1;
  for (; n != 1; length++) n = n % 2 == 0 ? n / 2 : 3 * n + 1;
  return length;
}

/* The length of the longest Collatz chain that starts in [begin, end). */
WEFT_TASK(unsigned, longest_chain, unsigned, begin, unsigned, end) {
  if (end - begin == 1) return chain_length(begin);
  unsigned middle = begin + (end - begin) / 2;
  longest_chain_task low;
  longest_chain_fork(&low, begin, middle);
  unsigned high = longest_chain(middle, end), other = longest_chain_join(&low);
  return high > other ? high : other;
}

/* ---- a loop whose elements cost very different amounts: the Mandelbrot set ---- */

enum { WIDTH = 600, HEIGHT = 400, LIMIT = 500 };

static int steps_at(size_t y, size_t x) {
  double cr = (double)x * 3 / WIDTH - 2, ci = (double)y * 2 / HEIGHT - 1;
  double zr = 0, zi = 0;
  int i = 0;
  for (; i < LIMIT && zr * zr + zi * zi < 4; i++) {
    double next = zr * zr - zi * zi + cr;
    zi = 2 * zr * zi + ci;
    zr = next;
  }
  return i;
}

WEFT_LOOP_2D(mandelbrot, y, x, int *, picture) {
  picture[y * WIDTH + x] = steps_at(y, x);
}

/* ---- a sum, with the same bits on any number of threads: an integral ---- */

static double curve(size_t i) {
  double x = (double)i * 1e-6;
  return sin(x) * exp(-x) * 1e-6;
}

WEFT_SUM_LOOP(integral, double, i) {
  return curve(i);
}

/* ---- a search tree of unknown shape: tasks that spawn tasks ---- */

enum { QUEENS = 13, SPAWN_ROWS = 5 };

/* The queens in the first rows, as bits: columns and diagonals that are taken. */
struct board {
  unsigned row, columns, left, right;
};

/* A counter per thread, so that they do not share one; a line of memory for each. */
static struct { _Alignas(64) long solutions; } * counters;

static struct board with_queen(const struct board *b, unsigned bit) {
  struct board next = {b->row + 1, b->columns | bit, (b->left | bit) << 1,
                       (b->right | bit) >> 1};
  return next;
}

static unsigned free_columns(const struct board *b) {
  return ~(b->columns | b->left | b->right) & ((1u << QUEENS) - 1);
}

static long queens_serial(const struct board *b) {
  if (b->row == QUEENS) return 1;
  long solutions = 0;
  for (unsigned free = free_columns(b); free != 0; free &= free - 1) {
    struct board next = with_queen(b, free & -free);
    solutions += queens_serial(&next);
  }
  return solutions;
}

static void queens(void *ctx) {
  const struct board *b = ctx; /* the task's own copy */
  if (b->row == SPAWN_ROWS) {
    counters[weft_worker_index()].solutions += queens_serial(b);
    return;
  }
  for (unsigned free = free_columns(b); free != 0; free &= free - 1) {
    struct board next = with_queen(b, free & -free);
    weft_spawn_copy(weft_scope_current(), &next, sizeof next, queens);
  }
}

/* ---- the tour ---- */

static double now(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int row(const char *what, double serial_ms, double weft_ms, int right) {
  printf("  %-38s %8.1f ms %8.1f ms %7.2f x  %s\n", what, serial_ms, weft_ms,
         serial_ms / weft_ms, right ? "ok" : "WRONG");
  return right ? 0 : 1;
}

static int tour_chain(void) {
  unsigned expected = 0, end = 1000000;
  double t0 = now();
  for (unsigned i = 1; i < end; i++) {
    unsigned length = chain_length(i);
    if (length > expected) expected = length;
  }
  double t1 = now();
  unsigned longest = longest_chain(1, end);
  return row("longest Collatz chain, a million forks", t1 - t0, now() - t1,
             longest == expected);
}

static int tour_mandelbrot(void) {
  size_t size = sizeof(int) * WIDTH * HEIGHT;
  int *a = malloc(size), *b = malloc(size);
  if (a == NULL || b == NULL) return 1;
  double t0 = now();
  for (size_t y = 0; y < HEIGHT; y++)
    for (size_t x = 0; x < WIDTH; x++) a[y * WIDTH + x] = steps_at(y, x);
  double t1 = now();
  mandelbrot(HEIGHT, WIDTH, b);
  double t2 = now();
  int wrong =
      row("Mandelbrot set, a 2-d loop", t1 - t0, t2 - t1, memcmp(a, b, size) == 0);
  free(a);
  free(b);
  return wrong;
}

static int tour_integral(void) {
  size_t points = 5000000;
  double serial = 0;
  double t0 = now();
  for (size_t i = 0; i < points; i++) serial += curve(i);
  double t1 = now();
  double parallel = integral(points);
  return row("integral over 5 million points", t1 - t0, now() - t1,
             fabs(parallel - serial) < 1e-9);
}

static int compare_ints(const void *a, const void *b) {
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

static int tour_sort(void) {
  size_t n = 2000000;
  int32_t *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
  if (a == NULL || b == NULL) return 1;
  unsigned x = 1;
  for (size_t i = 0; i < n; i++)
    a[i] = b[i] = (int32_t)((x = x * 1664525u + 1013904223u) >> 8);
  double t0 = now();
  qsort(a, n, sizeof *a, compare_ints);
  double t1 = now();
  weft_sort_i32(b, n);
  double t2 = now();
  int wrong = row("sort of 2 million ints, qsort beside", t1 - t0, t2 - t1,
                  weft_equal(a, b, n, sizeof *a));
  free(a);
  free(b);
  return wrong;
}

static int tour_queens(void) {
  struct board empty = {0, 0, 0, 0};
  size_t threads = weft_worker_limit();
  counters = aligned_alloc(64, threads * sizeof *counters);
  if (counters == NULL) return 1;
  memset(counters, 0, threads * sizeof *counters);
  double t0 = now();
  long expected = queens_serial(&empty), solutions = 0;
  double t1 = now();
  weft_scope scope;
  weft_scope_begin(&scope);
  weft_spawn_copy(&scope, &empty, sizeof empty, queens);
  int status = weft_scope_end(&scope);
  double t2 = now();
  for (size_t i = 0; i < threads; i++) solutions += counters[i].solutions;
  free(counters);
  return row("thirteen queens, tasks that spawn tasks", t1 - t0, t2 - t1,
             status == 0 && solutions == expected);
}

int main(void) {
  printf("weft %s, %u threads at work\n\n", weft_version(), weft_thread_count());
  printf("  %-38s %11s %11s %9s\n", "", "serial", "weft", "speed-up");
  int wrong = tour_chain() + tour_mandelbrot() + tour_integral() + tour_sort();
  wrong += tour_queens();

  weft_stats stats = WEFT_STATS_INIT;
  weft_pool_stats(NULL, &stats);
  printf(
      "\n  of more than a million forks other threads took %llu; each of the rest cost a "
      "few nanoseconds\n",
      (unsigned long long)stats.steals);
  weft_shutdown();
  return wrong != 0;
}
