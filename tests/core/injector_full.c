/* link: -Wl,--wrap=malloc */
/* The injector when its ring cannot grow: the push says so, and what is queued stays.
 *
 * SPDX-License-Identifier: MIT */
#include "core/injector.h"

#include "harness/harness.h"

static bool no_memory; /* set by the one thread of these tests */

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);

void *__wrap_malloc(size_t size) {
  return no_memory ? NULL : __real_malloc(size);
}

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
  no_memory = true;
  for (int i = 0; i < 3; i++) {
    CHECK_EQ(wf_injector_push(&injector, nothing, &objects[i]), WEFT_ENOMEM);
    CHECK(!wf_injector_any(&injector));
    CHECK(!wf_injector_take(&injector, &got));
  }
  no_memory = false;
  CHECK_EQ(wf_injector_push(&injector, nothing, &objects[5]), 0);
  check_takes(&injector, 5, 6);
  wf_injector_destroy(&injector);
}

TEST(growth_without_memory_leaves_the_queue_intact) {
  static const uint64_t starts[] = {0, UINT64_MAX - 1, UINT64_MAX - 40};
  for (int s = 0; s < 3; s++) {
    wf_injector injector;
    wf_injector_init(&injector, starts[s]);
    for (int i = 0; i < 64; i++)
      CHECK_EQ(wf_injector_push(&injector, nothing, &objects[i]), 0);
    no_memory = true;
    for (int i = 0; i < 3; i++)
      CHECK_EQ(wf_injector_push(&injector, nothing, &objects[199]), WEFT_ENOMEM);
    CHECK(wf_injector_any(&injector));
    CHECK_EQ(injector.capacity, 64);
    /* A taken entry makes room, without memory. */
    check_takes(&injector, 0, 1);
    CHECK_EQ(wf_injector_push(&injector, nothing, &objects[64]), 0);
    CHECK_EQ(wf_injector_push(&injector, nothing, &objects[199]), WEFT_ENOMEM);
    no_memory = false;
    for (int i = 65; i < 150; i++)
      CHECK_EQ(wf_injector_push(&injector, nothing, &objects[i]), 0);
    check_takes(&injector, 1, 150);
    CHECK(!wf_injector_any(&injector));
    wf_injector_destroy(&injector);
  }
}
