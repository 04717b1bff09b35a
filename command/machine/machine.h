/* machine/machine.h - what the system says about itself, for `weft info` and `weft
 * doctor`.
 *
 * Read from /proc and /sys, below a root that is "" or a folder with copies of them, so
 * that tests can play any machine. What cannot be read is 0, -1 or "".
 *
 * SPDX-License-Identifier: MIT */
#ifndef COMMAND_MACHINE_MACHINE_H
#define COMMAND_MACHINE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cache {
  int level;
  char kind[16];   /* Data, Instruction, Unified */
  char size[16];   /* as the kernel writes it: 32K */
  char shared[64]; /* CPUs that share the first CPU's */
} cache;

typedef struct machine {
  char system[160]; /* Linux 6.1.0 x86_64 */
  char model[128];  /* of the CPU */
  bool virtual_machine;
  char online[128], allowed[256]; /* lists such as 0-3,8 */
  unsigned online_count, allowed_count;
  unsigned packages, cores, nodes; /* of the CPUs that are online */
  cache caches[8];
  unsigned cache_count;
  double memory_bytes;

  /* The CPU quota of the process's cgroup and its ancestors: the tightest. */
  double quota_cpus; /* -1: none */
  char quota_file[512];
  double throttled, throttled_us; /* of the same group: -1 if it does not say */

  char huge_pages[24]; /* always, madvise, never */
  char governor[32];
  char clock[32];
  double load;             /* average of one minute; -1 */
  double steal_share;      /* of CPU time that the host took, since the start; -1 */
  double pressure_percent; /* of time in which some task waited for a CPU, 10 s; -1 */

  /* How many CPUs weft uses: the library's own answer. */
  unsigned usable;
} machine;

void machine_read(machine *m, const char *root);

/* How many CPUs a list such as "0-3,8" names; 0 if it is none. */
unsigned count_list(const char *list);

/* The first line of a file below the root, without its end; false if there is none. */
bool read_line(const char *root, const char *path, char *line, size_t size);

/* What the library needs of the kernel, tried out here and now. */
typedef struct abilities {
  bool futex;      /* waiting on a word */
  bool barrier;    /* the process-wide barrier */
  bool affinity;   /* reading and setting the CPUs of a thread */
  bool timed;      /* the clock can be read without a system call */
  double clock_ns; /* what reading the clock costs */
} abilities;

void abilities_try(abilities *a);

#endif
