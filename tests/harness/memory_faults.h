/* memory_faults.h - memory that runs out when told to, and counts what is in use. For
 * programs that are linked with
 *
 *     -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc,--wrap=free
 *
 * Only calls from the program and the libraries linked into it come here, not those from
 * inside the C library. To be included by one file of a program.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_HARNESS_MEMORY_FAULTS_H
#define TESTS_HARNESS_MEMORY_FAULTS_H

#include "harness/harness.h"

#include <stdatomic.h>
#include <stdlib.h>

/* Which requests are refused: none, the one of a number, that one and all after it, the
 * first and then each so many'th, or one in two at random. Numbers start at 1. */
typedef enum refusal {
  REFUSE_NONE,
  REFUSE_ONE,
  REFUSE_FROM,
  REFUSE_EVERY,
  REFUSE_AT_RANDOM
} refusal;

static struct {
  atomic_int what;
  atomic_ulong number;
  atomic_ulong requests, bytes, refused; /* since refuse_memory */
  atomic_ulong draws;
  atomic_long in_use; /* blocks, since the program started */
} memory_faults;

/* What the test itself asks for on this thread is granted, and not counted as a request.
 * Volatile, because compilers know that malloc does not look at it. */
static _Thread_local volatile bool memory_is_spared;

static inline bool memory_is_refused(size_t bytes) {
  if (memory_is_spared) return false;
  atomic_fetch_add(&memory_faults.bytes, bytes);
  const unsigned long request = atomic_fetch_add(&memory_faults.requests, 1) + 1;
  const unsigned long number = atomic_load(&memory_faults.number);
  bool refused = false;
  switch ((refusal)atomic_load(&memory_faults.what)) {
  case REFUSE_NONE:
    break;
  case REFUSE_ONE:
    refused = request == number;
    break;
  case REFUSE_FROM:
    refused = request >= number;
    break;
  case REFUSE_EVERY:
    refused = (request - 1) % number == 0;
    break;
  case REFUSE_AT_RANDOM: {
    uint64_t state = harness_seed() + atomic_fetch_add(&memory_faults.draws, 1);
    refused = harness_random(&state) % 2 == 0;
    break;
  }
  }
  if (refused) atomic_fetch_add(&memory_faults.refused, 1);
  return refused;
}

static inline void *memory_counted(void *memory) {
  if (memory != NULL) atomic_fetch_add(&memory_faults.in_use, 1);
  return memory;
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __real_free(void *memory);
void __wrap_free(void *memory);

void *__wrap_malloc(size_t size) {
  return memory_is_refused(size) ? NULL : memory_counted(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size) {
  return memory_is_refused(count * size) ? NULL
                                         : memory_counted(__real_calloc(count, size));
}

void *__wrap_realloc(void *memory, size_t size) {
  if (memory_is_refused(size)) return NULL;
  if (memory == NULL) return memory_counted(__real_realloc(NULL, size));
  return __real_realloc(memory, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
  return memory_is_refused(size) ? NULL
                                 : memory_counted(__real_aligned_alloc(alignment, size));
}

void __wrap_free(void *memory) {
  if (memory != NULL) atomic_fetch_sub(&memory_faults.in_use, 1);
  __real_free(memory);
}

/* From now on; the number matters for REFUSE_ONE and REFUSE_FROM. */
static inline void refuse_memory(refusal what, unsigned long number) {
  atomic_store(&memory_faults.what, REFUSE_NONE);
  atomic_store(&memory_faults.number, number);
  atomic_store(&memory_faults.requests, 0);
  atomic_store(&memory_faults.bytes, 0);
  atomic_store(&memory_faults.refused, 0);
  atomic_store(&memory_faults.what, (int)what);
}

static inline void refuse_all_memory(void) {
  refuse_memory(REFUSE_FROM, 1);
}

/* Ends that. How many requests were refused? */
static inline unsigned long allow_memory(void) {
  atomic_store(&memory_faults.what, REFUSE_NONE);
  return atomic_load(&memory_faults.refused);
}

/* How many requests there were since refuse_memory, and for how much in all. */
static inline unsigned long memory_requests(void) {
  return atomic_load(&memory_faults.requests);
}
static inline unsigned long memory_requested_bytes(void) {
  return atomic_load(&memory_faults.bytes);
}

/* harness_run_threads, whose own requests are granted. */
static inline void run_spared_threads(unsigned count, void (*fn)(unsigned, void *),
                                      void *arg) {
  memory_is_spared = true;
  harness_run_threads(count, fn, arg);
  memory_is_spared = false;
}

/* Blocks that were asked for and not given back. */
static inline long memory_in_use(void) {
  return atomic_load(&memory_faults.in_use);
}

#endif
