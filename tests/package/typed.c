/* typed.c - typed tasks and kernels of the installed library, each at least once, against
 * plain code. Compiles as C11 and, under another name, as C++17.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <weft.h>

#define N 5000 /* a few blocks */

static int failures;

#define CHECK(condition)                                                                 \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      failures++;                                                                        \
      printf("line %d: %s\n", __LINE__, #condition);                                     \
    }                                                                                    \
  } while (0)

/* ---- tasks ---- */

WEFT_TASK(long, fib, long, n) {
  if (n < 2) return n;
  fib_task left;
  fib_fork(&left, n - 1);
  long right = fib(n - 2);
  return fib_join(&left) + right;
}

static WEFT_TASK_DECLARE(void, fill, double *, to, size_t, n, double, value)

    static void fill(double *to, size_t n, double value) {
  if (n > 64) {
    fill_task upper;
    fill_fork(&upper, to + n / 2, n - n / 2, value);
    fill(to, n / 2, value);
    fill_join(&upper);
  } else {
    for (size_t i = 0; i < n; i++) to[i] = value;
  }
}

WEFT_TASK(int, nothing_to_give) {
  return 7;
}

/* ---- fast tasks ---- */

WEFT_TASK_FAST(long, fast_fib, long, n) {
  if (n < 2) return n;
  long a, b;
  WEFT_BOTH(a, (fast_fib, n - 2), b, (fast_fib, n - 1));
  return a + b;
}

WEFT_TASK_FAST(void, fast_fill, double *, to, size_t, n, double, value) {
  if (n > 64) {
    size_t half = n / 2;
    WEFT_BOTH_VOID((fast_fill, to, half, value), (fast_fill, to + half, n - half, value));
  } else {
    for (size_t i = 0; i < n; i++) to[i] = value;
  }
}

WEFT_TASK_FAST(long, leaves, unsigned, depth) {
  if (depth == 0) return 1;
  leaves_task child[2];
  for (int i = 0; i < 2; i++) WEFT_FORK(leaves, &child[i], depth - 1);
  long all = WEFT_CALL(leaves, depth - 1);
  for (int i = 2; i-- > 0;) all += WEFT_JOIN(leaves, &child[i]);
  return all;
}

static void fast_tasks(void) {
  static double filled[N];
  CHECK(fast_fib(18) == 2584);
  CHECK(leaves(6) == 729);
  fast_fill(filled, N, 3);
  for (size_t i = 0; i < N; i++) CHECK(filled[i] >= 3 && filled[i] <= 3);
}

/* ---- kernels ---- */

static inline double product(double x, double y, void *ctx) {
  (void)ctx;
  return x * y;
}

static inline void number(double *x, size_t i, void *ctx) {
  *x = (double)i + *(const double *)ctx;
}

static inline double sum(double acc, double x, void *ctx) {
  (void)ctx;
  return acc + x;
}

static inline bool is_greater(const double *a, const double *b, void *ctx) {
  (void)ctx;
  return *a > *b;
}

WEFT_MAP2(multiply, double, double, double, product)
WEFT_FOR(number_all, double, number)
WEFT_SCAN(running_sum, double, 0, sum)
WEFT_SORT_BY_KEY(sort_down, double, int, is_greater)

static double a[N], b[N], c[N];
static int places[N];

static void kernels(const weft_opts *o) {
  double one = 1;
  number_all_with(o, a, N, &one);
  CHECK(a[0] == 1 && a[N - 1] == N);
  fill(b, N, 2);
  multiply_with(o, c, a, b, N, NULL);
  CHECK(c[0] == 2 && c[N - 1] == 2 * N);
  running_sum_with(o, c, a, N, NULL);
  CHECK(c[0] == 1 && c[N - 1] == (double)N * (N + 1) / 2);
  running_sum_exclusive_with(o, c, a, N, NULL);
  CHECK(c[0] == 0 && c[N - 1] == (double)N * (N - 1) / 2);
  for (int i = 0; i < N; i++) places[i] = i;
  sort_down_with(o, a, N, places, NULL);
  CHECK(a[0] == N && a[N - 1] == 1);
  CHECK(places[0] == N - 1 && places[N - 1] == 0);
}

static void inside(void *ctx) {
  (void)ctx;
  CHECK(fib(15) == 610);
  fast_tasks();
  kernels(NULL);
}

int main(void) {
  weft_opts one = WEFT_OPTS_INIT;
  nothing_to_give_task task;
  one.max_workers = 1;
  CHECK(fib(18) == 2584);
  nothing_to_give_fork(&task);
  CHECK(nothing_to_give() + nothing_to_give_join(&task) == 14);
  fast_tasks();
  kernels(NULL);
  kernels(&one);
  weft_pool_run(NULL, inside, NULL);
  weft_shutdown();
  printf("typed: %d failures\n", failures);
  return failures != 0;
}
