/* link: -Wl,--wrap=syscall */
/* Waiting on a word when the kernel lies, or refuses.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "harness/lying_futex.h"
#include "wait_pair.h"

TEST(ping_pong_survives_lies) {
  atomic_store(&futex_mode, FUTEX_LYING);
  wait_pair_run(100 * 1000);
  stop_lying();
}

/* With no futex at all, waiting is slow but right. */
TEST(ping_pong_survives_refusal) {
  atomic_store(&futex_mode, FUTEX_REFUSED);
  wait_pair_run(1000);
  stop_lying();
}
