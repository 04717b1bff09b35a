/* wrapped_syscall.h - calls to the kernel that a test answers in its place: for programs
 * linked with -Wl,--wrap=syscall. Who includes this defines answer_syscall. The portable
 * system layer makes no such call, and the wrapper is unused there.
 *
 * To be included by one file of a program, after _GNU_SOURCE is defined.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_HARNESS_WRAPPED_SYSCALL_H
#define TESTS_HARNESS_WRAPPED_SYSCALL_H

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/syscall.h>

/* True if the call is answered: with the error, or, if that is 0, with success that has
 * done nothing. is_wait: it is a wait on a futex. */
static bool answer_syscall(long number, bool is_wait, int *error);

/* What such a call returns. */
static inline long syscall_answer(int error) {
  if (error == 0) return 0;
  errno = error;
  return -1;
}

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

/* The library passes six arguments to futex; everything else here has at most three. */
long __wrap_syscall(long number, ...) {
  long a[6] = {0};
  int error = 0;
  va_list list;
  va_start(list, number);
  for (int i = 0; i < (number == SYS_futex ? 6 : 3); i++) a[i] = va_arg(list, long);
  va_end(list);
  const bool is_wait = number == SYS_futex && (a[1] & 127) == 0;
  if (answer_syscall(number, is_wait, &error)) return syscall_answer(error);
  return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

#endif
