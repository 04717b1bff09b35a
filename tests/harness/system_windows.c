/* harness/system_windows.c - threads, child processes and the watchdog on Windows.
 *
 * The watchdog ends a test that hangs, and prints no stacks.
 *
 * SPDX-License-Identifier: MIT */
#include "system.h"

#include <io.h>
#include <process.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include <tlhelp32.h> /* needs the one above */

#include "harness.h"
#include "watchdog.h"

/* ---- threads ---- */

unsigned harness_count_all_threads(void) {
  THREADENTRY32 entry = {.dwSize = sizeof entry};
  unsigned count = 0;
  HANDLE all = CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0);
  REQUIRE(all != INVALID_HANDLE_VALUE);
  for (BOOL more = Thread32First(all, &entry); more; more = Thread32Next(all, &entry)) {
    if (entry.th32OwnerProcessID != GetCurrentProcessId()) continue;
    /* A thread that has ended may still be listed. */
    HANDLE thread = OpenThread(SYNCHRONIZE, FALSE, entry.th32ThreadID);
    if (thread == NULL) continue;
    if (WaitForSingleObject(thread, 0) != WAIT_OBJECT_0) count++;
    CloseHandle(thread);
  }
  CloseHandle(all);
  return count;
}

/* ---- processes ---- */

/* Sets the variables of "A=1 B='2 3'", or takes them away again. Words that are no
 * assignments are commands for the shell of POSIX, and mean nothing here. */
static void set_variables(const char *env, bool on) {
  for (const char *at = env != NULL ? env : ""; *at != '\0';) {
    char word[1024];
    size_t length = 0;
    bool quoted = false;
    for (; *at != '\0' && (quoted || *at != ' '); at++) {
      if (*at == '\'')
        quoted = !quoted;
      else if (length + 1 < sizeof word)
        word[length++] = *at;
    }
    word[length] = '\0';
    while (*at == ' ') at++;
    char *equals = strchr(word, '=');
    if (equals == NULL) continue;
    if (!on) equals[1] = '\0';
    _putenv(word);
  }
}

/* abort() ends a program with exit code 3; tests expect what a shell says of a signal. */
static int status_of(int code) {
  return code == 3 ? 128 + SIGABRT : code;
}

int harness_run_self(const char *env, const char *args, char *output, size_t size) {
  char exe[MAX_PATH], command[MAX_PATH + 512];
  REQUIRE(GetModuleFileNameA(NULL, exe, sizeof exe) > 0);
  snprintf(command, sizeof command, "\"%s\" %s 2>&1", exe, args);
  set_variables(env, true);
  FILE *pipe = _popen(command, "r");
  set_variables(env, false);
  REQUIRE(pipe != NULL);
  size_t used = 0;
  for (int c; (c = getc(pipe)) != EOF;)
    if (used + 1 < size) output[used++] = (char)c;
  if (size > 0) output[used] = '\0';
  return status_of(_pclose(pipe));
}

/* ---- crashes ---- */

static LONG WINAPI on_crash(EXCEPTION_POINTERS *exception) {
  watchdog_print(2, "%s: crashed with exception %lx at %p\n  replay: %s\n",
                 harness_test_name(), exception->ExceptionRecord->ExceptionCode,
                 exception->ExceptionRecord->ExceptionAddress, harness_replay());
  _exit(128 + SIGSEGV);
}

void harness_catch_crashes(void) {
  SetUnhandledExceptionFilter(on_crash);
}

/* ---- the watchdog ---- */

static struct {
  CRITICAL_SECTION lock;
  CONDITION_VARIABLE changed;
  const char *test; /* NULL while no test runs */
  const char *replay;
  unsigned limit_seconds;
  ULONGLONG deadline; /* of this test, in milliseconds since the system started */
} dog;

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
  fflush(NULL);
  _write(fd, text, (unsigned)length);
}

static DWORD WINAPI watch(void *unused) {
  (void)unused;
  EnterCriticalSection(&dog.lock);
  for (;;) {
    const ULONGLONG now = GetTickCount64();
    DWORD left = INFINITE;
    if (dog.test != NULL && now >= dog.deadline) {
      watchdog_print(2, "%s: still running after %u s: timed out\n  replay: %s\n",
                     dog.test, dog.limit_seconds, dog.replay);
      _exit(124);
    }
    if (dog.test != NULL) left = (DWORD)(dog.deadline - now);
    SleepConditionVariableCS(&dog.changed, &dog.lock, left);
  }
}

void watchdog_start(void) {
  InitializeCriticalSection(&dog.lock);
  InitializeConditionVariable(&dog.changed);
  HANDLE thread = CreateThread(NULL, 0, watch, NULL, 0, NULL);
  REQUIRE(thread != NULL);
  CloseHandle(thread);
}

void watchdog_arm(const char *test, const char *replay, unsigned limit_seconds) {
  const char *override = getenv("WEFT_TEST_TIMEOUT");
  unsigned long limit = (unsigned long)limit_seconds * harness_slowdown();
  if (override != NULL && *override != '\0') limit = strtoul(override, NULL, 10);
  EnterCriticalSection(&dog.lock);
  dog.test = test;
  dog.replay = replay;
  dog.limit_seconds = (unsigned)limit;
  dog.deadline = GetTickCount64() + 1000ull * limit;
  LeaveCriticalSection(&dog.lock);
  WakeConditionVariable(&dog.changed);
}

void watchdog_disarm(void) {
  EnterCriticalSection(&dog.lock);
  dog.test = NULL;
  LeaveCriticalSection(&dog.lock);
}

void watchdog_print_own_stack(void) {}
