/* races.c - data races on plain memory.
 *
 * For each byte the last write and the last two reads that are not ordered, each with the
 * number of its thread and that thread's clock at the time. An access that does not come
 * after them, by the happens-before clock of its thread, is a race.
 *
 * The library's own plain accesses come from the compiler: its files are compiled with
 * the instrumentation of ThreadSanitizer, whose functions are at the end.
 *
 * SPDX-License-Identifier: MIT */
#include "engine.h"

#include <stdio.h>
#include <string.h>

enum { CELLS = 1 << 14, BYTES = 8, THREAD_SHIFT = 27 };

typedef struct byte_history {
  uint32_t written, read, read_before; /* thread << THREAD_SHIFT | clock; 0: never */
} byte_history;

typedef struct cell {
  uintptr_t address; /* of the first byte */
  uint64_t execution;
  byte_history bytes[BYTES];
} cell;

static cell cells[CELLS];

void xp_races_begin(void) {}

static cell *find(uintptr_t address) {
  unsigned i = (unsigned)((address >> 3) * 0x9E3779B97F4A7C15u >> 40) % CELLS;
  for (unsigned looked = 0; looked < CELLS; looked++, i = (i + 1) % CELLS) {
    cell *found = &cells[i];
    if (found->execution == xp_now.number && found->address == address) return found;
    if (found->execution == xp_now.number) continue;
    memset(found, 0, sizeof *found);
    found->address = address;
    found->execution = xp_now.number;
    return found;
  }
  return NULL;
}

static bool is_before(uint32_t epoch, const uint32_t *clock) {
  uint32_t thread = epoch >> THREAD_SHIFT;
  return epoch == 0 || thread == xp_current ||
         (epoch & (((uint32_t)1 << THREAD_SHIFT) - 1)) <= clock[thread];
}

static void report(uintptr_t address, bool write, uint32_t other, bool other_wrote) {
  char text[160];
  snprintf(text, sizeof text, "%s of %p is not ordered with a %s of thread %u",
           write ? "write" : "read", (void *)address, other_wrote ? "write" : "read",
           other >> THREAD_SHIFT);
  xp_fail(XP_RACE, __FILE__, __LINE__, text);
}

static void access_byte(byte_history *byte, uintptr_t address, bool write,
                        const uint32_t *clock) {
  uint32_t now = (uint32_t)xp_current << THREAD_SHIFT | clock[xp_current];
  if (!is_before(byte->written, clock)) report(address, write, byte->written, true);
  if (!write) {
    if (byte->read >> THREAD_SHIFT != xp_current) byte->read_before = byte->read;
    byte->read = now;
    return;
  }
  if (!is_before(byte->read, clock)) report(address, write, byte->read, false);
  if (!is_before(byte->read_before, clock))
    report(address, write, byte->read_before, false);
  *byte = (byte_history){.written = now};
}

static void access_range(uintptr_t address, size_t size, bool write) {
  if (xp_now.alone || xp_now.mode == XP_TSO || !xp_threads_concurrent()) return;
  if (xp_heap_owns(address) && xp_heap_is_dead(address))
    xp_fail(XP_DEAD, __FILE__, __LINE__, "plain access to memory that is freed");
  const uint32_t *clock = xp_memory_clock(xp_current);
  for (uintptr_t at = address; at < address + size;) {
    cell *found = find(at & ~(uintptr_t)(BYTES - 1));
    if (found == NULL) return;
    do {
      access_byte(&found->bytes[at & (BYTES - 1)], at, write, clock);
      at++;
    } while (at < address + size && (at & (BYTES - 1)) != 0);
  }
}

void xp_plain_read(const void *memory, size_t size) {
  access_range((uintptr_t)memory, size, false);
}

void xp_plain_write(const void *memory, size_t size) {
  access_range((uintptr_t)memory, size, true);
}

/* ---- accesses of instrumented code ---- */

/* Static variables are left out: the library has no plain ones that threads share, and
 * those of a scenario are how it keeps count. */
static inline __attribute__((always_inline)) void sim_plain(const void *p, size_t size,
                                                            bool writes) {
  if (!xp_heap_owns((uintptr_t)p) && !xp_on_stack((uintptr_t)p)) return;
  if (writes)
    xp_plain_write(p, size);
  else
    xp_plain_read(p, size);
}

#include "simulated/instrumented.h"
