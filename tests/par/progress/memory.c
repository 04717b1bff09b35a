/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc */
/* link: -Wl,--wrap=free */
/* weft_progress where memory runs out: the loop runs all the same, and sums stay exact.
 *
 * SPDX-License-Identifier: MIT */
#include "par/refusal.h"

static void add_block(size_t begin, size_t end, void *ctx) {
  weft_progress_add(ctx, end - begin);
}

static void count_or_fail(void *ctx) {
  (void)ctx;
  weft_progress *p;
  int status = weft_progress_begin(&p, "test", 1000);
  CHECK(status == 0 || status == WEFT_ENOMEM);
  CHECK((p == NULL) == (status != 0));
  weft_for(1000, add_block, p);
  weft_progress_state state = WEFT_PROGRESS_STATE_INIT;
  weft_progress_get(p, &state);
  CHECK_EQ(state.done, p == NULL ? 0 : 1000);
  weft_progress_end(p);
}

static void cover(size_t begin, size_t end, void *ctx) {
  unsigned char *seen = ctx;
  for (size_t i = begin; i < end; i++) seen[i]++;
}

static void loop_in_any_case(void *ctx) {
  unsigned char seen[1000] = {0};
  (void)ctx;
  weft_progress_for("test", sizeof seen, cover, seen);
  for (size_t i = 0; i < sizeof seen; i++) REQUIRE(seen[i] == 1);
}

TEST(sums_and_loops_without_memory) {
  weft_for(1000, add_block, NULL); /* the global pool is there */
  with_refusals(count_or_fail, NULL);
  with_refusals(loop_in_any_case, NULL);
}

/* The progress is there, and no thread gets a counter of its own. */
static void add_for_all(unsigned index, void *ctx) {
  (void)index;
  for (int i = 0; i < 1000; i++) weft_progress_add(ctx, 2);
}

TEST(threads_without_a_counter_share_one) {
  weft_progress *p;
  REQUIRE(weft_progress_begin(&p, "test", 0) == 0);
  refuse_all_memory();
  add_for_all(0, p);
  allow_memory();
  harness_run_threads(4, add_for_all, p);
  weft_progress_state state = WEFT_PROGRESS_STATE_INIT;
  weft_progress_get(p, &state);
  CHECK_EQ(state.done, 5 * 2000);
  weft_progress_end(p);
}
