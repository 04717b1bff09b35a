/* sys/mman.h - of macOS, as far as the library uses it; for the check of syntax alone.
 *
 * SPDX-License-Identifier: MIT */
#pragma once
#include <sys/types.h>
#define PROT_READ   0x1
#define PROT_WRITE  0x2
#define MAP_SHARED  0x1
#define MAP_PRIVATE 0x2
#define MAP_ANON    0x1000
#define MAP_FAILED  ((void *)-1)
void *mmap(void *at, size_t size, int access, int flags, int file, off_t offset);
int munmap(void *memory, size_t size);
