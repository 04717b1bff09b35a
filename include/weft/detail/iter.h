/* weft/detail/iter.h - what a weft_iter is made of, and how flat maps hand on what they
 * make. Not API.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_DETAIL_ITER_H
#define WEFT_DETAIL_ITER_H

#include <string.h>
#include <weft/opts.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A source or a stage. Stages stand behind what they work on: the operand of a stage is
 * the one in front of it; of two operands the right one is, and `left` says how many
 * places in front the left one is. So a part that is copied stays valid. */
typedef struct wf_stage {
  unsigned char kind, flags;
  unsigned short left;
  size_t size; /* of an element */
  size_t len;  /* how many there are, if that is known */
  const void *p;
  size_t a, b, c, d;
  void (*fn)(void);
  void *ctx;
} wf_stage;

#define WF_ITER_STAGES 16

/* Where a flat map puts its elements: memory that is handed on when it is full. */
typedef struct wf_out {
  char *next, *end;
  size_t size;
  void (*flush)(struct wf_out *out); /* makes room for one more at least */
  bool only_counted;                 /* does nobody look at the elements? */
  size_t counted;                    /* then: how many come beside those in memory */
} wf_out;

WEFT_API void wf_out_mismatch(size_t size, size_t expected);

static inline void *wf_out_slot(wf_out *out, size_t size) {
  if (size != out->size) wf_out_mismatch(size, out->size);
  if (out->next == out->end) out->flush(out);
  void *slot = out->next;
  out->next += size;
  return slot;
}

#ifdef __cplusplus
}
#endif

#endif
