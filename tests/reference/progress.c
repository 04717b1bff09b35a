/* reference/progress.c - examples of weft/progress.h.
 *
 * SPDX-License-Identifier: MIT */
#include <weft.h>

#include "example.h"

/* example: weft_progress_for */
static void render_rows(size_t begin, size_t end, void *ctx) {
  int *rows = ctx;
  for (size_t r = begin; r < end; r++) rows[r] = 1;
}

EXAMPLE(progress_for) {
  int rows[100] = {0};
  weft_progress_for("rendering", 100, render_rows, rows); /* a bar, on a terminal */
  assert(rows[99] == 1);
}

/* example: weft_progress, weft_progress_begin, weft_progress_add, weft_progress_get,
 * weft_progress_end */
static void count_block(size_t begin, size_t end, void *ctx) {
  weft_progress_add(ctx, end - begin); /* once for a block */
}

EXAMPLE(progress_counts) {
  weft_progress *progress;
  if (weft_progress_begin(&progress, "reading", 1000) != 0) return;
  weft_for(1000, count_block, progress);
  weft_progress_state state = WEFT_PROGRESS_STATE_INIT;
  weft_progress_get(progress, &state);
  assert(state.done == 1000 && state.total == 1000);
  weft_progress_end(progress);
}

/* example: weft_progress_set_total, weft_progress_print, weft_progress_draw,
 * weft_progress_opts */
EXAMPLE(progress_changes) {
  weft_progress *progress;
  weft_progress_opts o = WEFT_PROGRESS_OPTS_INIT;
  o.unit = "files";
  o.vanishes = true; /* leaves no line behind */
  if (weft_progress_begin_with(&o, &progress, "searching", 0) != 0) return;
  weft_progress_set_total(progress, 3); /* three were found */
  weft_progress_set_title(progress, "copying");
  weft_progress_set_left(progress, UINT64_MAX); /* the rate decides */
  weft_progress_print("a line above the bar");
  weft_progress_add(progress, 3);
  weft_progress_draw(); /* now, not only ten times a second */
  weft_progress_end(progress);
}
