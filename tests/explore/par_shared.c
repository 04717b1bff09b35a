/* Bags, locals and progress under the explorer: threads that add while another one asks
 * for the sum, and the screen, whose first and last entry start and end a thread.
 *
 * The source files are part of this program, because they name a thread by the address of
 * a thread-local variable, which all threads of the explorer share.
 *
 * SPDX-License-Identifier: MIT */
#include <explore/engine/explore.h>

#include <core/per_thread.h>
#include <sched/sched.h>

/* In the place of par/shared/shared.h. A table of two entries must grow soon. */
#define WF_PAR_SHARED_H
enum { WF_FIRST_ENTRIES_LOG2 = 1 };
static uintptr_t wf_thread_key(void) {
  return (uintptr_t)xp_self() * 4096;
}

/* The engine does not see accesses to static variables: the screen says by itself when it
 * is reset. */
static void *reset_memory(void *memory, int byte, size_t size) {
  xp_plain_write(memory, size);
  return memset(memory, byte, size);
}
#define memset reset_memory
#include "par/progress/screen.c"
#undef memset

#include "par/progress/progress.c"
#include "par/shared/bag.c"
#include "par/shared/local.c"

/* ---- bags ---- */

static weft_bag *bag;

static void make_bag(void) {
  XP_CHECK(weft_bag_create(&bag, sizeof(unsigned)) == 0);
}
static void add_to_bag(void) {
  unsigned self = xp_self();
  XP_CHECK(weft_bag_add(bag, &self) == 0);
  XP_CHECK(weft_bag_add(bag, &self) == 0);
}
static void ask_bag(void) {
  size_t before = weft_bag_count(bag), after = weft_bag_count(bag);
  XP_CHECK(before <= after && after <= 4);
}
static void sum_up(void *elem, void *ctx) {
  *(unsigned *)ctx += *(unsigned *)elem;
}
static void bag_has_all(void) {
  unsigned sum = 0;
  XP_CHECK(weft_bag_count(bag) == 4);
  weft_bag_each(bag, sum_up, &sum);
  XP_CHECK(sum == 2 * (1 + 2));
  weft_bag_clear(bag);
  XP_CHECK(weft_bag_count(bag) == 0);
  weft_bag_destroy(bag);
}
SCENARIO(bag_added_and_counted, .setup = make_bag,
         .threads = {add_to_bag, add_to_bag, ask_bag}, .check = bag_has_all,
         .quick_bound = 1)

/* ---- locals ---- */

static weft_local *local;

static void make_local(void) {
  XP_CHECK(weft_local_create(&local, sizeof(unsigned), NULL, NULL) == 0);
}
static void use_local(void) {
  unsigned *own = (unsigned *)weft_local_get(local);
  XP_CHECK(own != NULL && *own == 0); /* two threads in a slot are a race */
  *own = xp_self();
}
static void ask_local(void) {
  size_t before = weft_local_count(local), after = weft_local_count(local);
  XP_CHECK(before <= after && after <= 2);
}
static void local_has_all(void) {
  unsigned sum = 0;
  XP_CHECK(weft_local_count(local) == 2);
  weft_local_each(local, sum_up, &sum);
  XP_CHECK(sum == 1 + 2);
  weft_local_destroy(local);
}
SCENARIO(local_made_and_counted, .setup = make_local,
         .threads = {use_local, use_local, ask_local}, .check = local_has_all,
         .quick_bound = 1)

/* ---- counts of a progress ---- */

static weft_progress *progress;

static void begin_progress(void) {
  sim_has_terminal = false;
  XP_CHECK(weft_progress_begin(&progress, "explored", 4) == 0);
}
static void add_to_progress(void) {
  weft_progress_add(progress, 1);
  weft_progress_add(progress, 1);
}
static void ask_progress(void) {
  weft_progress_state state = WEFT_PROGRESS_STATE_INIT;
  weft_progress_get(progress, &state);
  XP_CHECK(state.done <= 4 && (state.total == 4 || state.total == 5));
}
static void correct_total(void) {
  weft_progress_set_total(progress, 5);
  weft_progress_add(progress, 1);
  weft_progress_add(progress, 1);
}
static void progress_has_all(void) {
  weft_progress_state state = WEFT_PROGRESS_STATE_INIT;
  weft_progress_get(progress, &state);
  XP_CHECK(state.done == 4 && state.total == 5);
  weft_progress_end(progress);
}
SCENARIO(progress_added_and_asked, .setup = begin_progress,
         .threads = {add_to_progress, correct_total, ask_progress},
         .check = progress_has_all, .quick_bound = 1)

/* A thread without memory for a count of its own adds to the one of all. */
static void progress_has_four(void) {
  weft_progress_state state = WEFT_PROGRESS_STATE_INIT;
  weft_progress_get(progress, &state);
  XP_CHECK(state.done == 4);
  weft_progress_end(progress);
}
static void add_and_ask(void) {
  weft_progress_state state = WEFT_PROGRESS_STATE_INIT;
  add_to_progress();
  weft_progress_get(progress, &state);
  XP_CHECK(state.done >= 2 && state.done <= 4);
}
SCENARIO(progress_without_memory, .setup = begin_progress,
         .threads = {add_to_progress, add_and_ask}, .check = progress_has_four,
         .failing_allocations = 4, .quick_bound = 1)

/* ---- the screen ---- */

static void empty_screen(void) {
  sim_has_terminal = true;
}
/* The first call of a process makes the screen its own; the thread that draws is started
 * with the first entry and ended with the last. */
static void show_and_end(void) {
  weft_progress *shown;
  XP_CHECK(weft_progress_begin(&shown, "shown", 1) == 0);
  weft_progress_add(shown, 1);
  weft_progress_end(shown);
}
static void screen_is_empty(void) {
  XP_CHECK(screen.first == NULL && !screen.has_thread);
  XP_CHECK(wf_u32_peek(&x_process) == wf_sys_process_id());
  sim_has_terminal = false;
}
SCENARIO(screen_of_one, .setup = empty_screen, .threads = {show_and_end},
         .check = screen_is_empty, .quick_bound = 1)
SCENARIO(screen_of_two, .setup = empty_screen, .threads = {show_and_end, show_and_end},
         .check = screen_is_empty, .bound = 1, .quick_bound = -2)
/* Both come first. */
static void own_and_draw(void) {
  own_screen();
  xp_plain_read(&screen, sizeof screen); /* nobody resets it any more */
  wf_lock_lock(&screen.lock);
  screen.lines++;
  wf_lock_unlock(&screen.lock);
}
static void drawn_by_two(void) {
  XP_CHECK(screen.lines == 2);
  screen_is_empty();
}
SCENARIO(screen_owned_by_two, .setup = empty_screen,
         .threads = {own_and_draw, own_and_draw}, .check = drawn_by_two, .bound = 3,
         .quick_bound = 2)
