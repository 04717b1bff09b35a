/* fault/drive.h - runs scenarios with faults. Each fault strikes the k-th call of its
 * kind, once and from then on, for k = 1, 2, ... until the scenario makes fewer than k
 * such calls. After each run the result must be a documented one; and when nothing fails
 * any more, the pool must work, end, and leave neither memory nor threads behind. The
 * watchdog of the harness ends a run that hangs.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_FAULT_DRIVE_H
#define TESTS_FAULT_DRIVE_H

#include "fault/scenarios_iter.h"
#include "fault/scenarios_par.h"
#include "fault/scenarios_pool.h"
#include "fault/scenarios_task.h"
#include "fault/scenarios_typed.h"

#include <limits.h>
#include <stdio.h>

#define LENGTH_OF(array) (sizeof(array) / sizeof(array)[0])

/* The tables one after the other. */
static const struct {
  const scenario *scenarios;
  unsigned count;
} TABLES[] = {
    {POOL_SCENARIOS, LENGTH_OF(POOL_SCENARIOS)},
    {TASK_SCENARIOS, LENGTH_OF(TASK_SCENARIOS)},
    {PAR_SCENARIOS, LENGTH_OF(PAR_SCENARIOS)},
    {ITER_SCENARIOS, LENGTH_OF(ITER_SCENARIOS)},
    {TYPED_SCENARIOS, LENGTH_OF(TYPED_SCENARIOS)},
};
enum {
  BEFORE_PAR = LENGTH_OF(POOL_SCENARIOS) + LENGTH_OF(TASK_SCENARIOS),
  SCENARIO_COUNT = BEFORE_PAR + LENGTH_OF(PAR_SCENARIOS) + LENGTH_OF(ITER_SCENARIOS) +
                   LENGTH_OF(TYPED_SCENARIOS)
};
_Static_assert(SCENARIO_COUNT >= 100, "many ways to use the library");

static inline const scenario *scenario_at(unsigned index) {
  unsigned table = 0;
  while (index >= TABLES[table].count) index -= TABLES[table++].count;
  return &TABLES[table].scenarios[index];
}

/* ---- one run ---- */

typedef struct inside_call {
  const scenario *s;
  weft_pool *pool;
  int status;
} inside_call;

static inline void run_inside_call(void *ctx) {
  inside_call *call = ctx;
  call->status = call->s->run(call->pool);
}

static inline int run_scenario(const scenario *s, weft_pool *pool) {
  inside_call call = {s, pool, WRONG};
  if (s->place == IN_POOL)
    weft_pool_run(pool, run_inside_call, &call);
  else
    run_inside_call(&call);
  return call.status;
}

/* The pool that the scenario is given, or the global one, or none. */
static inline weft_pool *pool_for(const scenario *s, const weft_config *config) {
  if (s->place == WITH_GLOBAL) REQUIRE(weft_init(config) == 0);
  return s->place == IN_POOL || s->place == AT_POOL ? pool_with(config) : NULL;
}

static inline bool is_documented(const scenario *s, const fault *f, bool struck,
                                 int status) {
  if (status == s->plain) return true;
  return struck && (fault_is_of_memory(f) || f->call == FAULT_MAP) &&
         (s->results & OR_ENOMEM) != 0 && status == WEFT_ENOMEM;
}

static unsigned long runs_made, runs_struck;

/* Returns true if the fault struck: the scenario has made at least `number` calls. */
static inline bool run_with_fault(const scenario *s, const fault *f, fault_when when,
                                  unsigned long number) {
  const weft_config config = small_config();
  const long blocks = memory_in_use();
  const unsigned threads = harness_thread_count();
  /* Only memory can keep a pool from being made, so only there it is made before. */
  if (!fault_is_of_memory(f)) faults_arm(f, when, number);
  weft_pool *pool = pool_for(s, &config);
  if (fault_is_of_memory(f)) faults_arm(f, when, number);
  const int status = run_scenario(s, pool);
  /* A clock must not keep anybody awake, whatever it says. */
  if (f->call == FAULT_CLOCK && pool != NULL) AWAIT(all_asleep(pool));
  const bool struck = faults_disarm() > 0;

  bool right = CHECK_MSG(is_documented(s, f, struck, status), "status %d", status);
  if (s->place == WITH_GLOBAL) right = CHECK(is_usable(NULL)) && right;
  if (pool != NULL) right = CHECK(is_usable(pool)) && right;
  weft_pool_destroy(pool);
  weft_shutdown(); /* without memory for a place, calls may have started it */
  right = CHECK_EQ(harness_thread_count(), threads) && right;
  right = CHECK_EQ(memory_in_use(), blocks) && right;
  if (!right)
    fprintf(stderr, "  in \"%s\" with %s, call %lu%s\n", s->name, f->name, number,
            when == FAULT_FROM ? " and all after it" : "");
  runs_made++;
  runs_struck += struck;
  return struck;
}

/* ---- many runs ---- */

/* How thorough: each number up to `dense`, then in growing steps, up to `last`. */
typedef struct pace {
  unsigned long dense, last;
} pace;

static inline void run_both_ways(const scenario *s, const fault *f, pace p) {
  if (f->call == FAULT_MEMORY_MAP && (s->results & OR_THE_END) != 0) return;
  for (int when = FAULT_ONCE; when <= FAULT_FROM; when++)
    for (unsigned long k = 1; k <= p.last; k += k < p.dense ? 1 : 1 + k / 2)
      if (!run_with_fault(s, f, (fault_when)when, k)) break;
}

/* Each call in turn from `from` to `last`, once, by one fault after the other: all
 * scenarios from number `first` up to `end`. */
static inline void run_in_turn(const fault *some, size_t count, unsigned first,
                               unsigned end, unsigned long from, unsigned long last) {
  unsigned long most = 0;
  runs_made = runs_struck = 0;
  for (unsigned i = first; i < end; i++) {
    unsigned long k = from;
    while (k <= last && run_with_fault(scenario_at(i), &some[k % count], FAULT_ONCE, k))
      k++;
    if (k > most) most = k;
  }
  printf("  %u scenarios, %lu runs, %lu of them struck, calls up to number %lu\n",
         end - first, runs_made, runs_struck, most - 1);
}

/* Every `step`-th scenario from `first` on. */
static inline void run_all(const fault *some, size_t count, unsigned first, unsigned step,
                           pace p) {
  unsigned scenarios = 0;
  runs_made = runs_struck = 0;
  for (unsigned i = first; i < SCENARIO_COUNT; i += step, scenarios++)
    for (size_t f = 0; f < count; f++) run_both_ways(scenario_at(i), &some[f], p);
  printf("  %u scenarios, %zu faults, %lu runs, %lu of them struck\n", scenarios, count,
         runs_made, runs_struck);
}

/* ---- the faults ---- */

static const fault MEMORY_FAULTS[] = {
    {"no memory", FAULT_MEMORY, ENOMEM},
    {"neither memory nor mappings", FAULT_MEMORY_MAP, ENOMEM},
};

/* Of those who ask for nothing else: tracks and files of traces. */
static const fault MAP_FAULTS[] = {
    {"no mappings (ENOMEM)", FAULT_MAP, ENOMEM},
};

static const fault THREAD_FAULTS[] = {
    {"no more threads (EAGAIN)", FAULT_THREAD, EAGAIN},
    {"no permission for threads (EPERM)", FAULT_THREAD, EPERM},
    {"no memory for threads (ENOMEM)", FAULT_THREAD, ENOMEM},
};

static const fault WAIT_FAULTS[] = {
    {"spurious wakes", FAULT_WAIT, 0},
    {"interrupted waits (EINTR)", FAULT_WAIT, EINTR},
    {"waits that say the word differs (EAGAIN)", FAULT_WAIT, EAGAIN},
    {"waits that are refused (ENOSYS)", FAULT_WAIT, ENOSYS},
};

static const fault CLOCK_FAULTS[] = {
    {"a clock that fails", FAULT_CLOCK, CLOCK_FAILS},
    {"a clock that stands still", FAULT_CLOCK, CLOCK_STANDS},
    {"a clock that is ahead", FAULT_CLOCK, CLOCK_AHEAD},
    {"a clock that is behind", FAULT_CLOCK, CLOCK_BACK},
};

static const fault AFFINITY_FAULTS[] = {
    {"an affinity mask that is too small (EINVAL)", FAULT_AFFINITY, EINVAL},
    {"no affinity mask (ENOSYS)", FAULT_AFFINITY, ENOSYS},
    {"no permission for the mask (EPERM)", FAULT_AFFINITY, EPERM},
};

static const fault BARRIER_FAULTS[] = {
    {"no permission for membarrier (EPERM)", FAULT_BARRIER, EPERM},
    {"no membarrier (ENOSYS)", FAULT_BARRIER, ENOSYS},
};

/* ---- the barrier: found out once per process, so each run has its own ---- */

/* Querying, registering and trying; what is refused later is a barrier that is needed. */
enum { BARRIER_SET_UP = 3 };

typedef struct barrier_run {
  const scenario *s;
  const fault *f;
  fault_when when;
  unsigned long number;
} barrier_run;

static inline bool run_in_own_process(void *arg) {
  const barrier_run *run = arg;
  /* The pool of the scenario is made with the fault under way. */
  faults_arm(run->f, run->when, run->number);
  const bool works = wf_sys_barrier_prepare();
  const unsigned long hits = faults_disarm();
  CHECK_EQ(hits > 0, !works);
  const weft_config config = small_config();
  weft_pool *pool = pool_for(run->s, &config);
  bool right = run_scenario(run->s, pool) == run->s->plain;
  if (pool != NULL) right = right && pool->eager == !works && is_usable(pool);
  weft_pool_destroy(pool);
  weft_shutdown();
  return right && (hits > 0) == !works;
}

/* The same with a pool that was made and used before. A scenario whose parts must overlap
 * has owners that come by, so it needs no take-over. */
static inline bool run_refused_later(void *arg) {
  const barrier_run *run = arg;
  const weft_config config = small_config();
  if (!wf_sys_barrier_prepare()) return true;
  faults_arm(run->f, FAULT_ONCE, ULONG_MAX); /* strikes nobody yet */
  weft_pool *pool = pool_for(run->s, &config);
  bool right = run_scenario(run->s, pool) == run->s->plain;
  faults_arm(run->f, run->when, run->number);
  right = run_scenario(run->s, pool) == run->s->plain && right;
  right = run_scenario(run->s, pool) == run->s->plain && right;
  (void)faults_disarm();
  if (pool != NULL) right = right && is_usable(pool);
  weft_pool_destroy(pool);
  weft_shutdown();
  return right;
}

static inline void run_with_barrier_refused_later(unsigned first, unsigned step) {
  unsigned long runs = 0;
  for (unsigned i = first; i < SCENARIO_COUNT; i += step)
    for (size_t f = 0; f < LENGTH_OF(BARRIER_FAULTS); f++)
      for (int when = FAULT_ONCE; when <= FAULT_FROM; when++)
        for (unsigned long k = 1; k <= 3; k++, runs++) {
          barrier_run run = {scenario_at(i), &BARRIER_FAULTS[f], (fault_when)when, k};
          const int code = run_child(run_refused_later, &run);
          CHECK_MSG(code == 0, "%s, %s later, call %lu: exit code %d", run.s->name,
                    run.f->name, k, code);
        }
  printf("  %lu runs\n", runs);
}

/* In a program that has not used weft yet. */
static inline void run_without_barrier(unsigned step) {
  unsigned long runs = 0;
  for (unsigned i = 0; i < SCENARIO_COUNT; i += step)
    for (size_t f = 0; f < LENGTH_OF(BARRIER_FAULTS); f++)
      for (int when = FAULT_ONCE; when <= FAULT_FROM; when++)
        for (unsigned long k = 1; k <= BARRIER_SET_UP; k++, runs++) {
          barrier_run run = {scenario_at(i), &BARRIER_FAULTS[f], (fault_when)when, k};
          const int code = run_child(run_in_own_process, &run);
          CHECK_MSG(code == 0, "%s, %s, call %lu: exit code %d", run.s->name, run.f->name,
                    k, code);
        }
  printf("  %lu runs\n", runs);
}

/* ---- calls that need no memory ---- */

/* Joins, loops, scopes without tasks and more ask for none once their threads have what
 * they need: the deques' rings, and the place of the caller. */
static inline void check_no_requests(unsigned times) {
  unsigned checked = 0;
  for (unsigned i = 0; i < SCENARIO_COUNT; i++) {
    const scenario *s = scenario_at(i);
    if (!s->no_requests) continue;
    weft_config config = small_config();
    config.deque_capacity = 0; /* large enough */
    weft_pool *pool = pool_for(s, &config);
    CHECK_EQ(run_scenario(s, pool), s->plain);
    refuse_memory(REFUSE_NONE, 0);
    for (unsigned round = 0; round < times; round++)
      CHECK_EQ(run_scenario(s, pool), s->plain);
    CHECK_MSG(memory_requests() == 0, "%s: %lu requests", s->name, memory_requests());
    weft_pool_destroy(pool);
    weft_shutdown();
    checked++;
  }
  printf("  %u scenarios\n", checked);
}

#endif
