/* machine.h - the simulated machine: its description, and what the files of its engine
 * offer each other. README.md in the parent folder explains the model.
 *
 * Everything runs on one thread of the system. Times are picoseconds.
 *
 * SPDX-License-Identifier: MIT */
#ifndef SCALE_MACHINE_H
#define SCALE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t sm_time;

enum { SM_MAX_CPUS = 512, SM_MAX_THREADS = 2200, SM_LINE = 64 };
#define SM_NS    ((sm_time)1000)
#define SM_NEVER (UINT64_MAX / 4)

/* ---- description.c ---- */

/* What a machine file says: see machines/README.md for each word. */
typedef struct sm_machine {
  char name[64];
  unsigned cpus;
  unsigned cluster_cpus; /* that share a cache */
  unsigned socket_cpus;
  sm_time access;
  sm_time neighbour, cluster, socket, memory; /* a line comes from there */
  sm_time serve;                              /* for one more reader of a shared line */
  sm_time rmw, fence;
  sm_time store_queue;
  sm_time relax, clock, ticks, allocate;
  sm_time wait, wake, wake_nobody, wake_delay, wake_delay_halted, halts_after;
  sm_time wake_delay_all_halted, timer_slack; /* 0: as the others, none */
  sm_time barrier, barrier_cpu, barrier_stop;
  sm_time yield, context_switch, slice, start_thread;
  sm_time ahead;
} sm_machine;

extern sm_machine sm_now;

/* Reads a machine file into sm_now; false, with a message on standard error, if there is
 * something wrong with it. */
bool sm_machine_read(const char *path);
/* Changes one word of it, as "name=value". */
bool sm_machine_set(const char *text);
/* The machine gets this many CPUs: the first ones of its clusters and sockets, or more
 * sockets of the same kind. */
void sm_machine_resize(unsigned cpus);

/* ---- memory.c ---- */

/* Where a line was found. */
typedef enum sm_distance {
  SM_NEIGHBOUR,
  SM_CLUSTER,
  SM_SOCKET,
  SM_MEMORY, /* first use: no coherence miss */
  SM_DISTANCES
} sm_distance;

typedef struct sm_counts {
  uint64_t accesses;
  uint64_t found[SM_DISTANCES]; /* misses */
  uint64_t fences, rmws;
  uint64_t wakes, waits, wakes_of_nobody, barriers, yields, relaxes;
  uint64_t preemptions;
  sm_time queued; /* that accesses waited for a line in transfer */
} sm_counts;
extern sm_counts sm_count;

void sm_memory_init(void);
/* Counting of misses and touches per line starts again. */
void sm_lines_reset(void);
/* Calls fn for each line that was moved since, with the number of misses. */
typedef struct sm_line_use {
  uintptr_t address;
  uint64_t misses;
  uint64_t touches; /* the part of them that came from others than the last owner */
  sm_time queued;
  sm_time waited; /* of all CPUs, for transfers and the queue before them */
} sm_line_use;
void sm_lines_each(void (*fn)(const sm_line_use *use, void *ctx), void *ctx);

/* ---- heap.c ---- */

/* Memory for all that the simulated threads share, at an address that is the same in each
 * run. The seed shifts it, and with it the random numbers of the workers. */
extern char *sm_heap_low;
enum { SM_HEAP_LOG2 = 36 };
void sm_heap_init(uint64_t seed);
char *sm_heap_stack(size_t size);
bool sm_heap_is_stack(uintptr_t address);

/* ---- threads.c ---- */

extern int sm_cpu;            /* on which the running thread is */
extern sm_time sm_clock;      /* of the running thread */
extern sm_time sm_limit;      /* another thread comes first if the clock is beyond */
extern sm_time sm_stores_end; /* when the stores of the running thread are done */

/* The clock is beyond the limit: runs others until it is this thread's turn. */
void sm_step(void);
static inline void sm_turn(void) {
  if (sm_clock > sm_limit) sm_step();
}
/* Time passes for the running thread, in parts, so that others can interrupt it. */
void sm_spend(sm_time time);

/* Runs main(arg) as the first thread on CPU 0, until it returns. */
void sm_run(void (*main)(void *), void *arg);
unsigned sm_thread_start(void (*fn)(void *), void *arg);
void sm_thread_join(unsigned thread);
unsigned sm_thread_self(void);
void sm_thread_stack(uintptr_t *low, size_t *size);
void sm_thread_yield(void);
/* Waits on an address; false if the time is over. */
bool sm_wait(const uint32_t *word, uint32_t expected, sm_time timeout);
void sm_wake(const void *word, bool all);
void sm_barrier(void);
/* Time that CPUs had a thread. */
sm_time sm_busy_time(void);

/* ---- profile.c ---- */

/* What CPUs spend time with. The rest of it is instructions that find their lines. */
typedef enum sm_spent {
  SM_WORK,    /* sm_spend */
  SM_LINES,   /* waits for a line, in code that works */
  SM_SEARCH,  /* the same in code that searches */
  SM_PAUSE,   /* relax instructions, clocks */
  SM_SYSTEM,  /* wait, wake, yield */
  SM_BARRIER, /* the barrier, and being stopped by one */
  SM_ASLEEP,  /* no thread on the CPU */
  SM_SPENT_KINDS
} sm_spent;

/* Is there a profile? Times are noted from sm_profile_begin on. */
extern bool sm_profiles;
void sm_profile_begin(void);
void sm_profile_add(sm_spent what, sm_time from, sm_time to);
/* The time that all CPUs have spent so between two times since the begin. */
sm_time sm_profile_sum(sm_spent what, sm_time from, sm_time to);
/* CPUs that are idle now have been so until now. */
void sm_profile_end(void);
/* Does the running thread search? Set by the program around the engine. */
extern bool (*sm_searches)(void);

static inline void sm_note(sm_spent what, sm_time from, sm_time to) {
  if (__builtin_expect(sm_profiles, 0)) sm_profile_add(what, from, to);
}

#endif
