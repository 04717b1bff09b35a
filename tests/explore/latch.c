/* Latches and the lock under the explorer.
 *
 * SPDX-License-Identifier: MIT */
#include <explore/engine/explore.h>

#include <core/bitset.h>
#include <core/latch.h>
#include <core/lock.h>
#include <stdlib.h>
#include <sys/sys.h>

/* What the waiter waits for. On the heap, and freed by the waiter as soon as it may: a
 * setter that touches it later is found. */
typedef struct thing {
  wf_latch latch;
  wf_count_latch count;
  wf_once_latch once;
  unsigned payload[2];
} thing;

static thing *it;
static wf_u32 x_park;
static wf_u64 x_set;
static wf_u32 x_other; /* something else that a waiter looks at */

static void make(void) {
  it = (thing *)malloc(sizeof *it);
  XP_CHECK(it != NULL);
  wf_latch_init(&it->latch);
  wf_count_latch_init(&it->count, 2);
  wf_once_latch_init(&it->once);
  it->payload[0] = it->payload[1] = 0;
  wf_u32_store_relaxed(&x_park, 0);
  wf_u64_store_relaxed(&x_set, 0);
  wf_u32_store_relaxed(&x_other, 0);
}

static void drop(unsigned payloads) {
  for (unsigned i = 0; i < payloads; i++) XP_CHECK(it->payload[i] == i + 1);
  free(it);
}

/* ---- the four-state latch, with the sleep of sched/sleep.c in small ---- */

static void unpark(void) {
  wf_u32_store_release(&x_park, 0);
  wf_sys_wake_one(&x_park);
}

static void wake_waiter(void) {
  if (wf_bitset_remove(&x_set, 0)) unpark();
}

/* As park() does: registers, looks, blocks. */
static void sleep_on(wf_latch *latch) {
  if (!wf_latch_fall_asleep(latch)) return;
  wf_u32_store_relaxed(&x_park, 1);
  wf_bitset_add(&x_set, 0);
  wf_fence_seq_cst();
  if (!wf_latch_probe(latch) || !wf_bitset_remove(&x_set, 0))
    while (wf_u32_load_acquire(&x_park) == 1) wf_sys_wait(&x_park, 1);
  wf_latch_wake_up(latch);
}

static void wait_for(wf_latch *latch) {
  while (!wf_latch_probe(latch))
    if (wf_latch_get_sleepy(latch)) sleep_on(latch);
}

static void wait_and_free(void) {
  wait_for(&it->latch);
  drop(1);
}

static void set_latch(void) {
  it->payload[0] = 1;
  if (wf_latch_set(&it->latch)) wake_waiter();
}
SCENARIO(latch_set_against_sleep, .setup = make, .threads = {wait_and_free, set_latch},
         .bound = XP_UNBOUNDED, .quick_bound = 3)
SCENARIO(latch_set_against_sleep_spurious, .setup = make,
         .threads = {wait_and_free, set_latch}, .spurious = 2, .bound = 3,
         .quick_bound = 2)

/* Another thread wakes the waiter for nothing. */
SCENARIO(latch_woken_by_others, .setup = make,
         .threads = {wait_and_free, set_latch, wake_waiter}, .bound = 3, .quick_bound = 2)

/* A thief notes its number while the waiter goes through its states. */
static void note_and_set(void) {
  (void)wf_latch_note_thief(&it->latch, 5);
  set_latch();
}
SCENARIO(latch_note_against_sleep, .setup = make,
         .threads = {wait_and_free, note_and_set}, .bound = 3, .quick_bound = 2)

/* The note survives what the waiter does, and the waiter's state survives the note. */
static void come_and_go(void) {
  if (wf_latch_get_sleepy(&it->latch) && wf_latch_fall_asleep(&it->latch))
    wf_latch_wake_up(&it->latch);
  XP_CHECK(!wf_latch_probe(&it->latch));
}
static void note(void) {
  XP_CHECK(wf_latch_note_thief(&it->latch, 5) == NULL);
}
static void noted(void) {
  XP_CHECK(wf_latch_thief(&it->latch) == 5);
  XP_CHECK(!wf_latch_is_sleeping(&it->latch));
  free(it);
}
SCENARIO(latch_note_kept, .setup = make, .threads = {come_and_go, note}, .check = noted,
         .bound = XP_UNBOUNDED)

/* A waiter that changes its mind against a setter: exactly the right one is woken. */
static void change_mind_and_wait(void) {
  if (wf_latch_get_sleepy(&it->latch)) wf_latch_wake_up(&it->latch);
  wait_and_free();
}
SCENARIO(latch_undo_against_set, .setup = make,
         .threads = {change_mind_and_wait, set_latch}, .bound = 3, .quick_bound = 2)

/* ---- counting latch ---- */

static void wait_for_count(void) {
  wait_for(&it->count.latch);
  drop(2);
}
static void finish(unsigned number) {
  it->payload[number] = number + 1;
  if (wf_count_latch_done(&it->count)) wake_waiter();
}
static void finish_0(void) {
  finish(0);
}
static void finish_1(void) {
  finish(1);
}
SCENARIO(count_latch_two_finishers, .setup = make,
         .threads = {wait_for_count, finish_0, finish_1}, .bound = 3, .quick_bound = 2)

/* One adds a thing while it holds a count of its own. */
static void add_and_finish(void) {
  wf_count_latch_add(&it->count, 1);
  finish(0);
  if (wf_count_latch_done(&it->count)) wake_waiter();
}
SCENARIO(count_latch_add, .setup = make,
         .threads = {wait_for_count, add_and_finish, finish_1}, .quick_bound = 1)

/* The thread that counts off last sees what all have done. */
static void count_off(unsigned number) {
  it->payload[number] = number + 1;
  if (wf_count_latch_count_off(&it->count)) drop(2);
}
static void count_off_0(void) {
  count_off(0);
}
static void count_off_1(void) {
  count_off(1);
}
SCENARIO(count_latch_last_frees, .setup = make, .threads = {count_off_0, count_off_1},
         .bound = XP_UNBOUNDED)

/* ---- once-latch ---- */

static void wait_once(void) {
  wf_once_latch_wait(&it->once);
  drop(1);
}
static void set_once(void) {
  it->payload[0] = 1;
  wf_once_latch_set(&it->once);
}
SCENARIO(once_latch_freed_by_waiter, .setup = make, .threads = {wait_once, set_once},
         .bound = XP_UNBOUNDED)
SCENARIO(once_latch_spurious, .setup = make, .threads = {wait_once, set_once},
         .spurious = 3, .bound = 3)

static void spin_once(void) {
  while (!wf_once_latch_probe(&it->once)) wf_sys_relax();
  drop(1);
}
SCENARIO(once_latch_probe, .setup = make, .threads = {spin_once, set_once},
         .bound = XP_UNBOUNDED)

/* Either the waiter sees what was put there, or it is nudged, or set. */
static void wait_or_look(void) {
  bool done = false, seen = false;
  while (!done) {
    wf_once_latch_announce(&it->once);
    if (!seen && wf_u32_load_relaxed(&x_other) == 1) {
      seen = true;
      /* What it found keeps it from blocking, and lets the setter begin. */
      wf_u32_store_release(&x_park, 1);
      wf_sys_wake_one(&x_park);
      done = wf_once_latch_probe(&it->once);
    } else {
      done = wf_once_latch_wait_announced(&it->once);
    }
  }
}
static void put_and_nudge(void) {
  wf_u32_store_relaxed(&x_other, 1);
  wf_once_latch_nudge(&it->once);
  /* The latch is set only after what was put there has been seen. */
  while (wf_u32_load_acquire(&x_park) == 0) wf_sys_wait(&x_park, 0);
  wf_once_latch_set(&it->once);
}
static void free_it(void) {
  free(it);
}
SCENARIO(once_latch_nudge, .setup = make, .threads = {wait_or_look, put_and_nudge},
         .check = free_it, .bound = XP_UNBOUNDED, .quick_bound = 3)
SCENARIO(once_latch_nudge_spurious, .setup = make,
         .threads = {wait_or_look, put_and_nudge}, .check = free_it, .bound = 3,
         .spurious = 2, .quick_bound = 2)

/* The memory must be there during a nudge: the nudger frees it. */
static void wait_once_only(void) {
  wf_once_latch_wait(&it->once);
}
static void nudge(void) {
  wf_once_latch_nudge(&it->once);
}
SCENARIO(once_latch_set_and_nudge, .setup = make,
         .threads = {wait_once_only, set_once, nudge}, .check = free_it, .bound = 3,
         .quick_bound = 2)

/* ---- lock ---- */

static wf_lock lock;
static unsigned *total;
static void make_lock(void) {
  lock = (wf_lock){{WF_LOCK_FREE}};
  total = (unsigned *)calloc(1, sizeof *total);
  XP_CHECK(total != NULL);
}
static void add(void) {
  wf_lock_lock(&lock);
  ++*total;
  wf_lock_unlock(&lock);
}
static void add_twice(void) {
  add();
  add();
}
static void try_to_add(void) {
  if (!wf_lock_try(&lock)) return;
  ++*total;
  wf_lock_unlock(&lock);
}
static void total_is_right(void) {
  XP_CHECK(*total >= 3);
  XP_CHECK(wf_u32_load_relaxed(&lock.x_state) != WF_LOCK_HELD);
  free(total);
}
SCENARIO(lock_three_threads, .setup = make_lock, .threads = {add, add, add},
         .check = total_is_right, .bound = 3, .quick_bound = 2)
SCENARIO(lock_again_and_again, .setup = make_lock, .threads = {add_twice, add_twice},
         .check = total_is_right, .bound = XP_UNBOUNDED, .quick_bound = 3)
SCENARIO(lock_that_spins, .setup = make_lock, .threads = {add_twice, add, try_to_add},
         .check = total_is_right, .lock_spins = 2, .bound = 3, .quick_bound = 2)
SCENARIO(lock_spurious, .setup = make_lock, .threads = {add, add, add},
         .check = total_is_right, .spurious = 2, .quick_bound = 1)
