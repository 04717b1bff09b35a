/* par/iter/source.c - the sources of iterators. Each is a stage that knows how to make
 * its elements from their positions; see iter_fetch.c.
 *
 * SPDX-License-Identifier: MIT */
#include "iter.h"

static weft_iter new_iter(wf_iter_kind kind, size_t size, size_t len) {
  weft_iter it;
  weft_opts opts = WEFT_OPTS_INIT;
  it.count = 1;
  it.opts = opts;
  memset(&it.stages[0], 0, sizeof it.stages[0]);
  it.stages[0].kind = (unsigned char)kind;
  it.stages[0].flags = WF_ITER_KNOWN;
  it.stages[0].size = size;
  it.stages[0].len = len;
  return it;
}

static void check_array(const void *base, size_t n, size_t size, const char *call) {
  if (size == 0) wf_fatal(call, "the element size is 0");
  if (base == NULL && n > 0) wf_fatal(call, "the array is NULL");
}

weft_iter weft_iter_slice(const void *base, size_t n, size_t size) {
  check_array(base, n, size, "weft_iter_slice");
  weft_iter it = new_iter(WF_SLICE, size, n);
  it.stages[0].p = base;
  return it;
}

weft_iter weft_iter_refs(void *base, size_t n, size_t size) {
  check_array(base, n, size, "weft_iter_refs");
  weft_iter it = new_iter(WF_REFS, sizeof(void *), n);
  it.stages[0].p = base;
  it.stages[0].a = size;
  return it;
}

static weft_iter new_range(int64_t begin, int64_t end, int64_t step, const char *call) {
  uint64_t distance = 0, stride = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
  if (step > 0 && end > begin) distance = (uint64_t)end - (uint64_t)begin;
  if (step < 0 && end < begin) distance = (uint64_t)begin - (uint64_t)end;
  uint64_t len = distance / stride + (distance % stride != 0);
  if (len > SIZE_MAX - 1)
    wf_fatal(call, "there are more numbers than a size_t can count");
  weft_iter it = new_iter(WF_RANGE, sizeof(int64_t), (size_t)len);
  it.stages[0].a = (uint32_t)begin;
  it.stages[0].b = (uint32_t)step;
  it.stages[0].c = (uint32_t)((uint64_t)begin >> 32);
  it.stages[0].d = (uint32_t)((uint64_t)step >> 32);
  return it;
}

weft_iter weft_iter_range(int64_t begin, int64_t end) {
  return new_range(begin, end, 1, "weft_iter_range");
}

weft_iter weft_iter_range_step(int64_t begin, int64_t end, int64_t step) {
  if (step == 0) wf_fatal("weft_iter_range_step", "the step is 0");
  return new_range(begin, end, step, "weft_iter_range_step");
}

static weft_iter new_parts(wf_iter_kind kind, size_t len, const void *base, size_t n,
                           size_t size, size_t part) {
  weft_iter it = new_iter(kind, sizeof(weft_chunk), len);
  it.stages[0].p = base;
  it.stages[0].a = n;
  it.stages[0].b = size;
  it.stages[0].c = part;
  return it;
}

weft_iter weft_iter_chunks(const void *base, size_t n, size_t size, size_t chunk) {
  check_array(base, n, size, "weft_iter_chunks");
  if (chunk == 0) wf_fatal("weft_iter_chunks", "the chunk length is 0");
  return new_parts(WF_CHUNKS, n / chunk + (n % chunk != 0), base, n, size, chunk);
}

weft_iter weft_iter_windows(const void *base, size_t n, size_t size, size_t window) {
  check_array(base, n, size, "weft_iter_windows");
  if (window == 0) wf_fatal("weft_iter_windows", "the window length is 0");
  return new_parts(WF_WINDOWS, n < window ? 0 : n - window + 1, base, n, size, window);
}

weft_iter weft_iter_tiles(size_t rows, size_t cols, size_t tile_rows, size_t tile_cols) {
  if (tile_rows == 0) tile_rows = rows > 0 ? rows : 1;
  if (tile_cols == 0) tile_cols = cols > 0 ? cols : 1;
  size_t down = rows / tile_rows + (rows % tile_rows != 0);
  size_t across = cols / tile_cols + (cols % tile_cols != 0);
  if (across > 0 && down > (SIZE_MAX - 1) / across)
    wf_fatal("weft_iter_tiles", "there are more tiles than a size_t can count");
  weft_iter it = new_iter(WF_TILES, sizeof(weft_tile), down * across);
  it.stages[0].a = rows;
  it.stages[0].b = cols;
  it.stages[0].c = tile_rows;
  it.stages[0].d = tile_cols;
  return it;
}

weft_iter weft_iter_repeat(const void *value, size_t size, size_t n) {
  check_array(value, n, size, "weft_iter_repeat");
  weft_iter it = new_iter(WF_REPEAT, size, n);
  it.stages[0].p = value;
  return it;
}

weft_iter weft_iter_pull(size_t size, weft_pull_fn *fn, void *ctx) {
  if (size == 0) wf_fatal("weft_iter_pull", "the element size is 0");
  if (fn == NULL) wf_fatal("weft_iter_pull", "the function is NULL");
  weft_iter it = new_iter(WF_PULL, size, 0);
  it.stages[0].flags = WF_ITER_PULLS;
  it.stages[0].fn = (void (*)(void))fn;
  it.stages[0].ctx = ctx;
  return it;
}

weft_iter weft_iter_lines(const char *text, size_t length) {
  if (text == NULL && length > 0) wf_fatal("weft_iter_lines", "the text is NULL");
  weft_iter it = new_iter(WF_LINES, sizeof(weft_line), 0);
  it.stages[0].flags = 0;
  it.stages[0].p = text;
  it.stages[0].a = length;
  return it;
}
