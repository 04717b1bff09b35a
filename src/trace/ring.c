/* trace/ring.c - the ring of records that one thread writes and another one reads. The
 * first part runs on the thread in the worker's place, the second on the thread that
 * writes the file. ring.h has the invariants.
 *
 * SPDX-License-Identifier: MIT */
#include "ring.h"

/* ---- the writer ---- */

/* What was open when an earlier session ended has no end in this one. */
static void ring_enter_session(wf_rec_ring *ring, uint32_t session) {
  if (ring->session == session) return;
  ring->session = session;
  ring->open = ring->skipped = 0;
  wf_u64_store_relaxed(&ring->x_dropped, 0); /* relaxed: a number for people */
}

static uint64_t ring_own_head(const wf_rec_ring *ring) {
  return wf_u64_load_relaxed(&ring->x_head); /* relaxed: the writer's own word */
}

/* Are `wanted` records free, apart from those that the open beginnings need? The reader's
 * word is looked at only if what is known of it does not suffice. */
static bool ring_has_room(wf_rec_ring *ring, uint64_t wanted) {
  uint64_t head = ring_own_head(ring);
  uint64_t needed = ring->open + wanted;
  if (head - ring->seen_tail + needed <= ring->capacity) return true;
  /* Acquire: pairs with the release in wf_rec_ring_give_back: the reader has read the
   * records that are written again. */
  ring->seen_tail = wf_u64_load_acquire(&ring->x_tail);
  WF_ASSERT(head - ring->seen_tail <= ring->capacity);
  return head - ring->seen_tail + needed <= ring->capacity;
}

static wf_record *ring_next(const wf_rec_ring *ring) {
  uint64_t head = ring_own_head(ring);
  WF_ASSERT(head - ring->seen_tail < ring->capacity);
  return &ring->records[head & (ring->capacity - 1)];
}

static wf_record *ring_drop(wf_rec_ring *ring) {
  wf_u64_count(&ring->x_dropped, 1);
  return NULL;
}

wf_record *wf_rec_ring_begin(wf_rec_ring *ring, uint32_t session) {
  ring_enter_session(ring, session);
  if (ring->skipped > 0 || !ring_has_room(ring, 2)) {
    ring->skipped++;
    return ring_drop(ring);
  }
  ring->open++;
  return ring_next(ring);
}

wf_record *wf_rec_ring_end(wf_rec_ring *ring, uint32_t session) {
  ring_enter_session(ring, session);
  if (ring->skipped > 0) {
    ring->skipped--;
    return ring_drop(ring);
  }
  if (ring->open == 0) return NULL; /* it began before the session */
  ring->open--;
  bool has_room = ring_has_room(ring, 1); /* the room was kept; looks at the tail */
  WF_ASSERT(has_room);
  (void)has_room;
  return ring_next(ring);
}

wf_record *wf_rec_ring_moment(wf_rec_ring *ring, uint32_t session) {
  ring_enter_session(ring, session);
  if (ring->skipped > 0 || !ring_has_room(ring, 1)) return ring_drop(ring);
  return ring_next(ring);
}

bool wf_rec_ring_publish(wf_rec_ring *ring) {
  uint64_t head = ring_own_head(ring) + 1;
  WF_ASSERT(head - ring->seen_tail + ring->open <= ring->capacity);
  /* Release: pairs with the acquire in wf_rec_ring_read: the record is written. */
  wf_u64_store_release(&ring->x_head, head);
  if ((head & (ring->capacity / 4 - 1)) != 0) return false;
  /* Acquire: pairs with the release in wf_rec_ring_give_back, as in ring_has_room. */
  ring->seen_tail = wf_u64_load_acquire(&ring->x_tail);
  return head - ring->seen_tail >= ring->capacity / 2;
}

/* ---- the reader ---- */

uint64_t wf_rec_ring_read(const wf_rec_ring *ring, uint64_t *tail) {
  *tail = wf_u64_load_relaxed(&ring->x_tail); /* relaxed: the reader's own word */
  /* Acquire: pairs with the release in wf_rec_ring_publish. */
  return wf_u64_load_acquire(&ring->x_head);
}

void wf_rec_ring_give_back(wf_rec_ring *ring, uint64_t tail) {
  /* Release: pairs with the acquire in ring_has_room: the records have been read. */
  wf_u64_store_release(&ring->x_tail, tail);
}
