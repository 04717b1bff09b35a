/* platforms/windows/posix.h - what the tests use of C11 and POSIX and mingw-w64 does not
 * declare. Included before every file of the tests on Windows.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_WINDOWS_POSIX_H
#define TESTS_WINDOWS_POSIX_H

#define __USE_MINGW_ANSI_STDIO 1

#include <errno.h>
#include <io.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

/* Of memory.c: to be freed by free(). */
#ifdef __cplusplus
extern "C"
#endif
    void *
    aligned_alloc(size_t alignment, size_t size);

/* Of memory.c, for tests that let it fail: the library does not call it here. */
#ifdef __cplusplus
extern "C"
#endif
    void *
    mmap(void *at, size_t size, int access, int flags, int file, off_t offset);

static inline int pipe(int ends[2]) {
  return _pipe(ends, 4096, 0x8000); /* binary */
}

enum { _SC_PAGESIZE = 1 };
static inline long sysconf(int name) {
  return name == _SC_PAGESIZE ? 4096 : -1;
}

/* Never returns: nothing here ends it but the end of the process. */
static inline int pause(void) {
  while (sched_yield() == 0) continue;
  return -1;
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
