/* tso.c - store buffers, as x86 has them.
 *
 * A store goes into its thread's buffer and reaches memory later, in order. When, matters
 * only to a thread that looks at the same word; so the choice is made then, and not
 * before: a thread that accesses a word for which another thread has stores in its buffer
 * chooses how many of them are in memory by now. A store that goes to memory chooses in
 * the same way whether those of others to the same word come first.
 *
 * SPDX-License-Identifier: MIT */
#include "memory.h"

#include <stdlib.h>
#include <string.h>

enum { BUFFER_SIZE = 64 };

static struct {
  xp_location *location;
  uint64_t value;
} buffers[XP_MAX_THREADS + 1][BUFFER_SIZE];
static unsigned counts[XP_MAX_THREADS + 1];

void xp_tso_begin(void) {
  memset(counts, 0, sizeof counts);
}

static void remove_at(unsigned thread, unsigned at) {
  counts[thread]--;
  memmove(&buffers[thread][at], &buffers[thread][at + 1],
          (counts[thread] - at) * sizeof buffers[0][0]);
}

static unsigned stores_to(unsigned thread, const xp_location *location) {
  unsigned n = 0;
  for (unsigned i = 0; i < counts[thread]; i++)
    if (buffers[thread][i].location == location) n++;
  return n;
}

static void others_first(const xp_location *location, uint32_t busy);

/* The oldest store of a thread reaches memory. `busy` are threads whose oldest store is
 * on its way already. */
static void flush_oldest(unsigned thread, uint32_t busy) {
  xp_location *location = buffers[thread][0].location;
  uint64_t value = buffers[thread][0].value;
  others_first(location, busy | (uint32_t)1 << thread);
  remove_at(thread, 0);
  if (xp_heap_is_dead(location->address))
    xp_fail(XP_DEAD, __FILE__, __LINE__, "a store reaches memory that is freed");
  /* The thread has left the frame and may use it for something else by now. */
  if (xp_on_stack(location->address) && (xp_stack_is_left(location->address) ||
                                         xp_raw_read(location) != location->last_raw))
    return;
  xp_trace("  (a store of thread %u to %p reaches memory: %#llx)", thread,
           (void *)location->address, (unsigned long long)value);
  xp_raw_write(location, value);
  xp_written((const void *)location->address, thread);
}

static void others_first(const xp_location *location, uint32_t busy) {
  for (unsigned thread = 1; thread < xp_thread_count; thread++) {
    if ((busy >> thread & 1) != 0) continue;
    unsigned n = stores_to(thread, location);
    if (n == 0) continue;
    /* The ordinary course: all of them are there. */
    unsigned left = xp_choose(XP_CHOOSE_FLUSH, n + 1);
    while (stores_to(thread, location) > left) flush_oldest(thread, busy);
  }
}

uint64_t xp_tso_load(xp_location *location) {
  for (unsigned i = counts[xp_current]; i-- > 0;)
    if (buffers[xp_current][i].location == location) return buffers[xp_current][i].value;
  others_first(location, (uint32_t)1 << xp_current);
  return xp_raw_read(location);
}

bool xp_tso_peek(uintptr_t address, uint64_t *value) {
  for (unsigned i = counts[xp_current]; i-- > 0;) {
    if (buffers[xp_current][i].location->address != address) continue;
    *value = buffers[xp_current][i].value;
    return true;
  }
  return false;
}

void xp_tso_store(xp_location *location, uint64_t value) {
  if (counts[xp_current] == BUFFER_SIZE) flush_oldest(xp_current, 0);
  buffers[xp_current][counts[xp_current]].location = location;
  buffers[xp_current][counts[xp_current]++].value = value;
}

void xp_tso_fence(void) {
  if (counts[xp_current] == 0) return;
  xp_schedule(XP_OP_FENCE, NULL);
  xp_memory_drain(xp_current);
}

void xp_tso_rmw(const xp_location *location) {
  if (location == NULL) {
    if (!xp_now.alone) xp_tso_fence();
    return;
  }
  xp_memory_drain(xp_current);
  others_first(location, (uint32_t)1 << xp_current);
}

void xp_memory_drain(unsigned thread) {
  while (counts[thread] > 0) flush_oldest(thread, 0);
}

bool xp_memory_drain_all(void) {
  bool any = false;
  for (unsigned i = 1; i < xp_thread_count; i++) {
    if (counts[i] > 0) any = true;
    xp_memory_drain(i);
  }
  return any;
}

void xp_tso_free(uintptr_t start, size_t size) {
  for (unsigned i = counts[xp_current]; i-- > 0;)
    if (buffers[xp_current][i].location->address - start < size) remove_at(xp_current, i);
}

void xp_tso_forget(const xp_location *location) {
  for (unsigned thread = 0; thread <= XP_MAX_THREADS; thread++)
    for (unsigned i = counts[thread]; i-- > 0;)
      if (buffers[thread][i].location == location) remove_at(thread, i);
}
