/* cover.c - which accesses of the library a scenario reaches as steps, for the table of
 * atomic operations (tools/atomics): a line "scenario address" for each, where the
 * address is that of the call in the program's file, as addr2line wants it.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "engine.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More places than a program has. */
enum { PLACES = 4096 };

static FILE *out;
static const void *places[PLACES]; /* open addressing */

void xp_cover_open(const char *path) {
  out = fopen(path, "w");
  if (out == NULL) {
    perror(path);
    exit(2);
  }
}

void xp_cover(const void *pc) {
  if (out == NULL) return;
  size_t i = (uintptr_t)pc * 0x9e3779b97f4a7c15u >> 52;
  while (places[i] != NULL && places[i] != pc) i = (i + 1) % PLACES;
  places[i] = pc;
}

void xp_cover_end(const xp_scenario *scenario) {
  if (out == NULL) return;
  Dl_info info;
  for (unsigned i = 0; i < PLACES; i++)
    if (places[i] != NULL && dladdr((void *)(uintptr_t)places[i], &info) != 0)
      fprintf(out, "%s %#lx\n", scenario->name,
              (unsigned long)((uintptr_t)places[i] - (uintptr_t)info.dli_fbase - 1));
  memset(places, 0, sizeof places);
  fflush(out);
}
