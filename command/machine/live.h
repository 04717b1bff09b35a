/* machine/live.h - what a program that runs with WEFT_STATS=live says about itself.
 *
 * The library writes a file of JSON ten times a second, always whole: it writes it anew
 * and renames it. Its place is $XDG_RUNTIME_DIR/weft-PID.json, else
 * /tmp/weft-UID/weft-PID.json.
 *
 * SPDX-License-Identifier: MIT */
#ifndef COMMAND_MACHINE_LIVE_H
#define COMMAND_MACHINE_LIVE_H

#include "../base/text.h"

typedef struct live_worker {
  int pool, worker;
  char role[16], state[16];
  double queue, tasks, steals, failed_steals, exposes, takeovers, sleeps, wakes, futile,
      misplaced, steered, deepest, working_ns, searching_ns, asleep_ns;
} live_worker;

typedef struct live_pool {
  int pool;
  char name[32];
  double threads, cpus, queued, background;
} live_pool;

typedef struct live {
  text content; /* the file */
  char version[32], program[256];
  double pid, uptime_ns;
  live_pool *pools;
  size_t pool_count, pool_capacity;
  live_worker *workers;
  size_t worker_count, worker_capacity;
} live;

/* Reads the file of a process. False, and *problem (of 300 bytes) says why. */
bool live_read(live *l, long pid, char *problem);
bool live_parse(live *l, const char *chars, size_t length, char *problem);
void live_free(live *l);

/* The processes of this user that have such a file and still run; the caller frees the
 * list. */
size_t live_list(long **pids);

#endif
