/* The system layer of Windows: what the other tests of this folder check on Linux, and
 * CPU groups.
 *
 * SPDX-License-Identifier: MIT */
#include "core/atomic.h"
#include "harness/harness.h"
#include "sys/sys.h"
#include "sys/windows_api.h"
#include "wait_pair.h"

#include <fcntl.h>
#include <fenv.h>
#include <io.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOUR_NS (3600 * UINT64_C(1000000000))

/* ---- waiting ---- */

TEST(returns_at_once_if_the_value_differs) {
  wf_u32 word = {5};
  for (uint32_t i = 0; i < 1000; i++) {
    wf_sys_wait(&word, 6 + i);
    CHECK(wf_sys_wait_for(&word, 6 + i, HOUR_NS));
  }
}

TEST(timed_wait_ends_by_itself_and_not_too_early) {
  static const uint64_t times[] = {1, 999, 100 * 1000, 3 * 1000 * 1000};
  wf_u32 word = {7};
  for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
    uint64_t before;
    do {
      before = wf_sys_now_ns();
    } while (wf_sys_wait_for(&word, 7, times[i])); /* true: without reason */
    CHECK(wf_sys_now_ns() - before >= times[i]);
  }
}

TEST(ping_pong_loses_nothing) {
  wait_pair_run(10 * 1000, 0);
  wait_pair_run(3000, HOUR_NS);
  wait_pair_run(3000, UINT64_MAX);
}

/* A wake touches nothing: the page may be gone. */
TEST(wakes_do_not_look_at_memory) {
  wf_u32 *word = wf_sys_map(4096);
  REQUIRE(word != NULL);
  wf_sys_unmap(word, 4096);
  wf_sys_wake_one(word);
  wf_sys_wake_all(word);
}

typedef struct sleepers {
  wf_u32 word, ready;
} sleepers;

static void sleep_or_wake(unsigned index, void *arg) {
  sleepers *s = arg;
  unsigned round = 0;
  if (index > 0) {
    wf_u32_fetch_add_relaxed(&s->ready, 1);
    while (wf_u32_load_acquire(&s->word) == 0) wf_sys_wait(&s->word, 0);
    return;
  }
  while (wf_u32_load_relaxed(&s->ready) < 7) harness_pause(&round);
  wf_u32_store_release(&s->word, 1);
  wf_sys_wake_all(&s->word);
}

TEST(wake_all_wakes_all) {
  for (int i = 0; i < 100; i++) {
    sleepers s = {{0}, {0}};
    harness_run_threads(8, sleep_or_wake, &s);
  }
}

/* That of Wine does nothing, and must not be relied on. */
TEST(barrier_is_there_but_in_wine) {
  const HMODULE ntdll = GetModuleHandleW(L"ntdll.dll");
  const bool is_wine = GetProcAddress(ntdll, "wine_get_version") != NULL;
  CHECK_EQ(wf_sys_barrier_prepare(), !is_wine);
  for (int i = 0; i < 100; i++) CHECK(wf_sys_barrier());
}

/* ---- threads ---- */

typedef struct seen_thread {
  wf_u32 ran;
  bool knows_stack;
  uintptr_t low, frame;
  size_t size;
} seen_thread;

static void look_around(void *arg) {
  seen_thread *seen = arg;
  seen->frame = (uintptr_t)&seen;
  seen->knows_stack = wf_sys_thread_stack(&seen->low, &seen->size);
  wf_u32_store_release(&seen->ran, 1);
}

TEST(threads_start_with_their_stack_and_are_joined) {
  static const size_t sizes[] = {0, 64 << 10, 1 << 20, 8 << 20};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    seen_thread seen = {0};
    wf_thread thread;
    REQUIRE(wf_sys_thread_start(&thread, i % 2 ? "a name that is cut" : NULL, sizes[i],
                                look_around, &seen) == 0);
    wf_sys_thread_join(thread);
    CHECK_EQ(wf_u32_load_relaxed(&seen.ran), 1);
    CHECK(seen.knows_stack);
    CHECK(seen.frame - seen.low < seen.size);
    CHECK(seen.size >= sizes[i]);
  }
}

static void divide(void *arg) {
  volatile long double third = 1;
  third /= 3;
  *(long double *)arg = third;
}

/* Started threads round like the one that starts them. */
TEST(threads_compute_like_their_starter) {
  static const int roundings[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD};
  for (size_t i = 0; i < sizeof roundings / sizeof roundings[0]; i++) {
    long double here = 0, there = 0;
    wf_thread thread;
    REQUIRE(fesetround(roundings[i]) == 0);
    divide(&here);
    REQUIRE(wf_sys_thread_start(&thread, NULL, 0, divide, &there) == 0);
    wf_sys_thread_join(thread);
    CHECK(here == there);
  }
  REQUIRE(fesetround(FE_TONEAREST) == 0);
}

TEST(stacks_of_absurd_sizes_are_refused) {
  wf_thread thread;
  seen_thread seen = {0};
  CHECK_EQ(wf_sys_thread_start(&thread, NULL, 1, look_around, &seen), WEFT_EINVAL);
  CHECK_EQ(wf_sys_thread_start(&thread, NULL, SIZE_MAX, look_around, &seen), WEFT_EINVAL);
}

TEST(no_thread_and_no_handle_is_left) {
  DWORD before = 0, after = 0;
  for (int round = 0; round < 2; round++) {
    GetProcessHandleCount(GetCurrentProcess(), round == 0 ? &before : &after);
    for (int i = 0; i < 200; i++) {
      seen_thread seen = {0};
      wf_thread thread;
      REQUIRE(wf_sys_thread_start(&thread, "short", 0, look_around, &seen) == 0);
      wf_sys_thread_join(thread);
    }
  }
  CHECK_MSG(after < before + 100, "%lu handles, then %lu", before, after);
  CHECK_EQ(harness_thread_count(), 1);
}

/* ---- CPUs ---- */

TEST(threads_fill_one_group_after_the_other) {
  static const unsigned cpus[] = {3, 0, 2};
  static const unsigned groups[] = {0, 0, 0, 2, 2};
  for (unsigned i = 0; i < 20; i++) CHECK_EQ(wf_windows_group(cpus, 3, i), groups[i % 5]);
  CHECK_EQ(wf_windows_group(cpus + 1, 1, 7), 0); /* a machine that says it has none */
}

TEST(rates_of_jobs_are_numbers_of_cpus) {
  CHECK_EQ(wf_windows_cpus_of_rate(8, 10000), 8);
  CHECK_EQ(wf_windows_cpus_of_rate(8, 5000), 4);
  CHECK_EQ(wf_windows_cpus_of_rate(8, 3749), 2);
  CHECK_EQ(wf_windows_cpus_of_rate(8, 1), 1);
  CHECK_EQ(wf_windows_cpus_of_rate(128, 20000), 128);
}

TEST(cpus_are_counted_and_known) {
  unsigned count = wf_sys_cpu_count("");
  CHECK(count >= 1 && count <= 4096);
  CHECK(wf_sys_cpu_now() >= 0);
}

TEST(masks_are_read_and_set) {
  wf_cpu_mask *masks = wf_sys_masks_create(3);
  REQUIRE(masks != NULL);
  wf_cpu_mask *own = wf_sys_mask_at(masks, 0), *one = wf_sys_mask_at(masks, 1);
  wf_cpu_mask *now = wf_sys_mask_at(masks, 2);
  bool follows = false;
  REQUIRE(wf_sys_mask_read(own, 0));
  const unsigned count = wf_sys_mask_count(own);
  CHECK(count >= 1);
  /* One CPU, by the number of this thread, and back. */
  wf_sys_mask_copy(one, own);
  for (unsigned cpu = 0; wf_sys_mask_count(one) > 1; cpu++) wf_sys_mask_clear(one, cpu);
  CHECK(wf_sys_mask_is_part(one, own));
  CHECK(wf_sys_mask_set(one, wf_sys_thread_self()));
  CHECK(wf_sys_mask_read(now, 0) && wf_sys_mask_equal(now, one));
  CHECK(wf_sys_mask_has(one, (unsigned)wf_sys_cpu_now()) || count == 1);
  CHECK(wf_sys_mask_set(own, 0));
  CHECK(wf_sys_mask_origin(one, now, &follows));
  CHECK(wf_sys_mask_equal(one, own));
  /* A mask without CPUs, and threads that do not exist, are refused. */
  for (unsigned cpu = 0; wf_sys_mask_count(one) > 0; cpu++) wf_sys_mask_clear(one, cpu);
  CHECK(!wf_sys_mask_set(one, 0));
  CHECK(!wf_sys_mask_set(own, 3));
  wf_sys_mask_destroy(masks);
}

/* ---- files and descriptors ---- */

static size_t read_file(const char *path, char *out, size_t size) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return 0;
  const size_t length = fread(out, 1, size, file);
  fclose(file);
  return length;
}

TEST(files_are_written_by_one_at_a_time) {
  char path[300], text[16];
  int error = 0;
  REQUIRE(wf_sys_private_path(path, sizeof path, "weft-test-file"));
  const int file = wf_sys_file_create(path, &error);
  REQUIRE(file >= 0);
  CHECK_EQ(wf_sys_file_create(path, &error), WEFT_EBUSY);
  CHECK(error != 0 && wf_sys_error_text(error)[0] != '\0');
  CHECK(wf_sys_file_write(file, "world", 5, 6));
  CHECK(wf_sys_file_write(file, "hello ", 6, 0));
  CHECK_EQ(read_file(path, text, sizeof text), 11);
  CHECK(memcmp(text, "hello world", 11) == 0);
  wf_sys_file_close(file);
  CHECK(wf_sys_file_replace(path, "new", 3));
  CHECK_EQ(read_file(path, text, sizeof text), 3);
  wf_sys_file_remove(path);
  CHECK_EQ(read_file(path, text, sizeof text), 0);
  CHECK_EQ(wf_sys_file_create("Z:\\no such folder\\file", &error), WEFT_EIO);
}

TEST(descriptors_are_told) {
  int ends[2];
  uint64_t got = 0;
  REQUIRE(_pipe(ends, 4096, _O_BINARY) == 0);
  CHECK(wf_sys_fd_is_writable(ends[1]));
  CHECK(!wf_sys_fd_is_writable(ends[0]));
  CHECK(!wf_sys_fd_is_writable(-1));
  CHECK(!wf_sys_fd_is_writable(4711));
  wf_sys_fd_notify(ends[1]);
  CHECK_EQ(_read(ends[0], &got, sizeof got), (int)sizeof got);
  CHECK_EQ(got, 1);
  _close(ends[0]);
  wf_sys_fd_notify(ends[1]); /* nobody reads: nothing happens */
  _close(ends[1]);
}

TEST(the_process_is_known) {
  char date[WF_DATE_SIZE];
  wf_sys_date(date);
  CHECK_EQ(strlen(date), 20);
  CHECK(strstr(wf_sys_program_name(), "test_sys_windows") != NULL);
  CHECK(wf_sys_process_id() != 0);
  CHECK(wf_sys_environment() != NULL);
}

/* ---- what ends the process ---- */

static void say_signal(int signal) {
  char line[40];
  snprintf(line, sizeof line, "told of %s", signal == 22 ? "abort" : "a fault");
  wf_sys_print_line(line);
}

TEST_BY_NAME(dies_by_abort) {
  wf_sys_on_fatal_signal(say_signal);
  abort();
}

TEST_BY_NAME(dies_by_fault) {
  wf_sys_on_fatal_signal(say_signal);
  *(volatile int *)(uintptr_t)16 = 1;
}

TEST(the_end_is_told_once) {
  char text[2000];
  CHECK(harness_run_self(NULL, "dies_by_abort", text, sizeof text) != 0);
  CHECK_MSG(strstr(text, "told of abort") != NULL, "%s", text);
  CHECK(harness_run_self(NULL, "dies_by_fault", text, sizeof text) != 0);
  const char *first = strstr(text, "told of a fault");
  CHECK_MSG(first != NULL && strstr(first + 1, "told of") == NULL, "%s", text);
}
