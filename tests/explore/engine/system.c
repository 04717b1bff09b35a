/* system.c - src/sys/sys.h for explored code: threads, waits and barriers are steps of
 * the explorer, the clock is the thread's own and moves when it is looked at.
 *
 * SPDX-License-Identifier: MIT */
#include "redirect.h"

#include "engine.h"

#include <sys/sys.h>

int xp_lock_spins;

enum { DEFAULT_TICK_NS = 4000, CPUS = 2 };

#define NOTE_FRAME()                                                                     \
  (xp_threads[xp_current].live_sp =                                                      \
       (uintptr_t)__builtin_frame_address(0) + 2 * sizeof(void *))

/* ---- threads ---- */

int wf_sys_thread_start(wf_thread *out, const char *name, size_t stack_size,
                        wf_thread_fn *fn, void *arg) {
  (void)name, (void)stack_size;
  NOTE_FRAME();
  if (xp_now.threads_left > 0 && xp_choose(XP_CHOOSE_FAULT, 2) == 1) {
    xp_now.threads_left--;
    xp_trace("a thread start fails");
    return WEFT_EAGAIN;
  }
  if (xp_now.mode == XP_TSO) xp_memory_drain(xp_current);
  out->handle = xp_thread_add(fn, arg);
  xp_trace("starts thread %u", (unsigned)out->handle);
  return 0;
}

void wf_sys_threads_await(void) {}

void wf_sys_thread_join(wf_thread thread) {
  unsigned number = (unsigned)thread.handle;
  NOTE_FRAME();
  xp_count_step();
  xp_threads[xp_current].joins = number;
  if (xp_threads[number].state != XP_ENDED) xp_block(XP_JOINING);
  xp_memory_thread_join(xp_current, number);
  xp_joined();
  xp_trace("joined thread %u", number);
}

void wf_sys_thread_yield(void) {
  NOTE_FRAME();
  xp_spin();
}

bool wf_sys_thread_stack(uintptr_t *low, size_t *size) {
  (void)low, (void)size;
  return false;
}

void wf_sys_on_fork(void (*const *fn)(void)) {
  (void)fn;
}

/* ---- waiting on a word ---- */

static void wait_step(wf_u32 *word, uint32_t expected) {
  xp_schedule(XP_OP_WAIT, word);
  if (xp_now.mode == XP_TSO) xp_memory_drain(xp_current);
  if (xp_heap_is_dead((uintptr_t)word) || xp_in_dead_frame((uintptr_t)word))
    xp_fail(XP_DEAD, __FILE__, __LINE__, "waits on a word that is not there any more");
  if ((uint32_t)xp_memory_look(word, sizeof word->raw) != expected) {
    xp_trace("wait %p: it is not %u any more", (void *)word, expected);
    return;
  }
  xp_trace("waits on %p", (void *)word);
  xp_threads[xp_current].waits_on = word;
  xp_block(XP_WAITING);
}

void wf_sys_wait(wf_u32 *word, uint32_t expected) {
  NOTE_FRAME();
  if (xp_now.alone)
    xp_fail(XP_DEADLOCK, __FILE__, __LINE__, "setup, check and invariant must not block");
  xp_count_step();
  if (xp_now.spurious_left > 0 && xp_choose(XP_CHOOSE_FAULT, 2) == 1) {
    xp_now.spurious_left--;
    xp_trace("a wait on %p returns without reason", (void *)word);
    return;
  }
  wait_step(word, expected);
  xp_after_step();
}

static void wake(const wf_u32 *word, bool all) {
  if (xp_now.alone) return;
  xp_count_step();
  xp_schedule(XP_OP_WAKE, word);
  if (xp_now.mode == XP_TSO) xp_memory_drain(xp_current);
  unsigned waiters[XP_MAX_THREADS + 1], n = 0;
  for (unsigned i = 1; i < xp_thread_count; i++)
    if (xp_threads[i].state == XP_WAITING && xp_threads[i].waits_on == word)
      waiters[n++] = i;
  xp_trace("wake on %p: %u wait", (const void *)word, n);
  if (n == 0) return;
  unsigned first = !all && n > 1 ? xp_choose(XP_CHOOSE_WAITER, n) : 0;
  for (unsigned i = first; i < (all ? n : first + 1); i++)
    xp_threads[waiters[i]].state = XP_READY;
  xp_after_step();
}

void wf_sys_wake_one(wf_u32 *word) {
  NOTE_FRAME();
  wake(word, false);
}

void wf_sys_wake_all(wf_u32 *word) {
  NOTE_FRAME();
  wake(word, true);
}

/* ---- process-wide barrier ---- */

bool wf_sys_barrier_prepare(void) {
  return !xp_now.scenario->no_barrier;
}

void wf_sys_barrier(void) {
  NOTE_FRAME();
  if (xp_now.alone || !xp_threads_concurrent()) return;
  XP_CHECK(!xp_now.scenario->no_barrier);
  xp_count_step();
  if (xp_now.mode != XP_SC) xp_schedule(XP_OP_FENCE, NULL);
  xp_memory_barrier_all();
  xp_trace("process-wide barrier");
  xp_after_step();
}

/* ---- CPUs, time, memory ---- */

unsigned wf_sys_cpu_count(const char *root) {
  (void)root;
  return CPUS;
}

uint64_t wf_sys_now_ns(void) {
  uint64_t tick =
      xp_now.scenario->tick_ns != 0 ? xp_now.scenario->tick_ns : DEFAULT_TICK_NS;
  xp_count_step();
  return xp_threads[xp_current].clock_ns += tick;
}

uint64_t wf_sys_ticks(void) {
  return wf_sys_now_ns();
}

uint64_t wf_sys_ticks_per_us(void) {
  return 1000;
}

void wf_sys_relax(void) {
  NOTE_FRAME();
  xp_spin();
}

void *wf_sys_map(size_t size) {
  return xp_calloc(1, size);
}

void wf_sys_unmap(void *memory, size_t size) {
  (void)size;
  xp_free(memory);
}

void wf_sys_prefer_large_pages(void *memory, size_t size) {
  (void)memory, (void)size;
}

_Noreturn void xp_assertion_failed(const char *file, int line, const char *condition) {
  xp_fail(XP_ASSERTION, file, line, condition);
}

_Noreturn void xp_abort(void) {
  xp_fail(XP_ASSERTION, __FILE__, __LINE__, "the library has called abort or exit");
}
