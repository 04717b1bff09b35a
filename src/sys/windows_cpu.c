/* windows_cpu.c - CPU groups: how many CPUs there are, on which one a thread runs, and on
 * which ones it may run.
 *
 * Windows numbers CPUs within groups of at most 64. A thread belongs to one group at a
 * time, and before Windows 11 a process whose threads do not choose has only the CPUs of
 * one group. So started threads are spread over the groups here. CPU number n of a mask
 * is number n % 64 of group n / 64.
 *
 * A user may have given the process fewer CPUs (start /affinity, the task manager). Then
 * nobody is spread, and masks have only those CPUs. A job may also limit the CPU time, as
 * a container does; that limits the number of CPUs as a cgroup quota does on Linux.
 *
 * Who calls: sched, to place workers. A mask belongs to the thread that uses it. The only
 * state is the number of the next thread to be placed.
 *
 * SPDX-License-Identifier: MIT */
#include "sys.h"

#if defined(_WIN32)

#include "windows_api.h"

#include <stdlib.h>
#include <string.h>

enum { GROUP_BITS = 64, MOST_GROUPS = 64 };

struct wf_cpu_mask {
  uint64_t bits[MOST_GROUPS]; /* one word per group */
};

static unsigned group_count(void) {
  const unsigned count = GetActiveProcessorGroupCount();
  return count < 1 ? 1 : count > MOST_GROUPS ? MOST_GROUPS : count;
}

/* The CPUs of a group that run. They are numbered without gaps. */
static uint64_t group_cpus(unsigned group) {
  const DWORD count = GetActiveProcessorCount((WORD)group);
  return count >= GROUP_BITS ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

/* The CPUs that the process was limited to; false if it was not, and the system's answer
 * for a process of several groups is that it was not. */
static bool process_is_limited(uint64_t *cpus) {
  DWORD_PTR process = 0, machine = 0;
  if (!GetProcessAffinityMask(GetCurrentProcess(), &process, &machine)) return false;
  *cpus = process;
  return process != 0 && process != machine;
}

/* ---- masks ---- */

wf_cpu_mask *wf_sys_masks_create(unsigned count) {
  return calloc(count, sizeof(wf_cpu_mask));
}

wf_cpu_mask *wf_sys_mask_at(wf_cpu_mask *masks, unsigned i) {
  return masks + i;
}

void wf_sys_mask_destroy(wf_cpu_mask *mask) {
  free(mask);
}

void wf_sys_mask_fill(wf_cpu_mask *mask) {
  memset(mask->bits, 0xff, sizeof mask->bits);
}

void wf_sys_mask_copy(wf_cpu_mask *to, const wf_cpu_mask *from) {
  *to = *from;
}

void wf_sys_mask_add(wf_cpu_mask *mask, unsigned cpu) {
  if (cpu / GROUP_BITS < MOST_GROUPS)
    mask->bits[cpu / GROUP_BITS] |= UINT64_C(1) << cpu % GROUP_BITS;
}

void wf_sys_mask_clear(wf_cpu_mask *mask, unsigned cpu) {
  if (cpu / GROUP_BITS < MOST_GROUPS)
    mask->bits[cpu / GROUP_BITS] &= ~(UINT64_C(1) << cpu % GROUP_BITS);
}

bool wf_sys_mask_has(const wf_cpu_mask *mask, unsigned cpu) {
  return cpu / GROUP_BITS < MOST_GROUPS &&
         (mask->bits[cpu / GROUP_BITS] >> cpu % GROUP_BITS & 1) != 0;
}

unsigned wf_sys_mask_count(const wf_cpu_mask *mask) {
  unsigned count = 0;
  for (unsigned i = 0; i < MOST_GROUPS; i++)
    count += (unsigned)__builtin_popcountll(mask->bits[i]);
  return count;
}

bool wf_sys_mask_equal(const wf_cpu_mask *a, const wf_cpu_mask *b) {
  return memcmp(a->bits, b->bits, sizeof a->bits) == 0;
}

bool wf_sys_mask_is_part(const wf_cpu_mask *part, const wf_cpu_mask *whole) {
  for (unsigned i = 0; i < MOST_GROUPS; i++)
    if ((part->bits[i] & ~whole->bits[i]) != 0) return false;
  return true;
}

/* ---- of threads ---- */

int wf_sys_cpu_now(void) {
  PROCESSOR_NUMBER now;
  memset(&now, 0, sizeof now);
  GetCurrentProcessorNumberEx(&now);
  return now.Group * GROUP_BITS + now.Number;
}

uint32_t wf_sys_thread_self(void) {
  return GetCurrentThreadId();
}

/* 0 is the caller. To be closed by close_thread. */
static HANDLE open_thread(uint32_t thread) {
  if (thread == 0 || thread == GetCurrentThreadId()) return GetCurrentThread();
  return OpenThread(THREAD_QUERY_INFORMATION | THREAD_SET_INFORMATION, FALSE, thread);
}

static void close_thread(HANDLE thread) {
  if (thread != GetCurrentThread()) CloseHandle(thread);
}

static bool group_of_thread(HANDLE thread, GROUP_AFFINITY *out) {
  memset(out, 0, sizeof *out);
  return GetThreadGroupAffinity(thread, out) && out->Group < MOST_GROUPS;
}

static bool set_group(HANDLE thread, unsigned group, uint64_t cpus) {
  GROUP_AFFINITY wanted;
  memset(&wanted, 0, sizeof wanted);
  wanted.Group = (WORD)group;
  wanted.Mask = (KAFFINITY)cpus;
  return cpus != 0 && SetThreadGroupAffinity(thread, &wanted, NULL);
}

bool wf_sys_mask_read(wf_cpu_mask *mask, uint32_t thread) {
  GROUP_AFFINITY now;
  const HANDLE handle = open_thread(thread);
  if (handle == NULL) return false;
  const bool known = group_of_thread(handle, &now);
  close_thread(handle);
  if (!known) return false;
  memset(mask->bits, 0, sizeof mask->bits);
  mask->bits[now.Group] = now.Mask;
  return true;
}

/* The thread stays in its group if the mask has a CPU there. */
static bool set_mask(const wf_cpu_mask *mask, HANDLE thread) {
  GROUP_AFFINITY now;
  uint64_t limit = UINT64_MAX;
  if (!group_of_thread(thread, &now)) return false;
  const bool limited = process_is_limited(&limit);
  const uint64_t here = mask->bits[now.Group] & group_cpus(now.Group) & limit;
  if (here != 0) return set_group(thread, now.Group, here);
  for (unsigned i = 0; !limited && i < group_count(); i++)
    if ((mask->bits[i] & group_cpus(i)) != 0)
      return set_group(thread, i, mask->bits[i] & group_cpus(i));
  return false;
}

bool wf_sys_mask_set(const wf_cpu_mask *mask, uint32_t thread) {
  const HANDLE handle = open_thread(thread);
  if (handle == NULL) return false;
  const bool done = set_mask(mask, handle);
  close_thread(handle);
  return done;
}

/* As in affinity.c, which explains it: does the thread have all CPUs that it can have? */
bool wf_sys_mask_origin(wf_cpu_mask *own, wf_cpu_mask *scratch, bool *follows) {
  if (!wf_sys_mask_read(own, 0)) return false;
  wf_sys_mask_fill(scratch);
  if (!wf_sys_mask_set(scratch, 0)) return false;
  const bool known = wf_sys_mask_read(scratch, 0);
  *follows = known && wf_sys_mask_equal(own, scratch);
  return *follows || (wf_sys_mask_set(own, 0) && known);
}

/* ---- spreading threads over groups ---- */

unsigned wf_windows_group(const unsigned *cpus, unsigned groups, unsigned number) {
  unsigned all = 0;
  for (unsigned i = 0; i < groups; i++) all += cpus[i];
  if (all == 0) return 0;
  number %= all;
  unsigned group = 0;
  while (number >= cpus[group]) number -= cpus[group++];
  return group;
}

/* The first threads fill the first group, the next ones the second: threads of one pool
 * that are started in a row share caches as far as they can. If the system refuses, the
 * thread stays where the system has put it. */
void wf_windows_place(HANDLE thread) {
  static LONG started; /* only by InterlockedIncrement: each thread gets another number */
  unsigned cpus[MOST_GROUPS];
  const unsigned groups = group_count();
  uint64_t limit;
  if (groups == 1 || process_is_limited(&limit)) return;
  for (unsigned i = 0; i < groups; i++) cpus[i] = GetActiveProcessorCount((WORD)i);
  const unsigned number = (unsigned)InterlockedIncrement(&started) - 1;
  const unsigned group = wf_windows_group(cpus, groups, number);
  (void)set_group(thread, group, group_cpus(group));
}

/* ---- how many ---- */

unsigned wf_windows_cpus_of_rate(unsigned cpus, unsigned rate) {
  const unsigned whole = 10000; /* a rate of all CPUs */
  const unsigned allowed = (unsigned)((uint64_t)cpus * rate / whole);
  return rate >= whole ? cpus : allowed > 0 ? allowed : 1;
}

/* What a job, such as a container, lets its processes have, in hundredths of a percent of
 * all CPUs; the whole if it has no hard limit. */
static unsigned job_rate(void) {
  JOBOBJECT_CPU_RATE_CONTROL_INFORMATION job;
  const DWORD hard =
      JOB_OBJECT_CPU_RATE_CONTROL_ENABLE | JOB_OBJECT_CPU_RATE_CONTROL_HARD_CAP;
  memset(&job, 0, sizeof job);
  if (!QueryInformationJobObject(NULL, JobObjectCpuRateControlInformation, &job,
                                 sizeof job, NULL) ||
      (job.ControlFlags & hard) != hard || job.CpuRate == 0)
    return 10000;
  return job.CpuRate;
}

unsigned wf_sys_cpu_count(const char *root) {
  uint64_t limit;
  (void)root;
  const DWORD active = GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
  const unsigned all = active > 0 ? (unsigned)active : 1;
  const unsigned quota = wf_windows_cpus_of_rate(all, job_rate());
  const unsigned own =
      process_is_limited(&limit) ? (unsigned)__builtin_popcountll(limit) : all;
  return own < quota ? own : quota;
}

#endif
