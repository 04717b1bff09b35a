/* link: -Wl,--wrap=syscall */
/* CPU masks: arithmetic, threads that are narrowed and restored, and a system that
 * refuses. What changes the mask of the calling thread runs in a child, or on a thread of
 * its own. Machines with one CPU cannot be narrowed; there most of this is skipped.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "core/atomic.h"
#include "harness/harness.h"
#include "harness/wrapped_syscall.h"
#include "sys/sys.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- the system refuses some calls ---- */

static atomic_long refused_call = -1; /* its number */
static atomic_int refused_with;
static atomic_int refused_from; /* so many such calls are let through first */

static bool answer_syscall(long number, bool is_wait, int *error) {
  (void)is_wait;
  if (number != atomic_load(&refused_call)) return false;
  *error = atomic_load(&refused_with);
  return atomic_fetch_sub(&refused_from, 1) <= 0;
}

static void refuse(long call, int error, int after) {
  atomic_store(&refused_with, error);
  atomic_store(&refused_from, after);
  atomic_store(&refused_call, call);
}

static void refuse_nothing(void) {
  atomic_store(&refused_call, -1);
}

/* ---- masks ---- */

static bool skipped(bool holds, const char *why) {
  if (!holds) printf("skipped: %s\n", why);
  return !holds;
}

/* The one that is asked for in the kernel's own way. */
static bool kernel_has(const cpu_set_t *set, unsigned cpu) {
  return cpu < CPU_SETSIZE && CPU_ISSET((size_t)cpu, set);
}

TEST(own_mask_is_the_kernels) {
  wf_cpu_mask *mask = wf_sys_mask_create();
  if (skipped(mask != NULL, "the system has no masks")) return;
  cpu_set_t set;
  CHECK_EQ(wf_sys_mask_count(mask), 0);
  REQUIRE(wf_sys_mask_read(mask, 0));
  CHECK(wf_sys_mask_count(mask) >= 1);
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    CHECK_EQ(wf_sys_mask_count(mask), CPU_COUNT(&set));
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
      CHECK_EQ(wf_sys_mask_has(mask, cpu), kernel_has(&set, cpu));
  }
  wf_sys_mask_destroy(mask);
}

TEST(fill_clear_copy_and_compare) {
  wf_cpu_mask *a = wf_sys_mask_create(), *b = wf_sys_mask_create();
  if (skipped(a != NULL && b != NULL, "the system has no masks")) return;
  CHECK(wf_sys_mask_equal(a, b));
  wf_sys_mask_fill(a);
  CHECK(!wf_sys_mask_equal(a, b));
  const unsigned all = wf_sys_mask_count(a);
  CHECK(all >= 1);
  for (unsigned cpu = 0; cpu < all; cpu++) CHECK(wf_sys_mask_has(a, cpu));
  CHECK(!wf_sys_mask_has(a, all));
  CHECK(!wf_sys_mask_has(a, UINT32_MAX));
  wf_sys_mask_copy(b, a);
  CHECK(wf_sys_mask_equal(a, b));
  wf_sys_mask_clear(a, all); /* not in it */
  wf_sys_mask_clear(a, UINT32_MAX);
  CHECK(wf_sys_mask_equal(a, b));
  for (unsigned cpu = 0; cpu < all; cpu++) {
    wf_sys_mask_clear(a, cpu);
    CHECK(!wf_sys_mask_has(a, cpu));
    CHECK_EQ(wf_sys_mask_count(a), all - cpu - 1);
  }
  CHECK_EQ(wf_sys_mask_count(b), all);
  wf_sys_mask_destroy(a);
  wf_sys_mask_destroy(b);
  wf_sys_mask_destroy(NULL);
}

#if defined(__linux__) && !defined(WF_SYS_POSIX)

#include "child.h"

/* ---- threads ---- */

static int first_cpu(const wf_cpu_mask *mask) {
  int cpu = 0;
  while (!wf_sys_mask_has(mask, (unsigned)cpu)) cpu++;
  return cpu;
}

TEST(the_caller_runs_on_a_cpu_of_its_mask) {
  wf_cpu_mask *mask = wf_sys_mask_create();
  REQUIRE(mask != NULL && wf_sys_mask_read(mask, 0));
  const int cpu = wf_sys_cpu_now();
  CHECK(cpu >= 0);
  CHECK(wf_sys_mask_has(mask, (unsigned)cpu));
  wf_sys_mask_destroy(mask);
}

static void note_number(unsigned index, void *arg) {
  ((uint32_t *)arg)[index] = wf_sys_thread_self();
  CHECK_EQ(wf_sys_thread_self(), ((uint32_t *)arg)[index]);
}

TEST(every_thread_has_a_number) {
  uint32_t numbers[4];
  CHECK_EQ(wf_sys_thread_self(), getpid());
  harness_run_threads(3, note_number, numbers);
  numbers[3] = wf_sys_thread_self();
  for (int i = 0; i < 4; i++) {
    CHECK(numbers[i] != 0);
    for (int k = 0; k < i; k++) CHECK(numbers[i] != numbers[k]);
  }
}

enum { STEPS = 50 };

/* Thread 0 steers thread 1, which sleeps on `word`. */
struct steered {
  wf_u32 number; /* of thread 1 */
  wf_u32 word;   /* steps made; thread 1 waits for them */
  wf_u32 seen;   /* by thread 1 */
  wf_u32 cpu;    /* that it must not be on; or none */
};

static void await_value(wf_u32 *word, uint32_t value) {
  uint32_t now;
  while ((now = wf_u32_load_acquire(word)) != value) wf_sys_wait(word, now);
}

static void tell(wf_u32 *word, uint32_t value) {
  wf_u32_store_release(word, value);
  wf_sys_wake_all(word);
}

static void be_steered(struct steered *s) {
  wf_cpu_mask *mask = wf_sys_mask_create();
  REQUIRE(mask != NULL);
  tell(&s->number, wf_sys_thread_self());
  for (uint32_t step = 1; step <= STEPS; step++) {
    await_value(&s->word, step);
    const uint32_t cpu = wf_u32_load_relaxed(&s->cpu);
    CHECK(wf_sys_mask_read(mask, 0));
    if (cpu != UINT32_MAX) CHECK((uint32_t)wf_sys_cpu_now() != cpu);
    CHECK_EQ(wf_sys_mask_has(mask, cpu), false);
    tell(&s->seen, step);
  }
  await_value(&s->word, STEPS + 1); /* its number is in use until then */
  wf_sys_mask_destroy(mask);
}

static void steer(struct steered *s) {
  wf_cpu_mask *own = wf_sys_mask_create(), *narrow = wf_sys_mask_create();
  REQUIRE(own != NULL && narrow != NULL);
  uint32_t number;
  while ((number = wf_u32_load_acquire(&s->number)) == 0) wf_sys_wait(&s->number, 0);
  REQUIRE(wf_sys_mask_read(own, number));
  for (uint32_t step = 1; step <= STEPS; step++) {
    /* Narrowed in odd steps, to all but the CPU that this thread runs on. */
    const uint32_t cpu = step % 2 != 0 ? (uint32_t)wf_sys_cpu_now() : UINT32_MAX;
    wf_sys_mask_copy(narrow, own);
    wf_sys_mask_clear(narrow, cpu);
    CHECK(wf_sys_mask_set(narrow, number));
    wf_u32_store_relaxed(&s->cpu, cpu);
    tell(&s->word, step);
    await_value(&s->seen, step);
    CHECK(wf_sys_mask_read(narrow, number));
    CHECK_EQ(wf_sys_mask_equal(narrow, own), step % 2 == 0);
  }
  tell(&s->word, STEPS + 1);
  wf_sys_mask_destroy(own);
  wf_sys_mask_destroy(narrow);
}

static void play_steered(unsigned index, void *arg) {
  if (index == 0)
    steer(arg);
  else
    be_steered(arg);
}

static unsigned own_cpus(void) {
  wf_cpu_mask *mask = wf_sys_mask_create();
  const unsigned count =
      mask != NULL && wf_sys_mask_read(mask, 0) ? wf_sys_mask_count(mask) : 0;
  wf_sys_mask_destroy(mask);
  return count;
}

TEST(another_thread_is_narrowed_and_restored) {
  if (skipped(own_cpus() > 1, "there is one CPU")) return;
  struct steered s = {{0}, {0}, {0}, {0}};
  harness_run_threads(2, play_steered, &s);
  CHECK_EQ(wf_u32_load_relaxed(&s.seen), STEPS);
}

/* ---- which masks follow the cpuset ---- */

typedef struct three_masks {
  wf_cpu_mask *before, *own, *scratch;
} three_masks;

static three_masks make_three(void) {
  three_masks m = {wf_sys_mask_create(), wf_sys_mask_create(), wf_sys_mask_create()};
  REQUIRE(m.before != NULL && m.own != NULL && m.scratch != NULL);
  REQUIRE(wf_sys_mask_read(m.before, 0));
  return m;
}

static void free_three(three_masks m) {
  wf_sys_mask_destroy(m.before);
  wf_sys_mask_destroy(m.own);
  wf_sys_mask_destroy(m.scratch);
}

/* True if the mask of the caller is still m->before. */
static bool is_as_before(three_masks *m) {
  return wf_sys_mask_read(m->scratch, 0) && wf_sys_mask_equal(m->before, m->scratch);
}

/* On a thread of its own: the test program itself may have been started by taskset. */
static void ask_after_all_cpus(unsigned index, void *arg) {
  (void)index, (void)arg;
  three_masks m = make_three();
  bool follows = false;
  wf_sys_mask_fill(m.scratch);
  CHECK(wf_sys_mask_set(m.scratch, 0));
  CHECK(wf_sys_mask_read(m.before, 0));
  CHECK(wf_sys_mask_origin(m.own, m.scratch, &follows));
  CHECK(follows);
  CHECK(wf_sys_mask_equal(m.own, m.before));
  CHECK(is_as_before(&m));
  free_three(m);
}

TEST(a_thread_that_asked_for_all_cpus_follows_its_cpuset) {
  harness_run_threads(1, ask_after_all_cpus, NULL);
}

static void ask_when_narrowed(unsigned index, void *arg) {
  (void)index, (void)arg;
  three_masks m = make_three();
  bool follows = true;
  wf_sys_mask_clear(m.before, (unsigned)first_cpu(m.before));
  CHECK(wf_sys_mask_set(m.before, 0));
  for (int i = 0; i < 3; i++) {
    CHECK(wf_sys_mask_origin(m.own, m.scratch, &follows));
    CHECK(!follows);
    CHECK(wf_sys_mask_equal(m.own, m.before));
    CHECK(is_as_before(&m));
  }
  free_three(m);
}

TEST(a_narrowed_thread_does_not_follow_and_keeps_its_mask) {
  if (skipped(own_cpus() > 1, "there is one CPU")) return;
  harness_run_threads(1, ask_when_narrowed, NULL);
}

TEST(a_refusal_leaves_the_mask_as_it_was) {
  static const int errors[] = {EPERM, ENOSYS, EACCES};
  three_masks m = make_three();
  bool follows;
  for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
    refuse(SYS_sched_setaffinity, errors[i], 0);
    CHECK(!wf_sys_mask_set(m.before, 0));
    CHECK(!wf_sys_mask_origin(m.own, m.scratch, &follows));
    CHECK(is_as_before(&m));
    for (int readings = 0; readings < 2; readings++) {
      refuse(SYS_sched_getaffinity, errors[i], readings);
      CHECK(!wf_sys_mask_origin(m.own, m.scratch, &follows));
      refuse_nothing();
      CHECK(is_as_before(&m));
    }
  }
  free_three(m);
}

/* ---- threads and masks that do not exist ---- */

TEST(a_thread_that_has_ended_is_refused) {
  uint32_t number;
  harness_run_threads(1, note_number, &number);
  wf_cpu_mask *mask = wf_sys_mask_create();
  REQUIRE(mask != NULL);
  /* A thread that was joined is still known to the kernel for a moment. */
  wf_sys_mask_fill(mask);
  while (wf_sys_mask_set(mask, number)) wf_sys_thread_yield();
  CHECK(!wf_sys_mask_read(mask, number));
  wf_sys_mask_destroy(mask);
}

TEST(no_cpu_at_all_is_refused) {
  three_masks m = make_three();
  CHECK_EQ(wf_sys_mask_count(m.own), 0);
  CHECK(!wf_sys_mask_set(m.own, 0));
  CHECK(is_as_before(&m));
  free_three(m);
}

/* How large masks are is asked once in a process, so each refusal has its own child. */
static int create_refused(void *arg) {
  refuse(SYS_sched_getaffinity, *(int *)arg, 0);
  if (wf_sys_mask_create() != NULL) return 1;
  refuse_nothing();
  if (wf_sys_mask_create() != NULL) return 2; /* it was asked once */
  return wf_sys_cpu_count("/no/such/folder") >= 1 ? 0 : 3;
}

TEST_BY_NAME(create_refused_first) {
  int errors[] = {EPERM, ENOSYS, EINVAL, 0};
  for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
    CHECK_EQ(child_run(create_refused, &errors[i]), 0);
}

TEST(where_reading_is_refused_there_are_no_masks) {
  char output[4096];
  CHECK_EQ(harness_run_self(NULL, "create_refused_first", output, sizeof output), 0);
}

#else

TEST(nobody_can_be_steered) {
  wf_cpu_mask *mask = wf_sys_mask_create(), *scratch = wf_sys_mask_create();
  bool follows;
  CHECK_EQ(wf_sys_cpu_now(), -1);
  CHECK_EQ(wf_sys_thread_self(), 0);
  if (mask != NULL && scratch != NULL) {
    wf_sys_mask_fill(mask);
    CHECK(!wf_sys_mask_set(mask, 0));
    CHECK(!wf_sys_mask_origin(mask, scratch, &follows));
  }
  refuse(0, 0, 0);
  refuse_nothing();
  wf_sys_mask_destroy(mask);
  wf_sys_mask_destroy(scratch);
}

#endif
