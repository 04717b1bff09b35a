/* par/base/scratch.c - see scratch.h.
 *
 * SPDX-License-Identifier: MIT */
#include "scratch.h"

#include "../../core/atomic.h"
#include "../../sys/sys.h"

#include <stdint.h>
#include <stdlib.h>

wf_scratch wf_scratch_get(size_t size) {
  wf_scratch scratch = {NULL, NULL};
  if (size <= SIZE_MAX - WF_CACHE_LINE) scratch.block = malloc(size + WF_CACHE_LINE);
  if (scratch.block == NULL) return scratch;
  wf_sys_prefer_large_pages(scratch.block, size + WF_CACHE_LINE);
  scratch.memory =
      (char *)scratch.block + (WF_CACHE_LINE - (uintptr_t)scratch.block % WF_CACHE_LINE);
  return scratch;
}

void wf_scratch_put(wf_scratch scratch) {
  free(scratch.block);
}
