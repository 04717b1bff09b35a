/* pthread.h - of macOS, as far as the library uses it; for the check of syntax alone.
 *
 * SPDX-License-Identifier: MIT */
#pragma once
#include <sched.h>
#include <signal.h>
#include <sys/qos.h>
#include <time.h>
typedef struct _opaque_pthread_t *pthread_t;
typedef struct {
  long sig;
  char opaque[56];
} pthread_attr_t, pthread_mutex_t, pthread_cond_t, pthread_once_t, pthread_condattr_t,
    pthread_mutexattr_t;
#define PTHREAD_ONCE_INIT                                                                \
  {                                                                                      \
    0x30B1BCBA, {                                                                        \
      0                                                                                  \
    }                                                                                    \
  }
#define PTHREAD_STACK_MIN 16384
int pthread_create(pthread_t *out, const pthread_attr_t *attributes, void *(*fn)(void *),
                   void *arg);
int pthread_join(pthread_t thread, void **result);
pthread_t pthread_self(void);
int pthread_setname_np(const char *name);
void *pthread_get_stackaddr_np(pthread_t thread);
size_t pthread_get_stacksize_np(pthread_t thread);
int pthread_attr_init(pthread_attr_t *attributes);
int pthread_attr_destroy(pthread_attr_t *attributes);
int pthread_attr_setstacksize(pthread_attr_t *attributes, size_t size);
int pthread_attr_set_qos_class_np(pthread_attr_t *attributes, qos_class_t qos,
                                  int relative_priority);
int pthread_sigmask(int how, const sigset_t *set, sigset_t *before);
int pthread_once(pthread_once_t *once, void (*fn)(void));
int pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));
int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes);
int pthread_mutex_lock(pthread_mutex_t *mutex);
int pthread_mutex_unlock(pthread_mutex_t *mutex);
int pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attributes);
int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
int pthread_cond_broadcast(pthread_cond_t *cond);
int pthread_cond_timedwait_relative_np(pthread_cond_t *cond, pthread_mutex_t *mutex,
                                       const struct timespec *time);
