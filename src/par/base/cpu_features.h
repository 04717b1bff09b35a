/* par/base/cpu_features.h - which wide instructions this CPU has, and how to compile
 * functions for them. The library itself is compiled for any CPU of its kind; loops that
 * profit exist once per SIMD set and are chosen while the program runs.
 *
 * Functions between WF_TARGET_..._BEGIN and WF_TARGET_END may only be called if the
 * wf_cpu_has_... of the same name is true. All of it exists only if WF_X86_SIMD is 1.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_PAR_CPU_FEATURES_H
#define WF_PAR_CPU_FEATURES_H

#include <stdbool.h>

/* WEFT_NO_SIMD builds the library without them, for tests of the portable code. gcc for
 * Windows keeps wide vectors on a stack that it has not aligned for them, and crashes
 * (gcc bug 54412); clang does it right. */
#if defined(_WIN32) && !defined(__clang__) && !defined(WEFT_NO_SIMD)
#define WEFT_NO_SIMD 1
#endif
#if (defined(__x86_64__) || defined(__i386__)) && defined(__SSE2__) &&                   \
    defined(__GNUC__) && !defined(WEFT_NO_SIMD)
#define WF_X86_SIMD 1
#include <immintrin.h>
#else
#define WF_X86_SIMD 0
#endif

#if WF_X86_SIMD
#define WF_TARGET_PRAGMA(text) _Pragma(#text)
#if defined(__clang__)
#define WF_TARGET_BEGIN(features)                                                        \
  WF_TARGET_PRAGMA(                                                                      \
      clang attribute push(__attribute__((target(features))), apply_to = function))
#define WF_TARGET_END _Pragma("clang attribute pop")
#else
#define WF_TARGET_BEGIN(features)                                                        \
  _Pragma("GCC push_options") WF_TARGET_PRAGMA(GCC target features)
#define WF_TARGET_END _Pragma("GCC pop_options")
#endif
#define WF_TARGET_AVX2_BEGIN WF_TARGET_BEGIN("avx2,popcnt")
#define WF_TARGET_AVX512_BEGIN                                                           \
  WF_TARGET_BEGIN("avx512f,avx512dq,avx512bw,avx512vl,bmi,bmi2,popcnt")

/* AVX2 and POPCNT: x86 since about 2013. Costs a few nanoseconds; any thread. */
static inline bool wf_cpu_has_avx2(void) {
  __builtin_cpu_init(); /* tests may come before the constructor that does it */
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt");
}

/* AVX-512 F, DQ, BW and VL, with BMI, BMI2 and POPCNT, which all CPUs with those have:
 * Intel since Skylake-X, AMD since Zen 4. */
static inline bool wf_cpu_has_avx512(void) {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
         __builtin_cpu_supports("popcnt");
}

#endif

#endif
