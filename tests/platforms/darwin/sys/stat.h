/* sys/stat.h - of macOS, as far as the library uses it; for the check of syntax alone.
 *
 * SPDX-License-Identifier: MIT */
#pragma once
#include <sys/types.h>
struct stat {
  mode_t st_mode;
  uid_t st_uid;
};
#define S_IWGRP    0000020
#define S_IWOTH    0000002
#define S_ISDIR(m) (((m)&0170000) == 0040000)
int lstat(const char *path, struct stat *out);
int mkdir(const char *path, mode_t mode);
