/* harness/coverage.c - keeps the counts of processes that do not end by exit().
 *
 * Only in builds with WEFT_COVERAGE. gcc's runtime writes the counts of executed lines at
 * exit. Tests of misuse end in abort(), and children of fork in _exit(): these versions
 * write the counts first.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

void __gcov_dump(void);

/* This and the function below replace those of the C library, for the tests and the
 * library inside them. */
_Noreturn void abort(void) {
  __gcov_dump();
  raise(SIGABRT);
  for (;;) syscall(SYS_exit_group, 128 + SIGABRT);
}

_Noreturn void _exit(int status) {
  __gcov_dump();
  for (;;) syscall(SYS_exit_group, status);
}
