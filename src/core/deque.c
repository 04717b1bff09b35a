/* core/deque.c - the slow halves of the split deque. States, races and proofs: deque.md.
 *
 * Called by the slow halves of fork, join and spawn (owner), and by searching workers
 * (thieves). Everything that moves split, the lap, the pins or the ring happens under the
 * deque's lock, which the owner takes on its slow paths only and thieves take to ask and
 * to take over. Stealing itself takes no lock. bottom is the owner's at all times.
 *
 * SPDX-License-Identifier: MIT */
#include "deque.h"

#include "../sys/sys.h"

#include <stdlib.h>

/* Values of the pinned words: each comparison of the fast path fails against them. */
static void *const LIMIT_PINNED = NULL;
static void *const GATE_PINNED = (void *)UINTPTR_MAX;

enum { SMALLEST_CAPACITY = 2 }; /* stands_high needs an upper half */
/* Pointers to this many tasks take 8 TiB; the bound keeps sizes from overflowing. */
#define LARGEST_CAPACITY ((uint64_t)1 << 40)

/* ---- rings and positions ---- */

static wf_ring *ring_create(uint64_t capacity, wf_ring *older) {
  WF_ASSERT(capacity >= SMALLEST_CAPACITY && (capacity & (capacity - 1)) == 0);
  WF_ASSERT(older == NULL || older->capacity < capacity);
  if (capacity > LARGEST_CAPACITY || capacity > (SIZE_MAX - sizeof(wf_ring)) / 16)
    return NULL;
  wf_ring *ring =
      (wf_ring *)malloc(sizeof(wf_ring) + (size_t)capacity * sizeof ring->slots[0]);
  if (ring == NULL) return NULL;
  ring->older = older;
  ring->capacity = capacity;
  wf_ptr_store_relaxed(&ring->sentinel, NULL); /* not shared yet */
  return ring;
}

static wf_ptr *slot_of(const wf_deque *deque, uint64_t index) {
  WF_ASSERT(deque->slots != NULL);
  return &deque->slots[index & (deque->capacity - 1)];
}

/* The index of bottom. Exact for the owner. For others under the lock, after the barrier,
 * it may be one off, because a fork or join of the owner is under way: then bottom may
 * also stand one below the first slot, or at the end of the ring. */
static uint64_t bottom_index(const wf_deque *deque) {
  /* Acquire: pairs with the release stores of bottom by fork and join, so that a thief
   * that takes over sees the tasks below it. */
  const wf_ptr *bottom = (const wf_ptr *)wf_ptr_load_acquire(&deque->owner.x_bottom);
  int64_t offset = bottom - deque->slots;
  WF_ASSERT(deque->slots != NULL);
  WF_ASSERT(offset >= -1 && offset <= (int64_t)deque->capacity);
  return deque->lap + (uint64_t)offset;
}

/* [owner, locked] Puts bottom at an index and the lap where bottom is inside the ring. */
static void set_bottom(wf_deque *deque, uint64_t index) {
  WF_ASSERT_HELD(&deque->lock);
  uint64_t offset = index & (deque->capacity - 1);
  deque->lap = index - offset;
  /* Release: pairs with the acquire in bottom_index. explorer: relaxed suffices, because
   * the thief has the lock after this; but then not every store of bottom would be of
   * the same kind. */
  wf_ptr_store_release(&deque->owner.x_bottom, deque->slots + offset);
}

/* [locked] */
static void set_split(wf_deque *deque, uint64_t index) {
  WF_ASSERT_HELD(&deque->lock);
  /* Release: pairs with the acquire of split in wf_deque_steal. Every store of split is
   * release, also those that lower it, so that each one publishes the tasks below. */
  wf_u64_store_release(&deque->x_split, index);
}

/* [locked] */
static uint64_t get_split(const wf_deque *deque) {
  WF_ASSERT_HELD(&deque->lock);
  return wf_u64_load_relaxed(&deque->x_split); /* relaxed: written under the lock only */
}

/* [locked] */
static void set_asked(wf_deque *deque, uint64_t value) {
  WF_ASSERT_HELD(&deque->lock);
  /* Release: pairs with the acquire in wf_deque_asked. */
  wf_u64_store_release(&deque->x_asked, value);
}

/* [locked] */
static uint64_t get_asked(const wf_deque *deque) {
  WF_ASSERT_HELD(&deque->lock);
  return wf_u64_load_relaxed(&deque->x_asked); /* relaxed: written under the lock only */
}

/* [locked] Changes the state of the pins and keeps their count; x_asked is `asked`. */
static void set_pin_state(wf_deque *deque, uint64_t asked, uint64_t state) {
  WF_ASSERT(wf_u64_peek(&deque->x_asked) == asked);
  set_asked(deque, (asked & ~(uint64_t)WF_ASKED_STATE_MASK) | state);
}

/* ---- invariants ---- */

#ifdef WEFT_DEBUG

static uint64_t peek_state(const wf_deque *deque) {
  return wf_u64_peek(&deque->x_asked) & WF_ASKED_STATE_MASK;
}

/* The slot of an index in the lap where bottom is, as a number: it may be the end of the
 * ring. */
static uintptr_t pin_at(const wf_deque *deque, uint64_t index) {
  return (uintptr_t)deque->slots + (uintptr_t)(index - deque->lap) * sizeof(wf_ptr);
}

/* Is the first index before the second, or the same? */
static bool ordered(uint64_t first, uint64_t second) {
  return (int64_t)(second - first) >= 0;
}

static void check_ring(const wf_deque *deque) {
  const wf_ring *ring = (const wf_ring *)wf_ptr_peek(&deque->x_ring);
  WF_ASSERT(deque->capacity >= SMALLEST_CAPACITY);
  WF_ASSERT((deque->capacity & (deque->capacity - 1)) == 0);
  WF_ASSERT((deque->lap & (deque->capacity - 1)) == 0);
  WF_ASSERT((ring == NULL) == (deque->slots == NULL));
  if (ring == NULL) return;
  WF_ASSERT(deque->slots == ring->slots);
  WF_ASSERT(deque->capacity == ring->capacity);
}

/* [locked] */
static void check_pins(const wf_deque *deque) {
  uintptr_t limit = (uintptr_t)wf_ptr_peek(&deque->owner.x_limit);
  uintptr_t gate = (uintptr_t)wf_ptr_peek(&deque->owner.x_gate);
  if (peek_state(deque) != WF_ASKED_NOT) {
    WF_ASSERT(limit == (uintptr_t)LIMIT_PINNED);
    WF_ASSERT(gate == (uintptr_t)GATE_PINNED);
    return;
  }
  uint64_t split = wf_u64_peek(&deque->x_split);
  uint64_t first_private = ordered(deque->lap, split) ? split : deque->lap;
  WF_ASSERT(!wf_deque_is_eager(deque));
  WF_ASSERT(!deque->overflowed);
  WF_ASSERT(gate == pin_at(deque, first_private));
  WF_ASSERT(limit > gate || limit > (uintptr_t)deque->slots);
  WF_ASSERT(limit <= pin_at(deque, deque->lap + deque->capacity));
  /* top may have moved on since the limit was set, which only leaves more room. */
  WF_ASSERT((int64_t)(limit -
                      pin_at(deque, wf_u64_peek(&deque->x_top) + deque->capacity)) <= 0);
}

/* [locked] What every holder of the lock leaves behind. */
static void check_shared(const wf_deque *deque) {
  WF_ASSERT_HELD(&deque->lock);
  WF_ASSERT(ordered(wf_u64_peek(&deque->x_top), wf_u64_peek(&deque->x_split)));
  check_ring(deque);
  check_pins(deque);
}

void wf_deque_check(const wf_deque *deque) {
  check_shared(deque);
  if (deque->slots == NULL) return;
  uint64_t split = wf_u64_peek(&deque->x_split);
  const wf_ptr *bottom = (const wf_ptr *)wf_ptr_peek(&deque->owner.x_bottom);
  WF_ASSERT(bottom >= deque->slots && bottom < deque->slots + deque->capacity);
  uint64_t index = deque->lap + (uint64_t)(bottom - deque->slots);
  WF_ASSERT(ordered(split, index));
  WF_ASSERT(ordered(index, wf_u64_peek(&deque->x_top) + deque->capacity));
  WF_ASSERT(peek_state(deque) == WF_ASKED_NOT || split == index);
  WF_ASSERT(peek_state(deque) != WF_ASKED_NOT || deque->eager_forks == 0);
}

#else

static void check_shared(const wf_deque *deque) {
  (void)deque;
}

void wf_deque_check(const wf_deque *deque) {
  (void)deque;
}

#endif

/* ---- pins (all under the lock) ---- */

static void close_pins(wf_deque *deque) {
  WF_ASSERT(LIMIT_PINNED < GATE_PINNED);
  /* Relaxed: the owner reads them without order of its own; a barrier, if one is needed,
   * comes from the asker. */
  wf_ptr_store_relaxed(&deque->owner.x_limit, LIMIT_PINNED);
  wf_ptr_store_relaxed(&deque->owner.x_gate, GATE_PINNED);
}

/* Closes the pins if they are open. */
static void pin_locked(wf_deque *deque) {
  uint64_t asked = get_asked(deque);
  if ((asked & WF_ASKED_STATE_MASK) == WF_ASKED_NOT) {
    close_pins(deque);
    set_pin_state(deque, asked, WF_ASKED_PINNED);
  }
}

/* Sets limit and gate to where the fast path must stop by itself: at the end of the ring
 * or of its free slots, and at split or the start of the ring. */
static void open_pins(wf_deque *deque) {
  WF_ASSERT((wf_u64_peek(&deque->x_asked) & WF_ASKED_STATE_MASK) == WF_ASKED_NOT);
  WF_ASSERT(deque->slots != NULL);
  uint64_t end = deque->lap + deque->capacity;
  /* Acquire: pairs with the seq_cst CAS of the thieves: a slot below top may be reused,
   * its thief has read it. An old top leaves fewer slots, never too many. explorer:
   * needed against loads that are delayed past later stores, which it does not produce.
   */
  uint64_t full = wf_u64_load_acquire(&deque->x_top) + deque->capacity;
  uint64_t limit = (int64_t)(full - end) < 0 ? full : end;
  uint64_t split = get_split(deque);
  uint64_t gate = (int64_t)(split - deque->lap) > 0 ? split : deque->lap;
  /* Relaxed: only the owner reads them, and the owner writes them here. */
  wf_ptr_store_relaxed(&deque->owner.x_limit, deque->slots + (limit - deque->lap));
  wf_ptr_store_relaxed(&deque->owner.x_gate, deque->slots + (gate - deque->lap));
}

/* [owner] The end of each slow half. If the pins are closed and there are private tasks
 * below `end`, moves split over their older half and opens the pins. With nothing to
 * give, the pins stay closed, so that the next fork gives; and since the owner has seen
 * them, they are sealed: no thread needs a barrier to know that there is nothing. */
static void answer(wf_deque *deque, uint64_t end, wf_deque_news *news) {
  uint64_t asked = get_asked(deque);
  if ((asked & WF_ASKED_STATE_MASK) == WF_ASKED_NOT) {
    open_pins(deque);
    return;
  }
  bool stay_closed =
      wf_deque_is_eager(deque) || deque->overflowed || deque->eager_forks > 0;
  uint64_t split = get_split(deque);
  int64_t private_count = (int64_t)(end - split);
  if (private_count > 0) {
    /* Where the pins stay closed, nothing may stay private: a sealed deque has no
     * private tasks, or thieves would not look for them. */
    uint64_t give =
        stay_closed ? (uint64_t)private_count : ((uint64_t)private_count + 1) / 2;
    /* Relaxed: it does not matter whether thieves were faster than this look. */
    news->public_was_empty = wf_u64_load_relaxed(&deque->x_top) == split;
    news->exposed = (unsigned)give;
    WF_ASSERT(give >= 1 && give <= (uint64_t)private_count);
    set_split(deque, split + give);
    WF_ASSERT(wf_u64_peek(&deque->x_split) - split == news->exposed);
    if (stay_closed) { /* after split: who acquires SEALED sees it */
      set_pin_state(deque, asked, WF_ASKED_SEALED);
    } else {
      set_asked(deque, (asked & ~(uint64_t)WF_ASKED_STATE_MASK) + WF_ASKED_ONE_EPOCH);
      open_pins(deque);
    }
  } else {
    WF_ASSERT(private_count == 0);
    set_pin_state(deque, asked, WF_ASKED_SEALED);
  }
}

/* ---- life ---- */

void wf_deque_init(wf_deque *deque, size_t capacity, uint64_t first_index, bool eager) {
  uint64_t rounded = SMALLEST_CAPACITY;
  while (rounded < capacity && rounded < LARGEST_CAPACITY) rounded *= 2;
  deque->slots = NULL;
  deque->capacity = rounded;
  deque->lap = 0;
  deque->overflowed = false;
  deque->eager_forks = 0;
  deque->lock = (wf_lock){{WF_LOCK_FREE}};
  /* Relaxed stores throughout: no other thread sees the deque yet. */
  wf_u32_store_relaxed(&deque->x_eager, eager ? 1 : 0);
  wf_ptr_store_relaxed(&deque->owner.x_bottom, NULL);
  wf_ptr_store_relaxed(&deque->x_ring, NULL);
  wf_u64_store_relaxed(&deque->x_top, first_index);
  wf_u64_store_relaxed(&deque->x_split, first_index);
  wf_u64_store_relaxed(&deque->x_asked, WF_ASKED_SEALED);
  wf_u32_store_relaxed(&deque->x_thief, 0);
  close_pins(deque);
}

void wf_deque_destroy(wf_deque *deque) {
  /* Relaxed: the caller has made sure that nobody uses the deque any more. In a forked
   * child its lock may still be in the hands of a thread that is not there. */
  wf_ring *ring = (wf_ring *)wf_ptr_load_relaxed(&deque->x_ring);
  while (ring != NULL) {
    wf_ring *older = ring->older;
    free(ring);
    ring = older;
  }
  wf_ptr_store_relaxed(&deque->x_ring, NULL);
}

void wf_deque_seal(wf_deque *deque) {
  wf_lock_lock(&deque->lock);
  close_pins(deque);
  /* The owner itself has closed them and sees its own stores: no barrier needed. */
  set_pin_state(deque, get_asked(deque), WF_ASKED_SEALED);
  wf_deque_check(deque); /* among others: nothing is private */
  wf_lock_unlock(&deque->lock);
}

/* [owner, locked] The first ring. */
static int make_ring(wf_deque *deque) {
  WF_ASSERT(deque->slots == NULL);
  wf_ring *ring = ring_create(deque->capacity, NULL);
  if (ring == NULL) return WEFT_ENOMEM;
  deque->slots = ring->slots;
  /* Release: pairs with the acquire of the ring in wf_deque_steal. explorer: relaxed
   * suffices for the first ring, whose tasks come with a later split. */
  wf_ptr_store_release(&deque->x_ring, ring);
  set_bottom(deque, get_split(deque));
  return 0;
}

void wf_deque_after_fork(wf_deque *deque) {
  deque->lock = (wf_lock){{WF_LOCK_FREE}};
  /* A sealed deque has no private part. Relaxed: there is no other thread. */
  if (deque->slots != NULL) wf_u64_store_relaxed(&deque->x_split, bottom_index(deque));
  wf_deque_seal(deque);
}

int wf_deque_prepare(wf_deque *deque) {
  int status = 0;
  if (deque->slots == NULL) {
    wf_lock_lock(&deque->lock);
    status = make_ring(deque);
    wf_deque_check(deque);
    wf_lock_unlock(&deque->lock);
  }
  if ((wf_deque_asked(deque) & WF_ASKED_STATE_MASK) != WF_ASKED_SEALED)
    wf_deque_seal(deque);
  return status;
}

bool wf_deque_is_empty(const wf_deque *deque) {
  /* Relaxed: the owner knows what it pushed, and top only grows. */
  return (int64_t)(bottom_index(deque) - wf_u64_load_relaxed(&deque->x_top)) <= 0;
}

bool wf_deque_holds(const wf_deque *deque, const wf_ptr *slot) {
  /* Relaxed: the owner's own. */
  const wf_ring *ring = (const wf_ring *)wf_ptr_load_relaxed(&deque->x_ring);
  for (; ring != NULL; ring = ring->older) {
    uintptr_t offset = (uintptr_t)slot - (uintptr_t)ring->slots; /* wraps if below */
    if (offset < (uintptr_t)ring->capacity * sizeof *slot) return true;
  }
  return false;
}

/* ---- the owner's slow halves ---- */

/* [owner, locked] Doubles the ring. False if there is no memory. */
static bool grow(wf_deque *deque, uint64_t top, uint64_t bottom) {
  WF_ASSERT(bottom - top == deque->capacity); /* full, and not more than that */
  wf_ring *old = (wf_ring *)wf_ptr_load_relaxed(&deque->x_ring); /* the owner's own */
  wf_ring *ring = ring_create(deque->capacity * 2, old);
  if (ring == NULL) return false;
  for (uint64_t i = top; i != bottom; i++) {
    void *task = wf_ptr_load_relaxed(slot_of(deque, i));
    wf_ptr_store_relaxed(&ring->slots[i & (ring->capacity - 1)], task);
  }
  /* Release: pairs with the acquire of the ring in wf_deque_steal. The old ring keeps its
   * tasks, so a thief that still reads there reads the same. */
  wf_ptr_store_release(&deque->x_ring, ring);
  deque->slots = ring->slots;
  deque->capacity = ring->capacity;
  set_bottom(deque, bottom);
  return true;
}

/* Is an index in the upper half of its ring? */
static bool stands_high(const wf_deque *deque, uint64_t index) {
  return (index & (deque->capacity - 1)) > deque->capacity / 2;
}

/* [owner, locked] The deque is empty at `index`. If that stands high in the ring, moves
 * all three indices on to the start of the ring, so that the next recursion does not run
 * across the ring's end again and again. */
static void set_empty(wf_deque *deque, uint64_t index) {
  if (stands_high(deque, index)) {
    uint64_t next_lap = (index | (deque->capacity - 1)) + 1;
    uint64_t expected = index;
    /* seq_cst: pairs with the thieves' CAS. Nobody else can move top here, because no
     * thief sees a public task; the CAS makes that a fact instead of an argument.
     * explorer: acq_rel suffices. */
    bool moved = wf_u64_cas_seq_cst(&deque->x_top, &expected, next_lap);
    WF_ASSERT(moved);
    if (moved) index = next_lap;
  }
  WF_ASSERT(wf_u64_peek(&deque->x_top) == index);
  deque->overflowed = false;
  set_split(deque, index);
  set_bottom(deque, index);
}

/* [owner, locked] The newest task, at `index`, is public. Takes half of the public part
 * back, in the hope that it is still there; this is the pop of Chase and Lev with split
 * in the place of bottom. True if the task is the owner's; false if it was stolen, and
 * then the deque is empty. Leaves split and bottom right either way. */
static bool retract(wf_deque *deque, uint64_t index) {
  WF_ASSERT(wf_u64_peek(&deque->x_split) == index + 1);
  uint64_t top = wf_u64_load_relaxed(&deque->x_top); /* relaxed: looked at again below */
  if ((int64_t)(index - top) >= 0) {
    uint64_t split = wf_deque_is_eager(deque) ? index : top + (index - top) / 2;
    set_split(deque, split);
    /* Pairs with the fence in wf_deque_steal: either the thief sees the lowered split, or
     * this thread sees the top that the thief has read. */
    wf_fence_seq_cst();
    top = wf_u64_load_relaxed(&deque->x_top); /* relaxed: ordered by the fence */
    if ((int64_t)(split - top) > 0) {
      set_bottom(deque, index);
      return true;
    }
    if ((int64_t)(index - top) > 0) {
      /* Thieves came past the new split. The task at top may be contested by one that
       * read the old split: it stays public. */
      set_split(deque, top + 1);
      set_bottom(deque, index);
      return true;
    }
    if (top == index) {
      /* The last one: the thread that moves top has it.
       * seq_cst: pairs with the CAS in wf_deque_steal. explorer: acq_rel suffices, the
       * fences order top against split. */
      bool won = wf_u64_cas_seq_cst(&deque->x_top, &top, index + 1);
      set_empty(deque, index + 1);
      return won;
    }
  }
  set_empty(deque, index + 1);
  return false;
}

/* [owner, locked] The ring is full and cannot grow: takes the newest task out again. NULL
 * if a take-over has made that task public and a thief has taken it; then there is room.
 */
static wf_task *give_back_newest(wf_deque *deque, uint64_t bottom) {
  uint64_t index = bottom - 1;
  wf_task *newest = (wf_task *)wf_ptr_load_relaxed(slot_of(deque, index)); /* own slot */
  if ((int64_t)(index - get_split(deque)) >= 0)
    set_bottom(deque, index);
  else if (!retract(deque, index))
    return NULL;
  deque->overflowed = true;
  pin_locked(deque);
  return newest;
}

wf_task *wf_deque_fork_slow(wf_deque *deque, wf_deque_news *news) {
  wf_task *left_over = NULL;
  *news = (wf_deque_news){0, false};
  wf_lock_lock(&deque->lock);
  uint64_t bottom = bottom_index(deque);
  /* Acquire: pairs with the seq_cst CAS of the thieves: a slot below top is really free,
   * its thief has read it. explorer: as in open_pins. */
  uint64_t top = wf_u64_load_acquire(&deque->x_top);
  if (bottom - top < deque->capacity)
    set_bottom(deque, bottom); /* it may stand at the end of the ring */
  else if (!grow(deque, top, bottom))
    left_over = give_back_newest(deque, bottom);
  if (deque->eager_forks > 0) deque->eager_forks--;
  answer(deque, bottom_index(deque), news);
  wf_deque_check(deque);
  wf_lock_unlock(&deque->lock);
  return left_over;
}

void wf_deque_show(wf_deque *deque) {
  if (deque->slots == NULL) return;
  wf_lock_lock(&deque->lock);
  if ((get_asked(deque) & WF_ASKED_STATE_MASK) == WF_ASKED_NOT) {
    set_split(deque, bottom_index(deque));
    open_pins(deque); /* the gate follows split */
    wf_deque_check(deque);
  }
  check_shared(deque);
  wf_lock_unlock(&deque->lock);
}

void wf_deque_push_public(wf_deque *deque, wf_task *const *tasks, unsigned n) {
  wf_lock_lock(&deque->lock);
  uint64_t bottom = bottom_index(deque);
  /* Acquire: pairs with the seq_cst CAS of the thieves: a slot below top is really free,
   * its thief has read it. explorer: as in open_pins. */
  uint64_t top = wf_u64_load_acquire(&deque->x_top);
  WF_ASSERT(n > 0 && bottom - top + n < deque->capacity);
  WF_ASSERT(get_split(deque) == bottom); /* or private tasks would be published too */
  (void)top;
  for (unsigned i = 0; i < n; i++)
    wf_ptr_store_relaxed(slot_of(deque, bottom + i), tasks[i]); /* split publishes it */
  set_bottom(deque, bottom + n);
  set_split(deque, bottom + n);
  uint64_t asked = get_asked(deque);
  if ((asked & WF_ASKED_STATE_MASK) == WF_ASKED_NOT)
    open_pins(deque);
  else
    set_pin_state(deque, asked, WF_ASKED_SEALED); /* after split: nothing is private */
  wf_deque_check(deque);
  wf_lock_unlock(&deque->lock);
}

wf_task *wf_deque_pop(wf_deque *deque, wf_deque_news *news) {
  *news = (wf_deque_news){0, false};
  deque->eager_forks = 0; /* the owner has come to the end of a branch */
  uint64_t bottom = bottom_index(deque);
  /* Relaxed: top only grows, so what looks empty is empty. */
  if ((int64_t)(bottom - wf_u64_load_relaxed(&deque->x_top)) <= 0) {
    bool moves = stands_high(deque, bottom) || deque->overflowed;
    if (moves || wf_deque_is_pinned(deque)) {
      wf_lock_lock(&deque->lock);
      if (moves) set_empty(deque, bottom);
      answer(deque, bottom_index(deque), news);
      wf_deque_check(deque);
      wf_lock_unlock(&deque->lock);
    }
    return NULL;
  }
  wf_task *task = NULL;
  wf_lock_lock(&deque->lock);
  uint64_t index = bottom - 1;
  /* Relaxed: it is the owner's own slot, and read before a thief can make it free. */
  wf_task *newest = (wf_task *)wf_ptr_load_relaxed(slot_of(deque, index));
  if ((int64_t)(index - get_split(deque)) >= 0) {
    set_bottom(deque, index);
    task = newest;
  } else if (retract(deque, index)) {
    task = newest;
  }
  answer(deque, bottom_index(deque), news);
  wf_deque_check(deque);
  wf_lock_unlock(&deque->lock);
  return task;
}

/* ---- thieves ---- */

wf_steal wf_deque_steal_unless(wf_deque *deque, const wf_u64 *flags, uint64_t mask,
                               wf_task **out) {
  /* Acquire: pairs with the CAS of other thieves and of the owner, so that split below is
   * at least as new as the top read here. explorer: relaxed suffices, the fence below
   * makes it an acquire; ThreadSanitizer does not know fences. */
  uint64_t top = wf_u64_load_acquire(&deque->x_top);
  /* Pairs with the fence in retract. */
  wf_fence_seq_cst();
  /* Acquire: pairs with the release in set_split; the tasks below split are visible. */
  uint64_t split = wf_u64_load_acquire(&deque->x_split);
  if ((int64_t)(split - top) <= 0) return WF_STEAL_EMPTY;
  /* Acquire: pairs with the release in grow. Read after split: if top is still what was
   * read above, this ring holds the task at top. If top is old, the slot may hold
   * anything, or may never have been written; see "Growth" in deque.md. */
  wf_ring *ring = (wf_ring *)wf_ptr_load_acquire(&deque->x_ring);
  WF_ASSERT(ring != NULL);
  WF_ASSERT((ring->capacity & (ring->capacity - 1)) == 0);
  /* Relaxed: ordered by the acquires above; if the slot has been reused meanwhile, top
   * has moved and the CAS fails. */
  void *task = wf_ptr_load_relaxed(&ring->slots[top & (ring->capacity - 1)]);
  /* Acquire: pairs with the RMW that sets a flag before tasks of its kind are pushed. The
   * task at top was seen before this look, and if it is still at top afterwards it was
   * there when the flag was not set. explorer: relaxed suffices, the acquire of split
   * comes before. */
  if (flags != NULL && (wf_u64_load_acquire(flags) & mask) != 0) return WF_STEAL_EMPTY;
  /* seq_cst: pairs with the CAS in retract and of other thieves. explorer: acq_rel
   * suffices, the fences order top against split. */
  if (!wf_u64_cas_seq_cst(&deque->x_top, &top, top + 1)) return WF_STEAL_RETRY;
  WF_ASSERT(task != NULL);
  *out = (wf_task *)task;
  return WF_STEAL_GOT;
}

void wf_deque_ask(wf_deque *deque) {
  if ((wf_deque_asked(deque) & WF_ASKED_STATE_MASK) != WF_ASKED_NOT) return;
  if (!wf_lock_try(&deque->lock)) return;
  pin_locked(deque);
  check_shared(deque);
  wf_lock_unlock(&deque->lock);
}

void wf_deque_pin(wf_deque *deque) {
  if ((wf_deque_asked(deque) & WF_ASKED_STATE_MASK) != WF_ASKED_NOT) return;
  wf_lock_lock(&deque->lock);
  pin_locked(deque);
  check_shared(deque);
  wf_lock_unlock(&deque->lock);
}

void wf_deque_make_eager(wf_deque *deque) {
  wf_lock_lock(&deque->lock);
  pin_locked(deque);
  /* Relaxed: the slow halves read it under the lock. */
  wf_u32_store_relaxed(&deque->x_eager, 1);
  check_shared(deque);
  wf_lock_unlock(&deque->lock);
}

/* [locked] May a thief that saw `asked` before its barrier take over now? */
static bool may_take_over(const wf_deque *deque, uint64_t asked) {
  uint64_t now = get_asked(deque);
  bool pinned = now == asked && (asked & WF_ASKED_STATE_MASK) == WF_ASKED_PINNED;
  return pinned || (now & WF_ASKED_STATE_MASK) == WF_ASKED_RICH;
}

unsigned wf_deque_take_over(wf_deque *deque, uint64_t asked) {
  uint64_t state = asked & WF_ASKED_STATE_MASK;
  if (state != WF_ASKED_PINNED && state != WF_ASKED_RICH) return 0;
  uint64_t exposed = 0;
  wf_lock_lock(&deque->lock);
  if (may_take_over(deque, asked)) {
    uint64_t split = get_split(deque);
    /* The owner's fork or join that was under way at the barrier may since have moved
     * bottom by one, and now waits for the lock; deque.md shows why either value is
     * right. A deque without a ring has both indices at the same place. */
    uint64_t bottom = deque->slots != NULL ? bottom_index(deque) : split;
    int64_t private_count = (int64_t)(bottom - split);
    WF_ASSERT(private_count >= -1); /* a join under way has lowered bottom by one */
    WF_ASSERT(private_count <= (int64_t)deque->capacity);
    if (private_count > 0) {
      exposed = ((uint64_t)private_count + 1) / 2;
      WF_ASSERT(exposed <= (uint64_t)private_count);
      set_split(deque, split + exposed);
    }
    /* After split: a worker on its way to sleep that acquires SEALED must see it. */
    uint64_t next = private_count > (int64_t)exposed ? WF_ASKED_RICH : WF_ASKED_SEALED;
    set_pin_state(deque, get_asked(deque), next);
    check_shared(deque);
  }
  wf_lock_unlock(&deque->lock);
  return (unsigned)exposed;
}
