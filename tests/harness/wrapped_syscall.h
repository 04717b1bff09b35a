/* harness/wrapped_syscall.h - lets a test answer system calls in place of the kernel. For
 * programs linked with -Wl,--wrap=syscall. The file that includes this header defines
 * answer_syscall. The portable system layer makes no such call and does not use the
 * wrapper.
 *
 * One file of a program includes it, after _GNU_SOURCE is defined.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_HARNESS_WRAPPED_SYSCALL_H
#define TESTS_HARNESS_WRAPPED_SYSCALL_H

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/syscall.h>

/* Returns true if the test answers the call: with *error, or, if that is 0, with success
 * although nothing was done. is_wait: the call is a wait on a futex. */
static bool answer_syscall(long number, bool is_wait, int *error);

/* What an answered call returns. */
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
