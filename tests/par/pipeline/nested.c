/* Stages that call weft: loops, joins, scopes, handles, pipelines inside pipelines. No
 * thread begins another item of a pipeline while it is in one of its stages, however deep
 * it waits; and nothing waits for ever.
 *
 * SPDX-License-Identifier: MIT */
#include "par/pipeline/plant.h"

#include <weft/loop.h>

/* The plant whose stage this thread is in. */
static _Thread_local const plant *in_stage_of;

static void add_to(size_t begin, size_t end, void *ctx) {
  atomic_fetch_add((atomic_ulong *)ctx, end - begin);
}

static void spawn_some(atomic_ulong *total) {
  weft_scope scope;
  weft_scope_begin(&scope);
  for (int i = 0; i < 8; i++) weft_spawn(&scope, count_one, total);
  CHECK_EQ(weft_scope_end(&scope), 0);
}

static void wait_for_handle(atomic_ulong *total) {
  weft_handle *handle;
  REQUIRE(weft_async(&handle, count_one, total) == 0);
  CHECK_EQ(weft_handle_wait(handle), 0);
}

static void call_weft(plant *p, unsigned stage, size_t number) {
  atomic_ulong total = 0;
  CHECK(in_stage_of != p); /* not on top of another stage of the same pipeline */
  const plant *outer = in_stage_of;
  in_stage_of = p;
  switch ((number + stage) % 4) {
  case 0:
    weft_for(1000, add_to, &total);
    CHECK_EQ(atomic_load(&total), 1000);
    break;
  case 1:
    check_tree(6);
    break;
  case 2:
    spawn_some(&total);
    CHECK_EQ(atomic_load(&total), 8);
    break;
  default:
    wait_for_handle(&total);
    CHECK_EQ(atomic_load(&total), 1);
  }
  in_stage_of = outer;
}

static void run_calls(void *ctx) {
  const size_t items = 60 / harness_slowdown() + 4;
  (void)ctx;
  for (unsigned mixture = 0; mixture < mixtures_of(3); mixture++) {
    weft_stage_kind kinds[MOST_STAGES];
    kinds_of(mixture, 3, kinds);
    plant *p = plant_of(kinds, 3, items);
    p->work = call_weft;
    CHECK_EQ(weft_pipeline(sizeof(part), mixture % 2 * 5, p->stages, 3), 0);
    check_all_through(p);
    free(p);
  }
}

TEST(stages_that_call_weft) {
  in_each_pool(run_calls, NULL);
  run_calls(NULL);
  weft_shutdown();
}

/* ---- pipelines in stages ---- */

static void run_inner(plant *outer, unsigned stage, size_t number) {
  CHECK(in_stage_of != outer);
  const plant *before = in_stage_of;
  in_stage_of = outer;
  weft_stage_kind kinds[MOST_STAGES];
  kinds_of((unsigned)(number * 5 + stage) % 27, 3, kinds);
  plant *p = plant_of(kinds, 3, 12);
  p->work = call_weft;
  CHECK_EQ(weft_pipeline(sizeof(part), number % 4, p->stages, 3), 0);
  check_all_through(p);
  free(p);
  in_stage_of = before;
}

static void run_nested(void *ctx) {
  (void)ctx;
  for (unsigned mixture = 0; mixture < mixtures_of(2); mixture++) {
    weft_stage_kind kinds[MOST_STAGES];
    kinds_of(mixture, 2, kinds);
    plant *p = plant_of(kinds, 2, 10);
    p->work = run_inner;
    CHECK_EQ(weft_pipeline(sizeof(part), 0, p->stages, 2), 0);
    check_all_through(p);
    free(p);
  }
}

TEST(pipelines_in_stages_of_pipelines) {
  in_each_pool(run_nested, NULL);
}

/* ---- a lock held in a stage ---- */

/* As in weft_isolate: a stage may hold a lock while it calls weft, because its thread
 * begins no other stage meanwhile. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void hold_lock(plant *p, unsigned stage, size_t number) {
  pthread_mutex_lock(&mutex);
  call_weft(p, stage, number);
  pthread_mutex_unlock(&mutex);
}

static void run_locked(void *ctx) {
  static const weft_stage_kind kinds[] = {WEFT_STAGE_PARALLEL, WEFT_STAGE_PARALLEL};
  (void)ctx;
  plant *p = plant_of(kinds, 2, 40);
  p->work = hold_lock;
  CHECK_EQ(weft_pipeline(sizeof(part), 0, p->stages, 2), 0);
  check_all_through(p);
  free(p);
}

TEST(stages_that_hold_a_lock_while_they_call_weft) {
  in_each_pool(run_locked, NULL);
}

/* ---- tasks of stages ---- */

static atomic_ulong spawned_runs;
static void spawn_into_current(plant *p, unsigned stage, size_t number) {
  (void)p, (void)stage, (void)number;
  weft_scope *scope = weft_scope_current();
  REQUIRE(scope != NULL);
  weft_spawn(scope, count_one, &spawned_runs);
}

static void run_spawning(void *ctx) {
  (void)ctx;
  for (unsigned mixture = 0; mixture < mixtures_of(2); mixture++) {
    weft_stage_kind kinds[MOST_STAGES];
    kinds_of(mixture, 2, kinds);
    plant *p = plant_of(kinds, 2, 100);
    p->work = spawn_into_current;
    atomic_store(&spawned_runs, 0);
    CHECK_EQ(weft_pipeline(sizeof(part), 0, p->stages, 2), 0);
    CHECK_EQ(atomic_load(&spawned_runs), 200); /* all have ended */
    free(p);
  }
}

TEST(what_stages_spawn_has_ended_with_the_pipeline) {
  in_each_pool(run_spawning, NULL);
  run_spawning(NULL);
  weft_shutdown();
}

/* ---- from tasks ---- */

static void run_small(void *ctx) {
  static const weft_stage_kind kinds[] = {WEFT_STAGE_ORDERED, WEFT_STAGE_PARALLEL,
                                          WEFT_STAGE_ORDERED};
  plant *p = plant_of(kinds, 3, 30);
  (void)ctx;
  CHECK_EQ(weft_pipeline(sizeof(part), 0, p->stages, 3), 0);
  check_all_through(p);
  free(p);
}

static void run_in_tasks(void *ctx) {
  (void)ctx;
  weft_scope scope;
  weft_scope_begin(&scope);
  for (int i = 0; i < 20; i++) weft_spawn(&scope, run_small, NULL);
  weft_join(run_small, NULL, run_small, NULL);
  CHECK_EQ(weft_scope_end(&scope), 0);
}

TEST(pipelines_in_tasks) {
  in_pools(run_in_tasks, NULL);
}
