/* denormals.h - treats denormal numbers as zero for a while, on the calling thread.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WFP_DENORMALS_H
#define WFP_DENORMALS_H

#include <stdint.h>

#if defined(__SSE__) || defined(__x86_64__)
#include <xmmintrin.h>

/* MXCSR: results are flushed to zero (bit 15), operands count as zero (bit 6). */
static inline uint64_t denormals_off(void) {
  unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040U);
  return before;
}
static inline void denormals_restore(uint64_t before) {
  _mm_setcsr((unsigned)before);
}

#elif defined(__aarch64__)

/* FPCR: flush to zero for single and double (bit 24) and for half precision (bit 19). */
static inline uint64_t denormals_off(void) {
  uint64_t before;
  __asm__ volatile("mrs %0, fpcr" : "=r"(before));
  __asm__ volatile("msr fpcr, %0" ::"r"(before | 0x1080000U));
  return before;
}
static inline void denormals_restore(uint64_t before) {
  __asm__ volatile("msr fpcr, %0" ::"r"(before));
}

#elif defined(__arm__) && defined(__ARM_FP) && __ARM_FP != 0

/* FPSCR: flush to zero (bit 24). */
static inline uint64_t denormals_off(void) {
  uint32_t before;
  __asm__ volatile("vmrs %0, fpscr" : "=r"(before));
  __asm__ volatile("vmsr fpscr, %0" ::"r"(before | 0x1000000U));
  return before;
}
static inline void denormals_restore(uint64_t before) {
  __asm__ volatile("vmsr fpscr, %0" ::"r"((uint32_t)before));
}

#else

/* A hint that this CPU cannot follow. */
static inline uint64_t denormals_off(void) {
  return 0;
}
static inline void denormals_restore(uint64_t before) {
  (void)before;
}

#endif

#endif
