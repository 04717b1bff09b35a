/* sys/syscall.h - for tests on Windows: the number of the calling thread, and nothing
 * else.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_WINDOWS_SYS_SYSCALL_H
#define TESTS_WINDOWS_SYS_SYSCALL_H

#include <errno.h>

unsigned long __stdcall GetCurrentThreadId(void);

#define SYS_gettid 1
#define SYS_futex  2

static inline long syscall(long number, ...) {
  if (number == SYS_gettid) return (long)GetCurrentThreadId();
  errno = ENOSYS;
  return -1;
}

#endif
