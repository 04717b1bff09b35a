/* link: -Wl,--wrap=wf_sys_barrier */
/* Sleeping and waking: how many workers a post wakes, in pools whose workers the test
 * plays itself; sleepers that change their minds; and hunts for lost wake-ups in real
 * pools. A lost wake-up is a hang, which the watchdog of the harness reports.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "played_pool.h"
#include "sched/search.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* ---- a pool without threads ---- */

/* Not a value of the counter: a pool with several groups, which has none. */
#define NO_JEC ((uint64_t)1 << 32)

/* Values of the jobs event counter from which the scenarios start: both parities, the
 * ends of the signed and unsigned range, and none. */
static const uint64_t JECS[] = {0,          1,          0x7ffffffe, 0x7fffffff,
                                0x80000000, 0xfffffffe, 0xffffffff, NO_JEC};
enum { SCENE_COUNT = sizeof JECS / sizeof JECS[0], JEC_COUNT = SCENE_COUNT - 1 };

/* Workers that look for work, and sleepers of the three kinds. */
static weft_pool *scene(uint64_t jec, unsigned awake, unsigned idle, unsigned helpers,
                        unsigned closed) {
  weft_pool *pool = jec == NO_JEC ? played_pool_of_groups() : played_pool((uint32_t)jec);
  unsigned index = 0;
  while (awake > 0) play_searcher(pool, WORKERS + awake--);
  while (idle-- > 0) play_sleeper(pool, ++index, WF_SLEEPER_IDLE);
  while (helpers-- > 0) play_sleeper(pool, ++index, WF_SLEEPER_HELPER);
  while (closed-- > 0) play_sleeper(pool, ++index, WF_SLEEPER_CLOSED);
  return pool;
}

static unsigned bits_in(const weft_pool *pool, wf_sleeper kind) {
  unsigned count = 0;
  for (unsigned i = 0; i < pool->slots; i++)
    count += wf_bitset_has(&pool->sleep.x_sets[kind][i / 64 * WF_SET_STRIDE], i % 64);
  return count;
}

static unsigned parked(const weft_pool *pool) {
  unsigned count = 0;
  for (unsigned i = 0; i < pool->slots; i++)
    count += wf_u32_load_relaxed(&pool->workers[i].x_park) == 1;
  return count;
}

/* What must be true after a post: how many are awake, and how many of each kind still
 * sleep. Frees the pool. */
static void check_scene(weft_pool *pool, unsigned awake, unsigned idle, unsigned helpers,
                        unsigned closed) {
  CHECK_EQ(wf_sleep_sleeping(pool), idle);
  CHECK_EQ(wf_sleep_searching(pool), awake);
  CHECK_EQ(wf_counters_inactive(&pool->sleep.counters), awake + idle);
  CHECK_EQ(wf_sleep_count(pool, WF_SLEEPER_HELPER), helpers);
  CHECK_EQ(bits_in(pool, WF_SLEEPER_IDLE), idle);
  CHECK_EQ(bits_in(pool, WF_SLEEPER_HELPER), helpers);
  CHECK_EQ(bits_in(pool, WF_SLEEPER_CLOSED), closed);
  CHECK_EQ(parked(pool), idle + helpers + closed);
  wf_pool_free(pool);
}

static uint32_t jec_of(const weft_pool *pool) {
  return wf_u32_load_relaxed(&pool->sleep.counters.x_jec);
}

/* A post leaves the counter odd and moves it by no more than one. In a pool with several
 * groups nobody writes it. */
static void check_posted(const weft_pool *pool, uint64_t jec) {
  uint32_t odd = (uint32_t)(jec % 2 == 0 ? jec + 1 : jec);
  CHECK_EQ(jec_of(pool), jec == NO_JEC ? 0 : odd);
}

/* ---- V21: the three scenarios, and all their neighbours ---- */

TEST(v21_scenario_a_enough_are_awake) {
  for (int i = 0; i < SCENE_COUNT; i++) {
    weft_pool *pool = scene(JECS[i], 3, 5, 0, 0);
    CHECK_EQ(wf_sleep_new_tasks(pool, 1, true), 0);
    CHECK_EQ(wf_u64_load_relaxed(&pool->sleep.x_wakes), 0);
    check_posted(pool, JECS[i]);
    check_scene(pool, 3, 5, 0, 0);
  }
}

TEST(v21_scenario_b_all_sleep) {
  for (int i = 0; i < SCENE_COUNT; i++) {
    weft_pool *pool = scene(JECS[i], 0, 8, 0, 0);
    CHECK_EQ(wf_sleep_new_tasks(pool, 1, true), 1);
    CHECK_EQ(wf_u64_load_relaxed(&pool->sleep.x_wakes), 1);
    check_posted(pool, JECS[i]);
    check_scene(pool, 1, 7, 0, 0);
  }
}

TEST(v21_scenario_c_thieves_do_not_keep_up) {
  for (int i = 0; i < SCENE_COUNT; i++) {
    weft_pool *pool = scene(JECS[i], 3, 5, 0, 0);
    CHECK_EQ(wf_sleep_new_tasks(pool, 1, false), 1);
    CHECK_EQ(wf_u64_load_relaxed(&pool->sleep.x_wakes), 1);
    check_posted(pool, JECS[i]);
    check_scene(pool, 4, 4, 0, 0);
  }
}

static unsigned least(unsigned a, unsigned b) {
  return a < b ? a : b;
}

/* Tasks first wake idle workers, then helpers, never closed ones. */
static void check_batch(uint64_t jec, unsigned n, unsigned awake, unsigned idle,
                        unsigned helpers, bool was_empty) {
  unsigned closed = WORKERS - idle - helpers;
  unsigned needed = !was_empty ? n : n > awake ? n - awake : 0;
  unsigned from_idle = least(needed, idle);
  unsigned from_helpers = least(needed - from_idle, helpers);
  weft_pool *pool = scene(jec, awake, idle, helpers, closed);
  CHECK_EQ(wf_sleep_new_tasks(pool, n, was_empty), from_idle + from_helpers);
  CHECK_EQ(wf_u64_load_relaxed(&pool->sleep.x_wakes), from_idle + from_helpers);
  check_posted(pool, jec);
  check_scene(pool, awake + from_idle, idle - from_idle, helpers - from_helpers, closed);
}

TEST(v21_batches_wake_as_many_as_they_need) {
  for (unsigned n = 1; n <= 10; n++)
    for (unsigned awake = 0; awake <= 3; awake++)
      for (unsigned idle = 0; idle <= 6; idle += 2)
        for (unsigned helpers = 0; helpers <= 2; helpers++)
          for (int was_empty = 0; was_empty <= 1; was_empty++)
            check_batch(JECS[n % SCENE_COUNT], n, awake, idle, helpers, was_empty);
}

/* In large pools those that are woken wake the others: all together wake as many. */
static void check_wake_tree(unsigned n, unsigned idle) {
  weft_pool *pool = scene(0, 0, idle, 0, 0);
  pool->wakes_in_trees = true;
  unsigned expected = n < idle ? n : idle, all = 0;
  CHECK_EQ(wf_sleep_new_tasks(pool, n, true), expected);
  unsigned first = (unsigned)wf_u64_load_relaxed(&pool->sleep.x_wakes);
  CHECK(expected < 2 || first < expected); /* some are left to those that were woken */
  uint64_t told = 0;
  for (unsigned i = 1; i <= WORKERS; i++) {
    const wf_wakes *wakes = &pool->workers[i].wakes;
    CHECK_EQ(wakes->among & told, 0); /* nobody is woken by two */
    CHECK_EQ(wakes->among & ~wf_u64_peek(&pool->sleep.x_sets[WF_SLEEPER_IDLE][0]), 0);
    told |= wakes->among;
    all += (unsigned)__builtin_popcountll(wakes->among) + wakes->others;
  }
  CHECK_EQ(first + all, expected);
  CHECK_EQ(bits_in(pool, WF_SLEEPER_IDLE), idle - first);
  wf_pool_free(pool);
}

TEST(woken_workers_wake_the_others) {
  for (unsigned n = 1; n <= 10; n++)
    for (unsigned idle = 0; idle <= WORKERS; idle++) check_wake_tree(n, idle);
}

static void check_injected(uint64_t jec, unsigned awake, unsigned idle,
                           unsigned helpers) {
  unsigned woken = awake == 0 && idle > 0 ? 1 : 0;
  weft_pool *pool = scene(jec, awake, idle, helpers, 2);
  CHECK_EQ(wf_sleep_new_injected(pool), woken);
  CHECK_EQ(wf_u64_load_relaxed(&pool->sleep.x_wakes), woken);
  check_posted(pool, jec);
  check_scene(pool, awake + woken, idle - woken, helpers, 2);
}

TEST(v21_injected_work_wakes_idle_workers_only) {
  for (int i = 0; i < SCENE_COUNT; i++)
    for (unsigned awake = 0; awake <= 2; awake++)
      for (unsigned idle = 0; idle <= 3; idle++)
        for (unsigned helpers = 0; helpers <= 3; helpers++)
          check_injected(JECS[i], awake, idle, helpers);
}

/* A worker that found work wakes another one only if nobody looks for more; that is no
 * post, and the counter stays. */
static void check_wake_next(uint64_t jec, unsigned awake, unsigned idle,
                            unsigned helpers) {
  unsigned from_idle = awake == 0 && idle > 0 ? 1 : 0;
  unsigned from_helpers = awake == 0 && idle == 0 && helpers > 0 ? 1 : 0;
  weft_pool *pool = scene(jec, awake, idle, helpers, 2);
  CHECK_EQ(wf_sleep_wake_next(pool), from_idle + from_helpers);
  CHECK_EQ(wf_u64_load_relaxed(&pool->sleep.x_wakes), from_idle + from_helpers);
  CHECK_EQ(jec_of(pool), jec == NO_JEC ? 0 : (uint32_t)jec);
  check_scene(pool, awake + from_idle, idle - from_idle, helpers - from_helpers, 2);
}

TEST(v21_found_work_wakes_the_next) {
  for (int i = 0; i < SCENE_COUNT; i++)
    for (unsigned awake = 0; awake <= 2; awake++)
      for (unsigned idle = 0; idle <= 3; idle++)
        for (unsigned helpers = 0; helpers <= 3; helpers++)
          check_wake_next(JECS[i], awake, idle, helpers);
}

/* A latch wakes its own waiter, whatever kind of sleeper that is, and nobody else. */
TEST(v21_latch_wakes_its_waiter) {
  for (unsigned index = 1; index <= 6; index++) {
    weft_pool *pool = scene(0, 1, 2, 2, 2);
    wf_sleep_wake_worker(pool, index);
    CHECK_EQ(wf_u64_load_relaxed(&pool->sleep.x_wakes), 1);
    CHECK_EQ(wf_u32_load_relaxed(&pool->workers[index].x_park), 0);
    /* Once more: it is in no set now. */
    wf_sleep_wake_worker(pool, index);
    CHECK_EQ(wf_u64_load_relaxed(&pool->sleep.x_wakes), 1);
    unsigned idle = index <= 2, helper = index == 3 || index == 4;
    check_scene(pool, 1 + idle, 2 - idle, 2 - helper, (idle || helper) ? 2 : 1);
  }
}

/* Places beyond the first word of the bit sets. */
TEST(v21_many_sleepers) {
  weft_pool *pool = empty_pool(200);
  for (unsigned i = 1; i <= 200; i++) play_sleeper(pool, i, WF_SLEEPER_IDLE);
  CHECK_EQ(wf_sleep_new_tasks(pool, 150, true), 150);
  CHECK_EQ(wf_sleep_new_tasks(pool, 250, false), 50);
  CHECK_EQ(wf_sleep_new_tasks(pool, 1, false), 0);
  check_scene(pool, 200, 0, 0, 0);
}

/* Sleepers in each word of the set, searchers in each group: the sums count. */
TEST(v21_posts_in_a_pool_with_several_words) {
  static const unsigned places[] = {1, 63, 64, 65, 127, 128, 192, 200};
  enum { PLACES = sizeof places / sizeof places[0] };
  for (unsigned searching = 0; searching <= 3; searching++) {
    for (unsigned n = 1; n <= 12; n++) {
      weft_pool *pool = empty_pool(200);
      CHECK(pool->words >= 4 && pool->sleep.counters.groups == 25);
      for (unsigned i = 0; i < PLACES; i++)
        play_sleeper(pool, places[i], WF_SLEEPER_IDLE);
      for (unsigned i = 0; i < searching; i++) play_searcher(pool, 10 + 50 * i);
      CHECK_EQ(wf_sleep_sleeping(pool), PLACES);
      CHECK_EQ(wf_sleep_searching(pool), searching);
      CHECK_EQ(wf_sleep_wake_next(pool), searching == 0);
      unsigned asleep = PLACES - (searching == 0), awake = searching + (searching == 0);
      unsigned woken = least(n > awake ? n - awake : 0, asleep);
      CHECK_EQ(wf_sleep_new_injected(pool), 0); /* one is awake by now */
      CHECK_EQ(wf_sleep_new_tasks(pool, n, true), woken);
      check_scene(pool, awake + woken, asleep - woken, 0, 0);
    }
  }
}

/* Each word of a set has a cache line, and each set its own lines. */
TEST(v21_words_of_sets_are_in_lines_of_their_own) {
  weft_pool *pool = empty_pool(200);
  for (int kind = 0; kind < WF_SLEEPER_KINDS; kind++) {
    wf_u64 *set = pool->sleep.x_sets[kind];
    CHECK_EQ((uintptr_t)set % WF_CACHE_LINE, 0);
    for (unsigned i = 1; i < pool->slots; i++) {
      CHECK(wf_set_add(set, i));
      CHECK(!wf_set_add(set, i));
      for (unsigned word = 0; word < pool->words; word++)
        CHECK_EQ(wf_u64_load_relaxed(&set[(size_t)word * WF_CACHE_LINE / 8]),
                 word == i / 64 ? (uint64_t)1 << i % 64 : 0);
      CHECK(wf_set_remove(set, i));
      CHECK(!wf_set_remove(set, i));
    }
  }
  wf_pool_free(pool);
}

/* A worker that looks for the last time is in the set, and awake: it does not wake
 * itself.
 */
static void *post_as_sleeper(void *arg) {
  wf_worker *self = arg;
  wf_self = &self->deque.owner;
  for (unsigned n = 1; n <= 2; n++) CHECK_EQ(wf_sleep_new_tasks(self->pool, 1, false), 1);
  CHECK_EQ(wf_sleep_new_tasks(self->pool, 1, false), 0);
  wf_self = NULL;
  return NULL;
}

static void check_not_itself(weft_pool *pool, const unsigned places[3], wf_sleeper kind) {
  for (unsigned own = 0; own < 3; own++) {
    pthread_t thread;
    for (unsigned i = 0; i < 3; i++) play_sleeper(pool, places[i], kind);
    wf_worker *self = &pool->workers[places[own]];
    REQUIRE(pthread_create(&thread, NULL, post_as_sleeper, self) == 0);
    pthread_join(thread, NULL);
    CHECK_EQ(bits_in(pool, kind), 1);
    CHECK_EQ(parked(pool), 1);
    CHECK_EQ(wf_u32_load_relaxed(&self->x_park), 1);
    wf_sleep_wake_worker(pool, self->index);
  }
  wf_pool_free(pool);
}

TEST(v21_a_poster_does_not_wake_itself) {
  static const unsigned near[3] = {1, 2, 3}, far[3] = {1, 100, 200};
  for (int kind = WF_SLEEPER_IDLE; kind <= WF_SLEEPER_HELPER; kind++) {
    check_not_itself(played_pool(0), near, (wf_sleeper)kind);
    check_not_itself(empty_pool(200), far, (wf_sleeper)kind);
  }
}

/* A woken worker that has found work wakes others although some search, if many are busy.
 */
TEST(v21_found_work_in_a_large_pool_wakes_more) {
  for (unsigned searching = 0; searching <= 40; searching += 4) {
    weft_pool *pool = empty_pool(200);
    pool->wakes_in_trees = true;
    for (unsigned i = 1; i <= 100; i++) play_sleeper(pool, i, WF_SLEEPER_IDLE);
    for (unsigned i = 0; i < searching; i++) play_searcher(pool, 101 + i);
    unsigned busy = pool->thread_places - 100 - searching;
    CHECK_EQ(wf_sleep_wake_more(pool), searching <= busy / 4 ? 2 : 0);
    wf_pool_free(pool);
  }
  weft_pool *pool = scene(0, 1, 2, 0, 0);
  CHECK_EQ(wf_sleep_wake_more(pool), 0); /* as wf_sleep_wake_next in a small one */
  check_scene(pool, 1, 2, 0, 0);
}

/* ---- V23: sleepers that change their minds ---- */

/* A worker on its way to sleep: counted as idle, its latch sleepy, its jobs event counter
 * taken. The caller is the worker's thread. */
typedef struct drowsy {
  weft_pool *pool;
  wf_worker *worker;
  wf_latch latch;
  uint32_t jec;
} drowsy;

static void get_drowsy(drowsy *self, uint64_t jec) {
  self->pool = jec == NO_JEC ? played_pool_of_groups() : played_pool((uint32_t)jec);
  self->worker = &self->pool->workers[1];
  wf_latch_init(&self->latch);
  play_searcher(self->pool, 1);
  CHECK(wf_latch_get_sleepy(&self->latch));
  self->jec = wf_counters_announce(&self->pool->sleep.counters);
  CHECK_EQ(self->jec % 2, 0);
}

/* It did not sleep, nobody woke it, and all traces are gone. */
static void check_undone(drowsy *self) {
  CHECK_EQ(wf_u64_load_relaxed(&self->pool->sleep.x_wakes), 0);
  CHECK_EQ(wf_u64_load_relaxed(&self->worker->x_sleeps), 0);
  CHECK_EQ(wf_sleep_wake_next(self->pool), 0);
  CHECK_EQ(wf_counters_inactive(&self->pool->sleep.counters), 1);
  CHECK_EQ(wf_sleep_count(self->pool, WF_SLEEPER_HELPER), 0);
  for (int kind = 0; kind < WF_SLEEPER_KINDS; kind++)
    CHECK_EQ(bits_in(self->pool, (wf_sleeper)kind), 0);
  wf_pool_free(self->pool);
}

TEST(v23_injected_after_the_last_look) {
  for (int i = 0; i < SCENE_COUNT; i++) {
    drowsy self;
    get_drowsy(&self, JECS[i]);
    /* The push alone: the poster has not come to its look at the sleepers yet. */
    CHECK_EQ(wf_injector_push(&self.pool->injector, do_nothing, NULL, NULL), 0);
    CHECK(!wf_sleep_idle(self.worker, &self.latch, self.jec));
    CHECK_EQ(wf_latch_probe(&self.latch), false);
    CHECK(wf_latch_get_sleepy(&self.latch)); /* it is UNSET again */
    /* Now the poster comes, and finds nobody to wake. */
    CHECK_EQ(wf_sleep_new_injected(self.pool), 0);
    check_undone(&self);
  }
}

TEST(v23_posted_after_the_announcement) {
  for (int i = 0; i < JEC_COUNT; i++) {
    drowsy self;
    get_drowsy(&self, JECS[i]);
    CHECK_EQ(wf_sleep_new_injected(self.pool), 0); /* moves the counter */
    CHECK(!wf_sleep_idle(self.worker, &self.latch, self.jec));
    CHECK(wf_latch_get_sleepy(&self.latch));
    check_undone(&self);
  }
}

TEST(v23_latch_set_before_the_sleep) {
  drowsy self;
  get_drowsy(&self, 0);
  CHECK(!wf_latch_set(&self.latch)); /* sleepy is not asleep: nobody to wake */
  CHECK(!wf_sleep_idle(self.worker, &self.latch, self.jec));
  CHECK(wf_latch_probe(&self.latch));
  check_undone(&self);
}

/* Forks `count` tasks on the deque of worker 2, whose thread the caller plays, and tells
 * nobody. */
static void fork_quietly(weft_pool *pool, wf_task *tasks, unsigned count) {
  wf_deque *deque = &pool->workers[2].deque;
  wf_deque_news news;
  for (unsigned i = 0; i < count; i++) {
    tasks[i] = (wf_task){do_nothing, NULL, {{0}}};
    if (wf_deque_push(deque, &tasks[i])) CHECK(wf_deque_fork_slow(deque, &news) == NULL);
  }
}

static void take_back(weft_pool *pool, const wf_task *tasks, unsigned count) {
  wf_deque_news news;
  while (count-- > 0)
    CHECK_EQ(wf_deque_pop(&pool->workers[2].deque, &news), &tasks[count]);
}

/* The first fork after a deque was made ready is public, later ones are private; a
 * sleeper must see both kinds. */
TEST(v23_task_forked_after_the_last_look) {
  for (unsigned count = 1; count <= 3; count++) {
    for (int kind = WF_SLEEPER_IDLE; kind <= WF_SLEEPER_HELPER; kind++) {
      wf_task tasks[3];
      drowsy self;
      get_drowsy(&self, 0);
      fork_quietly(self.pool, tasks, count);
      if (kind == WF_SLEEPER_IDLE)
        CHECK(!wf_sleep_idle(self.worker, &self.latch, self.jec));
      else
        CHECK(!wf_sleep_waiting(self.worker, &self.latch, WF_SLEEPER_HELPER));
      take_back(self.pool, tasks, count);
      check_undone(&self);
    }
  }
}

/* Only private tasks, because a thief has taken the public one. */
TEST(v23_private_task_is_seen) {
  wf_task tasks[2], *stolen;
  drowsy self;
  get_drowsy(&self, 0);
  fork_quietly(self.pool, tasks, 2);
  CHECK_EQ(wf_deque_steal(&self.pool->workers[2].deque, &stolen), WF_STEAL_GOT);
  CHECK_EQ(stolen, &tasks[0]);
  CHECK(!wf_sleep_idle(self.worker, &self.latch, self.jec));
  CHECK(wf_deque_has_public(&self.pool->workers[2].deque));
  wf_deque_news news;
  CHECK_EQ(wf_deque_pop(&self.pool->workers[2].deque, &news), &tasks[1]);
  check_undone(&self);
}

/* ---- take-overs in large pools: a barrier for each word of the set ---- */

static atomic_uint barriers;

bool __real_wf_sys_barrier(void);
bool __wrap_wf_sys_barrier(void);

bool __wrap_wf_sys_barrier(void) {
  atomic_fetch_add(&barriers, 1);
  return __real_wf_sys_barrier();
}

/* Leaves one private task at a worker. The first fork after a deque was made ready is
 * public, and taken here. */
static void leave_private(wf_worker *victim, wf_task tasks[2]) {
  wf_deque_news news;
  wf_task *stolen;
  wf_bitset_add(victim->pool->x_present, victim->index);
  for (unsigned i = 0; i < 2; i++) {
    tasks[i] = (wf_task){do_nothing, NULL, {{0}}};
    if (wf_deque_push(&victim->deque, &tasks[i]))
      CHECK(wf_deque_fork_slow(&victim->deque, &news) == NULL);
  }
  CHECK_EQ(wf_deque_steal(&victim->deque, &stolen), WF_STEAL_GOT);
  CHECK(!wf_deque_has_public(&victim->deque));
}

/* Victims in every word, a sleeper in the last place, which looks. */
static void check_barriers(unsigned workers, unsigned expected) {
  enum { APART = 31, MOST = 32 };
  static wf_task tasks[MOST][2];
  weft_pool *pool = empty_pool(workers);
  wf_worker *looker = &pool->workers[workers];
  unsigned victims = 0;
  for (unsigned i = 1; i < workers; i += APART) {
    REQUIRE(victims < MOST);
    leave_private(&pool->workers[i], tasks[victims++]);
  }
  wf_bitset_add(pool->x_present, workers);
  atomic_store(&barriers, 0);
  CHECK_EQ(wf_search_take_over(looker), victims);
  CHECK_EQ(atomic_load(&barriers), expected);
  for (unsigned i = 1; i < workers; i += APART)
    CHECK(wf_deque_has_public(&pool->workers[i].deque));
  /* The pins are closed: another look needs no barrier. */
  CHECK(wf_search_sees_work(looker, WF_SLEEPER_IDLE));
  CHECK_EQ(wf_search_take_over(looker), 0);
  CHECK_EQ(atomic_load(&barriers), expected);
  wf_deque_news news;
  for (unsigned i = 1; i < workers; i += APART)
    CHECK_EQ(wf_deque_pop(&pool->workers[i].deque, &news), &tasks[i / APART][1]);
  CHECK(!wf_search_sees_work(looker, WF_SLEEPER_IDLE));
  wf_pool_free(pool);
}

TEST(v23_one_barrier_for_64_workers) {
  weft_pool *pool = empty_pool(1);
  const bool has_barrier = !pool->eager;
  wf_pool_free(pool);
  if (!has_barrier) return;
  check_barriers(40, 1);
  check_barriers(100, 2);
  check_barriers(180, 3);
  check_barriers(250, 4);
}

/* Where the victims are in one word of many, it is one barrier as well, and none where
 * nobody is. */
TEST(v23_words_without_victims_need_no_barrier) {
  wf_task tasks[2];
  wf_deque_news news;
  weft_pool *pool = empty_pool(500);
  if (!pool->eager) {
    wf_bitset_add(pool->x_present, 1);
    atomic_store(&barriers, 0);
    CHECK(!wf_search_sees_work(&pool->workers[1], WF_SLEEPER_IDLE));
    CHECK_EQ(atomic_load(&barriers), 0);
    leave_private(&pool->workers[450], tasks);
    CHECK(wf_search_sees_work(&pool->workers[1], WF_SLEEPER_IDLE));
    CHECK_EQ(atomic_load(&barriers), 1);
    CHECK_EQ(wf_deque_pop(&pool->workers[450].deque, &news), &tasks[1]);
  }
  wf_pool_free(pool);
}

/* ---- waiters ---- */

/* A waiter does not take injected work, so it does not stay up for it; nor does a closed
 * one for tasks. They sleep until their latch is set. */
typedef struct waiter {
  drowsy self;
  wf_sleeper kind;
  bool slept;
} waiter;

static void *wait_for_latch(void *arg) {
  waiter *w = arg;
  w->slept = wf_sleep_waiting(w->self.worker, &w->self.latch, w->kind);
  return NULL;
}

static void check_waits_for_latch(wf_sleeper kind, bool with_task) {
  waiter w = {.kind = kind};
  wf_task task;
  pthread_t thread;
  get_drowsy(&w.self, 0);
  weft_pool *pool = w.self.pool;
  CHECK_EQ(wf_injector_push(&pool->injector, do_nothing, NULL, NULL), 0);
  if (with_task) fork_quietly(pool, &task, 1);
  REQUIRE(pthread_create(&thread, NULL, wait_for_latch, &w) == 0);
  /* Counted by the sleeper after its last look. */
  AWAIT(wf_u64_load_relaxed(&w.self.worker->x_sleeps) == 1);
  CHECK_EQ(bits_in(pool, kind), 1);
  CHECK_EQ(wf_sleep_count(pool, WF_SLEEPER_HELPER), kind == WF_SLEEPER_HELPER);
  CHECK_EQ(wf_sleep_new_injected(pool), 0);
  CHECK(wf_latch_set(&w.self.latch));
  wf_sleep_wake_worker(pool, 1);
  pthread_join(thread, NULL);
  CHECK(w.slept);
  CHECK(!w.self.worker->was_called);
  CHECK(wf_latch_probe(&w.self.latch));
  CHECK_EQ(bits_in(pool, kind), 0);
  CHECK_EQ(wf_sleep_count(pool, WF_SLEEPER_HELPER), 0);
  CHECK_EQ(wf_u64_load_relaxed(&pool->sleep.x_wakes), 1);
  if (with_task) take_back(pool, &task, 1);
  wf_pool_free(pool);
}

TEST(v18_waiters_sleep_until_their_latch) {
  check_waits_for_latch(WF_SLEEPER_HELPER, false);
  check_waits_for_latch(WF_SLEEPER_CLOSED, false);
  check_waits_for_latch(WF_SLEEPER_CLOSED, true);
}

/* A helper that sleeps is woken for a task; its latch is then as if it had not slept. */
TEST(v18_helper_is_woken_for_a_task) {
  waiter w = {.kind = WF_SLEEPER_HELPER};
  wf_task task;
  pthread_t thread;
  get_drowsy(&w.self, 0);
  REQUIRE(pthread_create(&thread, NULL, wait_for_latch, &w) == 0);
  AWAIT(wf_u64_load_relaxed(&w.self.worker->x_sleeps) == 1);
  /* Its last look has closed the pins: this fork is public at once. */
  fork_quietly(w.self.pool, &task, 1);
  CHECK(wf_deque_has_public(&w.self.pool->workers[2].deque));
  /* One worker is idle and awake by the counters; a second task needs the helper. */
  CHECK_EQ(wf_sleep_new_tasks(w.self.pool, 1, true), 0);
  CHECK_EQ(wf_sleep_new_tasks(w.self.pool, 2, true), 1);
  pthread_join(thread, NULL);
  CHECK(w.slept);
  CHECK(w.self.worker->was_called); /* if it leaves now, it owes somebody a wake-up */
  CHECK(wf_latch_get_sleepy(&w.self.latch));
  take_back(w.self.pool, &task, 1);
  wf_pool_free(w.self.pool);
}

/* ---- V19: latch against sleeper, with real threads ---- */

typedef struct latch_race {
  weft_pool *pool;
  wf_latch latch;
  atomic_ulong round; /* the round that the waiter is in, or past */
  atomic_ulong set;
  unsigned long rounds;
} latch_race;

static void race_waiter(latch_race *race) {
  wf_worker *worker = &race->pool->workers[1];
  for (unsigned long i = 1; i <= race->rounds; i++) {
    wf_latch_init(&race->latch);
    atomic_store(&race->round, i);
    wf_sleeper kind = i % 2 == 0 ? WF_SLEEPER_HELPER : WF_SLEEPER_CLOSED;
    while (!wf_latch_probe(&race->latch))
      if (wf_latch_get_sleepy(&race->latch)) wf_sleep_waiting(worker, &race->latch, kind);
    AWAIT(atomic_load(&race->set) == i);
  }
}

static void race_setter(latch_race *race) {
  uint64_t random = harness_seed();
  for (unsigned long i = 1; i <= race->rounds; i++) {
    AWAIT(atomic_load(&race->round) == i);
    for (uint64_t spins = harness_random(&random) % 64; spins > 0; spins--)
      wf_sys_relax();
    if (wf_latch_set(&race->latch)) wf_sleep_wake_worker(race->pool, 1);
    atomic_store(&race->set, i);
  }
}

static void race_both(unsigned index, void *arg) {
  if (index == 0)
    race_waiter(arg);
  else
    race_setter(arg);
}

TEST(v19_latch_set_against_sleep) {
  latch_race race = {.pool = played_pool(0), .rounds = scaled(100000)};
  harness_run_threads(2, race_both, &race);
  CHECK_EQ(wf_sleep_count(race.pool, WF_SLEEPER_HELPER), 0);
  CHECK_EQ(bits_in(race.pool, WF_SLEEPER_HELPER), 0);
  CHECK_EQ(bits_in(race.pool, WF_SLEEPER_CLOSED), 0);
  wf_pool_free(race.pool);
}

/* ---- V19: lost wake-ups in real pools ---- */

static unsigned long hunt_cycles(void) {
  unsigned slower = harness_slowdown();
  return slower == 1 ? 100000 : slower < 10 ? 10000 : 500;
}

/* One job into a pool in which all sleep. */
static void hunt_detach_asleep(unsigned threads, unsigned long cycles) {
  weft_pool *pool = sleepy_pool_of(threads);
  atomic_ulong ran = 0;
  for (unsigned long i = 1; i <= cycles; i++) {
    AWAIT(all_asleep(pool));
    CHECK_EQ(weft_pool_detach(pool, count_one, &ran), 0);
    AWAIT(atomic_load(&ran) == i);
  }
  weft_pool_destroy(pool);
}

TEST_LIMIT(v19_detach_into_a_sleeping_pool, 120) {
  hunt_detach_asleep(1, hunt_cycles());
  hunt_detach_asleep(2, hunt_cycles());
  hunt_detach_asleep(4, hunt_cycles() / 10);
  hunt_detach_asleep(12, hunt_cycles() / 200); /* two groups */
}

/* One job at a random moment while workers fall asleep. */
TEST_LIMIT(v19_detach_while_falling_asleep, 120) {
  uint64_t random = harness_seed();
  for (unsigned threads = 1; threads <= 3; threads++) {
    weft_pool *pool = sleepy_pool_of(threads);
    atomic_ulong ran = 0;
    for (unsigned long i = 1; i <= hunt_cycles() / 2; i++) {
      for (uint64_t spins = harness_random(&random) % 256; spins > 0; spins--)
        wf_sys_relax();
      CHECK_EQ(weft_pool_detach(pool, count_one, &ran), 0);
      AWAIT(atomic_load(&ran) == i);
    }
    weft_pool_destroy(pool);
  }
}

/* A fork while all sleep: nobody asked for it at that moment, and yet somebody must come,
 * because `a`, a leaf that neither forks nor joins, does not end before `b` has begun. */
typedef struct handshake {
  pthread_t a_thread;
  atomic_bool b_began;
  bool other_thread;
} handshake;

static void wait_for_b(void *ctx) {
  handshake *shake = ctx;
  AWAIT(atomic_load(&shake->b_began));
}

static void begin_b(void *ctx) {
  handshake *shake = ctx;
  shake->other_thread = !pthread_equal(pthread_self(), shake->a_thread);
  atomic_store(&shake->b_began, true);
}

static void join_handshake(void *ctx) {
  (void)ctx;
  handshake shake = {.a_thread = pthread_self()};
  weft_join(wait_for_b, &shake, begin_b, &shake);
  CHECK(shake.other_thread);
}

static void hunt_join_asleep(unsigned threads, unsigned long cycles) {
  weft_pool *pool = sleepy_pool_of(threads);
  for (unsigned long i = 0; i < cycles; i++) {
    AWAIT(all_asleep(pool));
    weft_pool_run(pool, join_handshake, NULL);
  }
  weft_pool_destroy(pool);
}

TEST_LIMIT(v19_join_in_a_sleeping_pool, 120) {
  hunt_join_asleep(2, hunt_cycles());
  hunt_join_asleep(3, hunt_cycles() / 10);
  hunt_join_asleep(12, hunt_cycles() / 200); /* two groups */
}

/* The guest stays in the pool, so that the pins its deque has are those that the sleepers
 * left; some forks that nobody takes come before the one that matters. */
static void handshakes_inside(void *ctx) {
  unsigned long cycles = *(const unsigned long *)ctx;
  const weft_pool *pool = weft_pool_current();
  uint64_t random = harness_seed();
  for (unsigned long i = 0; i < cycles; i++) {
    uint64_t choice = harness_random(&random);
    if (choice % 4 == 0) AWAIT(all_asleep(pool));
    for (uint64_t spins = choice / 4 % 256; spins > 0; spins--) wf_sys_relax();
    for (uint64_t forks = choice / 1024 % 4; forks > 0; forks--)
      weft_join(do_nothing, NULL, do_nothing, NULL);
    join_handshake(NULL);
  }
}

TEST_LIMIT(v19_join_while_falling_asleep, 120) {
  for (unsigned threads = 2; threads <= 3; threads++) {
    unsigned long cycles = hunt_cycles() / 4;
    weft_pool *pool = sleepy_pool_of(threads);
    weft_pool_run(pool, handshakes_inside, &cycles);
    weft_pool_destroy(pool);
  }
}

/* ---- V20: an idle pool sleeps ---- */

#if defined(__linux__)

/* The sum of all context switches of the threads whose name begins with the prefix. */
static unsigned long switches_of(const char *prefix) {
  unsigned long sum = 0;
  DIR *tasks = opendir("/proc/self/task");
  REQUIRE(tasks != NULL);
  for (struct dirent *entry; (entry = readdir(tasks)) != NULL;) {
    char path[320], line[256], name[64] = "";
    unsigned long n, of_thread = 0;
    snprintf(path, sizeof path, "/proc/self/task/%s/status", entry->d_name);
    FILE *file = fopen(path, "r");
    if (file == NULL) continue;
    while (fgets(line, sizeof line, file) != NULL) {
      if (sscanf(line, "Name: %63s", name) == 1) continue;
      if (sscanf(line, "voluntary_ctxt_switches: %lu", &n) == 1) of_thread += n;
      if (sscanf(line, "nonvoluntary_ctxt_switches: %lu", &n) == 1) of_thread += n;
    }
    fclose(file);
    if (strncmp(name, prefix, strlen(prefix)) == 0) sum += of_thread;
  }
  closedir(tasks);
  return sum;
}

/* Two samples with some time between them agree only if no thread of the pool ran in that
 * time; a pool that polls never gets there, and the watchdog tells. */
static void await_stillness(const weft_pool *pool, const char *prefix) {
  const struct timespec window = {0, 100 * 1000 * 1000};
  unsigned long before, after;
  AWAIT(all_asleep(pool));
  do {
    before = switches_of(prefix);
    nanosleep(&window, NULL);
    after = switches_of(prefix);
  } while (before != after);
  CHECK(before > 0);
}

TEST(v20_idle_pool_sleeps) {
  static const weft_idle modes[] = {WEFT_IDLE_LOW_LATENCY, WEFT_IDLE_BALANCED,
                                    WEFT_IDLE_POWER_SAVING};
  for (unsigned i = 0; i < 3; i++) {
    for (unsigned threads = 1; threads <= 16; threads *= 4) {
      weft_config config = WEFT_CONFIG_INIT;
      config.threads = threads;
      config.idle = modes[i];
      config.name = "still";
      weft_pool *pool = pool_with(&config);
      check_tree_in(pool, 14);
      await_stillness(pool, "still-");
      weft_stats before = WEFT_STATS_INIT, after = WEFT_STATS_INIT;
      weft_pool_stats(pool, &before);
      await_stillness(pool, "still-");
      weft_pool_stats(pool, &after);
      CHECK_EQ(after.sleeps, before.sleeps);
      CHECK_EQ(after.wakes, before.wakes);
      weft_pool_destroy(pool);
    }
  }
}

#endif

/* ---- V24: the invariant of the counters, watched during real runs ---- */

typedef struct watched {
  weft_pool *pool;
  atomic_uint busy;
} watched;

static void watch(const watched *w) {
  unsigned started = wf_pool_started(w->pool);
  unsigned long samples = 0;
  while (atomic_load(&w->busy) > 0) {
    /* In one group, which is read at one moment: with several, one that changes between
     * two reads may be counted twice. */
    unsigned sleeping = wf_sleep_sleeping(w->pool), inactive = 0;
    for (unsigned group = 0; group < w->pool->sleep.counters.groups; group++) {
      inactive = wf_u32_load_seq_cst(&w->pool->sleep.counters.of[group].x_inactive);
      CHECK_MSG(inactive <= least(started, WF_COUNTERS_GROUP + 1),
                "%u inactive in group %u", inactive, group);
    }
    CHECK_MSG(sleeping <= started, "%u sleeping, %u started", sleeping, started);
    if (++samples % 64 == 0) sched_yield();
  }
}

static void bursts(watched *w, unsigned index) {
  uint64_t random = harness_seed() + index;
  atomic_ulong ran = 0;
  unsigned long jobs = 0;
  for (unsigned long i = 0; i < scaled(5000); i++) {
    uint64_t choice = harness_random(&random);
    if (choice % 3 == 0) {
      CHECK_EQ(weft_pool_detach(w->pool, count_one, &ran), 0);
      jobs++;
    } else {
      check_tree_in(w->pool, (unsigned)(choice / 3 % 8));
    }
    for (uint64_t spins = choice / 64 % 2048; spins > 0; spins--) wf_sys_relax();
  }
  AWAIT(atomic_load(&ran) == jobs);
  atomic_fetch_sub(&w->busy, 1);
}

static void watch_and_work(unsigned index, void *arg) {
  if (index == 0)
    watch(arg);
  else
    bursts(arg, index);
}

TEST_LIMIT(v24_counters_stay_in_order, 120) {
  for (int i = 0; i < SCENE_COUNT; i += i == 6 ? 1 : 3) {
    unsigned threads = JECS[i] == NO_JEC ? 20 : i == 3 ? 8 : 3;
    watched w = {.pool = sleepy_pool_of(threads), .busy = 2};
    /* Nobody posts now, and sleepers only compare: another value may be put in. */
    AWAIT(all_asleep(w.pool));
    if (JECS[i] != NO_JEC)
      (void)wf_u32_exchange_seq_cst(&w.pool->sleep.counters.x_jec, (uint32_t)JECS[i]);
    harness_run_threads(3, watch_and_work, &w);
    /* At rest all are counted, none twice. */
    AWAIT(all_asleep(w.pool));
    CHECK_EQ(wf_counters_inactive(&w.pool->sleep.counters), wf_pool_started(w.pool));
    CHECK_EQ(wf_sleep_searching(w.pool), 0);
    CHECK(JECS[i] != NO_JEC || jec_of(w.pool) == 0);
    CHECK_EQ(wf_sleep_count(w.pool, WF_SLEEPER_HELPER), 0);
    CHECK_EQ(bits_in(w.pool, WF_SLEEPER_HELPER), 0);
    CHECK_EQ(bits_in(w.pool, WF_SLEEPER_CLOSED), 0);
    weft_pool_destroy(w.pool);
  }
}
