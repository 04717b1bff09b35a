/* par/base/ordered.c - the blocks of ordered output: their memory, the list in which they
 * wait for their turn, and their delivery. ordered.h says who calls and who owns what,
 * ordered.md why nobody waits.
 *
 * SPDX-License-Identifier: MIT */
#include "ordered.h"

#include "../../core/aligned.h"
#include "../../sys/sys.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

/* A block waits as it is if at least this part of its first pages is used. Else it moves
 * to memory of its size, since any number of blocks may wait while the first one takes
 * long. A choice: a fourth wastes at most three times what the results need, and copies
 * little.
 */
enum { WASTE = 4 };

static size_t aligned(size_t bytes) {
  return (bytes + WF_ORDERED_ALIGN - 1) & ~(size_t)(WF_ORDERED_ALIGN - 1);
}

/* A block whose first pages have room for these bytes, all in one piece of memory. */
static wf_ordered_block *new_block(unsigned outputs, const size_t *rooms) {
  size_t bytes = aligned(sizeof(wf_ordered_block));
  for (unsigned l = 0; l < outputs; l++) {
    if (rooms[l] > SIZE_MAX / 4) return NULL;
    bytes += WF_ORDERED_ALIGN + aligned(rooms[l]);
  }
  wf_ordered_block *b = (wf_ordered_block *)wf_aligned_alloc(WF_ORDERED_ALIGN, bytes);
  if (b == NULL) return NULL;
  memset(b, 0, sizeof *b);
  char *at = (char *)b + aligned(sizeof *b);
  for (unsigned l = 0; l < outputs; l++) {
    b->first[l] = b->last[l] = (wf_ordered_page *)(void *)at;
    *b->first[l] = (wf_ordered_page){.room = rooms[l]};
    at += WF_ORDERED_ALIGN + aligned(rooms[l]);
  }
  WF_ASSERT(at == (char *)b + bytes);
  return b;
}

/* A further page; from the system if it is needed and malloc has none. */
static wf_ordered_page *new_page(size_t room, bool is_needed) {
  size_t bytes = WF_ORDERED_ALIGN + aligned(room);
  wf_ordered_page *page = (wf_ordered_page *)wf_aligned_alloc(WF_ORDERED_ALIGN, bytes);
  bool mapped = page == NULL && is_needed;
  if (mapped) page = (wf_ordered_page *)wf_sys_map(bytes);
  if (page == NULL) return NULL;
  *page = (wf_ordered_page){.mapped = mapped ? bytes : 0, .room = room};
  return page;
}

static void free_further_pages(wf_ordered_block *b, unsigned outputs) {
  for (unsigned l = 0; l < outputs; l++) {
    for (wf_ordered_page *page = b->first[l]->next, *next; page != NULL; page = next) {
      next = page->next;
      if (page->mapped != 0)
        wf_sys_unmap(page, page->mapped);
      else
        wf_aligned_free(page);
    }
    b->first[l]->next = NULL;
  }
}

static void free_block(const wf_ordered *o, wf_ordered_block *b) {
  free_further_pages(b, o->outputs);
  wf_aligned_free(b);
}

static void free_list(const wf_ordered *o, wf_ordered_block *b) {
  while (b != NULL) {
    wf_ordered_block *next = b->next;
    free_block(o, b);
    b = next;
  }
}

/* ---- a block that is filled ---- */

void *wf_ordered_enter(void *ordered) {
  wf_ordered *o = (wf_ordered *)ordered;
  wf_lock_lock(&o->lock);
  wf_ordered_block *b = o->idle;
  if (b != NULL) o->idle = b->next;
  wf_lock_unlock(&o->lock);
  WF_ASSERT(b == NULL || !b->is_small);
  return b != NULL ? b : new_block(o->outputs, o->page_bytes);
}

/* Under the lock. */
static void put_idle(wf_ordered *o, wf_ordered_block *b) {
  WF_ASSERT(!b->is_small);
  b->next = o->idle;
  o->idle = b;
}

void wf_ordered_leave(void *block, void *ordered) {
  wf_ordered *o = (wf_ordered *)ordered;
  wf_lock_lock(&o->lock);
  put_idle(o, (wf_ordered_block *)block);
  wf_lock_unlock(&o->lock);
}

void wf_ordered_start(wf_ordered *o, wf_ordered_block *b, size_t begin, size_t end) {
  WF_ASSERT(begin < end && !b->is_small);
  free_further_pages(b, o->outputs);
  for (unsigned l = 0; l < o->outputs; l++) {
    b->first[l]->used = 0;
    b->last[l] = b->first[l];
    b->count[l] = 0;
  }
  b->begin = begin;
  b->end = end;
  b->lost = false;
}

bool wf_ordered_put(wf_ordered *o, wf_ordered_block *b, unsigned output,
                    const char *elems, size_t n) {
  const size_t size = o->size[output];
  WF_ASSERT(output < o->outputs && !b->lost);
  while (n > 0) {
    wf_ordered_page *page = b->last[output];
    size_t fit = (page->room - page->used) / size;
    if (fit > n) fit = n;
    memcpy(wf_ordered_data(page) + page->used, elems, fit * size);
    page->used += fit * size;
    b->count[output] += fit;
    elems += fit * size;
    n -= fit;
    WF_ASSERT(page->used <= page->room);
    if (n == 0) return true;
    page->next = new_page(o->page_bytes[output], o->is_needed);
    if (page->next == NULL) {
      b->lost = true;
      return false;
    }
    b->last[output] = page->next;
  }
  return true;
}

/* ---- turns ---- */

/* Under the lock. Blocks come nearly in order, so the place is searched from the end. */
static void insert_block(wf_ordered *o, wf_ordered_block *b) {
  wf_ordered_block *before = o->last;
  while (before != NULL && before->begin > b->begin) before = before->previous;
  WF_ASSERT(b->begin >= o->delivered && !b->lost);
  WF_ASSERT(before == NULL || before->end <= b->begin);
  b->previous = before;
  b->next = before != NULL ? before->next : o->first;
  WF_ASSERT(b->next == NULL || b->end <= b->next->begin);
  *(b->next != NULL ? &b->next->previous : &o->last) = b;
  *(before != NULL ? &before->next : &o->first) = b;
}

/* Under the lock. Takes the first block of the list if it has its turn, and gives it its
 * place; else returns NULL. */
static wf_ordered_block *take_turn(wf_ordered *o) {
  wf_ordered_block *b = o->first;
  if (b == NULL || b->begin != o->delivered || o->delivering) return NULL;
  o->first = b->next;
  *(b->next != NULL ? &b->next->previous : &o->last) = NULL;
  for (unsigned l = 0; l < o->outputs; l++) {
    b->at[l] = o->count[l];
    o->count[l] += b->count[l];
  }
  o->delivering = o->one_at_a_time;
  o->delivered = b->end;
  return b;
}

/* Under the lock. Blocks are taken in order, so they are appended in order. */
static void keep_block(wf_ordered *o, wf_ordered_block *b) {
  WF_ASSERT(o->kept_last == NULL || o->kept_last->end <= b->begin);
  b->next = NULL;
  *(o->kept_last != NULL ? &o->kept_last->next : &o->kept) = b;
  o->kept_last = b;
}

/* Under the lock, which it gives up while it delivers: all blocks that have their turn.
 * The first one that can be used again is for *mine, unless the caller has one already.
 */
static void settle(wf_ordered *o, wf_ordered_block **mine) {
  wf_ordered_block *b;
  while ((b = take_turn(o)) != NULL) {
    if (o->keeps) {
      keep_block(o, b);
      continue;
    }
    wf_lock_unlock(&o->lock);
    o->deliver(b, o->ctx);
    const bool is_small = b->is_small;
    if (is_small) free_block(o, b);
    wf_lock_lock(&o->lock);
    o->delivering = false;
    if (is_small) continue;
    if (*mine == NULL)
      *mine = b;
    else
      put_idle(o, b);
  }
}

/* The block in memory of its size, or NULL: it stays where it is. */
static wf_ordered_block *shrink(const wf_ordered *o, const wf_ordered_block *b) {
  size_t used[WF_ORDERED_OUTPUTS] = {0, 0}, all = 0, room = 0;
  for (unsigned l = 0; l < o->outputs; l++) {
    if (b->first[l]->next != NULL) return NULL;
    used[l] = b->first[l]->used;
    all += used[l];
    room += b->first[l]->room;
  }
  if (all > room / WASTE) return NULL;
  wf_ordered_block *small = new_block(o->outputs, used);
  if (small == NULL) return NULL;
  small->begin = b->begin;
  small->end = b->end;
  small->is_small = true;
  for (unsigned l = 0; l < o->outputs; l++) {
    small->count[l] = b->count[l];
    small->first[l]->used = used[l];
    memcpy(wf_ordered_data(small->first[l]), wf_ordered_data(b->first[l]), used[l]);
  }
  return small;
}

wf_ordered_block *wf_ordered_hand_over(wf_ordered *o, wf_ordered_block *b) {
  wf_ordered_block *mine = NULL;
  wf_lock_lock(&o->lock);
  if (b->begin != o->delivered || o->keeps) { /* it will wait, or be kept */
    wf_lock_unlock(&o->lock);
    wf_ordered_block *small = shrink(o, b);
    if (small != NULL) {
      mine = b;
      b = small;
    }
    wf_lock_lock(&o->lock);
  }
  insert_block(o, b);
  settle(o, &mine);
  wf_lock_unlock(&o->lock);
  return mine != NULL ? mine : (wf_ordered_block *)wf_ordered_enter(o);
}

/* ---- the end ---- */

size_t wf_ordered_gap(wf_ordered *o, size_t n) {
  wf_ordered_block *free_now = NULL;
  wf_lock_lock(&o->lock); /* nobody else is here: for `settle`, which gives it up */
  settle(o, &free_now);
  if (free_now != NULL) put_idle(o, free_now);
  wf_lock_unlock(&o->lock);
  WF_ASSERT(!o->delivering && o->delivered <= n);
  return o->first != NULL ? o->first->begin : n;
}

void wf_ordered_free_kept(wf_ordered *o) {
  free_list(o, o->kept);
  o->kept = o->kept_last = NULL;
}

void wf_ordered_free(wf_ordered *o) {
  wf_ordered_free_kept(o);
  free_list(o, o->first); /* cancelled, or out of memory */
  free_list(o, o->idle);
  o->first = o->last = o->idle = NULL;
}
