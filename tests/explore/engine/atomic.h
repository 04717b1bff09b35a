/* atomic.h - takes the place of core/atomic.h and weft/detail/atomic.h in an explorer
 * build: the same types and functions, each of them a step that the explorer schedules.
 *
 * SPDX-License-Identifier: MIT */
#ifndef EXPLORE_ATOMIC_H
#define EXPLORE_ATOMIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum xp_order {
  XP_RELAXED,
  XP_ACQUIRE,
  XP_RELEASE,
  XP_ACQ_REL,
  XP_SEQ_CST
} xp_order;
typedef enum xp_rmw_kind { XP_EXCHANGE, XP_ADD, XP_SUB, XP_OR, XP_AND } xp_rmw_kind;

uint64_t xp_load(const void *p, unsigned size, xp_order order);
void xp_store(void *p, unsigned size, uint64_t value, xp_order order);
/* A store that nobody else can see yet: the word starts a new life. */
void xp_init(void *p, unsigned size, uint64_t value);
uint64_t xp_rmw(void *p, unsigned size, xp_rmw_kind kind, uint64_t operand,
                xp_order order);
bool xp_cas(void *p, unsigned size, uint64_t *expected, uint64_t desired, xp_order order,
            bool weak);
void xp_fence(xp_order order);
/* For assertions: what the thread itself has stored last, else the newest store. It is no
 * step, so that an assertion adds no schedules. */
uint64_t xp_peek(const void *p, unsigned size);

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

#define XP_INLINE static inline __attribute__((always_inline, unused))

#define XP_LOAD(type, value_type, name, order)                                           \
  XP_INLINE value_type wf_##type##_load_##name(const wf_##type *p) {                     \
    return (value_type)xp_load(&p->raw, sizeof p->raw, order);                           \
  }
#define XP_STORE(type, value_type, name, order)                                          \
  XP_INLINE void wf_##type##_store_##name(wf_##type *p, value_type value) {              \
    xp_store(&p->raw, sizeof p->raw, (uint64_t)value, order);                            \
  }
#define XP_RMW(type, value_type, operation, kind, name, order)                           \
  XP_INLINE value_type wf_##type##_##operation##_##name(wf_##type *p,                    \
                                                        value_type value) {              \
    return (value_type)xp_rmw(&p->raw, sizeof p->raw, kind, (uint64_t)value, order);     \
  }
#define XP_CAS(type, value_type, name, order)                                            \
  XP_INLINE bool wf_##type##_cas_##name(wf_##type *p, value_type *expected,              \
                                        value_type desired) {                            \
    uint64_t seen = (uint64_t)*expected;                                                 \
    bool done = xp_cas(&p->raw, sizeof p->raw, &seen, (uint64_t)desired, order, false);  \
    if (!done) *expected = (value_type)seen;                                             \
    return done;                                                                         \
  }

#define XP_ORDERS(macro, ...)                                                            \
  macro(__VA_ARGS__, relaxed, XP_RELAXED) macro(__VA_ARGS__, acquire, XP_ACQUIRE)        \
      macro(__VA_ARGS__, release, XP_RELEASE) macro(__VA_ARGS__, acq_rel, XP_ACQ_REL)    \
          macro(__VA_ARGS__, seq_cst, XP_SEQ_CST)

#define XP_INTEGER(type, value_type)                                                     \
  XP_WORD(type, value_type)                                                              \
  XP_ORDERS(XP_RMW, type, value_type, fetch_add, XP_ADD)                                 \
  XP_ORDERS(XP_RMW, type, value_type, fetch_sub, XP_SUB)                                 \
  XP_ORDERS(XP_RMW, type, value_type, fetch_or, XP_OR)                                   \
  XP_ORDERS(XP_RMW, type, value_type, fetch_and, XP_AND)

#define XP_WORD(type, value_type)                                                        \
  XP_LOAD(type, value_type, relaxed, XP_RELAXED)                                         \
  XP_LOAD(type, value_type, acquire, XP_ACQUIRE)                                         \
  XP_LOAD(type, value_type, seq_cst, XP_SEQ_CST)                                         \
  XP_STORE(type, value_type, relaxed, XP_RELAXED)                                        \
  XP_STORE(type, value_type, release, XP_RELEASE)                                        \
  XP_STORE(type, value_type, seq_cst, XP_SEQ_CST)                                        \
  XP_ORDERS(XP_RMW, type, value_type, exchange, XP_EXCHANGE)                             \
  XP_ORDERS(XP_CAS, type, value_type)                                                    \
  XP_INLINE void wf_##type##_init(wf_##type *p, value_type value) {                      \
    xp_init(&p->raw, sizeof p->raw, (uint64_t)value);                                    \
  }                                                                                      \
  XP_INLINE value_type wf_##type##_peek(const wf_##type *p) {                            \
    return (value_type)xp_peek(&p->raw, sizeof p->raw);                                  \
  }

XP_INTEGER(u32, uint32_t)
XP_INTEGER(u64, uint64_t)
XP_INTEGER(word, uintptr_t)
XP_WORD(ptr, void *)

/* Mutants of tools/order-mutants: a read-modify-write that is none, between whose load
 * and store others may come. */
#define XP_SPLIT_CAS(type, value_type)                                                   \
  XP_INLINE bool wf_##type##_cas_split(wf_##type *p, value_type *expected,               \
                                       value_type desired) {                             \
    value_type seen = wf_##type##_load_relaxed(p);                                       \
    bool done = seen == *expected;                                                       \
    if (done) wf_##type##_store_relaxed(p, desired);                                     \
    *expected = seen;                                                                    \
    return done;                                                                         \
  }
#define XP_SPLIT(type, value_type)                                                       \
  XP_SPLIT_CAS(type, value_type)                                                         \
  XP_INLINE value_type wf_##type##_fetch_add_split(wf_##type *p, value_type n) {         \
    value_type seen = wf_##type##_load_relaxed(p);                                       \
    wf_##type##_store_relaxed(p, seen + n);                                              \
    return seen;                                                                         \
  }                                                                                      \
  XP_INLINE value_type wf_##type##_fetch_sub_split(wf_##type *p, value_type n) {         \
    return wf_##type##_fetch_add_split(p, (value_type)0 - n);                            \
  }

XP_SPLIT(u32, uint32_t)
XP_SPLIT(u64, uint64_t)
XP_SPLIT(word, uintptr_t)
XP_SPLIT_CAS(ptr, void *)

/* A word that only the calling thread writes. */
XP_INLINE void *wf_ptr_load_own(const wf_ptr *p) {
  return wf_ptr_load_relaxed(p);
}

/* No step: nobody else sees the word yet. */
XP_INLINE void wf_fn_store_own(void (**p)(void *), void (*value)(void *)) {
  *p = value;
}

XP_INLINE void wf_fence_seq_cst(void) {
  xp_fence(XP_SEQ_CST);
}

/* A compiler keeps order across it, the machine does not. */
XP_INLINE void wf_light_barrier(void) {
  __asm__ __volatile__("" ::: "memory");
}

#endif
