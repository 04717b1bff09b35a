/* kernels/weft.c - what typed functions cost against loops written by hand: each
 * operation over 10 M doubles by a macro, and by weft_for with the same expression in its
 * body, in turn in one process.
 *
 * Usage: kernels_weft map|map2|fold|filter|count|scan [threads [n]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"

enum { KERNELS_N = 10000000, ROUNDS = 15, PARTS = 512 };

static double *a, *b, *dst;
static double limit = 0.5;

/* ---- the functions ---- */

static inline double scale(double x, void *ctx) {
  return x * *(const double *)ctx + 1;
}

static inline double multiply(double x, double y, void *ctx) {
  (void)ctx;
  return x * y + x;
}

static inline double add(double acc, double x, void *ctx) {
  (void)ctx;
  return acc + x;
}

static inline bool is_above(double x, void *ctx) {
  return x > *(const double *)ctx;
}

WEFT_MAP(kernel_map, double, double, scale)
WEFT_MAP2(kernel_map2, double, double, double, multiply)
WEFT_FOLD(kernel_fold, double, double, 0, add, add)
WEFT_FILTER(kernel_filter, double, is_above)
WEFT_COUNT(kernel_count, double, is_above)
WEFT_SCAN(kernel_scan, double, 0, add)

/* ---- by hand: as a user of weft_for writes them ---- */

typedef struct parts {
  size_t n;
  double sums[PARTS + 1];
  size_t counts[PARTS + 1];
} parts;

static size_t part_begin(const parts *p, size_t k) {
  return p->n * k / PARTS;
}

WEFT_SIMD static void hand_map(size_t begin, size_t end, void *ctx) {
  double *to = dst, factor = *(const double *)ctx;
  const double *from = a;
  for (size_t i = begin; i < end; i++) to[i] = from[i] * factor + 1;
}

WEFT_SIMD static void hand_map2(size_t begin, size_t end, void *ctx) {
  double *to = dst;
  const double *x = a, *y = b;
  (void)ctx;
  for (size_t i = begin; i < end; i++) to[i] = x[i] * y[i] + x[i];
}

static void hand_sums(size_t begin, size_t end, void *ctx) {
  parts *p = (parts *)ctx;
  for (size_t k = begin; k < end; k++) {
    double sum = 0;
    size_t last = part_begin(p, k + 1);
    for (size_t i = part_begin(p, k); i < last; i++) sum += a[i];
    p->sums[k] = sum;
  }
}

WEFT_SIMD static void hand_counts(size_t begin, size_t end, void *ctx) {
  parts *p = (parts *)ctx;
  for (size_t k = begin; k < end; k++) {
    size_t count = 0, last = part_begin(p, k + 1);
    double least = limit;
    for (size_t i = part_begin(p, k); i < last; i++) count += a[i] > least;
    p->counts[k] = count;
  }
}

static void hand_scans(size_t begin, size_t end, void *ctx) {
  const parts *p = (const parts *)ctx;
  for (size_t k = begin; k < end; k++) {
    double sum = p->sums[k];
    size_t last = part_begin(p, k + 1);
    for (size_t i = part_begin(p, k); i < last; i++) dst[i] = sum += a[i];
  }
}

static void hand_moves(size_t begin, size_t end, void *ctx) {
  const parts *p = (const parts *)ctx;
  for (size_t k = begin; k < end; k++) {
    size_t to = p->counts[k], last = part_begin(p, k + 1);
    for (size_t i = part_begin(p, k); i < last; i++)
      if (a[i] > limit) dst[to++] = a[i];
  }
}

/* ---- each operation, twice ---- */

/* Returns something of the result, to compare. */
typedef double operation(size_t n);

static double run_map(size_t n) {
  kernel_map(dst, a, n, &limit);
  return dst[n / 3] + dst[n - 1];
}

static double run_hand_map(size_t n) {
  weft_for(n, hand_map, &limit);
  return dst[n / 3] + dst[n - 1];
}

static double run_map2(size_t n) {
  kernel_map2(dst, a, b, n, NULL);
  return dst[n / 3] + dst[n - 1];
}

static double run_hand_map2(size_t n) {
  weft_for(n, hand_map2, NULL);
  return dst[n / 3] + dst[n - 1];
}

static double run_fold(size_t n) {
  return kernel_fold(a, n, NULL);
}

static double run_hand_fold(size_t n) {
  parts p = {.n = n};
  double sum = 0;
  weft_for(PARTS, hand_sums, &p);
  for (size_t k = 0; k < PARTS; k++) sum += p.sums[k];
  return sum;
}

static double run_count(size_t n) {
  return (double)kernel_count(a, n, &limit);
}

static double run_hand_count(size_t n) {
  parts p = {.n = n};
  size_t count = 0;
  weft_for(PARTS, hand_counts, &p);
  for (size_t k = 0; k < PARTS; k++) count += p.counts[k];
  return (double)count;
}

static double run_filter(size_t n) {
  size_t kept = kernel_filter(dst, a, n, &limit);
  return (double)kept + dst[kept - 1];
}

static double run_hand_filter(size_t n) {
  parts p = {.n = n};
  size_t kept = 0;
  weft_for(PARTS, hand_counts, &p);
  for (size_t k = 0; k < PARTS; k++) {
    size_t count = p.counts[k];
    p.counts[k] = kept;
    kept += count;
  }
  weft_for(PARTS, hand_moves, &p);
  return (double)kept + dst[kept - 1];
}

static double run_scan(size_t n) {
  kernel_scan(dst, a, n, NULL);
  return dst[n - 1];
}

static double run_hand_scan(size_t n) {
  parts p = {.n = n};
  double sum = 0;
  weft_for(PARTS, hand_sums, &p);
  for (size_t k = 0; k < PARTS; k++) {
    double of_part = p.sums[k];
    p.sums[k] = sum;
    sum += of_part;
  }
  weft_for(PARTS, hand_scans, &p);
  return dst[n - 1];
}

typedef struct contest {
  const char *name;
  operation *kernel, *by_hand;
} contest;

static const contest CONTESTS[] = {
    {"map", run_map, run_hand_map},       {"map2", run_map2, run_hand_map2},
    {"fold", run_fold, run_hand_fold},    {"filter", run_filter, run_hand_filter},
    {"count", run_count, run_hand_count}, {"scan", run_scan, run_hand_scan},
};

static double time_of(operation *run, size_t n, double *result) {
  double before = bench_now_ns();
  *result = run(n);
  return bench_now_ns() - before;
}

/* Equal up to the rounding of sums that are added in another order. */
static void check_close(double x, double y) {
  double far = x > y ? x - y : y - x;
  bench_check("kernels", far <= 1e-9 * (x > 0 ? x : -x) ? 1 : 0, 1);
}

static void measure(const contest *c, size_t n) {
  bench_samples kernel = {NULL, 0, 0}, by_hand = {NULL, 0, 0};
  double x = 0, y = 0;
  for (int i = 0; i < ROUNDS; i++) {
    bench_add(&kernel, time_of(c->kernel, n, &x));
    bench_add(&by_hand, time_of(c->by_hand, n, &y));
    check_close(x, y);
  }
  bench_print_times("weft-kernel", &kernel);
  bench_print_times("weft-for", &by_hand);
  bench_passed(n);
  free(kernel.values);
  free(by_hand.values);
}

int main(int argc, char **argv) {
  size_t n = (size_t)bench_arg(argc, argv, 3, KERNELS_N);
  a = (double *)malloc(n * sizeof *a);
  b = (double *)malloc(n * sizeof *b);
  dst = (double *)malloc(n * sizeof *dst);
  if (argc < 2 || a == NULL || b == NULL || dst == NULL) return 2;
  for (size_t i = 0; i < n; i++) {
    a[i] = (double)(i * 2654435761u % 1000003) / 1000003;
    b[i] = (double)(i % 1000);
    dst[i] = 0;
  }
  bench_weft_start(bench_arg(argc, argv, 2, 2));
  for (size_t i = 0; i < sizeof CONTESTS / sizeof *CONTESTS; i++)
    if (strcmp(argv[1], CONTESTS[i].name) == 0) measure(&CONTESTS[i], n);
  weft_shutdown();
  free(a);
  free(b);
  free(dst);
  return 0;
}
