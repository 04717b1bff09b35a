/* par/array/array.h - the shortest block of the array calls that only move or compare
 * bytes. Used by move.c and search.c, on the caller's own copy of its options.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_PAR_ARRAY_H
#define WF_PAR_ARRAY_H

#include "../loop/loop.h"

/* For calls that only move or compare bytes: sets the options' min_len, if it is free, to
 * 16 KiB of elements, at least one. A choice: about a microsecond of copying, so that the
 * time between two blocks does not count. */
static inline void wf_array_min_len(weft_opts *opts, size_t size) {
  size_t length = ((size_t)16 << 10) / size;
  if (opts->min_len == 0) opts->min_len = length > 0 ? length : 1;
}

/* ---- compaction: takes an array apart in one parallel pass, in order; compact.c ---- */

/* Takes n elements apart: those to keep go to `kept`, the others, if `rest` is not NULL,
 * to `rest`; both have room for n. Returns how many are kept. Elements of up to
 * WF_TYPED_SMALL bytes may also be written behind the results, within that room. Larger
 * ones may not, and `kept` may be `src` for those. */
typedef size_t wf_compact_leaf(void *kept, void *rest, const void *src, size_t n,
                               void *ctx);

typedef struct wf_compaction {
  const weft_opts *opts;
  const void *src;
  void *dst;  /* what is kept, in order; may be src */
  void *rest; /* the others, in order; NULL: nobody wants them */
  size_t n, size;
  wf_compact_leaf *leaf;
  void *ctx;
  size_t done; /* result: elements that were looked at; less than n if cancelled */
  size_t kept; /* result */
} wf_compaction;

/* Runs the wf_compaction `ctx`: each element is in one call of the leaf. Inside the pool
 * only. */
void wf_compact(void *ctx);

#endif
