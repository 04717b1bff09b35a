/* common/bench.h - shared by all contestants: clock, statistics, the measuring loop,
 * checked results, the calibrated spin and a bare futex.
 *
 * A contestant is one process. It prints one fact per line on standard output,
 *
 *     contestant.metric value          weft.median_ns 64123456.0
 *     check answer ok                  check 9227465 ok
 *
 * and the harness collects these lines. A metric's name ends in its unit. Times are
 * printed twice, as best_ns and median_ns. A wrong answer ends the process with status 1.
 * All contestants of a case must print the same answer; "-" is not compared.
 *
 * Only a header, because every contestant is one file. Compiles as C11 and C++17.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_COMMON_BENCH_H
#define BENCH_COMMON_BENCH_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Every call of such a function is really made: it is not inlined and not cloned, and the
 * compiler uses nothing that it knows about the body. */
#if defined(__clang__)
#define BENCH_NOINLINE __attribute__((noinline))
#else
#define BENCH_NOINLINE __attribute__((noinline, noipa))
#endif

/* Not every contestant needs every helper. */
#define BENCH_HELPER static inline __attribute__((unused))

/* Makes the compiler forget what it knows about a variable. Costs no instruction.
 * Volatile, so that a function with one in it is called each time. */
#define BENCH_FORGET(variable) __asm__ __volatile__("" : "+r"(variable))

/* ---- time ---- */

BENCH_HELPER double bench_clock_ns(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

BENCH_HELPER double bench_now_ns(void) {
  return bench_clock_ns(CLOCK_MONOTONIC);
}

/* CPU time of all threads of the process. */
BENCH_HELPER double bench_cpu_ns(void) {
  return bench_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

BENCH_HELPER void bench_sleep_us(long us) {
  struct timespec t = {us / 1000000, (us % 1000000) * 1000};
  while (nanosleep(&t, &t) != 0 && errno == EINTR) {
  }
}

/* ---- statistics ---- */

typedef struct bench_samples {
  double *values;
  size_t count, capacity;
} bench_samples;

BENCH_HELPER void bench_add(bench_samples *s, double value) {
  if (s->count == s->capacity) {
    s->capacity = s->capacity != 0 ? 2 * s->capacity : 1024;
    s->values = (double *)realloc(s->values, s->capacity * sizeof *s->values);
    if (s->values == NULL) {
      fprintf(stderr, "bench: out of memory\n");
      exit(2);
    }
  }
  s->values[s->count++] = value;
}

BENCH_HELPER int bench_compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The value below which a share q of the samples lies; q = 0 is the smallest. */
BENCH_HELPER double bench_quantile(bench_samples *s, double q) {
  if (s->count == 0) return 0;
  qsort(s->values, s->count, sizeof *s->values, bench_compare);
  return s->values[(size_t)(q * (double)(s->count - 1) + 0.5)];
}

/* ---- output ---- */

BENCH_HELPER void bench_print(const char *who, const char *metric, double value) {
  printf("%s.%s %.4f\n", who, metric, value);
}

BENCH_HELPER void bench_print_times(const char *who, bench_samples *s) {
  bench_print(who, "best_ns", bench_quantile(s, 0));
  bench_print(who, "median_ns", bench_quantile(s, 0.5));
}

/* The times of something that a user waits for, with more of their distribution. */
BENCH_HELPER void bench_print_latency(const char *who, bench_samples *s) {
  bench_print_times(who, s);
  bench_print(who, "p10_ns", bench_quantile(s, 0.1));
  bench_print(who, "p90_ns", bench_quantile(s, 0.9));
  bench_print(who, "p99_ns", bench_quantile(s, 0.99));
  bench_print(who, "max_ns", bench_quantile(s, 1));
}

BENCH_HELPER void bench_check(const char *who, uint64_t got, uint64_t expected) {
  if (got == expected) return;
  fprintf(stderr, "%s: WRONG RESULT %llu, expected %llu\n", who, (unsigned long long)got,
          (unsigned long long)expected);
  exit(1);
}

/* The last line of a contestant: the answer, which every call has given. */
BENCH_HELPER void bench_passed(uint64_t answer) {
  printf("check %llu ok\n", (unsigned long long)answer);
}

/* The same where the work is calibrated to this machine, or differs from that of other
 * contestants: the answer was checked here and is not compared. */
BENCH_HELPER void bench_passed_alone(void) {
  printf("check - ok\n");
}

/* Argument i as a number, or `otherwise` if there are fewer arguments. */
BENCH_HELPER long bench_arg(int argc, char **argv, int i, long otherwise) {
  return i < argc ? strtol(argv[i], NULL, 10) : otherwise;
}

/* ---- the measuring loop ---- */

typedef long bench_work(long n);

/* How long to measure: in nine rounds together seconds of each contestant, since many
 * short rounds say more than a few long ones. With BENCH_QUICK in the environment about a
 * quarter of it, so that nine rounds of all rows take minutes; with BENCH_TINY almost
 * nothing. */
typedef struct bench_limits {
  double warm_ns, enough_ns, most_ns;
  size_t enough_samples;
} bench_limits;

BENCH_HELPER bench_limits bench_choose_limits(void) {
  bench_limits full = {5e7, 1.5e8, 1e9, 5}, quick = {1e7, 4e7, 1.6e8, 3},
               tiny = {1e6, 1e6, 1e7, 1};
  if (getenv("BENCH_TINY") != NULL) return tiny;
  return getenv("BENCH_QUICK") != NULL ? quick : full;
}

BENCH_HELPER int bench_has_enough(const bench_limits *limits, double total_ns,
                                  size_t samples) {
  return total_ns > limits->most_ns ||
         (total_ns > limits->enough_ns && samples >= limits->enough_samples);
}

/* Measures work(n), which must return `expected`. Returns the times of one call.
 *
 * It warms up with work(warm_n) for 0.05 s. Then it takes samples; a sample is as many
 * calls as fill about a millisecond. It stops after at least 5 samples and 0.15 s. Slow
 * work stops after 1 s with the samples it has, at least one.
 *
 * With BENCH_ONCE in the environment it makes exactly one call and takes no times, for
 * tools that count instructions. */
BENCH_HELPER bench_samples bench_sample(const char *who, bench_work *work, long warm_n,
                                        long n, long expected) {
  bench_samples times = {NULL, 0, 0};
  if (getenv("BENCH_ONCE") != NULL) {
    bench_check(who, (uint64_t)work(n), (uint64_t)expected);
    return times;
  }
  bench_limits limits = bench_choose_limits();
  double start = bench_now_ns();
  double calls = 0;
  volatile long sink = 0;
  do {
    sink = work(warm_n);
    calls++;
  } while (bench_now_ns() - start < limits.warm_ns);
  (void)sink;

  long inner = 1;
  if (warm_n == n) {
    double once = (bench_now_ns() - start) / calls;
    if (once < 1e6) inner = (long)(1e6 / once) + 1;
  }

  start = bench_now_ns();
  for (;;) {
    double before = bench_now_ns();
    long wrong = 0, last = expected;
    for (long i = 0; i < inner; i++) {
      last = work(n);
      wrong += last != expected;
    }
    double after = bench_now_ns();
    if (wrong != 0) bench_check(who, (uint64_t)last, (uint64_t)expected);
    if (wrong != 0) bench_check(who, (uint64_t)wrong, 0); /* an earlier call was wrong */
    bench_add(&times, (after - before) / (double)inner);
    if (bench_has_enough(&limits, after - start, times.count)) break;
  }
  return times;
}

/* The same, printed: all that most contestants do. */
BENCH_HELPER void bench_measure(const char *who, bench_work *work, long warm_n, long n,
                                long expected) {
  bench_samples times = bench_sample(who, work, warm_n, n, expected);
  if (times.count != 0) bench_print_times(who, &times);
  bench_passed((uint64_t)expected);
  free(times.values);
}

/* The same for work whose answer is not known in advance: every call must give the answer
 * of the first, and the harness compares it with that of the sequential program. */
BENCH_HELPER void bench_measure_first(const char *who, bench_work *work, long n) {
  bench_measure(who, work, n, n, work(n));
}

/* The same for work that consists of n tasks: also prints the time of one. */
BENCH_HELPER void bench_measure_tasks(const char *who, bench_work *work, long n) {
  bench_samples times = bench_sample(who, work, n, n, n);
  if (times.count != 0) {
    bench_print_times(who, &times);
    bench_print(who, "ns_per_task", bench_quantile(&times, 0.5) / (double)n);
  }
  bench_passed((uint64_t)n);
  free(times.values);
}

/* ---- work on large arrays ---- */

/* One call of `work` is one sample. `prepare` makes its input and `check` checks its
 * output, ending the process if it is wrong. Both are not timed, and may be NULL. */
typedef struct bench_job {
  void (*prepare)(void *ctx);
  void (*work)(void *ctx);
  void (*check)(void *ctx);
  void *ctx;
} bench_job;

/* Returns the time of the work, and in *cpu that of all threads together. */
BENCH_HELPER double bench_run_job(const bench_job *job, double *cpu) {
  if (job->prepare != NULL) job->prepare(job->ctx);
  double cpu_before = bench_cpu_ns();
  double before = bench_now_ns();
  job->work(job->ctx);
  double took = bench_now_ns() - before;
  *cpu = bench_cpu_ns() - cpu_before;
  if (job->check != NULL) job->check(job->ctx);
  return took;
}

/* The times of a job, by the limits of bench_sample. The limits count only the work, but
 * the process does not take much more than twice as long altogether. Very slow work is
 * not warmed up. cpu gets the CPU times, or is NULL. */
BENCH_HELPER bench_samples bench_sample_job(const bench_job *job, bench_samples *cpu) {
  bench_samples times = {NULL, 0, 0};
  bench_limits limits = bench_choose_limits();
  double start = bench_now_ns(), used = 0;
  double worked = bench_run_job(job, &used);
  if (getenv("BENCH_ONCE") != NULL) return times;
  if (worked > 2 * limits.most_ns) {
    bench_add(&times, worked);
    if (cpu != NULL) bench_add(cpu, used);
    return times;
  }
  while (worked < limits.warm_ns && bench_now_ns() - start < 2 * limits.warm_ns)
    worked += bench_run_job(job, &used);

  worked = 0;
  start = bench_now_ns();
  do {
    double took = bench_run_job(job, &used);
    bench_add(&times, took);
    if (cpu != NULL) bench_add(cpu, used);
    worked += took;
  } while (!bench_has_enough(&limits, worked, times.count) &&
           bench_now_ns() - start < 2 * limits.most_ns);
  return times;
}

/* The same, printed, with the CPU time: on a busy machine it says more than the time by
 * the clock. The caller, who knows the answer, prints the last line. */
BENCH_HELPER void bench_measure_job(const char *who, const bench_job *job) {
  bench_samples cpu = {NULL, 0, 0};
  bench_samples times = bench_sample_job(job, &cpu);
  if (times.count != 0) {
    bench_print_times(who, &times);
    bench_print(who, "cpu_ms", bench_quantile(&cpu, 0.5) / 1e6);
  }
  free(times.values);
  free(cpu.values);
}

/* Memory for n elements as malloc gives it, not touched yet. */
BENCH_HELPER void *bench_array(size_t n, size_t size) {
  void *memory = malloc(n * size);
  if (memory == NULL) {
    fprintf(stderr, "bench: out of memory\n");
    exit(2);
  }
  return memory;
}

/* A random number from a counter: every contestant, in C, C++ and Rust, makes the same
 * data from it. */
BENCH_HELPER uint64_t bench_mix(uint64_t x) {
  x = (x + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/* The same as a number in [-1, 1). */
BENCH_HELPER double bench_mix_unit(uint64_t x) {
  return (double)(int64_t)bench_mix(x) * (1.0 / 9223372036854775808.0);
}

/* Which of these words argument i is. Ends the process if it is none of them. */
BENCH_HELPER int bench_choose(int argc, char **argv, int i, const char *const *words,
                              int count) {
  for (int w = 0; i < argc && w < count; w++)
    if (strcmp(argv[i], words[w]) == 0) return w;
  fprintf(stderr, "usage: argument %d is one of:", i);
  for (int w = 0; w < count; w++) fprintf(stderr, " %s", words[w]);
  fprintf(stderr, "\n");
  exit(2);
}

/* ---- answers known without any contestant ---- */

BENCH_HELPER long bench_fib_answer(long n) {
  long a = 0, b = 1;
  for (long i = 0; i < n; i++) {
    long c = a + b;
    a = b;
    b = c;
  }
  return a;
}

/* bench_measure for fib(n): also prints the time of one fork and join, which every call
 * but the leaves has, with its two calls. */
BENCH_HELPER void bench_measure_fib(const char *who, bench_work *work, long n) {
  bench_samples times = bench_sample(who, work, 25, n, bench_fib_answer(n));
  if (times.count != 0) {
    bench_print_times(who, &times);
    bench_print(who, "ns_per_fork",
                bench_quantile(&times, 0.5) / (double)(bench_fib_answer(n + 1) - 1));
  }
  bench_passed((uint64_t)bench_fib_answer(n));
  free(times.values);
}

/* ---- CPU work of known length ---- */

/* A chain of `count` dependent shifts and multiplications, about 5 cycles each, which no
 * compiler can shorten. (It could shorten a chain of multiplications and additions: two
 * steps fold into one with other constants.) It does not look at the clock, so a CPU that
 * is taken away makes it longer instead of staying hidden. */
static BENCH_NOINLINE __attribute__((unused)) uint64_t bench_spin(uint64_t seed,
                                                                  uint64_t count) {
  for (uint64_t i = 0; i < count; i++) seed = (seed ^ (seed >> 29)) * 0x9e3779b97f4a7c15u;
  return seed;
}

/* How many steps take the given time on an undisturbed CPU: the best of 40 tries. */
BENCH_HELPER uint64_t bench_spin_count(double ns) {
  const uint64_t steps = 200000;
  double best = 1e18;
  volatile uint64_t sink = 0;
  for (int i = 0; i < 40; i++) {
    double before = bench_now_ns();
    sink = bench_spin(sink, steps);
    double took = bench_now_ns() - before;
    if (took < best) best = took;
  }
  return (uint64_t)(ns / best * (double)steps);
}

/* ---- where threads run ---- */

BENCH_HELPER long bench_thread_number(void) {
  return syscall(SYS_gettid);
}

/* The thread of this number may from now on use every CPU of the caller's mask except the
 * one that the caller is on. Nothing happens if there is no other. */
BENCH_HELPER void bench_keep_off_this_cpu(long thread) {
  cpu_set_t cpus;
  if (sched_getaffinity(0, sizeof cpus, &cpus) != 0) return;
  CPU_CLR((size_t)sched_getcpu(), &cpus);
  sched_setaffinity((pid_t)thread, sizeof cpus, &cpus);
}

/* Starts a process that computes until this one ends. To be called before there are other
 * threads. */
BENCH_HELPER void bench_busy_neighbour(void) {
  pid_t parent = getpid();
  fflush(stdout);
  pid_t child = fork();
  if (child < 0) {
    perror("bench: fork");
    exit(2);
  }
  if (child != 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (volatile unsigned long i = 0; getppid() == parent; i++)
    for (volatile int k = 0; k < 100000; k++) {
    }
  _exit(0);
}

/* ---- a bare futex: what the system itself costs ---- */

BENCH_HELPER void bench_futex_wait(uint32_t *word, uint32_t expected) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, NULL, NULL, 0);
}

/* Wakes one waiter. Returns how many were woken, 0 or 1. */
BENCH_HELPER long bench_futex_wake(uint32_t *word) {
  return syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

#endif
