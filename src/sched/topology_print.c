/* sched/topology_print.c - the topology as text, for weft_topology_print and the command.
 *
 * Runs on the calling thread; keeps no state.
 *
 * SPDX-License-Identifier: MIT */
#include "topology_print.h"

#include "../sys/cpu_list.h"
#include "../sys/topology.h"

#include <weft/topology.h>

/* More than a list of all CPUs of a machine usually takes; a longer one is cut. */
enum { LONGEST_CPU_LIST = 512 };

/* Writes the CPUs of a group, or of all groups if the domain is WF_DOMAINS. */
static void list_group(char out[LONGEST_CPU_LIST], const wf_topology *t, wf_domain domain,
                       unsigned group, unsigned *numbers) {
  unsigned count = 0;
  for (unsigned i = 0; i < t->count; i++)
    if (domain == WF_DOMAINS || t->cpus[i].group[domain] == group)
      numbers[count++] = t->cpus[i].number;
  wf_cpu_list_write(out, LONGEST_CPU_LIST, numbers, count);
}

static unsigned first_of(const wf_topology *t, wf_domain domain, unsigned group) {
  unsigned i = 0;
  while (t->cpus[i].group[domain] != group) i++;
  return i;
}

static bool has_capacities(const wf_topology *t) {
  for (unsigned i = 1; i < t->count; i++)
    if (t->cpus[i].capacity != t->cpus[0].capacity) return true;
  return false;
}

/* A cache of level 2 has a line of its own only where cores share it. */
static bool shares_l2(const wf_topology *t) {
  return t->groups[WF_L2] != t->groups[WF_CORE];
}

static void print_cores(FILE *out, const wf_topology *t, unsigned l2, unsigned *numbers) {
  char list[LONGEST_CPU_LIST];
  for (unsigned core = 0; core < t->groups[WF_CORE]; core++) {
    const wf_cpu *cpu = &t->cpus[first_of(t, WF_CORE, core)];
    if (cpu->group[WF_L2] != l2) continue;
    list_group(list, t, WF_CORE, core, numbers);
    (void)fprintf(out, "%s  core %s", shares_l2(t) ? "    " : "  ", list);
    if (has_capacities(t)) (void)fprintf(out, " (capacity %u)", cpu->capacity);
    (void)fprintf(out, "\n");
  }
}

static void print_l3(FILE *out, const wf_topology *t, unsigned l3, unsigned *numbers) {
  char list[LONGEST_CPU_LIST];
  list_group(list, t, WF_L3, l3, numbers);
  (void)fprintf(out, "  last cache: %s\n", list);
  for (unsigned l2 = 0; l2 < t->groups[WF_L2]; l2++) {
    if (t->cpus[first_of(t, WF_L2, l2)].group[WF_L3] != l3) continue;
    list_group(list, t, WF_L2, l2, numbers);
    if (shares_l2(t)) (void)fprintf(out, "    L2 cache: %s\n", list);
    print_cores(out, t, l2, numbers);
  }
}

static void print_distances(FILE *out, const wf_topology *t) {
  unsigned nodes = t->groups[WF_NODE];
  if (nodes < 2) return;
  (void)fprintf(out, "distances from node to node\n      ");
  for (unsigned i = 0; i < nodes; i++) (void)fprintf(out, "%5u", t->nodes[i]);
  (void)fprintf(out, "\n");
  for (unsigned i = 0; i < nodes; i++) {
    (void)fprintf(out, "%6u", t->nodes[i]);
    for (unsigned k = 0; k < nodes; k++)
      (void)fprintf(out, "%5u", wf_topology_distance(t, i, k));
    (void)fprintf(out, "\n");
  }
}

static const char *plural(unsigned count) {
  return count == 1 ? "" : "s";
}

static void print_all(FILE *out, const wf_topology *t, unsigned *numbers) {
  char list[LONGEST_CPU_LIST];
  list_group(list, t, WF_DOMAINS, 0, numbers);
  (void)fprintf(out, "%u CPU%s for this process: %s\n", t->count, plural(t->count), list);
  (void)fprintf(out, "%u node%s, %u package%s, %u last cache%s, %u core%s%s\n",
                t->groups[WF_NODE], plural(t->groups[WF_NODE]), t->packages,
                plural(t->packages), t->groups[WF_L3], plural(t->groups[WF_L3]),
                t->groups[WF_CORE], plural(t->groups[WF_CORE]),
                t->is_known ? "" : " (assumed: the system does not tell)");
  for (unsigned node = 0; node < t->groups[WF_NODE]; node++) {
    list_group(list, t, WF_NODE, node, numbers);
    (void)fprintf(out, "node %u: %s\n", t->nodes[node], list);
    for (unsigned l3 = 0; l3 < t->groups[WF_L3]; l3++)
      if (t->cpus[first_of(t, WF_L3, l3)].group[WF_NODE] == node)
        print_l3(out, t, l3, numbers);
  }
  print_distances(out, t);
}

int wf_topology_print(FILE *out, const char *root) {
  wf_topology t;
  if (!wf_topology_read(&t, root, NULL, 0)) return WEFT_ENOMEM;
  unsigned *numbers = malloc(t.count * sizeof *numbers);
  if (numbers != NULL) print_all(out, &t, numbers);
  wf_topology_free(&t);
  if (numbers == NULL) return WEFT_ENOMEM;
  free(numbers);
  return fflush(out) == 0 && !ferror(out) ? 0 : WEFT_EINVAL;
}

int weft_topology_print(FILE *out) {
  return out != NULL ? wf_topology_print(out, "") : WEFT_EINVAL;
}
