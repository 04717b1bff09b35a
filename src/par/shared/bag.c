/* par/shared/bag.c - weft_bag: a growing array that any thread adds to.
 *
 * Called by programs, on any thread. Each thread has a part of its own
 * (core/per_thread.c) and adds to the newest chunk of that; no two threads write to the
 * same memory. Chunks never move, and each is twice as long as the one before, so there
 * are few of them. What reads the whole bag runs when nobody adds, and relies on the end
 * of the loop or scope that has added; only the counts may be read at any time.
 *
 * SPDX-License-Identifier: MIT */
#include "../../core/aligned.h"
#include "../../core/per_thread.h"
#include "../base/bytes.h"
#include "../base/call.h"
#include "shared.h"

#include <stdlib.h>
#include <weft/array.h>
#include <weft/bag.h>

/* A thread's first chunk has about this many bytes, and at least one element. A choice: a
 * page, since the thread will probably add more than a few. */
enum { FIRST_CHUNK = 4096 };

/* The head of a chunk: a cache line, so that elements are aligned as from malloc and
 * better. Invariant: used <= room. `used` is set for all chunks but the newest one of a
 * part; that one has room - left elements. */
typedef struct bag_chunk {
  struct bag_chunk *newer;
  size_t room, used; /* elements */
} bag_chunk;

/* Of one thread. Invariants: next + left * size is the end of the newest chunk; x_count
 * is the number of elements in all chunks. */
typedef struct bag_part {
  char *next;                 /* where the next element goes */
  size_t left;                /* elements that fit from there on */
  bag_chunk *oldest, *newest; /* `newer` leads from one to the other */
  wf_u64 x_count;             /* written by its thread, read by any */
} bag_part;

struct weft_bag {
  wf_per_thread parts;
  size_t size; /* of an element */
};

int weft_bag_create(weft_bag **out, size_t size) {
  if (out == NULL) return WEFT_EINVAL;
  *out = NULL;
  if (size == 0 || size > WF_PER_THREAD_MOST) return WEFT_EINVAL;
  weft_bag *b = (weft_bag *)malloc(sizeof *b);
  if (b == NULL) return WEFT_ENOMEM;
  b->size = size;
  int status =
      wf_per_thread_init(&b->parts, sizeof(bag_part), WF_FIRST_ENTRIES_LOG2, NULL, NULL);
  if (status != 0)
    free(b);
  else
    *out = b;
  return status;
}

/* ---- adding ---- */

static char *chunk_elements(bag_chunk *chunk) {
  return (char *)chunk + WF_CACHE_LINE;
}

static bag_chunk *make_chunk(size_t size, size_t room) {
  if (room > (SIZE_MAX - 2 * WF_CACHE_LINE) / size) return NULL;
  size_t bytes = WF_CACHE_LINE + room * size;
  bytes = (bytes + WF_CACHE_LINE - 1) / WF_CACHE_LINE * WF_CACHE_LINE;
  bag_chunk *chunk = (bag_chunk *)wf_aligned_alloc(WF_CACHE_LINE, bytes);
  if (chunk == NULL) return NULL;
  wf_sys_prefer_large_pages(chunk, bytes);
  chunk->newer = NULL;
  chunk->room = room;
  chunk->used = 0;
  return chunk;
}

/* A chunk for `wanted` elements or more behind those that the part has; NULL without
 * memory. Where there is none for twice as many as before, fewer will do. */
static bag_chunk *chunk_for(const bag_part *part, size_t size, size_t wanted) {
  size_t first = FIRST_CHUNK / size, room = first > 0 ? first : 1;
  if (part->newest != NULL && part->newest->room > room) room = part->newest->room;
  if (part->newest != NULL && room <= SIZE_MAX / 2) room *= 2;
  if (room < wanted) room = wanted;
  bag_chunk *chunk = make_chunk(size, room);
  return chunk == NULL && room > wanted ? make_chunk(size, wanted) : chunk;
}

/* Copies elements to the newest chunk, in which there is room for them. */
static void fill_chunk(bag_part *part, const char *from, size_t n, size_t size) {
  WF_ASSERT(n <= part->left);
  memcpy(part->next, from, n * size);
  part->next += n * size;
  part->left -= n;
}

/* The next elements go to this chunk. */
static void use_chunk(bag_part *part, bag_chunk *chunk) {
  if (part->newest != NULL) {
    part->newest->used = part->newest->room - part->left;
    part->newest->newer = chunk;
  } else {
    part->oldest = chunk;
  }
  part->newest = chunk;
  part->next = chunk_elements(chunk);
  part->left = chunk->room;
}

static int add_many(bag_part *part, const char *from, size_t n, size_t size) {
  size_t here = n < part->left ? n : part->left;
  bag_chunk *chunk = NULL;
  if (here < n && (chunk = chunk_for(part, size, n - here)) == NULL) return WEFT_ENOMEM;
  if (here > 0) fill_chunk(part, from, here, size);
  if (chunk != NULL) {
    use_chunk(part, chunk);
    fill_chunk(part, from + here * size, n - here, size);
  }
  wf_u64_count(&part->x_count, n);
  return 0;
}

int weft_bag_add(weft_bag *b, const void *elem) {
  wf_refuse_if(b == NULL, "weft_bag_add", "the bag is NULL");
  wf_refuse_if(elem == NULL, "weft_bag_add", "the element is NULL");
  bag_part *part = (bag_part *)wf_per_thread_get(&b->parts, wf_thread_key());
  if (WF_UNLIKELY(part == NULL)) return WEFT_ENOMEM;
  if (WF_UNLIKELY(part->left == 0)) return add_many(part, (const char *)elem, 1, b->size);
  wf_copy_element(part->next, elem, b->size);
  part->next += b->size;
  part->left--;
  wf_u64_count(&part->x_count, 1);
  return 0;
}

int weft_bag_add_many(weft_bag *b, const void *base, size_t n) {
  wf_refuse_if(b == NULL, "weft_bag_add_many", "the bag is NULL");
  wf_refuse_if(base == NULL && n > 0, "weft_bag_add_many", "an array is NULL");
  if (n == 0) return 0;
  bag_part *part = (bag_part *)wf_per_thread_get(&b->parts, wf_thread_key());
  if (part == NULL) return WEFT_ENOMEM;
  return add_many(part, (const char *)base, n, b->size);
}

/* ---- the whole bag ---- */

/* Calls visit(elements, count, ctx) for each chunk of the bag; the oldest of a part
 * first.
 */
static void each_chunk(const weft_bag *b, void (*visit)(char *, size_t, void *),
                       void *ctx) {
  const wf_thread_slot *slot = wf_per_thread_first(&b->parts);
  for (; slot != NULL; slot = slot->next) {
    const bag_part *part = (const bag_part *)wf_slot_memory(slot);
    for (bag_chunk *chunk = part->oldest; chunk != NULL; chunk = chunk->newer) {
      size_t used = chunk == part->newest ? chunk->room - part->left : chunk->used;
      WF_ASSERT(used <= chunk->room);
      if (used > 0) visit(chunk_elements(chunk), used, ctx);
    }
  }
}

size_t weft_bag_count(const weft_bag *b) {
  wf_refuse_if(b == NULL, "weft_bag_count", "the bag is NULL");
  size_t count = 0;
  const wf_thread_slot *slot = wf_per_thread_first(&b->parts);
  for (; slot != NULL; slot = slot->next) {
    const bag_part *part = (const bag_part *)wf_slot_memory(slot);
    count += (size_t)wf_u64_load_relaxed(&part->x_count); /* any recent number will do */
  }
  return count;
}

typedef struct bag_copying {
  char *dst;
  size_t size;
} bag_copying;

static void copy_chunk(char *elements, size_t count, void *ctx) {
  bag_copying *c = (bag_copying *)ctx;
  weft_copy(c->dst, elements, count, c->size);
  c->dst += count * c->size;
}

void weft_bag_copy(void *dst, const weft_bag *b) {
  wf_refuse_if(b == NULL, "weft_bag_copy", "the bag is NULL");
  wf_refuse_if(dst == NULL && weft_bag_count(b) > 0, "weft_bag_copy", "an array is NULL");
  bag_copying c = {(char *)dst, b->size};
  each_chunk(b, copy_chunk, &c);
}

typedef struct bag_visit {
  size_t size;
  void (*fn)(void *elem, void *ctx);
  void *ctx;
} bag_visit;

static void visit_chunk(char *elements, size_t count, void *ctx) {
  const bag_visit *v = (const bag_visit *)ctx;
  for (size_t i = 0; i < count; i++) v->fn(elements + i * v->size, v->ctx);
}

void weft_bag_each(weft_bag *b, void (*fn)(void *elem, void *ctx), void *ctx) {
  wf_refuse_if(b == NULL, "weft_bag_each", "the bag is NULL");
  wf_refuse_if(fn == NULL, "weft_bag_each", "the function is NULL");
  bag_visit v = {b->size, fn, ctx};
  each_chunk(b, visit_chunk, &v);
}

/* Frees the chunks of a part up to this one, or all if it is NULL. */
static void free_chunks(const bag_part *part, const bag_chunk *end) {
  bag_chunk *chunk = part->oldest;
  while (chunk != end) {
    bag_chunk *newer = chunk->newer;
    wf_aligned_free(chunk);
    chunk = newer;
  }
}

/* Each thread keeps its newest chunk, which is the longest or nearly so. */
void weft_bag_clear(weft_bag *b) {
  wf_refuse_if(b == NULL, "weft_bag_clear", "the bag is NULL");
  const wf_thread_slot *slot = wf_per_thread_first(&b->parts);
  for (; slot != NULL; slot = slot->next) {
    bag_part *part = (bag_part *)wf_slot_memory(slot);
    if (part->newest == NULL) continue;
    free_chunks(part, part->newest);
    part->oldest = part->newest;
    part->next = chunk_elements(part->newest);
    part->left = part->newest->room;
    wf_u64_store_relaxed(&part->x_count, 0); /* nobody else uses the bag */
  }
}

void weft_bag_destroy(weft_bag *b) {
  if (b == NULL) return;
  const wf_thread_slot *slot = wf_per_thread_first(&b->parts);
  for (; slot != NULL; slot = slot->next)
    free_chunks((const bag_part *)wf_slot_memory(slot), NULL);
  wf_per_thread_destroy(&b->parts);
  free(b);
}
