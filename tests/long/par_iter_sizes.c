/* Iterators over elements of 1, 3, 8, 24 and 100 bytes: every source with every stage and
 * every sink at 65,537 elements.
 *
 * SPDX-License-Identifier: MIT */
#include "par/array/support.h"
#include "par/iter/sizes_sinks.h"

TEST_LIMIT(every_source_stage_and_sink_of_all_sizes, 3500) {
  open_pools();
  weft_opts opts = opts_in(2);
  all_sized(65537, &opts, 1);
  close_pools();
}
