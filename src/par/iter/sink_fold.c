/* par/iter/sink_fold.c - the sinks that fold: reduce, fold, minima, min-by; and the tree
 * that they and sums (sink_sum.c) are run in.
 *
 * Called by programs. Each leaf of the tree is a run with an accumulator of its own; the
 * results of leaves are merged by fold/reduce.c. What is added to what depends on the
 * lengths of the sources only, so take functions must not depend on how long batches are.
 *
 * SPDX-License-Identifier: MIT */
#include "../fold/reduce.h"
#include "iter.h"

/* ---- leaves ---- */

/* Positions of a leaf; all of it follows from the lengths alone, of the sources and in
 * the options. FEW_LEAVES while they are shorter than LEAF_BATCH, two batches, because
 * functions may be expensive: 128 leaves can be balanced among some ten threads.
 * MANY_LEAVES when they are longer: balanced among more of them. Leaves longer than
 * LEAF_MOST are no faster, since starting one costs less than a batch. All four are
 * choices. */
enum { FEW_LEAVES = 128, MANY_LEAVES = 512, LEAF_BATCH = 1024, LEAF_MOST = 32768 };

static size_t leaf_length(const wf_iter_plan *plan) {
  size_t n = wf_plan_positions(plan);
  size_t leaf = n / FEW_LEAVES + (n % FEW_LEAVES != 0);
  if (leaf > LEAF_BATCH) {
    leaf = n / MANY_LEAVES + 1;
    if (leaf < LEAF_BATCH) leaf = LEAF_BATCH;
  }
  if (leaf > LEAF_MOST) leaf = LEAF_MOST;
  return wf_fold_leaf_length(n, leaf, &plan->opts);
}

void wf_iter_leaf_begin(wf_iter_leaf *leaf, const wf_iter_folding *f, void *acc,
                        wf_iter_run *run) {
  leaf->acc = acc;
  leaf->ctx = f->ctx;
  leaf->sum.groups = leaf->sum.in_tail = 0;
  leaf->sum.waiting = 0;
  leaf->sum.has_number = false;
  f->init(acc, f->ctx);
  run->take = f->take;
  run->fused = f->fused;
  run->pairs = f->pairs;
  run->state = leaf;
}

void wf_iter_leaf_end(wf_iter_leaf *leaf, const wf_iter_folding *f, size_t begin) {
  if (f->finish != NULL) f->finish(leaf, begin);
}

/* ---- the tree ---- */

static void fold_leaf_of_all(void *acc, size_t begin, size_t end, void *ctx) {
  const wf_iter_fold_call *call = (const wf_iter_fold_call *)ctx;
  wf_iter_run run = {.plan = call->plan};
  wf_iter_leaf leaf;
  wf_iter_leaf_begin(&leaf, call->folding, acc, &run);
  if (begin < end) wf_iter_eval(&run, begin, end);
  wf_iter_leaf_end(&leaf, call->folding, begin);
}

static void merge_of_all(void *acc, const void *right, void *ctx) {
  const wf_iter_folding *f = ((const wf_iter_fold_call *)ctx)->folding;
  f->merge(acc, right, f->ctx);
}

static void fold_all_inside(void *ctx) {
  const wf_iter_fold_call *call = (const wf_iter_fold_call *)ctx;
  wf_fold_run_in_groups(&call->plan->opts, call->result, &call->fold, call->group);
}

void wf_iter_fold_start(wf_iter_fold_call *call, const wf_iter_plan *plan, void *result,
                        const wf_iter_folding *f) {
  call->plan = plan;
  call->folding = f;
  call->result = result;
  call->group = 1;
  call->fold = (wf_fold){wf_plan_positions(plan), leaf_length(plan), f->size,
                         fold_leaf_of_all,        merge_of_all,      call};
}

void wf_iter_fold_run(const wf_iter_fold_call *call) {
  const wf_iter_plan *plan = call->plan;
  const wf_iter_folding *f = call->folding;
  if (wf_plan_pulls(plan)) {
    wf_iter_order order = {.plan = plan, .folding = f, .result = call->result};
    wf_iter_run_ordered(&order);
  } else if (call->fold.n == 0) {
    f->init(call->result, f->ctx);
  } else {
    wf_par_run_over(&plan->opts, call->fold.n, fold_all_inside, (void *)(uintptr_t)call);
  }
}

static void run_fold(const weft_iter *it, void *result, const wf_iter_folding *f,
                     const char *call) {
  wf_iter_plan plan;
  wf_iter_fold_call all;
  if (result == NULL) wf_fatal(call, "the result is NULL");
  wf_iter_plan_all(&plan, it, call);
  wf_iter_fold_start(&all, &plan, result, f);
  wf_iter_fold_run(&all);
  wf_iter_plan_end(&plan);
}

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

void weft_iter_fold(const weft_iter *it, void *result, const weft_folder *f, void *ctx) {
  const char *call = "weft_iter_fold";
  fold_ctx c = {f, ctx};
  if (f == NULL) wf_fatal(call, "the folder is NULL");
  if (f->init == NULL || f->fold == NULL || f->merge == NULL)
    wf_fatal(call, "the function is NULL");
  wf_check_acc_size(f->size, call);
  wf_iter_need_size(it, f->elem, call);
  wf_iter_folding folding = {f->size,    init_fold, take_fold, NULL,
                             merge_fold, &c,        false,     false};
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
  wf_iter_folding folding = {size,         init_reduce, take_reduce, NULL,
                             merge_reduce, &c,          false,       false};
  run_fold(it, result, &folding, call);
}

/* ---- the smallest and the largest by a comparator ---- */

typedef struct best_ctx {
  weft_cmp_fn *cmp;
  void *ctx;
  size_t size;
  int sign; /* -1: the largest */
} best_ctx;

/* An accumulator: whether there is an element, and at BEST_AT the element, aligned as
 * malloc's memory is. Those of up to BEST_STACK bytes are on the stack: a choice. */
enum { BEST_AT = 16, BEST_STACK = 1024 };

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

static bool find_best(const weft_iter *it, void *out, size_t size, weft_cmp_fn *cmp,
                      void *ctx, int sign, const char *call) {
  _Alignas(16) char small[BEST_STACK];
  best_ctx c = {cmp, ctx, size, sign};
  wf_iter_folding f = {size + BEST_AT, init_best, take_best, NULL,
                       merge_best,     &c,        false,     false};
  wf_scratch scratch = {small, NULL, 0};
  if (cmp == NULL) wf_fatal(call, "the comparator is NULL");
  wf_iter_need_size(it, size, call);
  if (f.size > sizeof small) scratch = wf_scratch_need(f.size, call);
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

/* ---- minima and maxima ---- */

/* The loops of fold/simd.h give `none` for a batch of NaN, but also for one whose best
 * number is that. */
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
    wf_iter_folding f = {sizeof all,                                                     \
                         init_##call##_##name,                                           \
                         take_##call##_##name,                                           \
                         NULL,                                                           \
                         merge_##call##_##name,                                          \
                         (void *)(uintptr_t)wf_simd_get(),                               \
                         false,                                                          \
                         false};                                                         \
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
