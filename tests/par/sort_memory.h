/* sort_memory.h - malloc that fails when told to, for programs that are linked with
 * --wrap=malloc.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_PAR_SORT_MEMORY_H
#define TESTS_PAR_SORT_MEMORY_H

#include "sort_support.h"

static atomic_long refuse_from = -1; /* requests until one is refused; < 0: none */
static atomic_bool refuse_all_after; /* and all that follow */
static atomic_ulong refusals;

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);

void *__wrap_malloc(size_t size) {
  long left = atomic_load(&refuse_from);
  if (left >= 0) {
    left = atomic_fetch_sub(&refuse_from, 1);
    if (left == 0 || (left < 0 && atomic_load(&refuse_all_after))) {
      if (atomic_load(&refuse_all_after)) atomic_store(&refuse_from, 0);
      atomic_fetch_add(&refusals, 1);
      return NULL;
    }
  }
  return __real_malloc(size);
}

/* Refuses the request with that number, counted from now, and all after it or not. */
static inline void refuse_memory(long from, bool all) {
  atomic_store(&refusals, 0);
  atomic_store(&refuse_all_after, all);
  atomic_store(&refuse_from, from);
}

/* How many requests were refused. */
static inline unsigned long allow_memory(void) {
  atomic_store(&refuse_from, -1);
  return atomic_load(&refusals);
}

#endif
