/* par/fold/simd.c - the kernels for each kind of CPU, and which of them this CPU gets.
 *
 * The choice is a pointer that is set on first use: unlike the linker's way of choosing
 * it works in static programs, with every libc and under sanitizers.
 *
 * SPDX-License-Identifier: MIT */
#include "simd.h"

#include <string.h>

#if (defined(__x86_64__) || defined(__i386__)) && defined(__SSE2__) &&                   \
    defined(__GNUC__) && !defined(WEFT_NO_SIMD)
#define WF_X86 1
#include <immintrin.h>
#else
#define WF_X86 0
#endif

/* gcc vectorises loops at -O3 only. Neither compiler may fuse a product and a sum into an
 * operation that rounds once: not every CPU has it. */
#if defined(__clang__)
#pragma clang fp contract(off)
#elif defined(__GNUC__)
#pragma GCC push_options
#pragma GCC optimize("O3", "fp-contract=off")
#endif

/* The mean of both lies between them, by their shares. It is kept as the left one's and
 * what is to be added: the sum would lose what counts if the numbers differ by little. */
void wf_moments_merge(wf_moments *l, const wf_moments *r) {
  double count = l->count + r->count;
  if (r->count == 0) return; /* cancelled */
  double apart = (r->mean - l->mean) + (r->rest - l->rest), share = r->count / count;
  l->rest += apart * share;
  l->squares += r->squares + apart * apart * l->count * share;
  l->count = count;
}

/* ---- portable: 16 bytes, which SSE2 and NEON have ---- */

#define KERNEL(name) name##_portable
#define KERNEL_BYTES 16
#include "simd_body.h"
#undef KERNEL
#undef KERNEL_BYTES

#if WF_X86

/* ---- AVX2 ---- */

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,popcnt"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,popcnt")
#endif

#define KERNEL(name) name##_avx2
#define KERNEL_BYTES 32
#include "simd_body.h"
#undef KERNEL
#undef KERNEL_BYTES

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

/* ---- AVX-512 ---- */

#if defined(__clang__)
#pragma clang attribute push(                                                            \
    __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,popcnt"))),                \
    apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx512bw,avx512vl,popcnt")
#endif

#define KERNEL(name) name##_avx512
#define KERNEL_BYTES 64
#include "simd_body.h"
#undef KERNEL
#undef KERNEL_BYTES

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif

#if defined(__clang__)
#pragma clang fp contract(on)
#elif defined(__GNUC__)
#pragma GCC pop_options
#endif

/* ---- the choice ---- */

static wf_ptr chosen_kernels; /* NULL before the first use */

/* The set of that number, or NULL if this CPU cannot run it. */
static const wf_kernels *kernels_of(unsigned number) {
  if (number == 0) return &kernels_portable;
#if WF_X86
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("popcnt")) return NULL;
  if (number == 1 && __builtin_cpu_supports("avx2")) return &kernels_avx2;
  if (number == 2 && __builtin_cpu_supports("avx512f") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl"))
    return &kernels_avx512;
#endif
  return NULL;
}

bool wf_kernels_choose(unsigned number) {
  const wf_kernels *kernels = kernels_of(number);
  /* Relaxed: the sets are constant. */
  if (kernels != NULL) wf_ptr_store_relaxed(&chosen_kernels, (void *)(uintptr_t)kernels);
  return kernels != NULL;
}

const wf_kernels *wf_kernels_get(void) {
  /* Relaxed: whoever comes first chooses the same. */
  const wf_kernels *kernels = (const wf_kernels *)wf_ptr_load_relaxed(&chosen_kernels);
  if (kernels != NULL) return kernels;
  unsigned number = 2;
  while (!wf_kernels_choose(number)) number--;
  return (const wf_kernels *)wf_ptr_load_relaxed(&chosen_kernels);
}
