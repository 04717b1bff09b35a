/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc */
/* link: -Wl,--wrap=free */
/* Batches: idle workers of large pools take several spawned tasks at once. Every task
 * runs exactly once, with tiny rings, without memory and in FIFO scopes; and a played
 * thief takes what it should.
 *
 * SPDX-License-Identifier: MIT */
#include "support.h"

#include "harness/memory_faults.h"
#include "sched/scope.h"
#include "sched/search.h"

/* ---- real threads ---- */

enum { THREADS = 12, TASKS = 20000 };

static atomic_uchar ran[TASKS];

static void run_once(void *ctx) {
  atomic_fetch_add((atomic_uchar *)ctx, 1);
}

typedef struct load {
  weft_order order;
  bool isolated;
  unsigned tasks;
} load;

static void spawn_load(void *ctx) {
  const load *self = ctx;
  weft_opts opts = WEFT_OPTS_INIT;
  weft_scope scope;
  opts.order = self->order;
  weft_scope_begin_with(&opts, &scope);
  for (unsigned i = 0; i < self->tasks; i++) weft_spawn(&scope, run_once, &ran[i]);
  CHECK_EQ(weft_scope_end(&scope), 0);
}

static void spawn_and_check(void *ctx) {
  const load *self = ctx;
  for (unsigned i = 0; i < self->tasks; i++) atomic_store(&ran[i], 0);
  if (self->isolated)
    weft_isolate(spawn_load, ctx);
  else
    spawn_load(ctx);
  for (unsigned i = 0; i < self->tasks; i++)
    if (!CHECK_EQ(atomic_load(&ran[i]), 1)) break;
}

static weft_pool *large_pool(size_t capacity) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = THREADS;
  config.deque_capacity = capacity;
  weft_pool *pool = pool_with(&config);
  CHECK(pool->steals_batches);
  return pool;
}

static void run_loads(weft_pool *pool) {
  for (int order = WEFT_ORDER_LIFO; order <= WEFT_ORDER_FIFO; order++)
    for (int isolated = 0; isolated <= 1; isolated++) {
      load l = {(weft_order)order, isolated != 0, (unsigned)scaled(TASKS - 1)};
      weft_pool_run(pool, spawn_and_check, &l);
    }
}

TEST(every_task_runs_once) {
  for (size_t capacity = 2; capacity <= 1024; capacity *= 8) {
    weft_pool *pool = large_pool(capacity);
    for (int round = 0; round < 3; round++) run_loads(pool);
    weft_pool_destroy(pool);
  }
}

TEST(every_task_runs_once_without_memory) {
  static const refusal WHAT[] = {REFUSE_FROM, REFUSE_EVERY, REFUSE_AT_RANDOM};
  for (unsigned what = 0; what < 3; what++)
    for (unsigned long first = 1; first <= 64; first *= 4) {
      weft_pool *pool = large_pool(2);
      refuse_memory(WHAT[what], first);
      run_loads(pool);
      allow_memory();
      run_loads(pool);
      weft_pool_destroy(pool);
    }
}

/* Small pools take one task at a time. */
TEST(small_pools_have_no_batches) {
  weft_pool *pool = pool_of(9);
  CHECK(!pool->steals_batches);
  weft_pool_destroy(pool);
}

/* A program may make tasks that take from each other: a task that runs in a batch may
 * spawn, open scopes and wait. */
static void spawn_tree(void *ctx) {
  unsigned depth = *(const unsigned *)ctx;
  if (depth == 0) return;
  unsigned below = depth - 1;
  weft_scope scope;
  weft_scope_begin(&scope);
  for (unsigned i = 0; i < 4; i++) weft_spawn(&scope, spawn_tree, &below);
  check_tree(3);
  CHECK_EQ(weft_scope_end(&scope), 0);
}

TEST(tasks_of_a_batch_open_scopes) {
  weft_pool *pool = large_pool(8);
  for (unsigned long i = 0; i < scaled(30); i++) {
    unsigned depth = 5;
    weft_pool_run(pool, spawn_tree, &depth);
  }
  weft_pool_destroy(pool);
}

/* ---- a played thief ---- */

enum { VICTIM = 2, THIEF = 1, OFFERED = 40 };

typedef struct play {
  weft_pool *pool;
  wf_worker *thief, *victim;
  weft_scope scope;
  wf_task tasks[OFFERED];
  wf_owner *outer;
} play;

static void offer(play *p, unsigned n) {
  wf_deque *deque = &p->victim->spawned;
  REQUIRE(wf_worker_prepare_spawned(p->victim));
  for (unsigned i = 0; i < n; i++) {
    wf_task *task = &p->tasks[i];
    *task = (wf_task){.execute = do_nothing};
    wf_latch_init_scope(&task->completion, &p->scope);
    wf_deque_push_public(deque, &task, 1);
  }
}

static void begin_play(play *p, size_t capacity) {
  weft_config config = WEFT_CONFIG_INIT;
  wf_options options;
  memset(p, 0, sizeof *p);
  config.threads = THREADS;
  config.deque_capacity = capacity;
  REQUIRE(wf_options_resolve(&options, &config, (wf_environment){0}) == 0);
  REQUIRE(wf_pool_allocate(&p->pool, &options) == 0);
  p->thief = &p->pool->workers[THIEF];
  p->victim = &p->pool->workers[VICTIM];
  wf_bitset_add(p->pool->x_present, THIEF);
  wf_bitset_add(p->pool->x_present, VICTIM);
  p->thief->frames = 1;
  p->outer = wf_self;
  wf_self = &p->thief->deque.owner;
}

static void end_play(play *p) {
  wf_self = p->outer;
  wf_pool_free(p->pool);
}

static uint64_t steals_of(const play *p) {
  return wf_u64_load_relaxed(&p->thief->x_steals);
}

/* Half of what is left after the first. The last one is run, the others are kept and can
 * be stolen, oldest first. */
TEST(a_thief_takes_half) {
  static play p;
  begin_play(&p, 1024);
  offer(&p, 21);
  wf_work work;
  REQUIRE(wf_search_anything(p.thief, &work));
  CHECK(work.spawned && work.owner == VICTIM && work.task == &p.tasks[10]);
  CHECK_EQ(steals_of(&p), 11);
  CHECK_EQ(wf_deque_public_count(&p.thief->spawned), 10);
  CHECK_EQ(wf_deque_public_count(&p.victim->spawned), 10);
  CHECK_EQ(p.thief->kept_end, wf_deque_bottom(&p.thief->spawned));
  CHECK_EQ(wf_u32_load_relaxed(&p.victim->x_turn), WF_TURN_FREE);
  for (unsigned i = 0; i < 10; i++) {
    wf_task *task = NULL;
    CHECK_EQ(wf_deque_steal(&p.thief->spawned, &task), WF_STEAL_GOT);
    CHECK(task == &p.tasks[i]);
  }
  end_play(&p);
}

TEST(a_thief_takes_what_its_ring_has_room_for) {
  static play p;
  begin_play(&p, 2);
  wf_deque_init(&p.victim->spawned, 64, 0, p.pool->eager);
  offer(&p, OFFERED);
  wf_work work;
  REQUIRE(wf_search_anything(p.thief, &work));
  CHECK_EQ(steals_of(&p), 2);
  CHECK_EQ(wf_deque_public_count(&p.thief->spawned), 1);
  end_play(&p);
}

TEST(a_thief_without_memory_takes_one) {
  static play p;
  begin_play(&p, 1024);
  offer(&p, OFFERED);
  wf_work work;
  refuse_memory(REFUSE_FROM, 1);
  CHECK(wf_search_anything(p.thief, &work));
  CHECK(allow_memory() > 0);
  CHECK_EQ(steals_of(&p), 1);
  CHECK(work.task == &p.tasks[0]);
  end_play(&p);
}

/* A thief is at the turn: others go on. One that has seen tasks before it would have
 * slept takes a single one, and helpers do not care. */
TEST(thieves_pass_by_while_one_is_at_the_door) {
  static play p;
  begin_play(&p, 1024);
  offer(&p, OFFERED);
  wf_work work;
  wf_u32_store_relaxed(&p.victim->x_turn, WF_TURN_TAKEN);
  p.thief->last_victim = VICTIM;
  CHECK(!wf_search_anything(p.thief, &work));
  CHECK_EQ(steals_of(&p), 0);
  p.thief->looks_at_all = true;
  CHECK(wf_search_anything(p.thief, &work));
  CHECK_EQ(steals_of(&p), 1);
  p.thief->looks_at_all = true;
  CHECK(wf_search_anybody(p.thief, &work)); /* as a helper */
  CHECK_EQ(steals_of(&p), 2);
  CHECK_EQ(wf_u32_load_relaxed(&p.victim->x_turn), WF_TURN_TAKEN);
  end_play(&p);
}

/* Tasks of isolated code are run by the thread that takes them, and never kept. */
TEST(isolated_tasks_are_not_kept) {
  static play p;
  static weft_scope other;
  begin_play(&p, 1024);
  offer(&p, OFFERED);
  memset(&other, 0, sizeof other);
  other.region.isolation = &other.region;
  for (unsigned i = 5; i < 8; i++) wf_latch_init_scope(&p.tasks[i].completion, &other);
  wf_u32_store_relaxed(&p.victim->x_isolates, 1);
  wf_work work;
  REQUIRE(wf_search_anything(p.thief, &work));
  CHECK(work.task == &p.tasks[5]); /* it ends the batch */
  CHECK_EQ(wf_deque_public_count(&p.thief->spawned), 5);
  for (unsigned i = 0; i < 5; i++) {
    wf_task *task = NULL;
    CHECK_EQ(wf_deque_steal(&p.thief->spawned, &task), WF_STEAL_GOT);
  }
  REQUIRE(wf_search_anything(p.thief, &work));
  CHECK(work.task == &p.tasks[6]); /* there is no batch */
  CHECK_EQ(wf_deque_public_count(&p.thief->spawned), 0);
  end_play(&p);
}
