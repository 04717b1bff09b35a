/* par/base/pack.h - takes an array apart in one parallel pass, in order; see pack.c.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_PAR_PACK_H
#define WF_PAR_PACK_H

#include "options.h"

/* Takes n elements apart: those to keep go to `kept`, the others, if `rest` is not NULL,
 * to `rest`; both have room for n. Returns how many are kept. Of elements larger than
 * WF_KERNEL_SMALL nothing is written behind the results. `kept` may be `src` for those.
 */
typedef size_t wf_pack_leaf(void *kept, void *rest, const void *src, size_t n, void *ctx);

typedef struct wf_packing {
  const void *src;
  void *dst;  /* what is kept, in order: may be src */
  void *rest; /* the others, in order; NULL: nobody wants them */
  size_t n, size;
  wf_pack_leaf *leaf;
  void *ctx;
  size_t done; /* result: elements that were looked at; less than n if cancelled */
  size_t kept; /* result */
} wf_packing;

/* Each element is in one call of the leaf. Inside the pool only. */
void wf_pack(const weft_opts *opts, wf_packing *p);

#endif
