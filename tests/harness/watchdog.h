/* harness/watchdog.h - ends a test that hangs and prints where it hangs. Only harness.c
 * calls these functions, from the main thread; any thread may call watchdog_print.
 *
 * SPDX-License-Identifier: MIT */
#ifndef HARNESS_WATCHDOG_H
#define HARNESS_WATCHDOG_H

/* Starts the watching thread. Called once, before the first test. */
void watchdog_start(void);

/* A test begins: from now on the watchdog prints these strings if the test does not end
 * in time. They must stay valid until watchdog_disarm. */
void watchdog_arm(const char *test, const char *replay, unsigned limit_seconds);
void watchdog_disarm(void);

/* Writes a formatted message to a file descriptor with one write, so that the lines of
 * several threads do not mix. Messages of 4096 bytes and more are cut. */
__attribute__((format(printf, 2, 3))) void watchdog_print(int fd, const char *format,
                                                          ...);

/* Prints the stack of the calling thread to standard error; a signal handler may call
 * it. */
void watchdog_print_own_stack(void);

#endif
