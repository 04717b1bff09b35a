/* par/scratch.c - see scratch.h.
 *
 * SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "scratch.h"

#include "../core/atomic.h"

#include <stdint.h>
#include <stdlib.h>

#ifdef __linux__
#include <sys/mman.h>
#endif

enum { LARGE_PAGE = 2 << 20, LARGE_ENOUGH = 4 * LARGE_PAGE };

/* Only a hint: whatever comes of it, the memory is as good. */
static void ask_for_large_pages(void *block, size_t size) {
#if defined __linux__ && defined MADV_HUGEPAGE
  uintptr_t begin = ((uintptr_t)block + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
  uintptr_t end = ((uintptr_t)block + size) / LARGE_PAGE * LARGE_PAGE;
  if (size >= LARGE_ENOUGH) (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE);
#else
  (void)block;
  (void)size;
#endif
}

wf_scratch wf_scratch_get(size_t size) {
  wf_scratch scratch = {NULL, NULL};
  if (size <= SIZE_MAX - WF_CACHE_LINE) scratch.block = malloc(size + WF_CACHE_LINE);
  if (scratch.block == NULL) return scratch;
  ask_for_large_pages(scratch.block, size);
  scratch.memory =
      (char *)scratch.block + (WF_CACHE_LINE - (uintptr_t)scratch.block % WF_CACHE_LINE);
  return scratch;
}

void wf_scratch_put(wf_scratch scratch) {
  free(scratch.block);
}
