/* sys/mman.h - for tests on Windows, where the library maps memory by another call: those
 * that let mmap fail are left out by name (left-out.txt).
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_WINDOWS_SYS_MMAN_H
#define TESTS_WINDOWS_SYS_MMAN_H

#include <stddef.h>
#include <sys/types.h>

#define MAP_FAILED ((void *)-1)

#endif
