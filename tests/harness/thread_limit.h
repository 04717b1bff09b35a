/* harness/thread_limit.h - a system that refuses to start threads beyond a limit. For
 * programs that are linked with -Wl,--wrap=pthread_create, and for Windows with
 * -Wl,--wrap=__imp_CreateThread; one file of the program includes it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_HARNESS_THREAD_LIMIT_H
#define TESTS_HARNESS_THREAD_LIMIT_H

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* How many threads may still be started before the system refuses; negative: no limit. */
static atomic_long allowed = -1;

/* Takes one of the allowed threads; false: there is none. */
static inline bool take_allowed(void) {
  long left = atomic_load(&allowed);
  if (left > 0) atomic_fetch_sub(&allowed, 1);
  return left != 0;
}

#if defined(_WIN32)

#include <windows.h>

/* The library calls the system through a pointer that the linker makes. */
typedef HANDLE WINAPI create_thread(SECURITY_ATTRIBUTES *security, SIZE_T stack,
                                    LPTHREAD_START_ROUTINE start, void *arg, DWORD flags,
                                    DWORD *id);
extern create_thread *__real___imp_CreateThread;
extern create_thread *__wrap___imp_CreateThread;

static HANDLE WINAPI create_limited(SECURITY_ATTRIBUTES *security, SIZE_T stack,
                                    LPTHREAD_START_ROUTINE start, void *arg, DWORD flags,
                                    DWORD *id) {
  if (take_allowed())
    return __real___imp_CreateThread(security, stack, start, arg, flags, id);
  SetLastError(ERROR_NOT_ENOUGH_MEMORY);
  return NULL;
}

create_thread *__wrap___imp_CreateThread = create_limited;

#endif

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *arg);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *arg) {
  if (!take_allowed()) return EAGAIN;
  return __real_pthread_create(thread, attributes, start, arg);
}

#endif
