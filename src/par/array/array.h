/* par/array/array.h - the shortest block of the array calls that only move or compare
 * bytes. Used by move.c and search.c, on the caller's own copy of its options.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_PAR_ARRAY_H
#define WF_PAR_ARRAY_H

#include "../base/call.h"
#include "../loop/loop.h"

/* For calls that only move or compare bytes: sets the options' min_len, if it is free, to
 * 16 KiB of elements, at least one. A choice: about a microsecond of copying, so that the
 * time between two blocks does not count. */
static inline void wf_array_min_len(weft_opts *opts, size_t size) {
  size_t length = ((size_t)16 << 10) / size;
  if (opts->min_len == 0) opts->min_len = length > 0 ? length : 1;
}

#endif
