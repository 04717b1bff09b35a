/* platforms/windows/posix.h - what the tests use of C11 and POSIX and mingw-w64 does not
 * declare. Included before every file of the tests on Windows.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_WINDOWS_POSIX_H
#define TESTS_WINDOWS_POSIX_H

#define __USE_MINGW_ANSI_STDIO 1

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* Of memory.c: to be freed by free(). */
#ifdef __cplusplus
extern "C"
#endif
    void *aligned_alloc(size_t alignment, size_t size);

enum { _SC_PAGESIZE = 1 };
static inline long sysconf(int name) {
  return name == _SC_PAGESIZE ? 4096 : -1;
}

/* Never returns: nothing here ends it but the end of the process. */
static inline int pause(void) {
  for (;;) (void)sched_yield();
}

/* winpthreads does not tell: tests that ask are left out by name. */
static inline int pthread_getattr_np(pthread_t thread, pthread_attr_t *out) {
  (void)thread, (void)out;
  return ENOSYS;
}

static inline int setenv(const char *name, const char *value, int overwrite) {
  char text[4096];
  if (!overwrite && getenv(name) != NULL) return 0;
  snprintf(text, sizeof text, "%s=%s", name, value);
  return _putenv(text);
}

static inline int unsetenv(const char *name) {
  return setenv(name, "", 1); /* an empty value takes the variable away */
}

#endif
