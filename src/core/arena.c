/* core/arena.c - the slow halves of the arenas: slabs, and cells that come home.
 *
 * Called by weft_spawn and by the thread that has run a spawned task (src/sched/spawn.c).
 * The list x_returned is the only thing that several threads touch; all else is the
 * owner's.
 *
 * SPDX-License-Identifier: MIT */
#include "arena.h"

#include "aligned.h"

#include <stdlib.h>

/* Slabs grow with the arena, so that a worker that spawns little has little: the first is
 * a page, and each is twice as large as the one before up to 16 pages. Larger ones would
 * not be called for much less often; it is a choice. The first line of a slab links it to
 * the others. */
enum { FIRST_SLAB = 4096, LARGEST_SLAB = 65536 };

/* The largest group of cells that goes home at once: a choice, about as many tasks as a
 * thief takes in a batch. */
enum { MOST_AWAY = 32 };

static wf_arena *home_of(const wf_cell *cell) {
  return (wf_arena *)(cell->home & ~(uintptr_t)(WF_CACHE_LINE - 1));
}

#ifdef WEFT_DEBUG

static void check_list(const wf_arena *arena, const wf_cell *cell, unsigned size_class) {
  for (; cell != NULL; cell = cell->next) {
    WF_ASSERT_SLOW(((uintptr_t)cell & (WF_CACHE_LINE - 1)) == 0);
    WF_ASSERT_SLOW(cell->home == ((uintptr_t)arena | size_class | WF_CELL_FREE));
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
  char *memory = (char *)wf_aligned_alloc(WF_CACHE_LINE, size);
  if (memory == NULL) return false;
  wf_slab *slab = (wf_slab *)(void *)memory;
  slab->next = arena->slabs;
  arena->slabs = slab;
  arena->unused = memory + WF_CACHE_LINE;
  arena->unused_size = size - WF_CACHE_LINE;
  return true;
}

/* The first cell of a group that other threads have sent home. x_older is written last,
 * when the group is in the list already. */
typedef struct cell_group {
  wf_cell cell; /* .next links the cells of the group */
  wf_ptr x_older;
  wf_cell *waiting; /* the owner's: the next group that it has found not linked */
} cell_group;

_Static_assert(sizeof(cell_group) <= WF_ARENA_SMALLEST, "a group fits into a cell");

static char not_linked; /* its address in x_older: the pusher has not come to that yet */

static cell_group *group_of(wf_cell *first) {
  return (cell_group *)(void *)first;
}

/* Puts the cells of a group into their lists. */
static void put_group(wf_arena *arena, wf_cell *cell) {
  while (cell != NULL) {
    wf_cell *next = cell->next;
    WF_ASSERT(home_of(cell) == arena);
    wf_arena_put(arena, cell, wf_cell_class(cell));
    cell = next;
  }
}

/* Puts the cells of this group and of all older ones into their lists, up to a group that
 * is not linked to an older one yet: that one waits. */
static void put_groups(wf_arena *arena, wf_cell *first) {
  while (first != NULL) {
    /* Acquire: pairs with the release in push_group: the pusher does not touch the cell
     * any more. explorer: relaxed suffices for the values. But the next use of the cell,
     * which the explorer does not see, writes to the place of x_older. */
    void *older = wf_ptr_load_acquire(&group_of(first)->x_older);
    if (older == &not_linked) {
      group_of(first)->waiting = arena->waiting;
      arena->waiting = first;
      return;
    }
    put_group(arena, first);
    first = (wf_cell *)older;
  }
}

/* Puts the cells that other threads have sent home into their lists. Nobody waits for a
 * thread that was stopped in push_group: its group, and what was in the list below it,
 * are looked at again the next time, and groups that come later are not held up by it. */
static void take_returned(wf_arena *arena) {
  wf_cell *waiting = arena->waiting;
  arena->waiting = NULL;
  while (waiting != NULL) {
    wf_cell *next = group_of(waiting)->waiting;
    put_groups(arena, waiting);
    waiting = next;
  }
  /* Acquire: pairs with the release in push_group. All pushes are read-modify-writes, so
   * this one comes after every group in the list, not only after the newest. */
  put_groups(arena, (wf_cell *)wf_ptr_exchange_acquire(&arena->x_returned, NULL));
}

/* What is left of a slab that is too small for the wanted size is cut into the smallest
 * cells, so nothing is lost. */
static void cut_rest(wf_arena *arena) {
  while (arena->unused_size >= WF_ARENA_SMALLEST) {
    wf_cell *cell = (wf_cell *)(void *)arena->unused;
    cell->home = (uintptr_t)arena;
    wf_cell_note_free(cell);
    wf_arena_put(arena, cell, 0);
    arena->unused += WF_ARENA_SMALLEST;
    arena->unused_size -= WF_ARENA_SMALLEST;
  }
}

wf_cell *wf_arena_refill(wf_arena *arena, unsigned size_class) {
  WF_ASSERT(arena->free[size_class] == NULL);
  size_t size = (size_t)WF_ARENA_SMALLEST << size_class;
  /* Relaxed: only a look; the exchange decides. */
  if (arena->waiting != NULL || wf_ptr_load_relaxed(&arena->x_returned) != NULL) {
    take_returned(arena);
    if (arena->free[size_class] != NULL) return wf_arena_take(arena, size_class);
  }
  if (arena->unused_size < size) {
    cut_rest(arena);
    if (!add_slab(arena)) return NULL;
  }
  WF_ASSERT(arena->unused_size >= size);
  wf_cell *cell = (wf_cell *)(void *)arena->unused;
  arena->unused += size;
  arena->unused_size -= size;
  cell->home = (uintptr_t)arena | size_class;
  return cell;
}

wf_cell *wf_cell_allocate(size_t size) {
  WF_ASSERT(size >= sizeof(wf_cell));
  wf_cell *cell = (wf_cell *)malloc(size);
  if (cell != NULL) cell->home = 0;
  return cell;
}

/* Sends a group of free cells home, linked from `first` on. A compare-and-swap would fail
 * again and again where many threads do that at once: with 64 cores each group took 61
 * transfers of the line. An exchange takes one. */
static void push_group(wf_cell *first) {
  cell_group *pushed = group_of(first);
  wf_arena *home = home_of(first);
  wf_ptr_store_relaxed(&pushed->x_older, &not_linked); /* the exchange publishes it */
  /* acq_rel: pairs with the acquire in take_returned. explorer: release suffices, the
   * older group is only pointed to. */
  void *older = wf_ptr_exchange_acq_rel(&home->x_returned, first);
  /* Release: pairs with the acquire in take_returned. The owner does not touch the group
   * before it has seen this, and this thread not after it. */
  wf_ptr_store_release(&pushed->x_older, older);
}

void wf_cell_send_home(wf_cell *cell) {
  if (cell->home == 0) {
    free(cell);
    return;
  }
  WF_ASSERT(wf_cell_class(cell) < WF_ARENA_CLASSES);
  wf_cell_note_free(cell);
  cell->next = NULL;
  push_group(cell);
}

void wf_arena_send_away_slow(wf_arena *arena) {
  WF_ASSERT(arena->away_count > 0 && arena->away_count <= MOST_AWAY);
  push_group(arena->away);
  arena->away = NULL;
  arena->away_count = 0;
}

void wf_arena_collect(wf_arena *arena, wf_cell *cell) {
  if (cell->home == 0) {
    free(cell);
    return;
  }
  WF_ASSERT(arena->collects && home_of(cell) != arena);
  wf_cell_note_free(cell);
  if (arena->away_count > 0 && home_of(arena->away) != home_of(cell))
    wf_arena_send_away_slow(arena);
  cell->next = arena->away;
  arena->away = cell;
  if (++arena->away_count == MOST_AWAY) wf_arena_send_away_slow(arena);
}

void wf_arena_destroy(wf_arena *arena) {
  wf_arena_check(arena);
  while (arena->slabs != NULL) {
    wf_slab *next = arena->slabs->next;
    wf_aligned_free(arena->slabs);
    arena->slabs = next;
  }
}
