/* par/iter/stage.c - the stages of iterators: each call checks that it can stand where it
 * is put, and appends what iter_fetch.c and iter_push.c then run.
 *
 * SPDX-License-Identifier: MIT */
#include "iter.h"

/* ---- appending ---- */

/* Room for one more behind `count` stages, or the end of the program. */
static wf_stage *append_stage(weft_iter *it, wf_iter_kind kind, size_t size,
                              const char *call) {
  if (it == NULL) wf_fatal(call, "the iterator is NULL");
  if (it->count == 0 || it->count > WF_ITER_STAGES)
    wf_fatal(call, "the iterator has no source");
  if (it->count == WF_ITER_STAGES) wf_fatal(call, "too many stages: 16 are the most");
  if (size == 0) wf_fatal(call, "the element size is 0");
  const wf_stage *in = &it->stages[it->count - 1];
  wf_stage *s = &it->stages[it->count++];
  memset(s, 0, sizeof *s);
  s->kind = (unsigned char)kind;
  s->flags = in->flags;
  s->size = size;
  s->len = in->len;
  return s;
}

static size_t size_of(const weft_iter *it) {
  return it != NULL && it->count > 0 && it->count <= WF_ITER_STAGES
             ? it->stages[it->count - 1].size
             : 1;
}

/* What is in front of a stage that has just been appended. */
static const wf_stage *input_of(const weft_iter *it) {
  return &it->stages[it->count - 2];
}

static void need_function(bool is_null, const char *call) {
  if (is_null) wf_fatal(call, "the function is NULL");
}

static void need_length(const wf_stage *s, const char *call) {
  if (!wf_stage_is(s, WF_ITER_KNOWN))
    wf_fatal(call, "the length is not known behind filter, filter_map, flat_map, "
                   "take_while, lines or pull");
}

static void lose_length(wf_stage *s) {
  s->flags &= (unsigned char)~WF_ITER_KNOWN;
  s->len = 0;
}

/* ---- functions ---- */

static wf_stage *append_fn(weft_iter *it, wf_iter_kind kind, size_t size,
                           void (*fn)(void), void *ctx, const char *call) {
  need_function(fn == NULL, call);
  wf_stage *s = append_stage(it, kind, size, call);
  s->fn = fn;
  s->ctx = ctx;
  return s;
}

void weft_iter_map(weft_iter *it, size_t out_size, weft_iter_map_fn *fn, void *ctx) {
  append_fn(it, WF_MAP, out_size, (void (*)(void))fn, ctx, "weft_iter_map");
}

void weft_iter_inspect(weft_iter *it, weft_iter_look_fn *fn, void *ctx) {
  wf_stage *s = append_fn(it, WF_INSPECT, size_of(it), (void (*)(void))fn, ctx,
                          "weft_iter_inspect");
  s->flags |= WF_ITER_LOOKS;
}

void weft_iter_filter(weft_iter *it, weft_pred_fn *pred, void *ctx) {
  lose_length(append_fn(it, WF_FILTER, size_of(it), (void (*)(void))pred, ctx,
                        "weft_iter_filter"));
}

void weft_iter_filter_map(weft_iter *it, size_t out_size, weft_iter_filter_map_fn *fn,
                          void *ctx) {
  lose_length(append_fn(it, WF_FILTER_MAP, out_size, (void (*)(void))fn, ctx,
                        "weft_iter_filter_map"));
}

void weft_iter_flat_map(weft_iter *it, size_t out_size, weft_iter_flat_map_fn *fn,
                        void *ctx) {
  wf_stage *s =
      append_fn(it, WF_FLAT_MAP, out_size, (void (*)(void))fn, ctx, "weft_iter_flat_map");
  lose_length(s);
  s->flags |= WF_ITER_GROWS;
}

void weft_iter_take_while(weft_iter *it, weft_pred_fn *pred, void *ctx) {
  lose_length(append_fn(it, WF_TAKE_WHILE, size_of(it), (void (*)(void))pred, ctx,
                        "weft_iter_take_while"));
}

void weft_iter_apply(weft_iter *it, const weft_iter_kernel *kernel, void *ctx) {
  const char *call = "weft_iter_apply";
  if (kernel == NULL) wf_fatal(call, "the kernel is NULL");
  if (kernel->kind == WEFT_ITER_KERNEL_ZIP)
    wf_fatal(call, "a kernel of two elements needs weft_iter_zip_apply");
  wf_stage *s = append_stage(it, WF_KERNEL, kernel->out, call);
  if (input_of(it)->size != kernel->in)
    wf_fatal(call, "the elements have another size than the kernel's type");
  s->p = kernel;
  s->ctx = ctx;
  if (kernel->kind != WEFT_ITER_KERNEL_MAP) lose_length(s);
  if (kernel->kind == WEFT_ITER_KERNEL_FLAT_MAP) s->flags |= WF_ITER_GROWS;
}

/* ---- positions ---- */

static wf_stage *append_indexed(weft_iter *it, wf_iter_kind kind, size_t size, size_t a,
                                const char *call) {
  wf_stage *s = append_stage(it, kind, size, call);
  need_length(s, call);
  s->a = a;
  return s;
}

void weft_iter_enumerate(weft_iter *it, size_t size, size_t value_at) {
  const char *call = "weft_iter_enumerate";
  append_indexed(it, WF_ENUMERATE, size, value_at, call);
  size_t value = input_of(it)->size;
  if (value_at < sizeof(size_t) || value > size || value_at > size - value)
    wf_fatal(call, "index and value do not fit into the size and offset given");
}

void weft_iter_step(weft_iter *it, size_t k) {
  const char *call = "weft_iter_step";
  if (k == 0) wf_fatal(call, "the step is 0");
  wf_stage *s = append_indexed(it, WF_STEP, size_of(it), k, call);
  if (s->a > s->len) s->a = s->len > 0 ? s->len : 1; /* strides do not wrap around */
  s->len = s->len / k + (s->len % k != 0);
}

void weft_iter_skip(weft_iter *it, size_t k) {
  wf_stage *s = append_indexed(it, WF_SKIP, size_of(it), k, "weft_iter_skip");
  s->len = s->len > k ? s->len - k : 0;
}

void weft_iter_take(weft_iter *it, size_t k) {
  wf_stage *s = append_indexed(it, WF_TAKE, size_of(it), k, "weft_iter_take");
  if (s->len > k) s->len = k;
}

void weft_iter_reverse(weft_iter *it) {
  append_indexed(it, WF_REVERSE, size_of(it), 0, "weft_iter_reverse");
}

void weft_iter_chunk(weft_iter *it, size_t k) {
  const char *call = "weft_iter_chunk";
  if (k == 0) wf_fatal(call, "the chunk length is 0");
  wf_stage *s = append_indexed(it, WF_CHUNK, sizeof(weft_chunk), k, call);
  const wf_stage *in = input_of(it);
  if (wf_stage_is(in, WF_ITER_CHUNKED)) wf_fatal(call, "chunks of chunks");
  if (in->kind == WF_SLICE) { /* the chunks of an array need no copies */
    weft_opts opts = it->opts;
    *it = weft_iter_chunks(in->p, in->len, in->size, k);
    it->opts = opts;
    return;
  }
  s->flags |= WF_ITER_CHUNKED;
  s->len = in->len / k + (in->len % k != 0);
  if (s->a > in->len) s->a = in->len > 0 ? in->len : 1;
}

/* ---- two sequences ---- */

/* Appends the stages of the other iterator, and one for both. */
static wf_stage *append_both(weft_iter *it, const weft_iter *other, wf_iter_kind kind,
                             size_t size, const char *call) {
  if (it == NULL || other == NULL) wf_fatal(call, "the iterator is NULL");
  if (it->count == 0 || other->count == 0) wf_fatal(call, "the iterator has no source");
  unsigned left = it->count - 1, count = other->count;
  if (it->count + count >= WF_ITER_STAGES)
    wf_fatal(call, "too many stages: 16 are the most");
  memmove(&it->stages[it->count], other->stages, count * sizeof *other->stages);
  it->count += count;
  wf_stage *s = append_stage(it, kind, size, call);
  const wf_stage *a = &it->stages[left], *b = input_of(it);
  s->flags = a->flags & b->flags & WF_ITER_KNOWN;
  s->flags |= (unsigned char)((a->flags | b->flags) & ~(unsigned)WF_ITER_KNOWN);
  s->left = (unsigned short)(it->count - 1 - left);
  if (wf_stage_is(s, WF_ITER_PULLS))
    wf_fatal(call, "a pull source cannot be combined with another sequence");
  return s;
}

/* The right one is in front of the stage. */
static const wf_stage *left_of(const weft_iter *it) {
  return &it->stages[wf_stage_left(it->stages, it->count - 1)];
}

static void as_long_as_shorter(const weft_iter *it, wf_stage *s) {
  size_t a = left_of(it)->len, b = input_of(it)->len;
  s->len = a < b ? a : b;
}

void weft_iter_zip(weft_iter *it, const weft_iter *other, size_t size, size_t right_at) {
  const char *call = "weft_iter_zip";
  wf_stage *s = append_both(it, other, WF_ZIP, size, call);
  need_length(s, call);
  size_t left = left_of(it)->size, right = input_of(it)->size;
  if (right_at < left || right > size || right_at > size - right)
    wf_fatal(call, "both elements do not fit into the size and offset given");
  s->a = right_at;
  as_long_as_shorter(it, s);
}

void weft_iter_zip_map(weft_iter *it, const weft_iter *other, size_t out_size,
                       weft_iter_zip_fn *fn, void *ctx) {
  const char *call = "weft_iter_zip_map";
  need_function(fn == NULL, call);
  wf_stage *s = append_both(it, other, WF_ZIP_MAP, out_size, call);
  need_length(s, call);
  s->fn = (void (*)(void))fn;
  s->ctx = ctx;
  as_long_as_shorter(it, s);
}

void weft_iter_zip_apply(weft_iter *it, const weft_iter *other,
                         const weft_iter_kernel *kernel, void *ctx) {
  const char *call = "weft_iter_zip_apply";
  if (kernel == NULL) wf_fatal(call, "the kernel is NULL");
  if (kernel->kind != WEFT_ITER_KERNEL_ZIP)
    wf_fatal(call, "the kernel is not one of two elements (WEFT_KERNEL_ZIP)");
  wf_stage *s = append_both(it, other, WF_ZIP_MAP, kernel->out, call);
  need_length(s, call);
  if (left_of(it)->size != kernel->in || input_of(it)->size != kernel->right)
    wf_fatal(call, "the elements have other sizes than the kernel's types");
  s->p = kernel;
  s->ctx = ctx;
  as_long_as_shorter(it, s);
}

/* One after the other, or in turn. */
static wf_stage *append_all(weft_iter *it, const weft_iter *other, wf_iter_kind kind,
                            const char *call) {
  wf_stage *s = append_both(it, other, kind, size_of(it), call);
  const wf_stage *a = left_of(it), *b = input_of(it);
  if (a->size != b->size) wf_fatal(call, "the elements of both have different sizes");
  s->len = 0;
  if (!wf_stage_is(s, WF_ITER_KNOWN)) return s;
  if (a->len > SIZE_MAX / 4 || b->len > SIZE_MAX / 4) /* strides have a sign */
    wf_fatal(call, "there are too many elements to count both");
  s->len = a->len + b->len;
  return s;
}

void weft_iter_chain(weft_iter *it, const weft_iter *other) {
  append_all(it, other, WF_CHAIN, "weft_iter_chain");
}

void weft_iter_interleave(weft_iter *it, const weft_iter *other) {
  need_length(append_all(it, other, WF_INTERLEAVE, "weft_iter_interleave"),
              "weft_iter_interleave");
}

/* ---- options and questions ---- */

static weft_opts *options_of(weft_iter *it, const char *call) {
  if (it == NULL) wf_fatal(call, "the iterator is NULL");
  return &it->opts;
}

void weft_iter_pool(weft_iter *it, weft_pool *pool) {
  options_of(it, "weft_iter_pool")->pool = pool;
}

void weft_iter_cancel(weft_iter *it, struct weft_scope *scope) {
  options_of(it, "weft_iter_cancel")->cancel = scope;
}

void weft_iter_min_len(weft_iter *it, size_t min_len) {
  options_of(it, "weft_iter_min_len")->min_len = min_len;
}

void weft_iter_max_len(weft_iter *it, size_t max_len) {
  options_of(it, "weft_iter_max_len")->max_len = max_len;
}

void weft_iter_options(weft_iter *it, const weft_opts *opts) {
  wf_par_options(options_of(it, "weft_iter_options"), opts, "weft_iter_options");
}

static const wf_stage *last_of(const weft_iter *it, const char *call) {
  if (it == NULL) wf_fatal(call, "the iterator is NULL");
  if (it->count == 0 || it->count > WF_ITER_STAGES)
    wf_fatal(call, "the iterator has no source");
  return &it->stages[it->count - 1];
}

size_t weft_iter_len(const weft_iter *it) {
  const wf_stage *last = last_of(it, "weft_iter_len");
  return wf_stage_is(last, WF_ITER_KNOWN) ? last->len : SIZE_MAX;
}

size_t weft_iter_size(const weft_iter *it) {
  return last_of(it, "weft_iter_size")->size;
}

void wf_out_mismatch(size_t size, size_t expected) {
  (void)size, (void)expected;
  wf_fatal("weft_emit", "the size is not that of the flat map's elements");
}
