/* Injector, counters, bit sets and arenas under the explorer.
 *
 * SPDX-License-Identifier: MIT */
#include <explore/engine/explore.h>

#include <core/arena.h>
#include <core/bitset.h>
#include <core/counters.h>
#include <core/injector.h>
#include <stdlib.h>
#include <sys/sys.h>

/* ---- injector ---- */

enum { ENTRIES = 4 };

static wf_injector injector;
static unsigned *values; /* on the heap: its plain accesses are checked */
static unsigned pushed[ENTRIES], taken[ENTRIES];
static wf_receipt receipt;

static void nothing(void *ctx) {
  (void)ctx;
}

static void begin_at(uint64_t first_index) {
  wf_injector_init(&injector, first_index);
  values = (unsigned *)calloc(ENTRIES, sizeof *values);
  XP_CHECK(values != NULL);
  for (int i = 0; i < ENTRIES; i++) pushed[i] = taken[i] = 0;
}

static void begin(void) {
  begin_at(0);
}

static void push(unsigned number, wf_receipt *where) {
  values[number] = number + 1;
  if (wf_injector_push(&injector, nothing, &values[number], where) == 0)
    pushed[number] = 1;
}

static bool take(void) {
  wf_injected entry;
  if (!wf_injector_take(&injector, &entry)) return false;
  unsigned *value = (unsigned *)entry.ctx;
  XP_CHECK(entry.fn == nothing);
  if (value == NULL) return true; /* only there to fill a segment */
  XP_CHECK(*value == (unsigned)(value - values) + 1);
  taken[value - values]++;
  return true;
}

static void end(void) {
  while (take()) {
  }
  XP_CHECK(!wf_injector_any(&injector));
  for (int i = 0; i < ENTRIES; i++) XP_CHECK(taken[i] == pushed[i]);
  wf_injector_destroy(&injector);
  free(values);
}

static void push_0(void) {
  push(0, NULL);
}
static void push_1(void) {
  push(1, NULL);
}
static void push_0_and_1(void) {
  push(0, NULL);
  push(1, NULL);
}
static void take_one(void) {
  (void)take();
}
static void take_two(void) {
  (void)take();
  (void)take();
}

#define INJECTOR(name, ...) SCENARIO(name, .check = end, __VA_ARGS__)

INJECTOR(injector_one_each, .setup = begin, .threads = {push_0_and_1, take_two},
         .bound = 3)
INJECTOR(injector_two_producers, .setup = begin, .threads = {push_0, push_1, take_two},
         .bound = 3, .quick_bound = 2)
INJECTOR(injector_two_consumers, .setup = begin,
         .threads = {push_0_and_1, take_one, take_one}, .bound = 3, .quick_bound = 2)
INJECTOR(injector_two_of_each, .setup = begin,
         .threads = {push_0, push_1, take_one, take_one}, .quick_bound = 1)

/* Order of arrival. */
static void take_two_in_order(void) {
  if (take()) XP_CHECK(taken[0] == 1);
  (void)take();
}
INJECTOR(injector_first_in_first_out, .setup = begin,
         .threads = {push_0_and_1, take_two_in_order}, .bound = 3)

static void near_the_edge(void) {
  begin_at((uint64_t)0 - 1);
}
INJECTOR(injector_wrap, .setup = near_the_edge, .threads = {push_0_and_1, take_two},
         .bound = 3)

/* The last entry of a segment, and the first of the next. */
static void at_the_end_of_a_segment(void) {
  wf_injected entry;
  begin();
  for (int i = 0; i < WF_SEGMENT_ENTRIES - 1; i++)
    XP_CHECK(wf_injector_push(&injector, nothing, NULL, NULL) == 0);
  for (int i = 0; i < WF_SEGMENT_ENTRIES - 1; i++)
    XP_CHECK(wf_injector_take(&injector, &entry));
}
INJECTOR(injector_next_segment, .setup = at_the_end_of_a_segment,
         .threads = {push_0_and_1, take_two}, .bound = 3)
INJECTOR(injector_next_segment_without_memory, .setup = at_the_end_of_a_segment,
         .threads = {push_0_and_1, take_two}, .failing_allocations = 1, .bound = 3)

/* A segment that was used up is used again. */
static void use_a_whole_segment(void) {
  for (int i = 0; i < WF_SEGMENT_ENTRIES; i++)
    XP_CHECK(wf_injector_push(&injector, nothing, NULL, NULL) == 0);
}
static void at_the_end_of_two(void) {
  wf_injected entry;
  at_the_end_of_a_segment();
  use_a_whole_segment();
  for (int i = 0; i < WF_SEGMENT_ENTRIES; i++)
    XP_CHECK(wf_injector_take(&injector, &entry)); /* one segment is in reserve now */
}
INJECTOR(injector_recycled_segment, .setup = at_the_end_of_two,
         .threads = {push_0_and_1, take_two}, .bound = 3)

/* The consumer leaves a segment, and the producer needs one. */
static void at_the_end_of_both(void) {
  wf_injected entry;
  begin();
  use_a_whole_segment();
  for (int i = 0; i < WF_SEGMENT_ENTRIES - 1; i++)
    XP_CHECK(wf_injector_push(&injector, nothing, NULL, NULL) == 0);
  for (int i = 0; i < WF_SEGMENT_ENTRIES - 1; i++)
    XP_CHECK(wf_injector_take(&injector, &entry));
}
INJECTOR(injector_segment_handed_on, .setup = at_the_end_of_both,
         .threads = {push_0_and_1, take_one}, .bound = 3)

/* What was pushed is taken or taken back, not both. */
static void one_with_ticket(void) {
  begin();
  push(0, &receipt);
}
static void revoke(void) {
  if (wf_injector_revoke(&injector, &receipt)) pushed[0]--;
}
INJECTOR(injector_revoke_against_take, .setup = one_with_ticket,
         .threads = {revoke, take_one}, .bound = XP_UNBOUNDED)
INJECTOR(injector_revoke_take_push, .setup = one_with_ticket,
         .threads = {revoke, take_two, push_1}, .bound = 3, .quick_bound = 2)

/* A hole behind all that consumers have seen: the one that takes the entry before the
 * hole also passes the hole. */
static void one_left_of_two_seen(void) {
  begin();
  for (int i = 0; i < 2; i++)
    XP_CHECK(wf_injector_push(&injector, nothing, NULL, NULL) == 0);
  XP_CHECK(take());
}
static void push_and_revoke(void) {
  push(0, &receipt);
  revoke();
}
INJECTOR(injector_hole_not_seen, .setup = one_left_of_two_seen,
         .threads = {push_and_revoke, take_two}, .bound = 3)
INJECTOR(injector_hole_not_seen_by_two, .setup = one_left_of_two_seen,
         .threads = {push_and_revoke, take_one, take_one}, .bound = 3, .quick_bound = 2)

static bool is_value(void *ctx, const void *arg) {
  return ctx == arg;
}
static void two_queued(void) {
  begin();
  push_0_and_1();
}
static void take_second(void) {
  wf_injected entry;
  if (wf_injector_take_match(&injector, nothing, is_value, &values[1], &entry))
    taken[1]++;
}
static void push_and_match_1(void) {
  push(1, NULL);
  take_second();
}
INJECTOR(injector_match_not_seen, .setup = one_left_of_two_seen,
         .threads = {push_and_match_1, take_two}, .bound = 3)
INJECTOR(injector_match_against_take, .setup = two_queued,
         .threads = {take_second, take_two}, .bound = XP_UNBOUNDED, .quick_bound = 3)
INJECTOR(injector_match_against_push, .setup = one_with_ticket,
         .threads = {take_second, push_1, take_one}, .bound = 3, .quick_bound = 2)

/* Who sees that a consumer has taken one of two also sees that there were two. */
static void take_one_of_two(void) {
  if (wf_u64_load_acquire(&injector.x_pushed) == 2) (void)take();
}
static void look_after_consumer(void) {
  if (wf_u64_load_relaxed(&injector.x_taken) == 1) XP_CHECK(wf_injector_any(&injector));
}
INJECTOR(injector_any_after_take, .setup = begin,
         .threads = {push_0_and_1, take_one_of_two, look_after_consumer}, .bound = 3,
         .quick_bound = 2)

/* There is one, and a consumer that takes it sees a second one before it says so: at no
 * moment is the queue empty, so a thread that looks never finds it empty. */
static bool looked_empty, saw_second;
static void one_queued(void) {
  begin();
  push(0, NULL);
  looked_empty = saw_second = false;
}
static void take_and_note(void) {
  (void)take();
  saw_second = wf_u64_peek(&injector.x_seen) == 2;
}
static void look(void) {
  looked_empty = !wf_injector_any(&injector);
}
static void never_looked_empty(void) {
  XP_CHECK(!(looked_empty && saw_second));
  end();
}
SCENARIO(injector_never_empty, .setup = one_queued,
         .threads = {push_1, take_and_note, look}, .check = never_looked_empty,
         .bound = 3, .quick_bound = 2)

/* Never misses a push that has returned: the sleeper looks after it has registered. */
static wf_u32 x_asleep;
static void begin_awake(void) {
  begin();
  wf_u32_store_relaxed(&x_asleep, 0);
}
static void push_and_tell(void) {
  push_0();
  wf_fence_seq_cst();
  if (wf_u32_exchange_acq_rel(&x_asleep, 0) == 1) wf_sys_wake_one(&x_asleep);
}
static void sleep_unless_any(void) {
  (void)wf_u32_exchange_acq_rel(&x_asleep, 1);
  wf_fence_seq_cst();
  if (!wf_injector_any(&injector))
    while (wf_u32_load_acquire(&x_asleep) == 1) wf_sys_wait(&x_asleep, 1);
  XP_CHECK(take());
}
INJECTOR(injector_push_against_sleep, .setup = begin_awake,
         .threads = {push_and_tell, sleep_unless_any}, .bound = 3)

/* ---- counters: the sleep of a pool in small ---- */

/* The workers are in different groups if there are two, and then there is no JEC. */
static wf_counters counters;
static wf_u64 x_sleepers;
static wf_u32 x_work, x_park[2];

static void begin_counters_at(uint32_t jec, unsigned groups) {
  wf_u32_store_relaxed(&counters.x_jec, jec);
  counters.groups = groups;
  for (int i = 0; i < 2; i++) wf_u32_store_relaxed(&counters.of[i].x_inactive, 0);
  wf_u64_store_relaxed(&x_sleepers, 0);
  wf_u32_store_relaxed(&x_work, 0);
  for (int i = 0; i < 2; i++) wf_u32_store_relaxed(&x_park[i], 0);
}
static void begin_counters(void) {
  begin_counters_at(xp_any(2), 1);
}
static void begin_counters_near_wrap(void) {
  begin_counters_at(UINT32_MAX - xp_any(3), 1);
}
static void begin_groups(void) {
  begin_counters_at(0, 2);
}

/* Wakes a sleeper if nobody searches: the set is read before the counts. */
static void wake_unless_searching(void) {
  unsigned sleeping = (unsigned)__builtin_popcountll(wf_u64_load_seq_cst(&x_sleepers));
  if (sleeping == 0 || wf_counters_inactive(&counters) > sleeping) return;
  int index = wf_bitset_take_any(&x_sleepers, 1);
  if (index < 0) return;
  wf_u32_store_release(&x_park[index], 0);
  wf_sys_wake_one(&x_park[index]);
}

static void post(void) {
  (void)wf_u32_fetch_add_seq_cst(&x_work, 1);
  wf_fence_seq_cst();
  wf_counters_post(&counters);
  wake_unless_searching();
}

/* The sleeper of src/sched/sleep.md, steps 1 to 8, until it finds work. */
static bool find_work(void) {
  uint32_t work = wf_u32_load_relaxed(&x_work);
  while (work > 0)
    if (wf_u32_cas_seq_cst(&x_work, &work, work - 1)) return true;
  return false;
}

static void sleep_once(unsigned me, uint32_t jec) {
  if (wf_counters_has_moved(&counters, jec)) return;
  wf_u32_store_relaxed(&x_park[me], 1);
  wf_bitset_add(&x_sleepers, me);
  wf_fence_seq_cst();
  if (wf_u32_load_relaxed(&x_work) > 0 && wf_bitset_remove(&x_sleepers, me)) return;
  while (wf_u32_load_acquire(&x_park[me]) == 1) wf_sys_wait(&x_park[me], 1);
}

static void work_once(void) {
  unsigned me = xp_self() - 1, group = counters.groups > 1 ? me : 0;
  wf_counters_add_inactive(&counters, group);
  while (!find_work()) {
    uint32_t jec = wf_counters_announce(&counters);
    if (find_work()) break;
    sleep_once(me, jec);
  }
  wf_counters_sub_inactive(&counters, group);
}

static void all_done(void) {
  XP_CHECK(wf_u32_load_relaxed(&x_work) == 0);
  XP_CHECK(wf_counters_inactive(&counters) == 0);
  XP_CHECK(wf_u64_load_relaxed(&x_sleepers) == 0);
  XP_CHECK(counters.groups == 1 || wf_u32_load_relaxed(&counters.x_jec) == 0);
}
SCENARIO(counters_post_against_sleep, .setup = begin_counters,
         .threads = {work_once, post}, .check = all_done, .bound = 3)
SCENARIO(counters_wrap, .setup = begin_counters_near_wrap, .threads = {work_once, post},
         .check = all_done, .bound = 3, .quick_bound = 2)
SCENARIO(counters_post_against_sleep_in_groups, .setup = begin_groups,
         .threads = {work_once, post}, .check = all_done, .bound = 3)
static void post_twice(void) {
  post();
  post();
}

/* Two workers: one that found work, and leaves nobody searching, wakes the next one. */
static void work_and_wake_next(void) {
  work_once();
  wake_unless_searching();
}
SCENARIO(counters_cascade, .setup = begin_counters,
         .threads = {work_and_wake_next, work_and_wake_next, post_twice},
         .check = all_done, .quick_bound = 1)
SCENARIO(counters_cascade_in_groups, .setup = begin_groups,
         .threads = {work_and_wake_next, work_and_wake_next, post_twice},
         .check = all_done, .quick_bound = 1)

/* ---- bit sets ---- */

static wf_u64 x_bits[2];
static unsigned claims[3];

static void begin_bits(void) {
  wf_u64_store_relaxed(&x_bits[0], 3);
  wf_u64_store_relaxed(&x_bits[1], 1);
  for (int i = 0; i < 3; i++) claims[i] = 0;
}
static void claim_any(void) {
  int index = wf_bitset_take_any(x_bits, 2);
  XP_CHECK(index == 0 || index == 1 || index == 64);
  claims[index == 64 ? 2 : index]++;
}
static void claimed_once_each(void) {
  for (int i = 0; i < 3; i++) XP_CHECK(claims[i] == 1);
  XP_CHECK(wf_bitset_take_any(x_bits, 2) == -1);
}
SCENARIO(bitset_three_claims, .setup = begin_bits,
         .threads = {claim_any, claim_any, claim_any}, .check = claimed_once_each,
         .bound = 3, .quick_bound = 2)
static void remove_first(void) {
  if (wf_bitset_remove(x_bits, 0)) claims[0]++;
}
static void first_claimed_once(void) {
  XP_CHECK(claims[0] == 1);
  XP_CHECK(!wf_bitset_has(x_bits, 0));
}
SCENARIO(bitset_two_remove_one, .setup = begin_bits,
         .threads = {remove_first, remove_first}, .check = first_claimed_once,
         .bound = XP_UNBOUNDED)

/* What the one who leaves a place wrote there is seen by the one who gets it. */
static unsigned *place;
static void begin_place(void) {
  wf_u64_store_relaxed(&x_bits[0], 0);
  place = (unsigned *)calloc(1, sizeof *place);
  XP_CHECK(place != NULL);
}
static void use_place(void) {
  while (wf_bitset_has(x_bits, 5) || !wf_bitset_add(x_bits, 5)) wf_sys_relax();
  ++*place;
  XP_CHECK(wf_bitset_remove(x_bits, 5));
}
static void place_used(void) {
  XP_CHECK(*place == 3);
  free(place);
}
SCENARIO(bitset_place_handed_on, .setup = begin_place,
         .threads = {use_place, use_place, use_place}, .check = place_used,
         .quick_bound = 1)

/* Who sees that a place was left may free what its user wrote to. */
static void begin_left_place(void) {
  begin_place();
  wf_bitset_add(x_bits, 5);
}
static void leave_place(void) {
  *place = 3;
  XP_CHECK(wf_bitset_remove(x_bits, 5));
}
static void free_left_place(void) {
  while (wf_bitset_has(x_bits, 5)) wf_sys_relax();
  place_used();
}
SCENARIO(bitset_left_place_is_freed, .setup = begin_left_place,
         .threads = {leave_place, free_left_place}, .bound = XP_UNBOUNDED)

/* ---- arena ---- */

static wf_arena *arena;
static wf_cell *cells[2];

static void begin_arena(void) {
  arena = (wf_arena *)aligned_alloc(WF_CACHE_LINE, sizeof *arena);
  XP_CHECK(arena != NULL);
  *arena = (wf_arena){0};
  for (int i = 0; i < 2; i++) {
    cells[i] = wf_arena_take(arena, 0);
    XP_CHECK(cells[i] != NULL);
  }
  /* Nothing but what comes home is left. */
  arena->unused_size = 0;
}
static void send_home_0(void) {
  *(unsigned *)(void *)(cells[0] + 1) = 7; /* the payload */
  wf_cell_give_back(cells[0], NULL);
}
static void send_home_1(void) {
  wf_cell_give_back(cells[1], NULL);
}
static void take_and_give(void) {
  wf_cell *cell = wf_arena_take(arena, 0);
  if (cell == NULL) return;
  *(unsigned *)(void *)(cell + 1) = 8;
  wf_cell_give_back(cell, arena);
}
/* Both cells are at home; two more may be there, from a new slab. */
static void arena_whole(void) {
  unsigned found[2] = {0, 0};
  for (int n = 0; n < 4; n++) {
    const wf_cell *cell = wf_arena_take(arena, 0);
    for (int i = 0; i < 2; i++)
      if (cell == cells[i]) found[i]++;
  }
  XP_CHECK(found[0] == 1 && found[1] == 1);
  wf_arena_destroy(arena);
  free(arena);
}
SCENARIO(arena_two_come_home, .setup = begin_arena,
         .threads = {send_home_0, send_home_1, take_and_give}, .check = arena_whole,
         .failing_allocations = 1, .bound = 3, .quick_bound = 2)

/* The owner has met the group of a thread that was stopped before it had linked it: what
 * comes home later is not held up by that thread. */
static void take_past_a_sender(void) {
  wf_cell *first = wf_arena_take(arena, 0);
  bool waits = arena->waiting != NULL;
  wf_cell_give_back(cells[1], NULL);
  wf_cell *second = wf_arena_take(arena, 0);
  XP_CHECK(!waits || second == cells[0] || second == cells[1]);
  if (first != NULL) wf_cell_give_back(first, arena);
  if (second != NULL) wf_cell_give_back(second, arena);
}
SCENARIO(arena_sender_is_stopped, .setup = begin_arena,
         .threads = {send_home_0, take_past_a_sender}, .check = arena_whole,
         .failing_allocations = 1, .bound = 3, .quick_bound = 2)

/* A group of two comes home at once. */
static wf_arena *collector;
static void begin_group(void) {
  begin_arena();
  collector = (wf_arena *)aligned_alloc(WF_CACHE_LINE, sizeof *collector);
  XP_CHECK(collector != NULL);
  *collector = (wf_arena){.collects = true};
}
static void send_group(void) {
  for (int i = 0; i < 2; i++) {
    *(unsigned *)(void *)(cells[i] + 1) = 7;
    wf_cell_give_back(cells[i], collector);
  }
  wf_arena_send_away(collector);
}
static void take_two_cells(void) {
  wf_cell *first = wf_arena_take(arena, 0), *second = wf_arena_take(arena, 0);
  XP_CHECK(first == NULL || first != second);
  if (first != NULL) wf_cell_give_back(first, arena);
  if (second != NULL) wf_cell_give_back(second, arena);
}
static void group_whole(void) {
  arena->unused_size = 0; /* what is left of a new slab */
  wf_arena_destroy(collector);
  free(collector);
  arena_whole();
}
SCENARIO(arena_group_comes_home, .setup = begin_group,
         .threads = {send_group, take_two_cells}, .check = group_whole,
         .failing_allocations = 2, .bound = 3, .quick_bound = 2)
