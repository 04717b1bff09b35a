/* Signals for minutes: a thousand a second to the program and to any worker, and a
 * process that is stopped and continued all the time.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "process/signal_support.h"

/* A minute of a thousand a second. */
static unsigned long many(void) {
  return 60000 / harness_slowdown();
}

TEST_LIMIT(signals_to_any_worker, 900) {
  interrupt_workers(many(), 0);
  interrupt_workers(many(), SA_RESTART);
}

TEST_LIMIT(signals_to_the_program, 900) {
  weft_pool *pool = sleepy_pool_of(4);
  started_threads = wf_pool_started(pool);
  for (int restart = 0; restart <= 1; restart++) {
    signals_start(restart ? SA_RESTART : 0);
    while ((unsigned long)handled < many()) {
      CHECK(everything_is_right_in(pool));
      pair_in(pool);
    }
    signals_stop();
  }
  weft_pool_destroy(pool);
}

/* Stops the parent for a millisecond or two and lets it go on for as long; ends with it.
 */
static void stop_and_continue(pid_t parent, unsigned times) {
  const struct timespec pause = {0, 1500 * 1000};
  for (unsigned i = 0; i < times && getppid() == parent; i++) {
    kill(parent, SIGSTOP);
    nanosleep(&pause, NULL);
    kill(parent, SIGCONT);
    nanosleep(&pause, NULL);
  }
}

TEST_LIMIT(stopped_and_continued, 900) {
  const pid_t parent = getpid();
  const unsigned times = 20000 / harness_slowdown();
  weft_pool *pool = sleepy_pool_of(4);
  fflush(NULL);
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    stop_and_continue(parent, times);
    _exit(0);
  }
  unsigned long rounds = 0;
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    CHECK(everything_is_right_in(pool));
    pair_in(pool);
    rounds++;
  }
  CHECK_EQ(status, 0);
  CHECK(rounds > 0);
  printf("  stopped %u times, %lu rounds of work\n", times, rounds);
  weft_pool_destroy(pool);
}
