/* par/iter/run.c - runs a block: batches are fetched from the part of the chain whose
 * length is known, or cut from a text, and pushed through the stages behind it to the
 * sink. Also the memory that batches are in.
 *
 * Called by drive.c and ordered.c for each block, on the thread that has the block; a run
 * and its memory belong to that thread.
 *
 * SPDX-License-Identifier: MIT */
#include "iter.h"

/* ---- kernel stages ---- */

static size_t kernel_plain(const wf_stage *s, void *out, const void *in,
                           const void *right, size_t n, bool wide) {
  const weft_iter_kernel *kernel = wf_stage_kernel(s);
  if (kernel->wide.run != NULL && wide)
    return kernel->wide.run(out, in, right, n, s->as.kernel.ctx);
  return kernel->any.run(out, in, right, n, s->as.kernel.ctx);
}

/* Elements that are tested before they are moved. The same as BATCH_MOST, so that a batch
 * is one part: its bytes are half a kilobyte, which stays in the first cache. */
enum { SIEVE_PART = 512 };

/* What moves the elements that a filter keeps. NULL: the stage's own loop does. */
static wf_compact_fn *compaction_for(const wf_stage *s, const wf_simd *simd) {
  if (wf_stage_kernel(s)->any.keep == NULL) return NULL;
  if (s->size == 8) return simd->compact_8;
  return s->size == 4 ? simd->compact_4 : NULL;
}

static size_t kernel_sieve(const wf_stage *s, char *out, const char *in, size_t n,
                           wf_compact_fn *move_kept, bool wide) {
  const weft_iter_kernel *kernel = wf_stage_kernel(s);
  bool by_wide = kernel->wide.keep != NULL && wide;
  size_t size = s->size, kept = 0;
  unsigned char keep[SIEVE_PART];
  for (size_t i = 0; i < n; i += SIEVE_PART) {
    size_t part = n - i < SIEVE_PART ? n - i : SIEVE_PART;
    (by_wide ? kernel->wide.keep : kernel->any.keep)(keep, in + i * size, part,
                                                     s->as.kernel.ctx);
    kept += move_kept(out + kept * size, in + i * size, keep, part);
  }
  return kept;
}

size_t wf_iter_kernel_run(const wf_stage *s, char *out, const char *in, const char *right,
                          size_t n) {
  const wf_simd *simd = wf_simd_get();
  wf_compact_fn *move_kept = compaction_for(s, simd);
  size_t made = move_kept != NULL ? kernel_sieve(s, out, in, n, move_kept, simd->wide)
                                  : kernel_plain(s, out, in, right, n, simd->wide);
  WF_ASSERT(made <= n);
  return made;
}

size_t wf_iter_kernel_count(const wf_stage *s, const char *in, size_t n) {
  const weft_iter_kernel *kernel = wf_stage_kernel(s);
  if (kernel->wide.count != NULL && wf_simd_get()->wide)
    return kernel->wide.count(in, n, s->as.kernel.ctx);
  return kernel->any.count(in, n, s->as.kernel.ctx);
}

/* ---- filters with functions ---- */

/* Small elements are copied before it is known whether they stay, so that there is no
 * branch to mispredict. The size is a constant, and four calls make a turn, as in
 * fetch.c. */
#define KEEP_ONE(size_, at)                                                              \
  memcpy(to, in + (at) * (size_), (size_));                                              \
  to += pred(in + (at) * (size_), ctx) ? (size_) : 0;

#define KEEP(size_)                                                                      \
  for (; n >= 4; n -= 4, in += 4 * (size_)) {                                            \
    KEEP_ONE(size_, 0)                                                                   \
    KEEP_ONE(size_, 1)                                                                   \
    KEEP_ONE(size_, 2)                                                                   \
    KEEP_ONE(size_, 3)                                                                   \
  }                                                                                      \
  for (; n > 0; n--, in += (size_)) {                                                    \
    KEEP_ONE(size_, 0)                                                                   \
  }

static size_t filter_each(const wf_stage *s, char *out, const char *in, size_t n) {
  weft_pred_fn *pred = s->as.test.fn;
  void *ctx = s->as.test.ctx;
  char *to = out;
  if (s->size == 8) {
    KEEP(8)
  } else if (s->size == 4) {
    KEEP(4)
  } else if (s->size == 16) {
    KEEP(16)
  } else {
    for (size_t j = 0; j < n; j++, in += s->size) {
      if (!pred(in, ctx)) continue;
      memcpy(to, in, s->size);
      to += s->size;
    }
  }
  return (size_t)(to - out) / s->size;
}

#undef KEEP
#undef KEEP_ONE

static size_t filter_map_each(const wf_stage *s, char *out, const char *in,
                              size_t in_size, size_t n) {
  weft_iter_filter_map_fn *fn = s->as.filter_map.fn;
  void *ctx = s->as.filter_map.ctx;
  char *to = out;
  for (size_t j = 0; j < n; j++) to += fn(to, in + j * in_size, ctx) ? s->size : 0;
  return (size_t)(to - out) / s->size;
}

/* ---- flat maps ---- */

/* What weft_emit writes to. */
typedef struct flat_out {
  wf_out out; /* first, so that flat_flush finds the rest */
  wf_iter_run *run;
  char *memory; /* the slot of the stage */
  unsigned stage;
  bool wanted; /* else what comes is thrown away */
} flat_out;

static void flat_flush(wf_out *out) {
  flat_out *f = (flat_out *)out;
  size_t n = (size_t)(out->next - f->memory) / out->size;
  WF_ASSERT(out->next >= f->memory && out->next <= out->end && n <= f->run->capacity);
  if (f->wanted && n > 0) f->wanted = wf_iter_push(f->run, f->stage, f->memory, n);
  out->next = f->memory;
}

/* A function that is called for an element cannot be interrupted; what it emits after the
 * sink has stopped is dropped. */
static void flat_map(wf_iter_run *run, unsigned k, const char *in, size_t n) {
  const wf_stage *s = wf_plan_stage(run->plan, k);
  size_t in_size = s[-1].size;
  flat_out f = {{0}, run, wf_iter_slot(run, k), k, true};
  f.out.next = f.memory;
  f.out.end = f.memory + run->capacity * s->size;
  f.out.size = s->size;
  f.out.flush = flat_flush;
  f.out.only_counted = run->only_counts && k == run->plan->root;
  if (s->kind == WF_KERNEL) {
    wf_stage_kernel(s)->any.flat(&f.out, in, n, s->as.kernel.ctx);
  } else {
    weft_iter_flat_map_fn *fn = s->as.flat_map.fn;
    void *ctx = s->as.flat_map.ctx;
    const char *end = in + n * in_size;
    for (; in < end && f.wanted; in += in_size) fn(in, &f.out, ctx);
  }
  flat_flush(&f.out);
  if (f.out.counted > 0) run->take(run, NULL, f.out.counted);
}

/* ---- pushing ---- */

/* The number of elements before the first that a take_while refuses. */
static size_t holding(const wf_stage *s, const char *in, size_t n) {
  size_t j = 0;
  while (j < n && s->as.test.fn(in + j * s->size, s->as.test.ctx)) j++;
  return j;
}

/* What stage k makes of a batch; *n changes. */
static const char *pass(wf_iter_run *run, unsigned k, const char *in, size_t *n) {
  const wf_stage *s = wf_plan_stage(run->plan, k);
  char *out = wf_iter_slot(run, k);
  size_t kept;
  switch ((wf_iter_kind)s->kind) {
  case WF_FILTER:
    *n = filter_each(s, out, in, *n);
    return out;
  case WF_FILTER_MAP:
    *n = filter_map_each(s, out, in, s[-1].size, *n);
    return out;
  case WF_KERNEL:
    *n = wf_iter_kernel_run(s, out, in, NULL, *n);
    return out;
  case WF_TAKE_WHILE:
    if ((run->cuts >> k & 1) == 0) return in;
    kept = holding(s, in, *n);
    if (kept < *n) run->ended = k;
    *n = kept;
    return in;
  case WF_CHAIN:
    return in;
  default:
    return wf_iter_map_batch(run, k, in, *n);
  }
}

/* Does anyone want more of what stage k makes? A take_while before it that came to its
 * end still has to hand on what came before; one behind it takes no more. */
static bool wants_more(const wf_iter_run *run, unsigned k) {
  return !run->stopped && (run->ended == WF_ITER_NONE || run->ended <= k);
}

bool wf_iter_push(wf_iter_run *run, unsigned k, const char *elems, size_t n) {
  const wf_iter_plan *plan = run->plan;
  const unsigned from = k;
  while (n > 0 && k != plan->root) {
    WF_ASSERT(plan->parent[k] > k && plan->parent[k] <= plan->root);
    k = plan->parent[k];
    if (wf_stage_is_flat_map(wf_plan_stage(plan, k))) {
      flat_map(run, k, elems, n);
      return wants_more(run, from);
    }
    elems = pass(run, k, elems, &n);
  }
  if (n > 0 && !run->take(run, elems, n)) run->stopped = true;
  return wants_more(run, from);
}

/* ---- blocks ---- */

static bool goes_on(const wf_iter_run *run) {
  return !run->stopped && run->ended == WF_ITER_NONE;
}

static void run_known(wf_iter_run *run, unsigned k, size_t begin, size_t end) {
  while (begin < end && goes_on(run)) {
    size_t n = end - begin < run->batch ? end - begin : run->batch;
    WF_ASSERT(n > 0 && n <= run->capacity);
    run->base = run->offset + begin;
    run->next = run->base + n;
    wf_iter_push(run, k, wf_iter_fetch(run, k, begin, n, 1, 0), n);
    begin += n;
    if (wf_par_cancelled(&run->plan->opts)) return;
  }
}

/* The lines that begin in [begin, end): at 0, or behind a '\n'. */
static void run_lines(wf_iter_run *run, unsigned k, size_t begin, size_t end) {
  const wf_stage *s = wf_plan_stage(run->plan, k);
  const char *text = s->as.lines.text, *behind = text + s->as.lines.length;
  const char *stop = text + end;
  const char *p = text + begin;
  weft_line *lines = (weft_line *)(void *)wf_iter_slot(run, k);
  if (begin > 0) {
    p = (const char *)memchr(p - 1, '\n', end - begin);
    if (p == NULL) return;
    p++;
  }
  while (p < stop && goes_on(run)) {
    size_t n = 0;
    run->base = run->offset + (size_t)(p - text);
    while (n < run->batch && p < stop) {
      const char *next = (const char *)memchr(p, '\n', (size_t)(behind - p));
      if (next == NULL) next = behind;
      lines[n].text = p;
      lines[n++].length = (size_t)(next - p);
      p = next + 1;
    }
    run->next = run->offset + (p < stop ? (size_t)(p - text) : end);
    wf_iter_push(run, k, (const char *)lines, n);
    if (wf_par_cancelled(&run->plan->opts)) return;
  }
}

static const char *leaves_of(const wf_iter_plan *plan, unsigned k) {
  wf_iter_leaves *leaves = plan->leaves;
  while (leaves->stage != k) leaves = leaves->next;
  WF_ASSERT(leaves->count >= plan->positions[k]);
  return wf_iter_leaves_data(leaves);
}

/* The leaves of a split source, which are side by side. */
static void run_leaves(wf_iter_run *run, unsigned k, size_t begin, size_t end) {
  const char *leaves = leaves_of(run->plan, k);
  const size_t size = wf_plan_stage(run->plan, k)->size;
  while (begin < end && goes_on(run)) {
    size_t n = end - begin < run->batch ? end - begin : run->batch;
    run->base = run->offset + begin;
    run->next = run->base + n;
    wf_iter_push(run, k, leaves + begin * size, n);
    begin += n;
    if (wf_par_cancelled(&run->plan->opts)) return;
  }
}

/* The positions [begin, end) of stage k: goes down to the stages that can make elements,
 * and pushes those through the stages on the way. */
static void run_part(wf_iter_run *run, unsigned k, size_t begin, size_t end) {
  const wf_iter_plan *plan = run->plan;
  const wf_stage *stages = plan->it->stages, *s = &stages[k];
  WF_ASSERT(begin <= end && end <= plan->positions[k]);
  if (begin == end) return;
  if (wf_stage_is(s, WF_ITER_KNOWN)) {
    run_known(run, k, begin, end);
  } else if (s->kind == WF_LINES) {
    run_lines(run, k, begin, end);
  } else if (s->kind == WF_SPLIT) {
    run_leaves(run, k, begin, end);
  } else if (s->kind == WF_CHAIN) {
    unsigned left = wf_stage_left(stages, k);
    size_t limit = plan->positions[left];
    if (begin < limit) run_part(run, left, begin, end < limit ? end : limit);
    if (end <= limit || !goes_on(run)) return;
    run->offset += limit;
    run_part(run, k - 1, begin < limit ? 0 : begin - limit, end - limit);
    run->offset -= limit;
  } else {
    unsigned outer = run->cuts;
    if (plan->is_cut[k] && end == plan->positions[k]) run->cuts |= 1u << k;
    run_part(run, k - 1, begin, end);
    run->cuts = outer;
    if (run->ended == k) run->ended = WF_ITER_NONE;
  }
}

/* ---- memory ---- */

/* STACK_BYTES is what a run takes of the stack: batches of 512 for six slots of eight
 * bytes, which is more than usual chains have, within the 32 KiB of a first-level cache.
 * SMALL_BYTES is what it takes where less than half of the stack is free: a choice, 64
 * elements of six slots. BATCH_MOST is measured (docs/investigations/iterators.md): with
 * 1024 the faster loops make a dot product of 10 M elements slower, 0.86 instead of 0.78
 * ns per element, since nothing comes from memory while stages work in the cache; 256 is
 * no better, 0.81. BATCH_LONG is for batches that are in no cache: a choice, some
 * microseconds until a cancellation is seen. ALIGN is a cache line, and what the widest
 * vectors want. */
enum {
  STACK_BYTES = 24 << 10,
  SMALL_BYTES = 3 << 10,
  BATCH_MOST = 512,
  BATCH_LONG = 16 * BATCH_MOST,
  ALIGN = 64
};

static size_t slot_bytes(const wf_iter_plan *plan, size_t capacity) {
  return (capacity * plan->widest + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

/* Bytes for slots of `capacity` elements and the chunks of `batch` elements. */
static size_t bytes_for(const wf_iter_plan *plan, size_t capacity, size_t batch) {
  if (plan->all_extra > SIZE_MAX / 4 / batch) return SIZE_MAX;
  return plan->slots * slot_bytes(plan, capacity) + plan->all_extra * batch;
}

/* The largest batch that `bytes` have room for; 0: none. Chunks get half of the bytes. */
static void choose_batch(const wf_iter_plan *plan, size_t bytes, size_t *capacity,
                         size_t *batch) {
  size_t whole = bytes, for_slots;
  *capacity = *batch = 0;
  if (plan->all_extra > bytes / 2) return;
  if (plan->all_extra > 0) bytes -= bytes / 2;
  for_slots = bytes / plan->slots / ALIGN * ALIGN;
  *capacity = for_slots / plan->widest;
  if (*capacity > BATCH_MOST) *capacity = BATCH_MOST;
  *batch = *capacity;
  if (plan->all_extra > 0 && *batch > whole / 2 / plan->all_extra)
    *batch = whole / 2 / plan->all_extra;
}

static void set_memory(wf_iter_run *run, char *memory, size_t capacity, size_t batch) {
  const wf_iter_plan *plan = run->plan;
  WF_ASSERT(batch >= 1 && batch <= capacity && (uintptr_t)memory % ALIGN == 0);
  run->capacity = capacity;
  run->batch = batch;
  run->slot_bytes = slot_bytes(plan, capacity);
  run->slots = memory;
  run->extra = run->slots + plan->slots * run->slot_bytes;
}

/* Makes on_stack and on_small_stack, which call fn(run) with memory in their frames. */
#define DEFINE_ON_STACK(name, bytes)                                                     \
  static __attribute__((noinline)) void name(wf_iter_run *run, wf_iter_run_fn *fn,       \
                                             size_t capacity, size_t batch) {            \
    _Alignas(ALIGN) char memory[bytes];                                                  \
    WF_ASSERT(bytes_for(run->plan, capacity, batch) <= sizeof memory);                   \
    set_memory(run, memory, capacity, batch);                                            \
    fn(run);                                                                             \
  }
DEFINE_ON_STACK(on_stack, STACK_BYTES)
DEFINE_ON_STACK(on_small_stack, SMALL_BYTES)
#undef DEFINE_ON_STACK

/* Elements or chunks that are too large for the stack: one at a time, but batches of what
 * chunks are made of are as long as elsewhere. */
static void on_heap(wf_iter_run *run, wf_iter_run_fn *fn) {
  const wf_iter_plan *plan = run->plan;
  size_t capacity = STACK_BYTES / plan->slots / plan->widest;
  if (capacity > BATCH_MOST) capacity = BATCH_MOST;
  if (capacity == 0) capacity = 1;
  size_t bytes = bytes_for(plan, capacity, 1);
  if (bytes > SIZE_MAX - ALIGN) wf_fatal(plan->call, "the chunks are too large");
  wf_scratch scratch = wf_scratch_need(bytes, plan->call);
  set_memory(run, (char *)scratch.memory, capacity, 1);
  fn(run);
  wf_scratch_put(scratch);
}

void wf_iter_with_memory(wf_iter_run *run, wf_iter_run_fn *fn) {
  size_t capacity, batch;
  run->ended = WF_ITER_NONE;
  if (WF_LIKELY(wf_stack_is_half_free())) {
    choose_batch(run->plan, STACK_BYTES, &capacity, &batch);
    if (batch > 0) {
      on_stack(run, fn, capacity, batch);
      return;
    }
  }
  choose_batch(run->plan, SMALL_BYTES, &capacity, &batch);
  if (batch > 0)
    on_small_stack(run, fn, capacity, batch);
  else
    on_heap(run, fn);
}

static void eval_block(wf_iter_run *run) {
  run_part(run, run->plan->root, run->begin, run->end);
}

static bool is_array(const wf_stage *s) {
  return s->kind == WF_SLICE;
}

/* Does the sink only look at an array? Or does a kernel stage read arrays, and write to
 * the place of its results or add them up? Then no batch is in a slot, and it need not be
 * short. */
static bool needs_no_slot(const wf_iter_run *run) {
  const wf_stage *stages = run->plan->it->stages, *s = wf_plan_root(run->plan);
  unsigned k = run->plan->root;
  if ((run->fused || run->takes_long) && is_array(s)) return true;
  if (run->target == NULL && !run->pairs) return false;
  if (s->kind == WF_ZIP_KERNEL)
    return is_array(&s[-1]) && is_array(&stages[wf_stage_left(stages, k)]);
  return s->kind == WF_KERNEL && wf_stage_kernel(s)->kind == WEFT_ITER_KERNEL_MAP &&
         is_array(&s[-1]);
}

void wf_iter_eval(wf_iter_run *run, size_t begin, size_t end) {
  run->begin = begin;
  run->end = end;
  if (needs_no_slot(run)) {
    run->ended = WF_ITER_NONE;
    run->capacity = run->batch = BATCH_LONG;
    char none; /* slots of no length: stages ask where theirs is, and do not use it */
    run->slots = run->target != NULL ? run->target : &none;
    eval_block(run);
  } else {
    wf_iter_with_memory(run, eval_block);
  }
}
