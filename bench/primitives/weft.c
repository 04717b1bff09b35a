/* primitives/weft.c - what each step of the library costs, beside the least that a
 * machine asks for it, measured in turn in one process.
 *
 * `weft` is the step. The limit is an atomic operation that nobody else wants (`atomic`),
 * a cache line that comes from another CPU (`line`), one that goes and comes
 * (`round-trip`), a call of the futex that wakes nobody (`futex`), a thread that is woken
 * by a futex (`futex-wake`, the waker's time; `futex-cycle`, the CPU time of its wake-up
 * and the sleep that follows), or a process-wide barrier (`membarrier`).
 *
 * Usage: primitives_weft STEP     needs: WEFT_IDLE_LOW_LATENCY
 *
 * SPDX-License-Identifier: MIT */
#include "deques.h"
#include <sched/search.h>

/* ---- inside a pool ---- */

static void nothing(void *ctx) {
  (void)ctx;
}
static void nothing_each(unsigned index, unsigned count, void *ctx) {
  (void)index, (void)count, (void)ctx;
}
static void nothing_range(size_t begin, size_t end, void *ctx) {
  (void)begin, (void)end, (void)ctx;
}

static void step_join(void) {
  weft_join(nothing, NULL, nothing, NULL);
}
static void step_yield(void) {
  weft_yield();
}
static void step_search(void) {
  wf_work work;
  bench_check("search", wf_search_anything(wf_worker_now(), &work), false);
}
static void step_loop(void) {
  weft_for(2, nothing_range, NULL);
}
static void step_scope(void) {
  weft_scope scope;
  weft_scope_begin(&scope);
  weft_scope_end(&scope);
}
static void step_spawn(void) {
  weft_scope scope;
  weft_scope_begin(&scope);
  weft_spawn(&scope, nothing, NULL);
  weft_scope_end(&scope);
}
static void step_handle(void) {
  weft_handle *handle;
  bench_check("handle", (uint64_t)weft_async(&handle, nothing, NULL), 0);
  weft_handle_wait(handle);
}
static void step_broadcast(void) {
  weft_broadcast(nothing_each, NULL);
}
static void step_blocking(void) {
  weft_blocking_begin();
  weft_blocking_end();
}
static void step_enter(void) {
  weft_pool_run(NULL, nothing, NULL);
}

static void (*step_now)(void);
static double step_ns;

static void repeat(void *ctx) {
  enum { TIMES = 100 };
  (void)ctx;
  double before = bench_now_ns();
  for (int i = 0; i < TIMES; i++) step_now();
  step_ns = (bench_now_ns() - before) / TIMES;
}

static double inside(void) {
  weft_pool_run(NULL, repeat, NULL);
  return step_ns;
}

static double outside(void) {
  repeat(NULL);
  return step_ns;
}

/* ---- handed in by a thread outside ---- */

static _Alignas(64) uint32_t received;

static void receive(void *ctx) {
  (void)ctx;
  __atomic_store_n(&received, 1, __ATOMIC_RELEASE);
}

static double hand_in(double *answered) {
  __atomic_store_n(&received, 0, __ATOMIC_RELAXED);
  double before = bench_now_ns();
  bench_check("inject", (uint64_t)weft_detach(receive, NULL), 0);
  double called = bench_now_ns();
  if (answered == NULL) return called - before;
  while (__atomic_load_n(&received, __ATOMIC_ACQUIRE) == 0) wf_sys_relax();
  *answered = bench_now_ns() - before;
  return called - before;
}

/* The pool is awake, as the last one has come just before. */
static double inject(void) {
  double sum = 0, answered;
  for (int i = 0; i < LINES; i++) sum += hand_in(&answered);
  return sum / LINES;
}

static double inject_and_receive(void) {
  double sum = 0;
  for (int i = 0; i < LINES; i++) {
    double answered;
    hand_in(&answered);
    sum += answered;
  }
  return sum / LINES;
}

/* ---- from asleep, and back ---- */

enum { REST_US = 2000, CYCLES = 8 };

static double cpu_of_others(void) {
  return bench_cpu_ns() - bench_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static double wake(void) {
  double sum = 0;
  for (int i = 0; i < CYCLES; i++) {
    bench_sleep_us(REST_US);
    sum += hand_in(NULL);
  }
  return sum / CYCLES;
}

static double sleep_cycle(void) {
  bench_sleep_us(REST_US);
  double before = cpu_of_others();
  wake();
  bench_sleep_us(REST_US);
  return (cpu_of_others() - before) / CYCLES;
}

static double futex_wake(void) {
  double sum = 0;
  for (int i = 0; i < CYCLES; i++) {
    bench_sleep_us(REST_US);
    double before = bench_now_ns();
    wake_sleeper();
    sum += bench_now_ns() - before;
  }
  return sum / CYCLES;
}

static double futex_cycle(void) {
  bench_sleep_us(REST_US);
  double before = cpu_of_others();
  futex_wake();
  bench_sleep_us(REST_US);
  return (cpu_of_others() - before) / CYCLES;
}

/* ---- the table ---- */

typedef struct step {
  const char *name, *limit;
  double (*ours)(void), (*least)(void);
  void (*prepare)(void); /* deques, or NULL */
  void (*run)(void);     /* what `inside` and `outside` repeat, or NULL */
  unsigned threads;      /* of a pool, or 0: there is none */
  bool far;              /* needs a partner on another CPU */
} step;

static const step steps[] = {
    {"push", "atomic", push_many, atomic_operation, make_own, NULL, 0, false},
    {"pop", "atomic", pop_many, atomic_operation, make_own, NULL, 0, false},
    {"steal", "line", steal_each, line_transfer, make_eager, NULL, 0, true},
    {"ask", "line", ask_each, line_transfer, make_private, NULL, 0, true},
    {"take-over", "membarrier", take_over_each, barrier, make_private, NULL, 0, true},
    {"inject", "line", inject, line_transfer, NULL, NULL, 2, true},
    {"receive", "round-trip", inject_and_receive, round_trip, NULL, NULL, 2, true},
    {"yield", "atomic", inside, atomic_operation, NULL, step_yield, 2, false},
    {"sleep", "futex-cycle", sleep_cycle, futex_cycle, NULL, NULL, 2, false},
    {"wake", "futex-wake", wake, futex_wake, NULL, NULL, 2, false},
    {"search", "atomic", inside, atomic_operation, NULL, step_search, 2, false},
    {"search-64", "atomic", inside, atomic_operation, NULL, step_search, 64, false},
    {"join", "atomic", inside, atomic_operation, NULL, step_join, 2, false},
    {"enter", "atomic", outside, atomic_operation, NULL, step_enter, 2, false},
    {"loop", "atomic", inside, atomic_operation, NULL, step_loop, 2, false},
    {"scope", "atomic", inside, atomic_operation, NULL, step_scope, 2, false},
    {"spawn", "atomic", inside, atomic_operation, NULL, step_spawn, 2, false},
    {"handle", "atomic", inside, atomic_operation, NULL, step_handle, 2, false},
    {"broadcast", "futex", inside, futex_call, NULL, step_broadcast, 2, false},
    {"blocking", "atomic", inside, atomic_operation, NULL, step_blocking, 2, false}};

static const step *find_step(int argc, char **argv) {
  enum { COUNT = sizeof steps / sizeof *steps };
  const char *names[COUNT];
  for (int i = 0; i < COUNT; i++) names[i] = steps[i].name;
  return &steps[bench_choose(argc, argv, 1, names, COUNT)];
}

static void measure(const step *s) {
  bench_limits limits = bench_choose_limits();
  bench_samples ours = {NULL, 0, 0}, least = {NULL, 0, 0};
  double start = bench_now_ns();
  s->least();
  s->ours();
  do {
    bench_add(&least, s->least());
    if (s->far && s->threads != 0)
      by_partner(go_to_rest, NULL); /* for the pool's threads */
    bench_add(&ours, s->ours());
  } while (bench_now_ns() - start < limits.enough_ns || ours.count < 3);
  bench_print_times("weft", &ours);
  bench_print_times(s->limit, &least);
  bench_print("weft", "of_limit_x",
              bench_quantile(&ours, 0.5) / bench_quantile(&least, 0.5));
  free(ours.values);
  free(least.values);
}

static void start_pool(const step *s) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = s->threads;
  if (s->far) config.idle = WEFT_IDLE_LOW_LATENCY;
  bench_check("weft", (uint64_t)weft_init(&config), 0);
}

int main(int argc, char **argv) {
  const step *s = find_step(argc, argv);
  pthread_t sleeper;
  bool has_barrier = wf_sys_barrier_prepare();
  if (!has_barrier) fprintf(stderr, "primitives: no process-wide barrier\n");
  /* No other CPU, or no barrier, and so no figure. */
  if ((s->far && is_alone()) || (s->least == barrier && !has_barrier)) {
    bench_passed_alone();
    return 0;
  }
  if (pthread_create(&sleeper, NULL, sleeper_main, NULL) != 0) return 2;
  while (__atomic_load_n(&sleeper_number, __ATOMIC_ACQUIRE) == 0) bench_sleep_us(100);
  if (s->threads != 0) start_pool(s);
  step_now = s->run;
  pthread_t thread = 0;
  if (s->far) thread = start_partner();
  if (s->prepare != NULL) s->prepare();
  measure(s);
  if (s->far) {
    by_partner(NULL, NULL);
    pthread_join(thread, NULL);
  }
  __atomic_store_n(&bed, UINT32_MAX, __ATOMIC_RELEASE);
  bench_futex_wake(&bed);
  pthread_join(sleeper, NULL);
  bench_passed_alone();
  weft_shutdown();
  return 0;
}
