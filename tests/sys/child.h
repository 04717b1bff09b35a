/* child.h - runs a function in a forked child, for tests that change what cannot be
 * changed back: user, limits, affinity, system call filters.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_SYS_CHILD_H
#define TESTS_SYS_CHILD_H

#include <errno.h>
#include <stdio.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a child returns when the machine does not let it do its test. */
enum { CHILD_SKIPPED = 77 };

/* Returns fn's result, or minus the number of the signal that ended the child, or -1000
 * if there was no child. The child leaves by _exit and runs no exit handlers. */
static int child_run(int (*fn)(void *arg), void *arg) {
  fflush(NULL);
  pid_t child = fork();
  if (child < 0) return -1000;
  if (child == 0) _exit(fn(arg));
  int status = 0;
  pid_t got;
  do {
    got = waitpid(child, &status, 0);
  } while (got < 0 && errno == EINTR);
  if (got != child) return -1000;
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

#endif
