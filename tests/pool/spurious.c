/* link: -Wl,--wrap=syscall */
/* Pools on a kernel that lies: half of the waits return at once, with 0, EINTR, EAGAIN
 * and now and then ENOSYS. A worker that took such an answer for a wake-up would count
 * wrong or run ahead. The portable system layer makes no such call, and the wrapper is
 * unused there.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "stress.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/syscall.h>

static atomic_bool lying;
static atomic_ulong lies;
static atomic_uint liars;
static _Thread_local uint64_t lie_state; /* 0: this thread has not lied yet */

static uint64_t lie_random(void) {
  if (lie_state == 0) lie_state = harness_seed() + atomic_fetch_add(&liars, 1);
  return harness_random(&lie_state) >> 32;
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
  const bool is_wait = number == SYS_futex && (a[1] & 127) == 0;
  if (is_wait && atomic_load(&lying) && lie_random() % 2 == 0) {
    static const int answers[] = {0, EINTR, EAGAIN};
    const uint64_t choice = lie_random() % 256;
    const int error = choice == 0 ? ENOSYS : answers[choice % 3];
    atomic_fetch_add(&lies, 1);
    if (error == 0) return 0;
    errno = error;
    return -1;
  }
  return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

TEST_LIMIT(v18_pools_survive_spurious_returns, 120) {
  atomic_store(&lying, true);
  stress_pools(scaled(3000));
  atomic_store(&lying, false);
#if defined(__linux__) && !defined(WF_SYS_POSIX)
  CHECK(atomic_load(&lies) > 0);
#endif
}
