/* par/array/array.h - what the array calls share among themselves.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_PAR_ARRAY_H
#define WF_PAR_ARRAY_H

#include "../base/par.h"

/* Ends the program if there are elements, but no array, no function or no size. */
static inline void wf_array_check(bool no_array, bool no_fn, size_t n, size_t size,
                                  const char *call) {
  if (WF_LIKELY(n == 0 || (!no_array && !no_fn && size != 0))) return;
  if (size == 0) wf_fatal(call, "the element size is 0");
  wf_fatal(call, no_fn ? "the function is NULL" : "an array is NULL");
}

/* For calls that only move bytes: blocks of less than 16 KiB are not worth a fork. */
static inline void wf_array_min_len(weft_opts *opts, size_t size) {
  size_t length = ((size_t)16 << 10) / size;
  if (opts->min_len == 0) opts->min_len = length > 0 ? length : 1;
}

/* ---- pack.c ---- */

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

/* ---- move.c ---- */

/* An array of so many bytes does not fit into caches: its old content is not worth being
 * read into them before it is overwritten, which plain stores do. */
enum { WF_PAST_CACHES = 32 << 20 };

/* memcpy by stores that go past the caches, where the CPU has such. */
void wf_copy_past(char *dst, const char *src, size_t bytes);

/* Exchanges [0, middle) and [middle, n) with one thread. */
void wf_rotate_serial(char *base, size_t n, size_t size, size_t middle);

#endif
