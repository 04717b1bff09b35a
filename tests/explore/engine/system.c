/* system.c - src/sys/sys.h for explored code: threads, waits and barriers are steps of
 * the explorer, the clock is the thread's own and moves when it is looked at.
 *
 * SPDX-License-Identifier: MIT */
#include "redirect.h"

#include "engine.h"

#include <sys/sys.h>
#include <sys/topology.h>

int xp_lock_spins;

enum { DEFAULT_TICK_NS = 4000 };

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

/* False if the time is over; timeout_ns is UINT64_MAX if it never is. */
static bool wait_step(wf_u32 *word, uint32_t expected, uint64_t timeout_ns) {
  xp_schedule(XP_OP_WAIT, word);
  if (xp_now.mode == XP_TSO) xp_memory_drain(xp_current);
  if (xp_heap_is_dead((uintptr_t)word) || xp_in_dead_frame((uintptr_t)word))
    xp_fail(XP_DEAD, __FILE__, __LINE__, "waits on a word that is not there any more");
  if ((uint32_t)xp_memory_look(word, sizeof word->raw) != expected) {
    xp_trace("wait %p: it is not %u any more", (void *)word, expected);
    return true;
  }
  xp_trace("waits on %p", (void *)word);
  xp_threads[xp_current].waits_on = word;
  if (timeout_ns == UINT64_MAX) {
    xp_block(XP_WAITING);
    return true;
  }
  if (xp_block_timed()) return true;
  xp_threads[xp_current].clock_ns += timeout_ns;
  xp_trace("the wait on %p has lasted too long", (void *)word);
  return false;
}

static bool wait_for(wf_u32 *word, uint32_t expected, uint64_t timeout_ns) {
  if (xp_now.alone)
    xp_fail(XP_DEADLOCK, __FILE__, __LINE__, "setup, check and invariant must not block");
  xp_count_step();
  if (xp_now.spurious_left > 0 && xp_choose(XP_CHOOSE_FAULT, 2) == 1) {
    xp_now.spurious_left--;
    xp_trace("a wait on %p returns without reason", (void *)word);
    return true;
  }
  bool in_time = wait_step(word, expected, timeout_ns);
  xp_after_step();
  return in_time;
}

void wf_sys_wait(wf_u32 *word, uint32_t expected) {
  NOTE_FRAME();
  wait_for(word, expected, UINT64_MAX);
}

bool wf_sys_wait_for(wf_u32 *word, uint32_t expected, uint64_t timeout_ns) {
  NOTE_FRAME();
  return wait_for(word, expected, timeout_ns < UINT64_MAX ? timeout_ns : UINT64_MAX - 1);
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

bool wf_sys_barrier(void) {
  NOTE_FRAME();
  if (xp_now.alone || !xp_threads_concurrent()) return true;
  XP_CHECK(!xp_now.scenario->no_barrier);
  if (xp_now.scenario->barrier_ends && !xp_now.refuses_barrier &&
      xp_choose(XP_CHOOSE_FAULT, 2) == 1)
    xp_now.refuses_barrier = true;
  if (xp_now.refuses_barrier) {
    xp_trace("the process-wide barrier is refused");
    return false;
  }
  xp_count_step();
  if (xp_now.mode != XP_SC) xp_schedule(XP_OP_FENCE, NULL);
  xp_memory_barrier_all();
  xp_trace("process-wide barrier");
  xp_after_step();
  return true;
}

/* ---- telling a file descriptor ---- */

unsigned xp_notified;

bool wf_sys_fd_is_writable(int fd) {
  return fd >= 0;
}

void wf_sys_fd_notify(int fd) {
  (void)fd;
  xp_notified++;
}

/* ---- which CPU a thread runs on, and may run on ---- */

/* Each thread has a CPU of its own as long as there are some and its mask has it. */
int wf_sys_cpu_now(void) {
  uint64_t cpus = xp_threads[xp_current].cpus;
  unsigned home = (xp_current + XP_CPUS - 1) % XP_CPUS;
  return (cpus >> home & 1) != 0 ? (int)home : __builtin_ctzll(cpus);
}

uint32_t wf_sys_thread_self(void) {
  return xp_current;
}

wf_cpu_mask *wf_sys_masks_create(unsigned count) {
  return xp_calloc(count, sizeof(wf_cpu_mask));
}

void wf_sys_mask_destroy(wf_cpu_mask *mask) {
  xp_free(mask);
}

/* The thread that a call is about; NULL if it fails. Others notice what it does, so it is
 * a step. */
static xp_thread *mask_step(uint32_t thread) {
  if (thread == 0) thread = xp_current;
  if (!xp_now.alone && xp_threads_concurrent()) {
    xp_count_step();
    xp_schedule(XP_OP_OTHER, NULL);
  }
  if (xp_now.masks_left > 0 && xp_choose(XP_CHOOSE_FAULT, 2) == 1) {
    xp_now.masks_left--;
    xp_trace("a call about the CPUs of thread %u fails", thread);
    return NULL;
  }
  bool alive = thread < xp_thread_count && xp_threads[thread].state != XP_ENDED;
  return alive ? &xp_threads[thread] : NULL;
}

bool wf_sys_mask_read(wf_cpu_mask *mask, uint32_t thread) {
  NOTE_FRAME();
  const xp_thread *of = mask_step(thread);
  if (of == NULL) return false;
  mask->bits = of->cpus;
  return true;
}

bool wf_sys_mask_set(const wf_cpu_mask *mask, uint32_t thread) {
  NOTE_FRAME();
  uint64_t cpus = mask->bits & (((uint64_t)1 << XP_CPUS) - 1);
  xp_thread *of = mask_step(thread);
  if (of == NULL || cpus == 0) return false;
  of->cpus = cpus;
  xp_trace("thread %u may run on CPUs %llx", thread, (unsigned long long)cpus);
  xp_after_step();
  return true;
}

/* All threads are in the cpuset of all CPUs. */
bool wf_sys_mask_origin(wf_cpu_mask *own, wf_cpu_mask *scratch, bool *follows) {
  NOTE_FRAME();
  (void)scratch;
  if (!wf_sys_mask_read(own, 0)) return false;
  *follows = own->bits == ((uint64_t)1 << XP_CPUS) - 1;
  return true;
}

uint64_t xp_thread_cpus(unsigned thread) {
  return xp_threads[thread].cpus;
}

/* ---- CPUs, time, memory ---- */

/* Nothing is known about the two CPUs, and pools do without. */
bool wf_topology_read(wf_topology *out, const char *root, const unsigned *wanted,
                      unsigned count) {
  (void)out, (void)root, (void)wanted, (void)count;
  return false;
}

unsigned wf_topology_allowed(unsigned **out, const char *root) {
  (void)out, (void)root;
  return 0;
}

unsigned wf_sys_cpu_count(const char *root) {
  (void)root;
  return XP_CPUS;
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

/* ---- the process: see also simulated/system.c ---- */

void wf_sys_print_line(const char *line) {
  (void)line;
}

const char *wf_sys_program_name(void) {
  return "explored";
}
