/* link: -Wl,--wrap=syscall */
/* Waiting on a word when the kernel lies, or refuses.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "harness/lying_futex.h"
#include "wait_pair.h"

TEST(ping_pong_survives_lies) {
  atomic_store(&futex_mode, FUTEX_LYING);
  wait_pair_run(100 * 1000, 0);
  stop_lying();
}

TEST(timed_ping_pong_survives_lies) {
  atomic_store(&futex_mode, FUTEX_LYING);
  wait_pair_run(20 * 1000, UINT64_C(3600000000000));
  wait_pair_run(2 * 1000, 10 * 1000);
  stop_lying();
}

/* With no futex at all, waiting is slow but right. */
TEST(ping_pong_survives_refusal) {
  atomic_store(&futex_mode, FUTEX_REFUSED);
  wait_pair_run(1000, 0);
  wait_pair_run(1000, UINT64_C(3600000000000));
  stop_lying();
}

/* Who looks again when the time is over does so also where nobody can wait. */
TEST(timed_wait_ends_when_refused) {
  wf_u32 word = {1};
  atomic_store(&futex_mode, FUTEX_REFUSED);
  while (wf_sys_wait_for(&word, 1, 1)) {
  }
#if defined(__linux__) && !defined(WF_SYS_POSIX)
  CHECK(!wf_sys_wait_for(&word, 1, UINT64_C(3600000000000)));
  stop_lying();
#endif
  atomic_store(&futex_mode, FUTEX_HONEST);
}
