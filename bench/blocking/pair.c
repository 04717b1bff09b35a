/* blocking/pair.c - what an empty blocking section costs: weft_blocking_begin and, at
 * once, weft_blocking_end.
 *
 * On a thread from outside that takes part in the pool (guest) and on a started one
 * (worker); while the other threads of the pool sleep (idle) and while each of them
 * computes (busy), so that the section has to bring in one more. On two CPUs that one
 * competes with those that are there.
 *
 * Usage: blocking_pair [threads]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"

enum { PAIRS = 1000, SETTLE_US = 20000 };

static long pairs(long n) {
  for (long i = 0; i < n; i++) {
    weft_blocking_begin();
    weft_blocking_end();
  }
  return n;
}

/* ---- the other threads of the pool ---- */

static unsigned occupied, released;
static uint32_t release;

/* Keeps the thread that runs it busy until it is released. */
static void occupy(void *ctx) {
  (void)ctx;
  uint64_t seed = 1;
  __atomic_fetch_add(&occupied, 1, __ATOMIC_SEQ_CST);
  while (__atomic_load_n(&release, __ATOMIC_RELAXED) == 0) seed = bench_spin(seed, 100);
  BENCH_FORGET(seed);
  __atomic_fetch_add(&released, 1, __ATOMIC_SEQ_CST);
}

static void await(const unsigned *count, unsigned wanted) {
  while (__atomic_load_n(count, __ATOMIC_SEQ_CST) < wanted) bench_sleep_us(100);
}

/* ---- the measuring thread ---- */

typedef struct job {
  const char *who;
  unsigned others; /* threads that must be occupied before the clock starts */
  uint32_t done;
} job;

static void measure(void *ctx) {
  job *j = (job *)ctx;
  await(&occupied, j->others);
  bench_samples times = bench_sample(j->who, pairs, PAIRS, PAIRS, PAIRS);
  for (size_t i = 0; i < times.count; i++) times.values[i] /= PAIRS;
  bench_print_times(j->who, &times);
  free(times.values);
  __atomic_store_n(&release, 1, __ATOMIC_SEQ_CST);
  __atomic_store_n(&j->done, 1, __ATOMIC_RELEASE);
  bench_futex_wake(&j->done);
}

static void detach(weft_fn *fn, void *ctx) {
  bench_check("weft", (uint64_t)weft_detach(fn, ctx), 0);
}

static void run(const char *who, bool on_worker, unsigned others) {
  job j = {who, others, 0};
  occupied = released = release = 0;
  bench_sleep_us(SETTLE_US);
  /* One of the others is the main thread, if it is not the measuring one. */
  for (unsigned i = on_worker ? 1 : 0; i < others; i++) detach(occupy, NULL);
  if (!on_worker) {
    weft_pool_run(NULL, measure, &j);
  } else {
    detach(measure, &j);
    if (others != 0) weft_pool_run(NULL, occupy, NULL);
    while (__atomic_load_n(&j.done, __ATOMIC_ACQUIRE) == 0) bench_futex_wait(&j.done, 0);
  }
  await(&released, others);
}

int main(int argc, char **argv) {
  long threads = bench_arg(argc, argv, 1, 2);
  if (threads < 2) threads = 2;
  bench_weft_start(threads);
  unsigned others = (unsigned)threads - 1;
  run("weft-guest-idle", false, 0);
  run("weft-worker-idle", true, 0);
  run("weft-guest-busy", false, others);
  run("weft-worker-busy", true, others);
  bench_passed(PAIRS);
  weft_shutdown();
  return 0;
}
