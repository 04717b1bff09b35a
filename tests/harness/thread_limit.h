/* harness/thread_limit.h - a system that refuses to start threads beyond a limit. For
 * programs that are linked with -Wl,--wrap=pthread_create; one file of the program
 * includes it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_HARNESS_THREAD_LIMIT_H
#define TESTS_HARNESS_THREAD_LIMIT_H

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

/* How many threads may still be started before the system refuses; negative: no limit. */
static atomic_long allowed = -1;

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *arg);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *arg) {
  long left = atomic_load(&allowed);
  if (left == 0) return EAGAIN;
  if (left > 0) atomic_fetch_sub(&allowed, 1);
  return __real_pthread_create(thread, attributes, start, arg);
}

#endif
