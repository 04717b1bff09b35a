/* museum/queue.c - defects of queues from outside, of locks, and of barriers that only
 * one side pays for.
 *
 * SPDX-License-Identifier: MIT */
#include "museum.h"

#include <stdlib.h>

/* ---- a stack of nodes as injector: the same address twice ---- */

enum { NODE_FREED_WHILE_READ = 1, SAME_HEAD_AGAIN };

typedef struct node {
  wf_ptr x_next;
  int item;
} node;

static wf_ptr x_head;
static node nodes[3];
static wf_u32 x_taken[4];

static node *make_node(int item) {
  node *made = malloc(sizeof *made);
  made->item = item;
  wf_ptr_init(&made->x_next, NULL);
  return made;
}

static void push_node(node *made) {
  void *head = wf_ptr_load_relaxed(&x_head);
  do {
    wf_ptr_store_relaxed(&made->x_next, head);
  } while (!wf_ptr_cas_release(&x_head, &head, made));
}

static void no_node_taken(void) {
  wf_ptr_init(&x_head, NULL);
  for (int i = 0; i < 4; i++) wf_u32_init(&x_taken[i], 0);
}

static void two_nodes(void) {
  no_node_taken();
  push_node(make_node(1));
  push_node(make_node(2));
}

/* The head is popped by reading its successor, and the successor may be freed by then.
 * The sound form takes the whole list, which needs no look into nodes of others. */
static void pops_node(void) {
  void *head;
  if (defect == NODE_FREED_WHILE_READ) {
    head = wf_ptr_load_acquire(&x_head);
    while (head != NULL) {
      void *next = wf_ptr_load_relaxed(&((node *)head)->x_next);
      if (!wf_ptr_cas_acquire(&x_head, &head, next)) continue;
      free(head);
      return;
    }
    return;
  }
  head = wf_ptr_exchange_acquire(&x_head, NULL);
  while (head != NULL) {
    void *next = wf_ptr_load_relaxed(&((node *)head)->x_next);
    free(head);
    head = next;
  }
}

static void frees_nodes(void) {
  defect = 0;
  pops_node();
}

EXHIBIT(queue_node_freed_while_read, NODE_FREED_WHILE_READ, XP_DEAD, XP_ALL_MODES,
        two_nodes, .threads = {pops_node, pops_node}, .check = frees_nodes)

/* Nodes are used again instead of freed: the head is the same as before, but its
 * successor is not, and the compare-and-swap cannot tell. */
static wf_u64 x_tagged; /* index of the head node + 1, and a tag above */

static uint64_t with_tag(uint64_t old, uint64_t index) {
  uint64_t tag = defect == SAME_HEAD_AGAIN ? 0 : (old >> 8) + 1;
  return tag << 8 | index;
}

static void push_index(uint64_t index) {
  uint64_t head = wf_u64_load_relaxed(&x_tagged);
  do {
    wf_ptr_store_relaxed(&nodes[index - 1].x_next, (void *)(uintptr_t)(head & 0xff));
  } while (!wf_u64_cas_seq_cst(&x_tagged, &head, with_tag(head, index)));
}

static uint64_t pop_index(void) {
  uint64_t head = wf_u64_load_acquire(&x_tagged);
  while ((head & 0xff) != 0) {
    void *next = wf_ptr_load_relaxed(&nodes[(head & 0xff) - 1].x_next);
    if (wf_u64_cas_seq_cst(&x_tagged, &head, with_tag(head, (uintptr_t)next)))
      return head & 0xff;
    head = wf_u64_load_acquire(&x_tagged); /* what a failure has seen is not ordered */
  }
  return 0;
}

static void take_index(uint64_t index) {
  if (index > 0) XP_CHECK(wf_u32_fetch_add_relaxed(&x_taken[index], 1) == 0);
}

static void three_indices(void) {
  no_node_taken();
  wf_u64_init(&x_tagged, 0);
  for (int i = 0; i < 3; i++) wf_ptr_init(&nodes[i].x_next, NULL);
  for (uint64_t i = 1; i <= 3; i++) push_index(i);
}

static void pops_index(void) {
  take_index(pop_index());
}

/* Takes two and puts the first one back. */
static void pops_and_pushes_index(void) {
  uint64_t first = pop_index();
  take_index(pop_index());
  if (first > 0) push_index(first);
}

static void takes_the_rest(void) {
  uint64_t index;
  while ((index = pop_index()) > 0) take_index(index);
  for (int i = 1; i <= 3; i++) XP_CHECK(wf_u32_load_relaxed(&x_taken[i]) == 1);
}

EXHIBIT(queue_same_head_again, SAME_HEAD_AGAIN, XP_ASSERTION, XP_ALL_MODES, three_indices,
        .threads = {pops_index, pops_and_pushes_index}, .check = takes_the_rest)

/* ---- a deque that starts again at index 0 ---- */

enum { TAG_STAYS = 1 };

/* When the owner finds its deque empty it sets both indices back to 0. A thief that has
 * read the old top must not succeed with it: the tag beside top has to move. */
static wf_u64 x_age; /* top in the low half, tag in the high half */
static wf_u64 x_low_bottom, x_slots[2];

static void low_deque_of_one(void) {
  no_node_taken();
  wf_u64_init(&x_age, 0);
  wf_u64_init(&x_low_bottom, 1);
  wf_u64_init(&x_slots[0], 1);
  wf_u64_init(&x_slots[1], 0);
}

static void low_thief(void) {
  uint64_t age = wf_u64_load_seq_cst(&x_age);
  uint64_t bottom = wf_u64_load_seq_cst(&x_low_bottom);
  uint64_t top = age & 0xffffffff;
  if (bottom <= top) return;
  uint64_t item = wf_u64_load_seq_cst(&x_slots[top]);
  if (wf_u64_cas_seq_cst(&x_age, &age, age + 1)) take_index(item);
}

/* Takes its last task, starts again at 0, and pushes another one there. */
static void low_owner(void) {
  uint64_t item = wf_u64_load_seq_cst(&x_slots[0]);
  uint64_t age = wf_u64_load_seq_cst(&x_age);
  wf_u64_store_seq_cst(&x_low_bottom, 0);
  uint64_t fresh = defect == TAG_STAYS ? 0 : ((age >> 32) + 1) << 32;
  if ((age & 0xffffffff) == 0 && wf_u64_cas_seq_cst(&x_age, &age, fresh))
    take_index(item);
  else
    wf_u64_store_seq_cst(&x_age, ((age >> 32) + 1) << 32);
  wf_u64_store_seq_cst(&x_slots[0], 2);
  wf_u64_store_seq_cst(&x_low_bottom, 1);
}

EXHIBIT(deque_tag_stays, TAG_STAYS, XP_ASSERTION, XP_ALL_MODES, low_deque_of_one,
        .threads = {low_owner, low_thief})

/* ---- locks ---- */

enum { WAITER_NOT_NOTED = 1, RELAXED_LOCK, UNLOCK_FORGETS };

static wf_u32 x_lock; /* 0 free, 1 held, 2 held and somebody may wait */
static int guarded;

static void lock_is_free(void) {
  wf_u32_init(&x_lock, 0);
  guarded = 0;
}

static void lock(void) {
  uint32_t seen = 0;
  bool relaxed = defect == RELAXED_LOCK;
  if (relaxed ? wf_u32_cas_relaxed(&x_lock, &seen, 1)
              : wf_u32_cas_acquire(&x_lock, &seen, 1))
    return;
  /* A waiter that gets the lock cannot know whether it was the only one: the word has to
   * say 2 again. */
  while (wf_u32_exchange_acquire(&x_lock, 2) != 0) {
    wf_sys_wait(&x_lock, 2);
    seen = 0;
    if (defect == WAITER_NOT_NOTED && wf_u32_cas_acquire(&x_lock, &seen, 1)) return;
  }
}

static void unlock(void) {
  uint32_t before = defect == UNLOCK_FORGETS ? wf_u32_load_relaxed(&x_lock) : 0;
  if (defect == UNLOCK_FORGETS)
    wf_u32_store_release(&x_lock, 0);
  else
    before = wf_u32_exchange_release(&x_lock, 0);
  if (before == 2) wf_sys_wake_one(&x_lock);
}

static void locks_and_adds(void) {
  lock();
  xp_plain_write(&guarded, sizeof guarded);
  guarded++;
  unlock();
}

static void three_have_added(void) {
  XP_CHECK(guarded == 3);
}
static void two_have_added(void) {
  XP_CHECK(guarded == 2);
}

EXHIBIT(lock_waiter_not_noted, WAITER_NOT_NOTED, XP_DEADLOCK, XP_ALL_MODES, lock_is_free,
        .threads = {locks_and_adds, locks_and_adds, locks_and_adds},
        .check = three_have_added)
EXHIBIT(lock_relaxed, RELAXED_LOCK, XP_RACE, XP_RA, lock_is_free,
        .threads = {locks_and_adds, locks_and_adds}, .check = two_have_added)
EXHIBIT(lock_unlock_forgets_waiter, UNLOCK_FORGETS, XP_DEADLOCK, XP_ALL_MODES,
        lock_is_free, .threads = {locks_and_adds, locks_and_adds},
        .check = two_have_added)

/* ---- barriers that only one side pays for ---- */

enum { BARRIER_IS_NOTHING = 1 };

/* The owner stores bottom and looks at the gate, without a fence; the thief closes the
 * gate, executes the process-wide barrier and looks at bottom. Where the system refuses
 * the barrier and that goes unnoticed, both take the task. */
static wf_u32 x_bottom, x_gate, x_claims;

static void one_private_task(void) {
  wf_u32_init(&x_bottom, 1);
  wf_u32_init(&x_gate, 0);
  wf_u32_init(&x_claims, 0);
}

static void claims_task(void) {
  XP_CHECK(wf_u32_fetch_add_relaxed(&x_claims, 1) == 0);
}

static void fenceless_owner(void) {
  wf_u32_store_release(&x_bottom, 0);
  wf_light_barrier();
  if (wf_u32_load_relaxed(&x_gate) == 0) claims_task();
}

static void barrier_thief(void) {
  wf_u32_store_relaxed(&x_gate, 1);
  if (defect != BARRIER_IS_NOTHING) wf_sys_barrier();
  if (wf_u32_load_acquire(&x_bottom) == 1) claims_task();
}

EXHIBIT(barrier_is_nothing, BARRIER_IS_NOTHING, XP_ASSERTION, XP_TSO | XP_RA,
        one_private_task, .threads = {fenceless_owner, barrier_thief})

/* Two light halves order nothing: each side needs the heavy half of the other. */
enum { BOTH_LIGHT = 1 };

static void light_owner(void) {
  wf_u32_store_relaxed(&x_bottom, 0);
  if (defect == BOTH_LIGHT)
    wf_light_barrier();
  else
    wf_fence_seq_cst();
  if (wf_u32_load_relaxed(&x_gate) == 0) claims_task();
}

static void light_thief(void) {
  wf_u32_store_relaxed(&x_gate, 1);
  if (defect == BOTH_LIGHT)
    wf_light_barrier();
  else
    wf_fence_seq_cst();
  if (wf_u32_load_relaxed(&x_bottom) == 1) claims_task();
}

EXHIBIT(barrier_both_light, BOTH_LIGHT, XP_ASSERTION, XP_TSO | XP_RA, one_private_task,
        .threads = {light_owner, light_thief})
