/* Whom a loop wakes when others sleep: one thread at once, and as many as it can use in
 * one go when it is known to last. Wakes are counted, and held back where a thread that
 * comes would wake others itself.
 *
 * SPDX-License-Identifier: MIT */
/* link: -Wl,--wrap=wf_sys_wake_one -Wl,--wrap=wf_sys_wait */
#include "par/support.h"

#include "sched/pool.h"

#include <stdio.h>

enum { THREADS_IN_ALL = 9, SLEEPERS = THREADS_IN_ALL - 1 };

/* ---- wakes that are held back ---- */

enum { MOST_SLOTS = 256 };

static _Atomic(weft_pool *) pool;
static atomic_uint inside; /* threads that are in the wait below */
static atomic_uint let_through, wakes, wakes_by_leader;
static atomic_bool waits[MOST_SLOTS], is_held[MOST_SLOTS];
static _Thread_local bool is_leader;
static atomic_bool leader_is_inside; /* a block */
static atomic_bool is_watching;

void __real_wf_sys_wake_one(wf_u32 *word);
void __wrap_wf_sys_wake_one(wf_u32 *word);
void __real_wf_sys_wait(wf_u32 *word, uint32_t value);
void __wrap_wf_sys_wait(wf_u32 *word, uint32_t value);

static void pass_time(uint64_t ns) {
  for (uint64_t start = wf_sys_now_ns(); wf_sys_now_ns() - start < ns;) continue;
}

/* The worker that sleeps on this word, or -1. */
static int sleeper_of(const wf_u32 *word) {
  const weft_pool *of = pool;
  for (unsigned i = 0; of != NULL && i < of->slots; i++)
    if (word == &of->workers[i].x_park) return (int)i;
  return -1;
}

void __wrap_wf_sys_wait(wf_u32 *word, uint32_t value) {
  int sleeper = sleeper_of(word);
  if (sleeper >= 0) {
    atomic_store(&waits[sleeper], true);
    atomic_fetch_add(&inside, 1);
  }
  __real_wf_sys_wait(word, value);
  if (sleeper < 0) return;
  AWAIT(!atomic_load(&is_held[sleeper]));
  atomic_store(&waits[sleeper], false);
  atomic_fetch_sub(&inside, 1);
}

/* Of those that are held all but the first `let_through` wakes are only counted. */
void __wrap_wf_sys_wake_one(wf_u32 *word) {
  int sleeper = sleeper_of(word);
  if (sleeper >= 0 && atomic_load(&is_held[sleeper])) {
    unsigned number = atomic_fetch_add(&wakes, 1);
    if (is_leader) atomic_fetch_add(&wakes_by_leader, 1);
    if (number >= atomic_load(&let_through)) return;
    /* Who comes second sees a leader that has been in its block for long. */
    if (number > 0) {
      AWAIT(atomic_load(&leader_is_inside));
      pass_time(100000);
    }
    atomic_store(&is_held[sleeper], false);
  } else if (sleeper >= 0 && atomic_load(&is_watching)) {
    atomic_fetch_add(&wakes, 1); /* it came, found nothing yet and slept again */
  }
  __real_wf_sys_wake_one(word);
}

static void begin_watching(unsigned through) {
  AWAIT(all_asleep(pool) && atomic_load(&inside) == SLEEPERS);
  atomic_store(&wakes, 0);
  atomic_store(&wakes_by_leader, 0);
  atomic_store(&let_through, through);
  is_leader = true;
  for (unsigned i = 0; i < MOST_SLOTS; i++)
    atomic_store(&is_held[i], atomic_load(&waits[i]));
  atomic_store(&is_watching, true);
}

/* Those who were woken, and held back, are woken again; the others sleep on: one that is
 * on its way out of a wait and into the next could not be held. */
static void end_watching(void) {
  weft_pool *of = pool;
  is_leader = false;
  atomic_store(&is_watching, false);
  for (unsigned i = 0; i < of->slots; i++) {
    wf_u32 *word = &of->workers[i].x_park;
    bool was_woken = wf_u32_load_acquire(word) == 0;
    if (atomic_exchange(&is_held[i], false) && was_woken) __real_wf_sys_wake_one(word);
  }
}

/* ---- bodies ---- */

/* Each element takes so long, or longer. */
typedef struct pace {
  uint64_t ns;
} pace;

static void run_at_pace(size_t begin, size_t end, void *ctx) {
  const pace *p = ctx;
  for (size_t i = begin; i < end; i++) pass_time(p->ns);
}

/* Runs a loop from outside while all sleep, and nobody comes; returns the wakes. */
static unsigned wakes_of_loop(weft_opts opts, size_t n, uint64_t ns) {
  pace p = {ns};
  begin_watching(0);
  weft_for_with(&opts, n, run_at_pace, &p);
  unsigned count = atomic_load(&wakes);
  CHECK_EQ(atomic_load(&wakes_by_leader), count);
  end_watching();
  return count;
}

static weft_opts opts_of(int split) {
  weft_opts opts = WEFT_OPTS_INIT;
  opts.pool = pool;
  opts.split = (weft_split)split;
  if (split != WEFT_SPLIT_ADAPTIVE) opts.max_len = 1;
  return opts;
}

/* Every thread makes the pool known before it can sleep. */
static void note_pool(unsigned index, void *ctx) {
  (void)index, (void)ctx;
  pool = weft_pool_current();
}

static void open_pool(void) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = THREADS_IN_ALL;
  config.idle = WEFT_IDLE_POWER_SAVING;
  config.on_start = note_pool;
  weft_pool *opened = pool_with(&config);
  REQUIRE(opened->slots <= MOST_SLOTS);
  opened->options.cpus = THREADS_IN_ALL; /* as if all could run at once */
  opened->exceeds_cpus = false;
  pool = opened;
}

static void close_pool(void) {
  weft_pool *closed = pool;
  weft_pool_destroy(closed);
  pool = NULL;
  CHECK_EQ(atomic_load(&inside), 0);
}

/* The portable layer wakes all threads whose words share a bucket, and has no
 * process-wide barrier, so every fork is offered at once: then who is woken, and by whom,
 * is not exact. */
static bool wakes_are_exact(void) {
#ifdef WF_SYS_POSIX
  printf("skipped: the portable layer wakes more threads than it is asked to\n");
  return false;
#else
  if (wf_sys_barrier_prepare()) return true;
  printf("skipped: without the process-wide barrier every fork is public and wakes\n");
  return false;
#endif
}

TEST(a_short_loop_wakes_one) {
  open_pool();
  for (int split = WEFT_SPLIT_ADAPTIVE; split <= WEFT_SPLIT_RECURSIVE; split++) {
    weft_opts opts = opts_of(split);
    for (unsigned long round = 0; round < scaled(50); round++) {
      CHECK(wakes_of_loop(opts, 1, 0) <= 1);
      CHECK_EQ(wakes_of_loop(opts, 2, 0), 1);
    }
  }
  close_pool();
}

/* The leader alone wakes all of them, long before the loop ends. */
TEST(a_long_loop_wakes_all_at_once) {
  if (!wakes_are_exact()) return;
  open_pool();
  for (int split = WEFT_SPLIT_ADAPTIVE; split <= WEFT_SPLIT_RECURSIVE; split++) {
    weft_opts opts = opts_of(split);
    for (unsigned long round = 0; round < scaled(20); round++) {
      CHECK_EQ(wakes_of_loop(opts, 1000, 2000), SLEEPERS);
      CHECK_EQ(wakes_of_loop(opts, SLEEPERS + 2, 60000), SLEEPERS);
    }
  }
  close_pool();
}

/* After the first of n elements n - 1 are left, one of them for the leader itself. */
TEST(a_loop_wakes_no_more_than_it_can_use) {
  if (!wakes_are_exact()) return;
  open_pool();
  for (int split = WEFT_SPLIT_ADAPTIVE; split <= WEFT_SPLIT_RECURSIVE; split++) {
    weft_opts opts = opts_of(split);
    for (size_t n = 3; n < SLEEPERS + 2; n++)
      CHECK_EQ(wakes_of_loop(opts, n, 60000), n - 2);
  }
  close_pool();
}

TEST(a_limited_loop_wakes_its_crew) {
  if (!wakes_are_exact()) return;
  open_pool();
  weft_opts opts = opts_of(WEFT_SPLIT_ADAPTIVE);
  for (unsigned crew = 2; crew <= THREADS_IN_ALL; crew++) {
    opts.max_workers = crew;
    CHECK_EQ(wakes_of_loop(opts, 1000, 2000), crew - 1);
  }
  close_pool();
}

/* No element ends before all have been woken. So the first who comes wakes the next, as
 * always; and that one, who sees that the leader is in a long block, wakes all others. */
static void wait_for_all_wakes(size_t begin, size_t end, void *ctx) {
  (void)begin, (void)end, (void)ctx;
  if (is_leader) atomic_store(&leader_is_inside, true);
  AWAIT(atomic_load(&wakes) >= SLEEPERS);
}

TEST(who_comes_to_a_long_block_wakes_all_others) {
  if (!wakes_are_exact()) return;
  open_pool();
  for (int split = WEFT_SPLIT_ADAPTIVE; split <= WEFT_SPLIT_RECURSIVE; split++) {
    weft_opts opts = opts_of(split);
    for (unsigned long round = 0; round < scaled(50); round++) {
      atomic_store(&leader_is_inside, false);
      begin_watching(2);
      weft_for_with(&opts, THREADS_IN_ALL, wait_for_all_wakes, NULL);
      CHECK_EQ(atomic_load(&wakes_by_leader), 1);
      end_watching();
    }
  }
  close_pool();
}
