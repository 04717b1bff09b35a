/* core/assert.h - invariants that a debug build checks while it runs.
 *
 * WF_ASSERT(condition) states what must hold at this point for the code around it to be
 * correct. It is live where WEFT_DEBUG is defined: the `dev`, sanitizer, delay and
 * explorer builds. In a release it is not evaluated and costs nothing. Misuse by the
 * program is no matter for assertions: that is reported by wf_fatal in every build.
 *
 * WF_ASSERT_SLOW is for checks that walk a structure; it is live in the same builds and
 * has a name of its own so that a reader sees its cost.
 *
 * An assertion may not change what the code does. Shared words are read by wf_..._peek
 * (core/atomic.h), which orders nothing and is no step for the interleaving explorer: an
 * assertion neither adds schedules nor hides one.
 *
 * Any thread, any layer above sys.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_CORE_ASSERT_H
#define WF_CORE_ASSERT_H

#ifdef WEFT_DEBUG

#ifndef WF_ASSERT_FAILED /* the explorer has its own, which prints the schedule */
#include <stdio.h>
#include <stdlib.h>

_Noreturn static __attribute__((cold, noinline, unused)) void
wf_assert_failed(const char *file, int line, const char *function,
                 const char *condition) {
  (void)fprintf(stderr, "weft: %s:%d: %s: invariant broken: %s\n", file, line, function,
                condition);
  abort();
}
#define WF_ASSERT_FAILED(condition)                                                      \
  wf_assert_failed(__FILE__, __LINE__, __func__, condition)
#endif

#define WF_ASSERT(condition)                                                             \
  (__builtin_expect(!!(condition), 1) ? (void)0 : WF_ASSERT_FAILED(#condition))

#else

/* Names stay in use, so that a release has no warnings of its own. */
#define WF_ASSERT(condition) ((void)sizeof(!(condition)))

#endif

#define WF_ASSERT_SLOW(condition) WF_ASSERT(condition)

#endif
