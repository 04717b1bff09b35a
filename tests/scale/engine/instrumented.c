/* instrumented.c - plain accesses of the simulated code, as the compiler reports them.
 *
 * The library and the workloads are compiled with the instrumentation of ThreadSanitizer,
 * but linked without its runtime: the functions that it calls are here.
 *
 * SPDX-License-Identifier: MIT */
#include "machine.h"

#define SM_ACCESS(size)                                                                  \
  void __tsan_read##size(const void *p);                                                 \
  void __tsan_write##size(const void *p);                                                \
  void __tsan_unaligned_read##size(const void *p);                                       \
  void __tsan_unaligned_write##size(const void *p);                                      \
  void __tsan_volatile_read##size(const void *p);                                        \
  void __tsan_volatile_write##size(const void *p);                                       \
  void __tsan_read##size(const void *p) {                                                \
    sm_plain(p, size, false);                                                            \
  }                                                                                      \
  void __tsan_write##size(const void *p) {                                               \
    sm_plain(p, size, true);                                                             \
  }                                                                                      \
  void __tsan_unaligned_read##size(const void *p) {                                      \
    sm_plain(p, size, false);                                                            \
  }                                                                                      \
  void __tsan_unaligned_write##size(const void *p) {                                     \
    sm_plain(p, size, true);                                                             \
  }                                                                                      \
  void __tsan_volatile_read##size(const void *p) {                                       \
    sm_plain(p, size, false);                                                            \
  }                                                                                      \
  void __tsan_volatile_write##size(const void *p) {                                      \
    sm_plain(p, size, true);                                                             \
  }

SM_ACCESS(1)
SM_ACCESS(2)
SM_ACCESS(4)
SM_ACCESS(8)
SM_ACCESS(16)

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
  sm_plain(p, size, false);
}

void __tsan_write_range(const void *p, size_t size) {
  sm_plain(p, size, true);
}

void *__tsan_memcpy(void *to, const void *from, size_t size) {
  sm_plain(from, size, false);
  sm_plain(to, size, true);
  return __builtin_memcpy(to, from, size);
}

void *__tsan_memmove(void *to, const void *from, size_t size) {
  sm_plain(from, size, false);
  sm_plain(to, size, true);
  return __builtin_memmove(to, from, size);
}

void *__tsan_memset(void *memory, int value, size_t size) {
  sm_plain(memory, size, true);
  return __builtin_memset(memory, value, size);
}
