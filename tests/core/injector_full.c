/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc */
/* link: -Wl,--wrap=free */
/* The injector when it cannot grow: the push says so, and what is queued stays.
 *
 * SPDX-License-Identifier: MIT */
#include "core/injector.h"

#include "harness/memory_faults.h"

static char objects[200];

static void nothing(void *ctx) {
  (void)ctx;
}

static void check_takes(wf_injector *injector, int from, int to) {
  for (int i = from; i < to; i++) {
    wf_injected got = {NULL, NULL};
    CHECK(wf_injector_take(injector, &got));
    CHECK(got.fn == nothing);
    CHECK_EQ(got.ctx, &objects[i]);
  }
}

TEST(first_push_without_memory) {
  wf_injector injector;
  wf_injected got;
  wf_injector_init(&injector, UINT64_MAX);
  refuse_all_memory();
  for (int i = 0; i < 3; i++) {
    CHECK_EQ(wf_injector_push(&injector, nothing, &objects[i], NULL), WEFT_ENOMEM);
    CHECK(!wf_injector_any(&injector));
    CHECK(!wf_injector_take(&injector, &got));
  }
  allow_memory();
  CHECK_EQ(wf_injector_push(&injector, nothing, &objects[5], NULL), 0);
  check_takes(&injector, 5, 6);
  wf_injector_destroy(&injector);
}

TEST(growth_without_memory_leaves_the_queue_intact) {
  static const uint64_t starts[] = {0, UINT64_MAX - 1, UINT64_MAX - 40};
  for (int s = 0; s < 3; s++) {
    wf_injector injector;
    wf_injector_init(&injector, starts[s]);
    const int full = 2 * WF_SEGMENT_ENTRIES;
    for (int i = 0; i < full; i++)
      CHECK_EQ(wf_injector_push(&injector, nothing, &objects[i], NULL), 0);
    refuse_all_memory();
    for (int i = 0; i < 3; i++)
      CHECK_EQ(wf_injector_push(&injector, nothing, &objects[199], NULL), WEFT_ENOMEM);
    CHECK(wf_injector_any(&injector));
    /* A segment that was used up makes room, without memory. */
    check_takes(&injector, 0, WF_SEGMENT_ENTRIES + 1);
    for (int i = 0; i < WF_SEGMENT_ENTRIES; i++)
      CHECK_EQ(wf_injector_push(&injector, nothing, &objects[i], NULL), 0);
    CHECK_EQ(wf_injector_push(&injector, nothing, &objects[199], NULL), WEFT_ENOMEM);
    allow_memory();
    for (int i = WF_SEGMENT_ENTRIES; i < 150; i++)
      CHECK_EQ(wf_injector_push(&injector, nothing, &objects[i], NULL), 0);
    check_takes(&injector, WF_SEGMENT_ENTRIES + 1, full);
    check_takes(&injector, 0, 150);
    CHECK(!wf_injector_any(&injector));
    wf_injector_destroy(&injector);
  }
}
