/* harness/machine.h - the machine on which something was measured: a figure means nothing
 * without it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_HARNESS_MACHINE_H
#define BENCH_HARNESS_MACHINE_H

#include "results.h"

/* How many CPUs this process may use. */
int usable_cpus(void);

/* Adds facts about CPU, memory, system and load; and those of the file that the build has
 * left, one "key value" per line: compilers, flags, libraries. */
void machine_facts(results *r, const char *build_facts);

/* The present time in UTC, as in 2026-01-31T12:00:00Z; the caller frees it. */
char *time_now(void);

#endif
