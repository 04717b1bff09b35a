/* core/arena.c - the slow halves of the arenas: slabs, and blocks that come home.
 *
 * Called by weft_spawn and by the thread that has run a spawned task (src/sched/spawn.c).
 * The list x_returned is the only thing that several threads touch; all else is the
 * owner's.
 *
 * SPDX-License-Identifier: MIT */
#include "arena.h"

#include <stdlib.h>

/* Slabs grow with the arena, so that a worker that spawns little has little: the first is
 * a page, and each is twice as large as the one before up to 16 pages. Larger ones would
 * not be called for much less often; it is a choice. The first line of a slab links it to
 * the others. */
enum { FIRST_SLAB = 4096, LARGEST_SLAB = 65536 };

static wf_arena *home_of(const wf_block *block) {
  return (wf_arena *)(block->home & ~(uintptr_t)(WF_CACHE_LINE - 1));
}

#ifdef WEFT_DEBUG

static void check_list(const wf_arena *arena, const wf_block *block,
                       unsigned size_class) {
  for (; block != NULL; block = block->next) {
    WF_ASSERT_SLOW(((uintptr_t)block & (WF_CACHE_LINE - 1)) == 0);
    WF_ASSERT_SLOW(block->home == ((uintptr_t)arena | size_class | WF_BLOCK_FREE));
  }
}

void wf_arena_check(const wf_arena *arena) {
  WF_ASSERT(((uintptr_t)arena & (WF_CACHE_LINE - 1)) == 0);
  WF_ASSERT(((uintptr_t)arena->unused & (WF_CACHE_LINE - 1)) == 0);
  WF_ASSERT((arena->unused_size & (WF_CACHE_LINE - 1)) == 0);
  WF_ASSERT(arena->unused_size < LARGEST_SLAB);
  WF_ASSERT((arena->slabs == NULL) == (arena->unused == NULL));
  WF_ASSERT(arena->unused == NULL || arena->unused > (const char *)arena->slabs);
  for (unsigned c = 0; c < WF_ARENA_CLASSES; c++) check_list(arena, arena->free[c], c);
}

#else

void wf_arena_check(const wf_arena *arena) {
  (void)arena;
}

#endif

static bool add_slab(wf_arena *arena) {
  WF_ASSERT(arena->unused_size < WF_ARENA_SMALLEST); /* nothing is lost */
  wf_arena_check(arena);
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
    WF_ASSERT(home_of(block) == arena);
    wf_arena_put(arena, block, wf_block_class(block));
    block = next;
  }
}

/* What is left of a slab that is too small for the wanted size is cut into the smallest
 * blocks, so nothing is lost. */
static void cut_rest(wf_arena *arena) {
  while (arena->unused_size >= WF_ARENA_SMALLEST) {
    wf_block *block = (wf_block *)(void *)arena->unused;
    block->home = (uintptr_t)arena;
    wf_block_note_free(block);
    wf_arena_put(arena, block, 0);
    arena->unused += WF_ARENA_SMALLEST;
    arena->unused_size -= WF_ARENA_SMALLEST;
  }
}

wf_block *wf_arena_refill(wf_arena *arena, unsigned size_class) {
  WF_ASSERT(arena->free[size_class] == NULL);
  size_t size = (size_t)WF_ARENA_SMALLEST << size_class;
  /* Relaxed: only a look; the exchange decides. */
  if (wf_ptr_load_relaxed(&arena->x_returned) != NULL) {
    take_returned(arena);
    if (arena->free[size_class] != NULL) return wf_arena_take(arena, size_class);
  }
  if (arena->unused_size < size) {
    cut_rest(arena);
    if (!add_slab(arena)) return NULL;
  }
  WF_ASSERT(arena->unused_size >= size);
  wf_block *block = (wf_block *)(void *)arena->unused;
  arena->unused += size;
  arena->unused_size -= size;
  block->home = (uintptr_t)arena | size_class;
  return block;
}

wf_block *wf_block_allocate(size_t size) {
  WF_ASSERT(size >= sizeof(wf_block));
  wf_block *block = (wf_block *)malloc(size);
  if (block != NULL) block->home = 0;
  return block;
}

void wf_block_send_home(wf_block *block) {
  if (block->home == 0) {
    free(block);
    return;
  }
  WF_ASSERT(wf_block_class(block) < WF_ARENA_CLASSES);
  wf_block_note_free(block);
  wf_ptr *list = &home_of(block)->x_returned;
  void *first = wf_ptr_load_relaxed(list); /* relaxed: the CAS decides */
  do {
    block->next = (wf_block *)first;
    /* Release: pairs with the acquire in take_returned. */
  } while (!wf_ptr_cas_release(list, &first, block));
}

void wf_arena_destroy(wf_arena *arena) {
  wf_arena_check(arena);
  while (arena->slabs != NULL) {
    wf_slab *next = arena->slabs->next;
    free(arena->slabs);
    arena->slabs = next;
  }
}
