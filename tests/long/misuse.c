/* Each public function of C with each of its arguments wrong, in every place where a call
 * can be made; see misuse/rows.h.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "misuse/rows.h"

TEST_LIMIT(wrong_arguments_are_named_everywhere, 1800) {
  for (int where = OUTSIDE; where < PLACES; where++) check_rows((place)where, 0, 1);
}
