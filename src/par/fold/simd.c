/* par/fold/simd.c - makes the SIMD sets, one for each kind of CPU, and chooses the one of
 * this CPU.
 *
 * Called by the calls on numbers (numbers.c, numbers_scan.c) and by iterators. The choice
 * is a pointer that is set on first use, by any thread: unlike the linker's way of
 * choosing (ifunc) that works in static programs, with every libc and under sanitizers.
 *
 * simd_compact.h and simd_body.h are templates, included once for each set: the function
 * SIMD(name) of theirs is name_portable, name_avx2 and name_avx512 here.
 *
 * SPDX-License-Identifier: MIT */
#include "simd.h"

#include "../base/bytes.h"
#include "../base/cpu_features.h"

/* gcc vectorises loops at -O3 only. Neither compiler may fuse a product and a sum into an
 * operation that rounds once: not every CPU has it, and all sets give the same bits. */
#if defined(__clang__)
#pragma clang fp contract(off)
#elif defined(__GNUC__)
#pragma GCC push_options
#pragma GCC optimize("O3", "fp-contract=off")
#endif

/* The mean of both lies between them, by their shares. It is kept as the left one's mean
 * and what is to be added to it: their sum would lose the digits that count if the
 * numbers differ by little. */
void wf_moments_merge(wf_moments *l, const wf_moments *r) {
  double count = l->count + r->count;
  if (r->count == 0) return; /* cancelled */
  double apart = (r->mean - l->mean) + (r->rest - l->rest), share = r->count / count;
  l->rest += apart * share;
  l->squares += r->squares + apart * apart * l->count * share;
  l->count = count;
}

/* ---- portable: vectors of 16 bytes, which SSE2 and NEON have ---- */

#define SIMD(name) name##_portable
#define SIMD_BYTES 16
#include "simd_body.h"
#undef SIMD
#undef SIMD_BYTES

#if WF_X86_SIMD

/* ---- AVX2 ---- */

WF_TARGET_AVX2_BEGIN
#define SIMD(name) name##_avx2
#define SIMD_BYTES 32
#include "simd_compact.h"
/* The second template lists what the first has made. */
#include "simd_body.h"
#undef SIMD
#undef SIMD_BYTES
WF_TARGET_END

/* ---- AVX-512 ---- */

WF_TARGET_AVX512_BEGIN
#define SIMD(name) name##_avx512
#define SIMD_BYTES 64
#include "simd_compact.h"
/* Loops over arrays keep vectors of 32 bytes: those of 64 bytes are no faster in the
 * first cache of a Zen 4, and slower where memory is the limit
 * (docs/investigations/streams-past-the-caches.md). The second template lists what the
 * first has made. */
#undef SIMD_BYTES
#define SIMD_BYTES 32
#include "simd_body.h"
#undef SIMD
#undef SIMD_BYTES
WF_TARGET_END

#endif

#if defined(__clang__)
#pragma clang fp contract(on)
#elif defined(__GNUC__)
#pragma GCC pop_options
#endif

/* ---- the choice ---- */

static wf_ptr chosen_simd; /* NULL before the first use */

/* The set of that number, or NULL if this CPU cannot run it. */
static const wf_simd *simd_of(unsigned number) {
  if (number == 0) return &simd_portable;
#if WF_X86_SIMD
  if (number == 1 && wf_cpu_has_avx2()) return &simd_avx2;
  if (number == 2 && wf_cpu_has_avx512()) return &simd_avx512;
#endif
  return NULL;
}

bool wf_simd_choose(unsigned number) {
  const wf_simd *simd = simd_of(number);
  /* Relaxed: the sets are constants. */
  if (simd != NULL) wf_ptr_store_relaxed(&chosen_simd, (void *)(uintptr_t)simd);
  return simd != NULL;
}

const wf_simd *wf_simd_get(void) {
  /* Relaxed: every thread that finds nothing chooses the same. */
  const wf_simd *simd = (const wf_simd *)wf_ptr_load_relaxed(&chosen_simd);
  if (simd != NULL) return simd;
  unsigned number = 2;
  while (!wf_simd_choose(number)) number--;
  return (const wf_simd *)wf_ptr_load_relaxed(&chosen_simd);
}
