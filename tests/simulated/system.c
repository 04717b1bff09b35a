/* system.c - the part of src/sys/sys.h that is the same on every simulated machine: it
 * has no environment and no files, or one file that takes everything, and CPU masks of 64
 * bits.
 *
 * Threads, waiting, clocks and memory are those of the engine: see its own system.c.
 *
 * SPDX-License-Identifier: MIT */
#include "system.h"

#include <sys/sys.h>

/* ---- CPU masks ---- */

wf_cpu_mask *wf_sys_mask_at(wf_cpu_mask *masks, unsigned i) {
  return masks + i;
}

void wf_sys_mask_fill(wf_cpu_mask *mask) {
  mask->bits = UINT64_MAX;
}

void wf_sys_mask_copy(wf_cpu_mask *to, const wf_cpu_mask *from) {
  to->bits = from->bits;
}

void wf_sys_mask_add(wf_cpu_mask *mask, unsigned cpu) {
  mask->bits |= cpu < 64 ? (uint64_t)1 << cpu : 0;
}

void wf_sys_mask_clear(wf_cpu_mask *mask, unsigned cpu) {
  if (cpu < 64) mask->bits &= ~((uint64_t)1 << cpu);
}

bool wf_sys_mask_has(const wf_cpu_mask *mask, unsigned cpu) {
  return cpu < 64 && (mask->bits >> cpu & 1) != 0;
}

unsigned wf_sys_mask_count(const wf_cpu_mask *mask) {
  return (unsigned)__builtin_popcountll(mask->bits);
}

bool wf_sys_mask_equal(const wf_cpu_mask *a, const wf_cpu_mask *b) {
  return a->bits == b->bits;
}

bool wf_sys_mask_is_part(const wf_cpu_mask *part, const wf_cpu_mask *whole) {
  return (part->bits & ~whole->bits) == 0;
}

/* ---- files: there are none, or one that takes everything ---- */

bool sim_has_file;
void (*sim_on_write)(const void *data, size_t size);

int wf_sys_file_create(const char *path, int *error) {
  (void)path;
  *error = 0;
  return sim_has_file ? 3 : WEFT_EIO;
}

bool wf_sys_file_write(int file, const void *data, size_t size, uint64_t offset) {
  (void)file, (void)offset;
  if (sim_on_write != NULL) sim_on_write(data, size);
  return sim_has_file;
}

void *wf_sys_file_map(int file, uint64_t offset, size_t size) {
  (void)file, (void)offset, (void)size;
  return NULL;
}

bool wf_sys_file_cut(int file, uint64_t size) {
  (void)file, (void)size;
  return sim_has_file;
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

/* ---- the process ---- */

char **wf_sys_environment(void) {
  return NULL; /* what simulated code does may not depend on it */
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

const char *wf_sys_variable(const char *name) {
  (void)name;
  return NULL;
}

uint32_t wf_sys_process_id(void) {
  return 1;
}

void wf_sys_date(char out[WF_DATE_SIZE]) {
  out[0] = '\0';
}

void (*sim_on_fatal_signal)(int signal);

void wf_sys_on_fatal_signal(void (*fn)(int signal)) {
  sim_on_fatal_signal = fn;
}

/* ---- the terminal ---- */

bool sim_has_terminal;

bool wf_sys_terminal_look(wf_terminal *out) {
  *out = (wf_terminal){.columns = 80, .rows = 24, .is_utf8 = true};
  return sim_has_terminal;
}

void wf_sys_terminal_write(const char *text, size_t length) {
  (void)text, (void)length;
}
