/* par/sort/radix/lists.h - sorting numbers in a CPU's own cache with wide vectors, for
 * CPUs that have them.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_PAR_SORT_LISTS_H
#define WF_PAR_SORT_LISTS_H

#include "radix.h"

/* For lists of up to 2 to that power, a table at the front of the scratch memory. */
enum { WF_LISTS_MOST_BITS = 11, WF_LISTS_TABLE = 4 << WF_LISTS_MOST_BITS };

/* Fewer elements are not worth it. */
enum { WF_LISTS_LEAST = 256 };

/* Sorts n elements of `src` into `result` in another way, decoded, with the help of
 * `spare`. */
typedef void wf_other_leaf32(wf_bits32 *src, wf_bits32 *spare, size_t n,
                             wf_bits32 *result, const wf_coding *coding);
typedef void wf_other_leaf64(wf_bits64 *src, wf_bits64 *spare, size_t n,
                             wf_bits64 *result, const wf_coding *coding);

/* Sorts n encoded elements of `src` into `result`, which may be the same, decoded. `slot`
 * has WF_LISTS_TABLE bytes more than the elements. What is too uneven is left to `other`.
 * Fewer than 2^32 elements. */
typedef struct wf_lists {
  void (*leaf_bits32)(wf_bits32 *src, void *slot, size_t n, wf_bits32 *result,
                      const wf_coding *coding, wf_other_leaf32 *other);
  void (*leaf_bits64)(wf_bits64 *src, void *slot, size_t n, wf_bits64 *result,
                      const wf_coding *coding, wf_other_leaf64 *other);
} wf_lists;

/* Those of this CPU, or NULL. */
const wf_lists *wf_lists_get(void);

/* For tests: whether they are used from now on, if the CPU has what they need. */
void wf_lists_allow(bool allow);

#endif
