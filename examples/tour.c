/* tour.c - a short tour of weft: the same work serially and with weft_join or a scope,
 * each result checked, and a table of the times.
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

struct chain {
  unsigned begin, end;
  unsigned longest; /* length of the longest Collatz chain that starts in [begin, end) */
};

static unsigned chain_length(uint64_t n) {
  unsigned length = 1;
  for (; n != 1; length++) n = n % 2 == 0 ? n / 2 : 3 * n + 1;
  return length;
}

static void longest_chain(void *ctx) {
  struct chain *c = ctx;
  if (c->end - c->begin == 1) {
    c->longest = chain_length(c->begin);
    return;
  }
  unsigned middle = c->begin + (c->end - c->begin) / 2;
  struct chain low = {c->begin, middle, 0}, high = {middle, c->end, 0};
  weft_join(longest_chain, &low, longest_chain, &high);
  c->longest = low.longest > high.longest ? low.longest : high.longest;
}

/* ---- divide and conquer over an array: merge sort ---- */

struct sort {
  int *data, *scratch;
  size_t n;
};

static void merge(struct sort *s, size_t middle) {
  size_t i = 0, j = middle, out = 0;
  while (i < middle && j < s->n)
    s->scratch[out++] = s->data[j] < s->data[i] ? s->data[j++] : s->data[i++];
  memcpy(s->scratch + out, s->data + i, (middle - i) * sizeof(int));
  memcpy(s->data, s->scratch, (out + middle - i) * sizeof(int));
}

static void sort_serial(void *ctx) {
  struct sort *s = ctx;
  if (s->n < 2) return;
  size_t middle = s->n / 2;
  struct sort low = {s->data, s->scratch, middle};
  struct sort high = {s->data + middle, s->scratch + middle, s->n - middle};
  sort_serial(&low);
  sort_serial(&high);
  merge(s, middle);
}

static void sort_parallel(void *ctx) {
  struct sort *s = ctx;
  if (s->n < 2) return;
  size_t middle = s->n / 2;
  struct sort low = {s->data, s->scratch, middle};
  struct sort high = {s->data + middle, s->scratch + middle, s->n - middle};
  weft_join(sort_parallel, &low, sort_parallel, &high);
  merge(s, middle);
}

/* ---- a loop, cut in halves: numerical integration ---- */

struct integral {
  size_t begin, end;
  double result;
};

static double curve(size_t i) {
  double x = (double)i * 1e-6;
  return sin(x) * exp(-x) * 1e-6;
}

static void integrate(void *ctx) {
  struct integral *w = ctx;
  if (w->end - w->begin <= 1000) {
    for (size_t i = w->begin; i < w->end; i++) w->result += curve(i);
    return;
  }
  size_t middle = w->begin + (w->end - w->begin) / 2;
  struct integral left = {w->begin, middle, 0}, right = {middle, w->end, 0};
  weft_join(integrate, &left, integrate, &right);
  w->result = left.result + right.result;
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
  struct chain all = {1, 1000000, 0};
  unsigned expected = 0;
  double t0 = now();
  for (unsigned i = all.begin; i < all.end; i++) {
    unsigned length = chain_length(i);
    if (length > expected) expected = length;
  }
  double t1 = now();
  longest_chain(&all);
  return row("longest Collatz chain, a million forks", t1 - t0, now() - t1,
             all.longest == expected);
}

static int tour_sort(void) {
  size_t n = 2000000;
  int *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b), *s = malloc(n * sizeof *s);
  if (a == NULL || b == NULL || s == NULL) return 1;
  unsigned x = 1;
  for (size_t i = 0; i < n; i++)
    a[i] = b[i] = (int)((x = x * 1664525u + 1013904223u) >> 8);
  double t0 = now();
  sort_serial(&(struct sort){a, s, n});
  double t1 = now();
  sort_parallel(&(struct sort){b, s, n});
  double t2 = now();
  int wrong = row("merge sort of 2 million ints", t1 - t0, t2 - t1,
                  memcmp(a, b, n * sizeof *a) == 0);
  free(a);
  free(b);
  free(s);
  return wrong;
}

static int tour_integral(void) {
  struct integral all = {0, 5000000, 0};
  double t0 = now(), sum = 0;
  for (size_t i = 0; i < all.end; i++) sum += curve(i);
  double t1 = now();
  integrate(&all);
  return row("integral over 5 million points", t1 - t0, now() - t1,
             fabs(all.result - sum) < 1e-9);
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
  int wrong = tour_chain() + tour_sort() + tour_integral() + tour_queens();

  weft_stats stats = WEFT_STATS_INIT;
  weft_pool_stats(NULL, &stats);
  printf(
      "\n  of some five million forks other threads took %llu; each of the rest cost a "
      "few nanoseconds\n",
      (unsigned long long)stats.steals);
  weft_shutdown();
  return wrong != 0;
}
