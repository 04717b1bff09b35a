/* threads.c - modelled threads: coroutines, and who runs next.
 *
 * A thread stops before each step that others can notice; the scheduler runs on its stack
 * and chooses who takes the next step. To go on with the same thread is the ordinary
 * course; to take another although it could go on is a preemption, of which there are as
 * many as the bound allows. A thread that spins is left out until something it has read
 * is written, or nobody else can run.
 *
 * SPDX-License-Identifier: MIT */
#include "engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STACK_SIZE = 128 << 10, DEFAULT_STEPS = 20000 };

xp_thread xp_threads[XP_MAX_THREADS + 1];
unsigned xp_thread_count;
unsigned xp_current;

static unsigned not_ended, not_joined;
static uint32_t asleep; /* the sleep set: threads whose step was explored elsewhere */

/* The thread-local variables of the explored code; see redirect.h. The variable makes the
 * section exist in programs whose sources have none. */
__attribute__((section("weft_tls"), used)) static void *tls_filler;
extern char __start_weft_tls[], __stop_weft_tls[];

static void exchange_tls(xp_thread *from, xp_thread *to) {
  size_t size = (size_t)(__stop_weft_tls - __start_weft_tls);
  memcpy(from->tls, __start_weft_tls, size);
  memcpy(__start_weft_tls, to->tls, size);
}

static void switch_to(unsigned next) {
  xp_thread *from = &xp_threads[xp_current], *to = &xp_threads[next];
  xp_current = next;
  exchange_tls(from, to);
  xp_switch(&from->context, &to->context);
}

/* ---- life ---- */

void xp_threads_init(void) {
  if ((size_t)(__stop_weft_tls - __start_weft_tls) > XP_TLS_MAX) abort();
  for (unsigned i = 1; i <= XP_MAX_THREADS; i++) {
    xp_threads[i].stack_low = xp_heap_stack(STACK_SIZE);
    xp_threads[i].stack_size = STACK_SIZE;
  }
}

void xp_threads_begin(void) {
  xp_thread_count = 1;
  xp_current = 0;
  xp_threads[0].cpus = ((uint64_t)1 << XP_CPUS) - 1;
  not_ended = not_joined = 0;
  asleep = 0;
  memset(__start_weft_tls, 0, (size_t)(__stop_weft_tls - __start_weft_tls));
}

bool xp_threads_concurrent(void) {
  return not_joined > 1;
}

bool xp_on_stack(uintptr_t address) {
  return address - (uintptr_t)xp_threads[1].stack_low < XP_MAX_THREADS * STACK_SIZE;
}

static size_t stack_owner(uintptr_t address) {
  return 1 + (address - (uintptr_t)xp_threads[1].stack_low) / STACK_SIZE;
}

bool xp_stack_is_left(uintptr_t address) {
  size_t i = stack_owner(address);
  return i >= xp_thread_count || xp_threads[i].state == XP_ENDED ||
         address < xp_threads[i].live_sp;
}

bool xp_in_dead_frame(uintptr_t address) {
  return xp_on_stack(address) && stack_owner(address) != xp_current &&
         xp_stack_is_left(address);
}

static void end_thread(void);

static void entry(void) {
  xp_thread *me = &xp_threads[xp_current];
  me->fn(me->arg);
  end_thread();
}

unsigned xp_thread_add(void (*fn)(void *), void *arg) {
  if (xp_thread_count > XP_MAX_THREADS) abort();
  unsigned number = xp_thread_count++;
  xp_thread *thread = &xp_threads[number];
  char *low = thread->stack_low;
  memset(thread, 0, sizeof *thread);
  thread->stack_low = low;
  thread->stack_size = STACK_SIZE;
  thread->fn = fn;
  thread->arg = arg;
  thread->state = XP_READY;
  thread->op = XP_OP_START;
  thread->live_sp = (uintptr_t)low + STACK_SIZE;
  thread->cpus = xp_threads[xp_current].cpus;
  xp_context_make(&thread->context, low, STACK_SIZE, entry);
  not_ended++;
  if (++not_joined == 2) xp_memory_forget_touches();
  xp_memory_thread_start(xp_current, number);
  return number;
}

/* ---- who runs next ---- */

static bool is_enabled(const xp_thread *thread) {
  return thread->state == XP_READY ||
         (thread->state == XP_SPINNING && thread->written_for);
}

/* The ordinary course is that a wait lasts: those that end by themselves come last. */
static unsigned collect(unsigned *out, bool time_passes) {
  unsigned n = 0;
  for (unsigned i = 1; i < xp_thread_count; i++)
    if (is_enabled(&xp_threads[i]) || (time_passes && xp_threads[i].state == XP_SPINNING))
      out[n++] = i;
  if (!time_passes && xp_now.timeouts_left == 0) return n;
  for (unsigned i = 1; i < xp_thread_count; i++)
    if (xp_threads[i].state == XP_WAITING && xp_threads[i].timed) out[n++] = i;
  return n;
}

static void report_deadlock(void) {
  char text[256] = "nobody can run; waiting:";
  for (unsigned i = 1; i < xp_thread_count; i++) {
    if (xp_threads[i].state == XP_ENDED) continue;
    char one[48];
    snprintf(one, sizeof one, " %u(%s)", i,
             xp_threads[i].state == XP_WAITING ? "wait" : "join");
    strncat(text, one, sizeof text - strlen(text) - 1);
  }
  xp_fail(XP_DEADLOCK, __FILE__, __LINE__, text);
}

/* Threads that could take the next step. */
static unsigned runnable(unsigned *out) {
  unsigned n = collect(out, false);
  /* What is in store buffers gets to memory in the end. */
  if (n == 0 && xp_now.mode == XP_TSO && xp_memory_drain_all()) n = collect(out, false);
  if (n == 0) n = collect(out, true);
  return n;
}

/* Would the two steps lead to the same state in either order? */
static bool independent(const xp_thread *a, const xp_thread *b) {
  if (a->op == XP_OP_START || b->op == XP_OP_START) return true;
  if (a->op == XP_OP_OTHER || b->op == XP_OP_OTHER || a->op == XP_OP_FENCE ||
      b->op == XP_OP_FENCE)
    return false;
  if (a->op_address != b->op_address) return true;
  return a->op == XP_OP_READ && b->op == XP_OP_READ;
}

/* The search chose options[chosen]; those before it are explored by others. */
static void update_sleep_set(const unsigned *options, unsigned chosen) {
  for (unsigned i = 0; i < chosen; i++) asleep |= (uint32_t)1 << options[i];
  const xp_thread *next = &xp_threads[options[chosen]];
  for (unsigned i = 1; i < xp_thread_count; i++)
    if ((asleep >> i & 1) != 0 && !independent(&xp_threads[i], next))
      asleep &= ~((uint32_t)1 << i);
}

static unsigned leave_out_asleep(unsigned *options, unsigned n) {
  unsigned kept = 0;
  for (unsigned i = 0; i < n; i++)
    if ((asleep >> options[i] & 1) == 0) options[kept++] = options[i];
  if (kept == 0) {
    xp_now.pruned = true;
    xp_leave();
  }
  return kept;
}

/* Puts the running thread first; true if it can go on. */
static bool current_first(unsigned *options, unsigned n) {
  for (unsigned i = 0; i < n; i++) {
    if (options[i] != xp_current) continue;
    memmove(options + 1, options, i * sizeof *options);
    options[0] = xp_current;
    return true;
  }
  return false;
}

static unsigned choose_next(void) {
  unsigned options[XP_MAX_THREADS + 1];
  unsigned n = runnable(options);
  if (n == 0) {
    if (not_ended == 0) return 0;
    report_deadlock();
  }
  bool goes_on = current_first(options, n);
  unsigned ordinary = options[0];
  if (xp_search_kind() != XP_SEARCH_ALL) return xp_choose_thread(options, n);
  if (xp_now.sleep_sets) {
    n = leave_out_asleep(options, n);
    goes_on = goes_on && options[0] == xp_current;
  }
  if (goes_on && xp_now.bound != XP_UNBOUNDED && xp_now.preemptions >= xp_now.bound)
    n = 1;
  unsigned chosen = n > 1 ? xp_choose(XP_CHOOSE_THREAD, n) : 0;
  if (goes_on && chosen > 0) xp_now.preemptions++;
  if (xp_now.sleep_sets) update_sleep_set(options, chosen);
  if (options[chosen] != ordinary) xp_note_thread(options[chosen]);
  return options[chosen];
}

/* Lets somebody else run, or the same thread if that is what is chosen. */
static void give_way(void) {
  unsigned next = choose_next();
  if (next != xp_current) switch_to(next);
}

void xp_schedule(xp_op_kind op, const void *address) {
  xp_thread *me = &xp_threads[xp_current];
  me->op = op;
  me->op_address = (uintptr_t)address;
  if (not_ended > 1) give_way();
}

static void end_thread(void) {
  xp_trace("ends");
  xp_threads[xp_current].state = XP_ENDED;
  not_ended--;
  for (unsigned i = 1; i < xp_thread_count; i++)
    if (xp_threads[i].state == XP_JOINING && xp_threads[i].joins == xp_current)
      xp_threads[i].state = XP_READY;
  give_way();
  abort(); /* nobody switches to a thread that has ended */
}

void xp_threads_run(void) {
  if (not_ended > 0) give_way();
}

void xp_count_step(void) {
  unsigned limit = xp_now.scenario->steps != 0 ? xp_now.scenario->steps : DEFAULT_STEPS;
  if (++xp_now.steps > limit) xp_fail(XP_LIVELOCK, __FILE__, __LINE__, "too many steps");
}

void xp_after_step(void) {
  if (xp_now.scenario->invariant == NULL || xp_now.alone) return;
  xp_now.alone = true;
  xp_now.scenario->invariant();
  xp_now.alone = false;
}

unsigned xp_self(void) {
  return xp_current;
}

/* ---- spinning and blocking ---- */

void xp_spin_note(const void *address) {
  xp_thread *me = &xp_threads[xp_current];
  for (unsigned i = 0; i < me->spin_count; i++)
    if (me->spin_set[i] == (uintptr_t)address) return;
  if (me->spin_count == XP_SPIN_SET)
    me->spin_any = true;
  else
    me->spin_set[me->spin_count++] = (uintptr_t)address;
}

void xp_written(const void *address, unsigned writer) {
  for (unsigned i = 1; i < xp_thread_count; i++) {
    xp_thread *thread = &xp_threads[i];
    if (i == writer || thread->written_for) continue;
    bool reads = thread->spin_any;
    for (unsigned k = 0; k < thread->spin_count && !reads; k++)
      reads = thread->spin_set[k] == (uintptr_t)address;
    thread->written_for = reads;
  }
}

void xp_spin(void) {
  xp_thread *me = &xp_threads[xp_current];
  if (xp_now.alone) return;
  xp_count_step();
  if (!me->written_for) {
    me->state = XP_SPINNING;
    me->op = XP_OP_OTHER;
    give_way();
  }
  me->state = XP_READY;
  me->spin_count = 0;
  me->spin_any = false;
  me->written_for = false;
}

void xp_joined(void) {
  not_joined--;
}

void xp_block(xp_state state) {
  xp_thread *me = &xp_threads[xp_current];
  me->state = state;
  me->op = XP_OP_OTHER;
  give_way();
}

bool xp_block_timed(void) {
  xp_thread *me = &xp_threads[xp_current];
  me->timed = true;
  xp_block(XP_WAITING);
  me->timed = false;
  if (me->state == XP_READY) return true;
  me->state = XP_READY;
  if (xp_now.timeouts_left > 0) xp_now.timeouts_left--;
  return false;
}

void xp_await(bool (*condition)(void)) {
  for (;;) {
    xp_now.alone = true;
    bool holds = condition();
    xp_now.alone = false;
    if (holds) return;
    xp_thread *me = &xp_threads[xp_current];
    me->spin_any = true;
    xp_spin();
  }
}
