/* system.h - what simulated machines have in common, and what a scenario can change
 * there. README.md says who uses it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef SIMULATED_SYSTEM_H
#define SIMULATED_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wf_cpu_mask {
  uint64_t bits; /* one for each CPU */
};

/* Is there a file that can be created and takes everything, and a terminal on standard
 * error? A setup that wants them sets these. */
extern bool sim_has_file, sim_has_terminal;

/* Gets what is written to that file, if it is not NULL. */
extern void (*sim_on_write)(const void *data, size_t size);

/* What the library wants to be called by a signal that ends the process, or NULL. */
extern void (*sim_on_fatal_signal)(int signal);

#endif
