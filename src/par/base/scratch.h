/* par/base/scratch.h - memory that a call needs only while it runs.
 *
 * wf_scratch_get is for calls that have another way without the memory, wf_scratch_need
 * for those that cannot go on. The thread that gets the memory puts it back.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_PAR_SCRATCH_H
#define WF_PAR_SCRATCH_H

#include <stddef.h>

/* Invariant: memory is NULL, or a multiple of WF_CACHE_LINE inside of `block`. */
typedef struct wf_scratch {
  void *memory;  /* at the start of a cache line, or NULL: there is none */
  void *block;   /* what is given back */
  size_t mapped; /* bytes of `block` if it came from the system, 0 if from malloc */
} wf_scratch;

/* `size` bytes that are not set to anything; memory is NULL if there are none. Large
 * memory is asked for in large pages where the system has them: the first touch of each
 * small page would cost as much as a pass over it. */
wf_scratch wf_scratch_get(size_t size);

/* The same from malloc, else straight from the system; else ends the program with the
 * message "no memory for partial results". */
wf_scratch wf_scratch_need(size_t size, const char *call);

/* Gives it back. Does nothing if memory is NULL. */
void wf_scratch_put(wf_scratch scratch);

/* Up to this size a call may use its stack where malloc has nothing and half of the stack
 * is free (wf_stack_is_half_free). A choice: a page, which no guard page is shorter than.
 */
enum { WF_SCRATCH_STACK = 4096 };

#endif
