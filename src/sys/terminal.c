/* terminal.c - the terminal behind standard error, for lines of progress.
 *
 * Who calls: src/par/progress, on any thread.
 *
 * SPDX-License-Identifier: MIT */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* secure_getenv */
#endif

#include "sys.h"

#include <string.h>

/* Sizes of terminals that do not say: a serial line, some editors. */
enum { USUAL_COLUMNS = 80, USUAL_ROWS = 24 };

#if !defined(_WIN32)

#include <errno.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

/* As the C library decides it, without setlocale, which is the program's to call. */
static bool locale_is_utf8(void) {
  static const char *const NAMES[] = {"LC_ALL", "LC_CTYPE", "LANG"};
  static const char *const SPELLINGS[] = {"UTF-8", "utf8", "UTF8", "utf-8"};
  for (unsigned i = 0; i < 3; i++) {
    const char *value = wf_sys_variable(NAMES[i]);
    if (value == NULL || *value == '\0') continue;
    for (unsigned k = 0; k < 4; k++)
      if (strstr(value, SPELLINGS[k]) != NULL) return true;
    return false;
  }
  return false;
}

bool wf_sys_terminal_look(wf_terminal *out) {
  if (isatty(STDERR_FILENO) == 0) return false;
  const char *kind = wf_sys_variable("TERM");
  if (kind == NULL || *kind == '\0' || strcmp(kind, "dumb") == 0) return false;
  /* A terminal that does not control this session has no foreground: -1. */
  pid_t foreground = tcgetpgrp(STDERR_FILENO);
  if (foreground >= 0 && foreground != getpgrp()) return false;
  struct winsize size;
  bool is_known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0;
  out->columns = is_known && size.ws_col > 0 ? size.ws_col : USUAL_COLUMNS;
  out->rows = is_known && size.ws_row > 0 ? size.ws_row : USUAL_ROWS;
  out->is_utf8 = locale_is_utf8();
  return true;
}

void wf_sys_terminal_write(const char *text, size_t length) {
  while (length > 0) {
    ssize_t written = write(STDERR_FILENO, text, length);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return; /* hung up, or full and asked not to block */
    text += written;
    length -= (size_t)written;
  }
}

#else

#include "windows_api.h"

#if !defined(ENABLE_VIRTUAL_TERMINAL_PROCESSING)
#define ENABLE_VIRTUAL_TERMINAL_PROCESSING 0x0004
#endif

bool wf_sys_terminal_look(wf_terminal *out) {
  HANDLE console = GetStdHandle(STD_ERROR_HANDLE);
  CONSOLE_SCREEN_BUFFER_INFO info;
  DWORD mode;
  if (!GetConsoleMode(console, &mode) ||
      !SetConsoleMode(console, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING) ||
      !GetConsoleScreenBufferInfo(console, &info))
    return false;
  int columns = info.srWindow.Right - info.srWindow.Left + 1;
  int rows = info.srWindow.Bottom - info.srWindow.Top + 1;
  out->columns = columns > 0 ? (unsigned)columns : USUAL_COLUMNS;
  out->rows = rows > 0 ? (unsigned)rows : USUAL_ROWS;
  out->is_utf8 = GetConsoleOutputCP() == CP_UTF8;
  return true;
}

void wf_sys_terminal_write(const char *text, size_t length) {
  DWORD written;
  while (length > 0 &&
         WriteFile(GetStdHandle(STD_ERROR_HANDLE), text, (DWORD)length, &written, NULL) &&
         written > 0) {
    text += written;
    length -= written;
  }
}

#endif
