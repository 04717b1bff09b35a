/* weft/detail/atomic.h - the atomics of the inlined fast path. Not API.
 *
 * Shared words are wrapper structs, so that a raw access does not compile, and every
 * function carries its memory order in its name. Only the fast path (detail/fork_join.h)
 * and src/core/atomic.h, which adds what the rest of the library needs, include this
 * file; any thread calls the functions. Compiles as C11 and as C++17: no _Atomic, no
 * <stdatomic.h>, only the compiler's builtins on plain integers.
 *
 * A build that defines WF_ATOMIC_HEADER replaces both files by its own header: that is
 * how an interleaving explorer gets between the library and its memory.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_DETAIL_ATOMIC_H
#define WEFT_DETAIL_ATOMIC_H

#include <stdint.h>

#ifdef WF_ATOMIC_HEADER
#include WF_ATOMIC_HEADER
#else

typedef struct wf_u32 {
  uint32_t raw;
} wf_u32;

typedef struct wf_u64 {
  uint64_t raw;
} wf_u64;

/* A word as wide as a pointer. */
typedef struct wf_word {
  uintptr_t raw;
} wf_word;

typedef struct wf_ptr {
  void *raw;
} wf_ptr;

static inline uint32_t wf_u32_load_relaxed(const wf_u32 *p) {
  return __atomic_load_n(&p->raw, __ATOMIC_RELAXED);
}

/* For a word that no other thread can see yet. */
static inline void wf_word_init(wf_word *p, uintptr_t value) {
  p->raw = value;
}

static inline void *wf_ptr_load_relaxed(const wf_ptr *p) {
  return __atomic_load_n(&p->raw, __ATOMIC_RELAXED);
}

/* For a word that only the calling thread writes. gcc compares it in memory, which it
 * does not do for atomic loads. */
static inline void *wf_ptr_load_own(const wf_ptr *p) {
  return p->raw;
}

/* For the function of a task that nobody else sees yet. An atomic store all the same: gcc
 * takes it for a call, and so the leaf of a recursion for the likely way through its
 * function, which it must be for gcc to split that function (detail/fast_task.h). */
static inline void wf_fn_store_own(void (**p)(void *), void (*value)(void *)) {
  __atomic_store_n(p, value, __ATOMIC_RELAXED);
}

static inline void wf_ptr_store_relaxed(wf_ptr *p, void *value) {
  __atomic_store_n(&p->raw, value, __ATOMIC_RELAXED);
}

static inline void wf_ptr_store_release(wf_ptr *p, void *value) {
  __atomic_store_n(&p->raw, value, __ATOMIC_RELEASE);
}

/* The light half of the asymmetric barrier: it only keeps the compiler from moving
 * memory accesses across it. Its partner is wf_sys_barrier, which makes every running
 * thread of the process execute a full fence. Two light halves order nothing. */
static inline void wf_light_barrier(void) {
  __asm__ __volatile__("" ::: "memory");
}

#endif
#endif
