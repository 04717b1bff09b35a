/* harness/selftest.c - tests of the harness itself.
 *
 * A failing, hanging or crashing test can only be watched from outside. Tests marked
 * TEST_BY_NAME fail, hang or crash, and other tests run this same program as a child with
 * only that test.
 *
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <harness/harness.h>

#define OUTPUT_SIZE (1u << 20)

static char output[OUTPUT_SIZE];

static bool printed(const char *text) {
  bool found = strstr(output, text) != NULL;
  CHECK_MSG(found, "\"%s\" is not in the output:\n%.3000s", text, output);
  return found;
}

/* ---- checks ---- */

TEST(equal_values_of_any_type) {
  int object = 0;
  CHECK_EQ(1, 1u);
  CHECK_EQ((char)7, (size_t)7);
  CHECK_EQ((short)-3, -3ll);
  CHECK_EQ(true, 1);
  CHECK_EQ(UINT64_MAX, UINT64_MAX);
  CHECK_EQ(&object, &object);
  CHECK_EQ((void *)NULL, NULL);
  CHECK_EQ(0.5, 0.5f);
  CHECK_STR_EQ("ab", "ab");
  CHECK_STR_EQ(NULL, NULL);
}

static void fail_nine_times(unsigned index, void *arg) {
  (void)arg;
  for (unsigned i = 0; i < 9; i++) CHECK_MSG(index > 7, "thread %u, round %u", index, i);
}

/* Most of the failures come from another thread. There are fewer than MAX_PRINTED. */
TEST_BY_NAME(failing) {
  int left = 1, right = 2;
  CHECK(left == right);
  CHECK_EQ(left, right);
  CHECK_EQ(-1, UINT64_MAX);
  CHECK_EQ(&left, &right);
  CHECK_STR_EQ("one", "two");
  harness_run_threads(1, fail_nine_times, NULL);
}

TEST_BY_NAME(failing_on_threads) {
  harness_run_threads(8, fail_nine_times, NULL);
}

TEST_BY_NAME(requiring) {
  REQUIRE(output[0] != '\0');
  CHECK_MSG(false, "this line is never reached");
}

TEST(failed_checks_show_both_sides) {
  CHECK_EQ(harness_run_self(NULL, "--seed 5 failing", output, sizeof output), 1);
  printed("check failed: left == right\n");
  printed("  left:  1\n  right: 2\n");
  printed("  left:  -1\n  right: 18446744073709551615 (0xffffffffffffffff)\n");
  printed("  left:  \"one\"\n  right: \"two\"\n");
  printed("thread 0, round 8\n");
  printed("14 checks failed)\n");
  printed(" --seed 5 failing\n");
  printed("0 passed, 1 failed\n");
}

TEST(failed_checks_of_all_threads_count) {
  CHECK_EQ(harness_run_self(NULL, "failing_on_threads", output, sizeof output), 1);
  printed("72 checks failed)\n");
  printed("further failed checks of failing_on_threads are not printed\n");
}

TEST(require_ends_the_program) {
  CHECK_EQ(harness_run_self(NULL, "--seed 9 requiring", output, sizeof output), 1);
  printed("requiring: required: output[0] != '\\0'\n");
  printed(" --seed 9 requiring\n");
  CHECK(strstr(output, "never reached") == NULL);
}

/* ---- choosing tests, seeds ---- */

TEST_BY_NAME(printing_the_seed) {
  uint64_t state = harness_seed();
  printf("drew %" PRIu64 "\n", harness_random(&state));
  fflush(stdout);
}

static void read_drawn(char *number, size_t size) {
  const char *drew = strstr(output, "drew ");
  REQUIRE(drew != NULL);
  snprintf(number, size, "%.*s", (int)strcspn(drew, "\n"), drew);
}

TEST(a_seed_replays) {
  char first[64], again[64], other[64];
  CHECK_EQ(harness_run_self(NULL, "--seed 77 printing_the_seed", output, sizeof output),
           0);
  printed(": seed 77\n");
  printed("1 passed, 0 failed\n");
  read_drawn(first, sizeof first);
  harness_run_self("WEFT_TEST_SEED=77", "printing_the_seed", output, sizeof output);
  read_drawn(again, sizeof again);
  harness_run_self("WEFT_TEST_SEED=77", "--seed 78 printing_the_seed", output,
                   sizeof output);
  read_drawn(other, sizeof other);
  CHECK_STR_EQ(first, again);
  CHECK(strcmp(first, other) != 0);

  /* The second round of a repetition has the next seed. */
  CHECK_EQ(harness_run_self(NULL, "--seed 77 --repeat 2 printing_the_seed", output,
                            sizeof output),
           0);
  printed("2 passed, 0 failed\n");
  printed(first);
  printed(other);
}

TEST(names_choose_tests) {
  CHECK_EQ(harness_run_self(NULL, "--list", output, sizeof output), 0);
  printed("names_choose_tests\n");
  printed("hanging (by name only)\n");
  CHECK_EQ(harness_run_self(NULL, "equal_values", output, sizeof output), 0);
  printed("1 passed, 0 failed\n");
  CHECK_EQ(harness_run_self(NULL, "no_such_test", output, sizeof output), 1);
  printed("no test has this name\n");
  CHECK_EQ(harness_run_self(NULL, "--seed x", output, sizeof output), 2);
  CHECK_EQ(harness_run_self(NULL, "--what", output, sizeof output), 2);
}

/* ---- threads ---- */

static void meet(unsigned index, void *arg) {
  atomic_uint *present = arg;
  (void)index;
  CHECK(harness_thread_count() >= 2);
  atomic_fetch_add(present, 1);
}

TEST(threads_run_and_are_gone_when_joined) {
  atomic_uint present = 0;
  CHECK_EQ(harness_thread_count(), 1);
  for (int i = 0; i < 50; i++) {
    harness_run_threads(4, meet, &present);
    CHECK_EQ(harness_thread_count(), 1);
  }
  CHECK_EQ(atomic_load(&present), 200);
  harness_run_threads(0, meet, &present);
  CHECK_EQ(atomic_load(&present), 200);
}

/* ---- hangs and crashes ---- */

static atomic_bool never;

/* Not static, so that both ways of printing stacks know the name. */
void spin_forever(unsigned index, void *arg);
void spin_forever(unsigned index, void *arg) {
  (void)index, (void)arg;
  while (!atomic_load(&never)) {
  }
}

TEST_BY_NAME(hanging) {
  harness_run_threads(2, spin_forever, NULL);
}

static void check_hang(const char *env) {
  CHECK_EQ(harness_run_self(env, "--seed 3 hanging", output, sizeof output), 124);
  printed("hanging: still running after");
  printed(" --seed 3 hanging\n");
}

TEST_LIMIT(the_watchdog_shows_stacks, 180) {
  check_hang("WEFT_TEST_TIMEOUT=1");
  printed("spin_forever");
}

TEST_LIMIT(the_watchdog_shows_stacks_without_gdb, 180) {
  check_hang("WEFT_TEST_NO_GDB=1 WEFT_TEST_TIMEOUT=1");
  /* ThreadSanitizer delivers signals only when a thread blocks, but these threads spin.
   */
  bool answered = strstr(output, "spin_forever") != NULL;
  if (!answered && harness_slowdown() > 1) printed("the thread did not answer\n");
  CHECK(answered || harness_slowdown() > 1);
}

TEST_BY_NAME(aborting) {
  abort();
}

TEST(a_crash_names_the_test) {
  int code = harness_run_self(NULL, "--seed 4 aborting", output, sizeof output);
  CHECK(code != 0);
  if (harness_slowdown() == 1) {
    CHECK_EQ(code, 128 + 6);
    printed("aborting: crashed with signal 6\n");
    printed(" --seed 4 aborting\n");
  }
}
