/* cgroup.h - the CPU quota that cgroups set for this process.
 *
 * Who calls: cpu_count.c, and the tests with fixture folders.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_SYS_CGROUP_H
#define WF_SYS_CGROUP_H

/* Returns the tightest CPU quota among the process's group and its ancestors, of cgroup
 * v1 and v2 alike, in whole CPUs: rounded down, at least 1. Returns 0 if there is none,
 * and whatever cannot be read or makes no sense counts as none. Weights and shares are no
 * limits and are not looked at. root is put before every path that is opened. Allocates
 * nothing and takes about 18 KiB of stack. */
unsigned wf_cgroup_cpu_limit(const char *root);

#endif
