/* Each public function of C with each of its arguments wrong, in turn; see rows.h.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "misuse/rows.h"

TEST_LIMIT(wrong_arguments_are_named, 300) {
  check_rows(OUTSIDE, 0, 1);
}

/* The same elsewhere; all of them in tests/long/misuse.c. */
TEST_LIMIT(wrong_arguments_are_named_everywhere, 300) {
  for (int where = IN_A_POOL; where < PLACES; where++)
    check_rows((place)where, (unsigned)where, 17);
}
