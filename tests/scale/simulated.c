/* simulated.c - runs a workload on a simulated machine and prints what happened there.
 *
 * SPDX-License-Identifier: MIT */
#include "workload.h"

#include "engine/machine.h"

#include <sched/pool.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const scale_workload *workload;
static scale_run run = {.size = 1, .extra = -1};
static unsigned top_lines = 12;
static bool verbose, profile;

static struct {
  sm_time begin, end, busy;
  sm_counts counts;
  weft_stats before, after;
  uint64_t asks, pins;
} measured;

/* ---- counting what the library does not count: see the linker's --wrap ---- */

static uint64_t asks, pins;
void __real_wf_deque_ask(wf_deque *deque);
void __wrap_wf_deque_ask(wf_deque *deque);
void __real_wf_deque_pin(wf_deque *deque);
void __wrap_wf_deque_pin(wf_deque *deque);

void __wrap_wf_deque_ask(wf_deque *deque) {
  bool open = (wf_u64_peek(&deque->x_asked) & WF_ASKED_STATE_MASK) == WF_ASKED_NOT;
  __real_wf_deque_ask(deque);
  if (open) asks++;
}

void __wrap_wf_deque_pin(wf_deque *deque) {
  bool open = (wf_u64_peek(&deque->x_asked) & WF_ASKED_STATE_MASK) == WF_ASKED_NOT;
  __real_wf_deque_pin(deque);
  if (open) pins++;
}

/* ---- what workloads call ---- */

void scale_work(double ns) {
  sm_spend((sm_time)(ns * 1000));
}

double scale_now_ns(void) {
  return (double)sm_clock / 1000;
}

void scale_pause(double ns) {
  uint32_t word = 0;
  sm_wait(&word, 0, (sm_time)(ns * 1000));
}

void scale_begin(void) {
  measured.before = (weft_stats)WEFT_STATS_INIT;
  weft_pool_stats(run.pool, &measured.before);
  measured.asks = asks;
  measured.pins = pins;
  measured.counts = sm_count;
  measured.busy = sm_busy_time();
  sm_lines_reset();
  if (profile) sm_profile_begin();
  measured.begin = sm_clock;
}

void scale_end(void) {
  measured.end = sm_clock;
  if (profile) sm_profile_end();
  sm_profiles = false;
  sm_counts now = sm_count;
  measured.busy = sm_busy_time() - measured.busy;
  const uint64_t *b = (const uint64_t *)&measured.counts, *n = (const uint64_t *)&now;
  uint64_t difference[sizeof(sm_counts) / sizeof(uint64_t)];
  for (size_t i = 0; i < sizeof difference / sizeof difference[0]; i++)
    difference[i] = n[i] - b[i];
  memcpy(&measured.counts, difference, sizeof measured.counts);
  measured.asks = asks - measured.asks;
  measured.pins = pins - measured.pins;
  measured.after = (weft_stats)WEFT_STATS_INIT;
  weft_pool_stats(run.pool, &measured.after);
}

/* ---- names of cache lines ---- */

typedef struct place {
  const char *name;
  size_t begin;
} place;

static const place worker_places[] = {
    {"deque: owner", offsetof(wf_worker, deque)},
    {"deque: thieves", offsetof(wf_worker, deque.x_top)},
    {"spawned: owner", offsetof(wf_worker, spawned)},
    {"spawned: thieves", offsetof(wf_worker, spawned.x_top)},
    {"spawned: turn", offsetof(wf_worker, x_turn)},
    {"private", offsetof(wf_worker, pool)},
    {"terminate, thread", offsetof(wf_worker, thread)},
    {"arena", offsetof(wf_worker, arena)},
    {"statistics", offsetof(wf_worker, x_tasks)},
    {"park", offsetof(wf_worker, x_park)},
};
static const place pool_places[] = {
    {"pool: constants", 0},
    {"pool: injector", offsetof(weft_pool, injector)},
    {"pool: background", offsetof(weft_pool, background)},
    {"pool: counters of idle", offsetof(weft_pool, sleep)},
    {"pool: pointers to sets", offsetof(weft_pool, sleep.x_sets)},
    {"pool: wakes", offsetof(weft_pool, sleep.x_wakes)},
    {"pool: looks, take-overs", offsetof(weft_pool, sleep.x_looks)},
    {"pool: steering", offsetof(weft_pool, steering)},
    {"pool: other", offsetof(weft_pool, broadcast_lock)},
    {"pool: injected_done", offsetof(weft_pool, x_injected_done)},
    {"pool: generation", offsetof(weft_pool, x_generation)},
};
static const char *const set_names[] = {"set: present", "set: background",
                                        "set: idle",    "set: helpers",
                                        "set: closed",  "set: stand-ins"};

static const char *place_of(const place *places, size_t count, size_t offset) {
  size_t line = offset & ~(size_t)(SM_LINE - 1), i = count - 1;
  while (i > 0 && (places[i].begin & ~(size_t)(SM_LINE - 1)) > line) i--;
  return places[i].name;
}

typedef struct line_name {
  const char *name;
  int worker; /* or -1 */
} line_name;

static line_name name_of(uintptr_t address) {
  const weft_pool *pool = run.pool;
  size_t offset = address - (uintptr_t)pool->workers;
  if (offset < pool->slots * sizeof(wf_worker))
    return (line_name){place_of(worker_places,
                                sizeof worker_places / sizeof worker_places[0],
                                offset % sizeof(wf_worker)),
                       (int)(offset / sizeof(wf_worker))};
  offset = address - (uintptr_t)pool;
  if (offset < sizeof *pool)
    return (line_name){
        place_of(pool_places, sizeof pool_places / sizeof pool_places[0], offset), -1};
  offset = address - (uintptr_t)pool->x_present;
  size_t stride = (pool->words * sizeof(wf_u64) + SM_LINE - 1) / SM_LINE * SM_LINE;
  if (offset < (2 + WF_SLEEPER_KINDS) * stride)
    return (line_name){set_names[offset / stride], -1};
  if (sm_heap_is_stack(address)) return (line_name){"stacks", -1};
  uintptr_t heap = address - (uintptr_t)sm_heap_low;
  return (line_name){heap < (uintptr_t)1 << SM_HEAP_LOG2 ? "heap" : "static", -1};
}

typedef struct kind_total {
  const char *name;
  uint64_t misses, hottest;
  sm_time queued, waited;
  int worker; /* of the hottest */
} kind_total;

static kind_total kinds[64];
static unsigned kind_count;
static uint64_t all_misses, hottest_misses;
static uint64_t worker_line_misses; /* the most, of one line of a worker */

static void add_line(const sm_line_use *use, void *ctx) {
  (void)ctx;
  line_name name = name_of(use->address);
  unsigned i = 0;
  while (i < kind_count && strcmp(kinds[i].name, name.name) != 0) i++;
  if (i == kind_count) kinds[kind_count++] = (kind_total){.name = name.name};
  kinds[i].misses += use->misses;
  kinds[i].queued += use->queued;
  kinds[i].waited += use->waited;
  all_misses += use->misses;
  if (use->misses > kinds[i].hottest) {
    kinds[i].hottest = use->misses;
    kinds[i].worker = name.worker;
  }
  if (use->misses > hottest_misses) hottest_misses = use->misses;
  if (name.worker >= 0 && use->misses > worker_line_misses)
    worker_line_misses = use->misses;
}

static int more_misses(const void *a, const void *b) {
  const kind_total *x = a, *y = b;
  return (x->misses < y->misses) - (x->misses > y->misses);
}

/* ---- output: one JSON object ---- */

#define STAT(name) (double)(measured.after.name - measured.before.name)

static void print_result(double seconds, uint64_t accesses) {
  const sm_counts *c = &measured.counts;
  double ns = (double)(measured.end - measured.begin) / 1000;
  sm_lines_each(add_line, NULL);
  qsort(kinds, kind_count, sizeof kinds[0], more_misses);
  printf("{\"workload\": \"%s\", \"machine\": \"%s\", \"cpus\": %u, \"threads\": %u, "
         "\"ns\": %.0f, \"work_ns\": %.0f, \"extra_ns\": %.0f, \"efficiency\": %.4f, "
         "\"busy\": %.4f,",
         workload->name, sm_now.name, sm_now.cpus, run.threads, ns, run.work_ns,
         run.extra,
         run.work_ns / ns / (run.threads < sm_now.cpus ? run.threads : sm_now.cpus),
         (double)measured.busy / 1000 / ns / sm_now.cpus);
  printf(" \"steals\": %.0f, \"asks\": %llu, \"pins\": %llu, \"exposes\": %.0f, "
         "\"takeovers\": %.0f, \"barriers\": %llu, \"wakes\": %.0f, \"sleeps\": %.0f, "
         "\"futile\": %.0f, \"failed\": %.0f, \"preemptions\": %llu,",
         STAT(steals), (unsigned long long)measured.asks,
         (unsigned long long)measured.pins, STAT(exposes), STAT(takeovers),
         (unsigned long long)c->barriers, STAT(wakes), STAT(sleeps), STAT(futile),
         STAT(failed_steals), (unsigned long long)c->preemptions);
  printf(" \"accesses\": %llu, \"neighbour\": %llu, \"cluster\": %llu, \"socket\": %llu, "
         "\"memory\": %llu, \"queued_ns\": %.0f, \"misses\": %llu, \"hottest\": %llu, "
         "\"worker_line\": %llu,",
         (unsigned long long)c->accesses, (unsigned long long)c->found[SM_NEIGHBOUR],
         (unsigned long long)c->found[SM_CLUSTER],
         (unsigned long long)c->found[SM_SOCKET], (unsigned long long)c->found[SM_MEMORY],
         (double)c->queued / 1000, (unsigned long long)all_misses,
         (unsigned long long)hottest_misses, (unsigned long long)worker_line_misses);
  printf(" \"futex_waits\": %llu, \"futex_wakes\": %llu, \"yields\": %llu, "
         "\"relaxes\": %llu, \"fences\": %llu, \"rmws\": %llu,",
         (unsigned long long)c->waits, (unsigned long long)c->wakes,
         (unsigned long long)c->yields, (unsigned long long)c->relaxes,
         (unsigned long long)c->fences, (unsigned long long)c->rmws);
  printf(" \"lines\": [");
  for (unsigned i = 0; i < kind_count && i < top_lines; i++)
    printf("%s{\"name\": \"%s\", \"misses\": %llu, \"hottest\": %llu, \"worker\": %d, "
           "\"queued_ns\": %.0f}",
           i > 0 ? ", " : "", kinds[i].name, (unsigned long long)kinds[i].misses,
           (unsigned long long)kinds[i].hottest, kinds[i].worker,
           (double)kinds[i].queued / 1000);
  printf("]}\n");
  /* Not part of the result, which is the same in each run. */
  if (verbose)
    fprintf(stderr, "%.3f s on the host, %.1f million accesses a second\n", seconds,
            (double)accesses / seconds / 1e6);
}

/* ---- where the time went: --profile ---- */

static bool searches_now(void) {
  return wf_self != NULL &&
         wf_u32_peek(&wf_worker_of(wf_self)->x_state) != WF_STATE_WORKING;
}

static const char *const spent_names[] = {"work",   "lines",   "search", "pause",
                                          "system", "barrier", "asleep"};
_Static_assert(sizeof spent_names / sizeof spent_names[0] == SM_SPENT_KINDS, "names");

/* How many CPUs did what between two times, on average. */
static void print_spent(sm_time from, sm_time to) {
  double length = (double)(to - from), rest = sm_now.cpus;
  fprintf(stderr, "%9.1f", (double)from / 1e6);
  for (int i = 0; i < SM_SPENT_KINDS; i++) {
    double mean = (double)sm_profile_sum((sm_spent)i, from, to) / length;
    fprintf(stderr, " %8.1f", mean);
    rest -= mean;
  }
  fprintf(stderr, " %8.1f\n", rest);
}

static int longer_waits(const void *a, const void *b) {
  const kind_total *x = a, *y = b;
  return (x->waited < y->waited) - (x->waited > y->waited);
}

static void print_profile(void) {
  enum { STEPS = 40 };
  sm_time total = measured.end - measured.begin;
  sm_time step = (total / STEPS / 1000000 + 1) * 1000000;
  fprintf(stderr, "CPUs that do this, on average, from that microsecond on:\n%9s", "us");
  for (int i = 0; i < SM_SPENT_KINDS; i++) fprintf(stderr, " %8s", spent_names[i]);
  fprintf(stderr, " %8s\n", "other");
  for (sm_time at = 0; at < total; at += step) print_spent(at, at + step);
  fprintf(stderr, "all:\n");
  print_spent(0, (total / 1000000 + 1) * 1000000);
  qsort(kinds, kind_count, sizeof kinds[0], longer_waits);
  fprintf(stderr, "CPUs that wait for lines, on average:\n");
  for (unsigned i = 0; i < kind_count && i < top_lines; i++)
    fprintf(stderr, "%9.2f %s: %llu misses, hottest %llu of worker %d\n",
            (double)kinds[i].waited / (double)total, kinds[i].name,
            (unsigned long long)kinds[i].misses, (unsigned long long)kinds[i].hottest,
            kinds[i].worker);
}

static double host_seconds(void) {
  return (double)clock() / CLOCKS_PER_SEC;
}

static void simulate(void *ctx) {
  (void)ctx;
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = run.threads;
  if (weft_pool_create(&run.pool, &config) != 0) abort();
  double start = host_seconds();
  workload->fn(&run);
  print_result(host_seconds() - start, sm_count.accesses);
  if (profile) print_profile();
  weft_pool_destroy(run.pool);
}

static int usage(void) {
  fprintf(stderr,
          "usage: scale --machine FILE [--cpus N] [--threads N] [--size X] [--seed N]\n"
          "             [--set NAME=VALUE] [--profile] [--verbose] WORKLOAD\n");
  for (const scale_workload *w = scale_first; w != NULL; w = w->next)
    fprintf(stderr, "  %-16s %s\n", w->name, w->about);
  return 2;
}

int main(int argc, char **argv) {
  const char *machine = NULL;
  unsigned cpus = 0;
  uint64_t seed = 1;
  const char *changes[16];
  unsigned change_count = 0;
  for (int i = 1; i < argc; i++) {
    bool has_value = i + 1 < argc;
    if (strcmp(argv[i], "--verbose") == 0)
      verbose = true;
    else if (strcmp(argv[i], "--profile") == 0)
      profile = true;
    else if (argv[i][0] != '-')
      workload = scale_find(argv[i]);
    else if (!has_value)
      return usage();
    else if (strcmp(argv[i], "--machine") == 0)
      machine = argv[++i];
    else if (strcmp(argv[i], "--cpus") == 0)
      cpus = (unsigned)strtoul(argv[++i], NULL, 10);
    else if (strcmp(argv[i], "--threads") == 0)
      run.threads = (unsigned)strtoul(argv[++i], NULL, 10);
    else if (strcmp(argv[i], "--size") == 0)
      run.size = strtod(argv[++i], NULL);
    else if (strcmp(argv[i], "--seed") == 0)
      seed = strtoull(argv[++i], NULL, 10);
    else if (strcmp(argv[i], "--set") == 0 && change_count < 16)
      changes[change_count++] = argv[++i];
    else
      return usage();
  }
  if (machine == NULL || workload == NULL) return usage();
  if (!sm_machine_read(machine)) return 2;
  if (cpus != 0) sm_machine_resize(cpus);
  for (unsigned i = 0; i < change_count; i++)
    if (!sm_machine_set(changes[i])) return 2;
  if (run.threads == 0) run.threads = sm_now.cpus;
  sm_searches = searches_now;
  sm_heap_init(seed);
  sm_memory_init();
  sm_run(simulate, NULL);
  return 0;
}
