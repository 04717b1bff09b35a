/* os/clock.h - of macOS, as far as the library uses it; for the check of syntax alone.
 *
 * SPDX-License-Identifier: MIT */
#pragma once
#include <stdint.h>
typedef enum : uint32_t { OS_CLOCK_MACH_ABSOLUTE_TIME = 32 } os_clockid_t;
