/* par/base/cpu_features.c - asks the CPU. Called by the files that choose between SIMD
 * sets: fold/simd.c and the sorts of numbers. Writes nothing; any thread.
 *
 * SPDX-License-Identifier: MIT */
#include "cpu_features.h"

#if WF_X86_SIMD

bool wf_cpu_has_avx2(void) {
  __builtin_cpu_init(); /* tests may come before the constructor that does it */
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt");
}

bool wf_cpu_has_avx512(void) {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
         __builtin_cpu_supports("popcnt");
}

#else

bool wf_cpu_has_avx2(void) {
  return false;
}

bool wf_cpu_has_avx512(void) {
  return false;
}

#endif
