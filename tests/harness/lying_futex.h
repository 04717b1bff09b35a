/* harness/lying_futex.h - a kernel whose futex lies. For programs linked with
 * -Wl,--wrap=syscall.
 *
 * In the mode FUTEX_LYING half of the waits return at once, with 0, EINTR, EAGAIN and now
 * and then ENOSYS. The kernel may return these without reason, so code under test must
 * not depend on them. In the mode FUTEX_REFUSED every futex call returns ENOSYS.
 *
 * One file of a program includes it, after _GNU_SOURCE is defined.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_HARNESS_LYING_FUTEX_H
#define TESTS_HARNESS_LYING_FUTEX_H

#include "harness/harness.h"
#include "harness/wrapped_syscall.h"

#include <stdatomic.h>
#include <stdint.h>

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

/* Decides whether a wait gets a lie, and which. */
static bool futex_wait_lie(int *error) {
  static const int answers[] = {0, EINTR, EAGAIN};
  if (futex_lie_random() % 2 != 0) return false;
  const uint64_t choice = futex_lie_random() % 256;
  *error = choice == 0 ? ENOSYS : answers[choice % 3];
  return true;
}

static bool answer_syscall(long number, bool is_wait, int *error) {
  const int mode = number == SYS_futex ? atomic_load(&futex_mode) : FUTEX_HONEST;
  bool lies = mode == FUTEX_REFUSED;
  *error = ENOSYS;
  if (mode == FUTEX_LYING && is_wait) lies = futex_wait_lie(error);
  if (lies) atomic_fetch_add(&futex_lies, 1);
  return lies;
}

/* Stops lying. Checks that there were lies at all. */
static void stop_lying(void) {
#if defined(__linux__) && !defined(WF_SYS_POSIX)
  CHECK(atomic_load(&futex_lies) > 0);
#endif
  atomic_store(&futex_lies, 0);
  atomic_store(&futex_mode, FUTEX_HONEST);
}

#endif
