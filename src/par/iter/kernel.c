/* par/iter/kernel.c - runs kernels of iterators: those of two versions that the CPU can
 * run and, for filters, what moves the elements that stay.
 *
 * SPDX-License-Identifier: MIT */
#include "../fold/simd.h"
#include "iter.h"

static size_t kernel_plain(const wf_stage *s, void *out, const void *in,
                           const void *right, size_t n) {
  const weft_iter_kernel *kernel = wf_stage_kernel(s);
  if (kernel->wide.run != NULL && wf_simd_get()->wide)
    return kernel->wide.run(out, in, right, n, s->ctx);
  return kernel->any.run(out, in, right, n, s->ctx);
}

/* So many elements are looked at before they are moved: what says which ones stay is
 * small then. */
enum { SIEVE_PART = 512 };

/* NULL: the kernel moves the elements itself. */
static wf_compact_fn *pack_for(const wf_stage *s) {
  if (wf_stage_kernel(s)->any.keep == NULL) return NULL;
  if (s->size == 8) return wf_simd_get()->compact_8;
  return s->size == 4 ? wf_simd_get()->compact_4 : NULL;
}

static size_t kernel_sieve(const wf_stage *s, char *out, const char *in, size_t n,
                           wf_compact_fn *pack) {
  const weft_iter_kernel *kernel = wf_stage_kernel(s);
  bool wide = kernel->wide.keep != NULL && wf_simd_get()->wide;
  size_t size = s->size, kept = 0;
  unsigned char keep[SIEVE_PART];
  for (size_t i = 0; i < n; i += SIEVE_PART) {
    size_t part = n - i < SIEVE_PART ? n - i : SIEVE_PART;
    (wide ? kernel->wide.keep : kernel->any.keep)(keep, in + i * size, part, s->ctx);
    kept += pack(out + kept * size, in + i * size, keep, part);
  }
  return kept;
}

size_t wf_iter_kernel_run(const wf_stage *s, char *out, const char *in, const char *right,
                          size_t n) {
  wf_compact_fn *pack = pack_for(s);
  return pack != NULL ? kernel_sieve(s, out, in, n, pack)
                      : kernel_plain(s, out, in, right, n);
}

size_t wf_iter_kernel_count(const wf_stage *s, const char *in, size_t n) {
  const weft_iter_kernel *kernel = wf_stage_kernel(s);
  if (kernel->wide.count != NULL && wf_simd_get()->wide)
    return kernel->wide.count(in, n, s->ctx);
  return kernel->any.count(in, n, s->ctx);
}
