/* harness/system.h - the parts of the harness that differ between systems: system.c for
 * Linux, system_windows.c for Windows. Only harness.c calls these functions.
 *
 * SPDX-License-Identifier: MIT */
#ifndef HARNESS_SYSTEM_H
#define HARNESS_SYSTEM_H

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#elif __has_feature(thread_sanitizer)
#define WITH_TSAN 1
#elif __has_feature(memory_sanitizer)
#define WITH_MSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#elif defined(__SANITIZE_THREAD__)
#define WITH_TSAN 1
#endif

/* All threads of the process that have not ended, also those of harness, sanitizer and
 * emulator. */
unsigned harness_count_all_threads(void);

/* From now on a crash prints the running test and the command that repeats it. */
void harness_catch_crashes(void);

/* The running test and the command that repeats it, for the report of a crash. */
const char *harness_test_name(void);
const char *harness_replay(void);

#endif
