/* instrumented.h - plain accesses of simulated code, as the compiler reports them.
 *
 * The library and what runs it are compiled with the instrumentation of ThreadSanitizer,
 * but linked without its runtime: the functions that it calls are here. One file of an
 * engine includes this, and has defined before
 *
 *     static inline void sim_plain(const void *p, size_t size, bool writes)
 *
 * which gets each access. Included rather than linked, so that it is inlined: this is
 * called more often than anything else.
 *
 * SPDX-License-Identifier: MIT */
#ifndef SIMULATED_INSTRUMENTED_H
#define SIMULATED_INSTRUMENTED_H

#include <stdbool.h>
#include <stddef.h>

#define SIM_ACCESS(size)                                                                 \
  void __tsan_read##size(const void *p);                                                 \
  void __tsan_write##size(const void *p);                                                \
  void __tsan_unaligned_read##size(const void *p);                                       \
  void __tsan_unaligned_write##size(const void *p);                                      \
  void __tsan_volatile_read##size(const void *p);                                        \
  void __tsan_volatile_write##size(const void *p);                                       \
  void __tsan_read##size(const void *p) {                                                \
    sim_plain(p, size, false);                                                           \
  }                                                                                      \
  void __tsan_write##size(const void *p) {                                               \
    sim_plain(p, size, true);                                                            \
  }                                                                                      \
  void __tsan_unaligned_read##size(const void *p) {                                      \
    sim_plain(p, size, false);                                                           \
  }                                                                                      \
  void __tsan_unaligned_write##size(const void *p) {                                     \
    sim_plain(p, size, true);                                                            \
  }                                                                                      \
  void __tsan_volatile_read##size(const void *p) {                                       \
    sim_plain(p, size, false);                                                           \
  }                                                                                      \
  void __tsan_volatile_write##size(const void *p) {                                      \
    sim_plain(p, size, true);                                                            \
  }

SIM_ACCESS(1)
SIM_ACCESS(2)
SIM_ACCESS(4)
SIM_ACCESS(8)
SIM_ACCESS(16)

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
  sim_plain(p, size, false);
}

void __tsan_write_range(const void *p, size_t size) {
  sim_plain(p, size, true);
}

void *__tsan_memcpy(void *to, const void *from, size_t size) {
  sim_plain(from, size, false);
  sim_plain(to, size, true);
  return __builtin_memcpy(to, from, size);
}

void *__tsan_memmove(void *to, const void *from, size_t size) {
  sim_plain(from, size, false);
  sim_plain(to, size, true);
  return __builtin_memmove(to, from, size);
}

void *__tsan_memset(void *memory, int value, size_t size) {
  sim_plain(memory, size, true);
  return __builtin_memset(memory, value, size);
}

#endif
