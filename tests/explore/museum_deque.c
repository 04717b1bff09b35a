/* museum/deque.c - defects of work-stealing deques: a small growing deque of Chase and
 * Lev, and the ways in which published ones have lost tasks or run them twice.
 *
 * SPDX-License-Identifier: MIT */
#include "museum.h"

#include <stdlib.h>

enum {
  STALE_RING = 1,     /* the ring is read before top: a task of another lap is taken */
  RELAXED_RING,       /* a new ring is published without order: empty slots are read */
  RING_FREED_EARLY,   /* the old ring is freed while thieves read from it */
  READ_AFTER_CAS,     /* the slot is read when it may already have been used again */
  NO_FENCE_IN_POP,    /* the owner's look at top comes before its store of bottom */
  NO_FENCE_IN_STEAL,  /* the thief's look at bottom is older than its look at top */
  RELAXED_PUSH,       /* bottom does not publish the slot, nor what is in it */
  RELAXED_POP,        /* nor do the owner's other stores of bottom */
  UNSIGNED_UNDERFLOW, /* an empty deque at index 0 looks full */
  NO_CAS_FOR_LAST,    /* owner and thief both take the last task */
  GROWS_TOO_LATE      /* a full ring takes one more */
};

enum { NONE = 0, AGAIN = 100, ITEMS = 6 };

typedef struct ring {
  struct ring *older;
  uint64_t capacity;
  wf_u64 slots[];
} ring;

static wf_u64 x_top, x_bottom;
static wf_ptr x_ring;
static wf_u32 x_taken[ITEMS];
static int payload[ITEMS];

static ring *make_ring(uint64_t capacity, ring *older) {
  ring *made = malloc(sizeof *made + capacity * sizeof made->slots[0]);
  made->older = older;
  made->capacity = capacity;
  for (uint64_t i = 0; i < capacity; i++) wf_u64_init(&made->slots[i], NONE);
  return made;
}

static ring *grow(ring *old, uint64_t top, uint64_t bottom) {
  bool is_freed = defect == RING_FREED_EARLY;
  ring *made = make_ring(old->capacity * 2, is_freed ? NULL : old);
  for (uint64_t i = top; i != bottom; i++)
    wf_u64_store_relaxed(&made->slots[i % made->capacity],
                         wf_u64_load_relaxed(&old->slots[i % old->capacity]));
  if (defect == RELAXED_RING)
    wf_ptr_store_relaxed(&x_ring, made);
  else
    wf_ptr_store_release(&x_ring, made);
  if (is_freed) free(old);
  return made;
}

static void push(uint64_t item) {
  uint64_t bottom = wf_u64_load_relaxed(&x_bottom);
  uint64_t top = wf_u64_load_acquire(&x_top);
  ring *here = wf_ptr_load_relaxed(&x_ring);
  uint64_t room = defect == GROWS_TOO_LATE ? here->capacity + 1 : here->capacity;
  payload[item] = (int)item;
  if (bottom - top >= room) here = grow(here, top, bottom);
  wf_u64_store_relaxed(&here->slots[bottom % here->capacity], item);
  if (defect == RELAXED_PUSH)
    wf_u64_store_relaxed(&x_bottom, bottom + 1);
  else
    wf_u64_store_release(&x_bottom, bottom + 1);
}

static void set_bottom(uint64_t bottom) {
  if (defect == RELAXED_POP)
    wf_u64_store_relaxed(&x_bottom, bottom);
  else
    wf_u64_store_release(&x_bottom, bottom);
}

static uint64_t pop(void) {
  uint64_t bottom = wf_u64_load_relaxed(&x_bottom) - 1;
  ring *here = wf_ptr_load_relaxed(&x_ring);
  set_bottom(bottom);
  if (defect != NO_FENCE_IN_POP) wf_fence_seq_cst();
  uint64_t top = wf_u64_load_relaxed(&x_top);
  bool is_empty =
      defect == UNSIGNED_UNDERFLOW ? bottom < top : (int64_t)(bottom - top) < 0;
  if (is_empty) {
    set_bottom(bottom + 1);
    return NONE;
  }
  uint64_t item = wf_u64_load_relaxed(&here->slots[bottom % here->capacity]);
  if (bottom != top) return item;
  if (defect == NO_CAS_FOR_LAST)
    wf_u64_store_relaxed(&x_top, top + 1);
  else if (!wf_u64_cas_seq_cst(&x_top, &top, bottom + 1))
    item = NONE;
  set_bottom(bottom + 1);
  return item;
}

static uint64_t steal(void) {
  ring *here = defect == STALE_RING ? wf_ptr_load_acquire(&x_ring) : NULL;
  uint64_t top = wf_u64_load_acquire(&x_top);
  if (defect != NO_FENCE_IN_STEAL) wf_fence_seq_cst();
  uint64_t bottom = wf_u64_load_acquire(&x_bottom);
  if ((int64_t)(bottom - top) <= 0) return NONE;
  if (defect == RELAXED_RING) here = wf_ptr_load_relaxed(&x_ring);
  if (here == NULL) here = wf_ptr_load_acquire(&x_ring);
  const wf_u64 *slot = &here->slots[top % here->capacity];
  uint64_t item = defect == READ_AFTER_CAS ? NONE : wf_u64_load_relaxed(slot);
  if (!wf_u64_cas_seq_cst(&x_top, &top, top + 1)) return AGAIN;
  return defect == READ_AFTER_CAS ? wf_u64_load_relaxed(slot) : item;
}

/* ---- exactly once ---- */

static void note(uint64_t item) {
  if (item == NONE || item == AGAIN) return;
  XP_CHECK(payload[item] == (int)item);
  XP_CHECK(wf_u32_fetch_add_relaxed(&x_taken[item], 1) == 0);
}

static void note_stolen(void) {
  note(steal());
}

static void empty_deque(void) {
  wf_u64_init(&x_top, 0);
  wf_u64_init(&x_bottom, 0);
  wf_ptr_init(&x_ring, make_ring(2, NULL));
  for (int i = 0; i < ITEMS; i++) {
    wf_u32_init(&x_taken[i], 0);
    payload[i] = 0;
  }
}

static void deque_of_two(void) {
  empty_deque();
  push(1);
  push(2);
}

static void free_rings(void) {
  ring *here = wf_ptr_load_relaxed(&x_ring);
  while (here != NULL) {
    ring *older = here->older;
    free(here);
    here = older;
  }
}

/* The tasks 1 .. count have all been taken, once each, counting what is left. */
static void check_all(uint64_t count) {
  uint64_t item;
  while ((item = pop()) != NONE) note(item);
  for (uint64_t i = 1; i <= count; i++) XP_CHECK(wf_u32_load_relaxed(&x_taken[i]) == 1);
  free_rings();
}

static void check_two(void) {
  check_all(2);
}
static void check_three(void) {
  check_all(3);
}

static void thief(void) {
  note_stolen();
}
static void thief_of_two(void) {
  note_stolen();
  note_stolen();
}

static void owner_pushes_one(void) {
  push(3);
}
static void owner_pops_two(void) {
  note(pop());
  note(pop());
}
static void owner_pushes_and_pops(void) {
  push(1);
  push(2);
  note(pop());
}

EXHIBIT(deque_stale_ring, STALE_RING, XP_ASSERTION, XP_ALL_MODES, deque_of_two,
        .threads = {owner_pushes_one, thief, thief_of_two}, .check = check_three)

EXHIBIT(deque_relaxed_ring, RELAXED_RING, XP_RACE, XP_RA, deque_of_two,
        .threads = {owner_pushes_one, thief}, .check = check_three)

/* In SC mode the first that is found is the race of the free with the read. */
EXHIBIT(deque_ring_freed_early, RING_FREED_EARLY, XP_DEAD, XP_TSO | XP_RA, deque_of_two,
        .threads = {owner_pushes_one, thief}, .check = check_three)

EXHIBIT(deque_read_after_cas, READ_AFTER_CAS, XP_ASSERTION, XP_ALL_MODES, deque_of_two,
        .threads = {owner_pushes_one, thief}, .check = check_three)

EXHIBIT(deque_no_fence_in_pop, NO_FENCE_IN_POP, XP_ASSERTION, XP_TSO | XP_RA,
        deque_of_two, .threads = {owner_pops_two, thief_of_two}, .check = check_two)

EXHIBIT(deque_no_fence_in_steal, NO_FENCE_IN_STEAL, XP_ASSERTION, XP_RA, deque_of_two,
        .threads = {owner_pops_two, thief_of_two}, .check = check_two)

EXHIBIT(deque_relaxed_push, RELAXED_PUSH, XP_ASSERTION, XP_RA, deque_of_two,
        .threads = {owner_pushes_one, thief, thief_of_two}, .check = check_three)

EXHIBIT(deque_relaxed_pop, RELAXED_POP, XP_ASSERTION, XP_RA, empty_deque,
        .threads = {owner_pushes_and_pops, thief}, .check = check_two)

static void owner_pops_nothing(void) {
  XP_CHECK(pop() == NONE);
  XP_CHECK(wf_u64_load_relaxed(&x_bottom) == wf_u64_load_relaxed(&x_top));
}

static void check_empty(void) {
  free_rings();
}

EXHIBIT(deque_unsigned_underflow, UNSIGNED_UNDERFLOW, XP_ASSERTION, XP_ALL_MODES,
        empty_deque, .threads = {owner_pops_nothing}, .check = check_empty)

EXHIBIT(deque_no_cas_for_last, NO_CAS_FOR_LAST, XP_ASSERTION, XP_ALL_MODES, deque_of_two,
        .threads = {owner_pops_two, thief}, .check = check_two)

EXHIBIT(deque_grows_too_late, GROWS_TOO_LATE, XP_ASSERTION, XP_ALL_MODES, deque_of_two,
        .threads = {owner_pushes_one, thief}, .check = check_three)
