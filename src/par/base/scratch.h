/* par/base/scratch.h - memory that a call needs only while it runs.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_PAR_SCRATCH_H
#define WF_PAR_SCRATCH_H

#include <stddef.h>

typedef struct wf_scratch {
  void *memory; /* at a cache line; NULL if it could not be had */
  void *block;  /* what to free */
} wf_scratch;

/* Large memory is asked for in large pages where the system has them: the first touch of
 * each small page would cost as much as a pass over it. */
wf_scratch wf_scratch_get(size_t size);
void wf_scratch_put(wf_scratch scratch);

#endif
