/* harness/coverage.c - keeps the counts of processes that do not end by exit().
 *
 * Only in builds with WEFT_COVERAGE. gcc's runtime writes the counts of executed lines at
 * exit; tests of misuse end in abort(), and children of fork in _exit(). Both are made to
 * write first.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

void __gcov_dump(void);

/* In the place of libc's, for the tests and the library inside them, as the one below. */
_Noreturn void abort(void) {
  __gcov_dump();
  raise(SIGABRT);
  for (;;) syscall(SYS_exit_group, 128 + SIGABRT);
}

_Noreturn void _exit(int status) {
  __gcov_dump();
  for (;;) syscall(SYS_exit_group, status);
}
