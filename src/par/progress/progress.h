/* par/progress/progress.h - what the files of this folder share: what a line shows, and
 * the screen on which lines are drawn.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_PAR_PROGRESS_H
#define WF_PAR_PROGRESS_H

#include "../../sched/sched.h"

#include <weft/progress.h>

/* Bytes that are kept of a title and of a unit, with the final NUL; the rest is cut. */
enum { WF_TITLE_SIZE = 256, WF_UNIT_SIZE = 32 };

/* ---- a line (line.c) ---- */

/* What a line shows; a copy, so that it can be formatted without a lock. */
typedef struct wf_progress_view {
  weft_progress_state state;
  char title[WF_TITLE_SIZE], unit[WF_UNIT_SIZE];
  bool is_ended;
  bool is_utf8;     /* the terminal shows UTF-8 */
  unsigned columns; /* of the terminal */
} wf_progress_view;

/* Room for a line of the longest kind. */
enum { WF_LINE_SIZE = 1024 };

/* Writes the line, with a final NUL, and returns its length in bytes. It has fewer
 * columns than the terminal, so that no terminal goes on in the next line. */
size_t wf_progress_line(char out[WF_LINE_SIZE], const wf_progress_view *view);

/* Copies a text of at most size - 1 bytes, without half a character at its end. Control
 * characters become spaces; NULL becomes nothing. */
void wf_progress_copy_text(char *out, size_t size, const char *text);

/* ---- the screen (screen.c) ---- */

/* What a progress needs to be drawn; it is a member of it. Under the lock of the screen.
 */
typedef struct wf_screen_entry {
  struct wf_screen_entry *next;
  bool is_listed;
  unsigned interval_ms;
  /* Fills all of the view that concerns the work. */
  void (*look)(struct wf_screen_entry *entry, wf_progress_view *out);
} wf_screen_entry;

/* Shows the entry if there is a terminal, until wf_screen_remove. */
void wf_screen_add(wf_screen_entry *entry);

/* The last look at an entry. `stays`: its line remains above the others. Does nothing if
 * it was not shown, or in a child of fork. */
void wf_screen_remove(wf_screen_entry *entry, bool stays);

/* Draws all lines now. */
void wf_screen_draw(void);

/* Writes a line above all others, whether there are some or not. */
void wf_screen_print(const char *line);

#endif
