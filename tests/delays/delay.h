/* delays/delay.h - puts a pause before every atomic operation of a build.
 *
 * A build with WEFT_DELAYS includes this file before each source file. All shared memory
 * of the library is accessed through core/atomic.h and weft/detail/atomic.h, which use
 * nothing but the builtins below; so the library needs no hook of its own, and a build
 * without delays is not touched at all. A macro is not expanded inside itself: the inner
 * names are the builtins.
 *
 * SPDX-License-Identifier: MIT */
#ifndef DELAYS_DELAY_H
#define DELAYS_DELAY_H

/* Does nothing most of the time; now and then it spins, yields or sleeps for up to 50 us.
 * Exported, since modules that are loaded late inline the fast path too. */
__attribute__((visibility("default"))) void wf_test_delay(void);

/* The fast path compares with memory in assembly, which would leave out the pause between
 * its store and that load. */
#define WEFT_NO_ASM 1

#define __atomic_load_n(p, order) (wf_test_delay(), __atomic_load_n(p, order))
#define __atomic_store_n(p, value, order)                                                \
  (wf_test_delay(), __atomic_store_n(p, value, order))
#define __atomic_exchange_n(p, value, order)                                             \
  (wf_test_delay(), __atomic_exchange_n(p, value, order))
#define __atomic_fetch_add(p, value, order)                                              \
  (wf_test_delay(), __atomic_fetch_add(p, value, order))
#define __atomic_fetch_sub(p, value, order)                                              \
  (wf_test_delay(), __atomic_fetch_sub(p, value, order))
#define __atomic_fetch_or(p, value, order)                                               \
  (wf_test_delay(), __atomic_fetch_or(p, value, order))
#define __atomic_fetch_and(p, value, order)                                              \
  (wf_test_delay(), __atomic_fetch_and(p, value, order))
#define __atomic_compare_exchange_n(p, expected, desired, weak, order, failure)          \
  (wf_test_delay(),                                                                      \
   __atomic_compare_exchange_n(p, expected, desired, weak, order, failure))
#define __atomic_thread_fence(order) (wf_test_delay(), __atomic_thread_fence(order))

#endif
