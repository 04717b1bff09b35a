/* Linearizability: what each call on the injector and on the deque returned, as a history
 * with the time at which it began and ended, is the result of some order of these calls,
 * one after the other, in which none comes before a call that had ended when it began.
 *
 * Time is the order of steps, so this is for the modes in which that is what threads see,
 * and with a bound: a search without one leaves out orders of steps that are as good as
 * others, but give another history.
 *
 * SPDX-License-Identifier: MIT */
#include <explore/engine/explore.h>

#include <core/deque.h>
#include <core/injector.h>
#include <sys/sys.h>

/* ---- histories ---- */

enum { MOST_CALLS = 12, NONE = 0 };

typedef enum call_kind { PUSH_BACK, TAKE_FRONT, TAKE_BACK } call_kind;

typedef struct call {
  call_kind kind;
  unsigned value; /* from 1; NONE: found nothing */
  unsigned begin, end;
} call;

static struct {
  call calls[MOST_CALLS];
  unsigned count, now;
} history;

static call *call_begins(call_kind kind) {
  XP_CHECK(history.count < MOST_CALLS);
  call *self = &history.calls[history.count++];
  self->kind = kind;
  self->begin = ++history.now;
  return self;
}

static void call_ends(call *self, unsigned value) {
  self->value = value;
  self->end = ++history.now;
}

/* A row of values, as the serial object has it. */
typedef struct row {
  unsigned values[MOST_CALLS], first, count;
} row;

/* Makes one call on the row; false if it cannot have returned what it did. */
static bool replays(row *r, const call *c) {
  if (c->kind == PUSH_BACK) {
    r->values[r->first + r->count++] = c->value;
    return true;
  }
  if (c->value == NONE) return r->count == 0;
  if (r->count == 0) return false;
  r->count--;
  if (c->kind == TAKE_FRONT) return r->values[r->first++] == c->value;
  return r->values[r->first + r->count] == c->value;
}

/* Had a call that is not in the order yet ended before this one began? */
static bool must_wait(unsigned ordered, const call *c) {
  for (unsigned i = 0; i < history.count; i++)
    if ((ordered & 1u << i) == 0 && history.calls[i].end < c->begin) return true;
  return false;
}

static bool has_order(row r, unsigned ordered) {
  if (ordered == (1u << history.count) - 1) return true;
  for (unsigned i = 0; i < history.count; i++) {
    const call *c = &history.calls[i];
    row next = r;
    if ((ordered & 1u << i) != 0 || must_wait(ordered, c)) continue;
    if (replays(&next, c) && has_order(next, ordered | 1u << i)) return true;
  }
  return false;
}

static void history_starts(void) {
  history.count = history.now = 0;
}

static void check_history(void) {
  XP_CHECK(has_order((row){{0}, 0, 0}, 0));
}

/* A history that has no order must be noticed: the newer of two values first. */
static void wrong_order(void) {
  history_starts();
  call_ends(call_begins(PUSH_BACK), 1);
  call_ends(call_begins(PUSH_BACK), 2);
  call_ends(call_begins(TAKE_FRONT), 2);
  check_history();
}
SCENARIO(history_without_an_order, .threads = {wrong_order}, .modes = XP_SC,
         .expect = XP_ASSERTION)

/* ---- the injector: first in, first out ---- */

static wf_injector injector;
static unsigned numbers[MOST_CALLS];

static void nothing(void *ctx) {
  (void)ctx;
}

static void empty_injector(void) {
  history_starts();
  wf_injector_init(&injector, 0);
}

static void inject(unsigned number) {
  call *self = call_begins(PUSH_BACK);
  XP_CHECK(wf_injector_push(&injector, nothing, &numbers[number], NULL) == 0);
  call_ends(self, number);
}

static void take_injected(void) {
  wf_injected entry;
  call *self = call_begins(TAKE_FRONT);
  const bool got = wf_injector_take(&injector, &entry);
  call_ends(self, got ? (unsigned)((unsigned *)entry.ctx - numbers) : NONE);
}

static void inject_1_2(void) {
  inject(1);
  inject(2);
}
static void inject_3(void) {
  inject(3);
}
static void inject_3_and_take(void) {
  inject(3);
  take_injected();
}
static void take_injected_twice(void) {
  take_injected();
  take_injected();
}

static void check_injector(void) {
  check_history();
  wf_injector_destroy(&injector);
}

SCENARIO(injector_history, .setup = empty_injector,
         .threads = {inject_1_2, take_injected_twice}, .check = check_injector,
         .modes = XP_SC | XP_TSO, .bound = 6, .quick_bound = 4)
SCENARIO(injector_history_of_three, .setup = empty_injector,
         .threads = {inject_1_2, inject_3, take_injected_twice}, .check = check_injector,
         .modes = XP_SC | XP_TSO, .bound = 3, .quick_bound = 2)
SCENARIO(injector_history_of_four, .setup = empty_injector,
         .threads = {inject_1_2, inject_3_and_take, take_injected, take_injected},
         .check = check_injector, .modes = XP_SC | XP_TSO, .quick_bound = 1)

/* ---- the deque: the owner at the back, thieves in front ---- */

/* A thief that finds nothing proves nothing, for tasks may be private: only what it gets
 * is a call of the history. The owner finds nothing only when there is nothing. */

static wf_deque deque;
static wf_task tasks[MOST_CALLS];

static void empty_deque(void) {
  history_starts();
  wf_deque_init(&deque, 4, 0, false);
  XP_CHECK(wf_deque_prepare(&deque) == 0);
}

static void push(unsigned number) {
  wf_deque_news news;
  call *self = call_begins(PUSH_BACK);
  tasks[number].execute = nothing;
  if (wf_deque_push(&deque, &tasks[number]))
    XP_CHECK(wf_deque_fork_slow(&deque, &news) == NULL);
  call_ends(self, number);
}

static void pop(void) {
  wf_deque_news news;
  call *self = call_begins(TAKE_BACK);
  wf_task *task = wf_deque_take_private(&deque);
  if (task == NULL) task = wf_deque_pop(&deque, &news);
  call_ends(self, task != NULL ? (unsigned)(task - tasks) : NONE);
}

static void steal(void) {
  wf_task *task;
  const unsigned begin = history.now + 1;
  if (wf_deque_steal(&deque, &task) != WF_STEAL_GOT) {
    wf_deque_ask(&deque);
    return;
  }
  call *self = call_begins(TAKE_FRONT);
  self->begin = begin;
  call_ends(self, (unsigned)(task - tasks));
}

static void owner_of_two(void) {
  push(1);
  push(2);
  pop();
  pop();
}
static void owner_of_three(void) {
  push(1);
  push(2);
  pop();
  push(3);
  pop();
  pop();
}
static void steal_twice(void) {
  steal();
  steal();
}

/* As a worker on its way to sleep: what is private becomes public. */
static void take_over_and_steal(void) {
  wf_deque_pin(&deque);
  const uint64_t asked = wf_deque_asked(&deque);
  if ((asked & WF_ASKED_STATE_MASK) == WF_ASKED_PINNED) wf_sys_barrier();
  (void)wf_deque_take_over(&deque, asked);
  steal();
}

static void check_deque(void) {
  while (!wf_deque_is_empty(&deque)) pop();
  check_history();
  wf_deque_destroy(&deque);
}

SCENARIO(deque_history, .setup = empty_deque, .threads = {owner_of_two, steal_twice},
         .check = check_deque, .modes = XP_SC | XP_TSO, .bound = 5, .quick_bound = 3)
SCENARIO(deque_history_two_thieves, .setup = empty_deque,
         .threads = {owner_of_two, steal, steal_twice}, .check = check_deque,
         .modes = XP_SC | XP_TSO, .bound = 3, .quick_bound = 2)
SCENARIO(deque_history_taken_over, .setup = empty_deque,
         .threads = {owner_of_three, take_over_and_steal}, .check = check_deque,
         .modes = XP_SC | XP_TSO, .bound = 4, .quick_bound = 3)
SCENARIO(deque_history_thief_and_claimer, .setup = empty_deque,
         .threads = {owner_of_three, steal_twice, take_over_and_steal},
         .check = check_deque, .modes = XP_SC | XP_TSO, .bound = 3, .quick_bound = 2)
