/* instrumented.c - plain accesses of the explored code, as the compiler reports them.
 *
 * The library and the scenarios are compiled with the instrumentation of ThreadSanitizer,
 * but linked without its runtime: the functions that it calls are here. Static variables
 * are left out: the library has no plain ones that threads share, and those of a scenario
 * are how it keeps count.
 *
 * SPDX-License-Identifier: MIT */
#include "engine.h"

static inline __attribute__((always_inline)) void note(const void *p, size_t size,
                                                       bool write) {
  if (!xp_heap_owns((uintptr_t)p) && !xp_on_stack((uintptr_t)p)) return;
  if (write)
    xp_plain_write(p, size);
  else
    xp_plain_read(p, size);
}

#define XP_ACCESS(size)                                                                  \
  void __tsan_read##size(const void *p);                                                 \
  void __tsan_write##size(const void *p);                                                \
  void __tsan_unaligned_read##size(const void *p);                                       \
  void __tsan_unaligned_write##size(const void *p);                                      \
  void __tsan_volatile_read##size(const void *p);                                        \
  void __tsan_volatile_write##size(const void *p);                                       \
  void __tsan_read##size(const void *p) {                                                \
    note(p, size, false);                                                                \
  }                                                                                      \
  void __tsan_write##size(const void *p) {                                               \
    note(p, size, true);                                                                 \
  }                                                                                      \
  void __tsan_unaligned_read##size(const void *p) {                                      \
    note(p, size, false);                                                                \
  }                                                                                      \
  void __tsan_unaligned_write##size(const void *p) {                                     \
    note(p, size, true);                                                                 \
  }                                                                                      \
  void __tsan_volatile_read##size(const void *p) {                                       \
    note(p, size, false);                                                                \
  }                                                                                      \
  void __tsan_volatile_write##size(const void *p) {                                      \
    note(p, size, true);                                                                 \
  }

XP_ACCESS(1)
XP_ACCESS(2)
XP_ACCESS(4)
XP_ACCESS(8)
XP_ACCESS(16)

void __tsan_init(void);
void __tsan_func_entry(const void *pc);
void __tsan_func_exit(const void *pc);
void __tsan_read_range(const void *p, size_t size);
void __tsan_write_range(const void *p, size_t size);
void *__tsan_memcpy(void *to, const void *from, size_t size);
void *__tsan_memmove(void *to, const void *from, size_t size);
void *__tsan_memset(void *memory, int value, size_t size);

void __tsan_init(void) {}
void __tsan_func_entry(const void *pc) {
  (void)pc;
}
void __tsan_func_exit(const void *pc) {
  (void)pc;
}

void __tsan_read_range(const void *p, size_t size) {
  note(p, size, false);
}

void __tsan_write_range(const void *p, size_t size) {
  note(p, size, true);
}

void *__tsan_memcpy(void *to, const void *from, size_t size) {
  note(from, size, false);
  note(to, size, true);
  return __builtin_memcpy(to, from, size);
}

void *__tsan_memmove(void *to, const void *from, size_t size) {
  note(from, size, false);
  note(to, size, true);
  return __builtin_memmove(to, from, size);
}

void *__tsan_memset(void *memory, int value, size_t size) {
  note(memory, size, true);
  return __builtin_memset(memory, value, size);
}
