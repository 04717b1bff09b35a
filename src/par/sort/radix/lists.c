/* par/sort/radix/lists.c - see sort_lists.h and sort_lists_body.h.
 *
 * SPDX-License-Identifier: MIT */
#include "lists.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(WEFT_NO_SIMD)
#define LISTS_X86 1
#include <immintrin.h>
#else
#define LISTS_X86 0
#endif

#if LISTS_X86

/* Of a list, the most elements; how many it usually has at most, so that few are longer;
 * and the fewest lists, so that each group is whole. */
enum { LISTS_LENGTH = 16, LISTS_USUAL = 10, LISTS_LEAST_BITS = 4 };

#if defined(__clang__)
#pragma clang attribute push(                                                            \
    __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,bmi,bmi2"))),              \
    apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx512bw,avx512vl,bmi,bmi2")
#endif

/* ---- 64 bits ---- */

#define LISTS(name)         lists_##name##64
#define LISTS_KEY           wf_bits64
#define LISTS_LANES         8
#define LISTS_ADD(a, b)     _mm512_add_epi64(a, b)
#define LISTS_SIGNS(a)      _mm512_srai_epi64(a, 63)
#define LISTS_MIN(a, b)     _mm512_min_epu64(a, b)
#define LISTS_MAX(a, b)     _mm512_max_epu64(a, b)
#define LISTS_LOWEST(a)     _mm512_reduce_min_epu64(a)
#define LISTS_HIGHEST(a)    _mm512_reduce_max_epu64(a)
#define LISTS_PICK(a, i, b) _mm512_permutex2var_epi64(a, i, b)
#define LISTS_ALL(x)        _mm512_set1_epi64((long long)(x))
#define LISTS_LOAD(mask, p)                                                              \
  _mm512_mask_loadu_epi64(_mm512_set1_epi32(-1), (__mmask8)(mask), p)
#define LISTS_STORE(p, mask, x) _mm512_mask_storeu_epi64(p, (__mmask8)(mask), x)
#define LISTS_EACH_ROW                                                                   \
  LISTS_ROW(0);                                                                          \
  LISTS_ROW(1);                                                                          \
  LISTS_ROW(2);                                                                          \
  LISTS_ROW(3);                                                                          \
  LISTS_ROW(4);                                                                          \
  LISTS_ROW(5);                                                                          \
  LISTS_ROW(6);                                                                          \
  LISTS_ROW(7);
typedef wf_other_leaf64 lists_other64;
#include "lists_body.h"
#include "lists_undefine.h"

/* ---- 32 bits ---- */

#define LISTS(name)         lists_##name##32
#define LISTS_KEY           wf_bits32
#define LISTS_LANES         16
#define LISTS_ADD(a, b)     _mm512_add_epi32(a, b)
#define LISTS_SIGNS(a)      _mm512_srai_epi32(a, 31)
#define LISTS_MIN(a, b)     _mm512_min_epu32(a, b)
#define LISTS_MAX(a, b)     _mm512_max_epu32(a, b)
#define LISTS_LOWEST(a)     _mm512_reduce_min_epu32(a)
#define LISTS_HIGHEST(a)    _mm512_reduce_max_epu32(a)
#define LISTS_PICK(a, i, b) _mm512_permutex2var_epi32(a, i, b)
#define LISTS_ALL(x)        _mm512_set1_epi32((int)(uint32_t)(x))
#define LISTS_LOAD(mask, p)                                                              \
  _mm512_mask_loadu_epi32(_mm512_set1_epi32(-1), (__mmask16)(mask), p)
#define LISTS_STORE(p, mask, x) _mm512_mask_storeu_epi32(p, (__mmask16)(mask), x)
#define LISTS_EACH_ROW                                                                   \
  LISTS_ROW(0);                                                                          \
  LISTS_ROW(1);                                                                          \
  LISTS_ROW(2);                                                                          \
  LISTS_ROW(3);                                                                          \
  LISTS_ROW(4);                                                                          \
  LISTS_ROW(5);                                                                          \
  LISTS_ROW(6);                                                                          \
  LISTS_ROW(7);                                                                          \
  LISTS_ROW(8);                                                                          \
  LISTS_ROW(9);                                                                          \
  LISTS_ROW(10);                                                                         \
  LISTS_ROW(11);                                                                         \
  LISTS_ROW(12);                                                                         \
  LISTS_ROW(13);                                                                         \
  LISTS_ROW(14);                                                                         \
  LISTS_ROW(15);
typedef wf_other_leaf32 lists_other32;
#include "lists_body.h"
#include "lists_undefine.h"

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

static const wf_lists lists_avx512 = {lists_leaf32, lists_leaf64};

static bool cpu_has_lists(void) {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}

#endif

static wf_word lists_denied;

void wf_lists_allow(bool allow) {
  /* Relaxed: nothing else depends on it, here and below. */
  wf_word_store_relaxed(&lists_denied, allow ? 0 : 1);
}

const wf_lists *wf_lists_get(void) {
#if LISTS_X86
  if (wf_word_load_relaxed(&lists_denied) == 0 && cpu_has_lists()) return &lists_avx512;
#endif
  return NULL;
}
