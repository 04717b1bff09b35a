/* inttypes.h - of macOS, as far as the library uses it; for the check of syntax alone.
 *
 * SPDX-License-Identifier: MIT */
#pragma once
#include <stdint.h>
#define PRIu64 "llu"
#define PRId64 "lld"
#define PRIu32 "u"
