/* weft/progress.h - how far a long loop is: done, total, rate and time left. A bar on a
 * terminal, nothing in a pipe or a file, and no contention between the threads that
 * count.
 *
 *     weft_progress_for("rendering", rows, render_rows, &scene); // weft_for, with a bar
 *
 * or, where the body itself knows what it has done:
 *
 *     weft_progress *progress;
 *     weft_progress_begin(&progress, "reading", bytes);
 *     weft_for(files, read_files, &job);           // calls weft_progress_add
 *     weft_progress_end(progress);
 *
 * On a terminal this shows, on standard error, ten times a second:
 *
 *     [##############..........]  61 %, 0:04 left  reading  6.1 G of 10.0 G, 1.02 G/s
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_PROGRESS_H
#define WEFT_PROGRESS_H

#include <weft/opts.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What all calls of this header share.
 *
 * Serial: none: they change nothing in what the program computes, unless the call says
 * otherwise. Threads: any, unless the call says otherwise. Errors: none, unless the call
 * says otherwise. Cost: some hundred nanoseconds, and on a terminal that of writing a
 * line, unless the call says otherwise. */

/* Work that is under way. All calls accept NULL and then do nothing, so a program whose
 * user wants no bar, or that has got no memory for one, needs no other code. */
typedef struct weft_progress weft_progress;

/* How progress is shown.
 *
 * Start from WEFT_PROGRESS_OPTS_INIT and change what you want. Every field but the first
 * is 0 by default. A struct_size of 0, or one that ends within a member, is WEFT_EINVAL.
 */
typedef struct weft_progress_opts {
  size_t struct_size;   /* sizeof(weft_progress_opts), set by the initialiser */
  const char *unit;     /* of what is counted, as in "rows"; copied; NULL: none */
  unsigned interval_ms; /* from one look at the counters to the next; 0: 100 */
  bool is_quiet;        /* counts, and draws nothing on a terminal either */
  bool vanishes;        /* leaves no line behind when it ends */
} weft_progress_opts;

/* All defaults: what an object of type weft_progress_opts starts from. */
#define WEFT_PROGRESS_OPTS_INIT                                                          \
  { sizeof(weft_progress_opts), NULL, 0, false, false }

/* Begins to show progress.
 *
 * Meaning: *out stands for `total` pieces of work; 0 means that nobody knows how many.
 * Then there is no time left, and a mark moves through the bar. Title and unit are
 * copied; NULL is none; control characters become spaces, and what does not fit into the
 * line is cut. If standard error is a terminal, a thread of weft's own draws a line there
 * until weft_progress_end; several that are under way at once have a line each. In a
 * pipe, in a file, on a dumb terminal, and while the process is in the background,
 * nothing is written. (Other output to the terminal would mix with the lines: use
 * weft_progress_print.)
 *
 * Threads: any. Errors: WEFT_EINVAL if out is NULL or the options are not valid,
 * WEFT_ENOMEM; then *out is NULL. If no thread can be started, the line is drawn at the
 * beginning and at the end only. Cost: two allocations; on a terminal the start of a
 * thread, once for all that are under way. */
WEFT_API int weft_progress_begin(weft_progress **out, const char *title, uint64_t total);
WEFT_API int weft_progress_begin_with(const weft_progress_opts *o, weft_progress **out,
                                      const char *title, uint64_t total);

/* Says that n further pieces are done.
 *
 * Meaning: the sum of all calls is exact, however many threads call at the same time, and
 * may exceed the total: the bar is then full. Call it once for a block rather than once
 * for an element.
 *
 * Threads: any number at the same time, in tasks or not. Each has a counter of its own in
 * a cache line of its own: no lock, no atomic read-modify-write, no clock. Errors: none.
 * Cost: 3 ns; the first call of a thread allocates its counter. */
WEFT_API void weft_progress_add(weft_progress *p, uint64_t n);

/* Changes what was not known at the beginning. Threads: any, at any time. The total: one
 * more file was found; 0: not known after all. The title: what is at work now. The time
 * left: the program knows better than the rate so far; it is counted down from now, and
 * UINT64_MAX goes back to the estimate. */
WEFT_API void weft_progress_set_total(weft_progress *p, uint64_t total);
WEFT_API void weft_progress_set_title(weft_progress *p, const char *title);
WEFT_API void weft_progress_set_left(weft_progress *p, uint64_t left_ns);

/* How far it is. */
typedef struct weft_progress_state {
  size_t struct_size;  /* set it to sizeof(weft_progress_state) before the call */
  uint64_t done;       /* pieces */
  uint64_t total;      /* 0: not known */
  double rate;         /* pieces in a second, over the last few seconds */
  uint64_t elapsed_ns; /* since the beginning */
  uint64_t left_ns;    /* an estimate; UINT64_MAX: not known */
} weft_progress_state;

/* What an object of type weft_progress_state starts from. */
#define WEFT_PROGRESS_STATE_INIT                                                         \
  { sizeof(weft_progress_state), 0, 0, 0, 0, 0 }

/* Reads how far it is, for a window or a log of your own; works without a terminal, too.
 *
 * Meaning: while threads count, `done` is at least what was added before the call, in the
 * sense of threads; after the loop it is exact. A struct_size smaller than today's fills
 * only the members that are whole in it. For NULL all is 0, and the time left not known.
 *
 * Threads: any, at any time. Errors: a NULL state ends the program with a message. Cost:
 * a pass over the counters. */
WEFT_API void weft_progress_get(weft_progress *p, weft_progress_state *state);

/* Writes a line to standard error, above the lines of all progress that is shown. The
 * text has no line end. Threads: any. Errors: NULL ends the program with a message. */
WEFT_API void weft_progress_print(const char *line);

/* Draws all lines now, on the calling thread. For programs that want to choose the moment
 * themselves, because nothing may disturb what they do in between: with an interval_ms of
 * UINT_MAX the lines are drawn at the beginning, here, and at the end. Threads: any. */
WEFT_API void weft_progress_draw(void);

/* Ends progress and frees it. The line shows for the last time how much was done and how
 * long that took, and stays, unless the options say that it vanishes. The handle is gone.
 *
 * Meaning: work that was stopped before its total, by an error or by cancellation, is
 * shown as such. In a child of fork, which has no such line, this only frees the memory.
 *
 * Threads: any, when no other one uses it any more. NULL does nothing. */
WEFT_API void weft_progress_end(weft_progress *p);

/* A parallel loop that shows its progress.
 *
 * Replaces
 *
 *     body(0, n, ctx);
 *
 * Meaning: weft_for with progress: each block that has ended is counted. Without memory
 * for the progress the loop runs all the same. Title: as weft_progress_begin. Threads,
 * errors and cost: those of weft_for (weft/loop.h), and 3 ns for each block. */
WEFT_API void weft_progress_for(const char *title, size_t n, weft_range_fn *body,
                                void *ctx);
WEFT_API void weft_progress_for_with(const weft_opts *o, const char *title, size_t n,
                                     weft_range_fn *body, void *ctx);

#ifdef __cplusplus
}
#endif

#endif
