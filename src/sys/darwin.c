/* darwin.c - macOS and its relatives: waiting on a word, the priority of threads, and the
 * environment of a library.
 *
 * Waiting is os_sync_wait_on_address where the system has it (macOS 14.4, iOS 17.4), and
 * __ulock_wait before. The second is not documented, but is what the C++ library of the
 * system has used for the same since macOS 10.15. WF_SYS_POSIX builds with posix.c
 * instead, for those who may not call it. There is no process-wide barrier: prepare says
 * so, and the layers above use fences on both sides. Threads, clock and memory are in
 * unix.c.
 *
 * This file is checked for syntax where weft is developed, with the declarations in
 * tests/platforms/darwin; nobody has run it yet (docs/platforms.md).
 *
 * Who calls: core (latches, locks) and sched (sleep, wake). No thread owns anything here,
 * and there is no state.
 *
 * SPDX-License-Identifier: MIT */
#include "sys.h"

#if defined(__APPLE__)

#include "darwin.h"

#include <crt_externs.h>
#include <errno.h>
#include <sys/qos.h>

/* ---- threads ---- */

/* Workers run for the thread that made the pool, so they get its quality of service:
 * the system then schedules the parts of a loop as it schedules the loop. A thread
 * without a class leaves the default. */
void wf_darwin_prepare_thread(pthread_attr_t *attributes) {
  const qos_class_t own = qos_class_self();
  if (own != QOS_CLASS_UNSPECIFIED)
    (void)pthread_attr_set_qos_class_np(attributes, own, 0);
}

/* ---- environment ---- */

/* A dynamic library cannot use `environ`. */
char **wf_sys_environment(void) {
  char ***environment = _NSGetEnviron();
  return environment != NULL ? *environment : NULL;
}

#if !defined(WF_SYS_POSIX)

/* ---- waiting on a word ---- */

#if defined(__has_include)
#if __has_include(<os/os_sync_wait_on_address.h>)
#include <os/clock.h>
#include <os/os_sync_wait_on_address.h>
#define HAS_OS_SYNC 1
#endif
#endif

/* The older interface, as Apple's sources of the kernel declare it (bsd/sys/ulock.h). A
 * timeout of 0 is none. With NO_ERRNO the result is -errno. */
extern int __ulock_wait(uint32_t operation, void *address, uint64_t value,
                        uint32_t timeout_us);
extern int __ulock_wake(uint32_t operation, void *address, uint64_t value);
enum { ULOCK_COMPARE_AND_WAIT = 1, ULOCK_WAKE_ALL = 0x100, ULOCK_NO_ERRNO = 0x1000000 };

/* A wait without an end has this timeout. */
enum { NO_TIMEOUT = 0 };

/* Waits by the older interface, in microseconds, rounded up: 0 would be without an end.
 * Returns 0 or an error number. */
static int ulock_wait(wf_u32 *word, uint32_t expected, uint64_t timeout_ns) {
  uint64_t us = timeout_ns / 1000 + (timeout_ns % 1000 != 0);
  if (us > UINT32_MAX) us = UINT32_MAX;
  const int result = __ulock_wait(ULOCK_COMPARE_AND_WAIT | ULOCK_NO_ERRNO, &word->raw,
                                  expected, (uint32_t)us);
  return result < 0 ? -result : 0;
}

#if HAS_OS_SYNC
static int os_sync_wait(wf_u32 *word, uint32_t expected, uint64_t timeout_ns)
    __attribute__((availability(macos, introduced = 14.4)))
    __attribute__((availability(ios, introduced = 17.4)));

static int os_sync_wait(wf_u32 *word, uint32_t expected, uint64_t timeout_ns) {
  const int result =
      timeout_ns == NO_TIMEOUT
          ? os_sync_wait_on_address(&word->raw, expected, sizeof word->raw,
                                    OS_SYNC_WAIT_ON_ADDRESS_NONE)
          : os_sync_wait_on_address_with_timeout(&word->raw, expected, sizeof word->raw,
                                                 OS_SYNC_WAIT_ON_ADDRESS_NONE,
                                                 OS_CLOCK_MACH_ABSOLUTE_TIME, timeout_ns);
  return result < 0 ? errno : 0;
}
#endif

/* Returns 0 or an error number. */
static int address_wait(wf_u32 *word, uint32_t expected, uint64_t timeout_ns) {
#if HAS_OS_SYNC
  if (__builtin_available(macOS 14.4, iOS 17.4, *))
    return os_sync_wait(word, expected, timeout_ns);
#endif
  return ulock_wait(word, expected, timeout_ns);
}

/* Both interfaces wake waiters of their own kind only, and a process uses one of them:
 * which one depends on the version of the system. */
static void address_wake(wf_u32 *word, bool all) {
#if HAS_OS_SYNC
  if (__builtin_available(macOS 14.4, iOS 17.4, *)) {
    /* Fails if nobody waits. */
    if (all)
      (void)os_sync_wake_by_address_all(&word->raw, sizeof word->raw,
                                        OS_SYNC_WAKE_BY_ADDRESS_NONE);
    else
      (void)os_sync_wake_by_address_any(&word->raw, sizeof word->raw,
                                        OS_SYNC_WAKE_BY_ADDRESS_NONE);
    return;
  }
#endif
  const uint32_t how = all ? ULOCK_WAKE_ALL : 0;
  (void)__ulock_wake(ULOCK_COMPARE_AND_WAIT | ULOCK_NO_ERRNO | how, &word->raw, 0);
}

/* EINTR, a signal, and EFAULT, a page that was not in memory at that moment, are returns
 * without reason. */
void wf_sys_wait(wf_u32 *word, uint32_t expected) {
  (void)address_wait(word, expected, NO_TIMEOUT);
}

bool wf_sys_wait_for(wf_u32 *word, uint32_t expected, uint64_t timeout_ns) {
  if (timeout_ns == NO_TIMEOUT) return false;
  return address_wait(word, expected, timeout_ns) != ETIMEDOUT;
}

void wf_sys_wake_one(wf_u32 *word) {
  address_wake(word, false);
}

void wf_sys_wake_all(wf_u32 *word) {
  address_wake(word, true);
}

/* ---- process-wide barrier ---- */

bool wf_sys_barrier_prepare(void) {
  return false;
}

bool wf_sys_barrier(void) {
  return false;
}

#endif
#endif
