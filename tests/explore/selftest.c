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

/* ---- a timed wait ends by itself: at any step, and when nobody else can run ---- */

static void waits_for_x_timed(void) {
  while (wf_u32_load_acquire(&x) == 0) (void)wf_sys_wait_for(&x, 0, 1000);
}
static void stores_x_and_wakes_nobody(void) {
  wf_u32_store_release(&x, 1);
}
SCENARIO(passes_timed_wait_without_wakeup, .setup = setup,
         .threads = {waits_for_x_timed, stores_x_and_wakes_nobody}, .bound = XP_UNBOUNDED)
SCENARIO(passes_timed_wait_at_the_end_alone, .setup = setup,
         .threads = {waits_for_x_timed, stores_x_and_wakes_nobody}, .bound = XP_UNBOUNDED,
         .timeouts = -1)
SCENARIO(passes_timed_wait_with_wakeup, .setup = setup,
         .threads = {waits_for_x_timed, wakes_in_time}, .bound = XP_UNBOUNDED,
         .timeouts = 3, .spurious = 1)

/* Nothing is stored, so it looks again for ever. */
SCENARIO(finds_timed_wait_for_nothing, .setup = setup, .threads = {waits_for_x_timed},
         .steps = 500, .expect = XP_LIVELOCK)

/* Only if the time may be over between the store and the wake does the waiter find x set
 * and y not. */
static void gives_up(void) {
  if (wf_u32_load_acquire(&x) != 0) return;
  if (!wf_sys_wait_for(&x, 0, 1000))
    XP_CHECK(wf_u32_load_acquire(&x) == 0 || wf_u32_load_acquire(&y) != 0);
}
static void stores_x_then_y(void) {
  wf_u32_store_release(&x, 1);
  wf_u32_store_release(&y, 1);
  wf_sys_wake_one(&x);
}
SCENARIO(finds_time_over_in_between, .setup = setup,
         .threads = {gives_up, stores_x_then_y}, .expect = XP_ASSERTION)
SCENARIO(passes_if_time_is_over_at_the_end, .setup = setup,
         .threads = {gives_up, stores_x_then_y}, .bound = XP_UNBOUNDED, .timeouts = -1)

/* The time that has passed is on the thread's clock. */
static void looks_at_clock(void) {
  uint64_t before = wf_sys_now_ns();
  XP_CHECK(!wf_sys_wait_for(&x, 0, 1000000));
  XP_CHECK(wf_sys_now_ns() >= before + 1000000);
}
SCENARIO(passes_timed_wait_on_clock, .setup = setup,
         .threads = {looks_at_clock, looks_at_clock})

/* ---- CPU masks: of others, refused, of a thread that has ended ---- */

static void waits_to_be_steered(void) {
  wf_u32_store_release(&y, wf_sys_thread_self());
  while (wf_u32_load_acquire(&x) == 0) wf_sys_wait(&x, 0);
  XP_CHECK(wf_sys_cpu_now() == 1);
}
static void steers(void) {
  wf_cpu_mask *mask = wf_sys_mask_create();
  XP_CHECK(mask != NULL);
  uint32_t other;
  while ((other = wf_u32_load_acquire(&y)) == 0) wf_sys_relax();
  XP_CHECK(wf_sys_mask_read(mask, other) && wf_sys_mask_count(mask) == 2);
  wf_sys_mask_clear(mask, 0);
  if (wf_sys_mask_set(mask, other)) XP_CHECK(xp_thread_cpus(other) == 2);
  wf_sys_mask_destroy(mask);
  wf_u32_store_release(&x, 1);
  wf_sys_wake_one(&x);
}
SCENARIO(passes_steered_thread, .setup = setup, .threads = {waits_to_be_steered, steers},
         .bound = XP_UNBOUNDED)
SCENARIO(finds_refused_mask, .setup = setup, .threads = {waits_to_be_steered, steers},
         .failing_masks = 2, .may_leak = true, .expect = XP_ASSERTION)
static void steers_an_ended_thread(void) {
  wf_cpu_mask *mask = wf_sys_mask_create();
  XP_CHECK(mask != NULL);
  wf_sys_mask_fill(mask);
  XP_CHECK(!wf_sys_mask_set(mask, 12));
  wf_sys_mask_destroy(mask);
}
SCENARIO(passes_mask_of_nobody, .setup = setup,
         .threads = {steers_an_ended_thread, stores_x_and_wakes_nobody})

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
