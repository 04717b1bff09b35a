/* The arena: cells of every size, recycled, sent home by other threads; memory bounded
 * by what was in use at once.
 *
 * SPDX-License-Identifier: MIT */
#include "core/arena.h"

#include "core/atomic.h"
#include "harness/harness.h"

#include <stdlib.h>
#include <string.h>

static wf_arena *new_arena(void) {
  wf_arena *arena = aligned_alloc(WF_CACHE_LINE, sizeof *arena);
  REQUIRE(arena != NULL);
  memset(arena, 0, sizeof *arena);
  return arena;
}

static void drop_arena(wf_arena *arena) {
  wf_arena_destroy(arena);
  free(arena);
}

static size_t size_of_class(unsigned size_class) {
  return (size_t)WF_ARENA_SMALLEST << size_class;
}

TEST(the_class_for_a_size) {
  CHECK_EQ(wf_arena_class(0), 0);
  CHECK_EQ(wf_arena_class(1), 0);
  for (unsigned i = 0; i < WF_ARENA_CLASSES; i++) {
    CHECK_EQ(wf_arena_class(size_of_class(i)), i);
    CHECK_EQ(wf_arena_class(size_of_class(i) + 1), i + 1);
  }
  CHECK_EQ(wf_arena_class(WF_ARENA_LARGEST + 1), WF_ARENA_CLASSES);
  CHECK_EQ(wf_arena_class(SIZE_MAX), WF_ARENA_CLASSES);
}

/* Cells do not overlap: each is filled with its own number, all are checked. */
TEST(cells_are_apart_and_aligned) {
  enum { COUNT = 2000 };
  static struct {
    wf_cell *cell;
    unsigned size_class;
  } taken[COUNT];
  uint64_t random = harness_seed();
  wf_arena *arena = new_arena();
  for (unsigned round = 0; round < 3; round++) {
    for (unsigned i = 0; i < COUNT; i++) {
      taken[i].size_class = (unsigned)(harness_random(&random) % WF_ARENA_CLASSES);
      taken[i].cell = wf_arena_take(arena, taken[i].size_class);
      REQUIRE(taken[i].cell != NULL);
      CHECK_EQ((uintptr_t)taken[i].cell % WF_CACHE_LINE, 0);
      CHECK_EQ(taken[i].cell->home, (uintptr_t)arena | taken[i].size_class);
      memset(taken[i].cell + 1, (int)(i & 0xff),
             size_of_class(taken[i].size_class) - sizeof(wf_cell));
    }
    for (unsigned i = 0; i < COUNT; i++) {
      const unsigned char *bytes = (const unsigned char *)(taken[i].cell + 1);
      size_t size = size_of_class(taken[i].size_class) - sizeof(wf_cell);
      for (size_t k = 0; k < size; k++)
        if (!CHECK_EQ(bytes[k], i & 0xff)) break;
    }
    for (unsigned i = 0; i < COUNT; i++) wf_cell_give_back(taken[i].cell, arena);
  }
  drop_arena(arena);
}

/* What is given back is found again, newest first; nothing new is cut. */
TEST(cells_are_recycled) {
  wf_arena *arena = new_arena();
  for (unsigned size_class = 0; size_class < WF_ARENA_CLASSES; size_class++) {
    wf_cell *first = wf_arena_take(arena, size_class);
    wf_cell *second = wf_arena_take(arena, size_class);
    CHECK(first != second);
    wf_cell_give_back(first, arena);
    wf_cell_give_back(second, arena);
    const wf_slab *slabs = arena->slabs;
    size_t unused = arena->unused_size;
    for (int i = 0; i < 1000; i++) {
      CHECK(wf_arena_take(arena, size_class) == second);
      CHECK(wf_arena_take(arena, size_class) == first);
      wf_cell_give_back(first, arena);
      wf_cell_give_back(second, arena);
    }
    CHECK(arena->slabs == slabs);
    CHECK_EQ(arena->unused_size, unused);
  }
  drop_arena(arena);
}

/* A slab is used to its last byte, by cells that fit it and by what is cut from the
 * rest.
 */
TEST(nothing_of_a_slab_is_lost) {
  wf_arena *arena = new_arena();
  REQUIRE(wf_arena_take(arena, 0) != NULL);
  const wf_slab *slab = arena->slabs;
  CHECK_EQ(arena->unused_size % WF_ARENA_SMALLEST, 0);
  while (arena->unused_size > 0) {
    REQUIRE(wf_arena_take(arena, 0) != NULL);
    if (!CHECK(arena->slabs == slab)) break;
  }

  REQUIRE(wf_arena_take(arena, 0) != NULL);
  CHECK(arena->slabs != slab);
  while (arena->unused_size > WF_ARENA_SMALLEST) (void)wf_arena_take(arena, 0);
  const char *rest = arena->unused;
  REQUIRE(wf_arena_take(arena, 1) != NULL); /* does not fit: another slab */
  CHECK(wf_arena_take(arena, 0) == (const void *)rest);
  drop_arena(arena);
}

TEST(cells_from_malloc) {
  wf_arena *arena = new_arena();
  wf_cell *cell = wf_cell_allocate(100 * 1000);
  REQUIRE(cell != NULL);
  CHECK_EQ(cell->home, 0);
  memset(cell + 1, 1, 100 * 1000 - sizeof *cell);
  wf_cell_give_back(cell, arena); /* a leak checker watches */
  wf_cell_give_back(wf_cell_allocate(64), NULL);
  CHECK(arena->slabs == NULL);
  drop_arena(arena);
}

/* Cells go home, not into the arena of the thread that gives them back. */
TEST(cells_of_another_arena_go_home) {
  wf_arena *mine = new_arena(), *other = new_arena();
  wf_cell *cell = wf_arena_take(other, 2);
  wf_cell_give_back(cell, mine);
  CHECK(mine->free[2] == NULL);
  CHECK(wf_arena_take(other, 2) == cell);
  wf_cell_give_back(cell, NULL); /* by a thread that has none */
  CHECK(wf_arena_take(other, 2) == cell);
  drop_arena(mine);
  drop_arena(other);
}

/* ---- one thread takes, others give back ---- */

enum { RETURNERS = 3, IN_FLIGHT = 64 };

typedef struct traffic {
  wf_arena *arena;
  wf_ptr x_boxes[RETURNERS][IN_FLIGHT];
  wf_u32 x_done;
  unsigned long rounds;
} traffic;

/* Takes cells, writes into them and leaves them in boxes. */
static void take_all(traffic *t) {
  uint64_t random = harness_seed();
  for (unsigned long i = 0; i < t->rounds; i++) {
    wf_ptr *box = &t->x_boxes[harness_random(&random) % RETURNERS][i % IN_FLIGHT];
    if (wf_ptr_load_acquire(box) != NULL) continue; /* pairs with the store below */
    wf_cell *cell = wf_arena_take(t->arena, (unsigned)(i % 3));
    REQUIRE(cell != NULL);
    memset(cell + 1, 0x5a, 32);
    wf_ptr_store_release(box, cell); /* pairs with the acquire of give_all */
  }
  wf_u32_store_release(&t->x_done, 1);
}

static void give_all(traffic *t, unsigned index) {
  bool done = false;
  while (!done) {
    done = wf_u32_load_acquire(&t->x_done) != 0;
    for (unsigned i = 0; i < IN_FLIGHT; i++) {
      wf_cell *cell = wf_ptr_load_acquire(&t->x_boxes[index][i]);
      if (cell == NULL) continue;
      memset(cell + 1, 0xa5, 32); /* the giver's last touch */
      wf_cell_give_back(cell, NULL);
      wf_ptr_store_release(&t->x_boxes[index][i], NULL);
    }
  }
}

static void take_or_give(unsigned index, void *arg) {
  traffic *t = arg;
  if (index == 0)
    take_all(t);
  else
    give_all(t, index - 1);
}

TEST(cells_come_home_from_other_threads) {
  static traffic t;
  t.arena = new_arena();
  t.rounds = 1000 * 1000 / harness_slowdown();
  harness_run_threads(1 + RETURNERS, take_or_give, &t);
  /* At most 192 cells of at most 256 bytes were alive at once, 48 KiB: few slabs. */
  unsigned slabs = 0;
  for (const wf_slab *it = t.arena->slabs; it != NULL; it = it->next) slabs++;
  CHECK_MSG(slabs <= 8, "%u slabs", slabs);
  drop_arena(t.arena);
}
