/* par/base/pack.c - takes an array apart by order-keeping compaction, in one pass.
 *
 * Threads take blocks from the front of the array and compact each into a buffer of their
 * own that stays in the cache. Where a block's survivors belong is known when all blocks
 * in front of it are compacted; usually they are, and the buffer is copied there at once.
 * If not, it waits in a list, and its thread goes on with another buffer; whoever
 * completes what was missing copies it. What waits and fills little of its buffer moves
 * to memory of its own size, for there may be any number of such blocks while the first
 * one takes its time. So nobody ever waits, the leaf sees each element
 * once, and no more is written than survives. What is placed lands where all elements
 * were read already: the destination may be the source.
 *
 * A thread that gets no memory for another buffer ends. One always goes on: the block in
 * front of all others that are at work can be placed at once, and its buffer is free
 * again. Only if not even the first buffer could be had, the calling thread does the
 * work with a small one on its stack.
 *
 * SPDX-License-Identifier: MIT */
#include "pack.h"

#include "bytes.h"
#include "crew.h"

#include <stdlib.h>
#include <string.h>
#include <weft/detail/typed_function.h>

/* Of a buffer, without its head; unless one element is larger. In a second-level cache it
 * is good enough, and a fourth of it would make blocks of numbers so short that threads
 * wait for the lock. */
enum { PACK_BYTES = 128 << 10, PACK_ALIGN = 64 };

/* A buffer waits as it is if at least this part of it is used. */
enum { PACK_WASTE = 4 };

typedef struct pack_buffer {
  struct pack_buffer *next, *previous; /* in the list, by begin */
  size_t begin, end;                   /* the block */
  size_t kept;
  size_t rest_at; /* bytes from the survivors to the others */
  bool is_small;  /* has room for just this block, and is freed when that is placed */
} pack_buffer;

typedef struct pack_job {
  wf_packing *p;
  size_t capacity;  /* elements of a buffer; as many again if the rest is wanted */
  bool past_caches; /* the destination is not in a cache, nor will be */
  wf_lock lock;
  /* Under the lock. */
  size_t placed, kept;       /* places are given up to here, so many survive there */
  pack_buffer *first, *last; /* compacted, but what is in front of them is not */
  pack_buffer *free_list;    /* by next */
} pack_job;

/* For elements of any alignment. */
static char *pack_data(pack_buffer *b) {
  return (char *)b + PACK_ALIGN;
}

static char *pack_rest(const pack_job *j, pack_buffer *b) {
  return j->p->rest != NULL ? pack_data(b) + b->rest_at : NULL;
}

/* For so many bytes of elements. */
static pack_buffer *pack_alloc(size_t bytes) {
  bytes += 2 * (size_t)PACK_ALIGN - 1;
  return (pack_buffer *)aligned_alloc(PACK_ALIGN, bytes - bytes % PACK_ALIGN);
}

static void *pack_enter(void *ctx) {
  pack_job *j = (pack_job *)ctx;
  wf_lock_lock(&j->lock);
  pack_buffer *b = j->free_list;
  if (b != NULL) j->free_list = b->next;
  wf_lock_unlock(&j->lock);
  if (b != NULL) return b;
  size_t bytes = j->capacity * j->p->size;
  b = pack_alloc(j->p->rest != NULL ? 2 * bytes : bytes);
  if (b == NULL) return NULL;
  b->rest_at = bytes;
  b->is_small = false;
  return b;
}

static void pack_leave(void *own, void *ctx) {
  pack_job *j = (pack_job *)ctx;
  pack_buffer *b = (pack_buffer *)own;
  wf_lock_lock(&j->lock);
  b->next = j->free_list;
  j->free_list = b;
  wf_lock_unlock(&j->lock);
}

/* Blocks come nearly in order, so the place is found from the end. */
static void pack_insert(pack_job *j, pack_buffer *b) {
  pack_buffer *before = j->last;
  while (before != NULL && before->begin > b->begin) before = before->previous;
  b->previous = before;
  b->next = before != NULL ? before->next : j->first;
  *(b->next != NULL ? &b->next->previous : &j->last) = b;
  *(before != NULL ? &before->next : &j->first) = b;
}

/* Takes the first block of the list if its place is known by now, else returns NULL. */
static pack_buffer *pack_take(pack_job *j, size_t *kept_before) {
  pack_buffer *b = j->first;
  if (b == NULL || b->begin != j->placed) return NULL;
  j->first = b->next;
  *(b->next != NULL ? &b->next->previous : &j->last) = NULL;
  *kept_before = j->kept;
  j->placed = b->end;
  j->kept += b->kept;
  return b;
}

static void pack_place(const pack_job *j, pack_buffer *b, size_t kept_before) {
  const wf_packing *p = j->p;
  char *to = (char *)p->dst + kept_before * p->size;
  size_t others = b->end - b->begin - b->kept;
  /* In place and all kept: it is there already, and the block behind may look at it. */
  if (b->kept > 0 && (others > 0 || to != (const char *)p->src + b->begin * p->size)) {
    wf_copy_bytes(to, pack_data(b), b->kept * p->size, j->past_caches);
  }
  if (p->rest != NULL && others > 0)
    memcpy((char *)p->rest + (b->begin - kept_before) * p->size,
           pack_data(b) + b->rest_at, others * p->size);
}

/* The block in memory of its size, or NULL: it stays in its buffer. */
static pack_buffer *pack_shrink(const pack_job *j, pack_buffer *b) {
  size_t size = j->p->size, room = j->capacity * size, kept = b->kept * size;
  size_t others = j->p->rest != NULL ? (b->end - b->begin) * size - kept : 0;
  if (kept + others > room / PACK_WASTE) return NULL;
  pack_buffer *small = pack_alloc(kept + others);
  if (small == NULL) return NULL;
  *small = *b;
  small->rest_at = kept;
  small->is_small = true;
  memcpy(pack_data(small), pack_data(b), kept);
  if (others > 0) memcpy(pack_data(small) + kept, pack_data(b) + b->rest_at, others);
  return small;
}

static void *pack_block(void *own, size_t begin, size_t end, void *ctx) {
  pack_job *j = (pack_job *)ctx;
  const wf_packing *p = j->p;
  pack_buffer *b = (pack_buffer *)own, *mine = NULL;
  size_t kept_before = 0;
  b->begin = begin;
  b->end = end;
  b->kept = p->leaf(pack_data(b), pack_rest(j, b), (const char *)p->src + begin * p->size,
                    end - begin, p->ctx);
  wf_lock_lock(&j->lock);
  if (begin != j->placed) {
    wf_lock_unlock(&j->lock);
    pack_buffer *small = pack_shrink(j, b);
    if (small != NULL) {
      mine = b;
      b = small;
    }
    wf_lock_lock(&j->lock);
  }
  pack_insert(j, b);
  while ((b = pack_take(j, &kept_before)) != NULL) {
    wf_lock_unlock(&j->lock);
    pack_place(j, b, kept_before);
    const bool is_small = b->is_small;
    if (is_small) free(b);
    wf_lock_lock(&j->lock);
    if (is_small) continue;
    if (mine == NULL) {
      mine = b;
    } else {
      b->next = j->free_list;
      j->free_list = b;
    }
  }
  wf_lock_unlock(&j->lock);
  return mine != NULL ? mine : (pack_buffer *)pack_enter(j);
}

/* From p->done on, with the calling thread alone. */
static void pack_serial(const weft_opts *opts, wf_packing *p) {
  enum { BYTES = 3072 };
  _Alignas(PACK_ALIGN) char kept[BYTES], rest[BYTES];
  const bool direct = p->size > WF_KERNEL_SMALL;
  const size_t step = direct ? 1 : BYTES / p->size;
  char *dst = (char *)p->dst, *others = (char *)p->rest;
  const char *src = (const char *)p->src;
  while (p->done < p->n && !wf_par_cancelled(opts)) {
    size_t n = p->n - p->done < step ? p->n - p->done : step;
    char *to = dst + p->kept * p->size;
    char *rest_to = others != NULL ? others + (p->done - p->kept) * p->size : NULL;
    size_t k = p->leaf(direct ? to : kept, direct || others == NULL ? rest_to : rest,
                       src + p->done * p->size, n, p->ctx);
    if (!direct) {
      if (k > 0) memcpy(to, kept, k * p->size);
      if (others != NULL && k < n) memcpy(rest_to, rest, (n - k) * p->size);
    }
    p->done += n;
    p->kept += k;
  }
}

void wf_pack(const weft_opts *opts, wf_packing *p) {
  pack_job j = {.p = p, .capacity = PACK_BYTES / p->size};
  if (j.capacity == 0) j.capacity = 1;
  if (j.capacity > p->n) j.capacity = p->n;
  j.past_caches = p->dst != p->src && p->n >= WF_PAST_CACHES_RESULT / p->size;
  wf_crew crew = {.enter = pack_enter,
                  .block = pack_block,
                  .leave = pack_leave,
                  .ctx = &j,
                  .max_len = j.capacity};
  p->done = p->kept = 0;
  if (p->n > 1 && wf_par_crew(opts) > 1) {
    wf_crew_run(opts, p->n, &crew);
    p->done = j.placed;
    p->kept = j.kept;
    for (pack_buffer *b = j.free_list, *next; b != NULL; b = next) {
      next = b->next;
      free(b);
    }
  }
  pack_serial(opts, p);
}
