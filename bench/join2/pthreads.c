/* join2/pthreads.c - P4: the same two tasks on two bare threads: what the machine gives.
 *
 * The second thread exists already. After a task it watches for the next one for about
 * 100 us and then sleeps on a futex, so the join that follows another at once finds it
 * awake and the one after a rest finds it asleep.
 *
 * Usage: join2_pthreads [samples]
 *
 * SPDX-License-Identifier: MIT */
#include "join2.h"
#include <pthread.h>

enum { EMPTY, POSTED, DONE, QUIT };
enum { WATCH_NS = 100000 };

static uint32_t state;
static half *posted;

static void *helper(void *arg) {
  (void)arg;
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

static void share(half *a, half *b) {
  posted = b;
  __atomic_store_n(&state, POSTED, __ATOMIC_SEQ_CST);
  bench_futex_wake(&state);
  run_half(a);
  while (__atomic_load_n(&state, __ATOMIC_ACQUIRE) != DONE) {
  }
}

int main(int argc, char **argv) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, helper, NULL) != 0) return 2;
  join2_measure("pthreads-awake", share, "pthreads-asleep", share,
                bench_arg(argc, argv, 1, 60));
  __atomic_store_n(&state, QUIT, __ATOMIC_SEQ_CST);
  bench_futex_wake(&state);
  pthread_join(thread, NULL);
  return 0;
}
