/* core/atomic.h - every access to memory that threads share goes through here.
 *
 * The types are wrapper structs, so that a raw access does not compile; the memory order
 * is part of each function's name, so that a reader sees it where it is used. This header
 * (with include/weft/detail/atomic.h, which holds the few operations that the inlined
 * fast path needs) is also the one place where an interleaving explorer takes over: it
 * defines WF_ATOMIC_HEADER. All layers above sys use it, on any thread.
 *
 * Rules that the rest of the library keeps: an acquire, release or seq_cst use names its
 * partner ("pairs with ..."); a relaxed one says why that is enough. A compare-and-swap
 * is always the strong one. Fences order indices and flags, never payload, so that
 * ThreadSanitizer, which does not model fences, needs no suppression.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_CORE_ATOMIC_H
#define WF_CORE_ATOMIC_H

#include <stdbool.h>
#include <stddef.h>
#include <weft/detail/atomic.h>

#define WF_CACHE_LINE 64 /* bytes, on x86-64 and on most aarch64 CPUs */

#ifndef WF_ATOMIC_HEADER

#define WF_ATOMIC_LOAD(type, value_type, name, order)                                    \
  static inline value_type wf_##type##_load_##name(const wf_##type *p) {                 \
    return __atomic_load_n(&p->raw, order);                                              \
  }
#define WF_ATOMIC_STORE(type, value_type, name, order)                                   \
  static inline void wf_##type##_store_##name(wf_##type *p, value_type value) {          \
    __atomic_store_n(&p->raw, value, order);                                             \
  }
#define WF_ATOMIC_RMW(type, value_type, operation, builtin, name, order)                 \
  static inline value_type wf_##type##_##operation##_##name(wf_##type *p,                \
                                                            value_type value) {          \
    return builtin(&p->raw, value, order);                                               \
  }
/* True if *expected was there and `desired` is now; else *expected is what was there. */
#define WF_ATOMIC_CAS(type, value_type, name, order, failure_order)                      \
  static inline bool wf_##type##_cas_##name(wf_##type *p, value_type *expected,          \
                                            value_type desired) {                        \
    return __atomic_compare_exchange_n(&p->raw, expected, desired, false, order,         \
                                       failure_order);                                   \
  }

/* u32: lock words, park words. wf_u32_load_relaxed is in the detail header. */
WF_ATOMIC_LOAD(u32, uint32_t, acquire, __ATOMIC_ACQUIRE)
WF_ATOMIC_LOAD(u32, uint32_t, seq_cst, __ATOMIC_SEQ_CST)
WF_ATOMIC_STORE(u32, uint32_t, relaxed, __ATOMIC_RELAXED)
WF_ATOMIC_STORE(u32, uint32_t, release, __ATOMIC_RELEASE)
WF_ATOMIC_RMW(u32, uint32_t, exchange, __atomic_exchange_n, acquire, __ATOMIC_ACQUIRE)
WF_ATOMIC_RMW(u32, uint32_t, exchange, __atomic_exchange_n, release, __ATOMIC_RELEASE)
WF_ATOMIC_RMW(u32, uint32_t, exchange, __atomic_exchange_n, acq_rel, __ATOMIC_ACQ_REL)
WF_ATOMIC_RMW(u32, uint32_t, fetch_add, __atomic_fetch_add, relaxed, __ATOMIC_RELAXED)
WF_ATOMIC_RMW(u32, uint32_t, fetch_add, __atomic_fetch_add, seq_cst, __ATOMIC_SEQ_CST)
WF_ATOMIC_RMW(u32, uint32_t, fetch_sub, __atomic_fetch_sub, relaxed, __ATOMIC_RELAXED)
WF_ATOMIC_RMW(u32, uint32_t, fetch_sub, __atomic_fetch_sub, release, __ATOMIC_RELEASE)
WF_ATOMIC_RMW(u32, uint32_t, fetch_sub, __atomic_fetch_sub, acq_rel, __ATOMIC_ACQ_REL)
WF_ATOMIC_RMW(u32, uint32_t, fetch_sub, __atomic_fetch_sub, seq_cst, __ATOMIC_SEQ_CST)
WF_ATOMIC_RMW(u32, uint32_t, exchange, __atomic_exchange_n, seq_cst, __ATOMIC_SEQ_CST)
WF_ATOMIC_CAS(u32, uint32_t, acquire, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)
WF_ATOMIC_CAS(u32, uint32_t, seq_cst, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)

/* u64: indices, packed counters, bit sets, statistics. */
WF_ATOMIC_LOAD(u64, uint64_t, relaxed, __ATOMIC_RELAXED)
WF_ATOMIC_LOAD(u64, uint64_t, acquire, __ATOMIC_ACQUIRE)
WF_ATOMIC_LOAD(u64, uint64_t, seq_cst, __ATOMIC_SEQ_CST)
WF_ATOMIC_STORE(u64, uint64_t, relaxed, __ATOMIC_RELAXED)
WF_ATOMIC_STORE(u64, uint64_t, release, __ATOMIC_RELEASE)
WF_ATOMIC_RMW(u64, uint64_t, fetch_add, __atomic_fetch_add, relaxed, __ATOMIC_RELAXED)
WF_ATOMIC_RMW(u64, uint64_t, fetch_add, __atomic_fetch_add, seq_cst, __ATOMIC_SEQ_CST)
WF_ATOMIC_RMW(u64, uint64_t, fetch_sub, __atomic_fetch_sub, seq_cst, __ATOMIC_SEQ_CST)
WF_ATOMIC_RMW(u64, uint64_t, fetch_or, __atomic_fetch_or, seq_cst, __ATOMIC_SEQ_CST)
WF_ATOMIC_RMW(u64, uint64_t, fetch_and, __atomic_fetch_and, seq_cst, __ATOMIC_SEQ_CST)
WF_ATOMIC_CAS(u64, uint64_t, seq_cst, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)

/* word: latches, pending counts. */
WF_ATOMIC_LOAD(word, uintptr_t, relaxed, __ATOMIC_RELAXED)
WF_ATOMIC_LOAD(word, uintptr_t, acquire, __ATOMIC_ACQUIRE)
WF_ATOMIC_LOAD(word, uintptr_t, seq_cst, __ATOMIC_SEQ_CST)
WF_ATOMIC_RMW(word, uintptr_t, exchange, __atomic_exchange_n, seq_cst, __ATOMIC_SEQ_CST)
WF_ATOMIC_STORE(word, uintptr_t, relaxed, __ATOMIC_RELAXED)
WF_ATOMIC_RMW(word, uintptr_t, fetch_add, __atomic_fetch_add, relaxed, __ATOMIC_RELAXED)
WF_ATOMIC_RMW(word, uintptr_t, fetch_add, __atomic_fetch_add, seq_cst, __ATOMIC_SEQ_CST)
WF_ATOMIC_RMW(word, uintptr_t, fetch_sub, __atomic_fetch_sub, relaxed, __ATOMIC_RELAXED)
WF_ATOMIC_RMW(word, uintptr_t, fetch_sub, __atomic_fetch_sub, acq_rel, __ATOMIC_ACQ_REL)
WF_ATOMIC_CAS(word, uintptr_t, relaxed, __ATOMIC_RELAXED, __ATOMIC_RELAXED)
WF_ATOMIC_CAS(word, uintptr_t, seq_cst, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)

/* ptr: rings, pools, lists. The relaxed ones and store_release are in the detail header.
 */
WF_ATOMIC_LOAD(ptr, void *, acquire, __ATOMIC_ACQUIRE)
WF_ATOMIC_RMW(ptr, void *, exchange, __atomic_exchange_n, acquire, __ATOMIC_ACQUIRE)
WF_ATOMIC_RMW(ptr, void *, exchange, __atomic_exchange_n, acq_rel, __ATOMIC_ACQ_REL)
WF_ATOMIC_CAS(ptr, void *, release, __ATOMIC_RELEASE, __ATOMIC_RELAXED)

/* For assertions only (core/assert.h): any recent value, and no step for the explorer. */
static inline uint32_t wf_u32_peek(const wf_u32 *p) {
  return wf_u32_load_relaxed(p);
}
static inline uint64_t wf_u64_peek(const wf_u64 *p) {
  return wf_u64_load_relaxed(p);
}
static inline uintptr_t wf_word_peek(const wf_word *p) {
  return wf_word_load_relaxed(p);
}
static inline void *wf_ptr_peek(const wf_ptr *p) {
  return wf_ptr_load_relaxed(p);
}

#undef WF_ATOMIC_LOAD
#undef WF_ATOMIC_STORE
#undef WF_ATOMIC_RMW
#undef WF_ATOMIC_CAS

/* Orders this thread's earlier stores before its later loads, in one total order with all
 * other such fences. gcc warns that ThreadSanitizer does not model fences, which is no
 * problem here: see the head of this file. */
static inline void wf_fence_seq_cst(void) {
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
#endif
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11
#pragma GCC diagnostic pop
#endif
}

#endif

/* A statistics counter has one writer: no read-modify-write is needed, and readers accept
 * any recent value. */
static inline void wf_u64_count(wf_u64 *counter, uint64_t n) {
  wf_u64_store_relaxed(counter, wf_u64_load_relaxed(counter) + n);
}

#endif
