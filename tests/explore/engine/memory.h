/* memory.h - shared words as memory.c and tso.c see them.
 *
 * SPDX-License-Identifier: MIT */
#ifndef EXPLORE_MEMORY_H
#define EXPLORE_MEMORY_H

#include "engine.h"

enum {
  XP_HISTORY = 8, /* stores that a word remembers; older ones are not read any more */
  XP_MAX_SHARED = 2048,
  XP_CLOCKS = XP_MAX_THREADS + 1,
  XP_VIEW_WORDS = XP_CLOCKS + XP_MAX_SHARED
};

typedef struct xp_stored {
  uint64_t value;
  uint32_t *view; /* what an acquire takes over; NULL: nothing */
  uint32_t stamp; /* its place in modification order */
  bool by_rmw;    /* nothing may come between it and the store before */
  uint8_t stale_reads[XP_MAX_THREADS + 1];
} xp_stored;

typedef struct xp_location {
  uintptr_t address;
  uint64_t execution; /* that it belongs to; others are old */
  unsigned size;
  int id;                    /* among the shared ones, or -1 */
  unsigned phase;            /* in which it was touched */
  uint32_t touched, written; /* by which threads */
  uint64_t first_raw;
  uint64_t last_raw;     /* as the explorer left it: if it differs, it was set up anew */
  uint32_t newest_stamp; /* of the newest store ever */
  unsigned count;
  xp_stored *stores[XP_HISTORY]; /* oldest first */
} xp_location;

/* The word in memory: the newest store. */
uint64_t xp_raw_read(const xp_location *location);
void xp_raw_write(xp_location *location, uint64_t value);

/* ---- tso.c ---- */

void xp_tso_begin(void);
uint64_t xp_tso_load(xp_location *location);
/* For assertions: the thread's own store to the word that is still in its buffer, if
 * there is one. */
bool xp_tso_peek(uintptr_t address, uint64_t *value);
void xp_tso_store(xp_location *location, uint64_t value);
/* A fence: drains the thread's own buffer, and is a step if there is something in it. */
void xp_tso_fence(void);
/* Before a read-modify-write: drains the buffer; others' stores to the word may come
 * first. NULL if the word is the thread's alone. */
void xp_tso_rmw(const xp_location *location);
/* The thread frees memory: what it has stored there itself came before. */
void xp_tso_free(uintptr_t start, size_t size);
/* The word starts a new life: stores of the old one are gone. */
void xp_tso_forget(const xp_location *location);

#endif
