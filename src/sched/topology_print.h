/* sched/topology_print.h - the topology as text.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_SCHED_TOPOLOGY_PRINT_H
#define WF_SCHED_TOPOLOGY_PRINT_H

#include <stdio.h>

/* weft_topology_print for the machine whose files are below `root`. */
int wf_topology_print(FILE *out, const char *root);

#endif
