/* par/progress/line.c - the text of one line of progress: a bar, the share, the time
 * left, the title and the numbers, cut to the width of the terminal.
 *
 * Called by the screen, under its lock; keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#include "progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Columns of a bar, on a wide terminal and at least. A choice; 24 leave room for a title
 * and all numbers in 80 columns. */
enum { BAR_COLUMNS = 24, SHORTEST_BAR = 8 };

/* ---- texts ---- */

/* The length of the character at `text`, 1 to 4 bytes, and its columns; 0 if it is no
 * valid UTF-8. Characters from U+1100 on, many of which are wide, count as two columns:
 * a line may get too short by that, but never too long. */
static unsigned character_at(const char *text, unsigned *columns) {
  const unsigned char *c = (const unsigned char *)text;
  unsigned length = c[0] < 0x80   ? 1
                    : c[0] < 0xC2 ? 0
                    : c[0] < 0xE0 ? 2
                    : c[0] < 0xF0 ? 3
                    : c[0] < 0xF5 ? 4
                                  : 0;
  for (unsigned i = 1; i < length; i++)
    if ((c[i] & 0xC0) != 0x80) return 0;
  *columns = c[0] > 0xE1 || (c[0] == 0xE1 && c[1] >= 0x84) ? 2 : 1;
  return length;
}

/* Not for a terminal: it could move the cursor. Also those of ISO 8859-1, as UTF-8. */
static bool is_control(const char *text) {
  const unsigned char *c = (const unsigned char *)text;
  return c[0] < 0x20 || c[0] == 0x7F || (c[0] == 0xC2 && c[1] < 0xA0);
}

void wf_progress_copy_text(char *out, size_t size, const char *text) {
  size_t at = 0;
  while (text != NULL && *text != '\0') {
    unsigned columns, length = character_at(text, &columns);
    bool is_plain = length != 0 && !is_control(text);
    size_t bytes = is_plain ? length : 1;
    if (at + bytes >= size) break;
    if (is_plain)
      memcpy(out + at, text, bytes);
    else
      out[at] = length == 0 ? '?' : ' ';
    at += bytes;
    text += length != 0 ? length : 1;
  }
  out[at] = '\0';
}

/* A line that grows. Invariants: used < WF_LINE_SIZE, columns <= most. */
typedef struct line_text {
  char *chars;
  size_t used;
  unsigned columns, most;
  bool is_utf8;
} line_text;

/* Appends what fits, in whole characters. */
static void append_text(line_text *line, const char *text) {
  while (*text != '\0') {
    unsigned columns = 1, length = character_at(text, &columns);
    if (length == 0) length = 1; /* only in texts of this file: there is none */
    bool is_shown = line->is_utf8 || length == 1;
    if (!is_shown) columns = 1;
    if (line->columns + columns > line->most || line->used + length >= WF_LINE_SIZE)
      break;
    if (is_shown)
      memcpy(line->chars + line->used, text, length);
    else
      line->chars[line->used] = '?';
    line->used += is_shown ? length : 1;
    line->columns += columns;
    text += length;
  }
  line->chars[line->used] = '\0';
}

static unsigned columns_of(const char *text, bool is_utf8) {
  unsigned sum = 0, columns = 1;
  while (*text != '\0') {
    unsigned length = character_at(text, &columns);
    sum += is_utf8 ? columns : 1;
    text += length != 0 ? length : 1;
  }
  return sum;
}

/* ---- numbers for people ---- */

enum { NUMBER_SIZE = 32 };

/* Three digits, as in "999", "1.02 k", "61.3 M". */
static void show_number(char out[NUMBER_SIZE], double number) {
  static const char UNITS[] = " kMGTPE";
  unsigned unit = 0;
  while (number >= 999.5 && unit + 2 < sizeof UNITS) {
    number /= 1000;
    unit++;
  }
  int digits = unit == 0 || number >= 99.95 ? 0 : number >= 9.995 ? 1 : 2;
  if (unit == 0)
    (void)snprintf(out, NUMBER_SIZE, "%.0f", number);
  else
    (void)snprintf(out, NUMBER_SIZE, "%.*f %c", digits, number, UNITS[unit]);
}

/* "0:07", "12:30", "1:02:03", "3 d 4 h". */
static void show_clock(char out[NUMBER_SIZE], uint64_t ns) {
  uint64_t s = ns / 1000000000, m = s / 60, h = m / 60;
  if (h >= 24)
    (void)snprintf(out, NUMBER_SIZE, "%" PRIu64 " d %u h", h / 24, (unsigned)(h % 24));
  else if (h > 0)
    (void)snprintf(out, NUMBER_SIZE, "%u:%02u:%02u", (unsigned)h, (unsigned)(m % 60),
                   (unsigned)(s % 60));
  else
    (void)snprintf(out, NUMBER_SIZE, "%u:%02u", (unsigned)m, (unsigned)(s % 60));
}

/* How long something took: with a decimal below a minute. */
static void show_duration(char out[NUMBER_SIZE], uint64_t ns) {
  if (ns < UINT64_C(59950000000))
    (void)snprintf(out, NUMBER_SIZE, "%.1f s", (double)ns * 1e-9);
  else
    show_clock(out, ns);
}

/* ---- the parts of a line ---- */

/* How much of `of` is done, in whole steps, and full only if all is. */
static uint64_t share_of(const weft_progress_state *s, uint64_t of) {
  if (s->done >= s->total) return of;
  uint64_t share = (uint64_t)((double)s->done / (double)s->total * (double)of);
  return share < of ? share : of - 1;
}

/* Without a total, a mark goes to and fro, a column in a fifth of a second. */
static bool is_marked(const wf_progress_view *view, unsigned i, unsigned columns) {
  enum { MARK = 4, STEP_NS = 200000000 };
  unsigned way = columns - MARK;
  unsigned at = (unsigned)(view->state.elapsed_ns / STEP_NS % (2 * way));
  if (at > way) at = 2 * way - at;
  return i >= at && i < at + MARK;
}

static void append_bar(line_text *line, const wf_progress_view *view, unsigned columns) {
  const char *full = view->is_utf8 ? "━" : "#", *empty = view->is_utf8 ? "─" : ".";
  uint64_t filled = view->state.total == 0 ? 0 : share_of(&view->state, columns);
  if (!view->is_utf8) append_text(line, "[");
  for (unsigned i = 0; i < columns; i++) {
    bool is_full = i < filled;
    if (view->state.total == 0) is_full = view->is_ended || is_marked(view, i, columns);
    append_text(line, is_full ? full : empty);
  }
  if (!view->is_utf8) append_text(line, "]");
}

/* " 61 %, 0:04 left", " 100 %, in 3.2 s", "  37 %, stopped after 1.5 s", " 0:12". */
static void write_times(char *out, size_t size, const wf_progress_view *view) {
  const weft_progress_state *s = &view->state;
  char share[NUMBER_SIZE] = "", time[NUMBER_SIZE];
  if (s->total > 0)
    (void)snprintf(share, sizeof share, "%3u %%, ", (unsigned)share_of(s, 100));
  if (view->is_ended) {
    show_duration(time, s->elapsed_ns);
    (void)snprintf(out, size, " %s%s %s", share,
                   s->done < s->total ? "stopped after" : "in", time);
  } else if (s->left_ns != UINT64_MAX) {
    show_clock(time, s->left_ns);
    (void)snprintf(out, size, " %s%s left", share, time);
  } else {
    show_clock(time, s->elapsed_ns);
    (void)snprintf(out, size, " %s%s", share, time);
  }
}

/* "6.1 G of 10.0 G bytes", and ", 1.02 G/s". */
static void write_numbers(char *counts, char *rate, size_t size,
                          const wf_progress_view *view) {
  const weft_progress_state *s = &view->state;
  char done[NUMBER_SIZE], total[NUMBER_SIZE], number[NUMBER_SIZE];
  const char *gap = view->unit[0] != '\0' ? " " : "";
  show_number(done, (double)s->done);
  show_number(total, (double)s->total);
  if (s->total == 0 || s->done == s->total)
    (void)snprintf(counts, size, "%s%s%s", done, gap, view->unit);
  else
    (void)snprintf(counts, size, "%s of %s%s%s", done, total, gap, view->unit);
  /* The last line has the rate of all the time. */
  double per_second = s->rate;
  if (view->is_ended)
    per_second = (double)s->done / ((double)s->elapsed_ns * 1e-9 + 1e-9);
  show_number(number, per_second);
  if (per_second >= 10)
    (void)snprintf(rate, size, ", %s/s", number);
  else if (per_second > 0)
    (void)snprintf(rate, size, ", %.1f/s", per_second);
  else
    rate[0] = '\0';
}

size_t wf_progress_line(char out[WF_LINE_SIZE], const wf_progress_view *view) {
  enum { PART_SIZE = 128 };
  char times[PART_SIZE], counts[PART_SIZE], rate[PART_SIZE];
  unsigned most = view->columns > 0 ? view->columns - 1 : 0;
  line_text line = {out, 0, 0, most, view->is_utf8};
  out[0] = '\0';
  write_times(times, sizeof times, view);
  write_numbers(counts, rate, sizeof counts, view);

  unsigned beside = columns_of(times, view->is_utf8) + (view->is_utf8 ? 0 : 2);
  unsigned bar = most > beside + 2 * BAR_COLUMNS ? BAR_COLUMNS
                 : most > beside                 ? (most - beside) / 2
                                                 : 0;
  if (bar > BAR_COLUMNS) bar = BAR_COLUMNS;
  if (bar >= SHORTEST_BAR) append_bar(&line, view, bar);
  append_text(&line, bar >= SHORTEST_BAR ? times : times + 1);

  /* The title is worth more than the numbers, which are there whole or not at all. */
  if (view->title[0] != '\0') {
    append_text(&line, "  ");
    append_text(&line, view->title);
  }
  bool is_counted = view->state.done > 0 || view->state.total > 0;
  if (is_counted && line.columns + 2 + columns_of(counts, view->is_utf8) <= most) {
    append_text(&line, "  ");
    append_text(&line, counts);
    if (line.columns + strlen(rate) <= most) append_text(&line, rate);
  }
  return line.used;
}
