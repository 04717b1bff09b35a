/* The process-wide barrier in sandboxes: a system call filter answers membarrier with
 * EPERM or ENOSYS, always or for one command only. Preparing must then say no; if the
 * refusal comes later, the barrier itself says so.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "child.h"
#include "harness/harness.h"
#include "sys/sys.h"

#if defined(__linux__)

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

enum { ANY_COMMAND = -1, EXPEDITED = 1 << 3, REGISTER_EXPEDITED = 1 << 4 };

struct refusal {
  int command; /* of membarrier; or ANY_COMMAND */
  int error;
};

/* The low half of the first argument, as a 32-bit load sees it. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
enum { COMMAND_AT = offsetof(struct seccomp_data, args) };
#else
enum { COMMAND_AT = offsetof(struct seccomp_data, args) + 4 };
#endif

static bool filter_install(const struct refusal *refusal) {
  const uint32_t answer = SECCOMP_RET_ERRNO | (uint32_t)refusal->error;
  const bool any = refusal->command == ANY_COMMAND;
  struct sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, COMMAND_AT),
      /* With ANY_COMMAND both ways of this jump lead to the answer. */
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)refusal->command, 0, any ? 0 : 1),
      BPF_STMT(BPF_RET | BPF_K, answer),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {.len = sizeof steps / sizeof steps[0],
                                     .filter = steps};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

static int prepare_refused(void *arg) {
  if (!filter_install(arg)) return CHILD_SKIPPED;
  if (wf_sys_barrier_prepare()) return 1;
  return wf_sys_barrier_prepare() ? 2 : 0;
}

/* True if the rest of the test makes sense. */
static bool check_child(int result, int expected) {
  if (result == CHILD_SKIPPED) {
    printf("skipped: system calls cannot be filtered, or there is no barrier here\n");
    return false;
  }
  CHECK_EQ(result, expected);
  return result == expected;
}

TEST(prepare_is_false_when_refused) {
  static const int errors[] = {EPERM, ENOSYS, EINVAL, EACCES};
  for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
    struct refusal refusal = {ANY_COMMAND, errors[i]};
    if (!check_child(child_run(prepare_refused, &refusal), 0)) return;
  }
}

TEST(prepare_is_false_when_one_command_is_refused) {
  struct refusal refusal = {REGISTER_EXPEDITED, EPERM};
  if (!check_child(child_run(prepare_refused, &refusal), 0)) return;
  refusal.command = EXPEDITED;
  check_child(child_run(prepare_refused, &refusal), 0);
}

/* ---- a filter that comes after preparing ---- */

static int barrier_refused_later(void *arg) {
  if (!wf_sys_barrier_prepare()) return CHILD_SKIPPED;
  if (!wf_sys_barrier()) return 1;
  if (!filter_install(arg)) return CHILD_SKIPPED;
  if (wf_sys_barrier() || wf_sys_barrier()) return 2;
  return wf_sys_barrier_prepare() ? 3 : 0;
}

/* ENOMEM and EINTR are tried again, and not for ever. */
TEST(late_refusal_is_reported) {
  static const int errors[] = {EPERM, ENOSYS, EINVAL, EACCES, ENOMEM, EINTR};
  for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
    struct refusal refusal = {ANY_COMMAND, errors[i]};
    if (!check_child(child_run(barrier_refused_later, &refusal), 0)) return;
    refusal.command = EXPEDITED;
    if (!check_child(child_run(barrier_refused_later, &refusal), 0)) return;
  }
}

#else

TEST(nothing_to_refuse) {
  CHECK(!wf_sys_barrier_prepare());
}

#endif
