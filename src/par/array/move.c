/* par/array/move.c - the calls that only move elements: copy, fill, gather, scatter,
 * reverse, rotate. Loops whose blocks are functions of base/bytes.h.
 *
 * Called by programs, and by other calls of src/par that move whole arrays. A job lives
 * in the frame of the call and is only read by the threads of its loop.
 *
 * SPDX-License-Identifier: MIT */
#include "../base/bytes.h"
#include "array.h"

#include <weft/array.h>

/* Runs a loop of n elements in blocks of at least 16 KiB. */
static void move_loop(weft_opts *opts, size_t n, size_t size, weft_range_fn *body,
                      void *ctx) {
  wf_loop loop = {body, ctx, NULL};
  wf_array_min_len(opts, size);
  wf_loop_run(opts, n, &loop);
}

typedef struct move_job {
  char *dst;
  const char *src;
  const size_t *index; /* of gather and scatter */
  size_t size;
  bool past_caches;
} move_job;

/* ---- copy ---- */

static void copy_block(size_t begin, size_t end, void *ctx) {
  const move_job *m = (const move_job *)ctx;
  wf_copy_bytes(m->dst + begin * m->size, m->src + begin * m->size,
                (end - begin) * m->size, m->past_caches);
}

void weft_copy_with(const weft_opts *o, void *dst, const void *src, size_t n,
                    size_t size) {
  weft_opts opts;
  move_job m = {(char *)dst, (const char *)src, NULL, size,
                n * size >= WF_PAST_CACHES_RESULT};
  wf_check_elements(dst == NULL || src == NULL, false, n, size, "weft_copy");
  wf_par_options(&opts, o, "weft_copy");
  if (n > 0) move_loop(&opts, n, size, copy_block, &m);
}
WF_PLAIN(weft_copy, (void *dst, const void *src, size_t n, size_t size), dst, src, n,
         size)

/* ---- fill ---- */

static void fill_bytes(size_t begin, size_t end, void *ctx) {
  const move_job *m = (const move_job *)ctx;
  memset(m->dst + begin * m->size, (unsigned char)*m->src, (end - begin) * m->size);
}

/* Copies on what is filled already: twice as much each time, up to a quarter of a usual
 * first-level cache, from where the rest is written. */
static void fill_block(size_t begin, size_t end, void *ctx) {
  enum { MOST = 8 << 10 };
  const move_job *m = (const move_job *)ctx;
  WF_ASSERT(begin < end);
  char *to = m->dst + begin * m->size;
  size_t left = (end - begin - 1) * m->size, filled = m->size, most = m->size;
  memcpy(to, m->src, m->size);
  while (most <= MOST / 2) most *= 2;
  while (left > 0) {
    size_t bytes = filled < most ? filled : most;
    if (bytes > left) bytes = left;
    wf_copy_bytes(to + filled, to, bytes, m->past_caches && filled >= most);
    filled += bytes;
    left -= bytes;
  }
  WF_ASSERT(filled == (end - begin) * m->size);
}

void weft_fill_with(const weft_opts *o, void *base, size_t n, size_t size,
                    const void *value) {
  weft_opts opts;
  move_job m = {(char *)base, (const char *)value, NULL, size,
                n * size >= WF_PAST_CACHES_RESULT};
  wf_check_elements(base == NULL, false, n, size, "weft_fill");
  wf_refuse_if(value == NULL && n > 0, "weft_fill", "the value is NULL");
  wf_par_options(&opts, o, "weft_fill");
  if (n == 0) return;
  bool is_one_byte = memcmp(m.src, m.src + 1, size - 1) == 0;
  move_loop(&opts, n, size, is_one_byte ? fill_bytes : fill_block, &m);
}
WF_PLAIN(weft_fill, (void *base, size_t n, size_t size, const void *value), base, n, size,
         value)

/* ---- gather and scatter ---- */

static void gather_block(size_t begin, size_t end, void *ctx) {
  const move_job *m = (const move_job *)ctx;
  wf_gather(m->dst, m->src, m->index, begin, end, m->size);
}

WF_INLINE void scatter_sized(const move_job *m, size_t begin, size_t end, size_t size) {
  for (size_t i = begin; i < end; i++)
    memcpy(m->dst + m->index[i] * size, m->src + i * size, size);
}

static void scatter_block(size_t begin, size_t end, void *ctx) {
  const move_job m = *(const move_job *)ctx;
  WF_BY_SIZE(m.size, scatter_sized, &m, begin, end);
}

static void move_by_index(const weft_opts *o, const char *call, size_t n,
                          weft_range_fn *body, move_job *m) {
  weft_opts opts;
  wf_check_elements(m->dst == NULL || m->src == NULL, false, n, m->size, call);
  wf_refuse_if(m->index == NULL && n > 0, call, "the index is NULL");
  wf_refuse_if(wf_is_too_large(n, sizeof *m->index), call, WF_TOO_LARGE);
  wf_par_options(&opts, o, call);
  if (n > 0) move_loop(&opts, n, m->size, body, m);
}

void weft_gather_with(const weft_opts *o, void *dst, const void *src, const size_t *index,
                      size_t n, size_t size) {
  move_job m = {(char *)dst, (const char *)src, index, size, false};
  move_by_index(o, "weft_gather", n, gather_block, &m);
}
WF_PLAIN(weft_gather,
         (void *dst, const void *src, const size_t *index, size_t n, size_t size), dst,
         src, index, n, size)

void weft_scatter_with(const weft_opts *o, void *dst, const void *src,
                       const size_t *index, size_t n, size_t size) {
  move_job m = {(char *)dst, (const char *)src, index, size, false};
  move_by_index(o, "weft_scatter", n, scatter_block, &m);
}
WF_PLAIN(weft_scatter,
         (void *dst, const void *src, const size_t *index, size_t n, size_t size), dst,
         src, index, n, size)

/* ---- reverse and rotate ---- */

typedef struct reverse_job {
  char *base;
  size_t n, size;
} reverse_job;

static void reverse_block(size_t begin, size_t end, void *ctx) {
  const reverse_job *r = (const reverse_job *)ctx;
  wf_reverse_part(r->base, r->n, r->size, begin, end);
}

static void reverse_all(weft_opts *opts, char *base, size_t n, size_t size) {
  reverse_job r = {base, n, size};
  if (n > 1) move_loop(opts, n / 2, size, reverse_block, &r);
}

void weft_reverse_with(const weft_opts *o, void *base, size_t n, size_t size) {
  weft_opts opts;
  wf_check_elements(base == NULL, false, n, size, "weft_reverse");
  wf_par_options(&opts, o, "weft_reverse");
  reverse_all(&opts, (char *)base, n, size);
}
WF_PLAIN(weft_reverse, (void *base, size_t n, size_t size), base, n, size)

/* Both parts reversed, and then the whole. */
void weft_rotate_with(const weft_opts *o, void *base, size_t n, size_t size,
                      size_t middle) {
  weft_opts opts;
  char *first = (char *)base;
  wf_check_elements(base == NULL, false, n, size, "weft_rotate");
  wf_refuse_if(middle > n, "weft_rotate", "the middle is behind the end");
  wf_par_options(&opts, o, "weft_rotate");
  if (middle == 0 || middle == n) return;
  reverse_all(&opts, first, middle, size);
  reverse_all(&opts, first + middle * size, n - middle, size);
  reverse_all(&opts, first, n, size);
}
WF_PLAIN(weft_rotate, (void *base, size_t n, size_t size, size_t middle), base, n, size,
         middle)
