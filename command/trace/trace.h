/* trace/trace.h - a trace in memory: lanes, slices, arrows, and what they add up to.
 *
 * read.c fills it from a file event by event (event.c), analyse.c computes times and
 * shares, findings.c says in words what stands out, page.c writes the timeline page.
 * `weft view`, `weft top` and `weft doctor` use them. All times are nanoseconds since the
 * start of the trace.
 *
 * SPDX-License-Identifier: MIT */
#ifndef COMMAND_TRACE_TRACE_H
#define COMMAND_TRACE_TRACE_H

#include "../base/json.h"
#include "../base/text.h"

typedef enum slice_kind {
  SLICE_TASK,
  SLICE_CALL,  /* a whole parallel call, on the thread that made it */
  SLICE_BLOCK, /* one block of a loop */
  SLICE_SCOPE,
  SLICE_WAIT,
  SLICE_BLOCKING,
  SLICE_IDLE,
  SLICE_SLEEP,
  SLICE_KINDS
} slice_kind;

/* Slices of one lane are sorted by begin, outer ones first, and properly nested. */
typedef struct slice {
  uint64_t begin, end;
  uint64_t self;        /* the time outside the slices within it */
  uint64_t first, last; /* SLICE_BLOCK: the range; SLICE_CALL: 0 and n */
  uint64_t late;        /* SLICE_SLEEP: from the wake-up call until it ran; 0: unknown */
  uint32_t name;        /* index into names */
  uint32_t lane;
  uint32_t order; /* in the file */
  int32_t other;  /* lane of the victim or the waker, -1: none */
  uint8_t kind;
  bool has_range, open;
} slice;

typedef enum lane_state {
  STATE_OUTSIDE, /* not in a pool, or not known */
  STATE_WORKING,
  STATE_SEARCHING,
  STATE_ASLEEP,
  STATE_BLOCKED,
  STATE_COUNT
} lane_state;

/* One stretch of a lane in one state. Stretches of STATE_OUTSIDE are left out. */
typedef struct stretch {
  uint64_t begin, end;
  uint16_t state;
} stretch;

typedef struct lane_stats { /* the event weft_stats, -1 where it is missing */
  double tasks, steals, failed_steals, exposes, takeovers, injected, sleeps, wakes,
      futile, misplaced, steered, deepest, working_ns, searching_ns, asleep_ns;
} lane_stats;

typedef struct lane {
  uint64_t pid, tid;
  char name[48];
  int pool, worker; /* -1: not known */
  bool started;     /* a thread of the pool, which searches when it has no work */
  bool has_stats;
  lane_stats stats;
  size_t slice_first, slice_count;
  stretch *stretches;
  size_t stretch_count, stretch_capacity;
  double state_ns[STATE_COUNT];
  uint64_t begin, end; /* of its first and last slice */
} lane;

typedef enum arrow_kind { ARROW_STEAL, ARROW_WAKE } arrow_kind;

typedef struct arrow {
  uint64_t from_time, to_time;
  uint32_t from_lane, to_lane;
  uint8_t kind;
} arrow;

typedef enum mark_kind {
  MARK_FRAME,
  MARK_EXPOSE,
  MARK_TAKEOVER,
  MARK_INJECT,
  MARK_NOTE,
  MARK_KINDS
} mark_kind;

typedef struct mark {
  uint64_t time;
  uint32_t lane, name;
  double number; /* tasks that were exposed, the number of the frame, lost records */
  uint8_t kind;
} mark;

/* What slices of one name add up to. */
typedef struct name_total {
  uint32_t name;
  uint8_t kind;
  uint64_t count, longest;
  size_t longest_slice;
  double total_ns;
} name_total;

typedef enum severity {
  SEVERITY_GOOD,
  SEVERITY_NOTE,
  SEVERITY_WARNING,
  SEVERITY_BAD
} severity;

typedef struct finding {
  severity severity;
  const char *id; /* a word for programs: "serial", "large-blocks", ... */
  char *title, *words, *advice;
  uint64_t begin, end; /* where to look; both 0: everywhere */
  int lane;            /* -1: none */
} finding;

typedef struct trace {
  /* The file. */
  char program[256], version[32], started[40], reason[40];
  double pid, cpus;
  bool complete; /* it was ended in order */
  bool cut_short;
  bool from_weft;
  double dropped, dropped_short, shortest_ns;
  size_t events, repaired;
  /* Of the process while the trace ran: CPU time, time in which threads were ready to run
   * and had no CPU, how often one stopped to wait, and how often the system took its CPU
   * away. 0: not known. */
  double cpu_ns, starved_ns, waits, preemptions;
  /* Of the whole run, as doctor.c measures it: 0: not known. */
  double run_ns, run_cpu_ns;

  lane *lanes;
  size_t lane_count, lane_capacity;
  slice *slices;
  size_t slice_count, slice_capacity;
  arrow *arrows;
  size_t arrow_count, arrow_capacity;
  mark *marks;
  size_t mark_count, mark_capacity;
  char **names;
  size_t name_count, name_capacity;
  uint32_t *name_table; /* hash table of indices + 1 into names */
  size_t name_table_size;

  /* Computed by trace_analyse. */
  double duration_ns;
  double threads; /* of all pools; the callers count as one thread of a pool */
  double state_ns[STATE_COUNT];
  double nobody_ns; /* no lane was at work */
  double alone_ns;  /* exactly one was */
  double work_ns;   /* all time at work */
  double span_ns;   /* estimate of the shortest time with any number of threads */
  /* How many times faster than one thread. The time in which no worker was at work counts
   * as serial: nobody knows better. */
  double speedup;      /* it was */
  double speedup_here; /* it could be on as many threads, with perfect balance */
  double speedup_max;  /* on any number of threads */
  stretch *levels;     /* `state` is how many lanes were at work */
  size_t level_count;
  stretch *search_levels; /* the same for lanes that searched */
  size_t search_level_count;
  double *slack, *worked; /* before each level; see trace_slack_before */
  name_total *totals;     /* longest total first */
  size_t total_count;
  uint32_t *longest; /* slices, longest self time first */
  size_t longest_count;
  double *steals; /* lane_count * lane_count: [thief * lane_count + victim] */
  size_t steal_count;
  finding *findings; /* worst first */
  size_t finding_count, finding_capacity;
} trace;

/* Reads a trace of weft, or of another program that writes Chrome's format. False, and
 * *problem (of 200 bytes) says why, if that is impossible. */
bool trace_read(trace *t, const char *path, char *problem);
bool trace_parse(trace *t, const char *chars, size_t length, char *problem);
void trace_analyse(trace *t);
void trace_find(trace *t); /* after trace_analyse */
void trace_free(trace *t);

/* The name of a slice with its range, for people. Valid until the second call from now.
 */
const char *trace_slice_name(const trace *t, const slice *s);
const char *state_name(lane_state state);
const char *kind_name(slice_kind kind);

/* The time before `time` in which fewer than `threads` lanes were at work, and the sum of
 * lanes at work over time. */
double trace_slack_before(const trace *t, uint64_t time);
double trace_work_before(const trace *t, uint64_t time);

/* Everything that was computed, as JSON for programs. */
void trace_write_summary(const trace *t, json_writer *w);

/* The timeline page. */
void trace_write_page(const trace *t, text *page);

#endif
