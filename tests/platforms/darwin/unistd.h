/* unistd.h - of macOS, as far as the library uses it; for the check of syntax alone.
 *
 * SPDX-License-Identifier: MIT */
#pragma once
#include <sys/types.h>
#define STDERR_FILENO        2
#define _SC_PAGESIZE         29
#define _SC_NPROCESSORS_ONLN 58
ssize_t write(int fd, const void *data, size_t size);
ssize_t read(int fd, void *data, size_t size);
ssize_t pwrite(int fd, const void *data, size_t size, off_t offset);
int close(int fd);
int isatty(int fd);
pid_t tcgetpgrp(int fd);
pid_t getpgrp(void);
int ftruncate(int fd, off_t size);
int unlink(const char *path);
pid_t getpid(void);
uid_t getuid(void);
uid_t geteuid(void);
gid_t getgid(void);
gid_t getegid(void);
long sysconf(int name);
_Noreturn void _exit(int status);
