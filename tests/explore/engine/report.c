/* report.c - the trace of an execution, for a schedule that is replayed.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "engine.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_LINES = 4000, LINE = 120 };

static struct {
  char text[LINE];
  const void *pc;
} lines[MAX_LINES];
static unsigned line_count;

static const char *const FAILURES[] = {"nothing", "assertion", "deadlock", "livelock",
                                       "race",    "dead",      "leak",     "crash"};
static const char *const ORDERS[] = {"relaxed", "acquire", "release", "acq_rel",
                                     "seq_cst"};

const char *xp_failure_name(xp_failure kind) {
  return FAILURES[kind];
}

const char *xp_mode_name(xp_mode mode) {
  return mode == XP_SC ? "sc" : mode == XP_TSO ? "tso" : "ra";
}

void xp_trace_begin(void) {
  line_count = 0;
}

static void add_line(const void *pc, const char *format, va_list args) {
  if (!xp_now.tracing || line_count == MAX_LINES) return;
  int used = snprintf(lines[line_count].text, LINE, "%5u  %*s%u  ", xp_now.steps,
                      (int)xp_current * 2, "", xp_current);
  vsnprintf(lines[line_count].text + used, (size_t)(LINE - used), format, args);
  lines[line_count++].pc = pc;
}

static void add(const void *pc, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void add(const void *pc, const char *format, ...) {
  va_list args;
  va_start(args, format);
  add_line(pc, format, args);
  va_end(args);
}

void xp_trace(const char *format, ...) {
  if (!xp_now.tracing) return;
  va_list args;
  va_start(args, format);
  add_line(NULL, format, args);
  va_end(args);
}

void xp_trace_access(const char *what, const void *p, xp_order order, uint64_t value,
                     const void *pc) {
  if (!xp_now.tracing || xp_now.alone) return;
  add(pc, "%-15s %#14lx %s  %#llx", what, (unsigned long)(uintptr_t)p, ORDERS[order],
      (unsigned long long)value);
}

/* "function at file:line" for an address in the program, outside the explorer's own
 * header; by addr2line, if it is there. */
static void place_of(const void *pc, char *out, size_t size) {
  Dl_info info;
  char command[256], line[64], function[64] = "";
  out[0] = '\0';
  if (pc == NULL || dladdr((void *)(uintptr_t)pc, &info) == 0) return;
  snprintf(command, sizeof command, "addr2line -i -f -s -e %s %#lx 2>/dev/null",
           info.dli_fname,
           (unsigned long)((uintptr_t)pc - (uintptr_t)info.dli_fbase - 1));
  FILE *pipe = popen(command, "r");
  if (pipe == NULL) return;
  while (fgets(function, sizeof function, pipe) != NULL &&
         fgets(line, sizeof line, pipe) != NULL) {
    function[strcspn(function, "\n")] = '\0';
    line[strcspn(line, " \n")] = '\0';
    if (strncmp(line, "atomic.h:", 9) == 0) continue;
    snprintf(out, size, "%s at %s", function, line);
    break;
  }
  pclose(pipe);
}

void xp_trace_print(void) {
  static struct {
    const void *pc;
    char place[160];
  } known[512];
  unsigned known_count = 0;
  for (unsigned i = 0; i < line_count; i++) {
    const char *place = "";
    unsigned k = 0;
    while (k < known_count && known[k].pc != lines[i].pc) k++;
    if (lines[i].pc != NULL && k == known_count && known_count < 512) {
      known[known_count].pc = lines[i].pc;
      place_of(lines[i].pc, known[known_count].place, sizeof known[0].place);
      known_count++;
    }
    if (lines[i].pc != NULL && k < known_count) place = known[k].place;
    printf("  %-70s %s\n", lines[i].text, place);
  }
}

/* ---- signals of the explored code ---- */

static void on_signal(int number) {
  if (xp_now.scenario == NULL || xp_now.alone) {
    static const char text[] = "explorer: a signal outside a scenario's threads\n";
    ssize_t ignored = write(STDERR_FILENO, text, sizeof text - 1);
    (void)ignored;
    _exit(2);
  }
  xp_fail(XP_CRASH, __FILE__, __LINE__, number == SIGSEGV ? "SIGSEGV" : "a signal");
}

void xp_report_signals(void) {
  static char alternate[64 << 10];
  stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
  sigaltstack(&stack, NULL);
  struct sigaction action = {0};
  action.sa_handler = on_signal;
  action.sa_flags = SA_ONSTACK | SA_NODEFER;
  sigaction(SIGSEGV, &action, NULL);
  sigaction(SIGBUS, &action, NULL);
  sigaction(SIGFPE, &action, NULL);
  sigaction(SIGILL, &action, NULL);
}
