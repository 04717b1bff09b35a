/* Blocking stages: while a thread is in one, another one takes its place.
 *
 * SPDX-License-Identifier: MIT */
#include "par/pipeline/plant.h"

static void in_pool_with_stand_ins(unsigned threads, unsigned stand_ins, weft_fn *fn) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = threads;
  config.blocking = stand_ins;
  weft_pool *pool = pool_with(&config);
  weft_pool_run(pool, fn, NULL);
  weft_pool_destroy(pool);
}

/* ---- every mixture ---- */

static void run_blocking_mixtures(void *ctx) {
  (void)ctx;
  for (unsigned mixture = 0; mixture < mixtures_of(3); mixture++)
    for (unsigned which = 0; which < 8; which += 3) {
      weft_stage_kind kinds[MOST_STAGES];
      kinds_of(mixture, 3, kinds);
      for (unsigned s = 0; s < 3; s++)
        if (which >> s & 1) kinds[s] = (weft_stage_kind)(kinds[s] + 4);
      plant *p = plant_of(kinds, 3, 40);
      CHECK_EQ(weft_pipeline(sizeof(part), mixture % 4, p->stages, 3), 0);
      check_all_through(p);
      free(p);
    }
}

TEST(every_mixture_with_blocking_stages) {
  in_each_pool(run_blocking_mixtures, NULL);
  in_pool_with_stand_ins(2, WEFT_NO_BLOCKING, run_blocking_mixtures);
}

/* ---- stages behind a blocked source go on ---- */

/* The first stage blocks until the item before is through. */
static atomic_ulong through;
static void wait_for_previous(plant *p, unsigned stage, size_t number) {
  if (stage == 0) AWAIT(atomic_load(&through) >= number);
  if (stage + 1 == p->count) atomic_fetch_add(&through, 1);
}

static void run_behind_blocked(void *ctx) {
  static const weft_stage_kind kinds[] = {WEFT_STAGE_ORDERED_BLOCKING,
                                          WEFT_STAGE_PARALLEL, WEFT_STAGE_SERIAL};
  (void)ctx;
  for (unsigned workers = 1; workers <= 3; workers++) {
    weft_opts opts = WEFT_OPTS_INIT;
    opts.max_workers = workers;
    plant *p = plant_of(kinds, 3, 50);
    p->work = wait_for_previous;
    atomic_store(&through, 0);
    CHECK_EQ(weft_pipeline_with(&opts, sizeof(part), 3, p->stages, 3), 0);
    check_all_through(p);
    free(p);
  }
}

TEST(other_stages_run_while_the_first_one_blocks) {
  in_pool_with_stand_ins(2, 2, run_behind_blocked);
}

/* ---- more items blocked than there are threads ---- */

enum { TOGETHER = 4 };
static atomic_ulong blocked;
static void wait_together(plant *p, unsigned stage, size_t number) {
  (void)p;
  if (stage != 1) return;
  atomic_fetch_add(&blocked, 1);
  AWAIT(atomic_load(&blocked) >= (number / TOGETHER + 1) * TOGETHER);
}

static void run_together(void *ctx) {
  static const weft_stage_kind kinds[] = {
      WEFT_STAGE_ORDERED, WEFT_STAGE_PARALLEL_BLOCKING, WEFT_STAGE_ORDERED};
  (void)ctx;
  plant *p = plant_of(kinds, 3, 20 * TOGETHER);
  p->work = wait_together;
  atomic_store(&blocked, 0);
  CHECK_EQ(weft_pipeline(sizeof(part), TOGETHER, p->stages, 3), 0);
  check_all_through(p);
  free(p);
}

TEST(more_items_block_than_there_are_threads) {
  in_pool_with_stand_ins(2, TOGETHER, run_together);
}

/* ---- max_workers ---- */

/* Several items leave the blocking stage at the same time, on threads of their own. */
static atomic_ulong inside_now;
static unsigned most_allowed;
static void come_back_together(plant *p, unsigned stage, size_t number) {
  wait_together(p, stage, number);
  if (stage == 1) return;
  CHECK(atomic_fetch_add(&inside_now, 1) < most_allowed);
  spin(200);
  atomic_fetch_sub(&inside_now, 1);
}

static void run_limited(void *ctx) {
  static const weft_stage_kind kinds[] = {WEFT_STAGE_ORDERED,
                                          WEFT_STAGE_PARALLEL_BLOCKING,
                                          WEFT_STAGE_PARALLEL, WEFT_STAGE_SERIAL};
  (void)ctx;
  for (most_allowed = 1; most_allowed <= 3; most_allowed++) {
    weft_opts opts = WEFT_OPTS_INIT;
    opts.max_workers = most_allowed;
    plant *p = plant_of(kinds, 4, 50 * TOGETHER);
    p->work = come_back_together;
    atomic_store(&blocked, 0);
    CHECK_EQ(weft_pipeline_with(&opts, sizeof(part), TOGETHER, p->stages, 4), 0);
    check_all_through(p);
    free(p);
  }
}

TEST(max_workers_holds_behind_blocking_stages) {
  in_pool_with_stand_ins(4, TOGETHER, run_limited);
  in_pool_with_stand_ins(2, TOGETHER, run_limited);
}

/* ---- errors of blocking stages ---- */

static void run_failing(void *ctx) {
  (void)ctx;
  for (unsigned in = 0; in < 3; in++) {
    static const weft_stage_kind kinds[] = {WEFT_STAGE_ORDERED_BLOCKING,
                                            WEFT_STAGE_PARALLEL_BLOCKING,
                                            WEFT_STAGE_SERIAL_BLOCKING};
    plant *p = plant_of(kinds, 3, 40);
    p->fail_at[0] = 11;
    p->fail_in[0] = in;
    p->error[0] = 7;
    CHECK_EQ(weft_pipeline(sizeof(part), 0, p->stages, 3), 7);
    for (size_t i = 0; i < 11; i++) CHECK_EQ(p->through[i][2], 1);
    free(p);
  }
}

TEST(errors_of_blocking_stages) {
  in_each_pool(run_failing, NULL);
}
