/* par/scratch.c - see scratch.h.
 *
 * SPDX-License-Identifier: MIT */
#include "scratch.h"

#include "../pool/pool.h"
#include "../task/join.h"

#include <stdint.h>
#include <stdlib.h>

/* Smaller blocks malloc itself keeps; larger ones are too much to hold on to. */
enum { KEEP_LEAST = 16 << 20, KEEP_MOST = 256 << 20 };

/* At the start of a block. */
typedef struct scratch_head {
  size_t size; /* of what is behind it */
} scratch_head;

static bool is_kept(size_t size) {
  return size >= KEEP_LEAST && size <= KEEP_MOST && wf_self != NULL;
}

/* What the pool has kept, and puts `block`, which may be NULL, in its place. */
static scratch_head *exchange_kept(scratch_head *block) {
  wf_word *kept = &wf_worker_of(wf_self)->pool->x_kept;
  /* Pairs with itself: who takes a block comes after the one that has put it there. */
  return (scratch_head *)wf_word_exchange_seq_cst(kept, (uintptr_t)block);
}

static scratch_head *new_block(size_t size) {
  const size_t more = 2 * WF_CACHE_LINE; /* for the head, and to reach a line's start */
  if (size > SIZE_MAX - more) return NULL;
  scratch_head *block = (scratch_head *)malloc(size + more);
  if (block == NULL) return NULL;
  wf_sys_prefer_large_pages(block, size + more);
  block->size = size;
  return block;
}

wf_scratch wf_scratch_get(size_t size) {
  wf_scratch scratch = {NULL, NULL, size};
  scratch_head *block = is_kept(size) ? exchange_kept(NULL) : NULL;
  if (block != NULL && block->size < size) {
    free(block);
    block = NULL;
  }
  if (block == NULL) block = new_block(size);
  if (block == NULL) return scratch;
  uintptr_t behind = (uintptr_t)(block + 1) + WF_CACHE_LINE - 1;
  scratch.block = block;
  scratch.memory = (void *)(behind / WF_CACHE_LINE * WF_CACHE_LINE);
  return scratch;
}

void wf_scratch_put(wf_scratch scratch) {
  scratch_head *block = (scratch_head *)scratch.block;
  if (block != NULL && is_kept(scratch.size) &&
      wf_sys_lend_memory(scratch.memory, scratch.size)) {
    /* The larger of the two; if others put theirs there meanwhile, the last one. */
    scratch_head *other = exchange_kept(NULL);
    bool is_larger = other == NULL || block->size >= other->size;
    scratch_head *smaller = is_larger ? other : block;
    free(smaller);
    block = exchange_kept(is_larger ? block : other);
  }
  free(block);
}
