/* machine/machine.c - reads what the system says about itself; see machine.h.
 *
 * SPDX-License-Identifier: MIT */
#include "machine.h"

#include "sys/sys.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

enum { PATH_SIZE = 1024, LINE_SIZE = 4096 };

/* ---- files ---- */

static FILE *open_below(const char *root, const char *path) {
  char whole[PATH_SIZE];
  int length = snprintf(whole, sizeof whole, "%s%s", root, path);
  return length > 0 && length < PATH_SIZE ? fopen(whole, "r") : NULL;
}

bool read_line(const char *root, const char *path, char *line, size_t size) {
  FILE *file = open_below(root, path);
  if (file == NULL) return false;
  bool got = fgets(line, (int)size, file) != NULL;
  if (got) line[strcspn(line, "\n")] = '\0';
  fclose(file);
  return got;
}

/* The value behind "key:" or "key " in a file of such lines. */
static bool read_value(const char *root, const char *path, const char *key, char *value,
                       size_t size) {
  FILE *file = open_below(root, path);
  if (file == NULL) return false;
  char line[LINE_SIZE];
  size_t length = strlen(key);
  bool found = false;
  while (!found && fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, key, length) != 0) continue;
    const char *rest = line + length;
    if (*rest != ':' && *rest != ' ' && *rest != '\t') continue;
    rest += strspn(rest, ": \t");
    snprintf(value, size, "%.*s", (int)strcspn(rest, "\n"), rest);
    found = true;
  }
  fclose(file);
  return found;
}

unsigned count_list(const char *list) {
  unsigned count = 0;
  while (*list >= '0' && *list <= '9') {
    char *end;
    unsigned long first = strtoul(list, &end, 10), last = first;
    if (*end == '-') last = strtoul(end + 1, &end, 10);
    if (last < first || last - first > 1u << 20) return 0;
    count += (unsigned)(last - first) + 1;
    list = *end == ',' ? end + 1 : end;
  }
  return count;
}

/* ---- CPUs ---- */

/* How many different values a file of the topology has over all CPUs. A pair of files
 * counts as one value; the second may be NULL. */
static unsigned count_distinct(const char *root, const char *first, const char *second) {
  enum { MOST = 4096 };
  static unsigned long seen[MOST];
  unsigned count = 0;
  for (unsigned cpu = 0; cpu < MOST; cpu++) {
    char path[PATH_SIZE], value[64];
    unsigned long key;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/topology/%s", cpu, first);
    if (!read_line(root, path, value, sizeof value)) {
      if (cpu >= 1024) break; /* gaps are CPUs that are offline */
      continue;
    }
    key = strtoul(value, NULL, 10);
    if (second != NULL) {
      snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/topology/%s", cpu,
               second);
      if (read_line(root, path, value, sizeof value))
        key = key << 20 | strtoul(value, NULL, 10);
    }
    unsigned i = 0;
    while (i < count && seen[i] != key) i++;
    if (i == count) seen[count++] = key;
  }
  return count;
}

static void read_caches(machine *m, const char *root) {
  for (int i = 0; i < 8; i++) {
    char path[PATH_SIZE], value[64];
    cache *c = &m->caches[m->cache_count];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/level", i);
    if (!read_line(root, path, value, sizeof value)) return;
    c->level = atoi(value);
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/type", i);
    if (!read_line(root, path, c->kind, sizeof c->kind)) return;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", i);
    if (!read_line(root, path, c->size, sizeof c->size)) return;
    snprintf(path, sizeof path,
             "/sys/devices/system/cpu/cpu0/cache/index%d/shared_cpu_list", i);
    if (!read_line(root, path, c->shared, sizeof c->shared)) c->shared[0] = '\0';
    if (strcmp(c->kind, "Instruction") != 0) m->cache_count++;
  }
}

static void read_cpus(machine *m, const char *root) {
  if (!read_value(root, "/proc/cpuinfo", "model name", m->model, sizeof m->model))
    m->model[0] = '\0';
  char flags[LINE_SIZE];
  if (read_value(root, "/proc/cpuinfo", "flags", flags, sizeof flags))
    m->virtual_machine = strstr(flags, "hypervisor") != NULL;
  if (read_line(root, "/sys/devices/system/cpu/online", m->online, sizeof m->online))
    m->online_count = count_list(m->online);
  if (read_value(root, "/proc/self/status", "Cpus_allowed_list", m->allowed,
                 sizeof m->allowed))
    m->allowed_count = count_list(m->allowed);
  m->packages = count_distinct(root, "physical_package_id", NULL);
  m->cores = count_distinct(root, "core_id", "physical_package_id");
  char nodes[64];
  m->nodes = read_line(root, "/sys/devices/system/node/online", nodes, sizeof nodes)
                 ? count_list(nodes)
                 : 0;
  read_caches(m, root);
}

/* ---- quota ---- */

static void note_quota(machine *m, double cpus, const char *folder, const char *file) {
  if (cpus <= 0 || (m->quota_cpus > 0 && m->quota_cpus <= cpus)) return;
  m->quota_cpus = cpus;
  snprintf(m->quota_file, sizeof m->quota_file, "%.400s/%s", folder, file);
}

/* "150000 100000" in v2; two files in v1. */
static void read_quota(machine *m, const char *root, const char *folder) {
  char path[PATH_SIZE], value[64];
  double quota, period;
  snprintf(path, sizeof path, "%.900s/cpu.max", folder);
  if (read_line(root, path, value, sizeof value) &&
      sscanf(value, "%lf %lf", &quota, &period) == 2 && period > 0)
    note_quota(m, quota / period, folder, "cpu.max");
  snprintf(path, sizeof path, "%.900s/cpu.cfs_quota_us", folder);
  if (!read_line(root, path, value, sizeof value)) return;
  quota = strtod(value, NULL);
  snprintf(path, sizeof path, "%.900s/cpu.cfs_period_us", folder);
  if (!read_line(root, path, value, sizeof value)) return;
  period = strtod(value, NULL);
  if (period > 0) note_quota(m, quota / period, folder, "cpu.cfs_quota_us");
}

static void read_throttling(machine *m, const char *root, const char *folder) {
  char path[PATH_SIZE], value[64];
  snprintf(path, sizeof path, "%.900s/cpu.stat", folder);
  if (read_value(root, path, "nr_throttled", value, sizeof value)) {
    double count = strtod(value, NULL);
    if (count > m->throttled) m->throttled = count;
  }
  double time = -1;
  if (read_value(root, path, "throttled_usec", value, sizeof value))
    time = strtod(value, NULL);
  if (read_value(root, path, "throttled_time", value, sizeof value))
    time = strtod(value, NULL) / 1000;
  if (time > m->throttled_us) m->throttled_us = time;
}

/* The group of the process, then each of its ancestors. */
static void walk_groups(machine *m, const char *root, const char *mount, char *group) {
  for (;;) {
    char folder[PATH_SIZE];
    snprintf(folder, sizeof folder, "%.100s%.800s", mount,
             strcmp(group, "/") == 0 ? "" : group);
    read_quota(m, root, folder);
    read_throttling(m, root, folder);
    char *slash = strrchr(group, '/');
    if (slash == NULL || group[0] == '\0' || strcmp(group, "/") == 0) return;
    *slash = '\0';
  }
}

static void read_groups(machine *m, const char *root) {
  m->quota_cpus = m->throttled = m->throttled_us = -1;
  FILE *file = open_below(root, "/proc/self/cgroup");
  if (file == NULL) return;
  char line[LINE_SIZE];
  while (fgets(line, sizeof line, file) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    char *first = strchr(line, ':'),
         *second = first != NULL ? strchr(first + 1, ':') : NULL;
    if (second == NULL) continue;
    *second = '\0';
    const char *controllers = first + 1;
    if (*controllers == '\0') {
      walk_groups(m, root, "/sys/fs/cgroup", second + 1);
    } else if (strcmp(controllers, "cpu") == 0 || strncmp(controllers, "cpu,", 4) == 0 ||
               strstr(controllers, ",cpu,") != NULL ||
               (strlen(controllers) > 4 &&
                strcmp(controllers + strlen(controllers) - 4, ",cpu") == 0)) {
      char copy[LINE_SIZE], mount[64];
      snprintf(copy, sizeof copy, "%s", second + 1);
      walk_groups(m, root, "/sys/fs/cgroup/cpu", copy);
      snprintf(mount, sizeof mount, "/sys/fs/cgroup/%.40s", controllers);
      walk_groups(m, root, mount, second + 1);
    }
  }
  fclose(file);
}

/* ---- settings and load ---- */

/* The word in brackets of "always [madvise] never". */
static void read_choice(const char *root, const char *path, char *out, size_t size) {
  char line[128];
  out[0] = '\0';
  if (!read_line(root, path, line, sizeof line)) return;
  const char *open = strchr(line, '['), *close = open != NULL ? strchr(open, ']') : NULL;
  if (close != NULL) snprintf(out, size, "%.*s", (int)(close - open - 1), open + 1);
}

static void read_load(machine *m, const char *root) {
  char line[256];
  m->load = m->steal_share = m->pressure_percent = -1;
  if (read_line(root, "/proc/loadavg", line, sizeof line)) m->load = strtod(line, NULL);
  if (read_line(root, "/proc/pressure/cpu", line, sizeof line)) {
    const char *average = strstr(line, "avg10=");
    if (average != NULL) m->pressure_percent = strtod(average + 6, NULL);
  }
  double times[8];
  if (read_line(root, "/proc/stat", line, sizeof line) &&
      sscanf(line, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &times[0], &times[1], &times[2],
             &times[3], &times[4], &times[5], &times[6], &times[7]) == 8) {
    double all = 0;
    for (int i = 0; i < 8; i++) all += times[i];
    if (all > 0) m->steal_share = times[7] / all;
  }
}

void machine_read(machine *m, const char *root) {
  memset(m, 0, sizeof *m);
  struct utsname name;
  if (uname(&name) == 0)
    snprintf(m->system, sizeof m->system, "%.40s %.60s %.40s", name.sysname, name.release,
             name.machine);
  read_cpus(m, root);
  read_groups(m, root);
  char value[64];
  if (read_value(root, "/proc/meminfo", "MemTotal", value, sizeof value))
    m->memory_bytes = strtod(value, NULL) * 1024;
  read_choice(root, "/sys/kernel/mm/transparent_hugepage/enabled", m->huge_pages,
              sizeof m->huge_pages);
  if (!read_line(root, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
                 m->governor, sizeof m->governor))
    m->governor[0] = '\0';
  if (!read_line(root, "/sys/devices/system/clocksource/clocksource0/current_clocksource",
                 m->clock, sizeof m->clock))
    m->clock[0] = '\0';
  read_load(m, root);
  m->usable = wf_sys_cpu_count(root);
}
