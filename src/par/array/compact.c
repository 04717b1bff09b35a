/* par/array/compact.c - takes an array apart by a compaction that keeps the order, in one
 * pass. Called by array/filter.c inside the pool.
 *
 * Threads take blocks from the front of the array (base/crew.h) and compact each into
 * memory of their own that stays in the cache; base/ordered.h brings it to its place when
 * all blocks before it are compacted. So nobody ever waits, the leaf sees each element
 * once, and no more is written than survives. What is placed lands where all elements
 * were read already: the destination may be the source.
 *
 * A thread takes no array block before it has memory for all of its results, so there are
 * no gaps. Threads that get no memory end. If no thread had any, the calling thread does
 * the work with a little memory on its stack.
 *
 * SPDX-License-Identifier: MIT */
#include "array.h"

#include "../base/bytes.h"
#include "../base/crew.h"
#include "../base/ordered.h"

#include <string.h>
#include <weft/detail/typed_function.h>

/* Results of a block, at most. With 32 KiB, blocks of numbers were so short that threads
 * met at the lock: 3 M doubles of which one in a hundred stays took two threads 1.24 ms
 * instead of 0.87, 10 M 4.63 instead of 2.97. It still fits into a second-level cache. */
enum { COMPACT_BYTES = 128 << 10 };

/* What the calling thread takes of its stack, twice, if there is no memory. A choice. */
enum { COMPACT_STACK = 3072 };

typedef struct compact_job {
  wf_compaction *c;
  wf_ordered ordered; /* output 0: what is kept, 1: the rest if it is wanted */
  bool past_caches;   /* the destination is not in a cache, and will not fit into one */
} compact_job;

/* Brings the survivors of a block to their place, and the others to theirs. */
static void compact_place(wf_ordered_block *b, void *ctx) {
  const compact_job *j = (const compact_job *)ctx;
  const wf_compaction *c = j->c;
  const size_t size = c->size, kept = b->count[0], others = b->end - b->begin - kept;
  char *to = (char *)c->dst + b->at[0] * size;
  WF_ASSERT(b->at[0] <= b->begin && kept <= b->end - b->begin);
  /* In place and all kept: it is there already, and the thread that has the next block
   * may read it (unique compares with the element before). */
  if (kept > 0 && (others > 0 || to != (const char *)c->src + b->begin * size))
    wf_copy_bytes(to, wf_ordered_data(b->first[0]), kept * size, j->past_caches);
  if (c->rest == NULL || others == 0) return;
  WF_ASSERT(b->count[1] == others && b->at[1] == b->begin - b->at[0]);
  memcpy((char *)c->rest + b->at[1] * size, wf_ordered_data(b->first[1]), others * size);
}

static void *compact_block(void *own, size_t begin, size_t end, void *ctx) {
  wf_ordered *o = (wf_ordered *)ctx;
  const wf_compaction *c = ((const compact_job *)o->ctx)->c;
  wf_ordered_block *b = (wf_ordered_block *)own;
  wf_ordered_start(o, b, begin, end);
  size_t kept = c->leaf(wf_ordered_data(b->first[0]),
                        c->rest != NULL ? wf_ordered_data(b->first[1]) : NULL,
                        (const char *)c->src + begin * c->size, end - begin, c->ctx);
  wf_ordered_wrote(o, b, 0, kept);
  if (c->rest != NULL) wf_ordered_wrote(o, b, 1, end - begin - kept);
  return wf_ordered_hand_over(o, b);
}

/* From c->done on, with the calling thread alone. */
static void compact_serial(wf_compaction *c) {
  _Alignas(WF_ORDERED_ALIGN) char kept[COMPACT_STACK], rest[COMPACT_STACK];
  const bool direct =
      c->size > WF_TYPED_SMALL; /* the leaf writes no more than it keeps */
  const size_t step = direct ? 1 : COMPACT_STACK / c->size;
  char *dst = (char *)c->dst, *others = (char *)c->rest;
  const char *src = (const char *)c->src;
  while (c->done < c->n && !wf_par_cancelled(c->opts)) {
    size_t n = c->n - c->done < step ? c->n - c->done : step;
    char *to = dst + c->kept * c->size;
    char *rest_to = others != NULL ? others + (c->done - c->kept) * c->size : NULL;
    size_t k = c->leaf(direct ? to : kept, direct || others == NULL ? rest_to : rest,
                       src + c->done * c->size, n, c->ctx);
    WF_ASSERT(k <= n);
    if (!direct) {
      if (k > 0) memcpy(to, kept, k * c->size);
      if (others != NULL && k < n) memcpy(rest_to, rest, (n - k) * c->size);
    }
    c->done += n;
    c->kept += k;
  }
}

static void compact_with_crew(wf_compaction *c) {
  compact_job j = {.c = c};
  size_t capacity = COMPACT_BYTES / c->size;
  if (capacity == 0) capacity = 1;
  if (capacity > c->n) capacity = c->n;
  j.past_caches = c->dst != c->src && c->n >= WF_PAST_CACHES_RESULT / c->size;
  j.ordered.outputs = c->rest != NULL ? 2 : 1;
  j.ordered.size[0] = j.ordered.size[1] = c->size;
  j.ordered.page_bytes[0] = j.ordered.page_bytes[1] = capacity * c->size;
  j.ordered.deliver = compact_place;
  j.ordered.ctx = &j;
  wf_crew crew = {.enter = wf_ordered_enter,
                  .block = compact_block,
                  .leave = wf_ordered_leave,
                  .ctx = &j.ordered,
                  .max_len = capacity};
  size_t taken = wf_crew_run(c->opts, c->n, &crew);
  WF_ASSERT(j.ordered.delivered == taken && j.ordered.first == NULL);
  (void)taken; /* for the assertion */
  c->done = j.ordered.delivered;
  c->kept = j.ordered.count[0];
  wf_ordered_free(&j.ordered);
}

void wf_compact(void *ctx) {
  wf_compaction *c = (wf_compaction *)ctx;
  c->done = c->kept = 0;
  if (c->n > 1 && wf_par_crew(c->opts) > 1) compact_with_crew(c);
  compact_serial(c);
}
