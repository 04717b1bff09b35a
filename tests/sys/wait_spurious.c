/* link: -Wl,--wrap=syscall */
/* Waiting on a word when the kernel lies: the wrapper below answers half of the waits
 * itself, with 0, EINTR, EAGAIN and now and then ENOSYS. None of these answers proves
 * anything, so nothing may depend on them. The portable system layer makes no such call,
 * and the wrapper is unused there.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "wait_pair.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/syscall.h>

enum wait_mode { WAIT_HONEST, WAIT_LYING, WAIT_REFUSED };

static wf_u32 mode;
static wf_u32 lies;
static wf_u32 liars;
static _Thread_local uint64_t lie_state; /* 0: this thread has not lied yet */

static uint64_t lie_random(void) {
  if (lie_state == 0) lie_state = harness_seed() + wf_u32_fetch_add_relaxed(&liars, 1);
  return harness_random(&lie_state) >> 32;
}

static long lie(int error) {
  wf_u32_fetch_add_relaxed(&lies, 1);
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
  const bool is_wait = number == SYS_futex && (a[1] & 127) == 0;
  if (number == SYS_futex && wf_u32_load_relaxed(&mode) == WAIT_REFUSED) {
    return lie(ENOSYS);
  }
  if (is_wait && wf_u32_load_relaxed(&mode) == WAIT_LYING && lie_random() % 2 == 0) {
    static const int answers[] = {0, EINTR, EAGAIN};
    const uint64_t choice = lie_random() % 256;
    return lie(choice == 0 ? ENOSYS : answers[choice % 3]);
  }
  return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static void check_lies_were_told(void) {
#if defined(__linux__) && !defined(WF_SYS_POSIX)
  CHECK(wf_u32_load_relaxed(&lies) > 0);
#endif
  wf_u32_store_relaxed(&lies, 0);
  wf_u32_store_relaxed(&mode, WAIT_HONEST);
}

TEST(ping_pong_survives_lies) {
  wf_u32_store_relaxed(&mode, WAIT_LYING);
  wait_pair_run(100 * 1000);
  check_lies_were_told();
}

/* With no futex at all, waiting is slow but right. */
TEST(ping_pong_survives_refusal) {
  wf_u32_store_relaxed(&mode, WAIT_REFUSED);
  wait_pair_run(1000);
  check_lies_were_told();
}
