/* windows_topology.c - which CPUs share what, on Windows.
 *
 * GetLogicalProcessorInformationEx gives a list of cores, caches, packages and memory
 * nodes, each with the CPUs in it, as masks of CPU groups. CPU number n is number n % 64
 * of group n / 64, as in windows_cpu.c. Windows tells no distances between nodes: all
 * others are equally far.
 *
 * Who calls: see topology.h. Keeps no state; any thread.
 *
 * SPDX-License-Identifier: MIT */
#include "sys.h"
#include "topology.h"

#if defined(_WIN32)

#include "cpu_list.h"
#include "windows_api.h"

#include <string.h>

typedef SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX processor_record;

enum { CPUS_PER_GROUP = 64, NEAR_DISTANCE = 10, FAR_DISTANCE = 20 };

unsigned wf_topology_allowed(unsigned **out, const char *root) {
  unsigned count = 0, room = 0;
  DWORD_PTR process = 0, machine = 0;
  (void)root;
  const unsigned groups = GetActiveProcessorGroupCount();
  /* 0 for a process of several groups, which is not limited. */
  if (!GetProcessAffinityMask(GetCurrentProcess(), &process, &machine)) process = 0;
  for (unsigned group = 0; group < groups; group++)
    room += GetActiveProcessorCount((WORD)group);
  *out = malloc((room + 1) * sizeof **out);
  if (*out == NULL) return 0;
  for (unsigned group = 0; group < groups; group++) {
    const unsigned cpus = GetActiveProcessorCount((WORD)group);
    for (unsigned i = 0; i < cpus && count < room; i++)
      if (groups > 1 || process == 0 || (process >> i & 1) != 0)
        (*out)[count++] = group * CPUS_PER_GROUP + i;
  }
  if (count == 0) (*out)[count++] = 0;
  return count;
}

/* The CPUs of the masks get this group of the domain, or this package. */
static void put_masks(wf_topology *t, const GROUP_AFFINITY *masks, unsigned count,
                      wf_domain domain, unsigned group) {
  for (unsigned i = 0; i < t->count; i++) {
    const unsigned number = t->cpus[i].number;
    for (unsigned k = 0; k < count; k++) {
      if (masks[k].Group != number / CPUS_PER_GROUP ||
          ((uint64_t)masks[k].Mask >> number % CPUS_PER_GROUP & 1) == 0)
        continue;
      if (domain == WF_DOMAINS)
        t->cpus[i].package = group;
      else
        t->cpus[i].group[domain] = group;
    }
  }
}

/* `number` is another one for each record. */
static void read_record(wf_topology *t, const processor_record *record, unsigned number) {
  const CACHE_RELATIONSHIP *cache = &record->Cache;
  switch (record->Relationship) {
  case RelationProcessorCore:
    put_masks(t, record->Processor.GroupMask, record->Processor.GroupCount, WF_CORE,
              number);
    break;
  case RelationProcessorPackage:
    put_masks(t, record->Processor.GroupMask, record->Processor.GroupCount, WF_DOMAINS,
              number);
    break;
  case RelationCache:
    if (cache->Type == CacheInstruction || cache->Level < 2) break;
    put_masks(t, &cache->GroupMask, 1, cache->Level == 2 ? WF_L2 : WF_L3, number);
    break;
  case RelationNumaNode:
    put_masks(t, &record->NumaNode.GroupMask, 1, WF_NODE, record->NumaNode.NodeNumber);
    break;
  default:
    break;
  }
}

/* Nodes have the system's numbers: gives them numbers from 0 on. */
static bool number_nodes(wf_topology *t) {
  unsigned count = 0;
  unsigned *nodes = malloc(t->count * sizeof *nodes);
  if (nodes == NULL) return false;
  for (unsigned next = 0; next < WF_CPU_LIMIT; next++) {
    bool is_used = false;
    for (unsigned i = 0; i < t->count; i++)
      is_used = is_used || t->cpus[i].group[WF_NODE] == next;
    if (is_used) nodes[count++] = next;
  }
  if (count == 0) nodes[count++] = 0;
  unsigned *distances = malloc((size_t)count * count * sizeof *distances);
  free(t->nodes);
  t->nodes = nodes;
  if (distances == NULL) return false;
  free(t->distances);
  t->distances = distances;
  for (unsigned i = 0; i < count * count; i++)
    distances[i] = i / count == i % count ? NEAR_DISTANCE : FAR_DISTANCE;
  for (unsigned i = 0; i < t->count; i++) {
    const unsigned node = wf_cpu_find(nodes, count, t->cpus[i].group[WF_NODE]);
    t->cpus[i].group[WF_NODE] = node < count ? node : 0;
  }
  t->groups[WF_NODE] = count;
  return true;
}

bool wf_topology_fill(wf_topology *t, const char *root) {
  (void)root;
  DWORD size = 0;
  (void)GetLogicalProcessorInformationEx(RelationAll, NULL, &size);
  char *records = size > 0 ? malloc(size) : NULL;
  if (records == NULL) return size == 0;
  if (GetLogicalProcessorInformationEx(RelationAll, (processor_record *)(void *)records,
                                       &size)) {
    unsigned number = t->count; /* above what CPUs have that no record names */
    t->is_known = true;
    for (DWORD at = 0; at < size;) {
      const processor_record *record = (const processor_record *)(void *)(records + at);
      if (record->Size == 0) break;
      read_record(t, record, number++);
      at += record->Size;
    }
  }
  free(records);
  return number_nodes(t) && wf_topology_number(t);
}

#endif
