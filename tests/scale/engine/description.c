/* description.c - reads machine files: lines of a name and a value, and comments after
 * "#". machines/README.md says what each name means.
 *
 * SPDX-License-Identifier: MIT */
#include "machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

sm_machine sm_now;

typedef struct number {
  const char *name;
  unsigned *count; /* one of the two */
  sm_time *time;   /* in nanoseconds in the file */
  bool set;        /* or it need not be: then it is 0 */
} number;

static number numbers[] = {
    {"cpus", &sm_now.cpus, NULL, false},
    {"cluster_cpus", &sm_now.cluster_cpus, NULL, false},
    {"socket_cpus", &sm_now.socket_cpus, NULL, false},
    {"access", NULL, &sm_now.access, false},
    {"neighbour", NULL, &sm_now.neighbour, false},
    {"cluster", NULL, &sm_now.cluster, false},
    {"socket", NULL, &sm_now.socket, false},
    {"memory", NULL, &sm_now.memory, false},
    {"serve", NULL, &sm_now.serve, false},
    {"rmw", NULL, &sm_now.rmw, false},
    {"fence", NULL, &sm_now.fence, false},
    {"store_queue", NULL, &sm_now.store_queue, false},
    {"relax", NULL, &sm_now.relax, false},
    {"clock", NULL, &sm_now.clock, false},
    {"ticks", NULL, &sm_now.ticks, false},
    {"allocate", NULL, &sm_now.allocate, false},
    {"wait", NULL, &sm_now.wait, false},
    {"wake", NULL, &sm_now.wake, false},
    {"wake_nobody", NULL, &sm_now.wake_nobody, false},
    {"wake_delay", NULL, &sm_now.wake_delay, false},
    {"wake_delay_halted", NULL, &sm_now.wake_delay_halted, false},
    {"halts_after", NULL, &sm_now.halts_after, false},
    {"wake_delay_all_halted", NULL, &sm_now.wake_delay_all_halted, true},
    {"timer_slack", NULL, &sm_now.timer_slack, true},
    {"barrier", NULL, &sm_now.barrier, false},
    {"barrier_cpu", NULL, &sm_now.barrier_cpu, false},
    {"barrier_stop", NULL, &sm_now.barrier_stop, false},
    {"yield", NULL, &sm_now.yield, false},
    {"context_switch", NULL, &sm_now.context_switch, false},
    {"slice", NULL, &sm_now.slice, false},
    {"start_thread", NULL, &sm_now.start_thread, false},
    {"ahead", NULL, &sm_now.ahead, false},
};
enum { NUMBERS = sizeof numbers / sizeof numbers[0] };

static bool set_number(const char *name, const char *value, const char *where) {
  for (unsigned i = 0; i < NUMBERS; i++) {
    if (strcmp(numbers[i].name, name) != 0) continue;
    char *end;
    double given = strtod(value, &end);
    if (end == value || *end != '\0' || !(given >= 0) || given > 1e12) {
      fprintf(stderr, "%s: \"%s\" is no value for %s\n", where, value, name);
      return false;
    }
    if (numbers[i].count != NULL) *numbers[i].count = (unsigned)given;
    if (numbers[i].time != NULL) *numbers[i].time = (sm_time)(given * 1000 + 0.5);
    numbers[i].set = true;
    return true;
  }
  fprintf(stderr, "%s: there is no \"%s\" in a machine\n", where, name);
  return false;
}

static bool check(const char *where) {
  for (unsigned i = 0; i < NUMBERS; i++) {
    if (numbers[i].set) continue;
    fprintf(stderr, "%s: \"%s\" is missing\n", where, numbers[i].name);
    return false;
  }
  const sm_machine *m = &sm_now;
  bool sizes = m->cpus >= 1 && m->cpus <= SM_MAX_CPUS && m->cluster_cpus >= 1 &&
               m->socket_cpus >= m->cluster_cpus && m->socket_cpus % m->cluster_cpus == 0;
  if (!sizes)
    fprintf(stderr,
            "%s: 1 to %d CPUs, in clusters of equal size, in sockets of equal size\n",
            where, SM_MAX_CPUS);
  return sizes;
}

bool sm_machine_read(const char *path) {
  FILE *file = fopen(path, "r");
  if (file == NULL) {
    perror(path);
    return false;
  }
  char text[512], where[600];
  bool good = true;
  for (unsigned row = 1; good && fgets(text, sizeof text, file) != NULL; row++) {
    snprintf(where, sizeof where, "%s:%u", path, row);
    text[strcspn(text, "#\n")] = '\0';
    const char *name = strtok(text, " \t"), *value = strtok(NULL, " \t");
    if (name == NULL) continue;
    if (value == NULL || strtok(NULL, " \t") != NULL) {
      fprintf(stderr, "%s: a line is a name and a value\n", where);
      good = false;
    } else if (strcmp(name, "name") == 0) {
      snprintf(sm_now.name, sizeof sm_now.name, "%s", value);
    } else {
      good = set_number(name, value, where);
    }
  }
  fclose(file);
  return good && check(path);
}

bool sm_machine_set(const char *text) {
  char name[64];
  size_t length = strcspn(text, "=");
  if (text[length] != '=' || length >= sizeof name) {
    fprintf(stderr, "\"%s\" is not name=value\n", text);
    return false;
  }
  memcpy(name, text, length);
  name[length] = '\0';
  return set_number(name, text + length + 1, "--set") && check("--set");
}

void sm_machine_resize(unsigned cpus) {
  sm_now.cpus = cpus >= 1 && cpus <= SM_MAX_CPUS ? cpus : sm_now.cpus;
}
