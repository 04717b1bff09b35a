/* harness/progress.c - shows how far a run is, and estimates the time left from the
 * processes that have ended.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "progress.h"
#include "text.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

progress progress_begin(const int *runs, size_t kinds) {
  progress p = {.kinds = kinds};
  uint64_t total = 0;
  p.terminal = isatty(STDOUT_FILENO) && isatty(STDERR_FILENO);
  p.seconds = must_realloc(NULL, kinds * sizeof *p.seconds);
  p.left = must_realloc(NULL, kinds * sizeof *p.left);
  for (size_t i = 0; i < kinds; i++) {
    p.seconds[i] = 0;
    p.left[i] = runs[i];
    total += (uint64_t)runs[i];
  }
  weft_progress_opts o = WEFT_PROGRESS_OPTS_INIT;
  o.unit = "runs";
  o.interval_ms = UINT_MAX; /* nothing wakes up while something is measured */
  o.vanishes = true;
  o.is_quiet = !p.terminal;
  weft_progress_begin_with(&o, &p.bar, "", total); /* without memory there is no bar */
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

void progress_show(progress *p, const char *what) {
  weft_progress_set_title(p->bar, what);
  weft_progress_set_left(p->bar, (uint64_t)(progress_left(p) * 1e9));
  weft_progress_draw();
}

void progress_done(progress *p, size_t i, double seconds) {
  p->seconds[i] = p->seconds[i] > 0 ? (p->seconds[i] + seconds) / 2 : seconds;
  if (p->left[i] > 0) p->left[i]--;
  weft_progress_add(p->bar, 1);
}

void progress_limit(progress *p, size_t i, int left) {
  if (left < 0) left = 0;
  if (left >= p->left[i]) return;
  weft_progress_add(p->bar, (uint64_t)(p->left[i] - left));
  p->left[i] = left;
}

void progress_note(progress *p, const char *line) {
  if (!p->terminal) fprintf(stderr, "bench: %s\n", line);
}

void progress_print(const char *lines) {
  size_t length = strlen(lines);
  text copy = {0};
  while (length > 0 && lines[length - 1] == '\n') length--;
  text_print(&copy, "%.*s", (int)length, lines);
  weft_progress_print(copy.chars);
  text_free(&copy);
}

void progress_end(progress *p) {
  weft_progress_end(p->bar);
  free(p->seconds);
  free(p->left);
  *p = (progress){0};
}
