/* par/array/compact.h - compaction: takes an array apart in one parallel pass, in order.
 * For filter, partition and unique; compact.c explains how.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_PAR_COMPACT_H
#define WF_PAR_COMPACT_H

#include "../base/call.h"

/* Takes n elements apart: those to keep go to `kept`, the others, if `rest` is not NULL,
 * to `rest`; both have room for n. Returns how many are kept. Elements of up to
 * WF_TYPED_SMALL bytes may also be written behind the results, within that room. Larger
 * ones may not, and `kept` may be `src` for those. */
typedef size_t wf_compact_leaf(void *kept, void *rest, const void *src, size_t n,
                               void *ctx);

typedef struct wf_compaction {
  const void *src;
  void *dst;  /* what is kept, in order; may be src */
  void *rest; /* the others, in order; NULL: nobody wants them */
  size_t n, size;
  wf_compact_leaf *leaf;
  void *ctx;
  size_t done; /* result: elements that were looked at; less than n if cancelled */
  size_t kept; /* result */
} wf_compaction;

/* Each element is in one call of the leaf. Inside the pool only. */
void wf_compact(const weft_opts *opts, wf_compaction *c);

#endif
