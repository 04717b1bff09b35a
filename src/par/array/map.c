/* par/array/map.c - the calls that look at each element once and need nothing else: map,
 * count. Each is a loop whose block calls the function for its elements, or calls the
 * leaf that WEFT_MAP or WEFT_COUNT has made.
 *
 * Called by programs. The struct of a call lives in its frame; the threads of the loop
 * only read it, but for the total of a count.
 *
 * SPDX-License-Identifier: MIT */
#include "../base/bytes.h"
#include "array.h"

#include <weft/array.h>
#include <weft/detail/typed_function.h>

/* ---- map ---- */

typedef struct map_loop {
  char *dst;
  const char *src;
  size_t dst_size, src_size;
  weft_map_fn *fn;   /* of weft_map */
  wf_map_leaf *leaf; /* of typed functions */
  void *ctx;
} map_loop;

WF_ALIGN_LOOPS static void map_block(size_t begin, size_t end, void *ctx) {
  const map_loop m = *(const map_loop *)ctx;
  for (size_t i = begin; i < end; i++)
    m.fn(m.dst + i * m.dst_size, m.src + i * m.src_size, i, m.ctx);
}

void weft_map_with(const weft_opts *o, void *dst, size_t dst_size, const void *src,
                   size_t n, size_t src_size, weft_map_fn *fn, void *ctx) {
  map_loop m = {(char *)dst, (const char *)src, dst_size, src_size, fn, NULL, ctx};
  wf_loop loop = {map_block, &m, NULL};
  wf_check_elements(dst == NULL || src == NULL, fn == NULL, n,
                    dst_size < src_size ? dst_size : src_size, "weft_map");
  wf_refuse_if(wf_is_too_large(n, dst_size) || wf_is_too_large(n, src_size), "weft_map",
               WF_TOO_LARGE);
  wf_loop_call(o, n, &loop, "weft_map");
}
WF_PLAIN(weft_map,
         (void *dst, size_t dst_size, const void *src, size_t n, size_t src_size,
          weft_map_fn *fn, void *ctx),
         dst, dst_size, src, n, src_size, fn, ctx)

typedef struct try_map_loop {
  char *dst;
  const char *src;
  size_t dst_size, src_size;
  weft_try_map_fn *fn;
  void *ctx;
} try_map_loop;

WF_ALIGN_LOOPS static int try_map_block(size_t begin, size_t end, void *ctx) {
  const try_map_loop m = *(const try_map_loop *)ctx;
  for (size_t i = begin; i < end; i++) {
    int error = m.fn(m.dst + i * m.dst_size, m.src + i * m.src_size, i, m.ctx);
    if (WF_UNLIKELY(error != 0)) return error;
  }
  return 0;
}

int weft_try_map_with(const weft_opts *o, void *dst, size_t dst_size, const void *src,
                      size_t n, size_t src_size, weft_try_map_fn *fn, void *ctx) {
  try_map_loop m = {(char *)dst, (const char *)src, dst_size, src_size, fn, ctx};
  wf_check_elements(dst == NULL || src == NULL, fn == NULL, n,
                    dst_size < src_size ? dst_size : src_size, "weft_try_map");
  wf_refuse_if(wf_is_too_large(n, dst_size) || wf_is_too_large(n, src_size),
               "weft_try_map", WF_TOO_LARGE);
  return wf_loop_try(o, n, try_map_block, &m, "weft_try_map");
}
WF_PLAIN_OF(int, weft_try_map,
            (void *dst, size_t dst_size, const void *src, size_t n, size_t src_size,
             weft_try_map_fn *fn, void *ctx),
            dst, dst_size, src, n, src_size, fn, ctx)

static void typed_map_block(size_t begin, size_t end, void *ctx) {
  const map_loop *m = (const map_loop *)ctx;
  m->leaf(m->dst + begin * m->dst_size, m->src + begin * m->src_size, end - begin,
          m->ctx);
}

void wf_typed_map(const wf_typed *k, void *dst, size_t dst_size, const void *src,
                  size_t src_size, wf_map_leaf *leaf) {
  map_loop m = {(char *)dst, (const char *)src, dst_size, src_size, NULL, leaf, k->ctx};
  wf_loop loop = {typed_map_block, &m, NULL};
  wf_check_elements(dst == NULL || src == NULL, false, k->n,
                    dst_size < src_size ? src_size : dst_size, k->name);
  wf_loop_call(k->opts, k->n, &loop, k->name);
}

/* ---- count ---- */

typedef struct count_loop {
  const char *base;
  size_t size;
  weft_pred_fn *pred;  /* of weft_count */
  wf_array_leaf *leaf; /* of typed functions */
  void *ctx;
  wf_word x_total; /* at most the number of elements that were looked at */
} count_loop;

/* Relaxed: only the sum matters, and the end of the loop publishes it. */
static void add_to_total(count_loop *c, size_t count) {
  if (count > 0) wf_word_fetch_add_relaxed(&c->x_total, count);
}

WF_ALIGN_LOOPS static void count_block(size_t begin, size_t end, void *ctx) {
  count_loop *c = (count_loop *)ctx;
  weft_pred_fn *pred = c->pred;
  void *user = c->ctx;
  size_t size = c->size, count = 0;
  const char *last = c->base + end * size;
  for (const char *elem = c->base + begin * size; elem != last; elem += size)
    count += pred(elem, user);
  add_to_total(c, count);
}

static void typed_count_block(size_t begin, size_t end, void *ctx) {
  count_loop *c = (count_loop *)ctx;
  add_to_total(c, c->leaf(c->base + begin * c->size, end - begin, c->ctx));
}

static size_t count_call(const weft_opts *o, size_t n, count_loop *c,
                         weft_range_fn *block, const char *call) {
  wf_loop loop = {block, c, NULL};
  wf_loop_call(o, n, &loop, call);
  size_t total = wf_word_load_relaxed(&c->x_total); /* nobody adds to it any more */
  WF_ASSERT(total <= n);
  return total;
}

size_t weft_count_with(const weft_opts *o, const void *base, size_t n, size_t size,
                       weft_pred_fn *pred, void *ctx) {
  count_loop c = {(const char *)base, size, pred, NULL, ctx, {0}};
  wf_check_elements(base == NULL, pred == NULL, n, size, "weft_count");
  return count_call(o, n, &c, count_block, "weft_count");
}
WF_PLAIN_OF(size_t, weft_count,
            (const void *base, size_t n, size_t size, weft_pred_fn *pred, void *ctx),
            base, n, size, pred, ctx)

size_t wf_typed_count(const wf_typed *k, const void *a, size_t size,
                      wf_array_leaf *leaf) {
  count_loop c = {(const char *)a, size, NULL, leaf, k->ctx, {0}};
  wf_check_elements(a == NULL, false, k->n, size, k->name);
  return count_call(k->opts, k->n, &c, typed_count_block, k->name);
}
