/* engine.h - what the files of the explorer's engine offer each other.
 *
 * SPDX-License-Identifier: MIT */
#ifndef EXPLORE_ENGINE_H
#define EXPLORE_ENGINE_H

#include "atomic.h"
#include "explore.h"

enum { XP_SELF_SETUP = 0, XP_CPUS = 2 };

/* ---- coroutine.c ---- */

typedef struct xp_context {
  void *sp;
} xp_context;

/* Saves the running code in `from` and goes on with `to`. */
void xp_switch(xp_context *from, xp_context *to);
/* A context that calls entry() on the stack; entry does not return. */
void xp_context_make(xp_context *context, char *stack_low, size_t size,
                     void (*entry)(void));

/* ---- search.c: choices ---- */

typedef enum xp_choice {
  XP_CHOOSE_THREAD,
  XP_CHOOSE_STORE,    /* RA: which store is read, or overtaken */
  XP_CHOOSE_FLUSH,    /* TSO: does another thread's store buffer come first? */
  XP_CHOOSE_WAITER,   /* who is woken */
  XP_CHOOSE_FAULT,    /* spurious return, failing allocation or thread, weak CAS */
  XP_CHOOSE_SCENARIO, /* xp_any */
  XP_CHOICE_KINDS
} xp_choice;

/* One of 0 .. n-1; 0 is what happens in the ordinary course. */
unsigned xp_choose(xp_choice kind, unsigned n);

/* How schedules come about. */
typedef enum xp_search_kinds {
  XP_SEARCH_ALL,
  XP_SEARCH_RANDOM,
  XP_SEARCH_REPLAY
} xp_search_kinds;
xp_search_kinds xp_search_kind(void);
/* Not XP_SEARCH_ALL: one of the threads. The first is the ordinary course. */
unsigned xp_choose_thread(const unsigned *threads, unsigned n);
/* XP_SEARCH_ALL has taken this thread, out of the ordinary course. */
void xp_note_thread(unsigned thread);

/* The schedule of this execution, as text that replays it. */
const char *xp_schedule_text(void);
/* Runs the scenario once as the text says; false if the text is malformed. */
bool xp_replay(const xp_scenario *scenario, xp_mode mode, const char *text, bool tracing,
               xp_result *result);
/* Random schedules with priorities (PCT): `depth` - 1 changes of priority in each. */
xp_result xp_search_random(const xp_scenario *scenario, xp_mode mode, uint64_t executions,
                           unsigned depth, uint64_t seed);

/* About how many executions a search has, from samples. */
double xp_estimate(const xp_scenario *scenario, xp_mode mode, int bound, uint64_t samples,
                   uint64_t seed, xp_result *result);

/* The search that runs. */
typedef struct xp_run {
  const xp_scenario *scenario;
  xp_mode mode;
  int bound;       /* preemptions, or XP_UNBOUNDED */
  int stale_bound; /* or XP_UNBOUNDED */
  bool sleep_sets;
  bool tracing;

  /* Of this execution. */
  uint64_t number; /* counts up, over all searches */
  int preemptions, stale_reads;
  unsigned steps, spurious_left, allocations_left, threads_left, masks_left,
      timeouts_left;
  bool refuses_barrier;
  bool alone;      /* setup, check or invariant: no scheduling */
  bool discovered; /* a shared location was taken for a private one */
  bool pruned;     /* the rest is explored elsewhere */
  xp_failure failure;
  char message[512];
} xp_run;
extern xp_run xp_now;

/* Leaves the execution; back in the search. */
_Noreturn void xp_leave(void);

/* ---- threads.c ---- */

typedef enum xp_state {
  XP_READY,
  XP_WAITING,
  XP_JOINING,
  XP_SPINNING,
  XP_ENDED
} xp_state;
typedef enum xp_op_kind {
  XP_OP_START,
  XP_OP_READ,
  XP_OP_WRITE,
  XP_OP_FENCE,
  XP_OP_WAIT,
  XP_OP_WAKE,
  XP_OP_OTHER
} xp_op_kind;

enum { XP_SPIN_SET = 24, XP_TLS_MAX = 256 };

typedef struct xp_thread {
  xp_context context;
  char *stack_low;
  size_t stack_size;
  void (*fn)(void *arg);
  void *arg;
  xp_state state;
  /* The step it is about to take. */
  xp_op_kind op;
  uintptr_t op_address;
  uintptr_t live_sp;    /* frames below are not there any more */
  const void *waits_on; /* WAITING */
  bool timed;           /* WAITING: the wait ends by itself, some time or other */
  unsigned joins;       /* JOINING */
  uint64_t clock_ns;
  uint64_t cpus; /* that it may run on, one bit each */
  /* SPINNING: what it read since its last pause; it runs again when one is written. */
  uintptr_t spin_set[XP_SPIN_SET];
  unsigned spin_count;
  bool spin_any;
  bool written_for; /* something was */
  char tls[XP_TLS_MAX];
} xp_thread;

extern xp_thread xp_threads[XP_MAX_THREADS + 1];
extern unsigned xp_thread_count; /* with number 0 */
extern unsigned xp_current;

void xp_threads_begin(void);
/* Runs all threads until they have ended, or the execution was left. */
void xp_threads_run(void);
unsigned xp_thread_add(void (*fn)(void *), void *arg);
/* Is there another thread whose work is not ordered before the calling one's? */
bool xp_threads_concurrent(void);
/* The calling thread is about to take a step that others can notice: lets others run
 * first, if the search wants that. */
void xp_schedule(xp_op_kind op, const void *address);
/* A word was written by a thread, or its store has reached memory: who spins on it may
 * run. */
void xp_written(const void *address, unsigned writer);
void xp_spin_note(const void *address);
/* The pause of a loop that waits for others. */
void xp_spin(void);
/* The calling thread cannot go on until another one makes it ready. */
void xp_block(xp_state state);
/* The same for a wait that ends by itself: at any step as long as the scenario's budget
 * lasts, and when nobody else can run. False if that has ended it. */
bool xp_block_timed(void);
/* A thread that has ended was joined. */
void xp_joined(void);
/* Is the address in a stack? Of one there: has its thread left the frame? Is it in a
 * frame that another thread has left? */
bool xp_on_stack(uintptr_t address);
bool xp_stack_is_left(uintptr_t address);
bool xp_in_dead_frame(uintptr_t address);
/* One step more; too many are a livelock. */
void xp_count_step(void);
/* After a step: the invariant. */
void xp_after_step(void);
void xp_threads_init(void);

/* ---- memory.c ---- */

void xp_memory_reset_search(void);
void xp_memory_begin(void);
/* From here on there are several threads: who touched what before is of no matter. */
void xp_memory_forget_touches(void);
void xp_memory_end(void); /* gives static words their first values back */
void xp_memory_thread_start(unsigned parent, unsigned child);
void xp_memory_thread_join(unsigned joiner, unsigned ended);
/* To free memory is a step if others use words in it. */
void xp_memory_before_free(const void *memory, size_t size);
uint64_t xp_memory_newest(const void *p, unsigned size);
/* The futex's look at a word: newest value, which the thread has seen then. */
uint64_t xp_memory_look(const void *p, unsigned size);
void xp_memory_barrier_all(void);
void xp_memory_drain(unsigned thread); /* TSO */
bool xp_memory_drain_all(void);        /* true if something was there */
/* The happens-before clock of a thread, and its own entry there. */
const uint32_t *xp_memory_clock(unsigned thread);

/* ---- heap.c ---- */

void xp_heap_init(void);
void xp_heap_begin(void);
void xp_heap_check_leaks(void);
bool xp_heap_is_dead(uintptr_t address);
bool xp_heap_owns(uintptr_t address);
/* Memory outside the heap that the scenario has declared dead. */
bool xp_declared_dead(uintptr_t address);
/* Memory for stacks, at an address that is the same in each run of the program. */
char *xp_heap_stack(size_t size);

/* ---- races.c ---- */

void xp_races_begin(void);

/* ---- cover.c ---- */

/* Writes to a file which scenario reaches which accesses as steps, that is, to words that
 * several threads use at the time. Off unless opened. */
void xp_cover_open(const char *path);
void xp_cover(const void *pc);
void xp_cover_end(const xp_scenario *scenario);

/* ---- report.c ---- */

void xp_trace(const char *format, ...) __attribute__((format(printf, 1, 2)));
void xp_trace_access(const char *what, const void *p, xp_order order, uint64_t value,
                     const void *pc);
void xp_trace_begin(void);
void xp_trace_print(void);
const char *xp_failure_name(xp_failure kind);
const char *xp_mode_name(xp_mode mode);
void xp_report_signals(void);

#endif
