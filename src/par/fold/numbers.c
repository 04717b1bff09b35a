/* par/fold/numbers.c - the calls of weft/numbers.h but for the scans: each is a kernel
 * for the leaves, and how two leaves are merged.
 *
 * SPDX-License-Identifier: MIT */
#include "../base/checks.h"
#include "../loop/loop.h"
#include "reduce.h"
#include "simd.h"

#include <weft/numbers.h>

#define TYPED_LEAF(type) (WF_SUM_LEAF_BYTES / sizeof(type))

typedef struct typed_job {
  const void *a, *b;
  const wf_simd *simd;
} typed_job;

/* NULL stays NULL. */
#define TYPED_FROM(type, array, begin)                                                   \
  ((begin) == 0 ? (const type *)(array) : (const type *)(array) + (begin))

/* ---- results that are one number ---- */

static void merge_integer_sums(void *acc, const void *right, void *ctx) {
  (void)ctx;
  *(uint64_t *)acc += *(const uint64_t *)right;
}

static void merge_integer_products(void *acc, const void *right, void *ctx) {
  (void)ctx;
  *(uint64_t *)acc *= *(const uint64_t *)right;
}

static void merge_double_sums(void *acc, const void *right, void *ctx) {
  (void)ctx;
  *(double *)acc += *(const double *)right;
}

static void merge_double_products(void *acc, const void *right, void *ctx) {
  (void)ctx;
  *(double *)acc *= *(const double *)right;
}

/* Makes weft_<call>_<name> and its twin from the kernel of that name. */
#define DEFINE_ONE(call, kernel, name, type, result, merge, FINISH)                      \
  static void call##_leaf_##name(void *acc, size_t begin, size_t end, void *ctx) {       \
    const typed_job *j = (const typed_job *)ctx;                                         \
    *(result *)acc =                                                                     \
        j->simd->kernel##_##name(TYPED_FROM(type, j->a, begin), end - begin);            \
  }                                                                                      \
  result weft_##call##_##name##_with(const weft_opts *o, const type *a, size_t n) {      \
    weft_opts opts;                                                                      \
    typed_job j = {a, NULL, wf_simd_get()};                                              \
    result r;                                                                            \
    wf_fold fold = {n, TYPED_LEAF(type), sizeof r, call##_leaf_##name, merge, &j};       \
    wf_par_start(&opts, o, a == NULL, n, "weft_" #call "_" #name);                       \
    wf_fold_run(&opts, &r, &fold);                                                       \
    return FINISH(r, n);                                                                 \
  }                                                                                      \
  result weft_##call##_##name(const type *a, size_t n) {                                 \
    return weft_##call##_##name##_with(NULL, a, n);                                      \
  }

#define AS_IT_IS(r, n) (r)
#define DIVIDED(r, n)  ((n) > 0 ? (r) / (double)(n) : __builtin_nan(""))

#define DEFINE_DOT(name, type, wide, merge)                                              \
  static void dot_leaf_##name(void *acc, size_t begin, size_t end, void *ctx) {          \
    const typed_job *j = (const typed_job *)ctx;                                         \
    *(wide *)acc = j->simd->dot_##name(TYPED_FROM(type, j->a, begin),                    \
                                       TYPED_FROM(type, j->b, begin), end - begin);      \
  }                                                                                      \
  wide weft_dot_##name##_with(const weft_opts *o, const type *a, const type *b,          \
                              size_t n) {                                                \
    weft_opts opts;                                                                      \
    typed_job j = {a, b, wf_simd_get()};                                                 \
    wide r;                                                                              \
    wf_fold fold = {n, TYPED_LEAF(type), sizeof r, dot_leaf_##name, merge, &j};          \
    wf_par_start(&opts, o, a == NULL || b == NULL, n, "weft_dot_" #name);                \
    wf_fold_run(&opts, &r, &fold);                                                       \
    return r;                                                                            \
  }                                                                                      \
  wide weft_dot_##name(const type *a, const type *b, size_t n) {                         \
    return weft_dot_##name##_with(NULL, a, b, n);                                        \
  }

#define DEFINE_SUMS(name, type, wide, sums, products)                                    \
  DEFINE_ONE(sum, sum, name, type, wide, sums, AS_IT_IS)                                 \
  DEFINE_ONE(product, product, name, type, wide, products, AS_IT_IS)                     \
  DEFINE_ONE(mean, total, name, type, double, merge_double_sums, DIVIDED)                \
  DEFINE_DOT(name, type, wide, sums)

DEFINE_SUMS(i32, int32_t, int64_t, merge_integer_sums, merge_integer_products)
DEFINE_SUMS(u32, uint32_t, uint64_t, merge_integer_sums, merge_integer_products)
DEFINE_SUMS(i64, int64_t, int64_t, merge_integer_sums, merge_integer_products)
DEFINE_SUMS(u64, uint64_t, uint64_t, merge_integer_sums, merge_integer_products)
DEFINE_SUMS(f32, float, double, merge_double_sums, merge_double_products)
DEFINE_SUMS(f64, double, double, merge_double_sums, merge_double_products)

#undef DEFINE_SUMS
#undef DEFINE_DOT
#undef DEFINE_ONE
#undef AS_IT_IS
#undef DIVIDED

/* ---- variance ---- */

static void merge_moments(void *acc, const void *right, void *ctx) {
  (void)ctx;
  wf_moments_merge((wf_moments *)acc, (const wf_moments *)right);
}

#define DEFINE_VARIANCE(name, type, wide)                                                \
  static void variance_leaf_##name(void *acc, size_t begin, size_t end, void *ctx) {     \
    const typed_job *j = (const typed_job *)ctx;                                         \
    *(wf_moments *)acc =                                                                 \
        j->simd->moments_##name(TYPED_FROM(type, j->a, begin), end - begin);             \
  }                                                                                      \
  double weft_variance_##name##_with(const weft_opts *o, const type *a, size_t n) {      \
    weft_opts opts;                                                                      \
    typed_job j = {a, NULL, wf_simd_get()};                                              \
    wf_moments m;                                                                        \
    wf_fold fold = {n, TYPED_LEAF(type), sizeof m, variance_leaf_##name, merge_moments,  \
                    &j};                                                                 \
    wf_par_start(&opts, o, a == NULL, n, "weft_variance_" #name);                        \
    wf_fold_run(&opts, &m, &fold);                                                       \
    return m.count > 0 ? m.squares / m.count : __builtin_nan("");                        \
  }                                                                                      \
  double weft_variance_##name(const type *a, size_t n) {                                 \
    return weft_variance_##name##_with(NULL, a, n);                                      \
  }
WEFT_NUMBERS_(DEFINE_VARIANCE)
#undef DEFINE_VARIANCE

/* ---- smallest and largest ---- */

/* Makes which_find_<name>: the smallest, or largest, number that is not NaN, and where
 * the leaf starts that has the first of them. Where that is the number for "none", a leaf
 * of NaN looks the same as one that has it: the callers look again. */
#define DEFINE_EXTREME(which, op, none, name, type)                                      \
  typedef struct which##_best_##name {                                                   \
    type value;                                                                          \
    size_t leaf;                                                                         \
  } which##_best_##name;                                                                 \
                                                                                         \
  static void which##_leaf_##name(void *acc, size_t begin, size_t end, void *ctx) {      \
    const typed_job *j = (const typed_job *)ctx;                                         \
    which##_best_##name *best = (which##_best_##name *)acc;                              \
    best->value = j->simd->which##_##name(TYPED_FROM(type, j->a, begin), end - begin);   \
    best->leaf = begin;                                                                  \
  }                                                                                      \
                                                                                         \
  static void which##_merge_##name(void *acc, const void *right, void *ctx) {            \
    which##_best_##name *l = (which##_best_##name *)acc;                                 \
    const which##_best_##name *r = (const which##_best_##name *)right;                   \
    (void)ctx;                                                                           \
    if (r->value op l->value) *l = *r;                                                   \
  }                                                                                      \
                                                                                         \
  static which##_best_##name which##_find_##name(const weft_opts *opts, const type *a,   \
                                                 size_t n) {                             \
    typed_job j = {a, NULL, wf_simd_get()};                                              \
    which##_best_##name best;                                                            \
    wf_fold fold = {n,                                                                   \
                    TYPED_LEAF(type),                                                    \
                    sizeof best,                                                         \
                    which##_leaf_##name,                                                 \
                    which##_merge_##name,                                                \
                    &j};                                                                 \
    wf_fold_run(opts, &best, &fold);                                                     \
    return best;                                                                         \
  }                                                                                      \
                                                                                         \
  type weft_##which##_##name##_with(const weft_opts *o, const type *a, size_t n) {       \
    weft_opts opts;                                                                      \
    wf_par_start(&opts, o, a == NULL, n, "weft_" #which "_" #name);                      \
    type value = which##_find_##name(&opts, a, n).value;                                 \
    if (n == 0 || value != (type)(none)) return value;                                   \
    for (size_t i = 0; i < n; i++)                                                       \
      if (a[i] == a[i]) return value;                                                    \
    return a[0];                                                                         \
  }                                                                                      \
                                                                                         \
  type weft_##which##_##name(const type *a, size_t n) {                                  \
    return weft_##which##_##name##_with(NULL, a, n);                                     \
  }                                                                                      \
                                                                                         \
  size_t weft_##which##_index_##name##_with(const weft_opts *o, const type *a,           \
                                            size_t n) {                                  \
    weft_opts opts;                                                                      \
    wf_par_start(&opts, o, a == NULL, n, "weft_" #which "_index_" #name);                \
    which##_best_##name best = which##_find_##name(&opts, a, n);                         \
    if (wf_par_cancelled(&opts)) return SIZE_MAX;                                        \
    for (size_t i = best.value == (type)(none) ? 0 : best.leaf; i < n; i++)              \
      if (a[i] == best.value) return i;                                                  \
    return SIZE_MAX;                                                                     \
  }                                                                                      \
                                                                                         \
  size_t weft_##which##_index_##name(const type *a, size_t n) {                          \
    return weft_##which##_index_##name##_with(NULL, a, n);                               \
  }

DEFINE_EXTREME(min, <, INT32_MAX, i32, int32_t)
DEFINE_EXTREME(max, >, INT32_MIN, i32, int32_t)
DEFINE_EXTREME(min, <, UINT32_MAX, u32, uint32_t)
DEFINE_EXTREME(max, >, 0, u32, uint32_t)
DEFINE_EXTREME(min, <, INT64_MAX, i64, int64_t)
DEFINE_EXTREME(max, >, INT64_MIN, i64, int64_t)
DEFINE_EXTREME(min, <, UINT64_MAX, u64, uint64_t)
DEFINE_EXTREME(max, >, 0, u64, uint64_t)
DEFINE_EXTREME(min, <, __builtin_inf(), f32, float)
DEFINE_EXTREME(max, >, -__builtin_inf(), f32, float)
DEFINE_EXTREME(min, <, __builtin_inf(), f64, double)
DEFINE_EXTREME(max, >, -__builtin_inf(), f64, double)
#undef DEFINE_EXTREME

/* ---- fill ---- */

/* Not worth a fork below this. */
enum { FILL_MIN_BYTES = 4096 };

#define DEFINE_FILL(name, type, wide)                                                    \
  typedef struct fill_job_##name {                                                       \
    type *a;                                                                             \
    type value;                                                                          \
    const wf_simd *simd;                                                                 \
  } fill_job_##name;                                                                     \
                                                                                         \
  static void fill_block_##name(size_t begin, size_t end, void *ctx) {                   \
    const fill_job_##name *j = (const fill_job_##name *)ctx;                             \
    (sizeof(type) == 4 ? j->simd->fill_4 : j->simd->fill_8)(j->a + begin, end - begin,   \
                                                            &j->value);                  \
  }                                                                                      \
                                                                                         \
  void weft_fill_##name##_with(const weft_opts *o, type *a, size_t n, type value) {      \
    weft_opts opts;                                                                      \
    fill_job_##name j = {a, value, wf_simd_get()};                                       \
    wf_loop loop = {fill_block_##name, &j, NULL};                                        \
    wf_par_start(&opts, o, a == NULL, n, "weft_fill_" #name);                            \
    if (opts.min_len == 0) opts.min_len = FILL_MIN_BYTES / sizeof(type);                 \
    wf_loop_run(&opts, n, &loop);                                                        \
  }                                                                                      \
                                                                                         \
  void weft_fill_##name(type *a, size_t n, type value) {                                 \
    weft_fill_##name##_with(NULL, a, n, value);                                          \
  }
WEFT_NUMBERS_(DEFINE_FILL)
#undef DEFINE_FILL
