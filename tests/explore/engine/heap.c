/* heap.c - the memory of the explored code.
 *
 * Blocks are cut from one region, one after the other, and never used twice within an
 * execution: an address stands for one object. The region lies at an address that is the
 * same in each run, so that a schedule replays. A byte per granule says whether it is
 * alive.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
  GRANULE = 8,
  HEAP_SIZE = 32 << 20,
  STACKS_SIZE = 32 << 20,
  GUARD = 4096,
  HEADER = 16,
  NEVER = 0,
  LIVE = 1,
  DEAD = 2
};
enum { FRESH_BYTE = 0xA5, FREED_BYTE = 0xDD };

typedef struct block_header {
  size_t size;
  unsigned allocated_by;
  unsigned live;
} block_header;

static char *const WANTED_ADDRESS = (char *)(uintptr_t)0x7e0000000000;

static char *heap, *stacks;
static size_t heap_used, stacks_used;
static unsigned char state[HEAP_SIZE / GRANULE];
static size_t live_blocks;

void *xp_malloc(size_t size);
void *xp_calloc(size_t count, size_t size);
void *xp_aligned_alloc(size_t alignment, size_t size);
void *xp_realloc(void *memory, size_t size);
void xp_free(void *memory);

void xp_heap_init(void) {
  char *region =
      (char *)mmap(WANTED_ADDRESS, HEAP_SIZE + STACKS_SIZE, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (region == MAP_FAILED) {
    perror("explorer: mmap");
    exit(2);
  }
  heap = region;
  stacks = region + HEAP_SIZE;
}

char *xp_heap_stack(size_t size) {
  char *low = stacks + stacks_used;
  stacks_used += size;
  if (stacks_used > STACKS_SIZE || mprotect(low, GUARD, PROT_NONE) != 0) abort();
  return low;
}

void xp_heap_begin(void) {
  memset(state, NEVER, heap_used / GRANULE + 1);
  heap_used = 0;
  live_blocks = 0;
}

static void mark(uintptr_t address, size_t size, unsigned char value) {
  size_t first = (address - (uintptr_t)heap) / GRANULE;
  size_t last = (address + size + GRANULE - 1 - (uintptr_t)heap) / GRANULE;
  memset(state + first, value, last - first);
}

void *xp_aligned_alloc(size_t alignment, size_t size) {
  if (!xp_now.alone && xp_now.allocations_left > 0 &&
      xp_choose(XP_CHOOSE_FAULT, 2) == 1) {
    xp_now.allocations_left--;
    xp_trace("allocation of %zu bytes fails", size);
    return NULL;
  }
  if (alignment < HEADER) alignment = HEADER;
  size_t start = (heap_used + HEADER + alignment - 1) / alignment * alignment;
  if (size > HEAP_SIZE || start + size + GRANULE > HEAP_SIZE)
    xp_fail(XP_ASSERTION, __FILE__, __LINE__, "the explorer's heap is too small");
  char *memory = heap + start;
  *(block_header *)(void *)(memory - HEADER) = (block_header){size, xp_current, 1};
  heap_used = (start + size + GRANULE - 1) / GRANULE * GRANULE;
  memset(memory, FRESH_BYTE, size);
  mark((uintptr_t)memory, size, LIVE);
  live_blocks++;
  return memory;
}

void *xp_malloc(size_t size) {
  return xp_aligned_alloc(HEADER, size);
}

void *xp_calloc(size_t count, size_t size) {
  if (size != 0 && count > SIZE_MAX / size) return NULL;
  void *memory = xp_malloc(count * size);
  if (memory != NULL) memset(memory, 0, count * size);
  return memory;
}

void xp_free(void *memory) {
  if (memory == NULL) return;
  block_header *header = (block_header *)(void *)((char *)memory - HEADER);
  if (!xp_heap_owns((uintptr_t)memory) || (header->live != 0 && header->live != 1))
    xp_fail(XP_DEAD, __FILE__, __LINE__, "free of an address that was not allocated");
  if (header->live == 0) xp_fail(XP_DEAD, __FILE__, __LINE__, "freed twice");
  xp_memory_before_free(memory, header->size);
  if (header->live == 0) xp_fail(XP_DEAD, __FILE__, __LINE__, "freed twice");
  xp_plain_write(memory, header->size);
  xp_trace("free %p (%zu bytes)", memory, header->size);
  header->live = 0;
  memset(memory, FREED_BYTE, header->size);
  mark((uintptr_t)memory, header->size, DEAD);
  live_blocks--;
}

void *xp_realloc(void *memory, size_t size) {
  void *moved = xp_malloc(size);
  if (moved == NULL || memory == NULL) return moved;
  size_t old = ((block_header *)(void *)((char *)memory - HEADER))->size;
  memcpy(moved, memory, old < size ? old : size);
  xp_free(memory);
  return moved;
}

bool xp_heap_owns(uintptr_t address) {
  return address - (uintptr_t)heap < HEAP_SIZE;
}

bool xp_heap_is_dead(uintptr_t address) {
  return xp_heap_owns(address) && state[(address - (uintptr_t)heap) / GRANULE] != LIVE;
}

size_t xp_live_allocations(void) {
  return live_blocks;
}

void xp_heap_check_leaks(void) {
  if (live_blocks == 0 || xp_now.scenario->may_leak) return;
  char text[64];
  snprintf(text, sizeof text, "%zu blocks were not freed", live_blocks);
  xp_fail(XP_LEAK, __FILE__, __LINE__, text);
}

/* ---- memory that a scenario declares dead ---- */

enum { MAX_DEAD = 64 };
static struct {
  uintptr_t start, end;
  uint64_t execution;
} dead[MAX_DEAD];
static unsigned dead_count;

void xp_dead(const void *memory, size_t size) {
  uintptr_t start = (uintptr_t)memory;
  if (xp_heap_owns(start)) {
    mark(start, size, DEAD);
    return;
  }
  if (dead_count > 0 && dead[0].execution != xp_now.number) dead_count = 0;
  if (dead_count == MAX_DEAD) abort();
  dead[dead_count].start = start;
  dead[dead_count].end = start + size;
  dead[dead_count++].execution = xp_now.number;
}

void xp_alive(const void *memory, size_t size) {
  uintptr_t start = (uintptr_t)memory;
  if (xp_heap_owns(start)) mark(start, size, LIVE);
  for (unsigned i = 0; i < dead_count; i++)
    if (dead[i].start < start + size && start < dead[i].end) dead[i].end = dead[i].start;
}

bool xp_declared_dead(uintptr_t address) {
  for (unsigned i = 0; i < dead_count && dead[i].execution == xp_now.number; i++)
    if (address >= dead[i].start && address < dead[i].end) return true;
  return false;
}
