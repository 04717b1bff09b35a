/* sys/types.h - of macOS, as far as the library uses it; for the check of syntax alone.
 *
 * SPDX-License-Identifier: MIT */
#pragma once
#include <stddef.h>
#include <stdint.h>
typedef long ssize_t;
typedef int64_t off_t;
typedef int pid_t;
typedef uint32_t uid_t, gid_t;
typedef uint16_t mode_t;
typedef long time_t;
