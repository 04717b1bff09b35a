/* par/base/crew.h - a range that is worked off from the front by members, each of which
 * is one task and keeps something of its own from block to block: a buffer, a table.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_PAR_STREAM_H
#define WF_PAR_STREAM_H

#include "par.h"

typedef struct wf_stream {
  /* What a member begins with; NULL: there is no memory for one more, and it takes no
   * part. */
  void *(*enter)(void *ctx);
  /* Runs the block [begin, end). Returns what the member goes on with, or NULL: it has
   * nothing to go on with and ends. */
  void *(*block)(void *own, size_t begin, size_t end, void *ctx);
  /* The member ends with this, which is not NULL. */
  void (*leave)(void *own, void *ctx);
  void *ctx;
  size_t max_len; /* of a block */
} wf_stream;

/* Runs blocks that are disjoint, ascending in the order in which they begin, and cover
 * [0, result). The result is n unless the call was cancelled or all members have ended
 * for want of memory. Inside the pool only. */
size_t wf_stream_run(const weft_opts *opts, size_t n, const wf_stream *stream);

#endif
