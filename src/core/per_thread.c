/* core/per_thread.c - the slow half of memory for each thread: making slots, growing the
 * table, freeing it all.
 *
 * Called by weft_local and weft_bag (src/par/shared). Nothing here takes a lock, so a
 * process that was forked meanwhile goes on as before. A slot belongs to its thread from
 * the moment it is taken from a block; its head is constant once it is in the list.
 *
 * SPDX-License-Identifier: MIT */
#include "per_thread.h"

#include "../sys/sys.h"
#include "aligned.h"

#include <stdlib.h>
#include <string.h>

/* ---- tables ---- */

static wf_slot_table *make_table(unsigned entries_log2) {
  size_t entries = (size_t)1 << entries_log2;
  size_t bytes = sizeof(wf_slot_table) + entries * sizeof(wf_ptr);
  wf_slot_table *table = (wf_slot_table *)malloc(bytes);
  if (table == NULL) return NULL;
  memset(table, 0, bytes);
  table->shift = 64 - entries_log2;
  table->mask = entries - 1;
  return table;
}

/* The newest table, after an attempt to have one with room for the slot of this number.
 */
static wf_slot_table *grow_table(wf_per_thread *p, uintptr_t number) {
  /* Acquire, here and below: pairs with the release in this function. */
  void *newest = wf_ptr_load_acquire(&p->x_table);
  for (;;) {
    wf_slot_table *table = (wf_slot_table *)newest;
    if (number <= (table->mask + 1) / 2) return table;
    wf_slot_table *larger = make_table(64 - table->shift + 1);
    if (larger == NULL) return table;
    larger->older = table;
    /* Release: pairs with the acquire in wf_per_thread_get and above. */
    if (!wf_ptr_cas_release(&p->x_table, &newest, larger)) free(larger);
    newest = wf_ptr_load_acquire(&p->x_table);
  }
}

/* Enters a slot of the calling thread, which is in the list, unless there is no room or
 * code that ran on top of make_slot has entered it. Only its own thread enters a slot, so
 * nobody else does so meanwhile. */
static void enter_in_table(wf_per_thread *p, wf_thread_slot *slot) {
  wf_slot_table *table = grow_table(p, slot->number);
  if (slot->number > (table->mask + 1) / 2) return; /* it is found in the list */
  uintptr_t i = wf_slot_start(table, slot->key);
  for (;; i++) {
    void *there = NULL;
    /* Release: pairs with the acquire in wf_per_thread_get. */
    if (wf_ptr_cas_release(&table->x_entries[i & table->mask], &there, slot)) return;
    if (there == slot) return;
  }
}

/* ---- slots ---- */

static wf_thread_slot *slot_at(wf_slot_block *block, const wf_per_thread *p, size_t i) {
  char *first = (char *)block + WF_CACHE_LINE;
  return (wf_thread_slot *)(void *)(first + i * (WF_CACHE_LINE + p->size));
}

/* A block for `count` slots that only the calling thread knows, or NULL. */
static wf_slot_block *make_block(const wf_per_thread *p, size_t count) {
  size_t each = WF_CACHE_LINE + p->size;
  if (count > (SIZE_MAX - WF_CACHE_LINE) / each) return NULL;
  size_t bytes = WF_CACHE_LINE + count * each, mapped = 0;
  wf_slot_block *block = (wf_slot_block *)wf_aligned_alloc(WF_CACHE_LINE, bytes);
  if (block == NULL) {
    block = (wf_slot_block *)wf_sys_map(bytes);
    mapped = bytes;
  }
  if (block == NULL) return NULL;
  block->mapped = mapped;
  block->count = count;
  wf_word_init(&block->x_taken, 0);
  return block;
}

static void add_block(wf_per_thread *p, wf_slot_block *block) {
  void *first = wf_ptr_load_relaxed(&p->x_blocks); /* relaxed: the CAS decides */
  do {
    block->older = (wf_slot_block *)first;
    /* Release: pairs with the acquire in take_memory_for_slot and in
     * wf_per_thread_destroy. */
  } while (!wf_ptr_cas_release(&p->x_blocks, &first, block));
}

/* Memory for a slot, the calling thread's alone; NULL if there is none. */
static wf_thread_slot *take_memory_for_slot(wf_per_thread *p) {
  /* Acquire: pairs with the release in add_block. */
  wf_slot_block *block = (wf_slot_block *)wf_ptr_load_acquire(&p->x_blocks);
  for (; block != NULL; block = block->older) {
    /* Relaxed, both: the word only hands out numbers, and nobody has used the memory. */
    if (wf_word_load_relaxed(&block->x_taken) >= block->count) continue;
    size_t i = wf_word_fetch_add_relaxed(&block->x_taken, 1);
    if (i < block->count) return slot_at(block, p, i);
  }
  block = make_block(p, 1);
  if (block == NULL) return NULL;
  wf_word_init(&block->x_taken, 1);
  add_block(p, block);
  return slot_at(block, p, 0);
}

/* From here on the slot is found, and its head is constant. */
static void add_to_list(wf_per_thread *p, wf_thread_slot *slot) {
  void *first = wf_ptr_load_relaxed(&p->x_first); /* relaxed: the CAS decides */
  do {
    slot->next = (wf_thread_slot *)first;
    /* Release: pairs with the acquire in wf_per_thread_first. */
  } while (!wf_ptr_cas_release(&p->x_first, &first, slot));
}

static wf_thread_slot *find_in_list(const wf_per_thread *p, uintptr_t key) {
  const wf_thread_slot *slot = wf_per_thread_first(p);
  while (slot != NULL && slot->key != key) slot = slot->next;
  return (wf_thread_slot *)(uintptr_t)slot;
}

/* Makes a slot for the calling thread. While init runs, it may call weft, and other code
 * on this thread may ask for the slot and make one. Then that one is the thread's, and
 * this one, which init may have filled with something that must be freed, is nobody's: it
 * stays in the list. */
static wf_thread_slot *make_slot(wf_per_thread *p, uintptr_t key) {
  wf_thread_slot *slot = take_memory_for_slot(p);
  if (slot == NULL) return NULL;
  void *memory = wf_slot_memory(slot);
  if (p->init != NULL)
    p->init(memory, p->ctx);
  else
    memset(memory, 0, p->size);
  wf_thread_slot *other = find_in_list(p, key);
  slot->key = other == NULL ? key : 0;
  /* Relaxed: the word only hands out numbers. */
  slot->number = wf_word_fetch_add_relaxed(&p->x_made, 1) + 1;
  add_to_list(p, slot);
  return other == NULL ? slot : other;
}

void *wf_per_thread_get_slow(wf_per_thread *p, uintptr_t key) {
  WF_ASSERT(key != 0);
  wf_thread_slot *slot = find_in_list(p, key);
  if (slot == NULL) slot = make_slot(p, key);
  if (slot == NULL) return NULL;
  enter_in_table(p, slot);
  return wf_slot_memory(slot);
}

int wf_per_thread_reserve(wf_per_thread *p, size_t count) {
  if (count == 0) return 0;
  wf_slot_block *block = make_block(p, count);
  if (block == NULL) return WEFT_ENOMEM;
  add_block(p, block);
  return 0;
}

/* ---- beginning and end ---- */

int wf_per_thread_init(wf_per_thread *p, size_t size, unsigned entries_log2,
                       void (*init)(void *memory, void *ctx), void *ctx) {
  WF_ASSERT(size > 0 && size <= WF_PER_THREAD_MOST && entries_log2 >= 1);
  memset(p, 0, sizeof *p);
  p->size = (size + WF_CACHE_LINE - 1) / WF_CACHE_LINE * WF_CACHE_LINE;
  p->init = init;
  p->ctx = ctx;
  wf_slot_table *table = make_table(entries_log2);
  if (table == NULL) return WEFT_ENOMEM;
  wf_ptr_store_relaxed(&p->x_table, table); /* nobody else knows it yet */
  return 0;
}

void wf_per_thread_destroy(wf_per_thread *p) {
  wf_per_thread_check(p);
  /* Relaxed, twice: the caller knows that all that others did has happened before. */
  wf_slot_table *table = (wf_slot_table *)wf_ptr_load_relaxed(&p->x_table);
  wf_slot_block *block = (wf_slot_block *)wf_ptr_load_relaxed(&p->x_blocks);
  while (table != NULL) {
    wf_slot_table *older = table->older;
    free(table);
    table = older;
  }
  while (block != NULL) {
    wf_slot_block *older = block->older;
    if (block->mapped != 0)
      wf_sys_unmap(block, block->mapped);
    else
      wf_aligned_free(block);
    block = older;
  }
}

#ifdef WEFT_DEBUG

static void check_table(const wf_per_thread *p, const wf_slot_table *table) {
  size_t used = 0;
  for (uintptr_t i = 0; i <= table->mask; i++) {
    const wf_thread_slot *slot =
        (const wf_thread_slot *)wf_ptr_peek(&table->x_entries[i]);
    if (slot == NULL) continue;
    used++;
    WF_ASSERT_SLOW(slot->key != 0 && find_in_list(p, slot->key) == slot);
    WF_ASSERT_SLOW(slot->number <= (table->mask + 1) / 2);
  }
  WF_ASSERT(used <= (table->mask + 1) / 2);
}

void wf_per_thread_check(const wf_per_thread *p) {
  const wf_slot_table *table = (const wf_slot_table *)wf_ptr_peek(&p->x_table);
  uintptr_t listed = 0;
  WF_ASSERT(table != NULL && p->size % WF_CACHE_LINE == 0);
  for (; table != NULL; table = table->older) check_table(p, table);
  for (const wf_thread_slot *s = wf_per_thread_first(p); s != NULL; s = s->next) listed++;
  WF_ASSERT(listed == wf_word_peek(&p->x_made));
}

#else

void wf_per_thread_check(const wf_per_thread *p) {
  (void)p;
}

#endif
