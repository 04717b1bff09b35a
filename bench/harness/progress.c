/* harness/progress.c - shows how far a run is, and estimates the time left from the
 * processes that have ended.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "progress.h"
#include "text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { BAR = 24 };

progress progress_begin(const int *runs, size_t kinds) {
  progress p = {.kinds = kinds};
  struct winsize size = {0};
  p.terminal = isatty(STDOUT_FILENO) && isatty(STDERR_FILENO);
  p.width = p.terminal && ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0
                ? size.ws_col
                : 80;
  p.seconds = must_realloc(NULL, kinds * sizeof *p.seconds);
  p.left = must_realloc(NULL, kinds * sizeof *p.left);
  for (size_t i = 0; i < kinds; i++) {
    p.seconds[i] = 0;
    p.left[i] = runs[i];
    p.total += (size_t)runs[i];
  }
  return p;
}

double progress_left(const progress *p) {
  double known = 0, guess = 0.5, left = 0;
  size_t count = 0;
  for (size_t i = 0; i < p->kinds; i++)
    if (p->seconds[i] > 0) {
      known += p->seconds[i];
      count++;
    }
  if (count > 0) guess = known / (double)count;
  for (size_t i = 0; i < p->kinds; i++)
    left += p->left[i] * (p->seconds[i] > 0 ? p->seconds[i] : guess);
  return left;
}

static void clear_line(const progress *p) {
  if (p->terminal) fputs("\r\033[K", stderr);
}

void progress_show(progress *p, const char *what) {
  if (!p->terminal) return;
  int left = (int)progress_left(p), filled = 0;
  if (p->total > 0) filled = (int)(BAR * p->done / p->total);
  char bar[BAR + 1];
  for (int i = 0; i < BAR; i++) bar[i] = i < filled ? '#' : '.';
  bar[BAR] = 0;
  clear_line(p);
  int used =
      fprintf(stderr, "[%s] %3d %%, %d:%02d left  ", bar,
              p->total > 0 ? (int)(100 * p->done / p->total) : 100, left / 60, left % 60);
  int room = p->width - used - 1;
  if (room > 0) fprintf(stderr, "%.*s", room, what);
  fflush(stderr);
}

void progress_done(progress *p, size_t i, double seconds) {
  p->seconds[i] = p->seconds[i] > 0 ? (p->seconds[i] + seconds) / 2 : seconds;
  if (p->left[i] > 0) p->left[i]--;
  p->done++;
}

void progress_note(progress *p, const char *line) {
  if (!p->terminal) fprintf(stderr, "bench: %s\n", line);
}

void progress_end(progress *p) {
  clear_line(p);
  fflush(stderr);
  free(p->seconds);
  free(p->left);
  *p = (progress){0};
}
