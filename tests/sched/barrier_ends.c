/* A program that enters a sandbox while its pools are at work: from then on a filter of
 * system calls refuses the process-wide barrier, in all threads or in one. The process
 * goes on: nobody takes over any more, sleepers look again after a while, and as soon as
 * the owners know of it every fork is public at once. The filter stays, so all this
 * happens in processes of its own.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "stress.h"

#include <stdio.h>
#include <string.h>

#if defined(__linux__) && !defined(WF_SYS_POSIX)

#include "harness/refused_call.h"

#include <errno.h>

static weft_pool *pool;

static bool is_sealed(const wf_deque *deque) {
  return (wf_deque_asked(deque) & WF_ASKED_STATE_MASK) == WF_ASKED_SEALED;
}

/* All threads sleep, and none of them with a time limit: nothing is unseen. */
static void check_at_rest(void) {
  AWAIT(all_asleep(pool));
  for (unsigned i = 0; i < pool->slots; i++) {
    if (!wf_bitset_has(pool->x_present, i)) continue;
    AWAIT(is_sealed(&pool->workers[i].deque) && is_sealed(&pool->workers[i].spawned));
  }
}

/* Used before the filter comes, so that the answer "it works" is known and acted on. */
static bool make_pool(unsigned threads) {
  pool = sleepy_pool_of(threads);
  if (pool->eager) {
    printf("skipped: there is no barrier here\n");
    weft_pool_destroy(pool);
    return false;
  }
  for (unsigned depth = 0; depth < 12; depth++) check_tree_in(pool, depth);
  weft_pool_run(pool, stress_handshake, NULL);
  CHECK(!wf_deque_is_eager(&pool->workers[0].deque));
  return true;
}

static bool refuse(int error, refused_for whom) {
  const bool refused = refuse_call(SYS_membarrier, error, whom);
  if (!refused) printf("skipped: system calls cannot be filtered here\n");
  return refused;
}

/* ---- refused in all threads ---- */

static uint64_t sleeps_of_pool(void) {
  weft_stats stats = {.struct_size = sizeof stats};
  weft_pool_stats(pool, &stats);
  return stats.sleeps;
}

/* A long function, which does not call weft: those who look for its private tasks are
 * refused, and then sleep and look in turns. */
static void compute_until_refused(void *ctx) {
  const wf_worker *self = wf_worker_now();
  (void)ctx;
  AWAIT(wf_deque_is_eager(&self->deque));
  const uint64_t before = sleeps_of_pool();
  AWAIT(sleeps_of_pool() >= before + 3);
}

static void fork_and_compute(void *ctx) {
  weft_join(compute_until_refused, NULL, count_one, ctx);
}

static void check_all_works_again(void) {
  for (unsigned i = 0; i < pool->slots; i++) {
    CHECK(wf_deque_is_eager(&pool->workers[i].deque));
    CHECK(wf_deque_is_eager(&pool->workers[i].spawned));
  }
  stress_pool(pool, scaled(500));
  check_at_rest();
  weft_pool_destroy(pool);
  CHECK(!wf_sys_barrier_prepare());
  pool = pool_of(2); /* made when it is known */
  CHECK(pool->eager);
  stress_pool(pool, scaled(100));
  weft_pool_destroy(pool);
}

static void run_refused_everywhere(int error) {
  if (!make_pool(3)) return;
  if (refuse(error, REFUSED_EVERYWHERE)) {
    atomic_ulong ran = 0;
    weft_pool_run(pool, fork_and_compute, &ran);
    CHECK_EQ(atomic_load(&ran), 1);
    check_all_works_again();
  } else {
    weft_pool_destroy(pool);
  }
}

TEST_BY_NAME(refused_with_eperm) {
  run_refused_everywhere(EPERM);
}

TEST_BY_NAME(refused_with_enosys) {
  run_refused_everywhere(ENOSYS);
}

TEST_BY_NAME(refused_with_enomem) {
  run_refused_everywhere(ENOMEM);
}

/* ---- refused in one thread ---- */

/* The caller is refused, and helps the thread of the pool; that one is not refused. */
static void fork_until_refused(void *ctx) {
  atomic_store((atomic_bool *)ctx, true);
  weft_join(do_nothing, NULL, do_nothing, NULL); /* its first fork is public anyway */
  atomic_ulong ran = 0;
  weft_join(compute_until_refused, NULL, count_one, &ran);
  CHECK_EQ(atomic_load(&ran), 1);
}

static void await_begin(void *ctx) {
  AWAIT(atomic_load((atomic_bool *)ctx));
}

static void wait_for_other(void *ctx) {
  weft_join(await_begin, ctx, fork_until_refused, ctx);
}

TEST_BY_NAME(refused_in_the_caller) {
  if (!make_pool(2)) return;
  if (refuse(EPERM, REFUSED_HERE)) {
    atomic_bool began = false;
    weft_pool_run(pool, wait_for_other, &began);
    check_all_works_again();
  } else {
    weft_pool_destroy(pool);
  }
}

/* ---- refused while everybody is at work ---- */

typedef struct storm {
  atomic_ulong detached;
  atomic_uint under_way;
} storm;

enum { CALLERS = 4, ROUNDS = 2000 };

static void be_busy_or_refuse(unsigned index, void *ctx) {
  storm *s = ctx;
  uint64_t random = harness_seed() + index;
  for (unsigned long i = 0; i < scaled(ROUNDS); i++) {
    if (index == 0 && i == scaled(ROUNDS) / 3) (void)refuse(EPERM, REFUSED_EVERYWHERE);
    check_tree_in(pool, (unsigned)(harness_random(&random) % 10));
    CHECK_EQ(weft_pool_detach(pool, count_one, &s->detached), 0);
  }
}

TEST_BY_NAME(refused_in_the_middle) {
  if (!make_pool(4)) return;
  storm s = {0};
  harness_run_threads(CALLERS, be_busy_or_refuse, &s);
  weft_pool_wait_idle(pool);
  CHECK_EQ(atomic_load(&s.detached), CALLERS * scaled(ROUNDS));
  check_at_rest();
  weft_pool_destroy(pool);
}

/* ---- in processes of their own ---- */

static void check_child(const char *test) {
  static char output[65536];
  int status = harness_run_self(NULL, test, output, sizeof output);
  CHECK_MSG(status == 0, "%s ended with %d: %s", test, status, output);
  const char *skipped = strstr(output, "skipped:");
  if (skipped != NULL) printf("%s", skipped);
}

TEST_LIMIT(a_filter_for_all_threads, 120) {
  check_child("refused_with_eperm");
  check_child("refused_with_enosys");
  check_child("refused_with_enomem");
}

TEST_LIMIT(a_filter_for_one_thread, 120) {
  check_child("refused_in_the_caller");
}

TEST_LIMIT(a_filter_in_the_middle_of_work, 120) {
  for (int i = 0; i < 5; i++) check_child("refused_in_the_middle");
}

#else

TEST(no_barrier_to_be_refused) {
  weft_pool *pool = pool_of(2);
  CHECK_EQ(pool->eager, !wf_sys_barrier_prepare());
  weft_pool_destroy(pool);
}

#endif
