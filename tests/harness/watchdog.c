/* harness/watchdog.c - ends a test that hangs and prints where every thread is.
 *
 * A separate thread waits for the end of the running test. When the test's time limit has
 * passed, it prints the test's name and the stacks of all threads, and ends the process
 * with exit code 124, as timeout(1) does. On a busy machine the limit is longer: time in
 * which threads of the test waited for a CPU does not count.
 *
 * gdb prints the stacks if it is installed: it sees all threads and static functions.
 * Where gdb is missing or may not attach, each thread gets a signal whose handler prints
 * its own stack. weft's workers block all signals, so for them this way prints only their
 * name, their state and where they are in the kernel.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "watchdog.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#if defined(__has_include)
#if __has_include(<execinfo.h>) /* musl has none */
#include <execinfo.h>
#define HAS_BACKTRACE 1
#endif
#endif

#include "harness.h"

static struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;   /* on CLOCK_MONOTONIC */
  const char *test;         /* NULL while no test runs */
  const char *replay;       /* the command that repeats it */
  unsigned limit_seconds;   /* of this test */
  struct timespec began;    /* this test */
  struct timespec deadline; /* of this test */
  sem_t answered;           /* posted by a thread that has printed its stack */
  pid_t self;               /* thread id of the watchdog */
} dog = {.lock = PTHREAD_MUTEX_INITIALIZER};

void watchdog_print(int fd, const char *format, ...) {
  char text[4096];
  va_list args;
  va_start(args, format);
  int length = vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (length < 0) return;
  if ((size_t)length >= sizeof text) {
    length = sizeof text - 1;
    text[length - 1] = '\n';
  }
  for (int done = 0; done < length;) {
    ssize_t n = write(fd, text + done, (size_t)(length - done));
    if (n < 0 && errno != EINTR) return;
    if (n > 0) done += (int)n;
  }
}

void watchdog_print_own_stack(void) {
#if HAS_BACKTRACE
  void *frames[64];
  backtrace_symbols_fd(frames, backtrace(frames, 64), 2);
#else
  watchdog_print(2, "  no stack: this C library has no backtrace()\n");
#endif
}

/* ---- stacks by gdb ---- */

/* Copies the output of gdb to standard error. Returns true if it contains a stack. */
static bool copy_stacks(FILE *file) {
  bool found = false;
  char line[4096];
  rewind(file);
  while (fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, "#0", 2) == 0) found = true;
    watchdog_print(2, "%s", line);
  }
  return found;
}

/* gdb stops this whole process while it looks, so nobody would read from a pipe: it
 * writes to a file. timeout(1) ends a gdb that hangs. */
static bool dump_by_gdb(void) {
  if (system("command -v gdb >/dev/null 2>&1 && command -v timeout >/dev/null 2>&1") != 0)
    return false;
  FILE *file = tmpfile();
  if (file == NULL) return false;
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  char command[512];
  snprintf(command, sizeof command,
           "exec timeout -k 5 60 gdb -nx -batch -p %ld -iex 'set debuginfod enabled off' "
           "-ex 'set pagination off' -ex 'thread apply all backtrace' "
           "</dev/null >&%d 2>&1",
           (long)getpid(), fileno(file));
  int status = system(command);
  bool found = copy_stacks(file);
  fclose(file);
  if (!found) watchdog_print(2, "gdb could not show the stacks (status %d)\n", status);
  return found;
}

/* ---- stacks by signal ---- */

static int stack_signal(void) {
  return SIGRTMIN + 5;
}

static void print_own_stack(int signal_number) {
  (void)signal_number;
  int saved_errno = errno;
  watchdog_print_own_stack();
  sem_post(&dog.answered);
  errno = saved_errno;
}

/* Reads the first line of /proc/self/task/<tid>/<file> that starts with key, without the
 * key. The text is empty if there is no such line. */
static void read_task_line(pid_t tid, const char *file, const char *key, char *text,
                           size_t size) {
  char path[64], line[256];
  text[0] = '\0';
  snprintf(path, sizeof path, "/proc/self/task/%d/%s", (int)tid, file);
  FILE *stream = fopen(path, "r");
  if (stream == NULL) return;
  while (fgets(line, sizeof line, stream) != NULL) {
    if (strncmp(line, key, strlen(key)) != 0) continue;
    const char *value = line + strlen(key);
    value += strspn(value, " \t");
    snprintf(text, size, "%.*s", (int)strcspn(value, "\n"), value);
    break;
  }
  fclose(stream);
}

static bool blocks_signal(pid_t tid, int signal_number) {
  char line[64];
  read_task_line(tid, "status", "SigBlk:", line, sizeof line);
  unsigned long long mask = strtoull(line, NULL, 16);
  return (mask >> (signal_number - 1) & 1u) != 0;
}

static void dump_thread_by_signal(pid_t tid) {
  char name[64], state[64], place[128];
  read_task_line(tid, "comm", "", name, sizeof name);
  read_task_line(tid, "status", "State:", state, sizeof state);
  read_task_line(tid, "wchan", "", place, sizeof place);
  watchdog_print(2, "thread %d \"%s\", state %s, in kernel at %s:\n", (int)tid, name,
                 state, place);
  if (blocks_signal(tid, stack_signal())) {
    watchdog_print(2, "  no stack: the thread blocks the signal that asks for it\n");
    return;
  }
  syscall(SYS_tgkill, getpid(), tid, stack_signal());
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += 2;
  int status;
  do {
    status = sem_timedwait(&dog.answered, &until);
  } while (status != 0 && errno == EINTR);
  if (status != 0) watchdog_print(2, "  no stack: the thread did not answer\n");
}

static void dump_by_signals(void) {
  struct sigaction action = {.sa_handler = print_own_stack, .sa_flags = SA_RESTART};
  sigaction(stack_signal(), &action, NULL);
  DIR *tasks = opendir("/proc/self/task");
  if (tasks == NULL) return;
  for (struct dirent *entry; (entry = readdir(tasks)) != NULL;) {
    pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
    if (tid > 0 && tid != dog.self) dump_thread_by_signal(tid);
  }
  closedir(tasks);
}

/* ---- the watch ---- */

static _Noreturn void report_hang(void) {
  watchdog_print(2,
                 "%s: still running after %u s; the stacks of all threads follow\n"
                 "  replay: %s\n",
                 dog.test, dog.limit_seconds, dog.replay);
  /* WEFT_TEST_NO_GDB is for the test of the way by signals. Under valgrind gdb would show
   * valgrind itself. */
  const char *preload = getenv("LD_PRELOAD");
  bool in_valgrind = preload != NULL && strstr(preload, "vgpreload") != NULL;
  if (getenv("WEFT_TEST_NO_GDB") != NULL || in_valgrind || !dump_by_gdb()) {
    dump_by_signals();
  }
  watchdog_print(2, "%s: timed out\n  replay: %s\n", dog.test, dog.replay);
  _exit(124);
}

static bool has_passed(const struct timespec *deadline) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec > deadline->tv_sec ||
         (now.tv_sec == deadline->tv_sec && now.tv_nsec >= deadline->tv_nsec);
}

/* Nanoseconds that a thread has run, and that it has waited for a CPU. */
static void add_times_of(const char *thread, double *ran, double *waited) {
  char path[64];
  unsigned long long run_ns = 0, wait_ns = 0;
  snprintf(path, sizeof path, "/proc/self/task/%.20s/schedstat", thread);
  FILE *file = fopen(path, "r");
  if (file == NULL) return;
  if (fscanf(file, "%llu %llu", &run_ns, &wait_ns) == 2) {
    *ran += (double)run_ns;
    *waited += (double)wait_ns;
  }
  fclose(file);
}

/* The part of the CPU time that its threads asked for and got: 1 on a quiet machine, and
 * where they all sleep or where the system does not tell. */
static double share_of_cpu(void) {
  double ran = 0, waited = 0;
  DIR *threads = opendir("/proc/self/task");
  if (threads == NULL) return 1;
  for (struct dirent *entry; (entry = readdir(threads)) != NULL;)
    if (entry->d_name[0] != '.') add_times_of(entry->d_name, &ran, &waited);
  closedir(threads);
  return waited > 0 ? ran / (ran + waited) : 1;
}

/* The deadline has passed. Moves it if the test has not had its time, by the share of the
 * CPU that it got; at most to the twentyfold, because threads that spin for ever wait for
 * CPUs, too. */
static bool may_go_on(void) {
  enum { MOST = 20, LONG_LIMIT_SECONDS = 20 };
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  double passed = (double)(now.tv_sec - dog.began.tv_sec);
  if (passed >= (double)MOST * dog.limit_seconds) return false;
  if (passed * share_of_cpu() >= dog.limit_seconds) return false;
  /* A short limit, as tools/code-mutants sets, is looked at every second. */
  dog.deadline.tv_sec = now.tv_sec + (dog.limit_seconds < LONG_LIMIT_SECONDS ? 1 : 5);
  return true;
}

static void *watch(void *unused) {
  (void)unused;
  dog.self = (pid_t)syscall(SYS_gettid);
  pthread_mutex_lock(&dog.lock);
  for (;;) {
    if (dog.test == NULL) {
      pthread_cond_wait(&dog.changed, &dog.lock);
    } else if (!has_passed(&dog.deadline)) {
      pthread_cond_timedwait(&dog.changed, &dog.lock, &dog.deadline);
    } else if (!may_go_on()) {
      report_hang();
    }
  }
}

void watchdog_start(void) {
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&dog.changed, &monotonic);
  pthread_condattr_destroy(&monotonic);
  sem_init(&dog.answered, 0, 0);

  /* The first backtrace loads a library, which a signal handler may not do. So do it
   * here. */
#if HAS_BACKTRACE
  void *frame;
  backtrace(&frame, 1);
#endif

  /* Signals sent to the process belong to the tests, never to the watchdog. */
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  int status = pthread_create(&thread, NULL, watch, NULL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (status != 0) {
    watchdog_print(2, "no thread for the watchdog: %s\n", strerror(status));
    _exit(1);
  }
  pthread_detach(thread);
}

void watchdog_arm(const char *test, const char *replay, unsigned limit_seconds) {
  const char *override = getenv("WEFT_TEST_TIMEOUT");
  unsigned long limit = (unsigned long)limit_seconds * harness_slowdown();
  if (override != NULL && *override != '\0') limit = strtoul(override, NULL, 10);
  pthread_mutex_lock(&dog.lock);
  dog.test = test;
  dog.replay = replay;
  dog.limit_seconds = (unsigned)limit;
  clock_gettime(CLOCK_MONOTONIC, &dog.began);
  dog.deadline = dog.began;
  dog.deadline.tv_sec += (time_t)limit;
  pthread_cond_signal(&dog.changed);
  pthread_mutex_unlock(&dog.lock);
}

void watchdog_disarm(void) {
  pthread_mutex_lock(&dog.lock);
  dog.test = NULL;
  pthread_mutex_unlock(&dog.lock);
}
