/* Texts of the status codes, the version, and the layout that programs compiled against
 * today's headers count on.
 *
 * SPDX-License-Identifier: MIT */
#include "harness/harness.h"

#include <stdio.h>
#include <string.h>
#include <weft.h>

/* Fields are added at the end only, and what the inlined fast path touches stays where it
 * is: a program keeps working with a newer library. */
#define AT(type, field, offset)                                                          \
  _Static_assert(sizeof(void *) != 8 || offsetof(type, field) == (offset),               \
                 #type "." #field " has moved")
AT(weft_opts, struct_size, 0);
AT(weft_opts, pool, 8);
AT(weft_opts, min_len, 16);
AT(weft_opts, max_len, 24);
AT(weft_opts, split, 32);
AT(weft_opts, target_chunks, 40);
AT(weft_opts, max_workers, 48);
AT(weft_opts, cancel, 56);
AT(weft_opts, lane, 64);
AT(weft_opts, order, 68);
AT(weft_config, struct_size, 0);
AT(weft_config, threads, 8);
AT(weft_config, stack_size, 16);
AT(weft_config, idle, 24);
AT(weft_config, name, 32);
AT(weft_config, on_start, 40);
AT(weft_config, on_exit, 48);
AT(weft_config, hook_ctx, 56);
AT(weft_config, guests, 64);
AT(weft_config, deque_capacity, 72);
AT(weft_config, blocking, 80);
AT(weft_config, queue_limit, 88);
AT(weft_config, cpus, 96);
AT(weft_config, bind, 104);
AT(weft_stats, struct_size, 0);
AT(weft_stats, tasks, 8);
AT(weft_stats, wakes, 56);
AT(weft_reducer, size, 0);
AT(weft_reducer, init, 8);
AT(weft_reducer, fold, 16);
AT(weft_reducer, merge, 24);
AT(wf_owner, x_bottom, 0);
AT(wf_owner, x_limit, 8);
AT(wf_owner, x_gate, 16);
AT(wf_owner, region, 24);
_Static_assert(sizeof(void *) != 8 || sizeof(wf_task) == 24,
               "tasks are in frames of users");

TEST(every_status_has_its_text) {
#define CHECK_TEXT(name, value, text)                                                    \
  CHECK_EQ((int)(name), (value));                                                        \
  CHECK_STR_EQ(weft_strerror(name), text);
  WEFT_STATUS_LIST(CHECK_TEXT)
#undef CHECK_TEXT
  CHECK_STR_EQ(weft_strerror(WEFT_OK), "success");
}

TEST(unknown_numbers_have_a_text_too) {
  static const int unknown[] = {1, -1000, 2147483647, -2147483647 - 1};
  for (int i = 0; i < 4; i++) CHECK_STR_EQ(weft_strerror(unknown[i]), "unknown status");
}

TEST(version_is_that_of_the_header) {
  char expected[32];
  snprintf(expected, sizeof expected, "%d.%d.%d", WEFT_VERSION_MAJOR, WEFT_VERSION_MINOR,
           WEFT_VERSION_PATCH);
  CHECK_STR_EQ(weft_version(), expected);
}
