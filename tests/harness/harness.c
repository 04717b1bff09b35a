/* harness/harness.c - registers and runs tests, counts and prints failed checks; has
 * main.
 *
 * The main thread runs the tests. Threads that a test starts touch only the counter of
 * failures below, which is atomic, and write whole lines.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "harness.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "system.h"
#include "watchdog.h"

/* Failed checks printed for one test: a check in a loop would flood the log. A choice. */
#define MAX_PRINTED 20

static struct {
  harness_test *first;
  harness_test **end;
  const char *program;
  uint64_t run_seed;           /* as given or drawn, plus the number of the repetition */
  uint64_t test_seed;          /* of the running test */
  const char *test;            /* name of the running test */
  char replay[PATH_MAX + 256]; /* the command that repeats the running test */
  unsigned own_threads;        /* of harness and sanitizer, not of tests */
  atomic_uint failures;        /* checks that failed in the running test */
} run = {.end = &run.first, .test = "(none)"};

/* Default options of the sanitizers, whose runtime calls functions of these names. The
 * variables ASAN_OPTIONS and TSAN_OPTIONS override them. */
#if defined(WITH_ASAN)
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
  return "detect_stack_use_after_return=1:detect_leaks=1:strict_init_order=1";
}
#elif defined(WITH_TSAN)
const char *__tsan_default_options(void);
const char *__tsan_default_options(void) {
  return "halt_on_error=1:second_deadlock_stack=1:atexit_sleep_ms=0";
}
#endif

/* ---- checks ---- */

/* Counts a failed check. Returns true if it is to be printed. */
static bool count_failure(void) {
  unsigned before = atomic_fetch_add(&run.failures, 1);
  if (before == MAX_PRINTED) {
    watchdog_print(2, "  further failed checks of %s are not printed\n", run.test);
  }
  return before < MAX_PRINTED;
}

bool harness_check(bool held, const char *file, int line, const char *text) {
  if (!held && count_failure()) {
    watchdog_print(2, "%s:%d: %s: check failed: %s\n", file, line, run.test, text);
  }
  return held;
}

bool harness_check_msg(bool held, const char *file, int line, const char *text,
                       const char *format, ...) {
  if (!held && count_failure()) {
    char message[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    watchdog_print(2, "%s:%d: %s: check failed: %s: %s\n", file, line, run.test, text,
                   message);
  }
  return held;
}

void harness_require(const char *file, int line, const char *text) {
  watchdog_print(2, "%s:%d: %s: required: %s\n  replay: %s\n", file, line, run.test, text,
                 run.replay);
  _exit(1);
}

bool harness_check_str_eq(const char *a, const char *b, const char *file, int line,
                          const char *a_text, const char *b_text) {
  bool held = a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
  if (!held && count_failure()) {
    watchdog_print(2,
                   "%s:%d: %s: check failed: %s equals %s\n"
                   "  left:  \"%s\"\n  right: \"%s\"\n",
                   file, line, run.test, a_text, b_text, a != NULL ? a : "(null)",
                   b != NULL ? b : "(null)");
  }
  return held;
}

harness_value harness_signed(long long value) {
  return (harness_value){.kind = HARNESS_SIGNED, .number = value};
}

harness_value harness_unsigned(unsigned long long value) {
  return (harness_value){.kind = HARNESS_UNSIGNED, .natural = value};
}

harness_value harness_double(double value) {
  return (harness_value){.kind = HARNESS_DOUBLE, .real = value};
}

harness_value harness_pointer(const void *value) {
  return (harness_value){.kind = HARNESS_POINTER, .pointer = value};
}

static double value_as_double(harness_value v) {
  switch (v.kind) {
  case HARNESS_SIGNED:
    return (double)v.number;
  case HARNESS_UNSIGNED:
    return (double)v.natural;
  default:
    return v.real;
  }
}

static bool values_equal(harness_value a, harness_value b) {
  if (a.kind == HARNESS_POINTER || b.kind == HARNESS_POINTER) {
    return a.kind == b.kind && a.pointer == b.pointer;
  }
  if (a.kind == HARNESS_DOUBLE || b.kind == HARNESS_DOUBLE) {
    return value_as_double(a) == value_as_double(b);
  }
  /* A negative number equals no unsigned one, whatever its bits. All others can be
   * compared as unsigned numbers. */
  bool a_negative = a.kind == HARNESS_SIGNED && a.number < 0;
  bool b_negative = b.kind == HARNESS_SIGNED && b.number < 0;
  return a_negative == b_negative && a.natural == b.natural;
}

static void format_value(harness_value v, char *text, size_t size) {
  switch (v.kind) {
  case HARNESS_SIGNED:
    snprintf(text, size, "%lld", v.number);
    break;
  case HARNESS_UNSIGNED:
    snprintf(text, size, "%llu (0x%llx)", v.natural, v.natural);
    break;
  case HARNESS_DOUBLE:
    snprintf(text, size, "%.17g", v.real);
    break;
  case HARNESS_POINTER:
    snprintf(text, size, "%p", v.pointer);
    break;
  }
}

bool harness_check_eq(harness_value a, harness_value b, const char *file, int line,
                      const char *a_text, const char *b_text) {
  bool held = values_equal(a, b);
  if (!held && count_failure()) {
    char left[64], right[64];
    format_value(a, left, sizeof left);
    format_value(b, right, sizeof right);
    watchdog_print(2,
                   "%s:%d: %s: check failed: %s == %s\n"
                   "  left:  %s\n  right: %s\n",
                   file, line, run.test, a_text, b_text, left, right);
  }
  return held;
}

/* ---- randomness ---- */

uint64_t harness_seed(void) {
  return run.test_seed;
}

/* splitmix64 (Steele, Lea and Flood, 2014): any state is a good one. */
uint64_t harness_random(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static uint64_t seed_for(uint64_t run_seed, const char *name) {
  uint64_t state = run_seed;
  uint64_t mixed = harness_random(&state);
  for (const char *c = name; *c != '\0'; c++) {
    state = mixed ^ (unsigned char)*c;
    mixed = harness_random(&state);
  }
  return mixed;
}

/* ---- threads and processes ---- */

typedef struct team {
  pthread_barrier_t barrier;
  void (*fn)(unsigned index, void *arg);
  void *arg;
} team;

typedef struct member {
  pthread_t thread;
  unsigned index;
  team *team;
} member;

static void *member_main(void *arg) {
  member *self = arg;
  pthread_barrier_wait(&self->team->barrier);
  self->team->fn(self->index, self->team->arg);
  return NULL;
}

void harness_run_threads(unsigned count, void (*fn)(unsigned index, void *arg),
                         void *arg) {
  if (count == 0) return;
  team shared = {.fn = fn, .arg = arg};
  member *members = calloc(count, sizeof *members);
  REQUIRE(members != NULL);
  REQUIRE(pthread_barrier_init(&shared.barrier, NULL, count) == 0);
  for (unsigned i = 0; i < count; i++) {
    members[i].index = i;
    members[i].team = &shared;
    REQUIRE(pthread_create(&members[i].thread, NULL, member_main, &members[i]) == 0);
  }
  for (unsigned i = 0; i < count; i++) pthread_join(members[i].thread, NULL);
  pthread_barrier_destroy(&shared.barrier);
  free(members);
}

unsigned harness_thread_count(void) {
  return harness_count_all_threads() - run.own_threads;
}

static void sleep_for(long nanoseconds) {
  struct timespec time = {nanoseconds / 1000000000, nanoseconds % 1000000000};
  nanosleep(&time, NULL);
}

void harness_pause(unsigned *round) {
  enum { YIELDS = 20, FIRST_SLEEP_NS = 20000, DOUBLINGS = 5 };
  unsigned now = (*round)++;
  if (now < YIELDS) {
    sched_yield();
  } else {
    unsigned shift = now - YIELDS < DOUBLINGS ? now - YIELDS : DOUBLINGS;
    sleep_for((long)FIRST_SLEEP_NS << shift);
  }
}

void harness_linger(unsigned microseconds) {
  sleep_for(1000L * (long)microseconds);
}

unsigned harness_slowdown(void) {
  /* Emulators: how much slower qemu runs tests/par on an x86 machine (8), and more if two
   * run at once; Wine needs 8 for tests that wake threads. The rest: the middle of what
   * the manuals of the tools state for such programs. For delays: how much they slowed
   * down tests/core/deque_race.c. */
#if defined(DELAYS_DELAY_H)
  return 30;
#elif defined(HARNESS_SLOWDOWN)
  return HARNESS_SLOWDOWN;
#elif defined(WITH_TSAN)
  return 5;
#elif defined(WITH_ASAN) || defined(WITH_MSAN)
  return 3;
#else
  const char *preload = getenv("LD_PRELOAD");
  return preload != NULL && strstr(preload, "vgpreload") != NULL ? 20 : 1;
#endif
}

/* ---- the run ---- */

const char *harness_test_name(void) {
  return run.test;
}

const char *harness_replay(void) {
  return run.replay;
}

/* Called before main, in the order of the file; on Windows in the opposite order. */
void harness_add(harness_test *entry) {
#if defined(_WIN32)
  entry->next = run.first;
  run.first = entry;
#else
  *run.end = entry;
  run.end = &entry->next;
#endif
}

static bool selected(const harness_test *test, char **filters) {
  if (*filters == NULL) return !test->by_name;
  for (; *filters != NULL; filters++) {
    if (test->by_name ? strcmp(test->name, *filters) == 0
                      : strstr(test->name, *filters) != NULL) {
      return true;
    }
  }
  return false;
}

/* WEFT_TEST_SKIP names tests that have no meaning where the program runs, separated by
 * commas. */
static bool is_skipped(const harness_test *test) {
  const char *list = getenv("WEFT_TEST_SKIP");
  const size_t length = strlen(test->name);
  while (list != NULL && *list != '\0') {
    const size_t word = strcspn(list, ",");
    if (word == length && strncmp(list, test->name, length) == 0) return true;
    list += word + (list[word] == ',');
  }
  return false;
}

static bool run_test(const harness_test *test) {
  run.test = test->name;
  run.test_seed = seed_for(run.run_seed, test->name);
  snprintf(run.replay, sizeof run.replay, "%s --seed %" PRIu64 " %s", run.program,
           run.run_seed, test->name);
  atomic_store(&run.failures, 0);
  watchdog_print(1, "run  %s\n", test->name);

  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  watchdog_arm(test->name, run.replay, test->limit_seconds);
  test->fn();
  fflush(NULL); /* the output of the test comes before its result */
  watchdog_disarm();
  clock_gettime(CLOCK_MONOTONIC, &end);
  long ms =
      (long)(end.tv_sec - begin.tv_sec) * 1000 + (end.tv_nsec - begin.tv_nsec) / 1000000;

  unsigned failures = atomic_load(&run.failures);
  if (failures == 0) {
    watchdog_print(1, "ok   %s (%ld ms)\n", test->name, ms);
  } else {
    watchdog_print(1, "FAIL %s (%ld ms, %u checks failed)\n  replay: %s\n", test->name,
                   ms, failures, run.replay);
  }
  run.test = "(none)";
  return failures == 0;
}

static uint64_t parse_number(const char *option, const char *text) {
  char *end = NULL;
  errno = 0;
  uint64_t number = text != NULL ? strtoull(text, &end, 0) : 0;
  if (text == NULL || *text == '\0' || *end != '\0' || errno != 0) {
    watchdog_print(2, "%s needs a number, not \"%s\"\n", option, text ? text : "");
    exit(2);
  }
  return number;
}

static uint64_t fresh_seed(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  uint64_t state =
      ((uint64_t)now.tv_sec << 30) ^ (uint64_t)now.tv_nsec ^ ((uint64_t)getpid() << 48);
  return harness_random(&state) >> 32; /* short enough to type */
}

static void list_tests(void) {
  for (const harness_test *t = run.first; t != NULL; t = t->next) {
    watchdog_print(1, "%s%s\n", t->name, t->by_name ? " (by name only)" : "");
  }
}

int main(int argc, char **argv) {
  const char *seed_text = getenv("WEFT_TEST_SEED");
  uint64_t repeat = 1;
  char **filters = argv + 1; /* in place: memory here would be a leak in children */
  size_t filter_count = 0;
  run.program = argv[0];
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--list") == 0) {
      list_tests();
      return 0;
    } else if (strcmp(argv[i], "--seed") == 0) {
      seed_text = argv[++i];
      parse_number("--seed", seed_text);
    } else if (strcmp(argv[i], "--repeat") == 0) {
      repeat = parse_number("--repeat", argv[++i]);
    } else if (argv[i][0] == '-') {
      watchdog_print(2, "usage: %s [--list] [--seed N] [--repeat N] [name...]\n",
                     argv[0]);
      return 2;
    } else {
      filters[filter_count++] = argv[i];
    }
  }
  filters[filter_count] = NULL;
  uint64_t seed = seed_text != NULL && *seed_text != '\0'
                      ? parse_number("WEFT_TEST_SEED", seed_text)
                      : fresh_seed();

  harness_catch_crashes();
  watchdog_start();
  run.own_threads = harness_count_all_threads() - 1;
  watchdog_print(1, "%s: seed %" PRIu64 "\n", run.program, seed);

  unsigned passed = 0, failed = 0, skipped = 0;
  for (uint64_t round = 0; round < repeat; round++) {
    run.run_seed = seed + round;
    for (const harness_test *t = run.first; t != NULL; t = t->next) {
      if (!selected(t, filters)) continue;
      if (is_skipped(t)) {
        watchdog_print(1, "skip %s\n", t->name);
        skipped++;
        continue;
      }
      if (run_test(t)) {
        passed++;
      } else {
        failed++;
      }
    }
  }
  if (passed + failed + skipped == 0) watchdog_print(2, "no test has this name\n");
  watchdog_print(1, "%u passed, %u failed\n", passed, failed);
  return failed == 0 && passed + skipped > 0 ? 0 : 1;
}
