/* few_threads.h - a system that starts only so many threads: for programs that are linked
 * with -Wl,--wrap=pthread_create. To be included by one file of a program.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_HARNESS_FEW_THREADS_H
#define TESTS_HARNESS_FEW_THREADS_H

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

/* Threads that may still be made before the system refuses; negative: any number. */
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
