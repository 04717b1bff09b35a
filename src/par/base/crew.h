/* par/base/crew.h - a crew: a fixed number of members that work on one call at the same
 * time. Each member is one task, so it runs on one thread from its start to its end.
 *
 * wf_members_run only starts them. wf_crew_run lets them take blocks from the front of a
 * range, each member with something of its own that it keeps from block to block, such
 * as a buffer or a table. How long a block should be is decided here for all of src/par.
 *
 * Inside the pool only: the calling thread is a worker.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_PAR_CREW_H
#define WF_PAR_CREW_H

#include "call.h"

/* ---- how long a block should be ---- */

/* What a block should take. Between two blocks a thread spends 20 to 25 ns (a fork and
 * its taking back, the clock, the look for requests; loop/README.md): 10 us makes that
 * less than a percent, and a request for work is answered soon. */
enum { WF_BLOCK_MICROSECONDS = 10 };

/* A block is at most half of what is left. It is at most this part of it once blocks take
 * more than a sixteenth of the wanted time, because then the time between them does not
 * count: however little a block has cost, the next ones may cost more. */
enum { WF_BLOCK_PARTS = 16 };

/* Blocks of fewer elements say little about the others: after those the length only
 * doubles. A choice: it costs a cheap loop two blocks. */
enum { WF_BLOCK_SAMPLE = 8 };

/* WF_BLOCK_MICROSECONDS in ticks of wf_sys_ticks. */
static inline uint64_t wf_block_ticks(void) {
  return WF_BLOCK_MICROSECONDS * wf_sys_ticks_per_us();
}

/* The length for the next block, after one of `len` elements took `ticks` and `left`
 * elements are left. A block that took between half and twice the wanted time keeps its
 * length. At least 1 if anything is left. */
static inline size_t wf_block_next_length(uint64_t wanted, size_t len, uint64_t ticks,
                                          size_t left) {
  bool is_short = ticks <= wanted / 16;
  size_t most = is_short ? left - left / 2 : left / WF_BLOCK_PARTS + 1;
  unsigned doublings = 0;
  if (ticks > wanted * 2)
    len -= len / 2;
  else if (ticks <= wanted / 2)
    doublings = is_short && len >= WF_BLOCK_SAMPLE ? 3 : 1;
  return len < most >> doublings ? len << doublings : most;
}

/* ---- members ---- */

/* Calls member(ctx) `count` times, each in a task of its own, and returns when all have
 * returned. The calling thread runs one of them, and those that nobody has taken. So a
 * member may not wait for another one to start. */
void wf_members_run(unsigned count, weft_fn *member, void *ctx);

/* ---- members that take blocks ---- */

typedef struct wf_crew {
  /* What a member begins with, called before it takes its first block. NULL: there is no
   * memory for one more, and the member takes no part. May be absent: ctx. */
  void *(*enter)(void *ctx);
  /* Runs the block [begin, end). Returns what the member goes on with; NULL: the member
   * has nothing to go on with and ends. */
  void *(*block)(void *own, size_t begin, size_t end, void *ctx);
  /* The member ends with `own`, which is not NULL. May be absent. */
  void (*leave)(void *own, void *ctx);
  void *ctx;      /* of all functions */
  size_t max_len; /* of a block, at least 1 */
  /* May be NULL. Called before a block of about `length` elements is taken, for callers
   * that cut or stop at places of their own. Returns where the block ends, in (begin, n];
   * or `begin`: nothing from there on is wanted any more, and it stays so. */
  size_t (*end)(size_t begin, size_t length, const void *ctx);
  bool records_blocks; /* the blocks say themselves in traces that they run */
} wf_crew;

/* Runs blocks of [0, n) with wf_par_crew(opts) members, or n if that is less. Blocks are
 * disjoint, ascend in the order in which they are taken, and cover [0, result); each one
 * that was taken is run. The result is n unless the work was over or cancelled, or all
 * members have ended for want of memory. The options' min_len and max_len hold for
 * blocks as far as crew->max_len allows, but not where there is an `end`, which has to
 * see to min_len itself. Where max_len is less than twice min_len, the last block may be
 * shorter. */
size_t wf_crew_run(const weft_opts *opts, size_t n, const wf_crew *crew);

#endif
