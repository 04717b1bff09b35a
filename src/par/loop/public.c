/* par/loop/public.c - the loops of weft/loop.h, and what typed loops call but for 2-d
 * ones (cells.c): each checks its arguments, describes its body as a loop over [0, n) and
 * calls wf_loop_run.
 *
 * Called by programs, on any thread. The struct of each loop lives in the frame of the
 * call; the threads of the loop only read it, but for the failure of a try loop.
 *
 * SPDX-License-Identifier: MIT */
#include "../base/bytes.h"
#include "../base/failure.h"
#include "loop.h"

#include <weft/detail/iter.h>
#include <weft/typed_loop.h>

static void check_fn(bool is_null, size_t n, const char *call) {
  wf_refuse_if(is_null && n > 0, call, "the function is NULL");
}

/* ---- weft_for ---- */

void weft_for_with(const weft_opts *o, size_t n, weft_range_fn *body, void *ctx) {
  wf_loop loop = {body, ctx, NULL};
  check_fn(body == NULL, n, "weft_for");
  wf_loop_call(o, n, &loop, "weft_for");
}
WF_PLAIN(weft_for, (size_t n, weft_range_fn *body, void *ctx), n, body, ctx)

/* ---- weft_try_for ---- */

typedef struct try_loop {
  weft_try_fn *body;
  void *ctx;
  wf_failure failure;
} try_loop;

static void try_block(size_t begin, size_t end, void *ctx) {
  try_loop *t = (try_loop *)ctx;
  int error = t->body(begin, end, t->ctx);
  if (WF_UNLIKELY(error != 0)) wf_failure_note(&t->failure, begin, error);
}

static bool is_behind_failure(size_t begin, const void *ctx) {
  return wf_failure_is_before(&((const try_loop *)ctx)->failure, begin);
}

int wf_loop_try(const weft_opts *given, size_t n, weft_try_fn *body, void *ctx,
                const char *call) {
  weft_opts opts;
  try_loop t = {.body = body, .ctx = ctx};
  wf_loop loop = {try_block, &t, is_behind_failure};
  wf_par_options(&opts, given, call);
  wf_failure_init(&t.failure);
  wf_loop_run(&opts, n, &loop);
  return wf_failure_status(&t.failure, &opts);
}

int weft_try_for_with(const weft_opts *o, size_t n, weft_try_fn *body, void *ctx) {
  check_fn(body == NULL, n, "weft_try_for");
  return wf_loop_try(o, n, body, ctx, "weft_try_for");
}
WF_PLAIN_OF(int, weft_try_for, (size_t n, weft_try_fn *body, void *ctx), n, body, ctx)

/* ---- typed loops (weft/typed_loop.h): the same, with another name in messages ---- */

void wf_typed_for(const wf_typed *k, weft_range_fn *block) {
  wf_loop loop = {block, k->ctx, NULL};
  wf_loop_call(k->opts, k->n, &loop, k->name);
}

int wf_typed_try_for(const wf_typed *k, weft_try_fn *block) {
  return wf_loop_try(k->opts, k->n, block, k->ctx, k->name);
}

/* ---- weft_for_each ---- */

typedef struct each_loop {
  char *base;
  size_t size;
  weft_elem_fn *fn;
  void *ctx;
} each_loop;

WF_ALIGN_LOOPS static void each_block(size_t begin, size_t end, void *ctx) {
  const each_loop e = *(const each_loop *)ctx;
  for (size_t i = begin; i < end; i++) e.fn(e.base + i * e.size, i, e.ctx);
}

void weft_for_each_with(const weft_opts *o, void *base, size_t n, size_t size,
                        weft_elem_fn *fn, void *ctx) {
  each_loop e = {(char *)base, size, fn, ctx};
  wf_loop loop = {each_block, &e, NULL};
  wf_check_elements(base == NULL, fn == NULL, n, size, "weft_for_each");
  wf_loop_call(o, n, &loop, "weft_for_each");
}
WF_PLAIN(weft_for_each, (void *base, size_t n, size_t size, weft_elem_fn *fn, void *ctx),
         base, n, size, fn, ctx)

/* ---- weft_try_for_each ---- */

typedef struct try_each_loop {
  char *base;
  size_t size;
  weft_try_elem_fn *fn;
  void *ctx;
} try_each_loop;

WF_ALIGN_LOOPS static int try_each_block(size_t begin, size_t end, void *ctx) {
  const try_each_loop e = *(const try_each_loop *)ctx;
  for (size_t i = begin; i < end; i++) {
    int error = e.fn(e.base + i * e.size, i, e.ctx);
    if (WF_UNLIKELY(error != 0)) return error;
  }
  return 0;
}

int weft_try_for_each_with(const weft_opts *o, void *base, size_t n, size_t size,
                           weft_try_elem_fn *fn, void *ctx) {
  try_each_loop e = {(char *)base, size, fn, ctx};
  wf_check_elements(base == NULL, fn == NULL, n, size, "weft_try_for_each");
  return wf_loop_try(o, n, try_each_block, &e, "weft_try_for_each");
}
WF_PLAIN_OF(int, weft_try_for_each,
            (void *base, size_t n, size_t size, weft_try_elem_fn *fn, void *ctx), base, n,
            size, fn, ctx)

/* ---- weft_chunks ---- */

typedef struct chunk_loop {
  char *base;
  size_t n, size, chunk;
  weft_chunk_fn *fn;
  void *ctx;
} chunk_loop;

static void chunk_block(size_t begin, size_t end, void *ctx) {
  const chunk_loop c = *(const chunk_loop *)ctx;
  for (size_t k = begin; k < end; k++) {
    size_t first = k * c.chunk;
    WF_ASSERT(first < c.n);
    size_t left = c.n - first;
    c.fn(c.base + first * c.size, left < c.chunk ? left : c.chunk, k, c.ctx);
  }
}

void weft_chunks_with(const weft_opts *o, void *base, size_t n, size_t size, size_t chunk,
                      weft_chunk_fn *fn, void *ctx) {
  chunk_loop c = {(char *)base, n, size, chunk, fn, ctx};
  wf_loop loop = {chunk_block, &c, NULL};
  wf_check_elements(base == NULL, fn == NULL, n, size, "weft_chunks");
  wf_refuse_if(chunk == 0, "weft_chunks", "the chunk length is 0");
  wf_loop_call(o, n / chunk + (n % chunk != 0), &loop, "weft_chunks");
}
WF_PLAIN(weft_chunks,
         (void *base, size_t n, size_t size, size_t chunk, weft_chunk_fn *fn, void *ctx),
         base, n, size, chunk, fn, ctx)

/* ---- weft_for_step ---- */

typedef struct step_loop {
  size_t begin, step;
  weft_index_fn *fn;
  void *ctx;
} step_loop;

WF_ALIGN_LOOPS static void step_block(size_t begin, size_t end, void *ctx) {
  const step_loop s = *(const step_loop *)ctx;
  for (size_t k = begin; k < end; k++) s.fn(s.begin + k * s.step, s.ctx);
}

void weft_for_step_with(const weft_opts *o, size_t begin, size_t end, size_t step,
                        weft_index_fn *fn, void *ctx) {
  step_loop s = {begin, step, fn, ctx};
  wf_loop loop = {step_block, &s, NULL};
  size_t length = end > begin ? end - begin : 0;
  check_fn(fn == NULL, length, "weft_for_step");
  wf_refuse_if(step == 0, "weft_for_step", "the step is 0");
  wf_loop_call(o, length / step + (length % step != 0), &loop, "weft_for_step");
}
WF_PLAIN(weft_for_step,
         (size_t begin, size_t end, size_t step, weft_index_fn *fn, void *ctx), begin,
         end, step, fn, ctx)

/* ---- weft_for_2d ---- */

typedef struct tile_loop {
  size_t rows, cols, tile_rows, tile_cols;
  size_t across; /* tiles in a row of tiles */
  bool by_rows;  /* the loop counts rows of tiles, else tiles */
  weft_tile_fn *fn;
  void *ctx;
} tile_loop;

static void run_tile(const tile_loop *t, size_t down, size_t across) {
  size_t r = down * t->tile_rows, c = across * t->tile_cols;
  WF_ASSERT(r < t->rows && c < t->cols);
  size_t rows = t->rows - r, cols = t->cols - c;
  t->fn(r, r + (rows < t->tile_rows ? rows : t->tile_rows), c,
        c + (cols < t->tile_cols ? cols : t->tile_cols), t->ctx);
}

static void tile_block(size_t begin, size_t end, void *ctx) {
  const tile_loop t = *(const tile_loop *)ctx;
  if (t.by_rows) {
    for (size_t down = begin; down < end; down++)
      for (size_t across = 0; across < t.across; across++) run_tile(&t, down, across);
    return;
  }
  size_t down = begin / t.across, across = begin % t.across;
  for (size_t k = begin; k < end; k++) {
    run_tile(&t, down, across);
    if (++across == t.across) {
      across = 0;
      down++;
    }
  }
}

void weft_for_2d_with(const weft_opts *o, size_t rows, size_t cols, size_t tile_rows,
                      size_t tile_cols, weft_tile_fn *fn, void *ctx) {
  weft_opts opts;
  tile_loop t = {rows, cols, tile_rows, tile_cols, 0, false, fn, ctx};
  wf_loop loop = {tile_block, &t, NULL};
  check_fn(fn == NULL, rows != 0 ? cols : 0, "weft_for_2d");
  wf_par_options(&opts, o, "weft_for_2d");
  if (rows == 0 || cols == 0) return;
  t.tile_rows = wf_tile_rows(rows, tile_rows);
  t.tile_cols = wf_tile_cols(cols, tile_cols);
  t.across = cols / t.tile_cols + (cols % t.tile_cols != 0);
  size_t down = rows / t.tile_rows + (rows % t.tile_rows != 0);
  t.by_rows = down > SIZE_MAX / t.across; /* more tiles than size_t has numbers */
  wf_loop_run(&opts, t.by_rows ? down : down * t.across, &loop);
}
WF_PLAIN(weft_for_2d,
         (size_t rows, size_t cols, size_t tile_rows, size_t tile_cols, weft_tile_fn *fn,
          void *ctx),
         rows, cols, tile_rows, tile_cols, fn, ctx)
