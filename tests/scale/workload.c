/* workload.c - the list of workloads.
 *
 * SPDX-License-Identifier: MIT */
#include "workload.h"

#include <string.h>

scale_workload *scale_first;

void scale_add(scale_workload *workload) {
  scale_workload **at = &scale_first;
  while (*at != NULL && strcmp((*at)->name, workload->name) < 0) at = &(*at)->next;
  workload->next = *at;
  *at = workload;
}

const scale_workload *scale_find(const char *name) {
  const scale_workload *w = scale_first;
  while (w != NULL && strcmp(w->name, name) != 0) w = w->next;
  return w;
}
