/* tasks.c - two stops of the tour: queens on a board, a search tree that is forked at
 * every queen, and frames of an animation every 10 ms, between which the pool sleeps.
 *
 * SPDX-License-Identifier: MIT */
#include "tour.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* ---- queens ---- */

/* Boards with this many queens are counted for the bar. */
enum { COUNTED_ROWS = 5 };

static unsigned queens;
static long serial_solutions, parallel_solutions;

/* The queens in the first rows, as bits: columns and diagonals that are taken. */
typedef struct board {
  unsigned row, columns, left, right;
} board;

static unsigned free_columns(board b) {
  return ~(b.columns | b.left | b.right) & ((1u << queens) - 1);
}

static board with_queen(board b, unsigned bit) {
  return (board){b.row + 1, b.columns | bit, (b.left | bit) << 1, (b.right | bit) >> 1};
}

/* In how many ways can the rest be filled? */
static long solve_serial(board b, weft_progress *progress) {
  if (b.row == queens) return 1;
  long solutions = 0;
  for (unsigned free = free_columns(b); free != 0; free &= free - 1)
    solutions += solve_serial(with_queen(b, free & -free), progress);
  if (b.row == COUNTED_ROWS) weft_progress_add(progress, 1);
  return solutions;
}

/* The same with a fork for every further column of the row. There is no cut-off: a fork
 * that nobody takes costs a few nanoseconds. */
WEFT_TASK(long, solve, board, b, unsigned, free, weft_progress *, progress) {
  if (free == 0) return 0;
  if (b.row < COUNTED_ROWS) weft_name("queens"); /* in the timeline, if it was stolen */
  unsigned bit = free & -free;
  solve_task others;
  if (free != bit) solve_fork(&others, b, free ^ bit, progress);
  board next = with_queen(b, bit);
  long solutions = next.row == queens ? 1 : solve(next, free_columns(next), progress);
  if (next.row == COUNTED_ROWS) weft_progress_add(progress, 1);
  if (free != bit) solutions += solve_join(&others);
  return solutions;
}

static double queens_serial(weft_progress *progress) {
  double start = now_ms();
  serial_solutions = solve_serial((board){0, 0, 0, 0}, progress);
  return now_ms() - start;
}

static double queens_parallel(weft_progress *progress) {
  board empty = {0, 0, 0, 0};
  double start = now_ms();
  parallel_solutions = solve(empty, free_columns(empty), progress);
  return now_ms() - start;
}

static uint64_t count_boards(board b) {
  if (b.row == COUNTED_ROWS) return 1;
  uint64_t count = 0;
  for (unsigned free = free_columns(b); free != 0; free &= free - 1)
    count += count_boards(with_queen(b, free & -free));
  return count;
}

static bool queens_prepare(stop *s, bool is_small) {
  queens = is_small ? 9 : 14;
  s->steps = count_boards((board){0, 0, 0, 0});
  (void)snprintf(s->title, sizeof s->title, "%u queens, one fork per queen", queens);
  return true;
}

static bool queens_is_right(void) {
  return parallel_solutions == serial_solutions;
}

static void queens_spoil(void) {
  parallel_solutions++;
}

static void queens_say(void) {
  printf("  %u queens have %ld solutions.\n", queens, parallel_solutions);
}

static void queens_release(void) {}

stop queens_stop = {.name = "queens",
                    .unit = "boards",
                    .prepare = queens_prepare,
                    .serial = queens_serial,
                    .parallel = queens_parallel,
                    .is_right = queens_is_right,
                    .spoil = queens_spoil,
                    .say = queens_say,
                    .release = queens_release};

/* ---- frames ---- */

enum { FRAME_MS = 10, MOST_FRAMES = 100 };

typedef struct animation {
  picture picture;
  uint64_t sum; /* of all pixels of all frames */
  double ms[MOST_FRAMES];
} animation;

static animation animations[2]; /* [0] serial, [1] with weft */
static size_t frame_count;

/* A row of a plasma: waves that cross each other. */
static void draw_plasma(picture *p, size_t y, size_t frame) {
  float t = (float)frame * 0.1f, v = (float)y / (float)p->height;
  for (size_t x = 0; x < p->width; x++) {
    float u = (float)x / (float)p->height;
    float wave = sinf(9 * u + t) + sinf(7 * v - t) + sinf(8 * (u + v) + 2 * t) +
                 sinf(12 * sqrtf(u * u + v * v) - t);
    p->pixels[y * p->width + x] = (rgb){(unsigned char)(127 + 127 * sinf(wave)),
                                        (unsigned char)(127 + 127 * sinf(wave + 2)),
                                        (unsigned char)(127 + 127 * sinf(wave + 4))};
  }
}

static void add_pixels(animation *a) {
  for (size_t i = 0; i < a->picture.width * a->picture.height; i++) {
    const rgb *p = &a->picture.pixels[i];
    a->sum =
        a->sum * 31 + (uint64_t)p->r + ((uint64_t)p->g << 8) + ((uint64_t)p->b << 16);
  }
}

/* Until the clock of now_ms shows this. */
static void sleep_until(double ms) {
  struct timespec t;
  t.tv_sec = (time_t)(ms / 1000);
  t.tv_nsec = (long)((ms - (double)t.tv_sec * 1000) * 1e6);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) {
  }
}

static void draw_serially(picture *p, size_t frame) {
  for (size_t y = 0; y < p->height; y++) draw_plasma(p, y, frame);
}

WEFT_LOOP(plasma, y, picture *, p, size_t, frame) {
  draw_plasma(p, y, frame);
}

static void draw_in_parallel(picture *p, size_t frame) {
  weft_opts o = named("plasma rows");
  plasma_with(&o, p->height, p, frame);
  weft_frame_mark(NULL); /* a line in the timeline */
}

static int compare_times(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Draws a frame every 10 ms and sleeps in between, as a game or a player does. Returns
 * what a frame usually takes: the median. */
static double animate(animation *a, void (*draw)(picture *, size_t),
                      weft_progress *progress) {
  double start = now_ms();
  for (size_t i = 0; i < frame_count; i++) {
    sleep_until(start + FRAME_MS * (double)i);
    double begin = now_ms();
    draw(&a->picture, i);
    a->ms[i] = now_ms() - begin;
    add_pixels(a);
    weft_progress_add(progress, 1);
  }
  qsort(a->ms, frame_count, sizeof *a->ms, compare_times);
  return a->ms[frame_count / 2];
}

static double frames_serial(weft_progress *progress) {
  return animate(&animations[0], draw_serially, progress);
}

static double frames_parallel(weft_progress *progress) {
  return animate(&animations[1], draw_in_parallel, progress);
}

static bool frames_prepare(stop *s, bool is_small) {
  size_t width = is_small ? 60 : 320, height = width * 5 / 8;
  frame_count = is_small ? 5 : MOST_FRAMES;
  s->steps = frame_count;
  (void)snprintf(s->title, sizeof s->title, "a frame; %zu of them, every %d ms",
                 frame_count, FRAME_MS);
  return picture_make(&animations[0].picture, width, height) &&
         picture_make(&animations[1].picture, width, height);
}

static bool frames_is_right(void) {
  return animations[0].sum == animations[1].sum;
}

static void frames_spoil(void) {
  animations[1].sum++;
}

static bool frames_save(const char *path) {
  return picture_save(&animations[1].picture, path);
}

static void frames_say(void) {
  printf("  The slowest of %zu frames took %.1f ms; the pool slept between them.\n",
         frame_count, animations[1].ms[frame_count - 1]);
}

static void frames_release(void) {
  free(animations[0].picture.pixels);
  free(animations[1].picture.pixels);
}

stop frames_stop = {.name = "frames",
                    .unit = "frames",
                    .image = "frame.png",
                    .prepare = frames_prepare,
                    .serial = frames_serial,
                    .parallel = frames_parallel,
                    .is_right = frames_is_right,
                    .spoil = frames_spoil,
                    .save = frames_save,
                    .say = frames_say,
                    .release = frames_release};
