/* par/iter/fetch.c - the elements of stages whose length is known, by position.
 *
 * Every such stage can make its elements i, i + stride, i + 2 stride, ... from those of
 * its operands. There is no state: any thread can start anywhere, the two sides of a zip
 * stay together by themselves, and stages that step over elements or reverse them cost
 * nothing and call no functions for what they leave out. Strides wrap around: -1 is
 * SIZE_MAX.
 *
 * Called by run.c for each batch, on the thread that owns the run.
 *
 * SPDX-License-Identifier: MIT */
#include "iter.h"

/* The arguments of wf_iter_fetch. */
typedef struct wanted_part {
  size_t i, n, stride, at;
} wanted_part;

static const char *fetch(wf_iter_run *run, unsigned k, wanted_part w) {
  return wf_iter_fetch(run, k, w.i, w.n, w.stride, w.at);
}

/* ---- sources ---- */

static const char *gather(const wf_stage *s, char *out, wanted_part w) {
  const char *base = (const char *)s->as.slice.array;
  size_t size = s->size;
  if (w.stride == 1) return base + w.i * size;
  for (size_t j = 0; j < w.n; j++)
    wf_copy_element(out + j * size, base + (w.i + j * w.stride) * size, size);
  return out;
}

static void fill_refs(const wf_stage *s, char *out, wanted_part w) {
  void **refs = (void **)(void *)out;
  for (size_t j = 0; j < w.n; j++)
    refs[j] = (char *)s->as.refs.array + (w.i + j * w.stride) * s->as.refs.size;
}

/* Unsigned, so that it may wrap around on the way. The stride has a sign, and a size_t
 * may have fewer bits than the numbers. */
static void fill_range(const wf_stage *s, char *out, wanted_part w) {
  uint64_t *to = (uint64_t *)(void *)out;
  uint64_t one = (uint64_t)s->as.range.step;
  uint64_t step = one * (uint64_t)(int64_t)(ptrdiff_t)w.stride;
  uint64_t first = (uint64_t)s->as.range.begin + w.i * one;
  for (size_t j = 0; j < w.n; j++) to[j] = first + j * step;
}

static void fill_parts(const wf_stage *s, char *out, wanted_part w) {
  weft_chunk *to = (weft_chunk *)(void *)out;
  const size_t part = s->as.parts.part, apart = s->kind == WF_WINDOWS ? 1 : part;
  for (size_t j = 0; j < w.n; j++) {
    size_t index = w.i + j * w.stride, first = index * apart;
    size_t left = s->as.parts.n - first;
    WF_ASSERT(first < s->as.parts.n);
    to[j].data = (void *)((uintptr_t)s->as.parts.array + first * s->as.parts.size);
    to[j].count = left < part ? left : part;
    to[j].index = index;
  }
}

static void fill_tiles(const wf_stage *s, char *out, wanted_part w) {
  weft_tile *to = (weft_tile *)(void *)out;
  const size_t rows = s->as.tiles.rows, tile_rows = s->as.tiles.tile_rows;
  const size_t cols = s->as.tiles.cols, tile_cols = s->as.tiles.tile_cols;
  const size_t across = cols / tile_cols + (cols % tile_cols != 0);
  for (size_t j = 0; j < w.n; j++) {
    size_t index = w.i + j * w.stride;
    size_t r = index / across * tile_rows, c = index % across * tile_cols;
    WF_ASSERT(r < rows && c < cols);
    to[j].r0 = r;
    to[j].r1 = rows - r < tile_rows ? rows : r + tile_rows;
    to[j].c0 = c;
    to[j].c1 = cols - c < tile_cols ? cols : c + tile_cols;
  }
}

static void fill_value(const wf_stage *s, char *out, wanted_part w) {
  for (size_t j = 0; j < w.n; j++)
    wf_copy_element(out + j * s->size, s->as.repeat.value, s->size);
}

/* The function makes neighbours in one call. Backwards they are made forwards and then
 * reversed; with gaps it is called for each, so that it makes nothing that is left out.
 */
static void fill_from(const wf_stage *s, char *out, wanted_part w) {
  weft_iter_from_fn *fn = s->as.from.fn;
  void *ctx = s->as.from.ctx;
  const size_t size = s->size;
  if (w.stride == 1 || w.n == 1) {
    fn(out, w.i, w.n, ctx);
  } else if (w.stride == SIZE_MAX) {
    fn(out, w.i - (w.n - 1), w.n, ctx);
    wf_reverse_part(out, w.n, size, 0, w.n / 2);
  } else {
    for (size_t j = 0; j < w.n; j++) fn(out + j * size, w.i + j * w.stride, 1, ctx);
  }
}

/* ---- one element from one ---- */

/* Four calls for each turn of the loop, here and in run.c: that takes functions which do
 * little from 1.70 to 1.22 ns per element (docs/investigations/iterators.md). */

static void map_each(const wf_stage *s, char *out, const char *in, size_t in_size,
                     size_t n) {
  weft_iter_map_fn *fn = s->as.map.fn;
  void *ctx = s->as.map.ctx;
  size_t size = s->size;
  for (; n >= 4; n -= 4, out += 4 * size, in += 4 * in_size) {
    fn(out, in, ctx);
    fn(out + size, in + in_size, ctx);
    fn(out + 2 * size, in + 2 * in_size, ctx);
    fn(out + 3 * size, in + 3 * in_size, ctx);
  }
  for (; n > 0; n--, out += size, in += in_size) fn(out, in, ctx);
}

/* `l` and `r`: how far elements of the two sides are apart. */
static void zip_each(const wf_stage *s, char *out, const char *left, size_t l,
                     const char *right, size_t r, size_t n) {
  weft_iter_zip_fn *fn = s->as.zip_map.fn;
  const size_t size = s->size;
  void *ctx = s->as.zip_map.ctx;
  for (; n >= 4; n -= 4, out += 4 * size, left += 4 * l, right += 4 * r) {
    fn(out, left, right, ctx);
    fn(out + size, left + l, right + r, ctx);
    fn(out + 2 * size, left + 2 * l, right + 2 * r, ctx);
    fn(out + 3 * size, left + 3 * l, right + 3 * r, ctx);
  }
  for (; n > 0; n--, out += size, left += l, right += r) fn(out, left, right, ctx);
}

const char *wf_iter_map_batch(wf_iter_run *run, unsigned k, const char *in, size_t n) {
  const wf_stage *s = wf_plan_stage(run->plan, k);
  size_t in_size = wf_plan_stage(run->plan, k - 1)->size;
  char *out;
  if (s->kind == WF_INSPECT) {
    weft_iter_look_fn *look = s->as.inspect.fn;
    for (size_t j = 0; j < n; j++) look(in + j * in_size, s->as.inspect.ctx);
    return in;
  }
  out = wf_iter_slot(run, k);
  WF_ASSERT(n <= run->capacity);
  WF_ASSERT(in + n * in_size <= out || out + n * s->size <= in);
  if (s->kind == WF_KERNEL) {
    wf_iter_kernel_run(s, out, in, NULL, n);
  } else {
    WF_ASSERT(s->kind == WF_MAP);
    map_each(s, out, in, in_size, n);
  }
  return out;
}

static const char *enumerate(wf_iter_run *run, unsigned k, wanted_part w) {
  const wf_stage *s = wf_plan_stage(run->plan, k);
  size_t in_size = wf_plan_stage(run->plan, k - 1)->size;
  const char *in = fetch(run, k - 1, w);
  char *out = wf_iter_slot(run, k);
  for (size_t j = 0; j < w.n; j++) {
    size_t index = w.i + j * w.stride;
    memcpy(out + j * s->size, &index, sizeof index);
    wf_copy_element(out + j * s->size + s->as.enumerate.value_at, in + j * in_size,
                    in_size);
  }
  return out;
}

/* ---- chunks ---- */

/* The memory for the chunks of stage k: each element of a batch has its own chunk. */
static char *chunk_memory(const wf_iter_run *run, unsigned k) {
  const wf_iter_plan *plan = run->plan;
  size_t before = 0;
  for (unsigned i = 0; i < k; i++) before += plan->extra[i];
  return run->extra + before * run->batch;
}

/* Fills `count` chunks that follow each other, the first of which has the given index. */
static void fill_chunks(wf_iter_run *run, unsigned k, char *to, size_t index,
                        size_t count) {
  const wf_stage *s = wf_plan_stage(run->plan, k), *in = s - 1;
  size_t length = s->as.chunk.length, size = in->size, i = index * length, offset = 0;
  size_t end = (in->len - i) / length < count ? in->len : i + count * length;
  while (i < end) {
    size_t n = end - i < run->capacity ? end - i : run->capacity;
    const char *from = wf_iter_fetch(run, k - 1, i, n, 1, 0);
    i += n;
    while (n > 0) {
      size_t part = length - offset < n ? length - offset : n;
      memcpy(to + offset * size, from, part * size);
      from += part * size;
      n -= part;
      offset += part;
      if (offset < length) break;
      offset = 0;
      to += run->plan->extra[k];
    }
  }
}

static const char *make_chunks(wf_iter_run *run, unsigned k, wanted_part w) {
  const wf_stage *s = wf_plan_stage(run->plan, k), *in = s - 1;
  weft_chunk *out = (weft_chunk *)(void *)wf_iter_slot(run, k);
  size_t bytes = run->plan->extra[k], length = s->as.chunk.length;
  char *memory = chunk_memory(run, k) + bytes * w.at;
  WF_ASSERT(w.at + w.n <= run->batch && bytes >= length * in->size);
  if (w.stride == 1) fill_chunks(run, k, memory, w.i, w.n);
  for (size_t j = 0; j < w.n; j++) {
    size_t index = w.i + j * w.stride, left = in->len - index * length;
    if (w.stride != 1) fill_chunks(run, k, memory + j * bytes, index, 1);
    out[j].data = memory + j * bytes;
    out[j].count = left < length ? left : length;
    out[j].index = index;
  }
  return (const char *)out;
}

/* ---- two operands ---- */

static const char *zip(wf_iter_run *run, unsigned k, wanted_part w) {
  const wf_stage *stages = run->plan->it->stages, *s = &stages[k];
  unsigned l = wf_stage_left(stages, k), r = k - 1;
  const char *left = fetch(run, l, w), *right = fetch(run, r, w);
  if (run->pairs && k == run->plan->root) { /* it may have no slot */
    run->right = right;
    return left;
  }
  size_t left_size = stages[l].size, right_size = stages[r].size, size = s->size;
  char *out = wf_iter_slot(run, k);
  if (s->kind == WF_ZIP) {
    for (size_t j = 0; j < w.n; j++) {
      wf_copy_element(out + j * size, left + j * left_size, left_size);
      wf_copy_element(out + j * size + s->as.zip.right_at, right + j * right_size,
                      right_size);
    }
  } else if (s->kind == WF_ZIP_KERNEL) {
    wf_iter_kernel_run(s, out, left, right, w.n);
  } else {
    WF_ASSERT(s->kind == WF_ZIP_MAP);
    zip_each(s, out, left, left_size, right, right_size, w.n);
  }
  return out;
}

/* The number of positions, from the first on, that are on the same side of `limit` as the
 * first one. */
static size_t on_first_side(wanted_part w, size_t limit) {
  bool back = w.stride > SIZE_MAX / 2;
  size_t stride = back ? 0 - w.stride : w.stride, count;
  if (back == (w.i < limit)) return w.n; /* goes away from it */
  if (back)
    count = (w.i - limit) / stride + 1;
  else
    count = (limit - w.i - 1) / stride + 1;
  return count < w.n ? count : w.n;
}

/* Writes elements of stage k to a batch, `step` elements apart. */
static void append_fetched(wf_iter_run *run, unsigned k, wanted_part w, char *out,
                           size_t step) {
  size_t size = wf_plan_stage(run->plan, k)->size;
  const char *from = fetch(run, k, w);
  if (step == 1)
    memcpy(out, from, w.n * size);
  else
    for (size_t j = 0; j < w.n; j++)
      wf_copy_element(out + j * step * size, from + j * size, size);
}

static const char *chain(wf_iter_run *run, unsigned k, wanted_part w) {
  const wf_stage *stages = run->plan->it->stages;
  unsigned side[2] = {wf_stage_left(stages, k), k - 1};
  size_t limit = stages[side[0]].len, size = stages[k].size;
  size_t n = on_first_side(w, limit);
  unsigned first = w.i < limit ? 0 : 1;
  wanted_part part = {first == 0 ? w.i : w.i - limit, n, w.stride, w.at};
  if (n == w.n) return fetch(run, side[first], part);
  char *out = wf_iter_slot(run, k);
  append_fetched(run, side[first], part, out, 1);
  size_t i = w.i + n * w.stride;
  wanted_part rest = {first == 0 ? i - limit : i, w.n - n, w.stride, w.at + n};
  append_fetched(run, side[1 - first], rest, out + n * size, 1);
  return out;
}

/* Positions that are all in the part where both sides take turns. */
static void take_turns(wf_iter_run *run, const unsigned side[2], wanted_part w, char *out,
                       size_t size) {
  bool back = w.stride > SIZE_MAX / 2;
  size_t stride = back ? 0 - w.stride : w.stride;
  if (stride % 2 == 0) {
    wanted_part all = {w.i / 2, w.n, back ? 0 - stride / 2 : stride / 2, w.at};
    append_fetched(run, side[w.i % 2], all, out, 1);
    return;
  }
  size_t half = w.n - w.n / 2, next = w.i + w.stride;
  wanted_part even = {w.i / 2, half, w.stride, w.at};
  wanted_part odd = {next / 2, w.n / 2, w.stride, w.at + half};
  append_fetched(run, side[w.i % 2], even, out, 2);
  if (odd.n > 0) append_fetched(run, side[next % 2], odd, out + size, 2);
}

static const char *interleave(wf_iter_run *run, unsigned k, wanted_part w) {
  const wf_stage *stages = run->plan->it->stages;
  unsigned side[2] = {wf_stage_left(stages, k), k - 1};
  size_t a = stages[side[0]].len, b = stages[side[1]].len, size = stages[k].size;
  size_t shorter = a < b ? a : b;
  unsigned longer = side[a < b ? 1 : 0];
  char *out = wf_iter_slot(run, k);
  for (size_t done = 0; done < w.n;) {
    wanted_part part = {w.i + done * w.stride, w.n - done, w.stride, w.at + done};
    part.n = on_first_side(part, 2 * shorter);
    if (part.i < 2 * shorter) {
      take_turns(run, side, part, out + done * size, size);
    } else {
      part.i -= shorter;
      append_fetched(run, longer, part, out + done * size, 1);
    }
    done += part.n;
  }
  return out;
}

/* ---- all ---- */

static const char *fetch_source(wf_iter_run *run, unsigned k, wanted_part w) {
  const wf_stage *s = wf_plan_stage(run->plan, k);
  char *out = wf_iter_slot(run, k);
  switch ((wf_iter_kind)s->kind) {
  case WF_REFS:
    fill_refs(s, out, w);
    break;
  case WF_RANGE:
    fill_range(s, out, w);
    break;
  case WF_CHUNKS:
  case WF_WINDOWS:
    fill_parts(s, out, w);
    break;
  case WF_TILES:
    fill_tiles(s, out, w);
    break;
  case WF_REPEAT:
    fill_value(s, out, w);
    break;
  case WF_FROM:
    fill_from(s, out, w);
    break;
  default:
    WF_ASSERT(s->kind == WF_SLICE);
    return gather(s, out, w);
  }
  return out;
}

const char *wf_iter_fetch(wf_iter_run *run, unsigned k, size_t i, size_t n, size_t stride,
                          size_t at) {
  const wf_stage *s = wf_plan_stage(run->plan, k);
  wanted_part w = {i, n, stride, at};
  WF_ASSERT(wf_stage_is(s, WF_ITER_KNOWN) && w.n >= 1 && w.n <= run->capacity);
  WF_ASSERT(w.i < s->len);
  WF_ASSERT(w.i + (w.n - 1) * w.stride < s->len); /* wraps if stride is negative */
  switch ((wf_iter_kind)s->kind) {
  case WF_MAP:
  case WF_KERNEL:
  case WF_INSPECT:
    return wf_iter_map_batch(run, k, fetch(run, k - 1, w), w.n);
  case WF_ENUMERATE:
    return enumerate(run, k, w);
  case WF_CHUNK:
    return make_chunks(run, k, w);
  case WF_ZIP:
  case WF_ZIP_MAP:
  case WF_ZIP_KERNEL:
    return zip(run, k, w);
  case WF_CHAIN:
    return chain(run, k, w);
  case WF_INTERLEAVE:
    return interleave(run, k, w);
  case WF_TAKE:
    return fetch(run, k - 1, w);
  case WF_SKIP:
    w.i += s->as.skip.count;
    return fetch(run, k - 1, w);
  case WF_STEP:
    w.i *= s->as.step.stride;
    w.stride *= s->as.step.stride;
    return fetch(run, k - 1, w);
  case WF_REVERSE:
    w.i = s[-1].len - 1 - w.i;
    w.stride = 0 - w.stride;
    return fetch(run, k - 1, w);
  default:
    return fetch_source(run, k, w);
  }
}
