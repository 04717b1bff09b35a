/* Signals: they reach the program's own threads and never one that weft has started, and
 * work that they interrupt a thousand times a second gives the same results.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "signal_support.h"

#include <dirent.h>
#include <sys/syscall.h>

/* The work goes on until this number of signals has arrived. All go to the main thread,
 * because all other threads block them. */
static sig_atomic_t enough_signals(void) {
  return 500 / (sig_atomic_t)harness_slowdown() + 10;
}

static void work_under_signals(weft_pool *pool) {
  started_threads = wf_pool_started(pool);
  for (int restart = 0; restart <= 1; restart++) {
    signals_start(restart ? SA_RESTART : 0);
    while (handled < enough_signals()) {
      CHECK(everything_is_right_in(pool));
      pair_in(pool);
    }
    signals_stop();
  }
}

TEST(signals_at_a_thousand_a_second) {
  weft_pool *pool = pool_of(3);
  work_under_signals(pool);
  weft_pool_destroy(pool);
}

/* Every wait becomes a sleep, which the signals interrupt. */
TEST(signals_while_threads_sleep_and_wake) {
  weft_pool *pool = sleepy_pool_of(4);
  work_under_signals(pool);
  weft_pool_destroy(pool);
}

TEST(signals_while_the_only_thread_works) {
  started_threads = 1;
  weft_pool *pool = pool_of(1);
  for (int restart = 0; restart <= 1; restart++) {
    signals_start(restart ? SA_RESTART : 0);
    while (handled < enough_signals()) CHECK(everything_is_right_in(pool));
    signals_stop();
  }
  weft_pool_destroy(pool);
}

/* The threads are made while signals arrive: there is no moment in which one is open. */
TEST(signals_while_pools_come_and_go) {
  started_threads = 3;
  signals_start(0);
  while (handled < enough_signals()) {
    weft_pool *pool = pool_of(4);
    atomic_ulong ran = 0;
    for (int i = 0; i < 10; i++) CHECK_EQ(weft_pool_detach(pool, count_one, &ran), 0);
    check_tree_in(pool, 5);
    weft_pool_destroy(pool);
    CHECK_EQ(atomic_load(&ran), 10);
  }
  signals_stop();
}

/* A program may open the threads of its pools for signals, in a hook. */
TEST(signals_to_any_worker) {
  for (int restart = 0; restart <= 1; restart++)
    interrupt_workers((unsigned)enough_signals(), restart ? SA_RESTART : 0);
}

/* ---- signals for single threads ---- */

enum { TARGETS = 4 };

typedef struct targets {
  weft_pool *pool;
  pthread_t threads[TARGETS];
  atomic_uint ready, left;
} targets;

/* A signal that comes before the thread has marked itself would count as strayed. */
static void set_own_mask(int how) {
  sigset_t used;
  sigemptyset(&used);
  sigaddset(&used, SIGALRM);
  sigaddset(&used, SIGUSR1);
  sigaddset(&used, SIGUSR2);
  REQUIRE(pthread_sigmask(how, &used, NULL) == 0);
}

static void *work_as_target(void *arg) {
  targets *all = arg;
  is_mine = true;
  set_own_mask(SIG_UNBLOCK);
  atomic_fetch_add(&all->ready, 1);
  for (unsigned long i = 0; i < scaled(300); i++) {
    everything_is_right_in(all->pool);
    pair_in(all->pool);
  }
  atomic_fetch_sub(&all->left, 1);
  return NULL;
}

/* Callers of a pool are interrupted wherever they are, asleep too, one after the other.
 */
TEST(signals_for_single_callers) {
  for (int restart = 0; restart <= 1; restart++) {
    targets all = {.pool = sleepy_pool_of(3), .left = TARGETS};
    started_threads = 2;
    signals_start(restart ? SA_RESTART : 0);
    set_own_mask(SIG_BLOCK);
    for (int i = 0; i < TARGETS; i++)
      REQUIRE(pthread_create(&all.threads[i], NULL, work_as_target, &all) == 0);
    set_own_mask(SIG_UNBLOCK);
    AWAIT(atomic_load(&all.ready) == TARGETS);
    unsigned long sent = 0;
    for (; atomic_load(&all.left) > 0; sent++) {
      pthread_kill(all.threads[sent % TARGETS], SIGUSR2); /* it may have ended */
      sched_yield();
    }
    for (int i = 0; i < TARGETS; i++) pthread_join(all.threads[i], NULL);
    signals_stop();
    CHECK(sent > 0);
    weft_pool_destroy(all.pool);
  }
}

/* ---- the masks, as the kernel sees them ---- */

/* The signals that a thread blocks; all of them if it is gone by now. */
static uint64_t blocked_mask(const char *tid) {
  char path[320], line[256];
  unsigned long long mask = ~0ull;
  snprintf(path, sizeof path, "/proc/self/task/%s/status", tid);
  FILE *file = fopen(path, "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL)
    if (sscanf(line, "SigBlk: %llx", &mask) == 1) break;
  if (file != NULL) fclose(file);
  return mask;
}

/* Checks every thread of the process but the calling one; how many were there? */
static unsigned check_masks(void) {
  static const int wanted[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE,
                               SIGALRM, SIGTERM, SIGCHLD, SIGCONT, SIGTSTP, SIGWINCH};
  unsigned seen = 0;
  DIR *tasks = opendir("/proc/self/task");
  REQUIRE(tasks != NULL);
  for (struct dirent *entry; (entry = readdir(tasks)) != NULL;) {
    if (entry->d_name[0] == '.') continue;
    if (strtol(entry->d_name, NULL, 10) == syscall(SYS_gettid)) continue;
    uint64_t mask = blocked_mask(entry->d_name);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
      CHECK_MSG(mask >> (wanted[i] - 1) & 1u, "thread %s does not block signal %d",
                entry->d_name, wanted[i]);
    seen++;
  }
  closedir(tasks);
  return seen;
}

TEST(started_threads_block_all_signals) {
  unsigned others = check_masks(); /* the watchdog's, and perhaps a sanitizer's */
  weft_pool *pool = pool_of(5);
  CHECK_EQ(check_masks(), others + 4);
  everything_is_right();
  CHECK_EQ(check_masks(), others + 4 + wf_pool_started(weft_pool_current()));
  weft_shutdown();
  weft_pool_destroy(pool);
}

/* A section that blocks until it is told to go on. */
typedef struct section {
  atomic_uint inside;
  atomic_bool go_on;
} section;

static void block_in_section(void *ctx) {
  section *shared = ctx;
  weft_blocking_begin();
  atomic_fetch_add(&shared->inside, 1);
  AWAIT(atomic_load(&shared->go_on));
  weft_blocking_end();
}

/* With the first two in blocking sections, the jobs behind them need stand-ins. */
static void check_stand_ins(int flags) {
  section shared = {.inside = 0};
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = 3;
  config.blocking = 4;
  unsigned others = check_masks();
  weft_pool *pool = pool_with(&config);
  started_threads = 2;
  signals_start(flags);
  for (int i = 0; i < 4; i++)
    CHECK_EQ(weft_pool_detach(pool, block_in_section, &shared), 0);
  AWAIT(atomic_load(&shared.inside) == 4); /* on four threads at once */
  CHECK(check_masks() >= others + 4);
  while (handled < enough_signals()) check_tree_in(pool, 6);
  atomic_store(&shared.go_on, true);
  check_tree_in(pool, 8);
  signals_stop();
  weft_pool_destroy(pool);
}

TEST(stand_ins_block_all_signals) {
  check_stand_ins(0);
  check_stand_ins(SA_RESTART);
}

/* ---- the program's own masks stay as they are ---- */

static void check_own_mask(void *ctx) {
  sigset_t now;
  REQUIRE(pthread_sigmask(SIG_SETMASK, NULL, &now) == 0);
  for (int i = 1; i < SIGRTMIN; i++)
    CHECK_EQ(sigismember(&now, i), sigismember((const sigset_t *)ctx, i));
}

TEST(masks_of_callers_are_left_alone) {
  sigset_t before, mine;
  REQUIRE(pthread_sigmask(SIG_SETMASK, NULL, &before) == 0);
  sigemptyset(&mine);
  sigaddset(&mine, SIGUSR2);
  sigaddset(&mine, SIGHUP);
  REQUIRE(pthread_sigmask(SIG_SETMASK, &mine, NULL) == 0);
  weft_pool *pool = pool_of(3);
  check_own_mask(&mine);
  weft_pool_run(pool, check_own_mask, &mine);
  everything_is_right_in(pool);
  check_own_mask(&mine);
  everything_is_right();
  weft_shutdown();
  weft_pool_destroy(pool);
  check_own_mask(&mine);
  REQUIRE(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
}
