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

wf_cpu_mask *wf_sys_mask_at(wf_cpu_mask *masks, unsigned i) {
  (void)i;
  return masks;
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

void wf_sys_mask_fill(wf_cpu_mask *mask) {
  (void)mask;
}

void wf_sys_mask_copy(wf_cpu_mask *to, const wf_cpu_mask *from) {
  (void)to, (void)from;
}

void wf_sys_mask_add(wf_cpu_mask *mask, unsigned cpu) {
  (void)mask, (void)cpu;
}

void wf_sys_mask_clear(wf_cpu_mask *mask, unsigned cpu) {
  (void)mask, (void)cpu;
}

bool wf_sys_mask_has(const wf_cpu_mask *mask, unsigned cpu) {
  (void)mask, (void)cpu;
  return false;
}

unsigned wf_sys_mask_count(const wf_cpu_mask *mask) {
  (void)mask;
  return 0;
}

bool wf_sys_mask_equal(const wf_cpu_mask *a, const wf_cpu_mask *b) {
  return a == b;
}

bool wf_sys_mask_origin(wf_cpu_mask *own, wf_cpu_mask *scratch, bool *follows) {
  (void)own, (void)scratch;
  *follows = false;
  return false;
}

bool wf_sys_mask_is_part(const wf_cpu_mask *part, const wf_cpu_mask *whole) {
  (void)part, (void)whole;
  return true;
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
  sm_clock += sm_now.clock;
  return sm_clock / SM_NS;
}

uint64_t wf_sys_ticks(void) {
  sm_clock += sm_now.ticks;
  return sm_clock / SM_NS + 1; /* 0 means "not yet" in places */
}

uint64_t wf_sys_ticks_per_us(void) {
  return 1000;
}

void wf_sys_relax(void) {
  sm_count.relaxes++;
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

char **wf_sys_environment(void) {
  return NULL; /* what a workload does may not depend on it */
}

/* ---- the terminal: there is none ---- */

bool wf_sys_terminal_look(wf_terminal *out) {
  (void)out;
  return false;
}

void wf_sys_terminal_write(const char *text, size_t length) {
  (void)text, (void)length;
}

/* ---- files: there are none ---- */

int wf_sys_file_create(const char *path, int *error) {
  (void)path;
  *error = 0;
  return WEFT_EIO;
}

bool wf_sys_file_write(int file, const void *data, size_t size, uint64_t offset) {
  (void)file, (void)data, (void)size, (void)offset;
  return false;
}

void *wf_sys_file_map(int file, uint64_t offset, size_t size) {
  (void)file, (void)offset, (void)size;
  return NULL;
}

bool wf_sys_file_cut(int file, uint64_t size) {
  (void)file, (void)size;
  return false;
}

void wf_sys_file_close(int file) {
  (void)file;
}

bool wf_sys_file_replace(const char *path, const void *data, size_t size) {
  (void)path, (void)data, (void)size;
  return false;
}

void wf_sys_file_remove(const char *path) {
  (void)path;
}

wf_usage wf_sys_usage(void) {
  return (wf_usage){0, 0, 0, 0};
}

bool wf_sys_private_path(char *out, size_t size, const char *name) {
  (void)out, (void)size, (void)name;
  return false;
}

const char *wf_sys_error_text(int error) {
  (void)error;
  return "";
}

void wf_sys_print_line(const char *line) {
  fprintf(stderr, "%s\n", line);
}

const char *wf_sys_variable(const char *name) {
  (void)name;
  return NULL;
}

uint32_t wf_sys_process_id(void) {
  return 1;
}

const char *wf_sys_program_name(void) {
  return "simulated";
}

void wf_sys_date(char out[WF_DATE_SIZE]) {
  out[0] = '\0';
}

void wf_sys_on_fatal_signal(void (*fn)(int signal)) {
  (void)fn;
}
