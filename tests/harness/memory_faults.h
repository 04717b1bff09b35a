/* harness/memory_faults.h - lets allocations fail on request, and counts the blocks in
 * use. For programs that are linked with
 *
 *     -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc,--wrap=free
 *
 * Only calls from the program and the libraries linked into it come here, not those from
 * inside the C library. One file of a program includes it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_HARNESS_MEMORY_FAULTS_H
#define TESTS_HARNESS_MEMORY_FAULTS_H

#include "harness/harness.h"

#include <stdatomic.h>
#include <stdlib.h>

/* Which requests are refused. They are numbered from 1; `number` is that of
 * refuse_memory.
 */
typedef enum refusal {
  REFUSE_NONE,
  REFUSE_ONE,      /* the request of this number */
  REFUSE_FROM,     /* that one and all after it */
  REFUSE_EVERY,    /* the first, then every `number`-th one after it */
  REFUSE_AT_RANDOM /* every second one on average */
} refusal;

static struct {
  atomic_int what;
  atomic_ulong number;
  atomic_ulong requests, bytes, refused; /* since refuse_memory */
  atomic_ulong draws;
  atomic_long in_use; /* blocks, since the program started */
} memory_faults;

/* While this is true, requests of this thread are granted and not counted: they are the
 * test's own. Volatile, because compilers assume that malloc does not read it. */
#if defined(_WIN32)
/* A thread-local variable would call malloc there, which asks for the variable. */
#include <weft/detail/fork_join.h>
__declspec(dllimport) unsigned long __stdcall TlsAlloc(void);
static unsigned long memory_exempt_index;
__attribute__((constructor)) static void memory_take_slot(void) {
  memory_exempt_index = TlsAlloc();
}
static inline volatile bool *memory_exempt(void) {
  char *slots = wf_thread_block() + WF_TEB_SLOTS;
  return (volatile bool *)(slots + memory_exempt_index * sizeof(void *));
}
#define memory_is_exempt (*memory_exempt())
static inline bool memory_is_nested(void) {
  return false;
}
static inline void memory_set_nested(bool nested) {
  (void)nested;
}
#else
static _Thread_local volatile bool memory_is_exempt;

/* In a C library that is linked statically calloc and its relatives may call malloc, and
 * such a call comes here, too. It belongs to the request that is counted already. */
static _Thread_local volatile bool memory_nested;
static inline bool memory_is_nested(void) {
  return memory_nested;
}
static inline void memory_set_nested(bool nested) {
  memory_nested = nested;
}
#endif

static inline bool memory_is_refused(size_t bytes) {
  if (memory_is_exempt) return false;
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
  if (memory_is_nested()) return __real_malloc(size);
  return memory_is_refused(size) ? NULL : memory_counted(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size) {
  if (memory_is_nested()) return __real_calloc(count, size);
  if (memory_is_refused(count * size)) return NULL;
  memory_set_nested(true);
  void *memory = __real_calloc(count, size);
  memory_set_nested(false);
  return memory_counted(memory);
}

void *__wrap_realloc(void *memory, size_t size) {
  if (memory_is_nested()) return __real_realloc(memory, size);
  if (memory_is_refused(size)) return NULL;
  memory_set_nested(true);
  void *moved = __real_realloc(memory, size);
  memory_set_nested(false);
  return memory == NULL ? memory_counted(moved) : moved;
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
  if (memory_is_nested()) return __real_aligned_alloc(alignment, size);
  if (memory_is_refused(size)) return NULL;
  memory_set_nested(true);
  void *memory = __real_aligned_alloc(alignment, size);
  memory_set_nested(false);
  return memory_counted(memory);
}

void __wrap_free(void *memory) {
  if (memory != NULL && !memory_is_nested()) atomic_fetch_sub(&memory_faults.in_use, 1);
  __real_free(memory);
}

/* Refuses requests from now on. REFUSE_NONE and REFUSE_AT_RANDOM ignore the number. */
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

/* Refuses no more. Returns how many requests were refused. */
static inline unsigned long allow_memory(void) {
  atomic_store(&memory_faults.what, REFUSE_NONE);
  return atomic_load(&memory_faults.refused);
}

/* The requests since refuse_memory, and the bytes that they asked for together. */
static inline unsigned long memory_requests(void) {
  return atomic_load(&memory_faults.requests);
}
static inline unsigned long memory_requested_bytes(void) {
  return atomic_load(&memory_faults.bytes);
}

/* As harness_run_threads, whose own requests are granted. */
static inline void run_exempt_threads(unsigned count, void (*fn)(unsigned, void *),
                                      void *arg) {
  memory_is_exempt = true;
  harness_run_threads(count, fn, arg);
  memory_is_exempt = false;
}

/* Blocks that were allocated and not freed. */
static inline long memory_in_use(void) {
  return atomic_load(&memory_faults.in_use);
}

#endif
