/* heap.c - the memory of the simulated threads: one region at a fixed address.
 *
 * Freed blocks go to lists by size, a power of two, and are used again, newest first.
 * An allocation costs a fixed time and touches no line: how allocators scale is not a
 * question here.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HEADER = 64, SIZES = 40, GUARD = 4096, SEED_SHIFT = 4096 };
#define STACKS_AT ((size_t)1 << (SM_HEAP_LOG2 - 1)) /* the upper half */

static char *const WANTED_ADDRESS = (char *)(uintptr_t)0x700000000000;

char *sm_heap_low;
static size_t used, stacks_used = STACKS_AT;

typedef struct block {
  size_t order; /* log2 of its size */
  char *memory; /* the start of the block that was cut */
  struct block *next;
} block;
static block *free_blocks[SIZES];

void *sm_malloc(size_t size);
void *sm_calloc(size_t count, size_t size);
void *sm_aligned_alloc(size_t alignment, size_t size);
void *sm_realloc(void *memory, size_t size);
void sm_free(void *memory);

void sm_heap_init(uint64_t seed) {
  sm_heap_low =
      (char *)mmap(WANTED_ADDRESS, (size_t)1 << SM_HEAP_LOG2, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (sm_heap_low == MAP_FAILED) {
    perror("mmap");
    exit(2);
  }
  used = (size_t)(seed % 1000000) * SEED_SHIFT;
}

/* Stacks start at different places of their pages, as threads' stacks usually do. */
char *sm_heap_stack(size_t size) {
  char *low = sm_heap_low + stacks_used;
  stacks_used += (size + 2 * GUARD - 1) & ~(size_t)(GUARD - 1);
  if (stacks_used > (size_t)1 << SM_HEAP_LOG2) abort();
  return low;
}

bool sm_heap_is_stack(uintptr_t address) {
  return address - (uintptr_t)sm_heap_low >= STACKS_AT;
}

static size_t order_of(size_t size) {
  size_t order = 6;
  while (((size_t)1 << order) < size) order++;
  return order;
}

/* The header is in a line of its own, before the memory. */
void *sm_aligned_alloc(size_t alignment, size_t size) {
  sm_clock += sm_now.allocate;
  if (alignment < HEADER) alignment = HEADER;
  size_t order = order_of(size + HEADER + (alignment > HEADER ? alignment : 0));
  block *head = free_blocks[order];
  char *memory;
  if (head != NULL) {
    free_blocks[order] = head->next;
    memory = head->memory;
  } else {
    memory = sm_heap_low + used;
    used += (size_t)1 << order;
    if (used > STACKS_AT) abort();
  }
  uintptr_t at = ((uintptr_t)memory + HEADER + alignment - 1) & ~(alignment - 1);
  head = (block *)(at - HEADER);
  head->order = order;
  head->memory = memory;
  return (void *)at;
}

void *sm_malloc(size_t size) {
  return sm_aligned_alloc(16, size);
}

void *sm_calloc(size_t count, size_t size) {
  void *memory = sm_malloc(count * size);
  memset(memory, 0, count * size);
  return memory;
}

void sm_free(void *memory) {
  if (memory == NULL) return;
  sm_clock += sm_now.allocate;
  block *head = (block *)((uintptr_t)memory - HEADER);
  head->next = free_blocks[head->order];
  free_blocks[head->order] = head;
}

void *sm_realloc(void *memory, size_t size) {
  if (memory == NULL) return sm_malloc(size);
  block *head = (block *)((uintptr_t)memory - HEADER);
  size_t room = ((size_t)1 << head->order) - (size_t)((char *)memory - head->memory);
  if (size <= room) return memory;
  void *larger = sm_malloc(size);
  memcpy(larger, memory, room);
  sm_free(memory);
  return larger;
}
