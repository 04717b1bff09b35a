/* fcntl.h - of macOS, as far as the library uses it; for the check of syntax alone.
 *
 * SPDX-License-Identifier: MIT */
#pragma once
#include <sys/types.h>
#define O_RDONLY   0x0
#define O_WRONLY   0x1
#define O_RDWR     0x2
#define O_ACCMODE  0x3
#define O_NONBLOCK 0x4
#define O_NOFOLLOW 0x100
#define O_CREAT    0x200
#define O_EXCL     0x800
#define O_NOCTTY   0x20000
#define O_CLOEXEC  0x1000000
#define F_GETFL    3
int open(const char *path, int flags, ...);
int fcntl(int fd, int command, ...);
