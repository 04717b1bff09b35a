/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc */
/* link: -Wl,--wrap=free */
/* Crews: every member is called, blocks cover the range once and ascend, members that end
 * for want of memory, stopping; how blocks grow; scratch memory.
 *
 * SPDX-License-Identifier: MIT */
#include "par/base/crew.h"
#include "par/base/call.h"
#include "par/refusal.h"

/* ---- how blocks grow ---- */

TEST(the_length_of_blocks_follows_their_time) {
  const uint64_t wanted = 16000;
  const size_t left = (size_t)1 << 30;
  CHECK_EQ(wf_block_next_length(wanted, 100, 3 * wanted, left), 50);
  CHECK_EQ(wf_block_next_length(wanted, 100, 2 * wanted, left), 100);
  CHECK_EQ(wf_block_next_length(wanted, 100, wanted / 2 + 1, left), 100);
  CHECK_EQ(wf_block_next_length(wanted, 100, wanted / 2, left), 200);
  CHECK_EQ(wf_block_next_length(wanted, 100, wanted / 16, left), 800);
  CHECK_EQ(wf_block_next_length(wanted, 7, wanted / 16, left), 14);
}

TEST(the_length_of_blocks_is_bounded_by_what_is_left) {
  uint64_t seed = harness_seed();
  for (int i = 0; i < 100000; i++) {
    size_t left = (size_t)(harness_random(&seed) >> (harness_random(&seed) % 64));
    size_t len = (size_t)(harness_random(&seed) >> (harness_random(&seed) % 64));
    uint64_t ticks = harness_random(&seed) % 50000;
    size_t next = wf_block_next_length(16000, len > 0 ? len : 1, ticks, left);
    if (left > 0) CHECK(next >= 1);
    CHECK(next <= left - left / 2 || next <= left / WF_BLOCK_PARTS + 1);
  }
}

/* ---- members ---- */

static void count_member(void *ctx) {
  wf_word_fetch_add_relaxed((wf_word *)ctx, 1);
}

static void run_members_of_all_counts(void *ctx) {
  (void)ctx;
  for (unsigned count = 1; count < 20; count++) {
    wf_word calls = {0};
    wf_members_run(count, count_member, &calls);
    CHECK_EQ(wf_word_load_relaxed(&calls), count);
  }
}

TEST(every_member_is_called_once) {
  in_each_pool(run_members_of_all_counts, NULL);
}

/* ---- members that take blocks ---- */

enum { N = 100003 };

typedef struct crew_test {
  unsigned char *runs; /* of each element */
  size_t max_len;
  size_t over_at;      /* nothing is wanted from here on; 0: everything is */
  unsigned long fails; /* a member ends after this many blocks; 0: never */
  wf_word x_in, x_blocks;
  wf_word x_gone; /* by NULL, or by leave */
} crew_test;

static void *enter_test(void *ctx) {
  crew_test *t = ctx;
  size_t *last = malloc(sizeof *last);
  if (last == NULL) return NULL;
  *last = 0;
  wf_word_fetch_add_relaxed(&t->x_in, 1);
  return last;
}

static void *block_test(void *own, size_t begin, size_t end, void *ctx) {
  crew_test *t = ctx;
  size_t *last = own;
  CHECK(*last <= begin && begin < end && end <= N && end - begin <= t->max_len);
  *last = end;
  for (size_t i = begin; i < end; i++) t->runs[i]++;
  if (t->fails == 0 || wf_word_fetch_add_relaxed(&t->x_blocks, 1) % t->fails != 0)
    return own;
  wf_word_fetch_add_relaxed(&t->x_gone, 1);
  free(own);
  return NULL;
}

static void leave_test(void *own, void *ctx) {
  wf_word_fetch_add_relaxed(&((crew_test *)ctx)->x_gone, 1);
  free(own);
}

static size_t end_test(size_t begin, size_t length, const void *ctx) {
  return begin >= ((const crew_test *)ctx)->over_at ? begin : begin + length;
}

/* Returns how far the crew came; each element up to there was run once. */
static size_t run_crew_test(crew_test *t) {
  weft_opts opts = WEFT_OPTS_INIT;
  wf_crew crew = {.enter = enter_test,
                  .block = block_test,
                  .leave = leave_test,
                  .ctx = t,
                  .max_len = t->max_len,
                  .end = t->over_at != 0 ? end_test : NULL};
  static unsigned char runs[N];
  memset(runs, 0, sizeof runs);
  t->runs = runs;
  size_t done = wf_crew_run(&opts, N, &crew), wrong = 0;
  for (size_t i = 0; i < N; i++) wrong += runs[i] != (i < done);
  CHECK_EQ(wrong, 0);
  CHECK_EQ(wf_word_load_relaxed(&t->x_in), wf_word_load_relaxed(&t->x_gone));
  return done;
}

static void run_crews(void *ctx) {
  (void)ctx;
  crew_test all = {.max_len = 1000}, one = {.max_len = 1}, over = {.max_len = 100};
  CHECK_EQ(run_crew_test(&all), N);
  CHECK_EQ(run_crew_test(&one), N);
  over.over_at = 5000;
  size_t done = run_crew_test(&over);
  CHECK(done >= 5000 && done < 5000 + 100);
  crew_test failing = {.max_len = 10, .fails = 1};
  done = run_crew_test(&failing);
  CHECK(done > 0 && done < N); /* each member has run one block */
}

TEST(blocks_cover_the_range_once) {
  in_each_pool(run_crews, NULL);
}

static void run_without_memory(void *ctx) {
  crew_test t = {.max_len = 1000};
  (void)ctx;
  size_t done = run_crew_test(&t);
  CHECK(done == 0 || done == N);
}

static void with_memory_refused(void *ctx) {
  with_refusals(run_without_memory, ctx);
}

TEST(members_without_memory_take_no_block) {
  in_each_pool(with_memory_refused, NULL);
}

/* ---- scratch ---- */

TEST(scratch_is_aligned_and_comes_from_somewhere) {
  for (size_t size = 0; size < 300000; size = 3 * size + 1) {
    wf_scratch plain = wf_scratch_get(size);
    REQUIRE(plain.memory != NULL);
    CHECK_EQ((uintptr_t)plain.memory % WF_CACHE_LINE, 0);
    memset(plain.memory, 1, size);
    refuse_all_memory();
    CHECK(wf_scratch_get(size).memory == NULL);
    wf_scratch needed = wf_scratch_need(size, "a test");
    allow_memory();
    REQUIRE(needed.memory != NULL);
    CHECK_EQ((uintptr_t)needed.memory % WF_CACHE_LINE, 0);
    memset(needed.memory, 2, size);
    wf_scratch_put(plain);
    wf_scratch_put(needed);
  }
  CHECK(wf_scratch_get(SIZE_MAX).memory == NULL);
  wf_scratch_put((wf_scratch){NULL, NULL, 0});
}
