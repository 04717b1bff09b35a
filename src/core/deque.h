/* core/deque.h - the split work-stealing deque: one per worker.
 *
 * A ring of task pointers with three indices that only grow (and may wrap around 2^64):
 *
 *     top <= split <= bottom
 *     [top, split)     public:  any thief takes the oldest, at top, by compare-and-swap
 *     [split, bottom)  private: the owner's alone; fork and join there cost no fence
 *
 * The owner keeps bottom as a pointer into the ring (`owner.x_bottom`). Fork and join are
 * inlined in include/weft/detail/fork_join.h and compare it with two words, limit and
 * gate: the pins. A thread that wants work closes the pins ("asks"), and the owner's next
 * fork or join takes the slow half here, which moves split ("exposes"). If the owner does
 * not come by, a thief that has executed the process-wide barrier moves split on its
 * behalf ("takes over"). States, races and proofs: deque.md.
 *
 * Who calls what: functions marked [owner] only from the thread that owns the deque,
 * [any] from every thread. The deque knows no pool: callers notify sleepers themselves.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_CORE_DEQUE_H
#define WF_CORE_DEQUE_H

#include "assert.h"
#include "atomic.h"
#include "lock.h"

#include <weft/detail/fork_join.h>

/* One array of slots. Grown rings stay linked until the deque dies, because a slow thief
 * may still read from an old one; together they are smaller than the newest. */
typedef struct wf_ring {
  struct wf_ring *older;
  uint64_t capacity; /* a power of two */
  wf_ptr sentinel;   /* the word below slots[0], where bottom may stand for a moment */
  wf_ptr slots[];
} wf_ring;

/* The state of the pins: the two low bits of x_asked. The bits above count how often the
 * owner has opened them again, so that a thief knows whether the pins it saw before its
 * barrier are still the same ones. */
enum {
  WF_ASKED_NOT = 0,    /* open: limit and gate are real, forks and joins run free */
  WF_ASKED_PINNED = 1, /* closed, but the owner may not have seen it yet */
  WF_ASKED_SEALED = 2, /* closed, the owner sees it, and nothing private is left */
  WF_ASKED_RICH = 3,   /* as sealed, but a take-over has left private tasks */
  WF_ASKED_STATE_MASK = 3,
  WF_ASKED_ONE_EPOCH = 4
};

/* Invariants while the lock is free or at its end; wf_deque_check asserts them, with the
 * indices compared by the sign of their difference:
 *
 *     capacity is a power of two, lap a multiple of it
 *     slots = the slots of x_ring, capacity = its capacity; both NULL before the first
 *     top <= split <= bottom <= top + capacity     (bottom: index of owner.x_bottom)
 *     slots <= owner.x_bottom < slots + capacity
 *     state NOT:    limit <= slots + min(lap + capacity, top + capacity) - lap
 *                   gate = slots + max(split, lap) - lap
 *     other states: limit = 0, gate = UINTPTR_MAX
 *     eager, overflowed or eager_forks > 0: state is not NOT
 *     after a slow half of the owner, state not NOT: split = bottom (nothing is private)
 *
 * A thread that is not the owner sees bottom one lower or higher than the owner will
 * leave it, while a fork or join is under way.
 *
 * Cache lines: 0 is the owner's (written by it all the time, by others only to ask); 1 is
 * read by thieves when they search and written when something changes hands. */
typedef struct wf_deque {
  /* Line 0. */
  wf_owner owner;
  wf_ptr *slots;     /* of the newest ring, NULL before there is one. Under the lock. */
  uint64_t capacity; /* of the newest or of the first ring. Under the lock. */
  uint64_t lap;      /* the index that slots[0] stands for at bottom. Under the lock. */
  wf_u32
      x_eager;     /* 1: no process-wide barrier: stay closed, publish everything. Written
                    * under the lock, from 0 to 1 at most once; the owner reads it without */
  bool overflowed; /* a task was given back by fork_slow since the deque was empty */
  uint8_t eager_forks; /* how many of the next forks are public at once; the owner's */

  /* Line 1. */
  _Alignas(WF_CACHE_LINE) wf_u64 x_top;
  wf_u64 x_split;
  wf_ptr x_ring;
  wf_u64 x_asked;
  wf_lock lock;   /* the slow half: split, lap, pins and growth */
  wf_u32 x_thief; /* who has taken from it last, + 1: a hint where parts of it are */
} wf_deque;

typedef enum wf_steal { WF_STEAL_GOT, WF_STEAL_EMPTY, WF_STEAL_RETRY } wf_steal;

/* What the slow half did, for the caller to act on. */
typedef struct wf_deque_news {
  unsigned exposed;      /* how many tasks became public */
  bool public_was_empty; /* there were no public tasks before */
} wf_deque_news;

/* Sets up an empty deque without memory for tasks: thieves may look at it, and find
 * nothing. capacity is rounded up to a power of two. first_index is where the indices
 * start (tests start them shortly before they wrap around). */
void wf_deque_init(wf_deque *deque, size_t capacity, uint64_t first_index, bool eager);
void wf_deque_destroy(wf_deque *deque);

/* [owner] Makes an empty deque ready for a new owner: gives it its ring if it has none
 * yet, and seals it, so that the first fork takes the slow half and is offered at once.
 * Does next to nothing if the last owner has sealed it. Returns 0 or WEFT_ENOMEM. */
int wf_deque_prepare(wf_deque *deque);

/* [owner] Closes the pins of an empty deque, when its owner leaves. */
void wf_deque_seal(wf_deque *deque);

static inline void wf_deque_seal_if_open(wf_deque *deque) {
  /* Relaxed: only the owner opens closed pins, and that is the caller. */
  uint64_t asked = wf_u64_load_relaxed(&deque->x_asked);
  if ((asked & WF_ASKED_STATE_MASK) != WF_ASKED_SEALED) wf_deque_seal(deque);
}

/* [owner] The next n forks of an empty deque are public at once, as if somebody asked
 * each time; a join that comes before ends that. n <= 255. */
static inline void wf_deque_give_forks(wf_deque *deque, unsigned n) {
  WF_ASSERT(n <= UINT8_MAX);
  if (n > 0) wf_deque_seal_if_open(deque);
  deque->eager_forks = (uint8_t)n;
}

/* [owner] Adds a task at bottom. True if the caller must now call wf_deque_fork_slow. */
static inline bool wf_deque_push(wf_deque *deque, wf_task *task) {
  return wf_owner_push(&deque->owner, wf_owner_bottom(&deque->owner), task);
}

/* [owner] Would a push lead to the slow half? */
static inline bool wf_deque_is_at_limit(const wf_deque *deque) {
  /* Relaxed: the owner's own; if a thread asks meanwhile, the push itself sees it. */
  uintptr_t bottom = (uintptr_t)wf_ptr_load_relaxed(&deque->owner.x_bottom);
  uintptr_t limit = (uintptr_t)wf_ptr_load_relaxed(&deque->owner.x_limit);
  return bottom + sizeof(wf_ptr) >= limit; /* no pointers: perhaps there is no ring yet */
}

/* [owner] Are the pins closed: has another thread asked for work and got no answer yet?
 */
static inline bool wf_deque_is_asked(const wf_deque *deque) {
  /* Relaxed: the owner's own line; a pin that is closed meanwhile is seen the next time.
   */
  return wf_ptr_load_relaxed(&deque->owner.x_limit) == NULL;
}

/* [owner] The slow half of a fork: makes room for the next push, and if the pins are
 * closed, moves split over the older half of the private tasks. If no room can be made,
 * the newest task is taken out again and returned: its join must run it, and from then on
 * the pins stay closed until the deque is empty, so that the join of that task, which
 * is not in the deque, comes to the slow half too. */
wf_task *wf_deque_fork_slow(wf_deque *deque, wf_deque_news *news);

/* [owner, prepared] Makes all tasks public, if the pins are open; closed pins do so at
 * the next fork. */
void wf_deque_show(wf_deque *deque);

/* [owner, prepared] Takes the newest task; NULL if nothing is left. */
wf_task *wf_deque_pop(wf_deque *deque, wf_deque_news *news);

/* [owner] The index at which the next task goes in. */
static inline uint64_t wf_deque_bottom(const wf_deque *deque) {
  /* Relaxed: the owner's own. Without a ring bottom will start where split is. */
  if (deque->slots == NULL) return wf_u64_load_relaxed(&deque->x_split);
  return deque->lap + (uint64_t)(int64_t)(wf_owner_bottom(&deque->owner) - deque->slots);
}

/* [owner] How many tasks are in the deque, or a few more if thieves are at work. */
static inline uint64_t wf_deque_count(const wf_deque *deque) {
  /* Relaxed: top only grows. */
  int64_t count = (int64_t)(wf_deque_bottom(deque) - wf_u64_load_relaxed(&deque->x_top));
  return count > 0 ? (uint64_t)count : 0;
}

/* [owner, prepared] The newest task if it is private, without fence or lock. NULL: there
 * may be one, for wf_deque_pop. */
static inline wf_task *wf_deque_take_private(wf_deque *deque) {
  wf_ptr *slot = wf_owner_bottom(&deque->owner) - 1;
  if (WF_LIKELY(wf_owner_pop(&deque->owner, slot)))
    return (wf_task *)wf_ptr_load_relaxed(slot); /* own slot */
  wf_owner_unpop(&deque->owner, slot);           /* the lock decides who has the task */
  return NULL;
}

/* [any] Takes the oldest public task. RETRY means that another thread was faster: there
 * may be more. If `flags` is not NULL, nothing is taken while one of the bits of `mask`
 * is set in it: the task that is taken was in the deque at a moment when they were not.
 */
wf_steal wf_deque_steal_unless(wf_deque *deque, const wf_u64 *flags, uint64_t mask,
                               wf_task **out);

static inline wf_steal wf_deque_steal(wf_deque *deque, wf_task **out) {
  return wf_deque_steal_unless(deque, NULL, 0, out);
}

/* [any] How many public tasks there are, or were a moment ago. */
static inline uint64_t wf_deque_public_count(const wf_deque *deque) {
  /* Relaxed: a guess how many to take; each steal looks for itself. */
  uint64_t top = wf_u64_load_relaxed(&deque->x_top);
  int64_t count = (int64_t)(wf_u64_load_relaxed(&deque->x_split) - top);
  return count > 0 ? (uint64_t)count : 0;
}

/* [owner, prepared] How many tasks can be pushed without the ring growing, if one slot
 * stays free: a push writes its slot before it looks whether there is another one. */
static inline uint64_t wf_deque_room(const wf_deque *deque) {
  return deque->capacity - wf_deque_count(deque) - 1;
}

/* [owner, prepared, nothing private] Adds n tasks at bottom, for which there is room, and
 * makes them public at once. */
void wf_deque_push_public(wf_deque *deque, wf_task *const *tasks, unsigned n);

/* [the only thread of a forked process, owner] Makes the deque usable whatever the other
 * threads were doing to it when the process was forked. */
void wf_deque_after_fork(wf_deque *deque);

/* [any] Closes the pins if they are open. Does nothing if the lock is taken: then the
 * owner is in a slow half, or another thief asks or takes over, at this moment. */
void wf_deque_ask(wf_deque *deque);

/* [any] Closes the pins without fail. */
void wf_deque_pin(wf_deque *deque);

/* [any] The pins' state and count, to be handed to wf_deque_take_over after the barrier.
 */
static inline uint64_t wf_deque_asked(const wf_deque *deque) {
  /* Acquire: pairs with the release in set_asked (deque.c), so that the barrier which
   * follows comes after the closed pins. */
  return wf_u64_load_acquire(&deque->x_asked);
}

/* [any] After wf_sys_barrier: if the pins are still the ones seen before the barrier
 * (asked), the owner has done nothing since. Seals them, and moves split over the older
 * half of the private tasks. Returns how many became public. If `asked` says RICH, no
 * barrier is needed: another one has come before. */
unsigned wf_deque_take_over(wf_deque *deque, uint64_t asked);

/* [any] The system refuses the process-wide barrier from now on: the pins are closed and
 * stay so. The owner's next slow half, and each one after it, makes everything public, so
 * that nobody needs to take over. */
void wf_deque_make_eager(wf_deque *deque);

static inline bool wf_deque_is_eager(const wf_deque *deque) {
  return wf_u32_load_relaxed(&deque->x_eager) != 0; /* relaxed: nothing depends on when */
}

/* [owner] Are the pins closed, and not sealed? */
static inline bool wf_deque_is_pinned(const wf_deque *deque) {
  /* Relaxed: a look; the lock decides. */
  uint64_t state = wf_u64_load_relaxed(&deque->x_asked) & WF_ASKED_STATE_MASK;
  return state == WF_ASKED_PINNED || state == WF_ASKED_RICH;
}

/* [any] Is there a public task? "No" is exact for the moment of the second load. */
static inline bool wf_deque_has_public(const wf_deque *deque) {
  /* Acquire on both: pairs with the CAS of top, and with the release stores of split. top
   * first: were it read last, thieves could meanwhile take all below an old split. */
  uint64_t top = wf_u64_load_acquire(&deque->x_top);
  /* explorer: relaxed suffices for split; a thief acquires the task in the steal. */
  uint64_t split = wf_u64_load_acquire(&deque->x_split);
  return (int64_t)(split - top) > 0;
}

/* [owner, prepared] No task left, public or private? */
bool wf_deque_is_empty(const wf_deque *deque);

/* [owner] Is this a slot of the deque's ring, or of a smaller one that it had before? */
bool wf_deque_holds(const wf_deque *deque, const wf_ptr *slot);

/* [owner, locked] Asserts the invariants of the deque. Nothing in a release. */
void wf_deque_check(const wf_deque *deque);

#endif
