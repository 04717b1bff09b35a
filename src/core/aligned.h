/* core/aligned.h - memory that starts at a cache line.
 *
 * C's own calls, which Windows does not have: there such memory must not be given to
 * free(). Any thread.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_CORE_ALIGNED_H
#define WF_CORE_ALIGNED_H

#include <stddef.h>
#include <stdlib.h>
#if defined(_WIN32)
#include <malloc.h>
#endif

/* size is a multiple of alignment, which is a power of two. NULL without memory. */
static inline void *wf_aligned_alloc(size_t alignment, size_t size) {
#if defined(_WIN32)
  return _aligned_malloc(size, alignment);
#else
  return aligned_alloc(alignment, size);
#endif
}

/* memory is from wf_aligned_alloc, or NULL. */
static inline void wf_aligned_free(void *memory) {
#if defined(_WIN32)
  _aligned_free(memory);
#else
  free(memory);
#endif
}

#endif
