/* iter/weft.c - iterators with kernel stages, or with element functions.
 *
 * Usage: iter_weft sum|dot|flat|collect|map|find kernels|functions [threads [n]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"
#include "iter.h"

/* ---- kernel stages ---- */

WEFT_KERNEL_FILTER(even, int64_t, x % 2 == 0)
WEFT_KERNEL_MAP(square, int64_t, int64_t, x *x)
WEFT_KERNEL_ZIP(product, double, double, double, x *y)
WEFT_KERNEL_FLAT_MAP(spread, int64_t, int64_t, x % 8, x + (int64_t)j)
WEFT_KERNEL_FILTER(above, int64_t, x > *(const int64_t *)ctx)

static int64_t kernel_sum(const int64_t *a, size_t n) {
  weft_iter it = weft_iter_slice(a, n, sizeof *a);
  weft_iter_apply(&it, &even, NULL);
  weft_iter_apply(&it, &square, NULL);
  return weft_iter_sum_i64(&it);
}

static double kernel_dot(const double *a, const double *b, size_t n) {
  weft_iter it = weft_iter_slice(a, n, sizeof *a);
  weft_iter right = weft_iter_slice(b, n, sizeof *b);
  weft_iter_zip_apply(&it, &right, &product, NULL);
  return weft_iter_sum_f64(&it);
}

static size_t kernel_flat(const int64_t *a, size_t n) {
  weft_iter it = weft_iter_slice(a, n, sizeof *a);
  weft_iter_apply(&it, &spread, NULL);
  return weft_iter_count(&it);
}

/* The array of all elements, which the caller frees. */
static size_t append(int64_t **out, const weft_iter *it) {
  weft_buffer buffer = {NULL, 0, 0};
  if (weft_iter_append(it, &buffer, sizeof **out) != 0) {
    fprintf(stderr, "weft: out of memory\n");
    exit(2);
  }
  *out = (int64_t *)buffer.data;
  return buffer.count;
}

static size_t kernel_collect(int64_t **out, const int64_t *a, size_t n) {
  weft_iter it = weft_iter_slice(a, n, sizeof *a);
  weft_iter_apply(&it, &even, NULL);
  weft_iter_apply(&it, &square, NULL);
  return append(out, &it);
}

static void kernel_map(int64_t *out, const int64_t *a, size_t n) {
  weft_iter it = weft_iter_slice(a, n, sizeof *a);
  weft_iter_apply(&it, &square, NULL);
  weft_iter_collect(&it, out, n, sizeof *out);
}

static int64_t kernel_find(const int64_t *a, size_t n, int64_t limit) {
  int64_t found = 0;
  weft_iter it = weft_iter_slice(a, n, sizeof *a);
  weft_iter_apply(&it, &above, &limit);
  weft_iter_find_first(&it, &found, sizeof found, NULL, NULL);
  return found;
}

/* ---- element functions ---- */

static bool is_even(const void *elem, void *ctx) {
  (void)ctx;
  return *(const int64_t *)elem % 2 == 0;
}

static void to_square(void *out, const void *in, void *ctx) {
  int64_t x = *(const int64_t *)in;
  (void)ctx;
  *(int64_t *)out = x * x;
}

static void to_product(void *out, const void *x, const void *y, void *ctx) {
  (void)ctx;
  *(double *)out = *(const double *)x * *(const double *)y;
}

static void emit(const void *in, weft_out *out, void *ctx) {
  int64_t x = *(const int64_t *)in;
  (void)ctx;
  if (weft_emit_count(out, (size_t)(x % 8))) return;
  for (int64_t j = 0; j < x % 8; j++) {
    int64_t y = x + j;
    weft_emit(out, &y, sizeof y);
  }
}

static bool is_above(const void *elem, void *limit) {
  return *(const int64_t *)elem > *(const int64_t *)limit;
}

static int64_t function_sum(const int64_t *a, size_t n) {
  weft_iter it = weft_iter_slice(a, n, sizeof *a);
  weft_iter_filter(&it, is_even, NULL);
  weft_iter_map(&it, sizeof *a, to_square, NULL);
  return weft_iter_sum_i64(&it);
}

static double function_dot(const double *a, const double *b, size_t n) {
  weft_iter it = weft_iter_slice(a, n, sizeof *a);
  weft_iter right = weft_iter_slice(b, n, sizeof *b);
  weft_iter_zip_map(&it, &right, sizeof *a, to_product, NULL);
  return weft_iter_sum_f64(&it);
}

static size_t function_flat(const int64_t *a, size_t n) {
  weft_iter it = weft_iter_slice(a, n, sizeof *a);
  weft_iter_flat_map(&it, sizeof *a, emit, NULL);
  return weft_iter_count(&it);
}

static size_t function_collect(int64_t **out, const int64_t *a, size_t n) {
  weft_iter it = weft_iter_slice(a, n, sizeof *a);
  weft_iter_filter(&it, is_even, NULL);
  weft_iter_map(&it, sizeof *a, to_square, NULL);
  return append(out, &it);
}

static void function_map(int64_t *out, const int64_t *a, size_t n) {
  weft_iter it = weft_iter_slice(a, n, sizeof *a);
  weft_iter_map(&it, sizeof *a, to_square, NULL);
  weft_iter_collect(&it, out, n, sizeof *out);
}

static int64_t function_find(const int64_t *a, size_t n, int64_t limit) {
  int64_t found = 0;
  weft_iter it = weft_iter_slice(a, n, sizeof *a);
  weft_iter_filter(&it, is_above, &limit);
  weft_iter_find_first(&it, &found, sizeof found, NULL, NULL);
  return found;
}

int main(int argc, char **argv) {
  static const char *const ways[] = {"kernels", "functions"};
  iter_ops kernels = {kernel_sum,     kernel_dot, kernel_flat,
                      kernel_collect, kernel_map, kernel_find};
  iter_ops functions = {function_sum,     function_dot, function_flat,
                        function_collect, function_map, function_find};
  bool by_kernels = bench_choose(argc, argv, 2, ways, 2) == 0;
  long threads = bench_arg(argc, argv, 3, 2);
  bench_weft_start(threads);
  iter_measure(by_kernels ? "weft-kernels" : "weft-functions",
               by_kernels ? kernels : functions, argc, argv,
               bench_arg(argc, argv, 4, ITER_N), by_kernels ? 0 : threads);
  weft_shutdown();
  return 0;
}
