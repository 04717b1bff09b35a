/* sys/file.h - of macOS, as far as the library uses it; for the check of syntax alone.
 *
 * SPDX-License-Identifier: MIT */
#pragma once
#define LOCK_EX 0x2
#define LOCK_NB 0x4
int flock(int fd, int operation);
