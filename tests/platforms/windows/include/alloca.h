/* alloca.h - for tests on Windows, which has it elsewhere.
 *
 * SPDX-License-Identifier: MIT */
#include <malloc.h>
