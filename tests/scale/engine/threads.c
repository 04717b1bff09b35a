/* threads.c - threads on CPUs, by time: the thread with the lowest clock runs next.
 *
 * Each CPU runs one thread at a time and has a queue of threads that wait for it. A tree
 * over the CPUs says which of their threads has the lowest clock. The thread that runs
 * goes on until its clock has passed that of the next one. Threads are coroutines (those
 * of the explorer), and a switch goes directly from one to the other.
 *
 * The scheduler of the simulated kernel is a simple one. A woken thread goes to the CPU
 * where it was if that is idle, else to an idle one nearby, else to any idle one, else
 * into the queue of its CPU. A CPU that has nothing to do takes from the longest queue.
 * Threads change at the end of a time slice.
 *
 * SPDX-License-Identifier: MIT */
#include "machine.h"

#include "../../explore/engine/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STACK_SIZE = 1 << 20, TLS_MAX = 128, WAIT_LISTS = 4096 };
/* Long work is done in parts, so that a CPU sees queues and interrupts in time. */
#define WORK_PART (20000 * SM_NS)

typedef enum state { READY, RUNNING, WAITING, JOINING, ENDED } state;

typedef struct thread {
  xp_context context;
  sm_time clock, stores_end;
  state state;
  int cpu;             /* that it runs on, or ran on last */
  struct thread *next; /* in the queue of a CPU, or in a list of waiting threads */
  const void *waits_on;
  sm_time deadline;  /* WAITING with a time limit */
  unsigned timer_at; /* its place in the heap of timers, + 1; 0: none */
  bool timed_out;
  struct thread *joiner;
  void (*fn)(void *);
  void *arg;
  char *stack;
  char tls[TLS_MAX];
} thread;

typedef struct cpu {
  thread *running; /* NULL: idle */
  thread *first, *last;
  unsigned queued;
  sm_time free_at;   /* idle since then, or the end of what it did last */
  sm_time slice_end; /* of the running thread */
  sm_time debt;      /* interrupts that the running thread has not paid for */
  sm_time busy, busy_since;
} cpu;

int sm_cpu;
sm_time sm_clock, sm_limit, sm_stores_end;

static thread threads[SM_MAX_THREADS];
static unsigned thread_count;
static thread *current;
static cpu cpus[SM_MAX_CPUS];
static unsigned queued_threads; /* on all CPUs */
static unsigned running_cpus;
static sm_time all_idle_since;   /* if no CPU runs */
static sm_time all_halted_until; /* no CPU had run for a while, the last time */
static thread *wait_lists[WAIT_LISTS];
static xp_context outside;
static sm_time barrier_free;

extern char __start_weft_tls, __stop_weft_tls;
static size_t tls_size;
static char tls_first[TLS_MAX];

/* ---- the tree of CPUs ---- */

enum { LEAVES = SM_MAX_CPUS };
static sm_time tree[2 * LEAVES];

static void tree_set(unsigned leaf, sm_time key) {
  unsigned i = LEAVES + leaf;
  tree[i] = key;
  for (i /= 2; i > 0; i /= 2) {
    sm_time a = tree[2 * i], b = tree[2 * i + 1];
    sm_time least = a < b ? a : b;
    if (tree[i] == least) return;
    tree[i] = least;
  }
}

/* The first CPU with the lowest clock. */
static unsigned tree_first(void) {
  unsigned i = 1;
  while (i < LEAVES) i = tree[2 * i] == tree[i] ? 2 * i : 2 * i + 1;
  return i - LEAVES;
}

/* ---- timers: a heap ---- */

static thread *timers[SM_MAX_THREADS];
static unsigned timer_count;

static bool timer_before(const thread *a, const thread *b) {
  return a->deadline != b->deadline ? a->deadline < b->deadline : a < b;
}

static void timer_put(unsigned at, thread *t) {
  timers[at] = t;
  t->timer_at = at + 1;
}

static void timer_up(unsigned at) {
  thread *t = timers[at];
  for (; at > 0 && timer_before(t, timers[(at - 1) / 2]); at = (at - 1) / 2)
    timer_put(at, timers[(at - 1) / 2]);
  timer_put(at, t);
}

static void timer_down(unsigned at) {
  thread *t = timers[at];
  for (;;) {
    unsigned child = 2 * at + 1;
    if (child >= timer_count) break;
    if (child + 1 < timer_count && timer_before(timers[child + 1], timers[child]))
      child++;
    if (!timer_before(timers[child], t)) break;
    timer_put(at, timers[child]);
    at = child;
  }
  timer_put(at, t);
}

static void timer_add(thread *t) {
  timer_put(timer_count++, t);
  timer_up(timer_count - 1);
}

static void timer_remove(thread *t) {
  if (t->timer_at == 0) return;
  unsigned at = t->timer_at - 1;
  t->timer_at = 0;
  thread *last = timers[--timer_count];
  if (last == t) return;
  timer_put(at, last);
  timer_up(at);
  timer_down(last->timer_at - 1);
}

/* ---- CPUs ---- */

static void queue_add(cpu *c, thread *t) {
  t->next = NULL;
  t->state = READY;
  if (c->first == NULL)
    c->first = t;
  else
    c->last->next = t;
  c->last = t;
  c->queued++;
  queued_threads++;
}

static thread *queue_take(cpu *c) {
  thread *t = c->first;
  if (t == NULL) return NULL;
  c->first = t->next;
  c->queued--;
  queued_threads--;
  return t;
}

/* A thread begins to run on an idle CPU, at `when` at the earliest. */
static void begin_on(unsigned number, thread *t, sm_time when) {
  cpu *c = &cpus[number];
  if (when < c->free_at) when = c->free_at;
  if (running_cpus++ == 0 && when > all_idle_since + sm_now.halts_after)
    all_halted_until = when;
  sm_note(SM_ASLEEP, c->free_at, when);
  t->state = RUNNING;
  t->cpu = (int)number;
  t->clock = when;
  if (t->stores_end < when) t->stores_end = when;
  c->running = t;
  c->debt = 0;
  c->busy_since = when;
  c->slice_end = when + sm_now.slice;
  tree_set(number, when);
}

/* The CPU has no thread any more, at `when`: takes the next one. */
static void end_on(unsigned number, sm_time when) {
  cpu *c = &cpus[number];
  c->busy += when - c->busy_since;
  c->running = NULL;
  c->free_at = when;
  if (--running_cpus == 0) all_idle_since = when;
  tree_set(number, SM_NEVER);
  thread *t = queue_take(c);
  if (t == NULL && queued_threads > 0) {
    cpu *longest = c;
    for (unsigned i = 0; i < sm_now.cpus; i++)
      if (cpus[i].queued > longest->queued) longest = &cpus[i];
    t = queue_take(longest);
  }
  if (t == NULL) return;
  sm_time ready = t->clock > when ? t->clock : when;
  begin_on(number, t, ready + sm_now.context_switch);
}

/* An idle CPU for a thread that was on CPU `last`, or -1. */
static int idle_cpu_near(unsigned last) {
  if (cpus[last].running == NULL) return (int)last;
  unsigned cluster = last / sm_now.cluster_cpus * sm_now.cluster_cpus;
  for (unsigned i = cluster; i < cluster + sm_now.cluster_cpus && i < sm_now.cpus; i++)
    if (cpus[i].running == NULL) return (int)i;
  for (unsigned i = 0; i < sm_now.cpus; i++) {
    unsigned at = (last + i) % sm_now.cpus;
    if (cpus[at].running == NULL) return (int)at;
  }
  return -1;
}

/* How long it takes until a thread runs on an idle CPU. A guest of which no CPU has run
 * for a while is further away than one CPU that has halted, and stays so for each CPU
 * until that one runs. */
static sm_time delay_on(const cpu *c, sm_time when) {
  if (when <= c->free_at + sm_now.halts_after) return sm_now.wake_delay;
  bool all_halted = running_cpus == 0 ? when > all_idle_since + sm_now.halts_after
                                      : c->free_at < all_halted_until;
  return all_halted && sm_now.wake_delay_all_halted > 0 ? sm_now.wake_delay_all_halted
                                                        : sm_now.wake_delay_halted;
}

/* A thread can run again, at `when`. */
static void make_ready(thread *t, sm_time when) {
  int idle = idle_cpu_near((unsigned)t->cpu);
  if (idle < 0) {
    t->clock = when;
    queue_add(&cpus[t->cpu], t);
    return;
  }
  begin_on((unsigned)idle, t, when + delay_on(&cpus[idle], when));
}

/* ---- who runs ---- */

static void save_current(void) {
  current->clock = sm_clock;
  current->stores_end = sm_stores_end;
}

static void fire_timer(void) {
  thread *t = timers[0];
  timer_remove(t);
  thread **at = &wait_lists[((uintptr_t)t->waits_on >> 2) % WAIT_LISTS];
  while (*at != t) at = &(*at)->next;
  *at = t->next;
  t->timed_out = true;
  make_ready(t, t->deadline);
}

static _Noreturn void deadlock(void) {
  fprintf(stderr, "the simulated machine has stopped: no thread can run\n");
  for (unsigned i = 0; i < thread_count; i++)
    fprintf(stderr, "  thread %u: state %d, clock %.3f us\n", i, threads[i].state,
            (double)threads[i].clock / 1e6);
  abort();
}

/* The thread with the lowest clock; it is out of the tree from then on. */
static thread *choose_next(void) {
  while (timer_count > 0 && timers[0]->deadline <= tree[1]) fire_timer();
  if (tree[1] >= SM_NEVER) deadlock();
  unsigned number = tree_first();
  cpu *c = &cpus[number];
  tree_set(number, SM_NEVER);
  thread *t = c->running;
  sm_note(SM_BARRIER, t->clock, t->clock + c->debt);
  t->clock += c->debt;
  c->debt = 0;
  return t;
}

static void set_limit(void) {
  sm_limit = tree[1];
  if (timer_count > 0 && timers[0]->deadline < sm_limit) sm_limit = timers[0]->deadline;
  const cpu *c = &cpus[sm_cpu];
  if (c->queued > 0 && c->slice_end < sm_limit) sm_limit = c->slice_end;
}

static void become(thread *t) {
  current = t;
  sm_cpu = t->cpu;
  sm_clock = t->clock;
  sm_stores_end = t->stores_end;
  set_limit();
}

/* Goes on with the thread that is next; the calling one has been put where it belongs. */
static void switch_to_next(thread *self) {
  thread *next = choose_next();
  if (next != self) {
    memcpy(self->tls, &__start_weft_tls, tls_size);
    memcpy(&__start_weft_tls, next->tls, tls_size);
    become(next);
    xp_switch(&self->context, &next->context);
  } else {
    become(next);
  }
}

/* The slice of the running thread is over and others wait for its CPU. */
static void preempt(void) {
  unsigned number = (unsigned)sm_cpu;
  sm_count.preemptions++;
  save_current();
  queue_add(&cpus[number], current);
  end_on(number, sm_clock);
}

void sm_step(void) {
  thread *self = current;
  cpu *c = &cpus[sm_cpu];
  if (c->queued > 0 && sm_clock >= c->slice_end) {
    preempt();
  } else {
    if (sm_clock >= c->slice_end) c->slice_end = sm_clock + sm_now.slice;
    save_current();
    tree_set((unsigned)sm_cpu, sm_clock);
  }
  switch_to_next(self);
}

void sm_spend(sm_time time) {
  while (time > WORK_PART) {
    sm_note(SM_WORK, sm_clock, sm_clock + WORK_PART);
    sm_clock += WORK_PART;
    time -= WORK_PART;
    sm_turn();
  }
  sm_note(SM_WORK, sm_clock, sm_clock + time);
  sm_clock += time;
  sm_turn();
}

/* The running thread cannot go on until somebody makes it ready. */
static void block(state why) {
  thread *self = current;
  self->state = why;
  save_current();
  end_on((unsigned)sm_cpu, sm_clock);
  switch_to_next(self);
}

/* ---- threads ---- */

unsigned sm_thread_self(void) {
  return (unsigned)(current - threads);
}

void sm_thread_stack(uintptr_t *low, size_t *size) {
  *low = (uintptr_t)current->stack;
  *size = STACK_SIZE;
}

static void thread_entry(void) {
  thread *self = current;
  self->fn(self->arg);
  self = current;
  sm_turn();
  self->state = ENDED;
  if (self->joiner != NULL) make_ready(self->joiner, sm_clock + sm_now.wake);
  block(ENDED);
  abort();
}

static thread *make_thread(void (*fn)(void *), void *arg) {
  if (thread_count == SM_MAX_THREADS) abort();
  thread *t = &threads[thread_count];
  t->fn = fn;
  t->arg = arg;
  t->cpu = (int)(thread_count % sm_now.cpus);
  t->stack = sm_heap_stack(STACK_SIZE);
  /* Tops of stacks at different places of a page, so that they do not share the sets of
   * the cache of the CPU that simulates. */
  size_t offset = thread_count * 320 % 4096;
  xp_context_make(&t->context, t->stack, STACK_SIZE - offset, thread_entry);
  memcpy(t->tls, tls_first, tls_size);
  thread_count++;
  return t;
}

unsigned sm_thread_start(void (*fn)(void *), void *arg) {
  sm_clock += sm_now.start_thread;
  sm_turn();
  thread *t = make_thread(fn, arg);
  make_ready(t, sm_clock);
  set_limit();
  return (unsigned)(t - threads);
}

void sm_thread_join(unsigned number) {
  thread *t = &threads[number];
  sm_turn();
  if (t->state == ENDED) return;
  t->joiner = current;
  block(JOINING);
}

void sm_thread_yield(void) {
  sm_count.yields++;
  sm_note(SM_SYSTEM, sm_clock, sm_clock + sm_now.yield);
  sm_clock += sm_now.yield;
  sm_turn();
  if (cpus[sm_cpu].queued == 0) return;
  thread *self = current;
  preempt();
  sm_count.preemptions--;
  switch_to_next(self);
}

static void run_first(void *arg) {
  thread *self = current;
  void **call = arg;
  void (*fn)(void *);
  memcpy(&fn, &call[0], sizeof fn);
  fn(call[1]);
  xp_switch(&self->context, &outside);
}

void sm_run(void (*main)(void *), void *arg) {
  tls_size = (size_t)(&__stop_weft_tls - &__start_weft_tls);
  if (tls_size > TLS_MAX) abort();
  memcpy(tls_first, &__start_weft_tls, tls_size);
  for (unsigned i = 0; i < 2 * LEAVES; i++) tree[i] = SM_NEVER;
  void *call[2];
  memcpy(&call[0], &main, sizeof main);
  call[1] = arg;
  thread *first = make_thread(run_first, call);
  begin_on(0, first, 0);
  become(choose_next());
  xp_switch(&outside, &first->context);
}

/* ---- waiting and waking ---- */

bool sm_wait(const uint32_t *word, uint32_t expected, sm_time timeout) {
  sm_count.waits++;
  if (sm_stores_end > sm_clock) sm_clock = sm_stores_end;
  sm_time began = sm_clock;
  sm_note(SM_SYSTEM, sm_clock, sm_clock + sm_now.wait);
  sm_clock += sm_now.wait / 2;
  sm_turn();
  if (*word != expected) return true;
  thread *self = current;
  thread **list = &wait_lists[((uintptr_t)word >> 2) % WAIT_LISTS];
  while (*list != NULL) list = &(*list)->next;
  *list = self;
  self->next = NULL;
  self->waits_on = word;
  self->timed_out = false;
  if (timeout < SM_NEVER) {
    self->deadline = began + timeout + sm_now.timer_slack;
    timer_add(self);
  }
  sm_clock += sm_now.wait / 2;
  block(WAITING);
  return !self->timed_out;
}

void sm_wake(const void *word, bool all) {
  sm_note(SM_SYSTEM, sm_clock, sm_clock + sm_now.wake_nobody);
  sm_clock += sm_now.wake_nobody;
  if (sm_stores_end > sm_clock) sm_clock = sm_stores_end;
  sm_turn();
  thread **at = &wait_lists[((uintptr_t)word >> 2) % WAIT_LISTS];
  unsigned woken = 0;
  while (*at != NULL && (all || woken == 0)) {
    thread *t = *at;
    if (t->waits_on != word) {
      at = &t->next;
      continue;
    }
    *at = t->next;
    timer_remove(t);
    /* The waker pays before the sleeper runs. */
    sm_note(SM_SYSTEM, sm_clock, sm_clock + sm_now.wake - sm_now.wake_nobody);
    sm_clock += sm_now.wake - sm_now.wake_nobody;
    make_ready(t, sm_clock > t->clock ? sm_clock : t->clock);
    woken++;
    sm_count.wakes++;
  }
  if (woken == 0) sm_count.wakes_of_nobody++;
  set_limit();
}

/* One at a time: recent versions of Linux hold a mutex meanwhile, membarrier_ipi_mutex in
 * kernel/sched/membarrier.c. */
void sm_barrier(void) {
  sm_count.barriers++;
  if (sm_stores_end > sm_clock) sm_clock = sm_stores_end;
  sm_turn();
  unsigned others = 0;
  sm_time began = sm_clock;
  if (barrier_free > sm_clock) sm_clock = barrier_free;
  for (unsigned i = 0; i < sm_now.cpus; i++) {
    if (cpus[i].running == NULL || (int)i == sm_cpu) continue;
    cpus[i].debt += sm_now.barrier_stop;
    others++;
  }
  sm_clock += sm_now.barrier + others * sm_now.barrier_cpu;
  barrier_free = sm_clock;
  sm_note(SM_BARRIER, began, sm_clock);
  sm_turn();
}

sm_time sm_busy_time(void) {
  sm_time sum = 0;
  for (unsigned i = 0; i < sm_now.cpus; i++) {
    sum += cpus[i].busy;
    if (cpus[i].running == NULL) continue;
    if (sm_clock > cpus[i].busy_since) sum += sm_clock - cpus[i].busy_since;
  }
  return sum;
}

void sm_profile_end(void) {
  for (unsigned i = 0; i < sm_now.cpus; i++)
    if (cpus[i].running == NULL) sm_profile_add(SM_ASLEEP, cpus[i].free_at, sm_clock);
}
