/* Pipelines that fail or are cancelled: at every item and in every stage, in all mixtures
 * of stages. The result is that of the serial loop, the items before the failed one are
 * complete, and ordered stages behind it have got exactly those.
 *
 * SPDX-License-Identifier: MIT */
#include "par/pipeline/plant.h"

enum { FEW = 9 };

/* ---- errors ---- */

static void check_failed(const plant *p, size_t lowest, unsigned stage) {
  for (size_t i = 0; i < p->items; i++)
    for (unsigned s = 0; s < p->count; s++) {
      bool before = i < lowest || (i == lowest && s < stage);
      if (before) CHECK_EQ(p->through[i][s], 1);
      if (i == lowest && s >= stage) CHECK_EQ(p->through[i][s], 0);
      /* Nothing overtakes the failed item in an ordered stage. */
      if (i > lowest && s >= stage && p->stages[s].kind == WEFT_STAGE_ORDERED)
        CHECK_EQ(p->through[i][s], 0);
    }
}

static void fail_everywhere(void *ctx) {
  const unsigned step = harness_slowdown() > 1 ? 5 : 1;
  (void)ctx;
  for (unsigned mixture = 0; mixture < mixtures_of(3); mixture += step)
    for (size_t at = 0; at < FEW; at++)
      for (unsigned in = 0; in < 3; in++) {
        weft_stage_kind kinds[MOST_STAGES];
        kinds_of(mixture, 3, kinds);
        plant *p = plant_of(kinds, 3, FEW);
        p->fail_at[0] = at;
        p->fail_in[0] = in;
        p->error[0] = -1000 - (int)at;
        CHECK_EQ(weft_pipeline(sizeof(part), (at + mixture) % 5, p->stages, 3),
                 p->error[0]);
        check_failed(p, at, in);
        free(p);
      }
}

TEST(the_error_of_every_item_in_every_stage) {
  in_each_pool(fail_everywhere, NULL);
}

/* Whichever comes first in time, the lower item counts. */
static void fail_twice(void *ctx) {
  (void)ctx;
  for (unsigned mixture = 0; mixture < mixtures_of(3); mixture++)
    for (unsigned late = 1; late < 3; late++) {
      weft_stage_kind kinds[MOST_STAGES];
      kinds_of(mixture, 3, kinds);
      plant *p = plant_of(kinds, 3, 40);
      p->fail_at[0] = 10;
      p->fail_in[0] = late;
      p->error[0] = 1;
      p->fail_at[1] = 11;
      p->error[1] = 2; /* in the first stage: mostly before the other */
      CHECK_EQ(weft_pipeline(sizeof(part), 8, p->stages, 3), 1);
      check_failed(p, 10, late);
      free(p);
    }
}

TEST(the_lower_of_two_errors) {
  in_each_pool(fail_twice, NULL);
}

static int fail_from_ten_on(void *item, size_t number, void *ctx) {
  (void)item, (void)ctx;
  return number < 10 ? 0 : (int)number;
}

static int make_forever(void *item, size_t number, void *ctx) {
  (void)item, (void)number, (void)ctx;
  return 0;
}

/* The first stage never ends by itself. */
static void fail_without_end(void *ctx) {
  (void)ctx;
  for (int first = WEFT_STAGE_ORDERED; first <= WEFT_STAGE_PARALLEL; first++)
    for (int second = WEFT_STAGE_ORDERED; second <= WEFT_STAGE_PARALLEL; second++) {
      weft_stage stages[] = {{(weft_stage_kind)first, make_forever, NULL},
                             {(weft_stage_kind)second, fail_from_ten_on, NULL}};
      CHECK_EQ(weft_pipeline(0, 0, stages, 2), 10);
      CHECK_EQ(weft_pipeline(0, 0, stages + 1, 1), 10);
    }
}

TEST(an_error_ends_a_pipeline_without_an_end) {
  in_each_pool(fail_without_end, NULL);
}

/* ---- cancellation ---- */

static void check_cancelled(const plant *p) {
  for (unsigned s = 0; s < p->count; s++)
    for (size_t i = 0; i < p->items; i++) CHECK(p->through[i][s] <= 1);
}

static void cancel_everywhere(void *ctx) {
  const unsigned step = harness_slowdown() > 1 ? 5 : 1;
  (void)ctx;
  for (unsigned mixture = 0; mixture < mixtures_of(3); mixture += step)
    for (size_t at = 0; at < FEW; at += 2)
      for (unsigned in = 0; in < 3; in++) {
        weft_stage_kind kinds[MOST_STAGES];
        kinds_of(mixture, 3, kinds);
        plant *p = plant_of(kinds, 3, FEW);
        p->cancel_at = at;
        p->cancel_in = in;
        CHECK_EQ(weft_pipeline(sizeof(part), (at + mixture) % 5, p->stages, 3), 99);
        check_cancelled(p);
        free(p);
      }
}

TEST(a_stage_cancels_the_scope_of_its_pipeline) {
  in_each_pool(cancel_everywhere, NULL);
  cancel_everywhere(NULL);
  weft_shutdown();
}

/* The scope around the call, or one that the options name. */
static void cancel_around(void *ctx) {
  (void)ctx;
  for (unsigned mixture = 0; mixture < mixtures_of(2); mixture++)
    for (int by_option = 0; by_option < 2; by_option++) {
      weft_stage_kind kinds[MOST_STAGES];
      kinds_of(mixture, 2, kinds);
      plant *p = plant_of(kinds, 2, MOST_ITEMS);
      weft_scope scope, other;
      weft_opts opts = WEFT_OPTS_INIT;
      weft_scope_begin(&other);
      weft_scope_begin(&scope);
      p->cancel_at = 5;
      p->cancel_in = 1;
      p->cancel = &scope;
      opts.cancel = by_option ? &scope : NULL;
      if (by_option) CHECK_EQ(weft_scope_end(&scope), 0);
      if (by_option) weft_scope_begin(&scope);
      int status = weft_pipeline_with(&opts, sizeof(part), 4, p->stages, 2);
      CHECK_EQ(status, 99); /* as weft_scope_end: it is around the call in both cases */
      check_cancelled(p);
      CHECK(p->through[MOST_ITEMS - 1][1] == 0);
      CHECK_EQ(weft_scope_end(&scope), 99);
      CHECK_EQ(weft_scope_end(&other), 0);
      free(p);
    }
}

TEST(a_scope_around_the_call_is_cancelled) {
  in_each_pool(cancel_around, NULL);
}

/* A scope that is open elsewhere. */
typedef struct elsewhere {
  weft_scope *scope;
  weft_pool *pool;
  atomic_ulong calls;
} elsewhere;

static int cancel_elsewhere(void *item, size_t number, void *ctx) {
  elsewhere *e = ctx;
  (void)item;
  atomic_fetch_add(&e->calls, 1);
  if (number == 7) weft_scope_cancel(e->scope, 3);
  return 0;
}

TEST(a_scope_of_the_options_is_cancelled) {
  weft_pool *pool = pool_of(3), *other = pool_of(1);
  for (int kind = WEFT_STAGE_ORDERED; kind <= WEFT_STAGE_PARALLEL; kind++) {
    weft_scope scope;
    weft_opts place = opts_on(other);
    weft_scope_begin_with(&place, &scope);
    elsewhere e = {.scope = &scope};
    weft_stage stages[] = {{(weft_stage_kind)kind, cancel_elsewhere, &e}};
    weft_opts opts = opts_on(pool);
    opts.cancel = &scope;
    int status = weft_pipeline_with(&opts, 8, 0, stages, 1);
    CHECK(status == WEFT_ECANCELED || status == 3); /* 3 if it counts as around */
    CHECK(atomic_load(&e.calls) >= 8);
    CHECK_EQ(weft_scope_end(&scope), 3);
  }
  weft_pool_destroy(other);
  weft_pool_destroy(pool);
}

/* ---- before ---- */

static void run_in_cancelled(void *ctx) {
  (void)ctx;
  for (unsigned mixture = 0; mixture < mixtures_of(2); mixture++) {
    weft_stage_kind kinds[MOST_STAGES];
    kinds_of(mixture, 2, kinds);
    plant *p = plant_of(kinds, 2, 20);
    weft_scope scope;
    weft_scope_begin(&scope);
    weft_scope_cancel(&scope, 17);
    CHECK_EQ(weft_pipeline(sizeof(part), 0, p->stages, 2), 17);
    CHECK_EQ(atomic_load(&p->posts[0].calls), 0);
    CHECK_EQ(weft_scope_end(&scope), 17);
    free(p);
  }
}

TEST(a_pipeline_in_a_cancelled_scope_runs_nothing) {
  in_each_pool(run_in_cancelled, NULL);
}

/* ---- from another thread, at any moment ---- */

typedef struct outside_cancel {
  weft_pool *pool;
  weft_scope *scope;
  atomic_bool open, done;
  plant *p;
  int status;
} outside_cancel;

static void run_until_cancelled(void *ctx) {
  outside_cancel *o = ctx;
  weft_scope scope;
  weft_scope_begin(&scope);
  o->scope = &scope;
  atomic_store(&o->open, true);
  o->status = weft_pipeline(sizeof(part), 0, o->p->stages, o->p->count);
  AWAIT(atomic_load(&o->done));
  CHECK_EQ(weft_scope_end(&scope), 5);
}

static void cancel_at_any_moment(unsigned index, void *arg) {
  outside_cancel *o = arg;
  if (index == 0) {
    weft_pool_run(o->pool, run_until_cancelled, o);
    return;
  }
  AWAIT(atomic_load(&o->open));
  uint64_t random = harness_seed() + (uint64_t)(uintptr_t)o->p;
  spin((unsigned)(harness_random(&random) % 3000));
  weft_scope_cancel(o->scope, 5);
  atomic_store(&o->done, true);
}

TEST(cancelled_by_another_thread_at_any_moment) {
  weft_pool *pool = pool_of(3);
  for (unsigned round = 0; round < 27 * 3 / harness_slowdown(); round++) {
    weft_stage_kind kinds[MOST_STAGES];
    kinds_of(round % 27, 3, kinds);
    plant *p = plant_of(kinds, 3, 200);
    outside_cancel o = {.pool = pool, .p = p};
    harness_run_threads(2, cancel_at_any_moment, &o);
    CHECK(o.status == 0 || o.status == 5);
    if (o.status == 0) check_all_through(p);
    check_cancelled(p);
    free(p);
  }
  weft_pool_destroy(pool);
}
