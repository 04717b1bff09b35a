/* signal_support.h - a thousand signals a second: for the process, and for any one of a
 * pool's threads.
 *
 * Include it first, with _GNU_SOURCE defined before.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_PROCESS_SIGNAL_SUPPORT_H
#define TESTS_PROCESS_SIGNAL_SUPPORT_H

#include "support.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

/* ---- who handles ---- */

/* Set by every thread of the test; a thread without it belongs to somebody else. */
static __thread volatile bool is_mine;

/* Plain words, one set per thread, and no atomics: ThreadSanitizer takes an atomic access
 * as an occasion to deliver the next signal, which in a handler leaves its thread with
 * all signals blocked. */
static __thread volatile sig_atomic_t handled; /* by this thread */
static volatile sig_atomic_t handled_wrongly;  /* by one that should not; 0 or 1 */
static unsigned started_threads; /* of the pools here: their numbers are 1 to this */

/* The number is a thread-local word of weft's. */
static inline void handle(int signal_number) {
  (void)signal_number;
  int index = weft_worker_index();
  if (!is_mine || (index >= 1 && index <= (int)started_threads)) handled_wrongly = 1;
  handled++;
}

static inline void set_handler(int signal_number, int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handle;
  action.sa_flags = flags;
  sigemptyset(&action.sa_mask);
  REQUIRE(sigaction(signal_number, &action, NULL) == 0);
}

/* ---- a thousand signals a second ---- */

enum { SIGNAL_PERIOD_US = 1000 };

static timer_t user_timer;

/* SIGALRM from one timer and SIGUSR1 from another, both for the whole process. */
static inline void signals_start(int flags) {
  is_mine = true;
  handled = handled_wrongly = 0;
  set_handler(SIGALRM, flags);
  set_handler(SIGUSR1, flags);
  set_handler(SIGUSR2, flags);

  struct itimerval alarms;
  memset(&alarms, 0, sizeof alarms);
  alarms.it_interval.tv_usec = alarms.it_value.tv_usec = SIGNAL_PERIOD_US;
  REQUIRE(setitimer(ITIMER_REAL, &alarms, NULL) == 0);

  struct sigevent event;
  memset(&event, 0, sizeof event);
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGUSR1;
  REQUIRE(timer_create(CLOCK_MONOTONIC, &event, &user_timer) == 0);
  struct itimerspec often;
  memset(&often, 0, sizeof often);
  often.it_interval.tv_nsec = often.it_value.tv_nsec = SIGNAL_PERIOD_US * 1000L;
  REQUIRE(timer_settime(user_timer, 0, &often, NULL) == 0);
}

static inline void signals_stop(void) {
  struct itimerval none;
  memset(&none, 0, sizeof none);
  REQUIRE(setitimer(ITIMER_REAL, &none, NULL) == 0);
  REQUIRE(timer_delete(user_timer) == 0);
  /* One that was sent before is on its way to a thread of the test; the handlers stay. */
  CHECK_EQ(handled_wrongly, 0);
}

/* ---- signals for any worker ---- */

/* Threads of a pool that a hook has opened for SIGUSR2, and who they are. */
typedef struct open_workers {
  pid_t ids[8];
  atomic_uint count; /* of those that have come */
  atomic_bool over;
  uint64_t random;
} open_workers;

static atomic_ulong worker_signals; /* handled by workers; a lock-free add is all */

static inline void handle_on_worker(int signal_number) {
  (void)signal_number;
  if (weft_worker_index() >= 1) atomic_fetch_add(&worker_signals, 1);
}

static inline void open_for_signals(unsigned worker, void *ctx) {
  open_workers *open = ctx;
  sigset_t one;
  REQUIRE(worker >= 1 && worker <= 8);
  sigemptyset(&one);
  sigaddset(&one, SIGUSR2);
  REQUIRE(pthread_sigmask(SIG_UNBLOCK, &one, NULL) == 0);
  open->ids[worker - 1] = (pid_t)syscall(SYS_gettid);
  atomic_fetch_add(&open->count, 1);
}

/* On a thread of its own: a signal each millisecond, to a worker of its choice. */
static inline void *send_to_workers(void *arg) {
  open_workers *open = arg;
  const struct timespec period = {0, SIGNAL_PERIOD_US * 1000};
  while (!atomic_load(&open->over)) {
    const unsigned place =
        (unsigned)(harness_random(&open->random) % atomic_load(&open->count));
    syscall(SYS_tgkill, getpid(), open->ids[place], SIGUSR2);
    nanosleep(&period, NULL);
  }
  return NULL;
}

/* Work in a sleepy pool until its workers have been interrupted so often. */
static inline void interrupt_workers(unsigned long times, int flags) {
  if (THREAD_SANITIZED) { /* see above: handlers must not touch atomics there */
    printf("skipped: ThreadSanitizer delays signals to the next atomic access\n");
    return;
  }
  open_workers open = {.random = harness_seed()};
  struct sigaction action;
  pthread_t sender;
  memset(&action, 0, sizeof action);
  action.sa_handler = handle_on_worker;
  action.sa_flags = flags;
  sigemptyset(&action.sa_mask);
  REQUIRE(sigaction(SIGUSR2, &action, NULL) == 0);

  weft_config config = WEFT_CONFIG_INIT;
  config.threads = 4;
  config.idle = WEFT_IDLE_POWER_SAVING;
  config.blocking = WEFT_NO_BLOCKING;
  config.on_start = open_for_signals;
  config.hook_ctx = &open;
  weft_pool *pool = pool_with(&config);
  AWAIT(atomic_load(&open.count) == 3);
  atomic_store(&worker_signals, 0);
  REQUIRE(pthread_create(&sender, NULL, send_to_workers, &open) == 0);
  while (atomic_load(&worker_signals) < times) {
    CHECK(everything_is_right_in(pool));
    pair_in(pool);
  }
  atomic_store(&open.over, true);
  pthread_join(sender, NULL);
  weft_pool_destroy(pool);
}

#endif
