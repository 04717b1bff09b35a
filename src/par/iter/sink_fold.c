/* par/iter/sink_fold.c - the sinks that fold: reduce, fold, sums, minima, min-by; and the
 * tree that they are run in.
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
  run->state = leaf;
}

void wf_iter_leaf_end(wf_iter_leaf *leaf, const wf_iter_folding *f, size_t begin) {
  if (f->finish != NULL) f->finish(leaf, begin);
}

/* ---- the tree ---- */

typedef struct fold_call {
  const wf_iter_plan *plan;
  const wf_iter_folding *folding;
  void *result;
  wf_fold fold;
  size_t group;    /* of leaves, for sums of floats; else 1 */
  weft_opts parts; /* for sums of floats: how a leaf is cut itself, if it is */
} fold_call;

static void fold_leaf_of_all(void *acc, size_t begin, size_t end, void *ctx) {
  const fold_call *call = (const fold_call *)ctx;
  wf_iter_run run = {.plan = call->plan};
  wf_iter_leaf leaf;
  wf_iter_leaf_begin(&leaf, call->folding, acc, &run);
  if (begin < end) wf_iter_eval(&run, begin, end);
  wf_iter_leaf_end(&leaf, call->folding, begin);
}

static void merge_of_all(void *acc, const void *right, void *ctx) {
  const wf_iter_folding *f = ((const fold_call *)ctx)->folding;
  f->merge(acc, right, f->ctx);
}

static void fold_all_inside(void *ctx) {
  const fold_call *call = (const fold_call *)ctx;
  wf_fold_run_in_groups(&call->plan->opts, call->result, &call->fold, call->group);
}

static void start_fold(fold_call *call, const wf_iter_plan *plan, void *result,
                       const wf_iter_folding *f) {
  call->plan = plan;
  call->folding = f;
  call->result = result;
  call->group = 1;
  call->fold = (wf_fold){wf_plan_positions(plan), leaf_length(plan), f->size,
                         fold_leaf_of_all,        merge_of_all,      call};
}

static void run_fold_call(const fold_call *call) {
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
  fold_call all;
  if (result == NULL) wf_fatal(call, "the result is NULL");
  wf_iter_plan_all(&plan, it, call);
  start_fold(&all, &plan, result, f);
  run_fold_call(&all);
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
  wf_iter_folding folding = {f->size, init_fold, take_fold, NULL, merge_fold, &c};
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
  wf_iter_folding folding = {size, init_reduce, take_reduce, NULL, merge_reduce, &c};
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
  wf_iter_folding f = {size + BEST_AT, init_best, take_best, NULL, merge_best, &c};
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

/* ---- sums of integers ---- */

static void init_zero(void *acc, void *ctx) {
  (void)ctx;
  *(uint64_t *)acc = 0;
}

static void merge_sums(void *acc, const void *right, void *ctx) {
  (void)ctx;
  *(uint64_t *)acc += *(const uint64_t *)right;
}

/* Makes weft_iter_sum_<name> and take_sum_<name>: take_sum_i32 take_sum_u32 take_sum_i64
 * take_sum_u64. */
#define DEFINE_SUM(name, type, wide)                                                     \
  static bool take_sum_##name(wf_iter_run *run, const char *elems, size_t n) {           \
    const wf_iter_leaf *leaf = (const wf_iter_leaf *)run->state;                         \
    const wf_simd *simd = (const wf_simd *)leaf->ctx;                                    \
    *(uint64_t *)leaf->acc +=                                                            \
        (uint64_t)simd->sum_##name((const type *)(const void *)elems, n);                \
    return true;                                                                         \
  }                                                                                      \
  wide weft_iter_sum_##name(const weft_iter *it) {                                       \
    uint64_t sum;                                                                        \
    wf_iter_folding f = {sizeof sum, init_zero,  take_sum_##name,                        \
                         NULL,       merge_sums, (void *)(uintptr_t)wf_simd_get()};      \
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

/* The same bits as weft_sum_f32 and weft_sum_f64 of an array with the same numbers, where
 * the length is known: the tree of fold/simd.h, in which leaves of WF_SUM_LEAF_BYTES are
 * cut into groups of 128 elements and those are added in eight columns. A leaf of the
 * fold is a part of such a leaf here, a power of two of groups, so that there are enough
 * of them for functions that take long; wf_fold_run_in_groups merges them as
 * fold/numbers.c would have.
 *
 * Behind filters and pulls a leaf of the fold is what its positions give, added in the
 * same way, and the sums of leaves are numbers. */

/* What a part of the sequence adds up to. */
typedef struct float_sum {
  double column[8]; /* if is_number, the sum is column[0] */
  size_t leaf;      /* of fold/numbers.c; the part is inside of it, unless is_number */
  bool is_number;
} float_sum;

typedef struct float_ctx {
  const wf_simd *simd;
  size_t leaf;   /* elements of a leaf of fold/numbers.c */
  bool is_known; /* the length of the sequence */
} float_ctx;

static double add_columns(const double *c) {
  const double e[4] = {c[0] + c[4], c[1] + c[5], c[2] + c[6], c[3] + c[7]};
  return (e[0] + e[2]) + (e[1] + e[3]);
}

static double number_of_sum(const float_sum *s) {
  return s->is_number ? s->column[0] : add_columns(s->column);
}

static void init_float(void *acc, void *ctx) {
  (void)ctx;
  memset(acc, 0, sizeof(float_sum));
}

static void merge_floats(void *acc, const void *right, void *ctx) {
  float_sum *l = (float_sum *)acc;
  const float_sum *r = (const float_sum *)right;
  (void)ctx;
  if (!l->is_number && !r->is_number && l->leaf == r->leaf) {
    for (int k = 0; k < 8; k++) l->column[k] += r->column[k];
  } else {
    l->column[0] = number_of_sum(l) + number_of_sum(r);
    l->is_number = true;
  }
}

/* Adds the columns of 2^level groups to the tree. What groups give waits in a
 * stack until its neighbour of the same level comes, as the bits of a counter. */
static void sum_add(wf_sum_tree *s, const double *columns, unsigned level,
                    const float_ctx *c) {
  double x[8];
  memcpy(x, columns, sizeof x);
  WF_ASSERT((s->groups & (((size_t)1 << level) - 1)) == 0);
  for (size_t k = s->groups >> level; k % 2 == 1; k /= 2) {
    const double *left = s->columns[--s->waiting];
    for (int i = 0; i < 8; i++) x[i] = left[i] + x[i];
  }
  WF_ASSERT(s->waiting < WF_SUM_LEVELS);
  memcpy(s->columns[s->waiting++], x, sizeof x);
  s->groups += (size_t)1 << level;
  if (s->groups < c->leaf / WF_SUM_GROUP) return;
  /* A whole leaf: its sum is a number, and the next one begins. */
  WF_ASSERT(s->waiting == 1);
  double number = add_columns(s->columns[0]);
  s->number = s->has_number ? s->number + number : number;
  s->has_number = true;
  s->groups = s->waiting = 0;
}

/* The largest power of two of groups that may come next: at most `groups`, and its end is
 * not behind that of a larger tree. */
static unsigned next_level(const wf_sum_tree *s, size_t groups, const float_ctx *c) {
  unsigned level = 0;
  while ((size_t)2 << level <= groups && (s->groups >> level) % 2 == 0 &&
         (size_t)2 << level <= c->leaf / WF_SUM_GROUP)
    level++;
  return level;
}

static void sum_add_tail(wf_sum_tree *s, const float_ctx *c) {
  double columns[8];
  c->simd->columns_f64(columns, s->tail, WF_SUM_GROUP);
  sum_add(s, columns, 0, c);
  s->in_tail = 0;
}

/* Batches begin and end anywhere; what is no whole group waits in the tail. */
#define DEFINE_FLOAT_TAKE(name, type)                                                    \
  static bool take_sum_##name(wf_iter_run *run, const char *elems, size_t n) {           \
    wf_iter_leaf *leaf = (wf_iter_leaf *)run->state;                                     \
    const float_ctx *c = (const float_ctx *)leaf->ctx;                                   \
    const type *a = (const type *)(const void *)elems, *end = a + n;                     \
    wf_sum_tree *s = &leaf->sum;                                                         \
    double columns[8];                                                                   \
    if (s->in_tail > 0) {                                                                \
      while (a < end && s->in_tail < WF_SUM_GROUP) s->tail[s->in_tail++] = (double)*a++; \
      if (s->in_tail == WF_SUM_GROUP) sum_add_tail(s, c);                                \
    }                                                                                    \
    while (end - a >= WF_SUM_GROUP) {                                                    \
      unsigned level = next_level(s, (size_t)(end - a) / WF_SUM_GROUP, c);               \
      size_t part = (size_t)WF_SUM_GROUP << level;                                       \
      c->simd->columns_##name(columns, a, part);                                         \
      sum_add(s, columns, level, c);                                                     \
      a += part;                                                                         \
    }                                                                                    \
    while (a < end) s->tail[s->in_tail++] = (double)*a++;                                \
    WF_ASSERT(s->in_tail < WF_SUM_GROUP);                                                \
    return true;                                                                         \
  }
DEFINE_FLOAT_TAKE(f32, float)
DEFINE_FLOAT_TAKE(f64, double)
#undef DEFINE_FLOAT_TAKE

/* The last group is filled up with zeros, as in fold/simd.h; one of zeros only if there
 * is nothing else. */
static void finish_float(wf_iter_leaf *leaf, size_t begin) {
  const float_ctx *c = (const float_ctx *)leaf->ctx;
  wf_sum_tree *s = &leaf->sum;
  float_sum *acc = (float_sum *)leaf->acc;
  acc->leaf = c->is_known ? begin / c->leaf : 0;
  if (s->in_tail > 0) {
    memset(s->tail + s->in_tail, 0, (WF_SUM_GROUP - s->in_tail) * sizeof *s->tail);
    sum_add_tail(s, c);
  }
  if (s->waiting > 0) {
    memcpy(acc->column, s->columns[--s->waiting], sizeof acc->column);
    while (s->waiting > 0) {
      const double *left = s->columns[--s->waiting];
      for (int i = 0; i < 8; i++) acc->column[i] = left[i] + acc->column[i];
    }
  }
  if (c->is_known && !s->has_number) return; /* part of a leaf */
  acc->is_number = true;
  if (!s->has_number)
    acc->column[0] = add_columns(acc->column);
  else
    acc->column[0] = s->groups > 0 ? s->number + add_columns(acc->column) : s->number;
}

/* ---- leaves of few positions ---- */

/* Where a leaf of the fold would be shorter than a group, it is a group all the same, and
 * its elements are a loop of their own: so a few expensive elements still are work for
 * many threads. */
typedef struct group_call {
  const wf_iter_plan *plan;
  size_t begin, size; /* the first position, bytes of an element */
  char *values;
} group_call;

static bool take_values(wf_iter_run *run, const char *elems, size_t n) {
  const group_call *b = (const group_call *)run->state;
  memcpy(b->values + (run->base - b->begin) * b->size, elems, n * b->size);
  return true;
}

static void make_values(size_t begin, size_t end, void *ctx) {
  group_call *b = (group_call *)ctx;
  wf_iter_run run = {.plan = b->plan, .take = take_values, .state = b};
  wf_iter_eval(&run, b->begin + begin, b->begin + end);
}

static void fold_group_of_floats(void *acc, size_t begin, size_t end, void *ctx) {
  const fold_call *call = (const fold_call *)ctx;
  double values[WF_SUM_GROUP];
  group_call group = {call->plan, begin, wf_plan_root(call->plan)->size, (char *)values};
  wf_loop loop = {make_values, &group, NULL};
  wf_iter_run run = {.plan = call->plan};
  wf_iter_leaf leaf;
  WF_ASSERT(end - begin <= WF_SUM_GROUP);
  wf_iter_leaf_begin(&leaf, call->folding, acc, &run);
  wf_loop_run(&call->parts, end - begin, &loop);
  /* Cancelled: some values were not made, and the sum means nothing. */
  if (begin < end && !wf_par_cancelled(&call->plan->opts))
    run.take(&run, (const char *)values, end - begin);
  wf_iter_leaf_end(&leaf, call->folding, begin);
}

static void cut_floats(fold_call *call, const float_ctx *c) {
  const weft_opts *opts = &call->plan->opts;
  size_t wanted = call->fold.leaf, leaf = WF_SUM_GROUP;
  while (leaf <= wanted / 2 && leaf < c->leaf) leaf *= 2;
  call->fold.leaf = leaf;
  call->group = c->leaf / leaf;
  if (wanted >= WF_SUM_GROUP) return;
  call->fold.fold = fold_group_of_floats;
  call->parts = *opts;
  if (call->parts.min_len < wanted) call->parts.min_len = wanted;
  /* Groups and their loops together would be more threads than allowed. */
  if (opts->max_workers != 0 && call->fold.n > leaf) call->parts.max_workers = 1;
}

static double sum_of_floats(const weft_iter *it, size_t size, wf_iter_take *take,
                            const char *call) {
  float_ctx c = {wf_simd_get(), WF_SUM_LEAF_BYTES / size, false};
  wf_iter_folding f = {sizeof(float_sum), init_float,   take,
                       finish_float,      merge_floats, &c};
  wf_iter_plan plan;
  fold_call all;
  float_sum sum;
  wf_iter_need_size(it, size, call);
  wf_iter_plan_all(&plan, it, call);
  start_fold(&all, &plan, &sum, &f);
  c.is_known = wf_plan_is_known(&plan);
  if (c.is_known) cut_floats(&all, &c);
  run_fold_call(&all);
  wf_iter_plan_end(&plan);
  return number_of_sum(&sum);
}

double weft_iter_sum_f32(const weft_iter *it) {
  return sum_of_floats(it, sizeof(float), take_sum_f32, "weft_iter_sum_f32");
}

double weft_iter_sum_f64(const weft_iter *it) {
  return sum_of_floats(it, sizeof(double), take_sum_f64, "weft_iter_sum_f64");
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
    wf_iter_folding f = {                                                                \
        sizeof all, init_##call##_##name,  take_##call##_##name,                         \
        NULL,       merge_##call##_##name, (void *)(uintptr_t)wf_simd_get()};            \
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
