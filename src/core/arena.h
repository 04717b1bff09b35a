/* core/arena.h - where spawned tasks get their memory: one arena per worker.
 *
 * Cells come in six sizes, are cut from slabs and recycled until the arena dies, so that
 * memory is bounded by the most tasks that were alive at once. The owner takes and puts
 * cells without any atomic operation. A cell that ends its life on another thread goes
 * back to its home arena through a list that any thread pushes to; the owner takes the
 * whole list at once, so there is no ABA.
 *
 * Who calls what: [owner] only the thread that is in the worker's place, [any] every
 * thread. A cell knows its home, which must still exist when it is given back.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_CORE_ARENA_H
#define WF_CORE_ARENA_H

#include "assert.h"
#include "atomic.h"

/* Sizes in bytes, header included. The smallest is a cache line: a task without copied
 * arguments takes exactly that (src/sched/spawn.c). The largest is a choice: a copy of
 * 2 KiB costs more than a malloc, so larger cells gain little. */
enum {
  WF_ARENA_SMALLEST = 64,
  WF_ARENA_CLASSES = 6, /* 64, 128, ... 2048 */
  WF_ARENA_LARGEST = WF_ARENA_SMALLEST << (WF_ARENA_CLASSES - 1)
};

/* The head of every cell. home = arena + class, where the arena's address has its low
 * six bits 0; in a debug build + WF_CELL_FREE while the cell is in a list of free ones.
 * A cell that malloc made has home = 0. */
typedef struct wf_cell {
  struct wf_cell *next; /* in a list of free cells; the user's while it is taken */
  uintptr_t home;
} wf_cell;

enum { WF_CELL_CLASS_MASK = 7, WF_CELL_FREE = 32 };
_Static_assert((int)WF_ARENA_CLASSES <= (int)WF_CELL_CLASS_MASK, "a class fits");

/* The head of each piece of memory that cells are cut from. */
typedef struct wf_slab {
  struct wf_slab *next;
} wf_slab;

/* Aligned to a cache line, so that the low bits of its address are free for a class.
 * Invariants, which wf_arena_check asserts:
 *
 *     each cell in free[c], and in x_returned with class c: home = arena + c, and free
 *     [unused, unused + unused_size) is the end of the newest slab, in whole cache lines
 */
typedef struct wf_arena {
  wf_cell *free[WF_ARENA_CLASSES];
  char *unused; /* the part of the newest slab that was not cut yet */
  size_t unused_size;
  wf_slab *slabs;   /* the newest first */
  wf_cell *waiting; /* cells that are home and not in the lists yet; see arena.c */
  /* Cells of one other arena that were given back here and not sent home yet. */
  wf_cell *away;
  unsigned away_count;
  bool collects; /* constant: whether there are any */
  /* Pushed to by other threads. */
  _Alignas(WF_CACHE_LINE) wf_ptr x_returned;
} wf_arena;

/* An arena of zeros is ready: it has no memory yet. */
void wf_arena_destroy(wf_arena *arena);

/* [owner] The slow half of wf_arena_take. */
wf_cell *wf_arena_refill(wf_arena *arena, unsigned size_class);

/* [owner] Asserts the invariants of the arena. Nothing in a release. */
void wf_arena_check(const wf_arena *arena);

/* The smallest class with cells of this size, header included; WF_ARENA_CLASSES if there
 * is none. */
static inline unsigned wf_arena_class(size_t size) {
  unsigned size_class = 0;
  while (size_class < WF_ARENA_CLASSES &&
         ((size_t)WF_ARENA_SMALLEST << size_class) < size)
    size_class++;
  return size_class;
}

static inline unsigned wf_cell_class(const wf_cell *cell) {
  return (unsigned)(cell->home & WF_CELL_CLASS_MASK);
}

/* Debug builds note which cells are free, so that one that is given back twice, or used
 * for another arena, is noticed at once. */
static inline void wf_cell_note_free(wf_cell *cell) {
  (void)cell;
#ifdef WEFT_DEBUG
  WF_ASSERT((cell->home & WF_CELL_FREE) == 0);
  cell->home |= WF_CELL_FREE;
#endif
}
static inline void wf_cell_note_taken(wf_cell *cell) {
  (void)cell;
#ifdef WEFT_DEBUG
  WF_ASSERT((cell->home & WF_CELL_FREE) != 0);
  cell->home &= ~(uintptr_t)WF_CELL_FREE;
#endif
}

/* [owner] A cell of a class, at a cache line's start; NULL if there is no memory. */
static inline wf_cell *wf_arena_take(wf_arena *arena, unsigned size_class) {
  WF_ASSERT(size_class < WF_ARENA_CLASSES);
  wf_cell *cell = arena->free[size_class];
  if (cell == NULL) return wf_arena_refill(arena, size_class);
  arena->free[size_class] = cell->next;
  wf_cell_note_taken(cell);
  WF_ASSERT(cell->home == ((uintptr_t)arena | size_class));
  return cell;
}

/* [owner] Puts a cell, which is noted as free, into the list of its class. */
static inline void wf_arena_put(wf_arena *arena, wf_cell *cell, unsigned size_class) {
  WF_ASSERT(cell->home == ((uintptr_t)arena | size_class | WF_CELL_FREE));
  cell->next = arena->free[size_class];
  arena->free[size_class] = cell;
}

/* A cell from malloc, for threads that have no arena and for sizes beyond the largest
 * class; size with the header. */
wf_cell *wf_cell_allocate(size_t size);

/* [any] The slow half of wf_cell_give_back: the cell's home is not `mine`. */
void wf_cell_send_home(wf_cell *cell);

/* [owner] The same for an arena that collects: cells go home in groups. */
void wf_arena_collect(wf_arena *arena, wf_cell *cell);

/* [owner] Sends home what was collected. */
void wf_arena_send_away_slow(wf_arena *arena);
static inline void wf_arena_send_away(wf_arena *arena) {
  if (arena->away_count > 0) wf_arena_send_away_slow(arena);
}

/* [any] Gives a cell back. `mine` is the arena of the calling thread, or NULL. */
static inline void wf_cell_give_back(wf_cell *cell, wf_arena *mine) {
  unsigned size_class = wf_cell_class(cell);
  if (mine == NULL || cell->home != ((uintptr_t)mine | size_class)) {
    if (mine != NULL && mine->collects)
      wf_arena_collect(mine, cell);
    else
      wf_cell_send_home(cell);
    return;
  }
  wf_cell_note_free(cell);
  wf_arena_put(mine, cell, size_class);
}

#endif
