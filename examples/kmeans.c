/* kmeans.c - sorts points into k clusters: in each round weft_reduce adds up the points
 * that are nearest to each centre. A reduction gives every part of the range an
 * accumulator of its own, so there is no lock and no shared counter.
 *
 *     cc -O2 kmeans.c -o kmeans $(pkg-config --cflags --libs weft)
 *     ./kmeans [points [threads]]
 *
 * Prints the centres, and the times of the serial and the parallel search.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <weft.h>

enum { K = 5, ROUNDS = 20 };

typedef struct point {
  int64_t x, y; /* whole numbers: their sums are exact in any order */
} point;

/* The points that are nearest to each centre: how many, and their sum. */
typedef struct clusters {
  int64_t count[K];
  point sum[K];
} clusters;

static unsigned nearest(point p, const point *centres) {
  unsigned best = 0;
  int64_t least = INT64_MAX;
  for (unsigned k = 0; k < K; k++) {
    int64_t dx = p.x - centres[k].x, dy = p.y - centres[k].y, d = dx * dx + dy * dy;
    if (d < least) least = d, best = k;
  }
  return best;
}

/* The context of a round: what all threads read and none writes. */
typedef struct round_input {
  const point *points, *centres;
} round_input;

/* A reduction is three functions: no points, these points, and two neighbours. */
static void forget(void *acc, void *ctx) {
  (void)ctx;
  memset(acc, 0, sizeof(clusters));
}

static void add_points(void *acc, size_t begin, size_t end, void *ctx) {
  const round_input *in = ctx;
  clusters *to = acc;
  for (size_t i = begin; i < end; i++) {
    unsigned k = nearest(in->points[i], in->centres);
    to->count[k]++;
    to->sum[k].x += in->points[i].x;
    to->sum[k].y += in->points[i].y;
  }
}

static void merge(void *acc, const void *right, void *ctx) {
  clusters *to = acc;
  const clusters *from = right;
  (void)ctx;
  for (unsigned k = 0; k < K; k++) {
    to->count[k] += from->count[k];
    to->sum[k].x += from->sum[k].x;
    to->sum[k].y += from->sum[k].y;
  }
}

static const weft_reducer nearest_points = {sizeof(clusters), forget, add_points, merge};

/* Moves the centres to the means of their points, ROUNDS times. */
static void find_clusters(point *centres, const point *points, size_t n, bool parallel) {
  for (int round = 0; round < ROUNDS; round++) {
    round_input in = {points, centres};
    clusters all;
    if (parallel) {
      weft_reduce(&all, n, &nearest_points, &in);
    } else {
      forget(&all, &in);
      add_points(&all, 0, n, &in);
    }
    for (unsigned k = 0; k < K; k++)
      if (all.count[k] > 0) {
        centres[k].x = all.sum[k].x / all.count[k];
        centres[k].y = all.sum[k].y / all.count[k];
      }
  }
}

/* ---- the program around it ---- */

static double now_ms(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void invent(point *points, size_t n) {
  uint32_t random = 1;
  for (size_t i = 0; i < n; i++) { /* around five places, nearer ones more often */
    int64_t offset[2];
    for (int j = 0; j < 2; j++) {
      offset[j] = 0;
      for (int k = 0; k < 4; k++)
        offset[j] += (int64_t)((random = random * 1664525u + 1013904223u) >> 18);
    }
    points[i].x = offset[0] - 32768 + (int64_t)(i * 2 % 5) * 15000 + 20000;
    points[i].y = offset[1] - 32768 + (int64_t)(i % 5) * 15000 + 20000;
  }
}

int main(int argc, char **argv) {
  size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 300000;
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
  if (n < K || n > 100000000 || weft_init(&config) != 0) {
    fprintf(stderr, "usage: kmeans [points from %d to 10^8 [threads]]\n", K);
    return 2;
  }
  point *points = malloc(n * sizeof *points), centres[K], expected[K];
  if (points == NULL) return perror("kmeans"), 1;
  invent(points, n);
  memcpy(centres, points, sizeof centres); /* to begin with */
  memcpy(expected, points, sizeof expected);

  double start = now_ms();
  find_clusters(expected, points, n, false);
  double middle = now_ms();
  find_clusters(centres, points, n, true);
  double end = now_ms();

  bool right = memcmp(centres, expected, sizeof centres) == 0;
  for (unsigned k = 0; k < K; k++)
    printf("centre %u: %6lld %6lld\n", k, (long long)centres[k].x,
           (long long)centres[k].y);
  printf("%zu points: serial %.1f ms, weft %.1f ms on %u threads: %s\n", n,
         middle - start, end - middle, weft_thread_count(), right ? "same" : "WRONG");
  free(points);
  return right ? 0 : 1;
}
