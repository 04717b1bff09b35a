/* sys/wait.h - for tests on Windows, which has no fork: tests that need one are left out
 * by name (left-out.txt), and the others of the same program run.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_WINDOWS_SYS_WAIT_H
#define TESTS_WINDOWS_SYS_WAIT_H

#include <errno.h>
#include <sys/types.h>

#define WIFEXITED(status)   ((status) >= 0)
#define WEXITSTATUS(status) (status)
#define WIFSIGNALED(status) ((status) < 0)
#define WTERMSIG(status)    (-(status))
#define WNOHANG             1

static inline pid_t fork(void) {
  errno = ENOSYS;
  return -1;
}

static inline pid_t waitpid(pid_t child, int *status, int options) {
  (void)child, (void)status, (void)options;
  errno = ENOSYS;
  return -1;
}

#endif
