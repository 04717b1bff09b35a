/* doctor.c - `weft doctor`: what slows programs down on this machine, or in one program.
 *
 * Each check is a function that adds at most some findings. What is fine is said too, in
 * one line, so that a reader knows that it was looked at.
 *
 * SPDX-License-Identifier: MIT */
#include "base/options.h"
#include "base/terminal.h"
#include "command.h"
#include "core/atomic.h"
#include "machine/machine.h"
#include "sys/sys.h"
#include "trace/trace.h"

#include <weft.h>

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void help(void) {
  printf("Usage: weft doctor                       this machine\n"
         "       weft doctor TRACE.json            a trace that was written before\n"
         "       weft doctor -- PROGRAM [args]     runs the program with a trace, then "
         "says\n"
         "                                         what slowed it down\n\n"
         "Looks for oversubscription, CPU quotas and throttling, calls that the kernel "
         "or a\n"
         "sandbox refuses, late wake-ups, huge-page and power settings, and says for "
         "each what\n"
         "to do.\n\n"
         "      --json         print JSON for programs\n"
         "      --root FOLDER  read /proc and /sys below this folder (copies of another\n"
         "                     machine's)\n"
         "      --color WHEN   auto, always or never\n"
         "  -h, --help         this text\n\n"
         "Exit codes: 0 nothing to do, 1 failed, 2 wrong usage, 3 there is something to "
         "do.\n");
}

enum { OPTION_JSON, OPTION_ROOT };
static const option OPTIONS[] = {{"json", 0, false}, {"root", 0, true}, {NULL, 0, false}};

/* ---- findings ---- */

typedef struct diagnosis {
  finding *list;
  size_t count, capacity;
} diagnosis;

static char *format_copy(const char *format, va_list arguments) {
  char buffer[700];
  vsnprintf(buffer, sizeof buffer, format, arguments);
  char *copy = memory_resize(NULL, strlen(buffer) + 1, 1);
  return strcpy(copy, buffer);
}

__attribute__((format(printf, 4, 5))) static finding *
note(diagnosis *d, severity s, const char *id, const char *format, ...) {
  ARRAY_GROW(d->list, d->count, d->capacity);
  finding *f = &d->list[d->count++];
  *f = (finding){.severity = s, .id = id, .lane = -1};
  va_list arguments;
  va_start(arguments, format);
  f->title = format_copy(format, arguments);
  va_end(arguments);
  return f;
}

__attribute__((format(printf, 2, 3))) static void why(finding *f, const char *format,
                                                      ...) {
  va_list arguments;
  va_start(arguments, format);
  f->words = format_copy(format, arguments);
  va_end(arguments);
}

__attribute__((format(printf, 2, 3))) static void what_to_do(finding *f,
                                                             const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  f->advice = format_copy(format, arguments);
  va_end(arguments);
}

static void diagnosis_free(diagnosis *d) {
  for (size_t i = 0; i < d->count; i++) {
    free(d->list[i].title);
    free(d->list[i].words);
    free(d->list[i].advice);
  }
  free(d->list);
}

/* ---- the environment and the load ---- */

static void check_environment(diagnosis *d, const machine *m) {
  const char *threads = getenv("WEFT_NUM_THREADS"), *idle = getenv("WEFT_IDLE");
  const char *steer = getenv("WEFT_STEER");
  long number = 0;
  if (threads != NULL && !parse_number(threads, 1, WEFT_MAX_THREADS, &number)) {
    finding *f = note(d, SEVERITY_WARNING, "environment",
                      "WEFT_NUM_THREADS is '%.40s' and is ignored", threads);
    what_to_do(f, "Set it to a number from 1 to %d, or unset it.", WEFT_MAX_THREADS);
  } else if (threads != NULL && number > (long)m->usable) {
    finding *f = note(d, SEVERITY_WARNING, "oversubscribed", "%ld threads for %u CPUs",
                      number, m->usable);
    why(f, "WEFT_NUM_THREADS asks for more threads than there are CPUs. They take turns, "
           "and a "
           "thread that holds what others wait for may be the one that does not run.");
    what_to_do(f, "Unset WEFT_NUM_THREADS, unless tasks block.");
  }
  if (idle != NULL && strcmp(idle, "low_latency") != 0 && strcmp(idle, "balanced") != 0 &&
      strcmp(idle, "power_saving") != 0)
    what_to_do(note(d, SEVERITY_WARNING, "environment",
                    "WEFT_IDLE is '%.40s' and is ignored", idle),
               "It is low_latency, balanced or power_saving.");
  if (steer != NULL && strcmp(steer, "auto") != 0 && strcmp(steer, "on") != 0 &&
      strcmp(steer, "off") != 0)
    what_to_do(note(d, SEVERITY_WARNING, "environment",
                    "WEFT_STEER is '%.40s' and is ignored", steer),
               "It is auto, on or off.");
}

static void check_load(diagnosis *d, const machine *m) {
  if (m->load > 0 && m->online_count > 0 && m->load > 0.8 * m->online_count) {
    finding *f = note(
        d, m->load > 1.5 * m->online_count ? SEVERITY_BAD : SEVERITY_WARNING, "load",
        "Other programs use the CPUs: a load of %.1f on %u", m->load, m->online_count);
    why(f, "Threads of weft then wait for a CPU in the middle of a task, and all that "
           "depends on "
           "it waits too.");
    what_to_do(
        f,
        "See who it is (top), and run elsewhere or later, or give weft fewer threads: "
        "WEFT_NUM_THREADS=%u.",
        m->usable > 2 ? m->usable / 2 : 1);
  } else if (m->pressure_percent > 20) {
    finding *f =
        note(d, SEVERITY_WARNING, "load", "Threads waited for a CPU %.0f %% of the time",
             m->pressure_percent);
    why(f, "That is what the kernel says of the last ten seconds (/proc/pressure/cpu).");
    what_to_do(f, "See who uses the CPUs (top).");
  } else if (m->load >= 0) {
    note(d, SEVERITY_GOOD, "load", "The CPUs are free: a load of %.1f on %u", m->load,
         m->online_count);
  }
  if (m->steal_share > 0.02) {
    finding *f = note(d, SEVERITY_WARNING, "host",
                      "The host of this virtual machine took %s of "
                      "the CPU time",
                      show_share(m->steal_share));
    why(f, "It runs other machines on the same CPUs (the column `st` of top).");
    what_to_do(f, "Nothing here can change that; a larger or dedicated machine does.");
  }
}

static void check_quota(diagnosis *d, const machine *m) {
  if (m->throttled > 0 && m->quota_cpus > 0) {
    finding *f = note(d, SEVERITY_BAD, "throttled",
                      "The CPU quota stopped all threads %.0f times", m->throttled);
    why(f,
        "The group may use %.2f CPUs (%s). When that is used up, the kernel stops every "
        "thread until the next period%s%s.",
        m->quota_cpus, m->quota_file, m->throttled_us > 0 ? "; in all for " : "",
        m->throttled_us > 0 ? show_ns(m->throttled_us * 1000) : "");
    what_to_do(
        f,
        "Raise the quota to whole CPUs, or remove it and use CPU weights; run no more "
        "threads than the quota has CPUs (weft does so: %u).",
        m->usable);
  } else if (m->quota_cpus > 0) {
    double rest = m->quota_cpus - (double)m->usable;
    finding *f =
        note(d, SEVERITY_NOTE, "quota", "A CPU quota of %.2f CPUs is set", m->quota_cpus);
    if (rest > 0.05)
      why(f, "weft starts %u threads, so %.2f of a CPU stays unused.", m->usable, rest);
    else
      why(f, "weft starts %u threads.", m->usable);
    what_to_do(f, "%s",
               rest > 0.05 ? "Round the quota to whole CPUs."
                           : "Nothing, as long as it is not used up.");
  } else {
    note(d, SEVERITY_GOOD, "quota", "No CPU quota");
  }
  if (m->allowed_count > 0 && m->allowed_count < m->online_count) {
    finding *f = note(d, SEVERITY_NOTE, "affinity", "This process may use %u of %u CPUs",
                      m->allowed_count, m->online_count);
    why(f, "Its affinity mask, or cpuset, is %s.", m->allowed);
    what_to_do(
        f,
        "If that is not wanted: taskset, the options of the container, or of the batch "
        "system.");
  }
}

/* ---- what the kernel refuses, and its settings ---- */

static void check_refused(diagnosis *d, const abilities *a) {
  if (!a->futex) {
    finding *f =
        note(d, SEVERITY_BAD, "futex", "Waiting on a word (futex) does not work");
    why(f,
        "Threads then look for work every 100 us instead of sleeping, or sleep by slower "
        "means.");
    what_to_do(f,
               "Allow futex in the seccomp filter of the sandbox, and build weft without "
               "WEFT_SYS_POSIX.");
  }
  if (!a->barrier) {
    finding *f =
        note(d, SEVERITY_WARNING, "barrier", "The process-wide barrier does not work");
    why(f, "Without membarrier each fork is made public at once, which costs a fence: "
           "some ten "
           "times as much as a fork otherwise does.");
    what_to_do(
        f, "Allow membarrier in the seccomp filter of the sandbox (Docker and Kubernetes "
           "do by default), or use Linux 4.14 or newer.");
  }
  if (!a->affinity) {
    finding *f = note(d, SEVERITY_NOTE, "steering", "Threads cannot be steered");
    why(f, "sched_getaffinity or sched_setaffinity is refused, so woken threads run "
           "where the "
           "kernel puts them.");
    what_to_do(f, "Allow both in the seccomp filter of the sandbox.");
  }
  if (a->futex && a->barrier && a->affinity)
    note(d, SEVERITY_GOOD, "calls", "The kernel refuses nothing that weft needs");
  if (!a->timed) {
    finding *f = note(d, SEVERITY_WARNING, "clock", "Reading the clock takes %s",
                      show_ns(a->clock_ns));
    why(f, "The clock is a system call here, and searching threads read it often.");
    what_to_do(
        f, "Look at /sys/devices/system/clocksource/clocksource0: tsc or kvm-clock is "
           "fast, hpet and acpi_pm are not.");
  }
}

static void check_settings(diagnosis *d, const machine *m) {
  if (strcmp(m->huge_pages, "never") == 0) {
    finding *f = note(d, SEVERITY_NOTE, "huge-pages", "Huge pages are switched off");
    why(f, "Sorting and scanning of large arrays then miss the TLB more often.");
    what_to_do(f, "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled");
  } else if (m->huge_pages[0] != '\0') {
    note(d, SEVERITY_GOOD, "huge-pages", "Huge pages: %s", m->huge_pages);
  }
  if (strcmp(m->governor, "powersave") == 0 || strcmp(m->governor, "conservative") == 0) {
    finding *f = note(d, SEVERITY_NOTE, "governor", "The CPUs save power (governor %s)",
                      m->governor);
    why(f,
        "A CPU that was idle runs slowly at first, so short bursts of work gain little.");
    what_to_do(f, "cpupower frequency-set -g performance");
  }
  struct rlimit limit;
  if (getrlimit(RLIMIT_NPROC, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      limit.rlim_cur < 4 * (rlim_t)m->usable + 16) {
    finding *f =
        note(d, SEVERITY_WARNING, "limit", "At most %lu threads may run for this user",
             (unsigned long)limit.rlim_cur);
    why(f, "If the system refuses a thread, a pool works with those it has.");
    what_to_do(f, "Raise it: ulimit -u");
  }
}

/* ---- late wake-ups, measured ---- */

typedef struct wake_time {
  wf_u32 x_done;
  uint64_t ran_ns;
} wake_time;

static void stamp(void *ctx) {
  wake_time *w = ctx;
  w->ran_ns = wf_sys_now_ns();
  /* Release: pairs with the acquire in measure_wakes. */
  wf_u32_store_release(&w->x_done, 1);
  wf_sys_wake_all(&w->x_done);
}

static int compare_times(const void *a, const void *b) {
  const double *x = a, *y = b;
  return *x < *y ? -1 : *x > *y;
}

enum { WAKES = 200 };

static int measure_wakes(double *times) {
  static wake_time w;
  int count = 0;
  for (; count < WAKES; count++) {
    nanosleep(&(struct timespec){0, 1500000}, NULL); /* threads fall asleep within it */
    wf_u32_store_relaxed(&w.x_done, 0);              /* the call below publishes it */
    uint64_t begin = wf_sys_now_ns();
    if (weft_pool_detach(NULL, stamp, &w) != 0) break;
    /* Acquire: pairs with the release in stamp. */
    while (wf_u32_load_acquire(&w.x_done) == 0) wf_sys_wait(&w.x_done, 0);
    times[count] = (double)(w.ran_ns - begin);
  }
  qsort(times, (size_t)count, sizeof *times, compare_times);
  return count;
}

static void check_wakes(diagnosis *d) {
  double times[WAKES];
  int count = measure_wakes(times);
  if (count < WAKES / 2) return;
  double median = times[count / 2], tenth = times[count * 9 / 10],
         worst = times[count - 1];
  if (tenth > 200e3) {
    finding *f = note(d, tenth > 1e6 ? SEVERITY_BAD : SEVERITY_WARNING, "late-wakes",
                      "Sleeping threads wake up late: one in ten after %s or more",
                      show_ns(tenth));
    why(f,
        "%d wake-ups were measured: median %s, worst %s. On a free machine they take 5 "
        "to 50 "
        "us.",
        count, show_ns(median), show_ns(worst));
    what_to_do(
        f,
        "If the CPUs are busy or the quota is used up, see above. On virtual machines "
        "try WEFT_STEER=on; where latency counts more than power, WEFT_IDLE=low_latency "
        "and shallow idle states (cpupower idle-set -D 10).");
  } else {
    note(d, SEVERITY_GOOD, "wakes",
         "A sleeping thread runs %s after it is called (worst of %d: %s)",
         show_ns(median), count, show_ns(worst));
  }
}

/* ---- a program ---- */

typedef struct run_usage {
  double wall_ns, cpu_ns;
} run_usage;

/* Runs the program with a trace; what it used goes to *used. Returns 0, or an exit code
 * after a message. */
static int run_traced(char **argv, const char *trace_path, bool json, run_usage *used) {
  uint64_t start_ns = wf_sys_now_ns();
  pid_t child = fork();
  if (child < 0) return failure("doctor", "cannot start a process: %s", strerror(errno));
  if (child == 0) {
    setenv("WEFT_TRACE", trace_path, 1);
    if (json) dup2(STDERR_FILENO, STDOUT_FILENO); /* the JSON stays alone */
    execvp(argv[0], argv);
    fprintf(stderr, "weft doctor: cannot run '%s': %s\n", argv[0], strerror(errno));
    _exit(errno == ENOENT ? 127 : 126);
  }
  int status;
  struct rusage r;
  while (wait4(child, &status, 0, &r) < 0)
    if (errno != EINTR) return failure("doctor", "cannot wait: %s", strerror(errno));
  used->wall_ns = (double)(wf_sys_now_ns() - start_ns);
  used->cpu_ns = (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1e9 +
                 (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) * 1e3;
  if (WIFEXITED(status) && (WEXITSTATUS(status) == 127 || WEXITSTATUS(status) == 126))
    return WEXITSTATUS(status);
  return 0;
}

/* ---- output ---- */

static severity worst_of(const finding *list, size_t count) {
  severity worst = SEVERITY_GOOD;
  for (size_t i = 0; i < count; i++)
    if (list[i].severity > worst) worst = list[i].severity;
  return worst;
}

static void print_finding(const finding *f) {
  static const style styles[] = {STYLE_GREEN, STYLE_BLUE, STYLE_YELLOW, STYLE_RED};
  static const char *const signs[] = {"ok", "note", "warning", "problem"};
  printf("%s%-8s%s %s", on(styles[f->severity]), signs[f->severity], on(STYLE_PLAIN),
         f->severity > SEVERITY_GOOD ? on(STYLE_BOLD) : "");
  print_wrapped(f->title, 9);
  fputs(on(STYLE_PLAIN), stdout);
  if (f->words != NULL) {
    printf("         ");
    print_wrapped(f->words, 9);
  }
  if (f->advice != NULL) {
    printf("      %s ", terminal_has_unicode() ? "→ " : "->");
    print_wrapped(f->advice, 9);
  }
}

static void print_findings(const finding *list, size_t count, const char *about) {
  printf("%s%s%s\n", on(STYLE_BOLD), about, on(STYLE_PLAIN));
  for (int s = SEVERITY_BAD; s >= SEVERITY_GOOD; s--)
    for (size_t i = 0; i < count; i++)
      if ((int)list[i].severity == s) print_finding(&list[i]);
}

static void json_findings(json_writer *w, const char *key, const finding *list,
                          size_t count) {
  static const char *const severities[] = {"good", "note", "warning", "bad"};
  json_begin(w, key, '[');
  for (size_t i = 0; i < count; i++) {
    json_begin(w, NULL, '{');
    json_put_text(w, "severity", severities[list[i].severity]);
    json_put_text(w, "id", list[i].id);
    json_put_text(w, "title", list[i].title);
    json_put_text(w, "words", list[i].words);
    json_put_text(w, "advice", list[i].advice);
    json_finish(w, '}');
  }
  json_finish(w, ']');
}

static int report(const diagnosis *d, const trace *t, bool json) {
  severity worst = worst_of(d->list, d->count);
  if (t != NULL && worst_of(t->findings, t->finding_count) > worst)
    worst = worst_of(t->findings, t->finding_count);
  if (json) {
    json_writer w = {.depth = 0};
    json_begin(&w, NULL, '{');
    if (t != NULL) {
      json_put_text(&w, "program", t->program);
      json_put_number(&w, "duration_ns", t->duration_ns);
      json_put_number(&w, "speedup", t->speedup);
      json_findings(&w, "program_findings", t->findings, t->finding_count);
    }
    json_findings(&w, "machine_findings", d->list, d->count);
    json_put_bool(&w, "healthy", worst < SEVERITY_WARNING);
    json_finish(&w, '}');
    json_print(&w);
  } else {
    if (t != NULL) {
      char about[400];
      snprintf(about, sizeof about, "%s: %s, %.0f thread%s, %.2f times as fast as one",
               t->program[0] != '\0' ? t->program : "The trace", show_ns(t->duration_ns),
               t->threads, t->threads == 1 ? "" : "s", t->speedup);
      print_findings(t->findings, t->finding_count, about);
      if (d->count > 0) putchar('\n');
    }
    if (d->count > 0) print_findings(d->list, d->count, "This machine");
  }
  return worst >= SEVERITY_WARNING ? COMMAND_FOUND : COMMAND_OK;
}

static void examine_machine(diagnosis *d, const char *root) {
  machine *m = memory_resize(NULL, 1, sizeof *m);
  abilities a;
  machine_read(m, root);
  abilities_try(&a);
  check_environment(d, m);
  check_load(d, m);
  check_quota(d, m);
  check_refused(d, &a);
  check_settings(d, m);
  check_wakes(d);
  weft_shutdown();
  free(m);
}

/* A trace, or a program that is run now. */
static int examine_trace(const char *path, const run_usage *used, const diagnosis *d,
                         bool json) {
  trace t;
  char problem[200];
  int status;
  if (!trace_read(&t, path, problem)) {
    status = failure("doctor", "%s: %s", path, problem);
  } else {
    if (used != NULL) {
      t.run_ns = used->wall_ns;
      t.run_cpu_ns = used->cpu_ns;
    }
    trace_analyse(&t);
    trace_find(&t);
    status = report(d, &t, json);
  }
  trace_free(&t);
  return status;
}

static int examine_program(char **argv, const char *root, bool json) {
  char path[] = "/tmp/weft-doctor-XXXXXX";
  int file = mkstemp(path);
  if (file < 0)
    return failure("doctor", "cannot make a file in /tmp: %s", strerror(errno));
  close(file);
  run_usage used;
  diagnosis d = {NULL, 0, 0};
  int status = run_traced(argv, path, json, &used);
  if (status == 0) {
    text content = {0};
    bool traced = file_read(path, &content) && content.length > 0;
    text_free(&content);
    if (!traced) {
      status =
          failure("doctor", "the program wrote no trace: does it use weft 0.2 or newer?");
    } else {
      examine_machine(&d, root);
      status = examine_trace(path, &used, &d, json);
    }
  }
  unlink(path);
  diagnosis_free(&d);
  return status;
}

int command_doctor(int argc, char **argv) {
  options o = {.argc = argc, .argv = argv};
  const char *root = "";
  bool json = false;
  for (int found; (found = options_next(&o, OPTIONS)) != OPTIONS_END;) {
    if (found == OPTIONS_WRONG) return COMMAND_USAGE;
    if (found == OPTIONS_HELP) return help(), COMMAND_OK;
    if (found == OPTION_JSON) json = true;
    if (found == OPTION_ROOT) root = o.value;
  }
  if (*root != '\0' && access(root, R_OK | X_OK) != 0)
    return failure("doctor", "%s: %s", root, strerror(errno));
  diagnosis d = {NULL, 0, 0};
  if (o.ended) {
    if (o.operands == 0) return usage_error("doctor", "which program?");
    argv[o.operands + 1] = NULL;
    return examine_program(argv + 1, root, json);
  }
  if (o.operands > 1)
    return usage_error("doctor", "give one trace; a program stands behind --");
  if (o.operands == 1) return examine_trace(argv[1], NULL, &d, json);
  examine_machine(&d, root);
  int status = report(&d, NULL, json);
  diagnosis_free(&d);
  return status;
}
