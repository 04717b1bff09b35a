/* topology.c - reads from the system's files which CPUs share what.
 *
 * On Linux, whichever of linux.c and posix.c is compiled, below /sys/devices/system:
 *   cpu/online                                which CPUs run
 *   cpu/cpuN/topology/core_cpus_list          hardware threads of the same core
 *   cpu/cpuN/topology/physical_package_id     the socket
 *   cpu/cpuN/cache/indexM/level, type, shared_cpu_list
 *   cpu/cpuN/cpu_capacity                     how fast it is, where CPUs differ
 *   node/online, node/nodeN/cpulist, node/nodeN/distance
 * and /sys/devices/cpu_atom/cpus, the slow cores of hybrid Intel CPUs under kernels that
 * do not tell capacities.
 *
 * One file of each group is read: the others of a core, or of a cache, are in its list.
 * So a machine of 256 CPUs costs some hundred small files, once for each pool that wants
 * to know. On other systems all CPUs are equal; Windows has windows_topology.c.
 *
 * Who calls: see topology.h. Keeps no state; any thread.
 *
 * SPDX-License-Identifier: MIT */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* the one-file build wants the same in every file */
#endif

#include "topology.h"

#include "cpu_list.h"
#include "sys.h"

#include <limits.h>

/* ---- for all systems ---- */

bool wf_topology_make_flat(wf_topology *out, const unsigned *cpus, unsigned count) {
  *out = (wf_topology){.count = count, .packages = 1};
  out->cpus = calloc(count, sizeof *out->cpus);
  out->nodes = calloc(1, sizeof *out->nodes);
  out->distances = calloc(1, sizeof *out->distances);
  if (out->cpus == NULL || out->nodes == NULL || out->distances == NULL) {
    wf_topology_free(out);
    return false;
  }
  for (unsigned i = 0; i < count; i++) {
    out->cpus[i].number = cpus[i];
    out->cpus[i].group[WF_CORE] = out->cpus[i].group[WF_L2] = i;
    out->cpus[i].capacity = WF_FULL_CAPACITY;
  }
  out->groups[WF_CORE] = out->groups[WF_L2] = count;
  out->groups[WF_L3] = out->groups[WF_NODE] = 1;
  out->distances[0] = 10; /* what firmware calls near */
  return true;
}

/* Two CPUs are in one group if they are in one group of the domain around it, too.
 * `raw` has the group of each CPU as it was read. */
static unsigned number_domain(wf_topology *t, wf_domain domain, const unsigned *raw) {
  unsigned groups = 0;
  for (unsigned i = 0; i < t->count; i++) {
    unsigned j = 0;
    while (j < i &&
           (raw[j] != raw[i] || (domain < WF_NODE && t->cpus[j].group[domain + 1] !=
                                                         t->cpus[i].group[domain + 1])))
      j++;
    t->cpus[i].group[domain] = j < i ? t->cpus[j].group[domain] : groups++;
  }
  return groups;
}

bool wf_topology_number(wf_topology *t) {
  unsigned *raw = malloc(t->count * sizeof *raw);
  if (raw == NULL) return false;
  for (int domain = WF_L3; domain >= WF_CORE; domain--) {
    for (unsigned i = 0; i < t->count; i++) raw[i] = t->cpus[i].group[domain];
    t->groups[domain] = number_domain(t, (wf_domain)domain, raw);
  }
  free(raw);
  t->packages = 0;
  for (unsigned i = 0; i < t->count; i++) {
    bool is_new = true;
    t->cpus[i].thread = 0;
    for (unsigned j = 0; j < i; j++) {
      if (t->cpus[j].group[WF_CORE] == t->cpus[i].group[WF_CORE]) t->cpus[i].thread++;
      if (t->cpus[j].package == t->cpus[i].package) is_new = false;
    }
    t->packages += is_new;
  }
  return true;
}

bool wf_topology_read(wf_topology *out, const char *root, const unsigned *wanted,
                      unsigned count) {
  unsigned *allowed = NULL;
  if (wanted == NULL) {
    count = wf_topology_allowed(&allowed, root);
    wanted = allowed;
  }
  bool done = count > 0 && wf_topology_make_flat(out, wanted, count);
  free(allowed);
  if (!done) return false;
  done = wf_topology_fill(out, root);
  if (!done) wf_topology_free(out);
  return done;
}

#if !defined(_WIN32)

/* CPUs 0 to n - 1: what is assumed where the system tells nothing but how many. */
static unsigned allowed_by_count(unsigned **out) {
  unsigned count = wf_sys_cpu_count("");
  *out = malloc(count * sizeof **out);
  for (unsigned i = 0; *out != NULL && i < count; i++) (*out)[i] = i;
  return *out != NULL ? count : 0;
}

#endif

#if defined(__linux__)

#include "lines.h"

#include <stdio.h>
#include <string.h>

/* What one reading carries along. */
typedef struct topology_reader {
  const char *root;
  wf_topology *t;
  wf_lines lines;
  char path[WF_PATH_SIZE];
} topology_reader;

#define CPU_FOLDER  "/sys/devices/system/cpu/"
#define NODE_FOLDER "/sys/devices/system/node/"

enum { UNKNOWN = INT_MAX };

/* The first line of a file below the root, valid until the next one; NULL if there is
 * none. */
static const char *first_line(topology_reader *r, const char *folder, const char *name) {
  if (!wf_path_join(r->path, r->root, folder, name)) return NULL;
  if (!wf_lines_open(&r->lines, r->path)) return NULL;
  bool found = wf_lines_next(&r->lines);
  wf_lines_close(&r->lines);
  return found ? r->lines.line : NULL;
}

/* The same for a file of one CPU, or of one of its caches. */
static const char *cpu_line(topology_reader *r, unsigned cpu, const char *name) {
  char path[96];
  (void)snprintf(path, sizeof path, "cpu%u/%s", cpu, name);
  return first_line(r, CPU_FOLDER, path);
}

static const char *cache_line(topology_reader *r, unsigned cpu, unsigned index,
                              const char *name) {
  char path[64];
  (void)snprintf(path, sizeof path, "cache/index%u/%s", index, name);
  return cpu_line(r, cpu, path);
}

static const char *node_line(topology_reader *r, unsigned node, const char *name) {
  char path[64];
  (void)snprintf(path, sizeof path, "node%u/%s", node, name);
  return first_line(r, NODE_FOLDER, path);
}

static bool is_number(const char *text, unsigned *out) {
  return text != NULL && wf_cpu_number(&text, out) && *text == '\0';
}

/* ---- which CPUs ---- */

/* The CPUs of a text, ascending; 0 if it is no list of CPUs in that order. */
static unsigned cpus_of_list(const char *text, unsigned **out) {
  unsigned count = 0, first, last, next = 0;
  const char *at = text;
  wf_range_is is;
  while ((is = wf_cpu_range(&at, &first, &last)) == WF_RANGE_FOUND && first >= next) {
    count += last - first + 1;
    next = last + 1;
  }
  if (is != WF_RANGE_END || count == 0) return 0;
  *out = malloc(count * sizeof **out);
  if (*out == NULL) return 0;
  for (unsigned i = 0; wf_cpu_range(&text, &first, &last) == WF_RANGE_FOUND;)
    for (; first <= last; first++) (*out)[i++] = first;
  return count;
}

/* 0 if the system does not tell. *out is NULL without memory. */
static unsigned allowed_by_mask(unsigned **out) {
  wf_cpu_mask *mask = wf_sys_mask_create();
  unsigned count =
      mask != NULL && wf_sys_mask_read(mask, 0) ? wf_sys_mask_count(mask) : 0;
  *out = count > 0 ? malloc(count * sizeof **out) : NULL;
  for (unsigned cpu = 0, found = 0; *out != NULL && found < count; cpu++)
    if (wf_sys_mask_has(mask, cpu)) (*out)[found++] = cpu;
  wf_sys_mask_destroy(mask);
  return count;
}

/* The text behind a name in /proc/self/status, or NULL. */
static const char *status_line(topology_reader *r, const char *name) {
  const char *value = NULL;
  if (!wf_path_join(r->path, r->root, "/proc/self/status", "")) return NULL;
  if (!wf_lines_open(&r->lines, r->path)) return NULL;
  while (value == NULL && wf_lines_next(&r->lines))
    if (strncmp(r->lines.line, name, strlen(name)) == 0)
      value = r->lines.line + strlen(name);
  wf_lines_close(&r->lines);
  while (value != NULL && (*value == ' ' || *value == '\t')) value++;
  return value;
}

/* In a fixture: the CPUs of the cpuset that are online. The kernel's own masks have only
 * such. */
static unsigned allowed_by_files(unsigned **out, const char *root) {
  topology_reader r = {.root = root};
  unsigned *online = NULL, *allowed = NULL;
  const char *line = first_line(&r, CPU_FOLDER, "online");
  unsigned online_count = line != NULL ? cpus_of_list(line, &online) : 0;
  line = status_line(&r, "Cpus_allowed_list:");
  unsigned count = line != NULL ? cpus_of_list(line, &allowed) : 0;
  unsigned both = 0;
  for (unsigned i = 0; i < count; i++)
    if (online_count == 0 || wf_cpu_find(online, online_count, allowed[i]) < online_count)
      allowed[both++] = allowed[i];
  if (both == 0) { /* one of the files says nothing */
    free(allowed);
    *out = online;
    return online_count;
  }
  free(online);
  *out = allowed;
  return both;
}

unsigned wf_topology_allowed(unsigned **out, const char *root) {
  unsigned count = *root == '\0' ? allowed_by_mask(out) : allowed_by_files(out, root);
  if (count == 0) return allowed_by_count(out);
  return *out != NULL ? count : 0;
}

/* ---- what they share ---- */

static unsigned find_cpu(const wf_topology *t, unsigned cpu) {
  unsigned low = 0, high = t->count;
  while (low < high) {
    unsigned middle = low + (high - low) / 2;
    if (t->cpus[middle].number < cpu)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* All CPUs of the list that have no group yet get this one. */
static void put_together(wf_topology *t, const char *list, wf_domain domain,
                         unsigned group) {
  unsigned first, last;
  while (list != NULL && wf_cpu_range(&list, &first, &last) == WF_RANGE_FOUND) {
    for (unsigned i = find_cpu(t, first); i < t->count && t->cpus[i].number <= last; i++)
      if (t->cpus[i].group[domain] == UNKNOWN) t->cpus[i].group[domain] = group;
  }
}

/* Caches of CPUs that are all in the groups of others already are not looked at. More
 * than ten of them were never seen. */
static void read_caches(topology_reader *r, unsigned i) {
  enum { MOST_CACHES = 10 };
  wf_cpu *cpu = &r->t->cpus[i];
  unsigned last_level = 0;
  for (unsigned index = 0; index < MOST_CACHES; index++) {
    unsigned level;
    if (cpu->group[WF_L2] != UNKNOWN && cpu->group[WF_L3] != UNKNOWN) return;
    if (!is_number(cache_line(r, cpu->number, index, "level"), &level)) return;
    if (level < 2) continue;
    const char *type = cache_line(r, cpu->number, index, "type");
    if (type != NULL && strcmp(type, "Instruction") == 0) continue;
    wf_domain domain = level == 2 ? WF_L2 : WF_L3;
    if (level <= last_level) continue;
    last_level = level;
    put_together(r->t, cache_line(r, cpu->number, index, "shared_cpu_list"), domain, i);
    r->t->is_known = true;
  }
}

/* The package is that of the core's first CPU. */
static void read_core(topology_reader *r, unsigned i) {
  wf_cpu *cpu = &r->t->cpus[i];
  if (cpu->group[WF_CORE] != UNKNOWN) {
    cpu->package = r->t->cpus[cpu->group[WF_CORE]].package;
    return;
  }
  (void)is_number(cpu_line(r, cpu->number, "topology/physical_package_id"),
                  &cpu->package);
  const char *list = cpu_line(r, cpu->number, "topology/core_cpus_list");
  if (list == NULL) list = cpu_line(r, cpu->number, "topology/thread_siblings_list");
  if (list != NULL) r->t->is_known = true;
  put_together(r->t, list, WF_CORE, i);
  if (cpu->group[WF_CORE] == UNKNOWN) cpu->group[WF_CORE] = i;
}

/* What nobody told: a core has a cache of level 2 of its own; the last cache is that of
 * the package. Numbers from `count` on are no CPU's. */
static void fill_gaps(wf_topology *t) {
  for (unsigned i = 0; i < t->count; i++) {
    wf_cpu *cpu = &t->cpus[i];
    if (cpu->group[WF_L2] == UNKNOWN) cpu->group[WF_L2] = cpu->group[WF_CORE];
    if (cpu->group[WF_L3] == UNKNOWN) cpu->group[WF_L3] = t->count + cpu->package;
  }
}

/* A capacity is given for all CPUs or for none. */
static void read_capacities(topology_reader *r) {
  wf_topology *t = r->t;
  unsigned capacity, first, last;
  bool any = false;
  for (unsigned i = 0; i < t->count; i++) {
    unsigned first_of_core = t->cpus[i].group[WF_CORE];
    if (first_of_core != i) {
      t->cpus[i].capacity = t->cpus[first_of_core].capacity;
      continue;
    }
    if (!is_number(cpu_line(r, t->cpus[i].number, "cpu_capacity"), &capacity)) break;
    any = true;
    if (capacity >= 1 && capacity <= WF_FULL_CAPACITY) t->cpus[i].capacity = capacity;
  }
  const char *slow = any ? NULL : first_line(r, "/sys/devices/cpu_atom/", "cpus");
  while (slow != NULL && wf_cpu_range(&slow, &first, &last) == WF_RANGE_FOUND)
    for (unsigned i = find_cpu(t, first); i < t->count && t->cpus[i].number <= last; i++)
      t->cpus[i].capacity = WF_FULL_CAPACITY / 2; /* a choice: only the order is used */
}

/* ---- nodes ---- */

/* Gives each CPU the system's number of its node; those of none that of the first. */
static void read_node_numbers(topology_reader *r, const char *online) {
  wf_topology *t = r->t;
  unsigned first, last, lowest = UNKNOWN;
  for (unsigned i = 0; i < t->count; i++) t->cpus[i].group[WF_NODE] = UNKNOWN;
  while (wf_cpu_range(&online, &first, &last) == WF_RANGE_FOUND)
    for (unsigned node = first; node <= last; node++)
      put_together(t, node_line(r, node, "cpulist"), WF_NODE, node);
  for (unsigned i = 0; i < t->count; i++)
    if (t->cpus[i].group[WF_NODE] < lowest) lowest = t->cpus[i].group[WF_NODE];
  if (lowest == UNKNOWN) lowest = 0;
  for (unsigned i = 0; i < t->count; i++)
    if (t->cpus[i].group[WF_NODE] == UNKNOWN) t->cpus[i].group[WF_NODE] = lowest;
}

/* The numbers in use, ascending, into `out`, which has room for each CPU's. */
static unsigned nodes_in_use(const wf_topology *t, unsigned *out) {
  unsigned count = 0;
  for (;;) {
    unsigned next = UNKNOWN;
    for (unsigned i = 0; i < t->count; i++) {
      unsigned node = t->cpus[i].group[WF_NODE];
      if (node < next && (count == 0 || node > out[count - 1])) next = node;
    }
    if (next == UNKNOWN) return count;
    out[count++] = next;
  }
}

/* A row of distances has a number for each node that is online, in their order. */
static void read_distances(topology_reader *r, const char *online, unsigned node) {
  wf_topology *t = r->t;
  unsigned count = t->groups[WF_NODE], first, last, distance;
  unsigned *row = &t->distances[(size_t)node * count];
  const char *text = node_line(r, t->nodes[node], "distance");
  for (unsigned i = 0; i < count; i++)
    row[i] = i == node ? 10 : 20; /* as firmware does */
  while (text != NULL && wf_cpu_range(&online, &first, &last) == WF_RANGE_FOUND) {
    for (unsigned number = first; number <= last; number++) {
      while (*text == ' ') text++;
      if (!wf_cpu_number(&text, &distance)) return;
      unsigned i = wf_cpu_find(t->nodes, count, number);
      if (i < count && distance > 0) row[i] = distance;
    }
  }
}

/* `online` is a copy: the reader has one line at a time. */
static bool read_nodes(topology_reader *r, const char *online) {
  wf_topology *t = r->t;
  read_node_numbers(r, online);
  unsigned *nodes = malloc(t->count * sizeof *nodes);
  if (nodes == NULL) return false;
  unsigned count = nodes_in_use(t, nodes);
  free(t->nodes);
  t->nodes = nodes;
  t->groups[WF_NODE] = count;
  unsigned *distances = calloc((size_t)count * count, sizeof *distances);
  if (distances == NULL) return false;
  free(t->distances);
  t->distances = distances;
  for (unsigned node = 0; node < count; node++) read_distances(r, online, node);
  for (unsigned i = 0; i < t->count; i++)
    t->cpus[i].group[WF_NODE] = wf_cpu_find(nodes, count, t->cpus[i].group[WF_NODE]);
  return true;
}

/* ---- all of it ---- */

static bool read_everything(topology_reader *r) {
  wf_topology *t = r->t;
  for (unsigned i = 0; i < t->count; i++)
    for (int domain = WF_CORE; domain <= WF_L3; domain++)
      t->cpus[i].group[domain] = UNKNOWN;
  for (unsigned i = 0; i < t->count; i++) {
    read_core(r, i);
    read_caches(r, i);
  }
  fill_gaps(t);
  read_capacities(r);
  const char *online = first_line(r, NODE_FOLDER, "online");
  size_t length = online != NULL ? strlen(online) : 0;
  char *copy = malloc(length + 1);
  if (copy != NULL) memcpy(copy, online != NULL ? online : "", length + 1);
  bool done = copy != NULL && read_nodes(r, copy) && wf_topology_number(t);
  free(copy);
  return done;
}

bool wf_topology_fill(wf_topology *t, const char *root) {
  topology_reader *r = malloc(sizeof *r); /* large for a thread's stack */
  if (r == NULL) return false;
  r->root = root;
  r->t = t;
  bool done = read_everything(r);
  free(r);
  return done;
}

#elif !defined(_WIN32)

unsigned wf_topology_allowed(unsigned **out, const char *root) {
  (void)root;
  return allowed_by_count(out);
}

bool wf_topology_fill(wf_topology *t, const char *root) {
  (void)t, (void)root;
  return true;
}

#endif
