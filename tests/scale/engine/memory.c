/* memory.c - what an access to memory costs: a directory of all cache lines.
 *
 * A line is in memory only (nobody has used it), with one CPU alone, or with several that
 * read it. An access of a CPU that does not have the line, or not for itself alone when
 * it writes, moves it: that takes as long as the way from the CPU that has it, and while
 * a line moves, the next one waits. Caches never run out of room.
 *
 * A store that misses does not stop its CPU, which has a queue for such stores; fences
 * and read-modify-writes wait until the queue is empty.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "atomic.h"
#include "machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { SET_WORDS = SM_MAX_CPUS / 64, ALONE = 1 };

typedef struct line {
  sm_time free_at;  /* a transfer of it ends then */
  sm_time queued;   /* that CPUs have waited for it */
  sm_time waited;   /* and for its transfers, where there is a profile */
  uint32_t misses;  /* since the last reset */
  uint32_t sharers; /* the number of a set; 0: has none yet */
  int16_t owner;    /* the CPU that wrote it last, + 1; 0: nobody */
  uint16_t alone;   /* nobody but the owner has it */
} line;

typedef struct cpu_set {
  uint64_t bits[SET_WORDS];
} cpu_set;

sm_counts sm_count;

static line *heap_lines;
static line *static_lines;
static uintptr_t static_low, static_size;
extern char __data_start, _end;

enum { MOST_SETS = 1 << 22 };
static cpu_set *sets;
static uint32_t sets_used = 1;

/* Lines that were moved since the last reset, to be found again. */
enum { MOST_MOVED = 1 << 22 };
static uint32_t *moved; /* numbers of lines: those of the heap first */
static uint32_t moved_count;
#define HEAP_LINES ((size_t)1 << (SM_HEAP_LOG2 - 6))

static void *reserve(size_t size) {
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory != MAP_FAILED) return memory;
  perror("mmap");
  exit(2);
}

void sm_memory_init(void) {
  static_low = (uintptr_t)&__data_start & ~(uintptr_t)(SM_LINE - 1);
  static_size = (uintptr_t)&_end - static_low + SM_LINE;
  heap_lines = reserve(HEAP_LINES * sizeof(line));
  static_lines = reserve(static_size / SM_LINE * sizeof(line));
  sets = reserve(MOST_SETS * sizeof(cpu_set));
  moved = reserve(MOST_MOVED * sizeof(uint32_t));
}

/* NULL: constants, which every CPU has. */
static inline line *line_of(uintptr_t address) {
  uintptr_t offset = address - (uintptr_t)sm_heap_low;
  if (__builtin_expect(offset < (uintptr_t)1 << SM_HEAP_LOG2, 1))
    return &heap_lines[offset / SM_LINE];
  offset = address - static_low;
  return offset < static_size ? &static_lines[offset / SM_LINE] : NULL;
}

/* ---- who has a line ---- */

static cpu_set *set_of(line *l) {
  if (l->sharers == 0) {
    if (sets_used == MOST_SETS) abort();
    l->sharers = sets_used++;
  }
  return &sets[l->sharers];
}

static bool set_has(const cpu_set *set, unsigned cpu) {
  return (set->bits[cpu / 64] >> (cpu % 64) & 1) != 0;
}

/* Is one of the CPUs from, from + 1 ... to - 1 in the set? */
static bool set_meets(const cpu_set *set, unsigned from, unsigned to) {
  for (unsigned word = from / 64; word < (to + 63) / 64; word++) {
    uint64_t bits = set->bits[word];
    if (word == from / 64) bits &= ~(uint64_t)0 << (from % 64);
    if (word == to / 64) bits &= ((uint64_t)1 << (to % 64)) - 1;
    if (bits != 0) return true;
  }
  return false;
}

static sm_distance distance(unsigned a, unsigned b) {
  if (a / sm_now.cluster_cpus == b / sm_now.cluster_cpus) return SM_NEIGHBOUR;
  return a / sm_now.socket_cpus == b / sm_now.socket_cpus ? SM_CLUSTER : SM_SOCKET;
}

/* The nearest CPU of the set. */
static sm_distance nearest(const cpu_set *set, unsigned cpu) {
  unsigned cluster = cpu / sm_now.cluster_cpus * sm_now.cluster_cpus;
  if (set_meets(set, cluster, cluster + sm_now.cluster_cpus)) return SM_NEIGHBOUR;
  unsigned socket = cpu / sm_now.socket_cpus * sm_now.socket_cpus;
  return set_meets(set, socket, socket + sm_now.socket_cpus) ? SM_CLUSTER : SM_SOCKET;
}

/* The farthest CPU of the set other than `cpu`; SM_DISTANCES: there is none. */
static sm_distance farthest(const cpu_set *set, unsigned cpu) {
  sm_distance most = SM_NEIGHBOUR;
  bool any = false;
  for (unsigned word = 0; word < SET_WORDS; word++) {
    uint64_t bits = set->bits[word];
    if (word == cpu / 64) bits &= ~((uint64_t)1 << (cpu % 64));
    for (; bits != 0; bits &= bits - 1) {
      sm_distance d = distance(cpu, word * 64 + (unsigned)__builtin_ctzll(bits));
      any = true;
      if (d > most) most = d;
      if (most == SM_SOCKET) return most;
    }
  }
  return any ? most : SM_DISTANCES;
}

static sm_time time_from(sm_distance from) {
  switch (from) {
  case SM_NEIGHBOUR:
    return sm_now.neighbour;
  case SM_CLUSTER:
    return sm_now.cluster;
  case SM_SOCKET:
    return sm_now.socket;
  case SM_MEMORY:
    return sm_now.memory;
  default:
    return 0;
  }
}

/* ---- misses ---- */

static void note_move(line *l, sm_distance from) {
  sm_count.found[from]++;
  if (from == SM_MEMORY) return;
  if (l->misses++ > 0) return;
  bool in_heap = l >= heap_lines && l < heap_lines + HEAP_LINES;
  size_t number =
      in_heap ? (size_t)(l - heap_lines) : HEAP_LINES + (size_t)(l - static_lines);
  if (moved_count < MOST_MOVED) moved[moved_count++] = (uint32_t)number;
}

/* A transfer that begins at `when`, or when the line has come to rest. */
static sm_time start_of(line *l, sm_time when) {
  if (l->free_at <= when) return when;
  l->queued += l->free_at - when;
  sm_count.queued += l->free_at - when;
  return l->free_at;
}

/* The running thread has waited for a line until now. */
static void note_wait(line *l, sm_time from) {
  if (!sm_profiles || from >= sm_clock) return;
  l->waited += sm_clock - from;
  sm_profile_add(sm_searches() ? SM_SEARCH : SM_LINES, from, sm_clock);
}

static __attribute__((noinline)) void read_miss(line *l) {
  unsigned cpu = (unsigned)sm_cpu;
  if (l->owner == 0) {
    l->owner = (int16_t)(cpu + 1);
    l->alone = ALONE;
    note_move(l, SM_MEMORY);
    sm_clock += sm_now.memory;
    note_wait(l, sm_clock - sm_now.memory);
    return;
  }
  cpu_set *set = set_of(l);
  sm_time start = start_of(l, sm_clock);
  sm_distance from;
  if (l->alone) {
    unsigned owner = (unsigned)(l->owner - 1);
    from = distance(cpu, owner);
    memset(set, 0, sizeof *set);
    set->bits[owner / 64] |= (uint64_t)1 << (owner % 64);
    l->alone = 0;
    l->free_at = start + time_from(from);
  } else {
    from = nearest(set, cpu);
    l->free_at = start + sm_now.serve;
  }
  set->bits[cpu / 64] |= (uint64_t)1 << (cpu % 64);
  note_move(l, from);
  sm_time began = sm_clock;
  sm_clock = start + time_from(from);
  note_wait(l, began);
}

/* The CPU gets the line for itself. Returns when, if it begins at `when`. */
static __attribute__((noinline)) sm_time claim(line *l, sm_time when) {
  unsigned cpu = (unsigned)sm_cpu;
  sm_time start = start_of(l, when);
  sm_distance from = SM_MEMORY;
  if (l->owner != 0)
    from = l->alone ? distance(cpu, (unsigned)(l->owner - 1)) : farthest(set_of(l), cpu);
  l->owner = (int16_t)(cpu + 1);
  l->alone = ALONE;
  if (from == SM_DISTANCES) return when; /* nobody else had a copy */
  note_move(l, from);
  return l->free_at = start + time_from(from);
}

static inline bool is_mine(const line *l) {
  return l->alone && l->owner == sm_cpu + 1;
}

/* ---- accesses ---- */

/* A thread may run ahead of the others by a little while it uses lines that are its own
 * alone. */
static inline bool hits(const line *l) {
  return l == NULL || is_mine(l);
}

static inline void step_far(void) {
  if (__builtin_expect(sm_clock > sm_limit + sm_now.ahead, 0)) sm_step();
}

static inline void access_load(uintptr_t address) {
  sm_count.accesses++;
  step_far();
  line *l = line_of(address);
  sm_clock += sm_now.access;
  if (__builtin_expect(hits(l), 1)) return;
  sm_turn();
  if (is_mine(l)) return;
  if (l->owner != 0 && !l->alone && set_has(&sets[l->sharers], (unsigned)sm_cpu)) return;
  read_miss(l);
}

static inline void access_store(uintptr_t address) {
  sm_count.accesses++;
  step_far();
  line *l = line_of(address);
  sm_clock += sm_now.access;
  if (__builtin_expect(hits(l), 1)) return;
  sm_turn();
  if (is_mine(l)) return;
  sm_time end = claim(l, sm_clock);
  if (end > sm_stores_end) sm_stores_end = end;
  sm_time began = sm_clock;
  if (sm_stores_end > sm_clock + sm_now.store_queue)
    sm_clock = sm_stores_end - sm_now.store_queue;
  note_wait(l, began);
}

static inline void access_rmw(uintptr_t address) {
  sm_count.accesses++;
  sm_count.rmws++;
  line *l = line_of(address);
  sm_time began = sm_clock;
  if (sm_stores_end > sm_clock) sm_clock = sm_stores_end;
  if (sm_profiles && l != NULL) note_wait(l, began);
  step_far();
  if (__builtin_expect(!hits(l), 0)) {
    sm_turn();
    began = sm_clock;
    if (!is_mine(l)) sm_clock = claim(l, sm_clock);
    note_wait(l, began);
    l->free_at = sm_clock + sm_now.rmw;
  }
  sm_clock += sm_now.rmw;
}

void sm_fence(void) {
  sm_count.fences++;
  if (sm_stores_end > sm_clock) {
    sm_note(sm_profiles && sm_searches() ? SM_SEARCH : SM_LINES, sm_clock, sm_stores_end);
    sm_clock = sm_stores_end;
  }
  sm_clock += sm_now.fence;
}

/* Plain accesses, as the compiler reports them. */
static inline void sim_plain(const void *p, size_t size, bool writes) {
  uintptr_t first = (uintptr_t)p & ~(uintptr_t)(SM_LINE - 1), last = (uintptr_t)p + size;
  for (uintptr_t address = first; address < last; address += SM_LINE) {
    if (writes)
      access_store(address);
    else
      access_load(address);
  }
}

#include "simulated/instrumented.h"

uint32_t sm_peek4(const void *p) {
  return *(const uint32_t *)p;
}

uint64_t sm_peek8(const void *p) {
  return *(const uint64_t *)p;
}

#define ACCESSES(bytes, type)                                                            \
  type sm_load##bytes(const void *p) {                                                   \
    access_load((uintptr_t)p);                                                           \
    return *(const type *)p;                                                             \
  }                                                                                      \
  void sm_store##bytes(void *p, type value) {                                            \
    access_store((uintptr_t)p);                                                          \
    *(type *)p = value;                                                                  \
  }                                                                                      \
  bool sm_cas##bytes(void *p, type *expected, type desired) {                            \
    access_rmw((uintptr_t)p);                                                            \
    type there = *(type *)p;                                                             \
    if (there == *expected) {                                                            \
      *(type *)p = desired;                                                              \
      return true;                                                                       \
    }                                                                                    \
    *expected = there;                                                                   \
    return false;                                                                        \
  }                                                                                      \
  type sm_rmw##bytes(void *p, sm_rmw_kind kind, type operand) {                          \
    access_rmw((uintptr_t)p);                                                            \
    type old = *(type *)p, new = operand;                                                \
    if (kind == SM_ADD) new = old + operand;                                             \
    if (kind == SM_SUB) new = old - operand;                                             \
    if (kind == SM_OR) new = old | operand;                                              \
    if (kind == SM_AND) new = old &operand;                                              \
    *(type *)p = new;                                                                    \
    return old;                                                                          \
  }

ACCESSES(4, uint32_t)
ACCESSES(8, uint64_t)

/* ---- reports ---- */

static line *line_number(uint32_t number, uintptr_t *address) {
  if (number < HEAP_LINES) {
    *address = (uintptr_t)sm_heap_low + (uintptr_t)number * SM_LINE;
    return &heap_lines[number];
  }
  *address = static_low + (number - HEAP_LINES) * SM_LINE;
  return &static_lines[number - HEAP_LINES];
}

void sm_lines_reset(void) {
  uintptr_t address;
  for (uint32_t i = 0; i < moved_count; i++) {
    line *l = line_number(moved[i], &address);
    l->misses = 0;
    l->queued = l->waited = 0;
  }
  moved_count = 0;
}

void sm_lines_each(void (*fn)(const sm_line_use *use, void *ctx), void *ctx) {
  for (uint32_t i = 0; i < moved_count; i++) {
    sm_line_use use = {0};
    const line *l = line_number(moved[i], &use.address);
    use.misses = l->misses;
    use.queued = l->queued;
    use.waited = l->waited;
    fn(&use, ctx);
  }
}
