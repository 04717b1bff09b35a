/* core/arena.c - slabs, and blocks that come home. See arena.h.
 *
 * SPDX-License-Identifier: MIT */
#include "arena.h"

#include <stdlib.h>

/* Slabs grow with the arena, so that a worker that spawns little has little. The first
 * line of a slab links it to the others. */
enum { FIRST_SLAB = 4096, LARGEST_SLAB = 65536 };

static wf_arena *home_of(const wf_block *block) {
  return (wf_arena *)(block->home & ~(uintptr_t)(WF_CACHE_LINE - 1));
}

static bool add_slab(wf_arena *arena) {
  size_t size = FIRST_SLAB;
  for (const wf_slab *slab = arena->slabs; slab != NULL && size < LARGEST_SLAB;
       slab = slab->next)
    size *= 2;
  char *memory = (char *)aligned_alloc(WF_CACHE_LINE, size);
  if (memory == NULL) return false;
  wf_slab *slab = (wf_slab *)(void *)memory;
  slab->next = arena->slabs;
  arena->slabs = slab;
  arena->unused = memory + WF_CACHE_LINE;
  arena->unused_size = size - WF_CACHE_LINE;
  return true;
}

/* Puts the blocks that other threads have sent home into their lists. */
static void take_returned(wf_arena *arena) {
  /* Acquire: pairs with the release in wf_block_send_home. */
  wf_block *block = (wf_block *)wf_ptr_exchange_acquire(&arena->x_returned, NULL);
  while (block != NULL) {
    wf_block *next = block->next;
    wf_block_give_back(block, arena);
    block = next;
  }
}

/* What is left of a slab that is too small for the wanted size is cut into the smallest
 * blocks, so nothing is lost. */
static void cut_rest(wf_arena *arena) {
  while (arena->unused_size >= WF_ARENA_SMALLEST) {
    wf_block *block = (wf_block *)(void *)arena->unused;
    block->home = (uintptr_t)arena;
    block->next = arena->free[0];
    arena->free[0] = block;
    arena->unused += WF_ARENA_SMALLEST;
    arena->unused_size -= WF_ARENA_SMALLEST;
  }
}

wf_block *wf_arena_refill(wf_arena *arena, unsigned size_class) {
  size_t size = (size_t)WF_ARENA_SMALLEST << size_class;
  /* Relaxed: only a look; the exchange decides. */
  if (wf_ptr_load_relaxed(&arena->x_returned) != NULL) {
    take_returned(arena);
    wf_block *block = arena->free[size_class];
    if (block != NULL) {
      arena->free[size_class] = block->next;
      return block;
    }
  }
  if (arena->unused_size < size) {
    cut_rest(arena);
    if (!add_slab(arena)) return NULL;
  }
  wf_block *block = (wf_block *)(void *)arena->unused;
  arena->unused += size;
  arena->unused_size -= size;
  block->home = (uintptr_t)arena | size_class;
  return block;
}

wf_block *wf_block_allocate(size_t size) {
  wf_block *block = (wf_block *)malloc(size);
  if (block != NULL) block->home = 0;
  return block;
}

void wf_block_send_home(wf_block *block) {
  if (block->home == 0) {
    free(block);
    return;
  }
  wf_ptr *list = &home_of(block)->x_returned;
  void *first = wf_ptr_load_relaxed(list); /* relaxed: the CAS decides */
  do {
    block->next = (wf_block *)first;
    /* Release: pairs with the acquire in take_returned. */
  } while (!wf_ptr_cas_release(list, &first, block));
}

void wf_arena_destroy(wf_arena *arena) {
  while (arena->slabs != NULL) {
    wf_slab *next = arena->slabs->next;
    free(arena->slabs);
    arena->slabs = next;
  }
}
