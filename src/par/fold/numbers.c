/* par/fold/numbers.c - the calls of weft/numbers.h but for the scans: sum, product, mean,
 * variance, dot, min, max, min and max index and fill of six types of numbers. Each is
 * the loop of the SIMD set (simd.h) for the leaves, and a function that merges two
 * leaves.
 *
 * Called by programs. The job lives in the frame of the call and is only read by the
 * threads that fold. Macros make the calls: weft_sum_f64 is DEFINE_ONE(sum, ...) with the
 * name f64, and so on; the comment of each macro lists the names that it makes.
 *
 * SPDX-License-Identifier: MIT */
#include "../loop/loop.h"
#include "reduce.h"
#include "simd.h"

#include <weft/numbers.h>

/* Fixed, in simd.h: sums of floats depend on it. */
#define TYPED_LEAF(type) (WF_SUM_LEAF_BYTES / sizeof(type))

_Static_assert(TYPED_LEAF(float) <= WF_SIMD_MAX, "a leaf is one call of a SIMD loop");

typedef struct typed_job {
  const void *a, *b; /* b of dot only */
  const wf_simd *simd;
} typed_job;

/* The element at `begin`; NULL stays NULL. */
#define TYPED_FROM(type, array, begin)                                                   \
  ((begin) == 0 ? (const type *)(array) : (const type *)(array) + (begin))

/* ---- results that are one number ---- */

/* Makes merge_integer_sums, merge_integer_products, merge_double_sums and
 * merge_double_products. */
#define DEFINE_MERGE(name, type, op)                                                     \
  static void name(void *acc, const void *right, void *ctx) {                            \
    (void)ctx;                                                                           \
    *(type *)acc op *(const type *)right;                                                \
  }
DEFINE_MERGE(merge_integer_sums, uint64_t, +=)
DEFINE_MERGE(merge_integer_products, uint64_t, *=)
DEFINE_MERGE(merge_double_sums, double, +=)
DEFINE_MERGE(merge_double_products, double, *=)
#undef DEFINE_MERGE

static void merge_moments(void *acc, const void *right, void *ctx) {
  (void)ctx;
  wf_moments_merge((wf_moments *)acc, (const wf_moments *)right);
}

/* Makes weft_<call>_<name>, weft_<call>_<name>_with and <call>_leaf_<name>. `loop` is the
 * name of the SIMD loop, `folded` its result, FINISH makes the result of the call of it.
 */
#define DEFINE_ONE(call, loop, name, type, folded, result, merge, FINISH)                \
  static void call##_leaf_##name(void *acc, size_t begin, size_t end, void *ctx) {       \
    const typed_job *j = (const typed_job *)ctx;                                         \
    *(folded *)acc = j->simd->loop##_##name(TYPED_FROM(type, j->a, begin), end - begin); \
  }                                                                                      \
  result weft_##call##_##name##_with(const weft_opts *o, const type *a, size_t n) {      \
    weft_opts opts;                                                                      \
    typed_job j = {a, NULL, wf_simd_get()};                                              \
    folded r;                                                                            \
    wf_fold fold = {n, TYPED_LEAF(type), sizeof r, call##_leaf_##name, merge, &j};       \
    wf_par_start(&opts, o, a == NULL, n, sizeof *a, "weft_" #call "_" #name);            \
    wf_fold_run(&opts, &r, &fold);                                                       \
    return FINISH(r, n);                                                                 \
  }                                                                                      \
  WF_PLAIN_OF(result, weft_##call##_##name, (const type *a, size_t n), a, n)

#define AS_IT_IS(r, n) (r)
#define MEAN(r, n)     ((n) > 0 ? (r) / (double)(n) : __builtin_nan(""))
#define VARIANCE(r, n) ((r).count > 0 ? (r).squares / (r).count : __builtin_nan(""))

/* Makes weft_dot_<name>, weft_dot_<name>_with and dot_leaf_<name>. */
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
    wf_par_start(&opts, o, a == NULL || b == NULL, n, sizeof *a, "weft_dot_" #name);     \
    wf_fold_run(&opts, &r, &fold);                                                       \
    return r;                                                                            \
  }                                                                                      \
  WF_PLAIN_OF(wide, weft_dot_##name, (const type *a, const type *b, size_t n), a, b, n)

/* Makes weft_sum_<name>, weft_product_<name>, weft_mean_<name>, weft_variance_<name> and
 * weft_dot_<name>, each also as _with; and their leaves, to be found by their whole
 * names:
 *
 *     sum_leaf_i32 sum_leaf_u32 sum_leaf_i64 sum_leaf_u64 sum_leaf_f32 sum_leaf_f64
 *
 * and in the same way product_leaf_, mean_leaf_, variance_leaf_ and dot_leaf_. */
#define DEFINE_SUMS(name, type, wide, sums, products)                                    \
  DEFINE_ONE(sum, sum, name, type, wide, wide, sums, AS_IT_IS)                           \
  DEFINE_ONE(product, product, name, type, wide, wide, products, AS_IT_IS)               \
  DEFINE_ONE(mean, total, name, type, double, double, merge_double_sums, MEAN)           \
  DEFINE_ONE(variance, moments, name, type, wf_moments, double, merge_moments, VARIANCE) \
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
#undef MEAN
#undef VARIANCE

/* ---- smallest and largest ---- */

/* Makes weft_min_<name> and weft_min_index_<name>, or the same for max, each also as
 * _with. min_find_<name> returns the smallest number that is not NaN, and where the first
 * leaf that has it begins. A leaf that has only NaN gives `none`, the largest number of
 * the type; so where the result is `none`, the calls look at the array again. */
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
    wf_fold fold = {.n = n, .leaf = TYPED_LEAF(type), .size = sizeof best};              \
    fold.fold = which##_leaf_##name;                                                     \
    fold.merge = which##_merge_##name;                                                   \
    fold.ctx = &j;                                                                       \
    wf_fold_run(opts, &best, &fold);                                                     \
    return best;                                                                         \
  }                                                                                      \
                                                                                         \
  type weft_##which##_##name##_with(const weft_opts *o, const type *a, size_t n) {       \
    weft_opts opts;                                                                      \
    wf_par_start(&opts, o, a == NULL, n, sizeof *a, "weft_" #which "_" #name);           \
    type value = which##_find_##name(&opts, a, n).value;                                 \
    if (n == 0 || value != (type)(none)) return value;                                   \
    for (size_t i = 0; i < n; i++)                                                       \
      if (a[i] == a[i]) return value;                                                    \
    return a[0];                                                                         \
  }                                                                                      \
  WF_PLAIN_OF(type, weft_##which##_##name, (const type *a, size_t n), a, n)              \
                                                                                         \
  size_t weft_##which##_index_##name##_with(const weft_opts *o, const type *a,           \
                                            size_t n) {                                  \
    weft_opts opts;                                                                      \
    wf_par_start(&opts, o, a == NULL, n, sizeof *a, "weft_" #which "_index_" #name);     \
    which##_best_##name best = which##_find_##name(&opts, a, n);                         \
    if (wf_par_cancelled(&opts)) return SIZE_MAX;                                        \
    WF_ASSERT(best.leaf <= n);                                                           \
    for (size_t i = best.value == (type)(none) ? 0 : best.leaf; i < n; i++)              \
      if (a[i] == best.value) return i;                                                  \
    return SIZE_MAX;                                                                     \
  }                                                                                      \
  WF_PLAIN_OF(size_t, weft_##which##_index_##name, (const type *a, size_t n), a, n)

#define DEFINE_EXTREMES(name, type, lowest, highest)                                     \
  DEFINE_EXTREME(min, <, highest, name, type)                                            \
  DEFINE_EXTREME(max, >, lowest, name, type)
DEFINE_EXTREMES(i32, int32_t, INT32_MIN, INT32_MAX)
DEFINE_EXTREMES(u32, uint32_t, 0, UINT32_MAX)
DEFINE_EXTREMES(i64, int64_t, INT64_MIN, INT64_MAX)
DEFINE_EXTREMES(u64, uint64_t, 0, UINT64_MAX)
DEFINE_EXTREMES(f32, float, -__builtin_inf(), __builtin_inf())
DEFINE_EXTREMES(f64, double, -__builtin_inf(), __builtin_inf())
#undef DEFINE_EXTREMES
#undef DEFINE_EXTREME

/* ---- fill ---- */

/* Blocks have at least this many bytes: writing them takes about as long as the time
 * between two blocks. A choice. */
enum { FILL_MIN_BYTES = 4096 };

typedef struct fill_job {
  char *a;
  const void *value;
  size_t size;
  void (*fill)(void *a, size_t n, const void *value);
} fill_job;

static void fill_numbers(size_t begin, size_t end, void *ctx) {
  const fill_job *j = (const fill_job *)ctx;
  j->fill(j->a + begin * j->size, end - begin, j->value);
}

/* Makes weft_fill_<name> and weft_fill_<name>_with. */
#define DEFINE_FILL(name, type, wide)                                                    \
  void weft_fill_##name##_with(const weft_opts *o, type *a, size_t n, type value) {      \
    weft_opts opts;                                                                      \
    const wf_simd *simd = wf_simd_get();                                                 \
    fill_job j = {(char *)a, &value, sizeof value,                                       \
                  sizeof value == 4 ? simd->fill_4 : simd->fill_8};                      \
    wf_loop loop = {fill_numbers, &j, NULL};                                             \
    wf_par_start(&opts, o, a == NULL, n, sizeof *a, "weft_fill_" #name);                 \
    if (opts.min_len == 0) opts.min_len = FILL_MIN_BYTES / sizeof value;                 \
    wf_loop_run(&opts, n, &loop);                                                        \
  }                                                                                      \
  WF_PLAIN(weft_fill_##name, (type * a, size_t n, type value), a, n, value)
WEFT_NUMBERS_(DEFINE_FILL)
#undef DEFINE_FILL
