/* harness/process.c - starts one contestant, ends it if it takes too long, and reads the
 * facts that it prints.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "process.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Keeps the first of the CPUs that the process may use. */
static void keep_cpus(int wanted) {
  cpu_set_t have, keep;
  CPU_ZERO(&keep);
  if (sched_getaffinity(0, sizeof have, &have) != 0) return;
  for (size_t cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&keep) < wanted; cpu++)
    if (CPU_ISSET(cpu, &have)) CPU_SET(cpu, &keep);
  sched_setaffinity(0, sizeof keep, &keep);
}

__attribute__((noreturn)) static void become(char *const *argv, int cpus, int out,
                                             int errors) {
  setpgid(0, 0);
  int nothing = open("/dev/null", O_RDONLY);
  if (nothing >= 0) dup2(nothing, 0);
  dup2(out, 1);
  dup2(errors, 2);
  if (cpus > 0) keep_cpus(cpus);
  execv(argv[0], argv);
  fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
  _exit(127);
}

/* Reads both pipes until both are closed. False if the time is over before that. */
static bool collect(int out, int errors, double until, process_result *result) {
  struct pollfd fds[2] = {{out, POLLIN, 0}, {errors, POLLIN, 0}};
  text *into[2] = {&result->out, &result->errors};
  int open_count = 2;
  while (open_count > 0) {
    double left = until - now_s();
    if (left <= 0) return false;
    if (poll(fds, 2, (int)(left * 1000) + 1) < 0 && errno != EINTR) return false;
    for (int i = 0; i < 2; i++) {
      if (fds[i].fd < 0 || fds[i].revents == 0) continue;
      char part[4096];
      ssize_t got = read(fds[i].fd, part, sizeof part);
      if (got > 0) {
        text_add_bytes(into[i], part, (size_t)got);
      } else if (got == 0 || errno != EINTR) {
        fds[i].fd = -1;
        open_count--;
      }
    }
  }
  return true;
}

static double seconds_of(struct timeval t) {
  return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

/* A process may close its output and go on: it, too, has only until the limit. */
static bool wait_until(pid_t pid, double until, int *status, struct rusage *usage) {
  const struct timespec pause = {0, 1000000};
  pid_t ended;
  while ((ended = wait4(pid, status, WNOHANG, usage)) == 0 ||
         (ended < 0 && errno == EINTR)) {
    if (now_s() > until) return false;
    nanosleep(&pause, NULL);
  }
  return ended == pid;
}

static void judge(process_result *result, int status, bool in_time, double limit_s) {
  text problem = {0};
  if (!in_time)
    text_print(&problem, "still running after %.0f s", limit_s);
  else if (WIFSIGNALED(status))
    text_print(&problem, "ended by signal %d (%s)", WTERMSIG(status),
               strsignal(WTERMSIG(status)));
  else if (WEXITSTATUS(status) != 0)
    text_print(&problem, "status %d", WEXITSTATUS(status));
  result->ok = problem.length == 0;
  result->problem = problem.chars;
}

process_result process_run(char *const *argv, int cpus, double limit_s) {
  process_result result = {0};
  int out[2], errors[2];
  text_add(&result.out, "");
  text_add(&result.errors, "");
  if (pipe2(out, O_CLOEXEC) != 0 || pipe2(errors, O_CLOEXEC) != 0)
    die("no pipes: %s", strerror(errno));
  double start = now_s();
  pid_t pid = fork();
  if (pid < 0) die("no process: %s", strerror(errno));
  if (pid == 0) become(argv, cpus, out[1], errors[1]);
  close(out[1]);
  close(errors[1]);
  int status = 0;
  struct rusage usage = {0};
  bool in_time = collect(out[0], errors[0], start + limit_s, &result);
  if (in_time) in_time = wait_until(pid, start + limit_s, &status, &usage);
  if (!in_time) {
    kill(-pid, SIGKILL);
    kill(pid, SIGKILL); /* if it has not made its group yet */
    wait4(pid, &status, 0, &usage);
  }
  close(out[0]);
  close(errors[0]);
  result.use =
      (process_use){.wall_s = now_s() - start,
                    .cpu_s = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime),
                    .voluntary = (double)usage.ru_nvcsw,
                    .involuntary = (double)usage.ru_nivcsw,
                    .peak_rss_kib = (double)usage.ru_maxrss};
  judge(&result, status, in_time, limit_s);
  return result;
}

void process_free(process_result *result) {
  text_free(&result->out);
  text_free(&result->errors);
  free(result->problem);
  *result = (process_result){0};
}

/* ---- the protocol ---- */

output_fact read_fact(const char *line) {
  output_fact fact = {.kind = FACT_NONE};
  char first[128], second[64], third[8];
  char more;
  int count = sscanf(line, "%127s %63s %7s %c", first, second, third, &more);
  if (count == 3 && strcmp(first, "check") == 0 && strcmp(third, "ok") == 0) {
    fact.kind = FACT_CHECK;
    strcpy(fact.answer, second);
    return fact;
  }
  char *dot = count == 2 ? strchr(first, '.') : NULL;
  if (dot == NULL || dot == first || dot[1] == 0) return fact;
  char *end;
  fact.value = strtod(second, &end);
  if (*end != 0 || !isfinite(fact.value)) return fact;
  *dot = 0;
  if (strlen(first) >= sizeof fact.who || strlen(dot + 1) >= sizeof fact.metric)
    return fact;
  strcpy(fact.who, first);
  strcpy(fact.metric, dot + 1);
  fact.kind = FACT_METRIC;
  return fact;
}
