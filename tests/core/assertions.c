/* The assertions themselves: a debug build ends with the message where an invariant is
 * broken, a release does not even look. Each broken invariant runs in a process of its
 * own.
 *
 * SPDX-License-Identifier: MIT */
#include "core/arena.h"
#include "core/assert.h"
#include "core/counters.h"
#include "core/deque.h"
#include "core/injector.h"
#include "core/latch.h"
#include "core/lock.h"
#include "core/rng.h"
#include "harness/harness.h"

#include <signal.h>
#include <string.h>

static unsigned looks;

static bool look(bool answer) {
  looks++;
  return answer;
}

TEST(a_release_does_not_evaluate_the_condition_and_a_debug_build_does_once) {
  CHECK(look(true));
  CHECK_EQ(looks, 1);
  looks = 0;
  WF_ASSERT(look(true));
  WF_ASSERT_SLOW(look(true));
#ifdef WEFT_DEBUG
  CHECK_EQ(looks, 2);
#else
  WF_ASSERT(look(false));
  WF_ASSERT_SLOW(look(false));
  CHECK_EQ(looks, 0);
#endif
}

TEST(a_condition_is_one_argument_whatever_its_operators) {
  int a = 1, b = 2;
  WF_ASSERT(a == 1 || b == 1);
  if (a == 1)
    WF_ASSERT(b == 2);
  else
    CHECK(false);
}

#ifdef WEFT_DEBUG

/* ---- what breaks, by name ---- */

static void do_nothing(void *ctx) {
  (void)ctx;
}

TEST_BY_NAME(lock_released_twice) {
  wf_lock lock = {{WF_LOCK_FREE}};
  wf_lock_lock(&lock);
  wf_lock_unlock(&lock);
  wf_lock_unlock(&lock);
}

TEST_BY_NAME(lock_acquired_twice) {
  wf_lock lock = {{WF_LOCK_FREE}};
  wf_lock_lock(&lock);
  wf_lock_lock(&lock);
}

static void unlock_it(unsigned index, void *arg) {
  if (index == 1) wf_lock_unlock((wf_lock *)arg);
}

TEST_BY_NAME(lock_released_by_another_thread) {
  wf_lock lock = {{WF_LOCK_FREE}};
  wf_lock_lock(&lock);
  harness_run_threads(2, unlock_it, &lock);
}

TEST_BY_NAME(latch_set_twice) {
  wf_latch latch;
  wf_latch_init(&latch);
  wf_latch_set(&latch);
  wf_latch_set(&latch);
}

TEST_BY_NAME(latch_asleep_without_being_sleepy) {
  wf_latch latch;
  wf_latch_init(&latch);
  (void)wf_latch_fall_asleep(&latch);
}

TEST_BY_NAME(latch_with_two_thieves) {
  wf_latch latch;
  wf_latch_init(&latch);
  (void)wf_latch_note_thief(&latch, 1);
  (void)wf_latch_note_thief(&latch, 2);
}

TEST_BY_NAME(counted_off_twice) {
  wf_count_latch latch;
  wf_count_latch_init(&latch, 1);
  (void)wf_count_latch_count_off(&latch);
  (void)wf_count_latch_count_off(&latch);
}

TEST_BY_NAME(asleep_without_having_announced) {
  static wf_counters counters;
  (void)wf_counters_has_moved(&counters, 1); /* what announce returns is even */
}

/* Another group's worker does not do. */
TEST_BY_NAME(busy_without_having_been_idle) {
  static wf_counters counters;
  wf_counters_init(&counters, 9);
  wf_counters_add_inactive(&counters, 1);
  wf_counters_sub_inactive(&counters, 0);
}

TEST_BY_NAME(cell_given_back_twice) {
  _Alignas(WF_CACHE_LINE) static wf_arena arena;
  wf_cell *cell = wf_arena_take(&arena, 0);
  wf_cell_give_back(cell, &arena);
  wf_cell_give_back(cell, &arena);
}

TEST_BY_NAME(entry_revoked_twice) {
  wf_injector injector;
  wf_receipt receipts[2];
  wf_injector_init(&injector, 0);
  for (int i = 0; i < 2; i++)
    (void)wf_injector_push(&injector, do_nothing, NULL, &receipts[i]);
  (void)wf_injector_revoke(&injector, &receipts[1]);
  (void)wf_injector_revoke(&injector, &receipts[1]);
}

static wf_task tasks[2];

/* A deque with a private task, whose pins are open. */
static void make_deque(wf_deque *deque) {
  wf_deque_news news;
  wf_deque_init(deque, 8, 0, false);
  (void)wf_deque_prepare(deque);
  for (int i = 0; i < 2; i++)
    if (wf_deque_push(deque, &tasks[i])) (void)wf_deque_fork_slow(deque, &news);
}

TEST_BY_NAME(split_above_bottom) {
  wf_deque deque;
  wf_deque_news news;
  make_deque(&deque);
  wf_u64_store_relaxed(&deque.x_split, 7);
  (void)wf_deque_fork_slow(&deque, &news);
}

TEST_BY_NAME(gate_away_from_split) {
  wf_deque deque;
  make_deque(&deque);
  wf_u64_store_relaxed(&deque.x_split, 2);
  wf_lock_lock(&deque.lock);
  wf_deque_check(&deque);
}

TEST_BY_NAME(deque_checked_without_its_lock) {
  wf_deque deque;
  make_deque(&deque);
  wf_deque_check(&deque);
}

TEST_BY_NAME(random_numbers_below_zero) {
  wf_rng rng;
  wf_rng_seed(&rng, 1);
  (void)wf_rng_bounded(&rng, 0);
}

/* ---- and that each is noticed ---- */

static void check_aborts(const char *test, const char *condition) {
  char output[8192], expected[256];
  int status = harness_run_self("ulimit -c 0;", test, output, sizeof output);
  (void)snprintf(expected, sizeof expected, "invariant broken: %s", condition);
  CHECK_MSG(status == 128 + SIGABRT, "%s: status %d", test, status);
  CHECK_MSG(strstr(output, expected) != NULL, "%s: %s", test, output);
}

TEST(a_broken_invariant_ends_the_program_with_its_condition) {
  check_aborts("lock_released_twice", "wf_lock_is_held(lock)");
  check_aborts("lock_acquired_twice", "!wf_lock_is_held(lock)");
  check_aborts("lock_released_by_another_thread", "wf_lock_is_held(lock)");
  check_aborts("latch_set_twice", "wf_latch_state_in(old) != WF_LATCH_SET");
  check_aborts("latch_asleep_without_being_sleepy", "wf_latch_peek(");
  check_aborts("latch_with_two_thieves", "wf_latch_thief_in(word) < 0");
  check_aborts("counted_off_twice", "old > 0");
  check_aborts("asleep_without_having_announced", "(jec & 1) == 0");
  check_aborts("busy_without_having_been_idle", "old > 0");
  check_aborts("cell_given_back_twice", "(cell->home & WF_CELL_FREE) == 0");
  check_aborts("entry_revoked_twice", "receipt->entry->fn != NULL");
  check_aborts("split_above_bottom", "ordered(split, index)");
  check_aborts("gate_away_from_split", "gate == pin_at(");
  check_aborts("deque_checked_without_its_lock", "wf_lock_is_held(&deque->lock)");
  check_aborts("random_numbers_below_zero", "bound >= 1");
}

#endif
