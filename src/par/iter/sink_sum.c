/* par/iter/sink_sum.c - the sinks that add numbers up: integers, which wrap around, and
 * floats, whose sum has the bits of weft_sum_f32 and weft_sum_f64.
 *
 * Called by programs. The tree of leaves is that of sink_fold.c. Where the last stage is
 * a kernel stage that makes such numbers, its own loop adds them up
 * (weft_iter_kernel.sums), and no batch of them is made.
 *
 * SPDX-License-Identifier: MIT */
#include "../fold/reduce.h"
#include "iter.h"

/* ---- stages that add up what they make ---- */

/* The last stage, if its own loops make the sum of its elements, else NULL. */
static const wf_stage *summing_stage(const weft_iter *it, wf_iter_number number) {
  const wf_stage *s = &it->stages[it->count - 1];
  if (s->kind != WF_KERNEL && s->kind != WF_ZIP_KERNEL) return NULL;
  const weft_iter_kernel *kernel = wf_stage_kernel(s);
  /* The program may have an older header. */
  if (kernel->struct_size < sizeof *kernel || kernel->number != number) return NULL;
  bool is_float = number == WF_ITER_F32 || number == WF_ITER_F64;
  return is_float && kernel->sums.columns == NULL ? NULL : s;
}

static wf_iter_sums sums_of(const wf_stage *s) {
  const weft_iter_kernel *kernel = wf_stage_kernel(s);
  return kernel->wide_sums.whole != NULL && wf_simd_get()->wide ? kernel->wide_sums
                                                                : kernel->sums;
}

/* The plan for a sum by the loops of stage `s`: batches are those of its operand, or
 * pairs of them if it is a zip. Without `s` a plan for all stages. */
static void plan_sum(wf_iter_plan *plan, const weft_iter *it, const wf_stage *s,
                     wf_iter_folding *f, const char *call) {
  f->fused = s != NULL && s->kind == WF_KERNEL;
  f->pairs = s != NULL && s->kind == WF_ZIP_KERNEL;
  wf_iter_plan_make(plan, it, it->count - (f->fused ? 2 : 1), false, call);
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

/* The loop of a stage, and what is given to it. */
typedef struct whole_ctx {
  wf_iter_sums loops;
  void *ctx;
} whole_ctx;

static bool take_whole(wf_iter_run *run, const char *elems, size_t n) {
  const wf_iter_leaf *leaf = (const wf_iter_leaf *)run->state;
  const whole_ctx *c = (const whole_ctx *)leaf->ctx;
  *(uint64_t *)leaf->acc += c->loops.whole(elems, run->right, n, c->ctx);
  return true;
}

static uint64_t sum_of_integers(const weft_iter *it, size_t size, const wf_stage *s,
                                wf_iter_take *take, const char *call) {
  whole_ctx by_stage;
  const void *ctx = wf_simd_get();
  uint64_t sum;
  if (s != NULL) {
    by_stage = (whole_ctx){sums_of(s), s->as.kernel.ctx};
    ctx = &by_stage;
  }
  wf_iter_folding f = {.size = sizeof sum,
                       .init = init_zero,
                       .take = s != NULL ? take_whole : take,
                       .merge = merge_sums,
                       .ctx = (void *)(uintptr_t)ctx};
  wf_iter_plan plan;
  wf_iter_fold_call all;
  wf_iter_need_size(it, size, call);
  plan_sum(&plan, it, s, &f, call);
  wf_iter_fold_start(&all, &plan, &sum, &f);
  wf_iter_fold_run(&all);
  wf_iter_plan_end(&plan);
  return sum;
}

/* Makes weft_iter_sum_<name> and take_sum_<name>: take_sum_i32 take_sum_u32 take_sum_i64
 * take_sum_u64. */
#define DEFINE_SUM(name, type, wide, number)                                             \
  static bool take_sum_##name(wf_iter_run *run, const char *elems, size_t n) {           \
    const wf_iter_leaf *leaf = (const wf_iter_leaf *)run->state;                         \
    const wf_simd *simd = (const wf_simd *)leaf->ctx;                                    \
    *(uint64_t *)leaf->acc +=                                                            \
        (uint64_t)simd->sum_##name((const type *)(const void *)elems, n);                \
    return true;                                                                         \
  }                                                                                      \
  wide weft_iter_sum_##name(const weft_iter *it) {                                       \
    const char *call = "weft_iter_sum_" #name;                                           \
    wf_iter_check(it, call);                                                             \
    return (wide)sum_of_integers(it, sizeof(type), summing_stage(it, number),            \
                                 take_sum_##name, call);                                 \
  }
DEFINE_SUM(i32, int32_t, int64_t, WF_ITER_I32)
DEFINE_SUM(u32, uint32_t, uint64_t, WF_ITER_U32)
DEFINE_SUM(i64, int64_t, int64_t, WF_ITER_I64)
DEFINE_SUM(u64, uint64_t, uint64_t, WF_ITER_U64)
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
  size_t leaf;           /* elements of a leaf of fold/numbers.c */
  bool is_known;         /* the length of the sequence */
  const wf_stage *stage; /* NULL, or the stage whose own loops add up */
  wf_iter_take *take;    /* of elements */
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

/* Adds the columns of groups, which it overwrites. */
static void sum_add_groups(wf_sum_tree *s, double (*sums)[8], size_t groups,
                           const float_ctx *c) {
  while (groups > 0) {
    unsigned level = next_level(s, groups, c);
    size_t count = (size_t)1 << level;
    for (size_t apart = 1; apart < count; apart *= 2)
      for (size_t j = 0; j < count; j += 2 * apart)
        for (int i = 0; i < 8; i++) sums[j][i] += sums[j + apart][i];
    sum_add(s, sums[0], level, c);
    sums += count;
    groups -= count;
  }
}

/* Groups of one call of a stage's loop: a choice, 4 KiB of stack for their columns. */
enum { FUSED_GROUPS = 64 };

/* The elements are those that the stage makes its own from. What is no whole group is
 * made, and taken as elsewhere. */
static bool take_columns(wf_iter_run *run, const char *elems, size_t n) {
  wf_iter_leaf *leaf = (wf_iter_leaf *)run->state;
  const float_ctx *c = (const float_ctx *)leaf->ctx;
  const weft_iter_kernel *kernel = wf_stage_kernel(c->stage);
  const wf_iter_sums loops = sums_of(c->stage);
  const char *right = run->right;
  while (n > 0) {
    size_t done;
    if (leaf->sum.in_tail > 0 || n < WF_SUM_GROUP) {
      double values[WF_SUM_GROUP];
      done = WF_SUM_GROUP - leaf->sum.in_tail;
      if (done > n) done = n;
      wf_iter_kernel_run(c->stage, (char *)values, elems, right, done);
      c->take(run, (const char *)values, done);
    } else {
      double sums[FUSED_GROUPS][8];
      size_t groups = n / WF_SUM_GROUP;
      if (groups > FUSED_GROUPS) groups = FUSED_GROUPS;
      done = groups * WF_SUM_GROUP;
      loops.columns(sums[0], elems, right, groups, c->stage->as.kernel.ctx);
      sum_add_groups(&leaf->sum, sums, groups, c);
    }
    n -= done;
    elems += done * kernel->in;
    if (right != NULL) right += done * kernel->right;
  }
  return true;
}

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
  const wf_iter_fold_call *call = (const wf_iter_fold_call *)ctx;
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

static void cut_floats(wf_iter_fold_call *call, const float_ctx *c) {
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

/* False: the stage of `c` cannot add up, because leaves are shorter than a group. */
static bool try_sum(float_sum *sum, const weft_iter *it, float_ctx *c, const char *call) {
  wf_iter_folding f = {.size = sizeof(float_sum),
                       .init = init_float,
                       .take = c->stage != NULL ? take_columns : c->take,
                       .finish = finish_float,
                       .merge = merge_floats,
                       .ctx = c};
  wf_iter_plan plan;
  wf_iter_fold_call all;
  plan_sum(&plan, it, c->stage, &f, call);
  wf_iter_fold_start(&all, &plan, sum, &f);
  c->is_known = wf_plan_is_known(&plan);
  bool can = c->stage == NULL || !c->is_known || all.fold.leaf >= WF_SUM_GROUP;
  if (can && c->is_known) cut_floats(&all, c);
  if (can) wf_iter_fold_run(&all);
  wf_iter_plan_end(&plan);
  return can;
}

static double sum_of_floats(const weft_iter *it, size_t size, wf_iter_number number,
                            wf_iter_take *take, const char *call) {
  float_sum sum;
  wf_iter_need_size(it, size, call);
  float_ctx c = {wf_simd_get(), WF_SUM_LEAF_BYTES / size, false,
                 summing_stage(it, number), take};
  if (!try_sum(&sum, it, &c, call)) {
    c.stage = NULL;
    try_sum(&sum, it, &c, call);
  }
  return number_of_sum(&sum);
}

double weft_iter_sum_f32(const weft_iter *it) {
  return sum_of_floats(it, sizeof(float), WF_ITER_F32, take_sum_f32, "weft_iter_sum_f32");
}

double weft_iter_sum_f64(const weft_iter *it) {
  return sum_of_floats(it, sizeof(double), WF_ITER_F64, take_sum_f64,
                       "weft_iter_sum_f64");
}
