/* sched/steer_machine.h - a machine that the tests of steered wake-ups play. It has 8
 * CPUs, a cpuset, and threads with the masks that were set for them; the test says which
 * thread acts, on which CPU, and what time it is. Programs that use it wrap the functions
 * of sys that are defined here.
 *
 * SPDX-License-Identifier: MIT */
#ifndef SCHED_STEER_MACHINE_H
#define SCHED_STEER_MACHINE_H

#include "support.h"

/* ---- the machine ---- */

enum { CPUS = 8, THREADS = 16, ALL = (1 << CPUS) - 1 };

static struct {
  int cpu;                 /* of the thread that acts, or -1 */
  uint32_t thread;         /* its number */
  uint64_t ticks;          /* 1000 to the microsecond */
  unsigned cpuset;         /* CPUs of all threads */
  unsigned asked[THREADS]; /* what was asked for, for each thread */
  unsigned reads, sets;    /* calls that were made */
  bool refuses_reads, refuses_sets;
  unsigned yields;
  uint64_t yield_us; /* how long the others run when a thread gives way */
} machine;

static inline void new_machine(void) {
  memset(&machine, 0, sizeof machine);
  machine.cpuset = ALL;
  for (int i = 0; i < THREADS; i++) machine.asked[i] = ~0u;
}

static inline unsigned cpus_of(uint32_t thread) {
  unsigned cpus = machine.asked[thread] & machine.cpuset;
  return cpus != 0 ? cpus : machine.cpuset; /* as the kernel does */
}

static inline unsigned calls(void) {
  return machine.reads + machine.sets;
}

static inline unsigned bits_of(const wf_cpu_mask *mask) {
  unsigned bits = 0;
  for (unsigned i = 0; i < 32; i++) bits |= (unsigned)wf_sys_mask_has(mask, i) << i;
  return bits;
}

static inline void set_bits(wf_cpu_mask *mask, unsigned bits) {
  enum { MOST = 4096 }; /* on Windows; Linux has fewer */
  wf_sys_mask_fill(mask);
  for (unsigned i = 0; i < MOST; i++)
    if (i >= 32 || (bits >> i & 1) == 0) wf_sys_mask_clear(mask, i);
}

int __wrap_wf_sys_cpu_now(void);
uint32_t __wrap_wf_sys_thread_self(void);
uint64_t __wrap_wf_sys_ticks(void);
uint64_t __wrap_wf_sys_ticks_per_us(void);
void __wrap_wf_sys_thread_yield(void);
bool __wrap_wf_sys_mask_read(wf_cpu_mask *mask, uint32_t thread);
bool __wrap_wf_sys_mask_set(const wf_cpu_mask *mask, uint32_t thread);
bool __wrap_wf_sys_mask_origin(wf_cpu_mask *own, wf_cpu_mask *scratch, bool *follows);

int __wrap_wf_sys_cpu_now(void) {
  return machine.cpu;
}
uint32_t __wrap_wf_sys_thread_self(void) {
  return machine.thread;
}
uint64_t __wrap_wf_sys_ticks(void) {
  return machine.ticks;
}
uint64_t __wrap_wf_sys_ticks_per_us(void) {
  return 1000;
}

void __wrap_wf_sys_thread_yield(void) {
  machine.yields++;
  machine.ticks += 1000 * machine.yield_us;
}

static inline uint32_t meant(uint32_t thread) {
  return thread != 0 ? thread : machine.thread;
}

bool __wrap_wf_sys_mask_read(wf_cpu_mask *mask, uint32_t thread) {
  machine.reads++;
  if (machine.refuses_reads) return false;
  set_bits(mask, cpus_of(meant(thread)));
  return true;
}

bool __wrap_wf_sys_mask_set(const wf_cpu_mask *mask, uint32_t thread) {
  machine.sets++;
  if (machine.refuses_sets || (bits_of(mask) & machine.cpuset) == 0) return false;
  machine.asked[meant(thread)] = bits_of(mask);
  if (meant(thread) == machine.thread && machine.cpu >= 0) { /* the kernel moves it */
    unsigned cpus = cpus_of(machine.thread);
    if ((cpus >> machine.cpu & 1) == 0) machine.cpu = __builtin_ctz(cpus);
  }
  return true;
}

bool __wrap_wf_sys_mask_origin(wf_cpu_mask *own, wf_cpu_mask *scratch, bool *follows) {
  (void)scratch;
  if (!__wrap_wf_sys_mask_read(own, 0)) return false;
  machine.sets++;
  if (machine.refuses_sets) return false;
  *follows = bits_of(own) == machine.cpuset;
  if (*follows) machine.asked[machine.thread] = ~0u;
  return true;
}

/* ---- the pool ---- */

static inline weft_pool *pool_that(weft_steer steer, unsigned threads) {
  wf_options options;
  weft_config config = WEFT_CONFIG_INIT;
  weft_pool *pool = NULL;
  config.threads = threads;
  config.steer = steer;
  REQUIRE(wf_options_resolve(&options, &config, (wf_environment){0}) == 0);
  REQUIRE(wf_pool_allocate(&pool, &options) == 0);
  new_machine();
  return pool;
}

static inline bool steers(const weft_pool *pool) {
  return wf_u32_load_relaxed(&pool->steering.x_active) != 0 &&
         wf_u32_load_relaxed(&pool->steering.x_refused) == 0;
}
static inline uint64_t misplaced(const weft_pool *pool) {
  return wf_u64_load_relaxed(&pool->steering.x_misplaced);
}
static inline uint64_t steered(const weft_pool *pool) {
  return wf_u64_load_relaxed(&pool->steering.x_steered);
}

#endif
