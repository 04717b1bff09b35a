/* Parcels: who waits for what, amounts that change hands, the end.
 *
 * SPDX-License-Identifier: MIT */
#include "harness/harness.h"
#include "support.h"

#include <weft.h>

/* ---- the thread that makes an offer does not wait for its end ---- */

typedef struct meeting {
  wf_shared_work work;
  wf_u32 x_begun, x_taken_back, x_ended;
} meeting;

/* Ends only when the thread that has offered it has gone on. */
static void stay_until_taken_back(void *ctx) {
  meeting *m = (meeting *)((wf_parcel *)ctx)->content[0];
  wf_u32_store_release(&m->x_begun, 1);
  AWAIT(wf_u32_load_acquire(&m->x_taken_back) != 0);
  wf_u32_store_release(&m->x_ended, 1);
}

static void offer_and_go_on(void *ctx) {
  meeting *m = (meeting *)ctx;
  wf_parcel parcel = {.fn = stay_until_taken_back,
                      .work = &m->work,
                      .amount = 2,
                      .content = {(uintptr_t)m}};
  wf_shared_begin(&m->work, 3);
  wf_parcel_offer(wf_self, &parcel, wf_self->region);
  wf_offers_show(wf_self);
  AWAIT(wf_u32_load_acquire(&m->x_begun) != 0);
  CHECK(!wf_parcel_take_back(wf_self, &parcel));
  CHECK_EQ(wf_word_peek(&m->work.x_left), 3); /* the other part has not ended */
  CHECK_EQ(wf_u32_load_acquire(&m->x_ended), 0);
  wf_u32_store_release(&m->x_taken_back, 1);
  wf_shared_end(&m->work, 1, "test");
  CHECK_EQ(wf_u32_load_acquire(&m->x_ended), 1);
  CHECK_EQ(wf_word_peek(&m->work.x_left), 0);
}

TEST(an_owner_goes_on_while_its_parcel_runs) {
  weft_pool *pool = pool_of(2);
  meeting m = {0};
  weft_pool_run(pool, offer_and_go_on, &m);
  weft_pool_destroy(pool);
}

/* ---- nobody takes it ---- */

static void must_not_run(void *ctx) {
  (void)ctx;
  CHECK(false);
}

static void offer_alone(void *ctx) {
  (void)ctx;
  wf_shared_work work;
  wf_parcel parcel = {.fn = must_not_run, .work = &work, .amount = 4};
  wf_shared_begin(&work, 5);
  wf_parcel_offer(wf_self, &parcel, wf_self->region);
  CHECK(wf_parcel_take_back(wf_self, &parcel));
  wf_parcel_offer(wf_self, &parcel, wf_self->region);
  wf_offers_show(wf_self);
  CHECK(wf_parcel_take_back(wf_self, &parcel));
  wf_shared_end(&work, 5, "test");
  CHECK_EQ(wf_word_peek(&work.x_left), 5); /* nothing was taken off */
}

TEST(a_parcel_that_nobody_wants_comes_back) {
  weft_pool *pool = pool_of(1);
  weft_pool_run(pool, offer_alone, NULL);
  weft_pool_destroy(pool);
}

/* ---- a range that is cut by anybody, many times ---- */

enum { ELEMENTS = 300, ROUNDS = 200 };

typedef struct range {
  wf_shared_work work;
  unsigned char runs[ELEMENTS];
  bool shows;
} range;

static void run_range(range *r, size_t begin, size_t end, size_t *own);

static void run_taken(void *ctx) {
  wf_parcel *parcel = (wf_parcel *)ctx;
  size_t own = parcel->amount, begin = parcel->content[1];
  run_range((range *)parcel->content[0], begin, begin + own, &own);
  CHECK(own > 0 && own <= parcel->amount);
  parcel->amount = own;
}

static void run_range(range *r, size_t begin, size_t end, size_t *own) {
  if (end - begin == 1) {
    r->runs[begin]++;
    return;
  }
  size_t mid = begin + (end - begin) / 2;
  wf_parcel parcel = {.fn = run_taken,
                      .work = &r->work,
                      .amount = end - mid,
                      .content = {(uintptr_t)r, mid}};
  wf_parcel_offer(wf_self, &parcel, wf_self->region);
  if (r->shows) wf_offers_show(wf_self);
  run_range(r, begin, mid, own);
  if (wf_parcel_take_back(wf_self, &parcel))
    run_range(r, mid, end, own);
  else
    *own -= end - mid;
}

/* The range is in the frame: it is gone when the function returns. */
static void run_ranges(void *ctx) {
  for (unsigned round = 0; round < ROUNDS; round++) {
    range r = {.shows = *(const bool *)ctx};
    size_t own = ELEMENTS;
    wf_shared_begin(&r.work, ELEMENTS);
    run_range(&r, 0, ELEMENTS, &own);
    wf_shared_end(&r.work, own, "test");
    for (unsigned i = 0; i < ELEMENTS; i++)
      if (!CHECK_EQ(r.runs[i], 1)) return;
  }
}

static void run_in_pool_of(unsigned threads, bool shows) {
  weft_pool *pool = pool_of(threads);
  weft_pool_run(pool, run_ranges, &shows);
  weft_pool_destroy(pool);
}

TEST(each_element_runs_once) {
  run_in_pool_of(2, false);
  run_in_pool_of(4, false);
}

TEST(each_element_runs_once_if_all_is_public) {
  run_in_pool_of(4, true);
  run_in_pool_of(12, true); /* a large pool: several groups of counters */
}

/* ---- the region of a part ---- */

/* The function of a handle is isolated, and yields: so it takes parts of a loop, cuts
 * them for others, and leaves before those have ended. They run in the region of the
 * loop, not in one that lay in its frame. */
static _Thread_local bool yields_now;
static atomic_bool loops_have_ended;
static atomic_uint taken_by_yield;
static weft_scope *scope_of_loops;

static void overwrite_stack(void) {
  volatile char bytes[6000];
  for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = 0x5a;
}

static void check_scope(size_t begin, size_t end, void *ctx) {
  (void)ctx;
  for (size_t i = begin; i < end; i++) {
    if (yields_now) atomic_fetch_add(&taken_by_yield, 1);
    for (int look = 0; look < 20 && !yields_now; look++) {
      spin(200);
      if (!CHECK_EQ(weft_scope_current(), scope_of_loops)) return;
    }
    spin(yields_now ? 200 : 1);
  }
}

static void yield_until_the_end(void *ctx) {
  (void)ctx;
  yields_now = true;
  while (!atomic_load(&loops_have_ended)) {
    weft_yield();
    overwrite_stack();
  }
  yields_now = false;
}

static void run_loops_in_scope(void *ctx) {
  (void)ctx;
  weft_scope scope;
  weft_scope_begin(&scope);
  scope_of_loops = weft_scope_current();
  for (int round = 0; round < 20; round++) weft_for(400, check_scope, NULL);
  CHECK_EQ(weft_scope_end(&scope), 0);
}

TEST(parts_that_a_yielding_thread_cuts_run_in_the_scope_of_the_loop) {
  weft_pool *pool = pool_of(4);
  weft_opts opts = opts_on(pool);
  weft_handle *handle = NULL;
  atomic_store(&loops_have_ended, false);
  REQUIRE(weft_async_with(&opts, &handle, yield_until_the_end, NULL) == 0);
  weft_pool_run(pool, run_loops_in_scope, NULL);
  atomic_store(&loops_have_ended, true);
  weft_handle_wait(handle);
  weft_pool_destroy(pool);
}
