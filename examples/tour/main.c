/* main.c - a tour of weft in less than a minute: the same work serially and with weft,
 * each result checked, a table of the times, the pictures that were made, and a timeline
 * of what the threads did.
 *
 *     make demo
 *     tour [--small] [--out FOLDER] [--view COMMAND]
 *
 *     --small         little work, for tests
 *     --out FOLDER    for the pictures, the trace and the timeline; else ./weft-tour
 *     --view COMMAND  the weft command, which makes the timeline; else "weft"
 *     --spoil NAME    makes a result wrong on purpose, for tests
 *
 * The stops are in pictures.c, data.c and tasks.c; begin there. To compile it by hand:
 *
 *     cc -O2 -D_GNU_SOURCE examples/tour/\*.c -lweft -lm -pthread
 *
 * Exit code: 0, 1 if a result is wrong or a file cannot be written, 2 for a wrong call.
 *
 * SPDX-License-Identifier: MIT */
#include "tour.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The blur needs the picture of the first stop. */
static stop *const STOPS[] = {&mandelbrot_stop, &sort_stop, &words_stop,
                              &queens_stop,     &blur_stop, &frames_stop};
enum { STOP_COUNT = sizeof STOPS / sizeof STOPS[0] };

typedef struct request {
  bool is_small;
  const char *out, *view, *spoil;
} request;

double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* Prints a line and ends the program. */
__attribute__((noreturn, format(printf, 2, 3))) static void
give_up(int code, const char *format, ...) {
  va_list arguments;
  fflush(stdout);
  fputs("tour: ", stderr);
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  exit(code);
}

/* ---- the folder of the results ---- */

static char folder[PATH_MAX];

static const char *path_of(const char *name) {
  static char path[PATH_MAX + 64];
  (void)snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

/* Made here and not at the end, so that a folder that cannot be written costs no time. */
static void open_folder(const char *wanted) {
  if (mkdir(wanted, 0777) != 0 && errno != EEXIST)
    give_up(1, "cannot make the folder %s: %s", wanted, strerror(errno));
  if (realpath(wanted, folder) == NULL)
    give_up(1, "cannot find the folder %s: %s", wanted, strerror(errno));
  if (access(folder, W_OK | X_OK) != 0)
    give_up(1, "cannot write to the folder %s: %s", folder, strerror(errno));
}

/* ---- running the stops ---- */

static double run_one(stop *s, const char *how, double (*run)(weft_progress *)) {
  char title[100];
  weft_progress *progress;
  weft_progress_opts o = WEFT_PROGRESS_OPTS_INIT;
  o.unit = s->unit;
  o.vanishes = true; /* a line with the time follows */
  (void)snprintf(title, sizeof title, "%s: %s", how, s->name);
  (void)weft_progress_begin_with(&o, &progress, title, s->steps);
  double ms = run(progress);
  weft_progress_end(progress);
  printf("  %-7s %-42s %9.1f ms\n", how, s->title, ms);
  fflush(stdout);
  return ms;
}

static double cpu_ms(void) {
  return (double)clock() * 1e3 / CLOCKS_PER_SEC;
}

/* Returns which share of a CPU the serial work got: less than 1 if others wanted it, too.
 * (The last stop sleeps by itself and does not count.) */
static double run_serially(bool is_small) {
  double used_ms = 0, took_ms = 0;
  for (size_t i = 0; i < STOP_COUNT; i++) {
    if (!STOPS[i]->prepare(STOPS[i], is_small))
      give_up(1, "no memory for %s", STOPS[i]->name);
    double cpu = cpu_ms();
    STOPS[i]->serial_ms = run_one(STOPS[i], "serial", STOPS[i]->serial);
    if (i + 1 == STOP_COUNT) break;
    used_ms += cpu_ms() - cpu;
    took_ms += STOPS[i]->serial_ms;
  }
  return used_ms / took_ms;
}

/* The trace has this part only. False if there is none. */
static bool run_with_weft(void) {
  int status = weft_trace_start(path_of("trace.json"));
  if (status != 0)
    fprintf(stderr, "tour: no trace, and no timeline: %s%s\n", weft_strerror(status),
            status == WEFT_EBUSY ? "; is WEFT_TRACE set, or does another tour run?" : "");
  for (size_t i = 0; i < STOP_COUNT; i++)
    STOPS[i]->parallel_ms = run_one(STOPS[i], "weft", STOPS[i]->parallel);
  if (status == 0) weft_trace_stop();
  return status == 0;
}

/* ---- the table ---- */

static int print_table(double share) {
  int wrong = 0;
  printf("\n  %-40s %11s %11s %9s\n", "", "serial", "weft", "speed-up");
  for (size_t i = 0; i < STOP_COUNT; i++) {
    const stop *s = STOPS[i];
    bool is_right = s->is_right();
    wrong += !is_right;
    printf("  %-40s %8.1f ms %8.1f ms %7.2f x  %s\n", s->title, s->serial_ms,
           s->parallel_ms, s->serial_ms / s->parallel_ms, is_right ? "ok" : "WRONG");
  }
  printf("\n");
  for (size_t i = 0; i < STOP_COUNT; i++)
    if (STOPS[i]->say != NULL) STOPS[i]->say();
  weft_stats stats = WEFT_STATS_INIT;
  weft_pool_stats(NULL, &stats);
  printf("  Threads took work from each other %llu times.\n",
         (unsigned long long)stats.steals);
  if (share < 0.9)
    printf("  Other programs are at work here: the serial part got %.0f %% of a CPU. "
           "Expect\n  higher speed-ups on a quiet machine.\n",
           100 * share);
  printf("\n");
  fflush(stdout);
  for (size_t i = 0; i < STOP_COUNT; i++)
    if (!STOPS[i]->is_right())
      fprintf(stderr, "tour: WRONG: the result of %s differs from the serial one\n",
              STOPS[i]->name);
  return wrong;
}

/* ---- what was made ---- */

static void save_pictures(void) {
  for (size_t i = 0; i < STOP_COUNT; i++) {
    if (STOPS[i]->image == NULL) continue;
    const char *path = path_of(STOPS[i]->image);
    if (!STOPS[i]->save(path)) give_up(1, "cannot write %s: %s", path, strerror(errno));
    printf("  picture   %s\n", path);
  }
}

/* Runs `weft view trace.json -o timeline.html`. 127: there is no such command. */
static int make_timeline(const char *command) {
  extern char **environ;
  char view[] = "view", output[] = "-o", trace[PATH_MAX + 64], page[PATH_MAX + 64];
  strcpy(trace, path_of("trace.json"));
  strcpy(page, path_of("timeline.html"));
  char *arguments[] = {(char *)(uintptr_t)command, view, trace, output, page, NULL};
  posix_spawn_file_actions_t actions;
  pid_t child;
  int status;
  fflush(stdout);
  posix_spawn_file_actions_init(&actions); /* it says where the page is, and so do we */
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  int error = posix_spawnp(&child, command, &actions, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return 127;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return 1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static void show_timeline(const char *wanted) {
  int code = make_timeline(wanted != NULL ? wanted : "weft");
  printf("  trace     %s\n", path_of("trace.json"));
  if (code == 0) {
    printf("  timeline  %s\n", path_of("timeline.html"));
    printf("\nOpen the timeline in a browser to see what each thread did, and when.\n");
  } else if (wanted == NULL && code == 127) {
    printf("\nThere is no command \"weft\" here to make a timeline of the trace;\n"
           "ui.perfetto.dev shows it, too.\n");
  } else {
    give_up(1, "%s view has failed with exit code %d: there is no timeline",
            wanted != NULL ? wanted : "weft", code);
  }
}

/* ---- the call ---- */

static request read_request(int argc, char **argv) {
  request r = {false, "weft-tour", NULL, NULL};
  for (int i = 1; i < argc; i++) {
    const char **value = strcmp(argv[i], "--out") == 0     ? &r.out
                         : strcmp(argv[i], "--view") == 0  ? &r.view
                         : strcmp(argv[i], "--spoil") == 0 ? &r.spoil
                                                           : NULL;
    if (strcmp(argv[i], "--small") == 0)
      r.is_small = true;
    else if (value != NULL && i + 1 < argc)
      *value = argv[++i];
    else
      give_up(2, "%s: usage: tour [--small] [--out FOLDER] [--view COMMAND]", argv[i]);
  }
  return r;
}

static void spoil_result(const char *name) {
  for (size_t i = 0; i < STOP_COUNT; i++)
    if (strcmp(STOPS[i]->name, name) == 0) {
      STOPS[i]->spoil();
      return;
    }
  give_up(2, "--spoil: there is no stop %s", name);
}

int main(int argc, char **argv) {
  request r = read_request(argc, argv);
  open_folder(r.out);
  unsigned threads = weft_thread_count();
  printf("weft %s: the same work serially and with weft, on %u thread%s\n\n",
         weft_version(), threads, threads == 1 ? "" : "s");
  double share = run_serially(r.is_small);
  bool has_trace = run_with_weft();
  if (r.spoil != NULL) spoil_result(r.spoil);
  int wrong = print_table(share);
  save_pictures();
  if (has_trace) show_timeline(r.view);
  for (size_t i = 0; i < STOP_COUNT; i++) STOPS[i]->release();
  weft_shutdown();
  return wrong != 0;
}
