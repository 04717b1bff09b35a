/* Memory for each thread (core/per_thread.md): slots made at the same time, tables that
 * grow meanwhile, blocks that several take from, walks along the list, refused memory.
 *
 * SPDX-License-Identifier: MIT */
#include "core/per_thread.h"

#include <explore/engine/explore.h>
#include <weft/base.h>

static wf_per_thread table;

/* Writes to its slot without any order: two threads in one slot are a race. */
static void use_slot(unsigned *own) {
  XP_CHECK(own != NULL);
  ++*own;
}

static uintptr_t own_key(void) {
  return (uintptr_t)xp_self() * 4096;
}

static void set_up(void) {
  XP_CHECK(wf_per_thread_init(&table, sizeof(unsigned), 1, NULL, NULL) == 0);
}

static unsigned check_slots(unsigned slots) {
  unsigned sum = 0, count = 0;
  for (const wf_thread_slot *s = wf_per_thread_first(&table); s != NULL; s = s->next) {
    sum += *(unsigned *)wf_slot_memory(s);
    count++;
  }
  XP_CHECK(count == slots);
  wf_per_thread_destroy(&table); /* asserts the invariants of the tables */
  return sum;
}

/* ---- two and three threads: the table has room for one and must grow ---- */

static void get_twice(void) {
  unsigned *own = wf_per_thread_get(&table, own_key());
  use_slot(own);
  unsigned *again = wf_per_thread_get(&table, own_key());
  XP_CHECK(again == own);
  use_slot(again);
}

static void get_once(void) {
  use_slot(wf_per_thread_get(&table, own_key()));
}

static void check_two(void) {
  XP_CHECK(check_slots(2) == 4);
}
static void check_three(void) {
  XP_CHECK(check_slots(3) == 3);
}

SCENARIO(first_uses_meet, .setup = set_up, .threads = {get_twice, get_twice},
         .check = check_two, .bound = 3, .quick_bound = 2)
SCENARIO(three_first_uses_meet, .setup = set_up,
         .threads = {get_once, get_once, get_once}, .check = check_three, .bound = 2,
         .quick_bound = 1)

/* ---- one block for two, and a third thread ---- */

static void set_up_reserved(void) {
  set_up();
  XP_CHECK(wf_per_thread_reserve(&table, 2) == 0);
}

static void reserve_then_get(void) {
  XP_CHECK(wf_per_thread_reserve(&table, 1) == 0);
  get_once();
}

SCENARIO(reserved_for_fewer, .setup = set_up_reserved,
         .threads = {get_once, get_once, get_once}, .check = check_three, .bound = 2,
         .quick_bound = 1)

static void check_two_once(void) {
  XP_CHECK(check_slots(2) == 2);
}
SCENARIO(reserved_meanwhile, .setup = set_up, .threads = {reserve_then_get, get_once},
         .check = check_two_once, .bound = 3, .quick_bound = 2)

/* ---- somebody walks along the list meanwhile ---- */

static void walk(void) {
  unsigned count = 0;
  uintptr_t keys = 0;
  for (const wf_thread_slot *s = wf_per_thread_first(&table); s != NULL; s = s->next) {
    XP_CHECK(s->key == 4096 || s->key == 8192);
    XP_CHECK((keys & s->key) == 0); /* none twice */
    keys |= s->key;
    count++;
  }
  XP_CHECK(count <= 2);
}

SCENARIO(list_is_read_meanwhile, .setup = set_up, .threads = {get_once, get_once, walk},
         .check = check_two_once, .bound = 2, .quick_bound = 1)

/* ---- memory that is refused at each point ---- */

static unsigned got[3];

static void set_up_faults(void) {
  if (wf_per_thread_init(&table, sizeof(unsigned), 1, NULL, NULL) != 0)
    set_up(); /* that was the only fault */
  got[1] = got[2] = 0;
}

/* A second try has memory. */
static void get_or_not(void) {
  for (int i = 0; i < 2; i++) {
    unsigned *own = wf_per_thread_get(&table, own_key());
    if (own == NULL) continue;
    ++*own;
    got[xp_self()]++;
  }
  XP_CHECK(got[xp_self()] > 0);
}

static void check_faults(void) {
  XP_CHECK(check_slots(2) == got[1] + got[2]);
}

SCENARIO(one_allocation_fails, .setup = set_up_faults,
         .threads = {get_or_not, get_or_not}, .check = check_faults,
         .failing_allocations = 1, .bound = 2, .quick_bound = 1)
