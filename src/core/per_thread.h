/* core/per_thread.h - one piece of memory for each thread that asks for it, found by a
 * number of the thread: what weft_local and weft_bag are made of. The protocol and its
 * argument are in per_thread.md.
 *
 * A thread is known by its key, a number that no other running thread has. It finds its
 * slot in a table with open addressing, by two or three loads. When it has none, it makes
 * one and adds it to a list of all slots; that list only grows, and is what counts. The
 * table is there to be quick: a slot that is not in it is found in the list.
 *
 * Who calls what: [any] every thread, [alone] a thread that knows that no other one uses
 * the struct now.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_CORE_PER_THREAD_H
#define WF_CORE_PER_THREAD_H

#include "assert.h"
#include "atomic.h"

/* The head of a slot: a cache line, because other threads read it while they search. The
 * memory of the thread starts with the next line. All fields are constant once the slot
 * is in the list. */
typedef struct wf_thread_slot {
  uintptr_t key;               /* of its thread; 0: of nobody, see wf_per_thread_make */
  uintptr_t number;            /* from 1 on, in the order in which slots were made */
  struct wf_thread_slot *next; /* the one that was added before */
} wf_thread_slot;

/* Invariants, which wf_per_thread_check asserts:
 *
 *     each entry is NULL or a slot of the list with number <= (mask + 1) / 2
 *     no two entries are the same slot
 *
 * So at least half of the entries are NULL, and a search ends. An entry that is not NULL
 * stays as it is. */
typedef struct wf_slot_table {
  struct wf_slot_table *older; /* for the end only */
  unsigned shift;              /* 64 - log2 of the number of entries */
  uintptr_t mask;              /* the number of entries - 1 */
  wf_ptr x_entries[];
} wf_slot_table;

/* Memory that slots are cut from. Invariant: x_taken may be larger than count, by one for
 * each thread that came too late. */
typedef struct wf_slot_block {
  struct wf_slot_block *older;
  size_t mapped; /* bytes, if it came from the system; 0: from malloc */
  size_t count;  /* slots that it has room for */
  wf_word x_taken;
} wf_slot_block;

typedef struct wf_per_thread {
  wf_ptr x_table;  /* the newest table; never NULL */
  wf_ptr x_first;  /* the slot that was added last, or NULL */
  wf_ptr x_blocks; /* the newest block, or NULL */
  wf_word x_made;  /* slots that have a number */
  /* Constant. */
  size_t size;                           /* bytes for each thread, in whole cache lines */
  void (*init)(void *memory, void *ctx); /* NULL: zeros */
  void *ctx;
} wf_per_thread;

/* The largest size: slots and tables of it do not overflow. */
#define WF_PER_THREAD_MOST (SIZE_MAX / 4)

/* For `size` bytes for each thread, 1 to WF_PER_THREAD_MOST, and 2^entries_log2 entries,
 * at least 2, for half as many threads before the table must grow. 0 or WEFT_ENOMEM. */
int wf_per_thread_init(wf_per_thread *p, size_t size, unsigned entries_log2,
                       void (*init)(void *memory, void *ctx), void *ctx);

/* [alone] Frees all memory. */
void wf_per_thread_destroy(wf_per_thread *p);

/* [any] Gets memory for `count` slots, so that as many threads get theirs without asking
 * for memory. 0 or WEFT_ENOMEM. */
int wf_per_thread_reserve(wf_per_thread *p, size_t count);

/* The memory behind the head. */
static inline void *wf_slot_memory(const wf_thread_slot *slot) {
  return (char *)(uintptr_t)slot + WF_CACHE_LINE;
}

/* [any] The slow half of wf_per_thread_get. */
void *wf_per_thread_get_slow(wf_per_thread *p, uintptr_t key);

/* Where a search for the key starts. Keys are addresses, whose low bits are all alike; a
 * multiplication by 2^64 divided by the golden ratio spreads them (Knuth, volume 3, 6.4).
 */
static inline uintptr_t wf_slot_start(const wf_slot_table *table, uintptr_t key) {
  return (uintptr_t)((uint64_t)key * UINT64_C(0x9E3779B97F4A7C15) >> table->shift);
}

/* [any] The memory of the thread with this key, which is the calling one; not 0. The
 * first time it is made, and init is called for it. NULL if there is no memory. */
static inline void *wf_per_thread_get(wf_per_thread *p, uintptr_t key) {
  /* Acquire: pairs with the release in grow_table. */
  const wf_slot_table *table = (const wf_slot_table *)wf_ptr_load_acquire(&p->x_table);
  uintptr_t i = wf_slot_start(table, key);
  for (;;) {
    /* Acquire: pairs with the release in enter_in_table, for the key. */
    const wf_thread_slot *slot =
        (const wf_thread_slot *)wf_ptr_load_acquire(&table->x_entries[i & table->mask]);
    if (slot == NULL) return wf_per_thread_get_slow(p, key);
    if (slot->key == key) return wf_slot_memory(slot);
    i++;
  }
}

/* [any] The slot that was added last; `next` leads to all others. The memory of a slot
 * may be looked at only where its thread's stores are known to have happened before. */
static inline const wf_thread_slot *wf_per_thread_first(const wf_per_thread *p) {
  /* Acquire: pairs with the release in add_to_list. */
  return (const wf_thread_slot *)wf_ptr_load_acquire(&p->x_first);
}

/* [alone] Asserts the invariants above. */
void wf_per_thread_check(const wf_per_thread *p);

#endif
