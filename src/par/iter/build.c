/* par/iter/build.c - sources and stages: each call checks its arguments and where it
 * stands, and appends one stage. Nothing runs here.
 *
 * Called by programs, on any thread; an iterator is changed by one thread at a time. All
 * misuse of a chain is found here, at the call that makes the mistake, except for sizes
 * that only a sink or weft_emit names.
 *
 * SPDX-License-Identifier: MIT */
#include "iter.h"

/* weft/detail/iter.h says why this may never change. */
_Static_assert(sizeof(weft_iter) == WF_ITER_BYTES, "programs have this size compiled in");
_Static_assert(WF_ITER_STAGES <= 32, "sets of stages are bits of an unsigned");

/* ---- checks ---- */

static __attribute__((cold, noinline)) void refuse_iter(const weft_iter *it,
                                                        const char *call) {
  if (it == NULL) wf_fatal(call, "the iterator is NULL");
  if (it->layout >> 16 == WF_ITER_MARK && it->layout != WF_ITER_LAYOUT)
    wf_fatal(call, "the iterator was made by another version of weft");
  wf_fatal(call, "the iterator has no source");
}

void wf_iter_check(const weft_iter *it, const char *call) {
  if (WF_UNLIKELY(it == NULL || it->layout != WF_ITER_LAYOUT || it->count == 0 ||
                  it->count > WF_ITER_STAGES))
    refuse_iter(it, call);
  WF_ASSERT_SLOW(wf_iter_is_sound(it));
}

/* What each stage promises the files that run it. */
bool wf_iter_is_sound(const weft_iter *it) {
  for (unsigned k = 0; k < it->count; k++) {
    const wf_stage *s = &it->stages[k];
    bool two = s->kind >= WF_ZIP;
    if (s->kind > WF_INTERLEAVE || s->size == 0) return false;
    if (s->kind >= WF_MAP && k == 0) return false; /* needs an operand */
    if (two ? s->left < 2 || s->left > k : s->left != 0) return false;
    if (!wf_stage_is(s, WF_ITER_KNOWN) && s->len != 0) return false;
    if (wf_stage_is(s, WF_ITER_PULLS) && it->stages[0].kind != WF_PULL) return false;
  }
  return true;
}

static void need_function(bool is_null, const char *call) {
  if (is_null) wf_fatal(call, "the function is NULL");
}

/* No memory holds one element of this size for each stage: so what a plan adds up and
 * multiplies with the number of slots cannot overflow. */
static const size_t LARGEST_ELEMENT = PTRDIFF_MAX / (4 * WF_ITER_STAGES);

static void need_element(size_t size, const char *call) {
  if (size == 0) wf_fatal(call, "the element size is 0");
  if (size > LARGEST_ELEMENT) wf_fatal(call, "the element size is too large");
}

static void need_array(const void *base, size_t n, size_t size, const char *call) {
  if (size == 0) wf_fatal(call, "the element size is 0");
  if (base == NULL && n > 0) wf_fatal(call, "the array is NULL");
  if (wf_is_too_large(n, size)) wf_fatal(call, WF_TOO_LARGE);
  need_element(size, call);
}

void wf_iter_need_length(const wf_stage *s, const char *call) {
  if (!wf_stage_is(s, WF_ITER_KNOWN))
    wf_fatal(call, "the length is not known behind filter, filter_map, flat_map, "
                   "take_while, lines, split or pull");
}

void wf_iter_need_size(const weft_iter *it, size_t size, const char *call) {
  wf_iter_check(it, call);
  if (it->stages[it->count - 1].size != size)
    wf_fatal(call, "the size is not that of the iterator's elements");
}

/* ---- sources ---- */

_Static_assert(offsetof(weft_opts, name) + sizeof(char *) == sizeof(weft_opts),
               "a new option needs its default in init_iter");

/* Writes the head and one stage: the others are not looked at before they are set.
 * Inlined, and member by member: then gcc, too, builds the iterator where the caller
 * wants it. A copy of all its bytes would take ten times as long as the rest of a source.
 */
__attribute__((always_inline)) static inline void
init_iter(weft_iter *it, wf_iter_kind kind, unsigned flags, size_t size, size_t len) {
  it->layout = WF_ITER_LAYOUT;
  it->count = 1;
  it->opts.struct_size = sizeof it->opts; /* WEFT_OPTS_INIT */
  it->opts.pool = NULL;
  it->opts.min_len = it->opts.max_len = 0;
  it->opts.split = WEFT_SPLIT_ADAPTIVE;
  it->opts.target_chunks = 0;
  it->opts.max_workers = 0;
  it->opts.cancel = NULL;
  it->opts.lane = WEFT_LANE_NORMAL;
  it->opts.order = WEFT_ORDER_LIFO;
  it->opts.name = NULL;
  it->stages[0].kind = (uint8_t)kind;
  it->stages[0].flags = (uint8_t)flags;
  it->stages[0].left = 0;
  it->stages[0].size = size;
  it->stages[0].len = len;
}

weft_iter weft_iter_slice(const void *base, size_t n, size_t size) {
  weft_iter it;
  need_array(base, n, size, "weft_iter_slice");
  init_iter(&it, WF_SLICE, WF_ITER_KNOWN, size, n);
  it.stages[0].as.slice.array = base;
  return it;
}

weft_iter weft_iter_refs(void *base, size_t n, size_t size) {
  weft_iter it;
  need_array(base, n, size, "weft_iter_refs");
  init_iter(&it, WF_REFS, WF_ITER_KNOWN, sizeof(void *), n);
  it.stages[0].as.refs.array = base;
  it.stages[0].as.refs.size = size;
  return it;
}

/* How many numbers a range has; the step is not 0. */
static size_t range_length(int64_t begin, int64_t end, int64_t step, const char *call) {
  uint64_t distance = 0, stride = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
  if (step > 0 && end > begin) distance = (uint64_t)end - (uint64_t)begin;
  if (step < 0 && end < begin) distance = (uint64_t)begin - (uint64_t)end;
  uint64_t len = distance / stride + (distance % stride != 0);
  if ((size_t)len != len) /* only where a size_t has fewer bits */
    wf_fatal(call, "there are more numbers than a size_t can count");
  return (size_t)len;
}

__attribute__((always_inline)) static inline void
init_range(weft_iter *it, int64_t begin, int64_t end, int64_t step, const char *call) {
  size_t len = range_length(begin, end, step, call);
  init_iter(it, WF_RANGE, WF_ITER_KNOWN, sizeof(int64_t), len);
  it->stages[0].as.range.begin = begin;
  it->stages[0].as.range.step = step;
}

weft_iter weft_iter_range_step(int64_t begin, int64_t end, int64_t step) {
  weft_iter it;
  if (step == 0) wf_fatal("weft_iter_range_step", "the step is 0");
  init_range(&it, begin, end, step, "weft_iter_range_step");
  return it;
}

weft_iter weft_iter_range(int64_t begin, int64_t end) {
  weft_iter it;
  init_range(&it, begin, end, 1, "weft_iter_range");
  return it;
}

__attribute__((always_inline)) static inline void
init_parts(weft_iter *it, wf_iter_kind kind, size_t len, const void *base, size_t n,
           size_t size, size_t part) {
  init_iter(it, kind, WF_ITER_KNOWN, sizeof(weft_chunk), len);
  it->stages[0].as.parts.array = base;
  it->stages[0].as.parts.n = n;
  it->stages[0].as.parts.size = size;
  it->stages[0].as.parts.part = part;
}

weft_iter weft_iter_chunks(const void *base, size_t n, size_t size, size_t chunk) {
  weft_iter it;
  need_array(base, n, size, "weft_iter_chunks");
  if (chunk == 0) wf_fatal("weft_iter_chunks", "the chunk length is 0");
  init_parts(&it, WF_CHUNKS, n / chunk + (n % chunk != 0), base, n, size, chunk);
  return it;
}

weft_iter weft_iter_windows(const void *base, size_t n, size_t size, size_t window) {
  weft_iter it;
  need_array(base, n, size, "weft_iter_windows");
  if (window == 0) wf_fatal("weft_iter_windows", "the window length is 0");
  init_parts(&it, WF_WINDOWS, n < window ? 0 : n - window + 1, base, n, size, window);
  return it;
}

weft_iter weft_iter_tiles(size_t rows, size_t cols, size_t tile_rows, size_t tile_cols) {
  weft_iter it;
  tile_rows = wf_tile_rows(rows, tile_rows);
  tile_cols = wf_tile_cols(cols, tile_cols);
  size_t down = rows / tile_rows + (rows % tile_rows != 0);
  size_t across = cols / tile_cols + (cols % tile_cols != 0);
  if (across > 0 && down > (SIZE_MAX - 1) / across)
    wf_fatal("weft_iter_tiles", "there are more tiles than a size_t can count");
  init_iter(&it, WF_TILES, WF_ITER_KNOWN, sizeof(weft_tile), down * across);
  it.stages[0].as.tiles.rows = rows;
  it.stages[0].as.tiles.cols = cols;
  it.stages[0].as.tiles.tile_rows = tile_rows;
  it.stages[0].as.tiles.tile_cols = tile_cols;
  return it;
}

weft_iter weft_iter_repeat(const void *value, size_t n, size_t size) {
  weft_iter it;
  need_array(value, n > 0, size, "weft_iter_repeat");
  init_iter(&it, WF_REPEAT, WF_ITER_KNOWN, size, n);
  it.stages[0].as.repeat.value = value;
  return it;
}

weft_iter weft_iter_from(size_t n, size_t size, weft_iter_from_fn *fn, void *ctx) {
  weft_iter it;
  need_element(size, "weft_iter_from");
  need_function(fn == NULL, "weft_iter_from");
  init_iter(&it, WF_FROM, WF_ITER_KNOWN, size, n);
  it.stages[0].as.from.fn = fn;
  it.stages[0].as.from.ctx = ctx;
  return it;
}

weft_iter weft_iter_split(const void *whole, size_t size, weft_iter_split_fn *fn,
                          void *ctx) {
  weft_iter it;
  if (whole == NULL) wf_fatal("weft_iter_split", "the piece is NULL");
  need_element(size, "weft_iter_split");
  need_function(fn == NULL, "weft_iter_split");
  init_iter(&it, WF_SPLIT, 0, size, 0);
  it.stages[0].as.split.whole = whole;
  it.stages[0].as.split.fn = fn;
  it.stages[0].as.split.ctx = ctx;
  return it;
}

weft_iter weft_iter_pull(size_t size, weft_pull_fn *fn, void *ctx) {
  weft_iter it;
  need_element(size, "weft_iter_pull");
  need_function(fn == NULL, "weft_iter_pull");
  init_iter(&it, WF_PULL, WF_ITER_PULLS, size, 0);
  it.stages[0].as.pull.fn = fn;
  it.stages[0].as.pull.ctx = ctx;
  return it;
}

weft_iter weft_iter_lines(const char *text, size_t length) {
  weft_iter it;
  if (text == NULL && length > 0) wf_fatal("weft_iter_lines", "the text is NULL");
  init_iter(&it, WF_LINES, 0, sizeof(weft_line), 0);
  it.stages[0].as.lines.text = text;
  it.stages[0].as.lines.length = length;
  return it;
}

/* ---- appending ---- */

/* A stage behind the last one, which it has flags and length of; the caller sets the
 * rest. Ends the program if there is no room, or no source. */
static wf_stage *append_stage(weft_iter *it, wf_iter_kind kind, size_t size,
                              const char *call) {
  wf_iter_check(it, call);
  if (it->count == WF_ITER_STAGES) wf_fatal(call, "too many stages: 16 are the most");
  need_element(size, call);
  const wf_stage *in = &it->stages[it->count - 1];
  wf_stage *s = &it->stages[it->count++];
  s->kind = (uint8_t)kind;
  s->flags = in->flags;
  s->left = 0;
  s->size = size;
  s->len = in->len;
  return s;
}

/* The element size for a stage that keeps it. */
static size_t size_of(const weft_iter *it, const char *call) {
  wf_iter_check(it, call);
  return it->stages[it->count - 1].size;
}

/* The operand of the last stage; of two operands the right one. */
static const wf_stage *input_of(const weft_iter *it) {
  WF_ASSERT(it->count >= 2);
  return &it->stages[it->count - 2];
}

static void lose_length(wf_stage *s) {
  s->flags &= (uint8_t)~WF_ITER_KNOWN;
  s->len = 0;
}

/* ---- stages with functions ---- */

void weft_iter_inspect(weft_iter *it, weft_iter_look_fn *fn, void *ctx) {
  const char *call = "weft_iter_inspect";
  need_function(fn == NULL, call);
  wf_stage *s = append_stage(it, WF_INSPECT, size_of(it, call), call);
  s->as.inspect.fn = fn;
  s->as.inspect.ctx = ctx;
  s->flags |= WF_ITER_LOOKS;
}

static void append_test(weft_iter *it, wf_iter_kind kind, weft_pred_fn *pred, void *ctx,
                        const char *call) {
  need_function(pred == NULL, call);
  wf_stage *s = append_stage(it, kind, size_of(it, call), call);
  s->as.test.fn = pred;
  s->as.test.ctx = ctx;
  lose_length(s);
}

void weft_iter_filter(weft_iter *it, weft_pred_fn *pred, void *ctx) {
  append_test(it, WF_FILTER, pred, ctx, "weft_iter_filter");
}

void weft_iter_take_while(weft_iter *it, weft_pred_fn *pred, void *ctx) {
  append_test(it, WF_TAKE_WHILE, pred, ctx, "weft_iter_take_while");
}

/* Makes weft_iter_map and the two others like it; `known`: it keeps the length. */
#define DEFINE_MAP(name, kind, member, known, more_flags)                                \
  void name(weft_iter *it, size_t out_size, name##_fn *fn, void *ctx) {                  \
    need_function(fn == NULL, #name);                                                    \
    wf_stage *s = append_stage(it, kind, out_size, #name);                               \
    s->as.member.fn = fn;                                                                \
    s->as.member.ctx = ctx;                                                              \
    if (!(known)) lose_length(s);                                                        \
    s->flags |= (more_flags);                                                            \
  }
DEFINE_MAP(weft_iter_map, WF_MAP, map, true, 0)
DEFINE_MAP(weft_iter_filter_map, WF_FILTER_MAP, filter_map, false, 0)
DEFINE_MAP(weft_iter_flat_map, WF_FLAT_MAP, flat_map, false, WF_ITER_GROWS)
#undef DEFINE_MAP

/* ---- kernel stages ---- */

/* A program that was compiled with an older header has the members that its header had.
 */
static void need_kernel(const weft_iter_kernel *kernel, const char *call) {
  if (kernel == NULL) wf_fatal(call, "the kernel stage is NULL");
  if (kernel->struct_size < offsetof(weft_iter_kernel, number))
    wf_fatal(call, "the kernel stage was not made by WEFT_KERNEL_* of this version");
}

void weft_iter_apply(weft_iter *it, const weft_iter_kernel *kernel, void *ctx) {
  const char *call = "weft_iter_apply";
  need_kernel(kernel, call);
  if (kernel->kind == WEFT_ITER_KERNEL_ZIP)
    wf_fatal(call, "a kernel stage of two elements needs weft_iter_zip_apply");
  if (size_of(it, call) != kernel->in)
    wf_fatal(call, "the elements have another size than the type of the kernel stage");
  wf_stage *s = append_stage(it, WF_KERNEL, kernel->out, call);
  s->as.kernel.loops = kernel;
  s->as.kernel.ctx = ctx;
  if (kernel->kind != WEFT_ITER_KERNEL_MAP) lose_length(s);
  if (kernel->kind == WEFT_ITER_KERNEL_FLAT_MAP) s->flags |= WF_ITER_GROWS;
}

/* ---- stages by position ---- */

/* One whose operand must know its length. */
static wf_stage *append_indexed(weft_iter *it, wf_iter_kind kind, size_t size,
                                const char *call) {
  wf_stage *s = append_stage(it, kind, size, call);
  wf_iter_need_length(s, call);
  return s;
}

void weft_iter_enumerate(weft_iter *it, size_t size, size_t value_at) {
  const char *call = "weft_iter_enumerate";
  wf_stage *s = append_indexed(it, WF_ENUMERATE, size, call);
  size_t value = input_of(it)->size;
  if (value_at < sizeof(size_t) || value > size || value_at > size - value)
    wf_fatal(call, "index and value do not fit into the size and offset given");
  s->as.enumerate.value_at = value_at;
}

void weft_iter_step(weft_iter *it, size_t k) {
  const char *call = "weft_iter_step";
  if (k == 0) wf_fatal(call, "the step is 0");
  wf_stage *s = append_indexed(it, WF_STEP, size_of(it, call), call);
  size_t len = s->len;
  s->len = len / k + (len % k != 0);
  /* Larger ones mean the same; with this, products of strides do not wrap around. */
  s->as.step.stride = k <= len ? k : (len > 0 ? len : 1);
}

void weft_iter_skip(weft_iter *it, size_t k) {
  const char *call = "weft_iter_skip";
  wf_stage *s = append_indexed(it, WF_SKIP, size_of(it, call), call);
  s->as.skip.count = k;
  s->len = s->len > k ? s->len - k : 0;
}

void weft_iter_take(weft_iter *it, size_t k) {
  const char *call = "weft_iter_take";
  wf_stage *s = append_indexed(it, WF_TAKE, size_of(it, call), call);
  if (s->len > k) s->len = k;
}

void weft_iter_reverse(weft_iter *it) {
  const char *call = "weft_iter_reverse";
  append_indexed(it, WF_REVERSE, size_of(it, call), call);
}

void weft_iter_chunk(weft_iter *it, size_t k) {
  const char *call = "weft_iter_chunk";
  if (k == 0) wf_fatal(call, "the chunk length is 0");
  wf_stage *s = append_indexed(it, WF_CHUNK, sizeof(weft_chunk), call);
  const wf_stage *in = input_of(it);
  if (wf_stage_is(in, WF_ITER_CHUNKED)) wf_fatal(call, "chunks of chunks");
  if (in->kind == WF_SLICE) { /* chunks of an array need no copies */
    weft_opts opts = it->opts;
    WF_ASSERT(it->count == 2); /* a source that is last is alone */
    *it = weft_iter_chunks(in->as.slice.array, in->len, in->size, k);
    it->opts = opts;
    return;
  }
  s->flags |= WF_ITER_CHUNKED;
  s->len = in->len / k + (in->len % k != 0);
  s->as.chunk.length = k <= in->len ? k : (in->len > 0 ? in->len : 1);
}

/* ---- stages of two sequences ---- */

/* Appends the stages of the other iterator, and one for both. */
static wf_stage *append_both(weft_iter *it, const weft_iter *other, wf_iter_kind kind,
                             size_t size, const char *call) {
  wf_iter_check(it, call);
  wf_iter_check(other, call);
  unsigned left = it->count - 1, count = other->count;
  if (it->count + count >= WF_ITER_STAGES)
    wf_fatal(call, "too many stages: 16 are the most");
  if (wf_stage_is(&it->stages[left], WF_ITER_PULLS) ||
      wf_stage_is(&other->stages[count - 1], WF_ITER_PULLS))
    wf_fatal(call, "a pull source cannot be combined with another sequence");
  /* They may be the same iterator. */
  memmove(&it->stages[it->count], other->stages, count * sizeof *other->stages);
  it->count += count;
  wf_stage *s = append_stage(it, kind, size, call);
  const wf_stage *a = &it->stages[left], *b = input_of(it);
  s->flags = a->flags & b->flags & WF_ITER_KNOWN;
  s->flags |= (uint8_t)((a->flags | b->flags) & ~(unsigned)WF_ITER_KNOWN);
  s->left = (uint16_t)(it->count - 1 - left);
  return s;
}

static const wf_stage *left_of(const weft_iter *it) {
  return &it->stages[wf_stage_left(it->stages, it->count - 1)];
}

/* One from each: as long as the shorter one. */
static wf_stage *append_zip(weft_iter *it, const weft_iter *other, wf_iter_kind kind,
                            size_t size, const char *call) {
  wf_stage *s = append_both(it, other, kind, size, call);
  size_t left = left_of(it)->len, right = input_of(it)->len;
  wf_iter_need_length(s, call);
  s->len = left < right ? left : right;
  return s;
}

void weft_iter_zip(weft_iter *it, const weft_iter *other, size_t size, size_t right_at) {
  const char *call = "weft_iter_zip";
  wf_stage *s = append_zip(it, other, WF_ZIP, size, call);
  size_t left = left_of(it)->size, right = input_of(it)->size;
  if (right_at < left || right > size || right_at > size - right)
    wf_fatal(call, "both elements do not fit into the size and offset given");
  s->as.zip.right_at = right_at;
}

void weft_iter_zip_map(weft_iter *it, const weft_iter *other, size_t out_size,
                       weft_iter_zip_fn *fn, void *ctx) {
  need_function(fn == NULL, "weft_iter_zip_map");
  wf_stage *s = append_zip(it, other, WF_ZIP_MAP, out_size, "weft_iter_zip_map");
  s->as.zip_map.fn = fn;
  s->as.zip_map.ctx = ctx;
}

void weft_iter_zip_apply(weft_iter *it, const weft_iter *other,
                         const weft_iter_kernel *kernel, void *ctx) {
  const char *call = "weft_iter_zip_apply";
  need_kernel(kernel, call);
  if (kernel->kind != WEFT_ITER_KERNEL_ZIP)
    wf_fatal(call, "the kernel stage is not one of two elements (WEFT_KERNEL_ZIP)");
  wf_stage *s = append_zip(it, other, WF_ZIP_KERNEL, kernel->out, call);
  if (left_of(it)->size != kernel->in || input_of(it)->size != kernel->right)
    wf_fatal(call, "the elements have other sizes than the types of the kernel stage");
  s->as.kernel.loops = kernel;
  s->as.kernel.ctx = ctx;
}

/* All of both, one after the other or in turn. */
static wf_stage *append_all(weft_iter *it, const weft_iter *other, wf_iter_kind kind,
                            const char *call) {
  wf_stage *s = append_both(it, other, kind, size_of(it, call), call);
  const wf_stage *a = left_of(it), *b = input_of(it);
  if (a->size != b->size) wf_fatal(call, "the elements of both have different sizes");
  s->len = 0;
  if (!wf_stage_is(s, WF_ITER_KNOWN)) return s;
  /* Strides have a sign, and interleave doubles a length. */
  if (a->len > SIZE_MAX / 4 || b->len > SIZE_MAX / 4)
    wf_fatal(call, "there are too many elements to count both");
  s->len = a->len + b->len;
  return s;
}

void weft_iter_chain(weft_iter *it, const weft_iter *other) {
  append_all(it, other, WF_CHAIN, "weft_iter_chain");
}

void weft_iter_interleave(weft_iter *it, const weft_iter *other) {
  const char *call = "weft_iter_interleave";
  wf_iter_need_length(append_all(it, other, WF_INTERLEAVE, call), call);
}

/* ---- options and questions ---- */

static weft_opts *options_of(weft_iter *it, const char *call) {
  wf_iter_check(it, call);
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

size_t weft_iter_len(const weft_iter *it) {
  wf_iter_check(it, "weft_iter_len");
  const wf_stage *last = &it->stages[it->count - 1];
  return wf_stage_is(last, WF_ITER_KNOWN) ? last->len : SIZE_MAX;
}

size_t weft_iter_size(const weft_iter *it) {
  return size_of(it, "weft_iter_size");
}

void wf_out_mismatch(size_t size, size_t expected) {
  (void)size, (void)expected;
  wf_fatal("weft_emit", "the size is not that of the flat map's elements");
}
