/* sys/windows_api.h - what the files for Windows share.
 *
 * Included only where _WIN32 is defined. Asks for the interfaces of Windows 8, the first
 * with WaitOnAddress.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_SYS_WINDOWS_API_H
#define WF_SYS_WINDOWS_API_H

#if !defined(_WIN32_WINNT) || _WIN32_WINNT < 0x0602
#undef _WIN32_WINNT
#define _WIN32_WINNT 0x0602
#endif
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>

/* Puts a new thread, which has not run yet, on one of the machine's CPU groups. */
void wf_windows_place(HANDLE thread);

/* The group for the thread of this number: `cpus` has the number of CPUs of each group,
 * and all CPUs get a thread before one gets a second. */
unsigned wf_windows_group(const unsigned *cpus, unsigned groups, unsigned number);

/* How many of the CPUs a job may use that has this rate, in hundredths of a percent of
 * all of them; at least 1. */
unsigned wf_windows_cpus_of_rate(unsigned cpus, unsigned rate);

#endif
