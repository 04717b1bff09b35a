/* par/iter/fold.c - sinks of iterators that fold: reduce, fold, sums, minima, min-by.
 *
 * What is added to what depends on the lengths of the sources only, so take functions
 * must not depend on how long the batches are: sums of floats keep eight lanes, and which
 * lane an element goes to follows from how many came before it in its leaf.
 *
 * SPDX-License-Identifier: MIT */
#include "../fold/reduce.h"
#include "../fold/simd.h"
#include "iter.h"

/* ---- fold ---- */

typedef struct fold_ctx {
  const weft_folder *f;
  void *ctx;
} fold_ctx;

static void init_fold(void *acc, void *ctx) {
  const fold_ctx *c = (const fold_ctx *)ctx;
  c->f->init(acc, c->ctx);
}

static bool take_fold(wf_iter_run *run, const char *elems, size_t n) {
  const wf_iter_leaf *leaf = (const wf_iter_leaf *)run->state;
  const fold_ctx *c = (const fold_ctx *)leaf->ctx;
  c->f->fold(leaf->acc, elems, n, c->ctx);
  return true;
}

static void merge_fold(void *acc, const void *right, void *ctx) {
  const fold_ctx *c = (const fold_ctx *)ctx;
  c->f->merge(acc, right, c->ctx);
}

static void run_fold(const weft_iter *it, void *result, const wf_iter_folding *f,
                     const char *call) {
  wf_iter_plan plan;
  if (result == NULL) wf_fatal(call, "the result is NULL");
  wf_iter_plan_all(&plan, it, call);
  wf_iter_fold_all(&plan, result, f);
}

void weft_iter_fold(const weft_iter *it, void *result, const weft_folder *f, void *ctx) {
  const char *call = "weft_iter_fold";
  fold_ctx c = {f, ctx};
  if (f == NULL) wf_fatal(call, "the folder is NULL");
  if (f->init == NULL || f->fold == NULL || f->merge == NULL)
    wf_fatal(call, "the function is NULL");
  if (f->size == 0) wf_fatal(call, "the size of the accumulator is 0");
  wf_iter_need_size(it, f->elem, call);
  wf_iter_folding folding = {f->size, init_fold, take_fold, merge_fold, &c};
  run_fold(it, result, &folding, call);
}

/* ---- reduce ---- */

typedef struct reduce_ctx {
  const void *identity;
  size_t size;
  weft_op_fn *op;
  void *ctx;
} reduce_ctx;

static void init_reduce(void *acc, void *ctx) {
  const reduce_ctx *c = (const reduce_ctx *)ctx;
  memcpy(acc, c->identity, c->size);
}

static bool take_reduce(wf_iter_run *run, const char *elems, size_t n) {
  const wf_iter_leaf *leaf = (const wf_iter_leaf *)run->state;
  const reduce_ctx c = *(const reduce_ctx *)leaf->ctx;
  for (size_t j = 0; j < n; j++) c.op(leaf->acc, elems + j * c.size, c.ctx);
  return true;
}

static void merge_reduce(void *acc, const void *right, void *ctx) {
  const reduce_ctx *c = (const reduce_ctx *)ctx;
  c->op(acc, right, c->ctx);
}

void weft_iter_reduce(const weft_iter *it, void *result, size_t size,
                      const void *identity, weft_op_fn *op, void *ctx) {
  const char *call = "weft_iter_reduce";
  reduce_ctx c = {identity, size, op, ctx};
  if (op == NULL) wf_fatal(call, "the operation is NULL");
  if (identity == NULL) wf_fatal(call, "the identity is NULL");
  wf_iter_need_size(it, size, call);
  if (identity == result) wf_fatal(call, "the identity is where the result goes");
  wf_iter_folding folding = {size, init_reduce, take_reduce, merge_reduce, &c};
  run_fold(it, result, &folding, call);
}

/* ---- the smallest and the largest by a comparator ---- */

typedef struct best_ctx {
  weft_cmp_fn *cmp;
  void *ctx;
  size_t size;
  int sign; /* -1: the largest */
} best_ctx;

/* An accumulator: whether there is one, and at BEST_AT the element. */
enum { BEST_AT = 16 };

static bool is_better(const best_ctx *c, const char *a, const char *b) {
  return c->sign > 0 ? c->cmp(a, b, c->ctx) < 0 : c->cmp(b, a, c->ctx) < 0;
}

static void init_best(void *acc, void *ctx) {
  (void)ctx;
  *(bool *)acc = false;
}

static bool take_best(wf_iter_run *run, const char *elems, size_t n) {
  const wf_iter_leaf *leaf = (const wf_iter_leaf *)run->state;
  const best_ctx c = *(const best_ctx *)leaf->ctx;
  char *kept = (char *)leaf->acc + BEST_AT;
  const char *best = *(bool *)leaf->acc ? kept : elems;
  for (size_t j = 0; j < n; j++)
    if (is_better(&c, elems + j * c.size, best)) best = elems + j * c.size;
  if (best != kept) memcpy(kept, best, c.size);
  *(bool *)leaf->acc = true;
  return true;
}

static void merge_best(void *acc, const void *right, void *ctx) {
  const best_ctx *c = (const best_ctx *)ctx;
  char *left = (char *)acc;
  const char *other = (const char *)right;
  if (!*(const bool *)right) return;
  if (*(bool *)acc && !is_better(c, other + BEST_AT, left + BEST_AT)) return;
  memcpy(left + BEST_AT, other + BEST_AT, c->size);
  *(bool *)acc = true;
}

static __attribute__((noinline)) bool best_on_stack(const weft_iter *it, void *out,
                                                    const wf_iter_folding *f,
                                                    const char *call) {
  _Alignas(16) char acc[1024];
  run_fold(it, acc, f, call);
  if (*(bool *)acc && out != NULL) memcpy(out, acc + BEST_AT, f->size - BEST_AT);
  return *(bool *)acc;
}

static bool find_best(const weft_iter *it, void *out, size_t size, weft_cmp_fn *cmp,
                      void *ctx, int sign, const char *call) {
  best_ctx c = {cmp, ctx, size, sign};
  wf_iter_folding f = {size + BEST_AT, init_best, take_best, merge_best, &c};
  if (cmp == NULL) wf_fatal(call, "the comparator is NULL");
  wf_iter_need_size(it, size, call);
  if (f.size <= 1024) return best_on_stack(it, out, &f, call);
  wf_scratch scratch = wf_scratch_need(f.size, call);
  char *acc = (char *)scratch.memory;
  run_fold(it, acc, &f, call);
  bool any = *(bool *)acc;
  if (any && out != NULL) memcpy(out, acc + BEST_AT, size);
  wf_scratch_put(scratch);
  return any;
}

bool weft_iter_min_by(const weft_iter *it, void *out, size_t size, weft_cmp_fn *cmp,
                      void *ctx) {
  return find_best(it, out, size, cmp, ctx, 1, "weft_iter_min_by");
}

bool weft_iter_max_by(const weft_iter *it, void *out, size_t size, weft_cmp_fn *cmp,
                      void *ctx) {
  return find_best(it, out, size, cmp, ctx, -1, "weft_iter_max_by");
}

/* ---- sums of integers ---- */

static void init_zero(void *acc, void *ctx) {
  (void)ctx;
  *(uint64_t *)acc = 0;
}

static void merge_sums(void *acc, const void *right, void *ctx) {
  (void)ctx;
  *(uint64_t *)acc += *(const uint64_t *)right;
}

#define DEFINE_SUM(name, type, wide)                                                     \
  static bool take_sum_##name(wf_iter_run *run, const char *elems, size_t n) {           \
    const wf_iter_leaf *leaf = (const wf_iter_leaf *)run->state;                         \
    const wf_simd *kernels = (const wf_simd *)leaf->ctx;                                 \
    *(uint64_t *)leaf->acc +=                                                            \
        (uint64_t)kernels->sum_##name((const type *)(const void *)elems, n);             \
    return true;                                                                         \
  }                                                                                      \
  wide weft_iter_sum_##name(const weft_iter *it) {                                       \
    uint64_t sum;                                                                        \
    wf_iter_folding f = {sizeof sum, init_zero, take_sum_##name, merge_sums,             \
                         (void *)(uintptr_t)wf_simd_get()};                              \
    wf_iter_need_size(it, sizeof(type), "weft_iter_sum_" #name);                         \
    run_fold(it, &sum, &f, "weft_iter_sum_" #name);                                      \
    return (wide)sum;                                                                    \
  }
DEFINE_SUM(i32, int32_t, int64_t)
DEFINE_SUM(u32, uint32_t, uint64_t)
DEFINE_SUM(i64, int64_t, int64_t)
DEFINE_SUM(u64, uint64_t, uint64_t)
#undef DEFINE_SUM

/* ---- sums of floats ---- */

typedef struct sum_lanes {
  double sum[8];
  size_t seen;
} sum_lanes;

static void init_lanes(void *acc, void *ctx) {
  (void)ctx;
  memset(acc, 0, sizeof(sum_lanes));
}

static void merge_lanes(void *acc, const void *right, void *ctx) {
  sum_lanes *l = (sum_lanes *)acc;
  const sum_lanes *r = (const sum_lanes *)right;
  (void)ctx;
  for (int k = 0; k < 8; k++) l->sum[k] += r->sum[k];
}

/* Two doubles: what every CPU with vectors has. The compiler keeps four of them in
 * registers, which it does not do with an array. */
typedef double two_lanes __attribute__((vector_size(16)));

#define DEFINE_SUM(name, type)                                                           \
  static bool take_sum_##name(wf_iter_run *run, const char *elems, size_t n) {           \
    sum_lanes *l = (sum_lanes *)((const wf_iter_leaf *)run->state)->acc;                 \
    const type *a = (const type *)(const void *)elems;                                   \
    two_lanes s0, s1, s2, s3;                                                            \
    size_t i = 0;                                                                        \
    for (; i < n && (l->seen + i) % 8 != 0; i++)                                         \
      l->sum[(l->seen + i) % 8] += (double)a[i];                                         \
    memcpy(&s0, l->sum, sizeof s0);                                                      \
    memcpy(&s1, l->sum + 2, sizeof s1);                                                  \
    memcpy(&s2, l->sum + 4, sizeof s2);                                                  \
    memcpy(&s3, l->sum + 6, sizeof s3);                                                  \
    for (; n - i >= 8; i += 8) {                                                         \
      s0 += (two_lanes){(double)a[i], (double)a[i + 1]};                                 \
      s1 += (two_lanes){(double)a[i + 2], (double)a[i + 3]};                             \
      s2 += (two_lanes){(double)a[i + 4], (double)a[i + 5]};                             \
      s3 += (two_lanes){(double)a[i + 6], (double)a[i + 7]};                             \
    }                                                                                    \
    memcpy(l->sum, &s0, sizeof s0);                                                      \
    memcpy(l->sum + 2, &s1, sizeof s1);                                                  \
    memcpy(l->sum + 4, &s2, sizeof s2);                                                  \
    memcpy(l->sum + 6, &s3, sizeof s3);                                                  \
    for (; i < n; i++) l->sum[(l->seen + i) % 8] += (double)a[i];                        \
    l->seen += n;                                                                        \
    return true;                                                                         \
  }                                                                                      \
  double weft_iter_sum_##name(const weft_iter *it) {                                     \
    sum_lanes all;                                                                       \
    wf_iter_folding f = {sizeof all, init_lanes, take_sum_##name, merge_lanes, NULL};    \
    wf_iter_need_size(it, sizeof(type), "weft_iter_sum_" #name);                         \
    run_fold(it, &all, &f, "weft_iter_sum_" #name);                                      \
    const double *s = all.sum;                                                           \
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));            \
  }
DEFINE_SUM(f32, float)
DEFINE_SUM(f64, double)
#undef DEFINE_SUM

/* ---- minima and maxima ---- */

/* A kernel gives `none` for a batch of NaN, but also for one that has that number. */
#define DEFINE_EXTREME(call, op, name, type, none)                                       \
  typedef struct call##_##name {                                                         \
    type best;                                                                           \
    bool any, numbers; /* elements, and among them some that are not NaN */              \
  } call##_##name;                                                                       \
  static void init_##call##_##name(void *acc, void *ctx) {                               \
    call##_##name nothing = {none, false, false};                                        \
    (void)ctx;                                                                           \
    *(call##_##name *)acc = nothing;                                                     \
  }                                                                                      \
  static bool take_##call##_##name(wf_iter_run *run, const char *elems, size_t n) {      \
    const wf_iter_leaf *leaf = (const wf_iter_leaf *)run->state;                         \
    const type *a = (const type *)(const void *)elems;                                   \
    call##_##name *acc = (call##_##name *)leaf->acc;                                     \
    type best = ((const wf_simd *)leaf->ctx)->call##_##name(a, n);                       \
    acc->any = true;                                                                     \
    if (best op acc->best) acc->best = best;                                             \
    if (best != (none)) acc->numbers = true;                                             \
    for (size_t i = 0; i < n && !acc->numbers; i++) acc->numbers = a[i] == a[i];         \
    return true;                                                                         \
  }                                                                                      \
  static void merge_##call##_##name(void *acc, const void *right, void *ctx) {           \
    call##_##name *l = (call##_##name *)acc;                                             \
    const call##_##name *r = (const call##_##name *)right;                               \
    (void)ctx;                                                                           \
    if (r->best op l->best) l->best = r->best;                                           \
    l->any = l->any || r->any;                                                           \
    l->numbers = l->numbers || r->numbers;                                               \
  }                                                                                      \
  type weft_iter_##call##_##name(const weft_iter *it) {                                  \
    call##_##name all;                                                                   \
    wf_iter_folding f = {sizeof all, init_##call##_##name, take_##call##_##name,         \
                         merge_##call##_##name, (void *)(uintptr_t)wf_simd_get()};       \
    wf_iter_need_size(it, sizeof(type), "weft_iter_" #call "_" #name);                   \
    run_fold(it, &all, &f, "weft_iter_" #call "_" #name);                                \
    /* Infinity less infinity is NaN; integers are always numbers. */                    \
    return all.any && !all.numbers ? all.best - all.best : all.best;                     \
  }
#define DEFINE_EXTREMES(name, type, lowest, highest)                                     \
  DEFINE_EXTREME(min, <, name, type, highest)                                            \
  DEFINE_EXTREME(max, >, name, type, lowest)
DEFINE_EXTREMES(i32, int32_t, INT32_MIN, INT32_MAX)
DEFINE_EXTREMES(u32, uint32_t, 0, UINT32_MAX)
DEFINE_EXTREMES(i64, int64_t, INT64_MIN, INT64_MAX)
DEFINE_EXTREMES(u64, uint64_t, 0, UINT64_MAX)
DEFINE_EXTREMES(f32, float, -__builtin_inff(), __builtin_inff())
DEFINE_EXTREMES(f64, double, -__builtin_inf(), __builtin_inf())
#undef DEFINE_EXTREMES
#undef DEFINE_EXTREME
