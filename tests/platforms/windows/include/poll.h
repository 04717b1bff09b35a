/* poll.h - for tests on Windows, where pipes cannot be polled: tests that do are left out
 * by name (left-out.txt).
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_WINDOWS_POLL_H
#define TESTS_WINDOWS_POLL_H

#include <errno.h>

#define POLLIN 1
struct pollfd {
  int fd;
  short events, revents;
};

static inline int poll(struct pollfd *fds, unsigned long count, int timeout) {
  (void)fds, (void)count, (void)timeout;
  errno = ENOSYS;
  return -1;
}

#endif
