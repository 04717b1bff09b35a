/* The explorer finds what it is made to find: one small defect of each kind.
 *
 * SPDX-License-Identifier: MIT */
#include <explore/engine/explore.h>

#include <core/atomic.h>
#include <core/latch.h>
#include <core/lock.h>
#include <stdlib.h>
#include <sys/sys.h>

static wf_u32 x, y;
static unsigned plain;
static wf_lock lock;
static wf_ptr x_object;
static wf_ptr x_on_stack;

static void setup(void) {
  wf_u32_store_relaxed(&x, 0);
  wf_u32_store_relaxed(&y, 0);
  wf_ptr_store_relaxed(&x_object, NULL);
  wf_ptr_store_relaxed(&x_on_stack, NULL);
  plain = 0;
  lock = (wf_lock){{WF_LOCK_FREE}};
}

/* ---- assertion: a counter without a read-modify-write ---- */

static void add_in_two_steps(void) {
  wf_u32_store_relaxed(&x, wf_u32_load_relaxed(&x) + 1);
}
static void check_two(void) {
  XP_CHECK(wf_u32_load_relaxed(&x) == 2);
}
SCENARIO(finds_lost_update, .setup = setup,
         .threads = {add_in_two_steps, add_in_two_steps}, .check = check_two, .bound = 1,
         .expect = XP_ASSERTION)

static void add_under_lock(void) {
  wf_lock_lock(&lock);
  xp_plain_read(&plain, sizeof plain);
  xp_plain_write(&plain, sizeof plain);
  plain++;
  wf_lock_unlock(&lock);
}
static void check_plain_two(void) {
  XP_CHECK(plain == 2);
}
SCENARIO(passes_lock, .setup = setup, .threads = {add_under_lock, add_under_lock},
         .check = check_plain_two, .bound = XP_UNBOUNDED)

/* ---- invariant: x is never ahead of y ---- */

static void x_is_not_ahead(void) {
  XP_CHECK(wf_u32_load_relaxed(&x) <= wf_u32_load_relaxed(&y));
}
static void adds_to_x_first(void) {
  wf_u32_fetch_add_seq_cst(&x, 1);
  wf_u32_fetch_add_seq_cst(&y, 1);
}
static void adds_to_y_first(void) {
  wf_u32_fetch_add_seq_cst(&y, 1);
  wf_u32_fetch_add_seq_cst(&x, 1);
}
SCENARIO(finds_broken_invariant, .setup = setup,
         .threads = {adds_to_y_first, adds_to_x_first}, .invariant = x_is_not_ahead,
         .expect = XP_ASSERTION)
SCENARIO(passes_invariant, .setup = setup, .threads = {adds_to_y_first, adds_to_y_first},
         .invariant = x_is_not_ahead, .bound = XP_UNBOUNDED)

/* ---- deadlock: wakes before it stores, so the wake-up may be lost ---- */

static void waits_for_x(void) {
  while (wf_u32_load_acquire(&x) == 0) wf_sys_wait(&x, 0);
}
static void wakes_too_early(void) {
  wf_sys_wake_one(&x);
  wf_u32_store_release(&x, 1);
}
SCENARIO(finds_lost_wakeup, .setup = setup, .threads = {waits_for_x, wakes_too_early},
         .bound = 1, .expect = XP_DEADLOCK)

static void wakes_in_time(void) {
  wf_u32_store_release(&x, 1);
  wf_sys_wake_one(&x);
}
SCENARIO(passes_wakeup, .setup = setup, .threads = {waits_for_x, wakes_in_time},
         .bound = XP_UNBOUNDED, .spurious = 2)

/* ---- deadlock only with store buffers: sleeper and poster without fences ---- */

static void sleeper(void) {
  wf_u32_store_relaxed(&x, 1); /* asleep */
  if (wf_u32_load_relaxed(&y) == 0) wf_sys_wait(&x, 1);
}
static void poster(void) {
  wf_u32_store_relaxed(&y, 1); /* work */
  if (wf_u32_load_relaxed(&x) == 0) return;
  wf_u32_store_relaxed(&x, 2);
  wf_sys_wake_one(&x);
}
SCENARIO(finds_missing_fence, .setup = setup, .threads = {sleeper, poster},
         .modes = XP_TSO | XP_RA, .bound = 1, .expect = XP_DEADLOCK)
SCENARIO(passes_missing_fence_in_sc, .setup = setup, .threads = {sleeper, poster},
         .modes = XP_SC, .bound = XP_UNBOUNDED)

static void fenced_sleeper(void) {
  wf_u32_store_relaxed(&x, 1);
  wf_fence_seq_cst();
  if (wf_u32_load_relaxed(&y) == 0) wf_sys_wait(&x, 1);
}
static void fenced_poster(void) {
  wf_u32_store_relaxed(&y, 1);
  wf_fence_seq_cst();
  if (wf_u32_load_relaxed(&x) == 0) return;
  wf_u32_store_relaxed(&x, 2);
  wf_sys_wake_one(&x);
}
SCENARIO(passes_fences, .setup = setup, .threads = {fenced_sleeper, fenced_poster},
         .bound = XP_UNBOUNDED)

/* ---- livelock ---- */

static void spins_on_x(void) {
  while (wf_u32_load_acquire(&x) == 0) wf_sys_relax();
}
static void does_nothing(void) {
  (void)wf_u32_load_relaxed(&y);
}
SCENARIO(finds_endless_spin, .setup = setup, .threads = {spins_on_x, does_nothing},
         .steps = 500, .expect = XP_LIVELOCK)
static void stores_x(void) {
  wf_u32_store_release(&x, 1);
}
SCENARIO(passes_spin, .setup = setup, .threads = {spins_on_x, stores_x},
         .bound = XP_UNBOUNDED)

/* ---- race: published without release ---- */

static void publishes_relaxed(void) {
  xp_plain_write(&plain, sizeof plain);
  plain = 1;
  wf_u32_store_relaxed(&x, 1);
}
static void reads_published(void) {
  if (wf_u32_load_acquire(&x) == 0) return;
  xp_plain_read(&plain, sizeof plain);
}
SCENARIO(finds_race, .setup = setup, .threads = {publishes_relaxed, reads_published},
         .modes = XP_SC | XP_RA, .expect = XP_RACE)
static void publishes_release(void) {
  xp_plain_write(&plain, sizeof plain);
  plain = 1;
  wf_u32_store_release(&x, 1);
}
SCENARIO(passes_publication, .setup = setup,
         .threads = {publishes_release, reads_published}, .bound = XP_UNBOUNDED)

/* The same, reported by the compiler: the memory is on the heap. */
static void make_plain_object(void) {
  setup();
  unsigned *object = (unsigned *)malloc(sizeof *object);
  XP_CHECK(object != NULL);
  wf_ptr_store_relaxed(&x_object, object);
}
static void fills_object(void) {
  *(unsigned *)wf_ptr_load_relaxed(&x_object) = 7;
  wf_u32_store_relaxed(&x, 1);
}
static void reads_object(void) {
  if (wf_u32_load_acquire(&x) == 1)
    XP_CHECK(*(unsigned *)wf_ptr_load_relaxed(&x_object) == 7);
}
static void free_plain_object(void) {
  free(wf_ptr_load_relaxed(&x_object));
}
SCENARIO(finds_race_on_heap, .setup = make_plain_object,
         .threads = {fills_object, reads_object}, .check = free_plain_object,
         .modes = XP_SC | XP_RA, .expect = XP_RACE)

/* ---- dead memory ---- */

static void make_object(void) {
  setup();
  wf_u32 *object = (wf_u32 *)malloc(sizeof *object);
  XP_CHECK(object != NULL);
  wf_u32_store_relaxed(object, 0);
  wf_ptr_store_relaxed(&x_object, object);
}
static void uses_object(void) {
  wf_u32 *object = (wf_u32 *)wf_ptr_load_acquire(&x_object);
  wf_u32_store_relaxed(object, 1);
  wf_u32_store_release(&x, 1);
  wf_u32_store_relaxed(object, 2); /* too late */
}
static void frees_object(void) {
  while (wf_u32_load_acquire(&x) == 0) wf_sys_relax();
  free(wf_ptr_load_relaxed(&x_object));
}
SCENARIO(finds_use_after_free, .setup = make_object,
         .threads = {uses_object, frees_object}, .expect = XP_DEAD)

/* The frame that holds the latch is left as soon as the latch is set. */
static __attribute__((noinline)) void wait_in_frame(void) {
  wf_u32 latch;
  wf_u32_store_relaxed(&latch, 0);
  wf_ptr_store_release(&x_on_stack, &latch);
  while (wf_u32_load_acquire(&latch) == 0) wf_sys_relax();
}
static void waits_in_frame(void) {
  wait_in_frame();
  (void)wf_u32_load_relaxed(&x);
}
static void touches_after_set(void) {
  wf_u32 *latch;
  while ((latch = (wf_u32 *)wf_ptr_load_acquire(&x_on_stack)) == NULL) wf_sys_relax();
  wf_u32_store_release(latch, 1);
  (void)wf_u32_load_relaxed(latch);
}
SCENARIO(finds_dead_frame, .setup = setup, .threads = {waits_in_frame, touches_after_set},
         .expect = XP_DEAD)

/* ---- leak, crash, failing memory ---- */

static void allocates(void) {
  (void)wf_u32_load_relaxed(&x);
  XP_CHECK(malloc(8) != NULL);
}
SCENARIO(finds_leak, .setup = setup, .threads = {allocates, stores_x}, .expect = XP_LEAK)
SCENARIO(finds_failing_allocation, .setup = setup, .threads = {allocates, stores_x},
         .failing_allocations = 1, .may_leak = true, .expect = XP_ASSERTION)

static void crashes(void) {
  if (wf_u32_load_relaxed(&x) == 1) *(volatile int *)wf_ptr_load_relaxed(&x_object) = 1;
}
SCENARIO(finds_crash, .setup = setup, .threads = {crashes, stores_x}, .expect = XP_CRASH)

/* ---- random mode finds shallow defects too ---- */

SCENARIO(finds_lost_update_at_random, .setup = setup,
         .threads = {add_in_two_steps, add_in_two_steps}, .check = check_two,
         .random = 1000, .expect = XP_ASSERTION)
