/* museum/sleep.c - lost wake-ups: ways in which a worker has slept while work was queued.
 *
 * The pool of these exhibits is a count of queued jobs, a word that says who sleeps, and
 * a park word. A worker ends when it has run one job; each poster posts one. So a worker
 * that sleeps for ever is a deadlock.
 *
 * SPDX-License-Identifier: MIT */
#include "museum.h"

static wf_u32 x_jobs, x_mail, x_sleepers, x_key, x_done;

static void nothing_posted(void) {
  wf_u32_init(&x_jobs, 0);
  wf_u32_init(&x_mail, 0);
  wf_u32_init(&x_sleepers, 0);
  wf_u32_init(&x_key, 0);
  wf_u32_init(&x_done, 0);
}

static bool take(wf_u32 *queue) {
  uint32_t n = wf_u32_load_relaxed(queue);
  while (n > 0)
    if (wf_u32_cas_acquire(queue, &n, n - 1)) return true;
  return false;
}

static void wake_by_key(void) {
  wf_u32_fetch_add_seq_cst(&x_key, 1);
  wf_sys_wake_one(&x_key);
}

/* ---- the event counter that never moves ---- */

/* Both sides increment the counter if it is even, so after the first time nobody does,
 * and a worker on its way to sleep never notices that something was posted. */

enum { BOTH_MAKE_IT_ODD = 1 };

static wf_u64 x_counters; /* sleeping in the low half, event counter in the high half */
#define ONE_EVENT ((uint64_t)1 << 32)

static void counter_is_odd(void) {
  nothing_posted();
  wf_u64_init(&x_counters, ONE_EVENT);
}

/* Increments the event counter if its parity is the given one. */
static uint64_t flip_from(uint64_t parity) {
  uint64_t word = wf_u64_load_seq_cst(&x_counters);
  while ((word / ONE_EVENT) % 2 == parity)
    if (wf_u64_cas_seq_cst(&x_counters, &word, word + ONE_EVENT)) return word + ONE_EVENT;
  return word;
}

static bool register_sleeper(uint64_t announced) {
  uint64_t word = wf_u64_load_seq_cst(&x_counters);
  while (word / ONE_EVENT == announced / ONE_EVENT)
    if (wf_u64_cas_seq_cst(&x_counters, &word, word + 1)) return true;
  return false;
}

static void event_worker(void) {
  while (!take(&x_jobs)) {
    uint32_t key = wf_u32_load_acquire(&x_key);
    uint64_t announced = flip_from(defect == BOTH_MAKE_IT_ODD ? 0 : 1);
    wf_fence_seq_cst();
    if (take(&x_jobs)) return;
    if (!register_sleeper(announced)) continue;
    while (wf_u32_load_acquire(&x_key) == key) wf_sys_wait(&x_key, key);
    wf_u64_fetch_sub_seq_cst(&x_counters, 1);
  }
}

static void event_poster(void) {
  wf_u32_fetch_add_release(&x_jobs, 1);
  wf_fence_seq_cst();
  if ((uint32_t)flip_from(0) > 0) wake_by_key();
}

EXHIBIT(sleep_event_counter_stuck, BOTH_MAKE_IT_ODD, XP_DEADLOCK, XP_ALL_MODES,
        counter_is_odd, .threads = {event_worker, event_poster})

/* ---- sleepers and posters with a key ---- */

enum {
  KEY_READ_LATE = 1,  /* the key is read after the last look: a wake in between is lost */
  NO_SECOND_LOOK,     /* the queue is not looked at after registering */
  POSTER_NO_FENCE,    /* the poster's look for sleepers overtakes its push */
  SLEEPER_NO_FENCE,   /* the sleeper's look at the queue is old */
  WAKES_BEFORE_PUSH,  /* the woken finds nothing and sleeps again */
  RETURN_MEANS_WOKEN, /* a wait that returns is taken for a wake-up */
  ONE_SOURCE_FORGOTTEN /* the last look leaves out a queue that was added later */
};

static bool sees_work(void) {
  if (wf_u32_load_relaxed(&x_jobs) > 0) return true;
  return defect != ONE_SOURCE_FORGOTTEN && wf_u32_load_relaxed(&x_mail) > 0;
}

static void key_worker(void) {
  while (!take(&x_jobs) && !take(&x_mail)) {
    uint32_t key = 0;
    if (defect != KEY_READ_LATE) key = wf_u32_load_acquire(&x_key);
    if (defect == SLEEPER_NO_FENCE)
      wf_u32_fetch_add_relaxed(&x_sleepers, 1);
    else
      wf_u32_fetch_add_seq_cst(&x_sleepers, 1);
    if (defect != SLEEPER_NO_FENCE) wf_fence_seq_cst();
    bool stays = defect == NO_SECOND_LOOK || !sees_work();
    if (defect == KEY_READ_LATE) key = wf_u32_load_acquire(&x_key);
    if (stays && defect == RETURN_MEANS_WOKEN) {
      wf_sys_wait(&x_key, key);
      XP_CHECK(sees_work());
    } else if (stays) {
      while (wf_u32_load_acquire(&x_key) == key) wf_sys_wait(&x_key, key);
    }
    wf_u32_fetch_sub_seq_cst(&x_sleepers, 1);
  }
}

static void tell_sleepers(void) {
  if (defect != POSTER_NO_FENCE) wf_fence_seq_cst();
  if (wf_u32_load_relaxed(&x_sleepers) > 0) wake_by_key();
}

/* The push is a store, not a read-modify-write, as that of a deque is. */
static void key_poster(void) {
  if (defect == WAKES_BEFORE_PUSH) tell_sleepers();
  wf_u32_store_release(&x_jobs, 1);
  if (defect != WAKES_BEFORE_PUSH) tell_sleepers();
}

static void mail_poster(void) {
  wf_u32_store_release(&x_mail, 1);
  tell_sleepers();
}

EXHIBIT(sleep_key_read_late, KEY_READ_LATE, XP_DEADLOCK, XP_ALL_MODES, nothing_posted,
        .threads = {key_worker, key_poster})
EXHIBIT(sleep_no_second_look, NO_SECOND_LOOK, XP_DEADLOCK, XP_ALL_MODES, nothing_posted,
        .threads = {key_worker, key_poster})
EXHIBIT(sleep_poster_no_fence, POSTER_NO_FENCE, XP_DEADLOCK, XP_TSO | XP_RA,
        nothing_posted, .threads = {key_worker, key_poster})
EXHIBIT(sleep_sleeper_no_fence, SLEEPER_NO_FENCE, XP_DEADLOCK, XP_RA, nothing_posted,
        .threads = {key_worker, key_poster})
EXHIBIT(sleep_wakes_before_push, WAKES_BEFORE_PUSH, XP_DEADLOCK, XP_ALL_MODES,
        nothing_posted, .threads = {key_worker, key_poster})
EXHIBIT(sleep_return_means_woken, RETURN_MEANS_WOKEN, XP_ASSERTION, XP_ALL_MODES,
        nothing_posted, .threads = {key_worker, key_poster}, .spurious = 1)
EXHIBIT(sleep_one_source_forgotten, ONE_SOURCE_FORGOTTEN, XP_DEADLOCK, XP_ALL_MODES,
        nothing_posted, .threads = {key_worker, mail_poster})

/* ---- how many are woken ---- */

/* Two jobs that wait for each other. One worker is woken, and has to wake the next before
 * it runs what it found, not afterwards. */

enum { WAKES_NEXT_TOO_LATE = 1, ONE_FOR_ALL };

static wf_u32 x_park[2], x_meeting;

static void two_asleep(void) {
  nothing_posted();
  wf_u32_init(&x_park[0], 1);
  wf_u32_init(&x_park[1], 1);
  wf_u32_init(&x_meeting, 0);
}

static void wake_parked(int i) {
  wf_u32_store_release(&x_park[i], 0);
  wf_sys_wake_one(&x_park[i]);
}

static void wait_parked(int i) {
  while (wf_u32_load_acquire(&x_park[i]) == 1) wf_sys_wait(&x_park[i], 1);
}

static void meet(void) {
  uint32_t here = wf_u32_fetch_add_seq_cst(&x_meeting, 1) + 1;
  if (here == 2) wf_sys_wake_all(&x_meeting);
  while ((here = wf_u32_load_acquire(&x_meeting)) < 2) wf_sys_wait(&x_meeting, here);
}

static void first_woken(void) {
  wait_parked(0);
  if (defect != WAKES_NEXT_TOO_LATE) wake_parked(1);
  meet();
  if (defect == WAKES_NEXT_TOO_LATE) wake_parked(1);
}

static void second_woken(void) {
  wait_parked(1);
  meet();
}

static void posts_two_jobs(void) {
  wake_parked(0);
}

EXHIBIT(sleep_next_woken_too_late, WAKES_NEXT_TOO_LATE, XP_DEADLOCK, XP_ALL_MODES,
        two_asleep, .threads = {first_woken, second_woken, posts_two_jobs})

/* Two threads wait for one event, and one of them is woken. */

static void waits_for_event(void) {
  while (wf_u32_load_acquire(&x_done) == 0) wf_sys_wait(&x_done, 0);
}

static void event_comes(void) {
  wf_u32_store_release(&x_done, 1);
  if (defect == ONE_FOR_ALL)
    wf_sys_wake_one(&x_done);
  else
    wf_sys_wake_all(&x_done);
}

EXHIBIT(sleep_one_woken_for_all, ONE_FOR_ALL, XP_DEADLOCK, XP_ALL_MODES, nothing_posted,
        .threads = {waits_for_event, waits_for_event, event_comes})

/* ---- who counts the sleeper off ---- */

enum { BOTH_COUNT_OFF = 1 };

/* A waker takes the sleeper's bit and counts it off; the woken must not do so again, or
 * the count drifts away until posters believe in sleepers that do not exist, or in none.
 */
static wf_u32 x_bit;

static void one_registered(void) {
  nothing_posted();
  wf_u32_init(&x_bit, 0);
}

static void counted_sleeper(void) {
  wf_u32_fetch_add_seq_cst(&x_sleepers, 1);
  wf_u32_fetch_or_seq_cst(&x_bit, 1);
  if (wf_u32_load_relaxed(&x_jobs) > 0) {
    bool own = wf_u32_fetch_and_seq_cst(&x_bit, 0) == 1;
    if (own || defect == BOTH_COUNT_OFF) wf_u32_fetch_sub_seq_cst(&x_sleepers, 1);
    return;
  }
  while (wf_u32_load_acquire(&x_key) == 0) wf_sys_wait(&x_key, 0);
}

static void counting_poster(void) {
  wf_u32_fetch_add_seq_cst(&x_jobs, 1);
  wf_fence_seq_cst();
  if (wf_u32_fetch_and_seq_cst(&x_bit, 0) != 1) return;
  wf_u32_fetch_sub_seq_cst(&x_sleepers, 1);
  wake_by_key();
}

static void count_is_zero(void) {
  XP_CHECK(wf_u32_load_relaxed(&x_sleepers) == 0);
}

EXHIBIT(sleep_counted_off_twice, BOTH_COUNT_OFF, XP_ASSERTION, XP_ALL_MODES,
        one_registered, .threads = {counted_sleeper, counting_poster},
        .check = count_is_zero)

/* ---- a lost race is not an empty queue ---- */

enum { RETRY_IS_EMPTY = 1 };

static void two_queued(void) {
  nothing_posted();
  wf_u32_init(&x_jobs, 2);
}

/* A thief whose compare-and-swap fails knows that another was faster, not that nothing is
 * left. Here nobody would post again: it would sleep beside the second job. */
static void hasty_thief(void) {
  uint32_t n = wf_u32_load_relaxed(&x_jobs);
  while (n > 0) {
    if (wf_u32_cas_acquire(&x_jobs, &n, n - 1)) return;
    if (defect == RETRY_IS_EMPTY) break;
  }
  while (wf_u32_load_acquire(&x_key) == 0) wf_sys_wait(&x_key, 0);
}

EXHIBIT(sleep_lost_race_is_not_empty, RETRY_IS_EMPTY, XP_DEADLOCK, XP_ALL_MODES,
        two_queued, .threads = {hasty_thief, hasty_thief})
