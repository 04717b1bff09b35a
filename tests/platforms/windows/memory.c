/* platforms/windows/memory.c - malloc and its relatives for the tests on Windows, so that
 * aligned_alloc exists and free takes what it returns; and mmap, which always fails.
 *
 * In front of each block is the address that the system's heap knows it by.
 *
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

typedef struct block {
  void *memory; /* from the heap of the process */
  size_t size;
} block;

enum { LEAST_ALIGNMENT = 16 };

static block *block_of(void *memory) {
  return (block *)memory - 1;
}

void *aligned_alloc(size_t alignment, size_t size) {
  if (alignment < LEAST_ALIGNMENT) alignment = LEAST_ALIGNMENT;
  if (size > SIZE_MAX / 2) return NULL;
  void *memory = HeapAlloc(GetProcessHeap(), 0, size + alignment + sizeof(block));
  if (memory == NULL) return NULL;
  uintptr_t start = (uintptr_t)memory + sizeof(block) + alignment - 1;
  void *out = (void *)(start / alignment * alignment);
  *block_of(out) = (block){memory, size};
  return out;
}

void *malloc(size_t size) {
  return aligned_alloc(LEAST_ALIGNMENT, size);
}

void *calloc(size_t count, size_t size) {
  if (size != 0 && count > SIZE_MAX / 2 / size) return NULL;
  void *out = malloc(count * size);
  if (out != NULL) memset(out, 0, count * size);
  return out;
}

void free(void *memory) {
  if (memory != NULL) HeapFree(GetProcessHeap(), 0, block_of(memory)->memory);
}

void *realloc(void *memory, size_t size) {
  if (memory == NULL) return malloc(size);
  void *out = malloc(size);
  if (out == NULL) return NULL;
  const size_t before = block_of(memory)->size;
  memcpy(out, memory, before < size ? before : size);
  free(memory);
  return out;
}

void *mmap(void *at, size_t size, int access, int flags, int file, off_t offset) {
  (void)at, (void)size, (void)access, (void)flags, (void)file, (void)offset;
  return (void *)-1;
}
