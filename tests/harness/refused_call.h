/* refused_call.h - a sandbox for tests: a filter of system calls that answers one of them
 * with an error. The filter stays until the process ends, so tests that use it run in
 * processes of their own. Linux only; the including file defines _GNU_SOURCE first.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_REFUSED_CALL_H
#define TESTS_REFUSED_CALL_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Whom the filter holds for: the calling thread and those that it starts, or all threads
 * of the process. */
typedef enum refused_for { REFUSED_HERE, REFUSED_EVERYWHERE } refused_for;

/* False if the machine does not let us. */
static inline bool refuse_call(long number, int error, refused_for whom) {
  struct sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {.len = sizeof steps / sizeof steps[0],
                                     .filter = steps};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  const unsigned flags = whom == REFUSED_EVERYWHERE ? SECCOMP_FILTER_FLAG_TSYNC : 0;
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) == 0;
}

#endif
