/* trace/ring.h - a ring of records with one writer and one reader.
 *
 * The writer never waits: what does not fit is dropped and counted. Records come in pairs
 * that are nested, a beginning and an end, and single ones between them. A beginning is
 * written only if there is still room for its end, and for the ends of all that are open:
 * so what the reader sees is always nested, however much was dropped. README.md has the
 * protocol; tests/explore/trace.c runs it through its interleavings.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_TRACE_RING_H
#define WF_TRACE_RING_H

#include "../core/assert.h"
#include "../core/atomic.h"

/* One event: 32 bytes, two in a cache line. The stamp is the time in nanoseconds in its
 * lower 56 bits (two years), then the kind, then the number of the session. */
typedef struct wf_record {
  uint64_t stamp;
  uint64_t a, b, c; /* as the kind says; see record.h */
} wf_record;

/* Invariants:
 *
 *     x_tail <= x_head <= x_tail + capacity
 *     x_head - x_tail + open <= capacity: each open beginning has room for its end
 *     seen_tail <= x_tail
 *     skipped > 0: a beginning was dropped, and everything inside it is dropped too
 *
 * Records in [x_tail, x_head) are the reader's, all others are the writer's. */
typedef struct wf_rec_ring {
  /* The writer's. */
  wf_record *records;
  uint64_t capacity; /* a power of two */
  uint64_t seen_tail;
  uint64_t open;    /* beginnings that were written and have no end yet */
  uint64_t skipped; /* beginnings that were dropped and have no end yet */
  uint32_t session; /* for which `open` and `skipped` hold */
  wf_u64 x_head;    /* where the next record goes; read by the reader */
  wf_u64 x_dropped; /* records of the session; read by the reader */
  /* The reader's. */
  _Alignas(WF_CACHE_LINE) wf_u64 x_tail; /* read by the writer */
} wf_rec_ring;

static inline void wf_rec_ring_init(wf_rec_ring *ring, wf_record *records,
                                    uint64_t capacity) {
  WF_ASSERT(capacity >= 4 && (capacity & (capacity - 1)) == 0);
  ring->records = records;
  ring->capacity = capacity;
}

/* ---- the writer ---- */

/* The record for a beginning, an end, or a moment in this session; NULL: it is dropped.
 * The caller fills it and calls wf_rec_ring_publish. */
wf_record *wf_rec_ring_begin(wf_rec_ring *ring, uint32_t session);
wf_record *wf_rec_ring_end(wf_rec_ring *ring, uint32_t session);
wf_record *wf_rec_ring_moment(wf_rec_ring *ring, uint32_t session);

/* The record is the reader's from here on. The writer looks four times a round how full
 * the ring is; true if it is half full. */
bool wf_rec_ring_publish(wf_rec_ring *ring);

/* ---- the reader ---- */

/* The records [*tail, result) are the reader's until wf_rec_ring_give_back(ring, result).
 */
uint64_t wf_rec_ring_read(const wf_rec_ring *ring, uint64_t *tail);
void wf_rec_ring_give_back(wf_rec_ring *ring, uint64_t tail);

static inline const wf_record *wf_rec_ring_at(const wf_rec_ring *ring, uint64_t index) {
  return &ring->records[index & (ring->capacity - 1)];
}

static inline uint64_t wf_rec_ring_dropped(const wf_rec_ring *ring) {
  return wf_u64_load_relaxed(&ring->x_dropped); /* relaxed: a number for people */
}

#endif
