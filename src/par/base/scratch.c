/* par/base/scratch.c - memory that a call needs only while it runs; see scratch.h for
 * who uses which function. No state of its own; any thread.
 *
 * SPDX-License-Identifier: MIT */
#include "scratch.h"

#include "../../core/assert.h"
#include "../../sched/sched.h"

#include <stdint.h>
#include <stdlib.h>

static void align_scratch(wf_scratch *s) {
  s->memory = (char *)s->block + (WF_CACHE_LINE - (uintptr_t)s->block % WF_CACHE_LINE);
  WF_ASSERT((uintptr_t)s->memory % WF_CACHE_LINE == 0);
}

wf_scratch wf_scratch_get(size_t size) {
  wf_scratch scratch = {NULL, NULL, 0};
  if (size > SIZE_MAX - WF_CACHE_LINE) return scratch;
  scratch.block = malloc(size + WF_CACHE_LINE);
  if (scratch.block == NULL) return scratch;
  wf_sys_prefer_large_pages(scratch.block, size + WF_CACHE_LINE);
  align_scratch(&scratch);
  return scratch;
}

wf_scratch wf_scratch_need(size_t size, const char *call) {
  wf_scratch scratch = wf_scratch_get(size);
  if (scratch.memory != NULL) return scratch;
  if (size <= SIZE_MAX - WF_CACHE_LINE) scratch.block = wf_sys_map(size + WF_CACHE_LINE);
  if (scratch.block == NULL) wf_fatal(call, "no memory for partial results");
  scratch.mapped = size + WF_CACHE_LINE;
  align_scratch(&scratch);
  return scratch;
}

void wf_scratch_put(wf_scratch scratch) {
  if (scratch.mapped != 0)
    wf_sys_unmap(scratch.block, scratch.mapped);
  else
    free(scratch.block);
}
