/* lying_futex.h - a kernel that lies: for programs linked with -Wl,--wrap=syscall.
 *
 * In the mode FUTEX_LYING half of the waits are answered here, with 0, EINTR, EAGAIN and
 * now and then ENOSYS; none of these proves anything, so nothing may depend on them. In
 * the mode FUTEX_REFUSED every futex call answers ENOSYS. The portable system layer makes
 * no such call, and the wrapper is unused there.
 *
 * To be included by one file of a program, after _GNU_SOURCE is defined.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_HARNESS_LYING_FUTEX_H
#define TESTS_HARNESS_LYING_FUTEX_H

#include "harness/harness.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>

enum futex_mode { FUTEX_HONEST, FUTEX_LYING, FUTEX_REFUSED };

static atomic_int futex_mode;
static atomic_ulong futex_lies;
static atomic_uint futex_liars;
static _Thread_local uint64_t futex_lie_state; /* 0: this thread has not lied yet */

static uint64_t futex_lie_random(void) {
  if (futex_lie_state == 0)
    futex_lie_state = harness_seed() + atomic_fetch_add(&futex_liars, 1);
  return harness_random(&futex_lie_state) >> 32;
}

static long futex_lie(int error) {
  atomic_fetch_add(&futex_lies, 1);
  if (error == 0) return 0;
  errno = error;
  return -1;
}

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

/* The library passes six arguments to futex; everything else here has at most three. */
long __wrap_syscall(long number, ...) {
  long a[6] = {0};
  va_list list;
  va_start(list, number);
  for (int i = 0; i < (number == SYS_futex ? 6 : 3); i++) a[i] = va_arg(list, long);
  va_end(list);
  const int mode = number == SYS_futex ? atomic_load(&futex_mode) : FUTEX_HONEST;
  const bool is_wait = number == SYS_futex && (a[1] & 127) == 0;
  if (mode == FUTEX_REFUSED) return futex_lie(ENOSYS);
  if (mode == FUTEX_LYING && is_wait && futex_lie_random() % 2 == 0) {
    static const int answers[] = {0, EINTR, EAGAIN};
    const uint64_t choice = futex_lie_random() % 256;
    return futex_lie(choice == 0 ? ENOSYS : answers[choice % 3]);
  }
  return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* Back to the truth; there must have been lies. */
static void stop_lying(void) {
#if defined(__linux__) && !defined(WF_SYS_POSIX)
  CHECK(atomic_load(&futex_lies) > 0);
#endif
  atomic_store(&futex_lies, 0);
  atomic_store(&futex_mode, FUTEX_HONEST);
}

#endif
