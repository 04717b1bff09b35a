/* The deque under real thieves. The oracle: each task runs exactly once, and what its
 * runner sees and leaves is what the owner wrote and reads (ThreadSanitizer looks at
 * that too). Every race is run with indices that start at, or close to, their ends.
 *
 * SPDX-License-Identifier: MIT */
#include "deque_support.h"

#include "core/latch.h"
#include "sys/sys.h"

#include <stdio.h>

enum { FRAMES = 512, MOST_THIEVES = 4 };

/* One task that is forked again and again. `runs` only grows, so that a task which runs a
 * second time later on is seen at the next join, or at the end. */
typedef struct job {
  wf_task task; /* first, so that a task leads to its job */
  uint64_t input;
  uint64_t output;
  wf_u32 runs;
  uint32_t forked; /* the owner's */
} job;

typedef enum thief_kind {
  THIEF_STEALS,
  THIEF_ASKS,
  THIEF_TAKES_OVER, /* with the process-wide barrier */
  THIEF_MIXED       /* asks or takes over, at random */
} thief_kind;

/* A race: which threads take part, and what they do. */
struct race {
  /* What the test chooses. */
  uint64_t start;
  size_t capacity;
  bool eager;
  unsigned thieves;
  thief_kind kind;
  unsigned operations; /* of the owner */
  unsigned depth;      /* most tasks in the deque at once */
  bool stream;         /* not nested forks and joins, but pushes and pops in any order */
  unsigned leaf_every; /* a long leaf after this many forks; 0: none */
  unsigned meetings;   /* how often the owner waits until a thief has asked */
  bool quiet;

  wf_deque deque;
  job frames[FRAMES];
  uint64_t random; /* the owner's */
  uint64_t forks, owner_runs, long_leaves, met;
  _Alignas(WF_CACHE_LINE) wf_u64 x_stolen;
  wf_u64 x_taken_over;
  _Alignas(WF_CACHE_LINE) wf_u32 x_stop;
};

static struct race the_race;

/* ---- running and waiting ---- */

/* There may be more threads than CPUs, so waiting does not only spin. */
static void pause_a_little(unsigned *spins) {
  if (++*spins % 64 != 0) {
    wf_sys_relax();
  } else {
    wf_sys_thread_yield();
  }
}

static void run_job(wf_task *task) {
  job *it = (job *)task;
  it->output = it->input * UINT64_C(0x9e3779b97f4a7c15);
  wf_u32_fetch_add_relaxed(&it->runs, 1);
}

/* ---- thieves ---- */

static bool steal_one(struct race *race) {
  wf_task *task = NULL;
  wf_steal answer;
  while ((answer = wf_deque_steal(&race->deque, &task)) == WF_STEAL_RETRY) {
  }
  if (answer == WF_STEAL_EMPTY) return false;
  run_job(task);
  wf_u64_fetch_add_relaxed(&race->x_stolen, 1);
  wf_latch_set(&task->completion); /* the last use: the owner may fork it again */
  return true;
}

static void take_over(struct race *race) {
  wf_deque_pin(&race->deque);
  uint64_t asked = wf_deque_asked(&race->deque);
  if ((asked & WF_ASKED_STATE_MASK) != WF_ASKED_PINNED) return;
  wf_sys_barrier();
  unsigned exposed = wf_deque_take_over(&race->deque, asked);
  wf_u64_fetch_add_relaxed(&race->x_taken_over, exposed);
}

static void thief(struct race *race, unsigned index) {
  uint64_t random = harness_seed() + index;
  unsigned spins = 0;
  while (wf_u32_load_acquire(&race->x_stop) == 0) {
    if (steal_one(race)) continue;
    thief_kind kind = race->kind;
    if (kind == THIEF_MIXED)
      kind = harness_random(&random) % 2 == 0 ? THIEF_ASKS : THIEF_TAKES_OVER;
    if (kind == THIEF_ASKS) wf_deque_ask(&race->deque);
    if (kind == THIEF_TAKES_OVER) take_over(race);
    pause_a_little(&spins);
  }
}

/* ---- the owner ---- */

static void fork_job(struct race *race, job *it) {
  wf_deque_news news;
  it->input = ++race->forks;
  it->output = 0;
  it->forked++;
  wf_latch_init(&it->task.completion);
  REQUIRE(deque_fork(&race->deque, &it->task, &news) == NULL);
}

/* The task has run: once, and what it left can be seen. */
static bool is_right(const job *it) {
  return CHECK_EQ(wf_u32_load_relaxed(&it->runs), it->forked) &&
         CHECK_EQ(it->output, it->input * UINT64_C(0x9e3779b97f4a7c15));
}

static void wait_for_thief(job *it) {
  unsigned spins = 0;
  while (!wf_latch_probe(&it->task.completion)) pause_a_little(&spins);
}

/* The join of weft: fast half, else look whether a thief has run it, else slow half. */
static bool join_job(struct race *race, job *it) {
  wf_deque_news news;
  wf_task *task = NULL;
  if (!deque_join_fast(&race->deque, &task) && !wf_latch_probe(&it->task.completion))
    task = wf_deque_pop(&race->deque, &news);
  if (task == NULL) {
    wait_for_thief(it);
  } else {
    if (!CHECK_EQ(task, &it->task)) return false;
    run_job(task);
    race->owner_runs++;
  }
  return is_right(it);
}

/* A long leaf after a fork: the owner does not come by its deque until something was
 * stolen since before the fork. Either the fork has exposed a task, or the pins are open
 * and a thief will close them and take over. */
static void long_leaf(struct race *race, uint64_t stolen_before) {
  unsigned spins = 0;
  race->long_leaves++;
  while (wf_u64_load_relaxed(&race->x_stolen) == stolen_before) pause_a_little(&spins);
}

static void short_leaf(struct race *race) {
  uint64_t random = harness_random(&race->random);
  /* Where all threads share one CPU, a thief comes in only like this. */
  if (random % 8 == 0) wf_sys_thread_yield();
  for (uint64_t i = (random >> 8) % 64; i > 0; i--) wf_sys_relax();
}

/* Waits until a thief has asked, so that there is a race also on a busy machine. What
 * the owner forks next is public, and wanted. */
static void meet_a_thief(struct race *race) {
  unsigned spins = 0;
  while (deque_state(&race->deque) == WF_ASKED_NOT) pause_a_little(&spins);
  race->met++;
}

/* Forks and joins as recursion does them. */
static bool own_nested(struct race *race) {
  unsigned depth = 0;
  for (unsigned i = 0; i < race->operations || depth > 0; i++) {
    uint64_t random = harness_random(&race->random);
    const bool all_joined = i >= race->operations;
    if (!all_joined && depth < race->depth && (depth == 0 || random % 2 == 0)) {
      const bool meet =
          race->meetings > 0 && i % (race->operations / race->meetings) == 0;
      if (meet) meet_a_thief(race);
      const uint64_t stolen = wf_u64_load_relaxed(&race->x_stolen);
      fork_job(race, &race->frames[depth++]);
      if (meet && (random >> 32) % 2 == 0) short_leaf(race);
      if (race->leaf_every > 0 && (random >> 8) % race->leaf_every == 0)
        long_leaf(race, stolen);
    } else if (!join_job(race, &race->frames[--depth])) {
      return false;
    }
    if ((random >> 40) % 32 == 0) short_leaf(race);
  }
  return true;
}

/* How many tasks are in the deque, or were a moment ago. The slot of a task that a thief
 * is about to run is free already, and is written again at once. */
static uint64_t outstanding(const struct race *race) {
  const wf_deque *deque = &race->deque;
  const wf_ptr *bottom = (const wf_ptr *)wf_ptr_load_relaxed(&deque->owner.x_bottom);
  return deque->lap + (uint64_t)(bottom - deque->slots) -
         wf_u64_load_acquire(&deque->x_top);
}

static bool pop_one(struct race *race) {
  wf_deque_news news;
  wf_task *task = deque_join(&race->deque, &news);
  if (task == NULL) return false;
  run_job(task);
  race->owner_runs++;
  wf_latch_set(&task->completion);
  return true;
}

/* Pushes and pops in any order; a job is forked again when it has run. */
static bool own_stream(struct race *race) {
  unsigned spins = 0;
  for (unsigned i = 0; i < race->operations; i++) {
    uint64_t random = harness_random(&race->random);
    job *it = &race->frames[i % FRAMES];
    if (random % 4 == 0) pop_one(race);
    while (outstanding(race) >= race->depth) {
      pause_a_little(&spins);
      if (harness_random(&race->random) % 64 == 0) pop_one(race);
    }
    while (it->forked > 0 && !wf_latch_probe(&it->task.completion)) {
      if (!pop_one(race)) pause_a_little(&spins);
    }
    if (it->forked > 0 && !is_right(it)) return false;
    fork_job(race, it);
    if ((random >> 40) % 32 == 0) short_leaf(race);
  }
  while (pop_one(race)) {
  }
  for (unsigned i = 0; i < FRAMES; i++)
    if (race->frames[i].forked > 0) wait_for_thief(&race->frames[i]);
  return true;
}

static void take_part(unsigned index, void *arg) {
  struct race *race = arg;
  if (index > 0) {
    thief(race, index);
    return;
  }
  REQUIRE(wf_deque_prepare(&race->deque) == 0);
  CHECK(race->stream ? own_stream(race) : own_nested(race));
  CHECK(wf_deque_is_empty(&race->deque));
  wf_u32_store_release(&race->x_stop, 1);
}

/* Runs a race from every start index; `operations` are for all together. The rules come
 * by address, because 32-bit x86 does not align arguments. */
static void run_race(const struct race *rules) {
  uint64_t stolen = 0, taken_over = 0, forks = 0;
  FOR_EACH_START(start) {
    struct race *race = &the_race;
    *race = *rules;
    race->start = start;
    race->operations = rules->operations / DEQUE_START_COUNT / harness_slowdown() + 1;
    race->meetings = rules->meetings / DEQUE_START_COUNT / harness_slowdown();
    race->random = harness_seed() + start;
    REQUIRE(race->thieves <= MOST_THIEVES && race->depth <= FRAMES);
    wf_deque_init(&race->deque, race->capacity, start, race->eager);
    harness_run_threads(1 + race->thieves, take_part, race);

    uint64_t runs = 0;
    for (int i = 0; i < FRAMES; i++) {
      if (race->frames[i].forked > 0) CHECK(is_right(&race->frames[i]));
      runs += wf_u32_load_relaxed(&race->frames[i].runs);
    }
    CHECK_EQ(runs, race->forks);
    CHECK_EQ(race->owner_runs + wf_u64_load_relaxed(&race->x_stolen), race->forks);
    CHECK(wf_u64_load_relaxed(&race->x_stolen) >= race->long_leaves);
    CHECK(wf_deque_asked(&race->deque) / WF_ASKED_ONE_EPOCH >= race->met);
    stolen += wf_u64_load_relaxed(&race->x_stolen);
    taken_over += wf_u64_load_relaxed(&race->x_taken_over);
    forks += race->forks;
    wf_deque_destroy(&race->deque);
  }
  if (rules->quiet) return;
  printf("%llu forked, %llu stolen, %llu taken over\n", (unsigned long long)forks,
         (unsigned long long)stolen, (unsigned long long)taken_over);
}

static bool barrier_is_there(void) {
  if (wf_sys_barrier_prepare()) return true;
  printf("skipped: no process-wide barrier on this system\n");
  return false;
}

/* ---- asking thieves ---- */

TEST(v22_owner_and_one_asking_thief) {
  run_race(&(struct race){.capacity = 16,
                          .thieves = 1,
                          .kind = THIEF_ASKS,
                          .operations = 2 * 1000 * 1000,
                          .depth = 32,
                          .meetings = 5000});
}

TEST(v22_owner_and_two_asking_thieves) {
  run_race(&(struct race){.capacity = 16,
                          .thieves = 2,
                          .kind = THIEF_ASKS,
                          .operations = 2 * 1000 * 1000,
                          .depth = 32,
                          .meetings = 5000});
}

TEST(v22_owner_and_four_asking_thieves) {
  run_race(&(struct race){.capacity = 16,
                          .thieves = 4,
                          .kind = THIEF_ASKS,
                          .operations = 1000 * 1000,
                          .depth = 32,
                          .meetings = 5000});
}

/* Never more than one task: whatever is public is contested by all. */
TEST(v22_last_item_race_owner_and_one_thief) {
  run_race(&(struct race){.capacity = 16,
                          .thieves = 1,
                          .kind = THIEF_ASKS,
                          .operations = 2 * 1000 * 1000,
                          .depth = 1,
                          .meetings = 5000});
}

TEST(v22_last_item_race_owner_and_two_thieves) {
  run_race(&(struct race){.capacity = 16,
                          .thieves = 2,
                          .kind = THIEF_ASKS,
                          .operations = 2 * 1000 * 1000,
                          .depth = 1,
                          .meetings = 5000});
}

/* Two or three tasks: retracting meets the thief at top. */
TEST(v22_last_three_items_race_owner_and_two_thieves) {
  run_race(&(struct race){.capacity = 16,
                          .thieves = 2,
                          .kind = THIEF_ASKS,
                          .operations = 2 * 1000 * 1000,
                          .depth = 3,
                          .meetings = 5000});
}

TEST(v22_wraparound_capacity_2_under_thieves) {
  run_race(&(struct race){.capacity = 2,
                          .thieves = 2,
                          .kind = THIEF_ASKS,
                          .operations = 100 * 1000,
                          .depth = 1,
                          .stream = true});
}

TEST(v22_wraparound_capacity_8_under_thieves) {
  run_race(&(struct race){.capacity = 8,
                          .thieves = 2,
                          .kind = THIEF_ASKS,
                          .operations = 200 * 1000,
                          .depth = 7,
                          .stream = true});
}

/* Short races from a ring of two, so that much of the time is growth. */
TEST(v22_growth_under_thieves) {
  const unsigned rounds = 100 / harness_slowdown() + 1;
  for (unsigned i = 0; i < rounds; i++) {
    run_race(&(struct race){.capacity = 2,
                            .thieves = 2,
                            .kind = THIEF_ASKS,
                            .operations = 5 * 4000 * harness_slowdown(),
                            .depth = FRAMES,
                            .meetings = 20 * harness_slowdown(),
                            .stream = i % 2 == 0,
                            .quiet = i > 1});
  }
}

/* ---- thieves that take over: the owner's fast half against the process-wide barrier
 * ---- */

TEST(v22_take_over_races_fast_join_one_thief) {
  if (!barrier_is_there()) return;
  run_race(&(struct race){.capacity = 16,
                          .thieves = 1,
                          .kind = THIEF_TAKES_OVER,
                          .operations = 1500 * 1000,
                          .depth = 12,
                          .leaf_every = 2048});
}

TEST(v22_take_over_races_fast_join_two_thieves) {
  if (!barrier_is_there()) return;
  run_race(&(struct race){.capacity = 16,
                          .thieves = 2,
                          .kind = THIEF_TAKES_OVER,
                          .operations = 1000 * 1000,
                          .depth = 12,
                          .leaf_every = 2048});
}

TEST(v22_take_over_races_fast_join_of_the_only_task) {
  if (!barrier_is_there()) return;
  run_race(&(struct race){.capacity = 4,
                          .thieves = 1,
                          .kind = THIEF_TAKES_OVER,
                          .operations = 1000 * 1000,
                          .depth = 1,
                          .leaf_every = 2048});
}

TEST(v22_take_over_and_ask_race_growth_and_wraparound) {
  if (!barrier_is_there()) return;
  run_race(&(struct race){.capacity = 2,
                          .thieves = 2,
                          .kind = THIEF_MIXED,
                          .operations = 1000 * 1000,
                          .depth = 64,
                          .leaf_every = 4096});
  run_race(&(struct race){.capacity = 8,
                          .thieves = 2,
                          .kind = THIEF_MIXED,
                          .operations = 200 * 1000,
                          .depth = 7,
                          .stream = true});
}

/* ---- eager mode: no barrier anywhere ---- */

TEST(v22_eager_last_item_race_owner_and_two_thieves) {
  run_race(&(struct race){.capacity = 16,
                          .eager = true,
                          .thieves = 2,
                          .operations = 2 * 1000 * 1000,
                          .depth = 1,
                          .leaf_every = 512});
}

TEST(v22_eager_owner_and_four_thieves) {
  run_race(&(struct race){.capacity = 2,
                          .eager = true,
                          .thieves = 4,
                          .operations = 1000 * 1000,
                          .depth = 32,
                          .leaf_every = 2048});
}

TEST(v22_eager_wraparound_capacity_2_under_thieves) {
  run_race(&(struct race){.capacity = 2,
                          .eager = true,
                          .thieves = 2,
                          .operations = 100 * 1000,
                          .depth = 1,
                          .stream = true});
}

/* ---- looking ---- */

/* One thread exposes and steals in turn, so that at every moment one task at least is
 * public; a thread that looks meanwhile must see that. */
static void look_or_change(unsigned index, void *arg) {
  struct race *race = arg;
  wf_deque *deque = &race->deque;
  wf_deque_news news;
  wf_task *task;
  if (index > 0) {
    wf_u64_fetch_add_relaxed(&race->x_taken_over, 1); /* here: who is looking */
    while (wf_u32_load_acquire(&race->x_stop) == 0) {
      if (!CHECK(wf_deque_has_public(deque))) return;
    }
    return;
  }
  for (unsigned i = 0; i < race->operations; i++) {
    if (deque_fork(deque, &race->frames[0].task, &news) != NULL ||
        wf_deque_steal(deque, &task) != WF_STEAL_GOT)
      break;
    race->forks++;
  }
  wf_u32_store_release(&race->x_stop, 1);
}

TEST(has_public_never_misses_a_public_task) {
  FOR_EACH_START(start) {
    struct race *race = &the_race;
    wf_deque_news news;
    *race = (struct race){.operations = 1000 * 1000 / harness_slowdown()};
    wf_deque_init(&race->deque, 16, start, true);
    REQUIRE(wf_deque_prepare(&race->deque) == 0);
    REQUIRE(deque_fork(&race->deque, &race->frames[0].task, &news) == NULL);
    harness_run_threads(2, look_or_change, race);
    CHECK_EQ(race->forks, race->operations);
    wf_deque_destroy(&race->deque);
  }
}
