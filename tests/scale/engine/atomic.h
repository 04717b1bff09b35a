/* atomic.h - takes the place of core/atomic.h and weft/detail/atomic.h in the build for
 * the simulated machine: the same types and functions, each of them an access that costs
 * time (memory.c). Accesses happen one after the other, in the order of the clocks of the
 * threads: memory orders make no difference to values here, only fences and
 * read-modify-writes to time.
 *
 * SPDX-License-Identifier: MIT */
#ifndef SCALE_ATOMIC_H
#define SCALE_ATOMIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum sm_rmw_kind { SM_EXCHANGE, SM_ADD, SM_SUB, SM_OR, SM_AND } sm_rmw_kind;

uint32_t sm_load4(const void *p);
uint64_t sm_load8(const void *p);
void sm_store4(void *p, uint32_t value);
void sm_store8(void *p, uint64_t value);
uint32_t sm_rmw4(void *p, sm_rmw_kind kind, uint32_t operand);
uint64_t sm_rmw8(void *p, sm_rmw_kind kind, uint64_t operand);
bool sm_cas4(void *p, uint32_t *expected, uint32_t desired);
bool sm_cas8(void *p, uint64_t *expected, uint64_t desired);
void sm_fence(void);
/* For assertions and for counting: costs nothing. */
uint32_t sm_peek4(const void *p);
uint64_t sm_peek8(const void *p);

typedef struct wf_u32 {
  uint32_t raw;
} wf_u32;
typedef struct wf_u64 {
  uint64_t raw;
} wf_u64;
typedef struct wf_word {
  uintptr_t raw;
} wf_word;
typedef struct wf_ptr {
  void *raw;
} wf_ptr;
_Static_assert(sizeof(void *) == 8, "the simulated machine has 64 bits");

#define SM_INLINE static inline __attribute__((always_inline, unused))

#define SM_LOAD(type, value_type, bytes, name)                                           \
  SM_INLINE value_type wf_##type##_load_##name(const wf_##type *p) {                     \
    return (value_type)sm_load##bytes(&p->raw);                                          \
  }
#define SM_STORE(type, value_type, bytes, name)                                          \
  SM_INLINE void wf_##type##_store_##name(wf_##type *p, value_type value) {              \
    sm_store##bytes(&p->raw, (SM_U##bytes)value);                                        \
  }
#define SM_RMW(type, value_type, bytes, operation, kind, name)                           \
  SM_INLINE value_type wf_##type##_##operation##_##name(wf_##type *p,                    \
                                                        value_type value) {              \
    return (value_type)sm_rmw##bytes(&p->raw, kind, (SM_U##bytes)value);                 \
  }
#define SM_CAS(type, value_type, bytes, name)                                            \
  SM_INLINE bool wf_##type##_cas_##name(wf_##type *p, value_type *expected,              \
                                        value_type desired) {                            \
    SM_U##bytes seen = (SM_U##bytes) * expected;                                         \
    bool done = sm_cas##bytes(&p->raw, &seen, (SM_U##bytes)desired);                     \
    if (!done) *expected = (value_type)seen;                                             \
    return done;                                                                         \
  }
#define SM_U4 uint32_t
#define SM_U8 uint64_t

#define SM_ORDERS(macro, ...)                                                            \
  macro(__VA_ARGS__, relaxed) macro(__VA_ARGS__, acquire) macro(__VA_ARGS__, release)    \
      macro(__VA_ARGS__, acq_rel) macro(__VA_ARGS__, seq_cst)

#define SM_WORD(type, value_type, bytes)                                                 \
  SM_LOAD(type, value_type, bytes, relaxed)                                              \
  SM_LOAD(type, value_type, bytes, acquire)                                              \
  SM_LOAD(type, value_type, bytes, seq_cst)                                              \
  SM_STORE(type, value_type, bytes, relaxed)                                             \
  SM_STORE(type, value_type, bytes, release)                                             \
  SM_ORDERS(SM_RMW, type, value_type, bytes, exchange, SM_EXCHANGE)                      \
  SM_ORDERS(SM_CAS, type, value_type, bytes)                                             \
  SM_INLINE void wf_##type##_init(wf_##type *p, value_type value) {                      \
    sm_store##bytes(&p->raw, (SM_U##bytes)value);                                        \
  }                                                                                      \
  SM_INLINE value_type wf_##type##_peek(const wf_##type *p) {                            \
    return (value_type)sm_peek##bytes(&p->raw);                                          \
  }

#define SM_INTEGER(type, value_type, bytes)                                              \
  SM_WORD(type, value_type, bytes)                                                       \
  SM_ORDERS(SM_RMW, type, value_type, bytes, fetch_add, SM_ADD)                          \
  SM_ORDERS(SM_RMW, type, value_type, bytes, fetch_sub, SM_SUB)                          \
  SM_ORDERS(SM_RMW, type, value_type, bytes, fetch_or, SM_OR)                            \
  SM_ORDERS(SM_RMW, type, value_type, bytes, fetch_and, SM_AND)

SM_INTEGER(u32, uint32_t, 4)
SM_INTEGER(u64, uint64_t, 8)
SM_INTEGER(word, uintptr_t, 8)

/* Pointers are converted through integers. */
#define SM_PTR_LOAD(name)                                                                \
  SM_INLINE void *wf_ptr_load_##name(const wf_ptr *p) {                                  \
    return (void *)(uintptr_t)sm_load8(&p->raw);                                         \
  }
SM_PTR_LOAD(relaxed)
SM_PTR_LOAD(acquire)
SM_PTR_LOAD(own)
#define SM_PTR_STORE(name)                                                               \
  SM_INLINE void wf_ptr_store_##name(wf_ptr *p, void *value) {                           \
    sm_store8(&p->raw, (uintptr_t)value);                                                \
  }
SM_PTR_STORE(relaxed)
SM_PTR_STORE(release)
#define SM_PTR_EXCHANGE(name)                                                            \
  SM_INLINE void *wf_ptr_exchange_##name(wf_ptr *p, void *value) {                       \
    return (void *)(uintptr_t)sm_rmw8(&p->raw, SM_EXCHANGE, (uintptr_t)value);           \
  }
SM_PTR_EXCHANGE(acquire)
SM_PTR_EXCHANGE(acq_rel)
SM_INLINE bool wf_ptr_cas_release(wf_ptr *p, void **expected, void *desired) {
  uint64_t seen = (uintptr_t)*expected;
  bool done = sm_cas8(&p->raw, &seen, (uintptr_t)desired);
  if (!done) *expected = (void *)(uintptr_t)seen;
  return done;
}
SM_INLINE void *wf_ptr_peek(const wf_ptr *p) {
  return (void *)(uintptr_t)sm_peek8(&p->raw);
}

/* Costs nothing: the line is the owner's, and the next store to it counts. */
SM_INLINE void wf_fn_store_own(void (**p)(void *), void (*value)(void *)) {
  *p = value;
}

SM_INLINE void wf_fence_seq_cst(void) {
  sm_fence();
}

/* A compiler keeps order across it, and it costs nothing. */
SM_INLINE void wf_light_barrier(void) {
  __asm__ __volatile__("" ::: "memory");
}

#endif
