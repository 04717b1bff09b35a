/* link: -Wl,--wrap=syscall */
/* Pools on a kernel that lies about waiting. A worker that took such an answer for a
 * wake-up would count wrong or run ahead.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "harness/lying_futex.h"
#include "stress.h"

TEST_LIMIT(v18_pools_survive_spurious_returns, 120) {
  atomic_store(&futex_mode, FUTEX_LYING);
  stress_pools(scaled(3000));
  stop_lying();
}
