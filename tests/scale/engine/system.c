/* system.c - src/sys/sys.h for the simulated machine: threads, waits and barriers are
 * those of threads.c, the clock is that of the running thread.
 *
 * The kernel places woken threads well here, so there are no CPU masks and nobody is
 * steered.
 *
 * SPDX-License-Identifier: MIT */
#include "redirect.h"

#include "machine.h"

#include <stdlib.h>
#include <sys/sys.h>
#include <sys/topology.h>

/* ---- threads ---- */

int wf_sys_thread_start(wf_thread *out, const char *name, size_t stack_size,
                        wf_thread_fn *fn, void *arg) {
  (void)name, (void)stack_size;
  out->handle = sm_thread_start(fn, arg);
  return 0;
}

void wf_sys_threads_await(void) {}

void wf_sys_thread_join(wf_thread thread) {
  sm_thread_join((unsigned)thread.handle);
}

void wf_sys_thread_yield(void) {
  sm_thread_yield();
}

bool wf_sys_thread_stack(uintptr_t *low, size_t *size) {
  sm_thread_stack(low, size);
  return true;
}

void wf_sys_on_fork(void (*const *fn)(void)) {
  (void)fn;
}

/* ---- waiting on a word ---- */

void wf_sys_wait(wf_u32 *word, uint32_t expected) {
  sm_wait(&word->raw, expected, SM_NEVER);
}

bool wf_sys_wait_for(wf_u32 *word, uint32_t expected, uint64_t timeout_ns) {
  sm_time timeout =
      timeout_ns < SM_NEVER / SM_NS / 4 ? timeout_ns * SM_NS : SM_NEVER - 1 - sm_clock;
  return sm_wait(&word->raw, expected, timeout);
}

void wf_sys_wake_one(wf_u32 *word) {
  sm_wake(word, false);
}

void wf_sys_wake_all(wf_u32 *word) {
  sm_wake(word, true);
}

/* ---- process-wide barrier ---- */

bool wf_sys_barrier_prepare(void) {
  return true;
}

bool wf_sys_barrier(void) {
  sm_barrier();
  return true;
}

/* ---- telling a file descriptor ---- */

bool wf_sys_fd_is_writable(int fd) {
  return fd >= 0;
}

void wf_sys_fd_notify(int fd) {
  (void)fd;
}

/* ---- which CPU a thread runs on, and may run on ---- */

int wf_sys_cpu_now(void) {
  return sm_cpu;
}

uint32_t wf_sys_thread_self(void) {
  return sm_thread_self() + 1;
}

wf_cpu_mask *wf_sys_masks_create(unsigned count) {
  (void)count;
  return NULL;
}

void wf_sys_mask_destroy(wf_cpu_mask *mask) {
  (void)mask;
}

bool wf_sys_mask_read(wf_cpu_mask *mask, uint32_t thread) {
  (void)mask, (void)thread;
  return false;
}

bool wf_sys_mask_set(const wf_cpu_mask *mask, uint32_t thread) {
  (void)mask, (void)thread;
  return false;
}

bool wf_sys_mask_origin(wf_cpu_mask *own, wf_cpu_mask *scratch, bool *follows) {
  (void)own, (void)scratch;
  *follows = false;
  return false;
}

/* ---- CPUs, time, memory ---- */

/* Clusters are what shares a cache, and a socket is a node. A core has one thread. */
bool wf_topology_read(wf_topology *out, const char *root, const unsigned *wanted,
                      unsigned count) {
  (void)root, (void)wanted, (void)count;
  unsigned nodes = (sm_now.cpus + sm_now.socket_cpus - 1) / sm_now.socket_cpus;
  *out = (wf_topology){.count = sm_now.cpus, .packages = nodes, .is_known = true};
  out->cpus = calloc(out->count, sizeof *out->cpus);
  out->nodes = calloc(nodes, sizeof *out->nodes);
  out->distances = calloc((size_t)nodes * nodes, sizeof *out->distances);
  for (unsigned i = 0; i < out->count; i++)
    out->cpus[i] =
        (wf_cpu){.number = i,
                 .group = {i, i, i / sm_now.cluster_cpus, i / sm_now.socket_cpus},
                 .package = i / sm_now.socket_cpus,
                 .capacity = WF_FULL_CAPACITY};
  for (unsigned i = 0; i < nodes; i++) out->nodes[i] = i;
  for (unsigned i = 0; i < nodes * nodes; i++)
    out->distances[i] = i / nodes == i % nodes ? 10 : 20;
  for (int domain = 0; domain < WF_DOMAINS; domain++)
    out->groups[domain] = out->cpus[out->count - 1].group[domain] + 1;
  return true;
}

unsigned wf_topology_allowed(unsigned **out, const char *root) {
  (void)out, (void)root;
  return 0;
}

unsigned wf_sys_cpu_count(const char *root) {
  (void)root;
  return sm_now.cpus;
}

uint64_t wf_sys_now_ns(void) {
  sm_note(SM_PAUSE, sm_clock, sm_clock + sm_now.clock);
  sm_clock += sm_now.clock;
  return sm_clock / SM_NS;
}

uint64_t wf_sys_ticks(void) {
  sm_note(SM_PAUSE, sm_clock, sm_clock + sm_now.ticks);
  sm_clock += sm_now.ticks;
  return sm_clock / SM_NS + 1; /* 0 means "not yet" in places */
}

uint64_t wf_sys_ticks_per_us(void) {
  return 1000;
}

void wf_sys_relax(void) {
  sm_count.relaxes++;
  sm_note(SM_PAUSE, sm_clock, sm_clock + sm_now.relax);
  sm_clock += sm_now.relax;
}

void *wf_sys_map(size_t size) {
  return sm_calloc(1, size);
}

void wf_sys_unmap(void *memory, size_t size) {
  (void)size;
  sm_free(memory);
}

void wf_sys_prefer_large_pages(void *memory, size_t size) {
  (void)memory, (void)size;
}

/* ---- the process: see also simulated/system.c ---- */

void wf_sys_print_line(const char *line) {
  fprintf(stderr, "%s\n", line);
}

const char *wf_sys_program_name(void) {
  return "simulated";
}
