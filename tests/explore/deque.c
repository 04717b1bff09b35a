/* The split deque under the explorer: the races of src/core/deque.md, one by one. Each
 * task is taken exactly once, and what its maker wrote into it is seen by who takes it.
 *
 * SPDX-License-Identifier: MIT */
#include <explore/engine/explore.h>

#include <core/deque.h>
#include <stdlib.h>
#include <sys/sys.h>

enum { TASKS = 8, CAPACITY = 4 };

static wf_deque deque;
static wf_task *tasks; /* on the heap: its plain accesses are checked */
static unsigned taken[TASKS];
static unsigned made; /* by the owner */

/* ---- what owners and thieves do ---- */

static void nothing(void *ctx) {
  (void)ctx;
}

static void take(const wf_task *task) {
  XP_CHECK(task->execute == nothing);
  size_t number = (size_t)(task - tasks);
  XP_CHECK(task->context == &taken[number]);
  taken[number]++;
}

/* As a join or a spawn does; the number of tasks that became public. */
static unsigned push(void) {
  wf_deque_news news = {0, false};
  wf_task *task = &tasks[made];
  task->execute = nothing;
  task->context = &taken[made++];
  if (!wf_deque_push(&deque, task)) return 0;
  wf_task *left_over = wf_deque_fork_slow(&deque, &news);
  if (left_over != NULL) take(left_over);
  return news.exposed;
}

static bool pop(void) {
  wf_deque_news news;
  wf_task *task = wf_deque_take_private(&deque);
  if (task == NULL) task = wf_deque_pop(&deque, &news);
  if (task != NULL) take(task);
  return task != NULL;
}

static void pop_all(void) {
  while (pop()) {
  }
}

static wf_steal steal(void) {
  wf_task *task;
  wf_steal result = wf_deque_steal(&deque, &task);
  if (result == WF_STEAL_GOT) take(task);
  return result;
}

static void steal_one(void) {
  (void)steal();
}

static void steal_two(void) {
  (void)steal();
  (void)steal();
}

/* Closes the pins, waits for the barrier, moves split: as a searching worker. */
static unsigned take_over(void) {
  wf_deque_pin(&deque);
  uint64_t asked = wf_deque_asked(&deque);
  if ((asked & WF_ASKED_STATE_MASK) == WF_ASKED_PINNED && !wf_sys_barrier()) {
    wf_deque_make_eager(&deque);
    return 0;
  }
  return wf_deque_take_over(&deque, asked);
}

static void take_over_and_steal(void) {
  (void)take_over();
  (void)steal();
}

static void take_over_only(void) {
  (void)take_over();
}

static void ask_and_steal(void) {
  if (steal() == WF_STEAL_EMPTY) wf_deque_ask(&deque);
  (void)steal();
}

/* ---- beginnings and ends ---- */

/* The slots of the ring hold what fresh memory holds. */
static void begin_fresh(uint64_t first_index, size_t capacity, bool eager) {
  made = 0;
  for (int i = 0; i < TASKS; i++) taken[i] = 0;
  tasks = (wf_task *)malloc(TASKS * sizeof *tasks);
  XP_CHECK(tasks != NULL);
  wf_deque_init(&deque, capacity, first_index, eager);
  XP_CHECK(wf_deque_prepare(&deque) == 0);
}

static void begin_at(uint64_t first_index, size_t capacity, bool eager) {
  begin_fresh(first_index, capacity, eager);
  /* As in a ring that was used before: an entry that is no task of now. */
  static wf_task stale = {.execute = NULL};
  for (size_t i = 0; i < capacity; i++) wf_ptr_store_relaxed(&deque.slots[i], &stale);
}

/* Some public tasks, then some private ones, with open pins. */
static void fill(unsigned public_tasks, unsigned private_tasks) {
  for (unsigned i = 0; i < public_tasks; i++) {
    wf_deque_ask(&deque);
    XP_CHECK(push() == 1);
  }
  if (public_tasks == 0) { /* the first task of a sealed deque is public */
    XP_CHECK(push() == 1);
    XP_CHECK(pop());
    made = 0;
    taken[0] = 0;
  }
  for (unsigned i = 0; i < private_tasks; i++) XP_CHECK(push() == 0);
}

#define BEGIN(name, public_tasks, private_tasks)                                         \
  static void name(void) {                                                               \
    begin_at(0, CAPACITY, false);                                                        \
    fill(public_tasks, private_tasks);                                                   \
  }

BEGIN(none, 0, 0)
BEGIN(one_public, 1, 0)
BEGIN(two_public, 2, 0)
BEGIN(three_public, 3, 0)
BEGIN(one_private, 0, 1)
BEGIN(two_private, 0, 2)
BEGIN(three_private, 0, 3)
BEGIN(one_of_each, 1, 1)

/* At the end the owner takes what is left; then each task was taken once. */
static void each_once(void) {
  pop_all();
  for (unsigned i = 0; i < made; i++) XP_CHECK(taken[i] == 1);
  XP_CHECK(wf_deque_is_empty(&deque));
  XP_CHECK(!wf_deque_has_public(&deque));
  wf_deque_destroy(&deque);
  free(tasks);
}

#define DEQUE(name, ...) SCENARIO(name, .check = each_once, __VA_ARGS__)

/* ---- the last task ---- */

static void pop_one(void) {
  (void)pop();
}
DEQUE(deque_last_task_one_thief, .setup = one_public, .threads = {pop_one, steal_one},
      .bound = XP_UNBOUNDED)
DEQUE(deque_last_task_two_thieves, .setup = one_public,
      .threads = {pop_one, steal_one, steal_one}, .bound = 3, .quick_bound = 2)
DEQUE(deque_two_thieves_no_owner, .setup = two_public, .threads = {steal_one, steal_one},
      .bound = XP_UNBOUNDED)

/* ---- retract against steal ---- */

DEQUE(deque_retract_against_steal, .setup = three_public, .threads = {pop_all, steal_two},
      .bound = 3, .sc_bound = XP_UNBOUNDED)
DEQUE(deque_retract_two_thieves, .setup = two_public,
      .threads = {pop_all, steal_one, steal_one}, .bound = 3, .quick_bound = 2)
DEQUE(deque_retract_and_private, .setup = one_of_each, .threads = {pop_all, steal_two},
      .bound = 3, .sc_bound = XP_UNBOUNDED)

/* ---- expose against steal ---- */

static void push_two_pop_all(void) {
  (void)push();
  (void)push();
  pop_all();
}
DEQUE(deque_expose_against_steal, .setup = none,
      .threads = {push_two_pop_all, ask_and_steal}, .bound = 3, .sc_bound = XP_UNBOUNDED)
DEQUE(deque_expose_two_askers, .setup = one_private,
      .threads = {push_two_pop_all, ask_and_steal, ask_and_steal}, .bound = 3,
      .ra_bound = 2, .quick_bound = 1)

/* Somebody asked; the owner ends without another fork: its next one must be offered. */
static unsigned exposed_at_last;
static void finish_and_leave(void) {
  (void)pop();
  wf_deque_seal_if_open(&deque);
  XP_CHECK(wf_deque_prepare(&deque) == 0);
  exposed_at_last = push();
}
static void offered_at_last(void) {
  XP_CHECK(exposed_at_last == 1);
  each_once();
}
SCENARIO(deque_asked_owner_finishes, .setup = one_private,
         .threads = {finish_and_leave, ask_and_steal}, .check = offered_at_last,
         .bound = 3, .sc_bound = XP_UNBOUNDED)

/* ---- take over ---- */

DEQUE(deque_take_over_last_private, .setup = one_private,
      .threads = {pop_one, take_over_and_steal}, .bound = 3, .sc_bound = XP_UNBOUNDED)
DEQUE(deque_take_over_busy_owner, .setup = two_private,
      .threads = {push_two_pop_all, take_over_and_steal}, .bound = 3, .quick_bound = 2)
DEQUE(deque_take_over_two_thieves, .setup = two_private,
      .threads = {pop_all, take_over_and_steal, take_over_and_steal}, .bound = 3,
      .ra_bound = 2, .quick_bound = 1)
DEQUE(deque_take_over_against_asker, .setup = one_private,
      .threads = {push_two_pop_all, take_over_and_steal, ask_and_steal}, .bound = 3,
      .ra_bound = 2, .quick_bound = 1)

/* Tasks below a bottom that the owner has moved down, or down and up again, are seen by
 * a thief that takes over and has read that bottom. */
static void push_two_pop_two(void) {
  (void)push();
  (void)push();
  (void)pop();
  (void)pop();
}
DEQUE(deque_take_over_after_pop, .setup = none,
      .threads = {push_two_pop_two, take_over_and_steal}, .bound = 3, .quick_bound = 2)

/* A third thread takes what a take-over has made public: it sees what the owner wrote. */
static void push_one(void) {
  (void)push();
}
DEQUE(deque_take_over_for_another, .setup = none,
      .threads = {push_one, take_over_only, steal_one}, .bound = 3, .quick_bound = 2)

/* A worker on its way to sleep that finds the pins sealed needs no barrier, and sees what
 * the one who sealed them has made public. */
static void look_if_sealed(void) {
  if ((wf_deque_asked(&deque) & WF_ASKED_STATE_MASK) == WF_ASKED_SEALED)
    XP_CHECK(wf_deque_has_public(&deque));
}
DEQUE(deque_sealed_shows_split, .setup = one_private,
      .threads = {take_over_only, look_if_sealed}, .bound = XP_UNBOUNDED)

/* Who sees that a thief has moved top also sees the split that the thief saw: "nothing
 * public" is not said while there is something. */
static void answer_with_two(void) {
  wf_deque_ask(&deque);
  XP_CHECK(push() == 2);
}
static void look_after_thief(void) {
  if (wf_u64_load_relaxed(&deque.x_top) == 2) XP_CHECK(wf_deque_has_public(&deque));
}
static void three_private_from_1(void) {
  three_private();
  XP_CHECK(wf_u64_load_relaxed(&deque.x_top) == 1); /* one was made and taken before */
}
DEQUE(deque_has_public_after_thief, .setup = three_private_from_1,
      .threads = {answer_with_two, steal_one, look_after_thief}, .bound = 3,
      .quick_bound = 2)

/* A take-over leaves private tasks; the next one needs no barrier. */
static void take_over_rich_and_steal(void) {
  uint64_t asked = wf_deque_asked(&deque);
  if ((asked & WF_ASKED_STATE_MASK) == WF_ASKED_RICH)
    (void)wf_deque_take_over(&deque, asked);
  (void)steal();
}
DEQUE(deque_take_over_rich, .setup = three_private,
      .threads = {pop_all, take_over_and_steal, take_over_rich_and_steal}, .bound = 3,
      .ra_bound = 2, .quick_bound = 1)

/* The barrier of a take-over does not cover pins that were opened and closed since. */
static void push_pop_push(void) {
  (void)push();
  (void)pop();
  (void)push();
  pop_all();
}
static void ask(void) {
  wf_deque_ask(&deque);
}
DEQUE(deque_take_over_old_pins, .setup = one_private,
      .threads = {push_pop_push, take_over_and_steal, ask}, .bound = 3, .ra_bound = 2,
      .quick_bound = 1)

/* ---- growth ---- */

static void small(void) {
  begin_at(0, 2, false);
  fill(1, 0);
}
static void push_three_pop_all(void) {
  (void)push();
  (void)push();
  (void)push();
  pop_all();
}
DEQUE(deque_growth_under_thief, .setup = small,
      .threads = {push_three_pop_all, steal_two}, .bound = 3, .sc_bound = XP_UNBOUNDED,
      .quick_bound = 2)
DEQUE(deque_growth_two_thieves, .setup = small,
      .threads = {push_three_pop_all, steal_one, steal_one}, .bound = 3, .ra_bound = 2,
      .quick_bound = 1)
DEQUE(deque_growth_under_take_over, .setup = small,
      .threads = {push_three_pop_all, take_over_and_steal}, .bound = 3, .ra_bound = 2,
      .quick_bound = 2)
DEQUE(deque_full_without_memory, .setup = small,
      .threads = {push_three_pop_all, steal_two}, .failing_allocations = 2, .bound = 3,
      .ra_bound = 2, .quick_bound = 1)
DEQUE(deque_full_under_take_over, .setup = small,
      .threads = {push_three_pop_all, take_over_and_steal}, .failing_allocations = 2,
      .bound = 3, .ra_bound = 2, .quick_bound = 1)

/* Empty in the upper half of the ring: all indices move on to its start. */
static void at_the_end_of_the_ring(void) {
  begin_at(3, CAPACITY, false);
  fill(1, 0);
}
DEQUE(deque_next_lap, .setup = at_the_end_of_the_ring,
      .threads = {push_two_pop_all, steal_two}, .bound = 3, .sc_bound = XP_UNBOUNDED,
      .quick_bound = 2)

/* ---- slots that were never written ---- */

/* A thief that was delayed after it read top may read a slot that nobody has written. It
 * must drop the value. Each case comes twice: with the library's steal, and with a thief
 * that looks at what it has read before its CAS, and so shows that the case occurs. */
static void look_before_taking(void) {
  uint64_t top = wf_u64_load_acquire(&deque.x_top);
  wf_fence_seq_cst();
  uint64_t split = wf_u64_load_acquire(&deque.x_split);
  if ((int64_t)(split - top) <= 0) return;
  wf_ring *ring = (wf_ring *)wf_ptr_load_acquire(&deque.x_ring);
  wf_task *task =
      (wf_task *)wf_ptr_load_relaxed(&ring->slots[top & (ring->capacity - 1)]);
  XP_CHECK(task >= tasks && task < tasks + TASKS);
  if (wf_u64_cas_seq_cst(&deque.x_top, &top, top + 1)) take(task);
}

/* Growth copies from the present top on: the slot of an older one stays as it was. */
static void small_and_fresh(void) {
  begin_fresh(0, 2, false);
  fill(1, 0);
}
static void pop_one_push_three(void) {
  (void)pop();
  (void)push();
  (void)push();
  (void)push();
}
DEQUE(deque_old_top_after_growth, .setup = small_and_fresh,
      .threads = {pop_one_push_three, steal_one}, .bound = 3, .sc_bound = XP_UNBOUNDED,
      .quick_bound = 2)
DEQUE(deque_old_top_after_growth_looks, .setup = small_and_fresh,
      .threads = {pop_one_push_three, look_before_taking}, .bound = 2,
      .expect = XP_ASSERTION)

/* The jump to the next lap leaves indices out: a thief may have read such a one. */
static void shortly_before_the_end(void) {
  begin_fresh(2, CAPACITY, false);
  fill(1, 0);
}
static void pop_one_push_two(void) {
  (void)pop();
  (void)push();
  (void)push();
}
DEQUE(deque_old_top_after_next_lap, .setup = shortly_before_the_end,
      .threads = {pop_one_push_two, steal_one}, .bound = 3, .sc_bound = XP_UNBOUNDED,
      .quick_bound = 2)
DEQUE(deque_old_top_after_next_lap_looks, .setup = shortly_before_the_end,
      .threads = {pop_one_push_two, look_before_taking}, .bound = 2,
      .expect = XP_ASSERTION)

/* ---- indices near their ends ---- */

static const uint64_t EDGES[] = {((uint64_t)1 << 32) - 2, ((uint64_t)1 << 63) - 2,
                                 (uint64_t)0 - 2};
static void near_the_edge(void) {
  begin_at(EDGES[xp_any(3)], 2, false);
  fill(1, 0);
}
DEQUE(deque_wrap_last_task, .setup = near_the_edge, .threads = {pop_one, steal_one},
      .bound = 3, .sc_bound = XP_UNBOUNDED)
DEQUE(deque_wrap_growth, .setup = near_the_edge,
      .threads = {push_three_pop_all, steal_two}, .bound = 3, .ra_bound = 2,
      .quick_bound = 1)
DEQUE(deque_wrap_take_over, .setup = near_the_edge,
      .threads = {push_two_pop_all, take_over_and_steal}, .bound = 3, .ra_bound = 2,
      .quick_bound = 1)

/* ---- no barrier on this system ---- */

static void eager(void) {
  begin_at(0, CAPACITY, true);
  XP_CHECK(push() == 1);
}
DEQUE(deque_eager, .setup = eager, .threads = {push_two_pop_all, steal_two},
      .no_barrier = true, .bound = 3, .sc_bound = XP_UNBOUNDED, .quick_bound = 2)
DEQUE(deque_eager_two_thieves, .setup = eager,
      .threads = {push_two_pop_all, steal_one, ask_and_steal}, .no_barrier = true,
      .bound = 3, .ra_bound = 2, .quick_bound = 1)

/* ---- a barrier that is refused from some moment on ---- */

DEQUE(deque_barrier_ends, .setup = two_private,
      .threads = {push_two_pop_all, take_over_and_steal}, .barrier_ends = true,
      .bound = 3, .ra_bound = 2, .quick_bound = 1)
DEQUE(deque_barrier_ends_two_thieves, .setup = two_private,
      .threads = {push_two_pop_all, take_over_and_steal, take_over_and_steal},
      .barrier_ends = true, .ra_bound = 1, .quick_bound = -2)
DEQUE(deque_barrier_ends_in_rich, .setup = three_private,
      .threads = {pop_all, take_over_and_steal, take_over_rich_and_steal},
      .barrier_ends = true, .ra_bound = 1, .quick_bound = 1)
DEQUE(deque_barrier_ends_when_full, .setup = small,
      .threads = {push_three_pop_all, take_over_and_steal}, .barrier_ends = true,
      .failing_allocations = 1, .ra_bound = 1, .quick_bound = -2)

/* Once the owner has come by, all it has is public, and it stays so. */
static void refuse(void) {
  wf_deque_make_eager(&deque);
}
static void push_until_eager(void) {
  while (!wf_deque_is_eager(&deque)) wf_sys_relax();
  for (int i = 0; i < 2; i++) {
    XP_CHECK(push() > 0); /* and with it, the first time, what was private before */
    XP_CHECK((wf_deque_asked(&deque) & WF_ASKED_STATE_MASK) == WF_ASKED_SEALED);
  }
}
DEQUE(deque_eager_for_good, .setup = two_private,
      .threads = {push_until_eager, refuse, steal_one}, .bound = 3, .ra_bound = 2,
      .modes = XP_SC | XP_TSO, .quick_bound = 1)

/* ---- nothing is taken while a flag is set ---- */

static wf_u64 x_flags;
static void one_public_no_flag(void) {
  one_public();
  wf_u64_store_relaxed(&x_flags, 0);
}
static void set_flag_and_push(void) {
  (void)pop();
  (void)wf_u64_fetch_or_seq_cst(&x_flags, 2);
  wf_deque_ask(&deque);
  (void)push();
}
static void steal_unless_flag(void) {
  for (int i = 0; i < 2; i++) {
    wf_task *task;
    if (wf_deque_steal_unless(&deque, &x_flags, 2, &task) != WF_STEAL_GOT) continue;
    XP_CHECK(task == &tasks[0]);
    take(task);
  }
}
DEQUE(deque_steal_unless_flag, .setup = one_public_no_flag,
      .threads = {set_flag_and_push, steal_unless_flag}, .bound = 3,
      .sc_bound = XP_UNBOUNDED)

/* ---- a private fork against a worker that goes to sleep ---- */

static wf_u32 x_asleep;
static void none_asleep(void) {
  none();
  wf_u32_store_relaxed(&x_asleep, 0);
}
static void fork_and_tell(void) {
  if (push() == 0) return;
  wf_fence_seq_cst();
  if (wf_u32_exchange_acq_rel(&x_asleep, 0) == 1) wf_sys_wake_one(&x_asleep);
}
static void look_and_sleep(void) {
  (void)wf_u32_exchange_acq_rel(&x_asleep, 1);
  wf_fence_seq_cst();
  if (!wf_deque_has_public(&deque) && take_over() == 0 && !wf_deque_has_public(&deque))
    while (wf_u32_load_acquire(&x_asleep) == 1) wf_sys_wait(&x_asleep, 1);
  (void)steal();
}
/* If the fork comes first and stays private, the sleeper takes over; if it comes later it
 * takes the slow half and sees the sleeper. So the sleeper always gets the task. */
static void sleeper_got_it(void) {
  XP_CHECK(taken[0] == 1);
  each_once();
}
SCENARIO(deque_private_fork_against_sleep, .setup = none_asleep,
         .threads = {fork_and_tell, look_and_sleep}, .check = sleeper_got_it, .bound = 3,
         .sc_bound = XP_UNBOUNDED)

/* If the barrier is refused, the fork may stay private until its owner comes by; the
 * sleeper waits with a time limit. Nobody waits for ever, and the task runs once. */
static void fork_tell_and_join(void) {
  fork_and_tell();
  pop_all();
}
static void look_and_nap(void) {
  (void)wf_u32_exchange_acq_rel(&x_asleep, 1);
  wf_fence_seq_cst();
  if (!wf_deque_has_public(&deque) && take_over() == 0 && !wf_deque_has_public(&deque))
    while (wf_u32_load_acquire(&x_asleep) == 1)
      if (!wf_sys_wait_for(&x_asleep, 1, 1000000)) break;
  (void)steal();
}
DEQUE(deque_barrier_ends_against_sleep, .setup = none_asleep,
      .threads = {fork_tell_and_join, look_and_nap}, .barrier_ends = true, .bound = 3,
      .ra_bound = 2, .quick_bound = 1)
