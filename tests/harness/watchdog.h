/* watchdog.h - between harness.c and watchdog.c: ends a test that hangs, and says where.
 *
 * SPDX-License-Identifier: MIT */
#ifndef HARNESS_WATCHDOG_H
#define HARNESS_WATCHDOG_H

/* Starts the watching thread. Called once, before the first test. */
void watchdog_start(void);

/* Tells the watchdog that a test begins, with what to print if it does not end in time.
 * Both strings stay valid until watchdog_disarm. */
void watchdog_arm(const char *test, const char *replay, unsigned limit_seconds);
void watchdog_disarm(void);

/* Writes a formatted message to a file descriptor with one write, so that the lines of
 * several threads do not mix. Longer messages are cut. */
__attribute__((format(printf, 2, 3))) void watchdog_print(int fd, const char *format,
                                                          ...);

#endif
