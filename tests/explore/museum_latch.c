/* museum/latch.c - defects of latches, counts and handles: who may still touch what when
 * the waiter has gone, and what a count must have seen.
 *
 * SPDX-License-Identifier: MIT */
#include "museum.h"

#include <stdlib.h>

enum { UNSET, SLEEPING, SET };

/* What a waiter waits for, in its own frame. */
typedef struct latch {
  wf_u32 x_state;
  wf_u32 x_owner; /* whom to wake */
} latch;

static wf_ptr x_latch;
static wf_u32 x_park, x_flag, x_word;
static int result;

static void latch_to_come(void) {
  wf_ptr_init(&x_latch, NULL);
  wf_u32_init(&x_park, 0);
  wf_u32_init(&x_flag, 0);
  wf_u32_init(&x_word, 0);
  result = 0;
}

/* ---- touched after it was set ---- */

enum { READS_OWNER_LATE = 1, LOOKS_BEFORE_SETTING, WAKER_READS_WORD };

/* Sets the latch of the waiter; the waiter may be gone as soon as it is set. */
static void setter(void) {
  latch *its;
  while ((its = wf_ptr_load_acquire(&x_latch)) == NULL) wf_sys_relax();
  uint32_t owner = 0;
  if (defect != READS_OWNER_LATE) owner = wf_u32_load_relaxed(&its->x_owner);
  xp_plain_write(&result, sizeof result);
  result = 1;
  uint32_t old;
  if (defect == LOOKS_BEFORE_SETTING) {
    old = wf_u32_load_seq_cst(&its->x_state);
    wf_u32_store_seq_cst(&its->x_state, SET);
  } else {
    old = wf_u32_exchange_seq_cst(&its->x_state, SET);
  }
  if (old != SLEEPING) return;
  if (defect == READS_OWNER_LATE) owner = wf_u32_load_relaxed(&its->x_owner);
  XP_CHECK(owner == 7);
  wf_u32_store_release(&x_park, 1);
  wf_sys_wake_one(&x_park);
}

/* Waits by its park word; it may also be woken by somebody else (x_park = 1). */
static void waiter(void) {
  latch *mine = malloc(sizeof *mine);
  wf_u32_init(&mine->x_state, UNSET);
  wf_u32_init(&mine->x_owner, 7);
  wf_ptr_store_release(&x_latch, mine);
  uint32_t seen = UNSET;
  if (wf_u32_cas_seq_cst(&mine->x_state, &seen, SLEEPING)) {
    while (wf_u32_load_acquire(&x_park) == 0 &&
           wf_u32_load_acquire(&mine->x_state) != SET)
      wf_sys_wait(&x_park, 0);
    while (wf_u32_load_acquire(&mine->x_state) != SET) wf_sys_relax();
  }
  XP_CHECK(wf_u32_load_acquire(&mine->x_state) == SET);
  xp_plain_read(&result, sizeof result);
  XP_CHECK(result == 1);
  free(mine);
}

EXHIBIT(latch_touched_after_set, READS_OWNER_LATE, XP_DEAD, XP_ALL_MODES, latch_to_come,
        .threads = {waiter, setter})
EXHIBIT(latch_looked_at_before_set, LOOKS_BEFORE_SETTING, XP_DEADLOCK, XP_ALL_MODES,
        latch_to_come, .threads = {waiter, setter})

/* The word that is waited on lies in memory that the waiter frees. The waker may use its
 * address, which at worst wakes a stranger, but not its content. */

static wf_ptr x_once;

static void once_to_come(void) {
  latch_to_come();
  wf_u32 *once = malloc(sizeof *once);
  wf_u32_init(once, 0);
  wf_ptr_init(&x_once, once);
}

static void once_setter(void) {
  wf_u32 *once = wf_ptr_load_relaxed(&x_once);
  bool sleeps = wf_u32_exchange_seq_cst(once, 2) == 1;
  if (defect == WAKER_READS_WORD) sleeps = wf_u32_load_relaxed(once) == 2;
  if (sleeps) wf_sys_wake_one(once);
}

static void once_waiter(void) {
  wf_u32 *once = wf_ptr_load_relaxed(&x_once);
  uint32_t seen = 0;
  if (wf_u32_cas_seq_cst(once, &seen, 1))
    while (wf_u32_load_acquire(once) == 1) wf_sys_wait(once, 1);
  free(once);
}

EXHIBIT(latch_waker_reads_freed_word, WAKER_READS_WORD, XP_DEAD, XP_ALL_MODES,
        once_to_come, .threads = {once_waiter, once_setter})

/* ---- told between the look and the wait ---- */

enum { NOTHING_TO_COMPARE = 1 };

/* The flag is looked at, and then another word is waited on, which does not change: the
 * wake-up in between is gone. As a condition variable used without its mutex. */
static void flag_waiter(void) {
  uint32_t word = wf_u32_load_acquire(&x_word);
  while (wf_u32_load_acquire(&x_flag) == 0) {
    wf_sys_wait(&x_word, word);
    word = wf_u32_load_acquire(&x_word);
  }
}

static void flag_setter(void) {
  wf_u32_store_release(&x_flag, 1);
  if (defect != NOTHING_TO_COMPARE) wf_u32_fetch_add_release(&x_word, 1);
  wf_sys_wake_one(&x_word);
}

EXHIBIT(latch_told_between_look_and_wait, NOTHING_TO_COMPARE, XP_DEADLOCK, XP_ALL_MODES,
        latch_to_come, .threads = {flag_waiter, flag_setter})

/* ---- a count of tasks ---- */

enum { COUNTED_AFTER_PUSH = 1, RELAXED_COUNT, SKIPPED_NOT_COUNTED };

/* A scope: it holds one count itself, each task one more. */
static wf_u32 x_count, x_ended, x_cancelled, x_pushed[2];
static int parts[2];

static void scope_is_open(void) {
  latch_to_come();
  wf_u32_init(&x_count, 1);
  wf_u32_init(&x_ended, 0);
  wf_u32_init(&x_cancelled, 0);
  for (int i = 0; i < 2; i++) {
    wf_u32_init(&x_pushed[i], 0);
    parts[i] = 0;
  }
}

static void count_off(void) {
  uint32_t before = defect == RELAXED_COUNT ? wf_u32_fetch_sub_relaxed(&x_count, 1)
                                            : wf_u32_fetch_sub_acq_rel(&x_count, 1);
  if (before != 1) return;
  /* The last one tells the waiter. Whatever the others did has to be visible by then. */
  wf_u32_store_release(&x_ended, 1);
  wf_sys_wake_all(&x_ended);
}

static void await_scope(void) {
  count_off();
  while (wf_u32_load_acquire(&x_ended) == 0) wf_sys_wait(&x_ended, 0);
}

/* Counted before anybody can run it, or the count may come to zero in between. */
static void spawn(int i) {
  if (defect != COUNTED_AFTER_PUSH) wf_u32_fetch_add_relaxed(&x_count, 1);
  wf_u32_store_release(&x_pushed[i], 1);
  if (defect == COUNTED_AFTER_PUSH) wf_u32_fetch_add_relaxed(&x_count, 1);
}

static void spawns_two(void) {
  spawn(0);
  spawn(1);
  await_scope();
  XP_CHECK(parts[0] + parts[1] == 2);
}

static void runs_pushed(int i) {
  while (wf_u32_load_acquire(&x_pushed[i]) == 0) wf_sys_relax();
  parts[i] = 1;
  count_off();
}

static void runs_first(void) {
  runs_pushed(0);
}
static void runs_second(void) {
  runs_pushed(1);
}

EXHIBIT(scope_counted_after_push, COUNTED_AFTER_PUSH, XP_ASSERTION, XP_ALL_MODES,
        scope_is_open, .threads = {spawns_two, runs_first, runs_second})

static void two_tasks_run(void) {
  scope_is_open();
  wf_u32_init(&x_count, 3);
}

static void first_task(void) {
  xp_plain_write(&parts[0], sizeof parts[0]);
  parts[0] = 1;
  count_off();
}

static void second_task(void) {
  xp_plain_write(&parts[1], sizeof parts[1]);
  parts[1] = 1;
  count_off();
}

static void sums_parts(void) {
  await_scope();
  xp_plain_read(parts, sizeof parts);
  XP_CHECK(parts[0] + parts[1] == 2);
}

EXHIBIT(scope_relaxed_count, RELAXED_COUNT, XP_RACE, XP_RA, two_tasks_run,
        .threads = {sums_parts, first_task, second_task})

/* A task that is skipped because its scope was cancelled still has to be counted. */
static void one_task_queued(void) {
  scope_is_open();
  wf_u32_init(&x_count, 2);
}

static void runs_or_skips(void) {
  bool is_skipped = wf_u32_load_relaxed(&x_cancelled) != 0;
  if (is_skipped && defect == SKIPPED_NOT_COUNTED) return;
  count_off();
}

static void cancels_and_ends(void) {
  wf_u32_store_relaxed(&x_cancelled, 1);
  await_scope();
}

EXHIBIT(scope_skipped_not_counted, SKIPPED_NOT_COUNTED, XP_DEADLOCK, XP_ALL_MODES,
        one_task_queued, .threads = {cancels_and_ends, runs_or_skips})

/* ---- a handle that two sides own ---- */

enum { FREED_BY_WAITER = 1, FREED_BY_BOTH };

typedef struct handle {
  wf_u32 x_done, x_owners;
  int value;
} handle;

static handle *the_handle;

static void handle_is_out(void) {
  latch_to_come();
  the_handle = malloc(sizeof *the_handle);
  wf_u32_init(&the_handle->x_done, 0);
  wf_u32_init(&the_handle->x_owners, 2);
  the_handle->value = 0;
}

static void release_handle(handle *its) {
  if (wf_u32_fetch_sub_acq_rel(&its->x_owners, 1) == 1) free(its);
}

static void handle_runner(void) {
  handle *its = the_handle;
  xp_plain_write(&its->value, sizeof its->value);
  its->value = 1;
  wf_u32_store_release(&its->x_done, 1);
  wf_sys_wake_all(&its->x_done);
  release_handle(its);
}

static void handle_waiter(void) {
  handle *its = the_handle;
  while (wf_u32_load_acquire(&its->x_done) == 0) wf_sys_wait(&its->x_done, 0);
  xp_plain_read(&its->value, sizeof its->value);
  XP_CHECK(its->value == 1);
  if (defect == FREED_BY_WAITER)
    free(its); /* the runner has said "done", but not yet let go */
  else
    release_handle(its);
}

EXHIBIT(handle_freed_by_waiter, FREED_BY_WAITER, XP_DEAD, XP_ALL_MODES, handle_is_out,
        .threads = {handle_waiter, handle_runner})

/* Dropped and finished at the same time: the second of the two frees, and a look is not
 * enough to know which that is. */
static void lets_go(void) {
  handle *its = the_handle;
  if (defect == FREED_BY_BOTH) {
    uint32_t owners = wf_u32_load_acquire(&its->x_owners);
    if (owners == 1) {
      free(its);
      return;
    }
    wf_u32_store_release(&its->x_owners, owners - 1);
    return;
  }
  release_handle(its);
}

EXHIBIT(handle_freed_by_nobody, FREED_BY_BOTH, XP_LEAK, XP_ALL_MODES, handle_is_out,
        .threads = {lets_go, lets_go})
