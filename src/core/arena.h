/* core/arena.h - where spawned tasks get their memory: one arena per worker.
 *
 * Blocks come in six sizes, are cut from slabs and recycled for ever, so that memory is
 * bounded by the most tasks that were alive at once. The owner takes and puts blocks
 * without any atomic operation. A block that ends its life on another thread goes back to
 * its home arena through a list that any thread pushes to; the owner takes the whole list
 * at once, so there is no ABA.
 *
 * Who calls what: [owner] only the thread that is in the worker's place, [any] every
 * thread. A block knows its home, which must still exist when it is given back.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_CORE_ARENA_H
#define WF_CORE_ARENA_H

#include "atomic.h"

enum {
  WF_ARENA_SMALLEST = 64,
  WF_ARENA_CLASSES = 6, /* 64, 128, ... 2048 bytes, header included */
  WF_ARENA_LARGEST = WF_ARENA_SMALLEST << (WF_ARENA_CLASSES - 1)
};

/* The head of every block. */
typedef struct wf_block {
  struct wf_block *next; /* in a list of free blocks; the user's while it is taken */
  uintptr_t home;        /* the arena, plus the class; 0: made by malloc */
} wf_block;

/* The head of each piece of memory that blocks are cut from. */
typedef struct wf_slab {
  struct wf_slab *next;
} wf_slab;

/* Aligned to a cache line, so that the low bits of its address are free for a class. */
typedef struct wf_arena {
  wf_block *free[WF_ARENA_CLASSES];
  char *unused; /* the part of the newest slab that was not cut yet */
  size_t unused_size;
  wf_slab *slabs;
  /* Pushed to by other threads. */
  _Alignas(WF_CACHE_LINE) wf_ptr x_returned;
} wf_arena;

/* An arena of zeros is ready: it has no memory yet. */
void wf_arena_destroy(wf_arena *arena);

/* [owner] The slow half of wf_arena_take. */
wf_block *wf_arena_refill(wf_arena *arena, unsigned size_class);

/* The smallest class for so many bytes, header included; WF_ARENA_CLASSES if none. */
static inline unsigned wf_arena_class(size_t size) {
  unsigned size_class = 0;
  while (size_class < WF_ARENA_CLASSES &&
         ((size_t)WF_ARENA_SMALLEST << size_class) < size)
    size_class++;
  return size_class;
}

/* [owner] A block of a class, at a cache line's start; NULL if there is no memory. */
static inline wf_block *wf_arena_take(wf_arena *arena, unsigned size_class) {
  wf_block *block = arena->free[size_class];
  if (block == NULL) return wf_arena_refill(arena, size_class);
  arena->free[size_class] = block->next;
  return block;
}

/* A block from malloc, for threads that have no arena and for sizes beyond the largest
 * class; size with the header. */
wf_block *wf_block_allocate(size_t size);

/* [any] The slow half of wf_block_give_back: the block's home is not `mine`. */
void wf_block_send_home(wf_block *block);

/* [any] Gives a block back. `mine` is the arena of the calling thread, or NULL. */
static inline void wf_block_give_back(wf_block *block, wf_arena *mine) {
  unsigned size_class = (unsigned)(block->home & (WF_CACHE_LINE - 1));
  if (block->home - size_class != (uintptr_t)mine || mine == NULL) {
    wf_block_send_home(block);
    return;
  }
  block->next = mine->free[size_class];
  mine->free[size_class] = block;
}

#endif
