/* quicksort.c - quicksort with WEFT_TASK: the two halves are sorted at the same time if a
 * thread is free. A fork is so cheap that there is no cut-off for it.
 *
 *     cc -O2 quicksort.c -o quicksort $(pkg-config --cflags --libs weft)
 *     ./quicksort [numbers [threads]]
 *
 * Prints the times of qsort, of this quicksort and of weft_sort_i32, which is what a
 * program should call; quicksort is here to show fork and join.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <weft.h>

enum { SHORT = 16 }; /* up to this length insertion sort is faster, also serially */

static void insertion_sort(int32_t *a, size_t n) {
  for (size_t i = 1; i < n; i++) {
    int32_t x = a[i];
    size_t j = i;
    for (; j > 0 && a[j - 1] > x; j--) a[j] = a[j - 1];
    a[j] = x;
  }
}

static int32_t median(int32_t a, int32_t b, int32_t c) {
  return a < b ? b < c ? b : a < c ? c : a : a < c ? a : b < c ? c : b;
}

/* Hoare's partition: returns a place such that nothing in front of it is greater than
 * anything from it on. Both sides have elements. */
static size_t partition(int32_t *a, size_t n) {
  int32_t pivot = median(a[0], a[n / 2], a[n - 1]);
  size_t i = 0, j = n - 1;
  for (;; i++, j--) {
    while (a[i] < pivot) i++;
    while (a[j] > pivot) j--;
    if (i >= j) return i > 0 ? i : 1;
    int32_t x = a[i];
    a[i] = a[j];
    a[j] = x;
  }
}

/* An ordinary function, void quicksort(int32_t *a, size_t n), that can also be forked. */
WEFT_TASK(void, quicksort, int32_t *, a, size_t, n) {
  if (n <= SHORT) {
    insertion_sort(a, n);
    return;
  }
  size_t split = partition(a, n);
  quicksort_task left;
  quicksort_fork(&left, a, split); /* another thread may take this half */
  quicksort(a + split, n - split);
  quicksort_join(&left);
}

/* ---- the program around it ---- */

static double now_ms(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int compare(const void *a, const void *b) {
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

static void invent(int32_t *a, size_t n) {
  uint32_t random = 1;
  for (size_t i = 0; i < n; i++) {
    random = random * 1664525u + 1013904223u;
    a[i] = (int32_t)(random >> 4) - (1 << 27);
  }
}

int main(int argc, char **argv) {
  size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000;
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
  if (n == 0 || n > 1000000000 || weft_init(&config) != 0) {
    fprintf(stderr, "usage: quicksort [numbers up to 10^9 [threads]]\n");
    return 2;
  }
  int32_t *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b),
          *expected = malloc(n * sizeof *expected);
  if (a == NULL || b == NULL || expected == NULL) return perror("quicksort"), 1;
  invent(a, n);
  memcpy(b, a, n * sizeof *a);
  memcpy(expected, a, n * sizeof *a);

  double t0 = now_ms();
  qsort(expected, n, sizeof *expected, compare);
  double t1 = now_ms();
  quicksort(a, n);
  double t2 = now_ms();
  weft_sort_i32(b, n);
  double t3 = now_ms();

  bool right = memcmp(a, expected, n * sizeof *a) == 0;
  bool also_right = memcmp(b, expected, n * sizeof *b) == 0;
  printf("%zu numbers on %u threads\n", n, weft_thread_count());
  printf("  qsort          %8.1f ms\n", t1 - t0);
  printf("  quicksort      %8.1f ms: %s\n", t2 - t1, right ? "sorted" : "WRONG");
  printf("  weft_sort_i32  %8.1f ms: %s\n", t3 - t2, also_right ? "sorted" : "WRONG");
  free(a);
  free(b);
  free(expected);
  return right && also_right ? 0 : 1;
}
