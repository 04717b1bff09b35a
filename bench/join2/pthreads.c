/* join2/pthreads.c - P4: the same two tasks on two bare threads: what the machine gives.
 *
 * The second thread exists already. After a task it watches for the next one for about
 * 100 us and then sleeps on a futex, so a join that follows another at once finds it
 * awake and one after a rest finds it asleep. Before each join the CPU that the caller is
 * on is taken out of its mask, so that it is woken on another one.
 *
 * Usage: join2_pthreads [task_us [rest_ms [samples]]]
 *
 * SPDX-License-Identifier: MIT */
#include "join2.h"
#include <pthread.h>

enum { EMPTY, POSTED, DONE, QUIT };
enum { WATCH_NS = 100000 };

static uint32_t state;
static half *posted;
static long helper_number;

static void *helper(void *arg) {
  (void)arg;
  __atomic_store_n(&helper_number, bench_thread_number(), __ATOMIC_RELEASE);
  double idle_since = bench_now_ns();
  for (;;) {
    uint32_t now = __atomic_load_n(&state, __ATOMIC_ACQUIRE);
    if (now == QUIT) return NULL;
    if (now == POSTED) {
      run_half(posted);
      __atomic_store_n(&state, DONE, __ATOMIC_RELEASE);
      idle_since = bench_now_ns();
    } else if (bench_now_ns() - idle_since > WATCH_NS) {
      bench_futex_wait(&state, now);
    }
  }
}

/* The mask is set within the time: who wants to steer has to do it. */
static void share(half *a, half *b) {
  posted = b;
  bench_keep_off_this_cpu(helper_number);
  __atomic_store_n(&state, POSTED, __ATOMIC_SEQ_CST);
  bench_futex_wake(&state);
  run_half(a);
  while (__atomic_load_n(&state, __ATOMIC_ACQUIRE) != DONE) {
  }
}

int main(int argc, char **argv) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, helper, NULL) != 0) return 2;
  while (__atomic_load_n(&helper_number, __ATOMIC_ACQUIRE) == 0) bench_sleep_us(100);
  join2_measure("pthreads", share, argc, argv, 1);
  __atomic_store_n(&state, QUIT, __ATOMIC_SEQ_CST);
  bench_futex_wake(&state);
  pthread_join(thread, NULL);
  return 0;
}
