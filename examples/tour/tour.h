/* tour.h - what the files of the tour share: a stop, pictures, time.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TOUR_H
#define TOUR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <weft.h>

/* One stop of the tour: the same work twice. Functions that compute return how many
 * milliseconds they took, and count what they have done for the bar on the terminal. */
typedef struct stop {
  const char *name;  /* one word, for --spoil and for messages */
  char title[64];    /* a line of the table; made by prepare */
  const char *unit;  /* of what the bar counts */
  uint64_t steps;    /* that the bar counts to; 0: not known. Set by prepare */
  const char *image; /* the name of the picture that it makes, or NULL */
  bool (*prepare)(struct stop *s, bool is_small); /* false without memory */
  double (*serial)(weft_progress *p);
  double (*parallel)(weft_progress *p);
  bool (*is_right)(void);         /* are both results the same? */
  void (*spoil)(void);            /* makes the result of weft wrong, for tests */
  bool (*save)(const char *path); /* the picture */
  void (*say)(void);              /* a sentence below the table, or NULL */
  void (*release)(void);
  double serial_ms, parallel_ms; /* filled by main */
} stop;

/* pictures.c, data.c, tasks.c */
extern stop mandelbrot_stop, blur_stop, sort_stop, words_stop, queens_stop, frames_stop;

/* ---- pictures ---- */

typedef struct rgb {
  unsigned char r, g, b;
} rgb;

typedef struct picture {
  size_t width, height;
  rgb *pixels; /* row by row */
} picture;

/* False without memory; pixels is NULL then. */
bool picture_make(picture *p, size_t width, size_t height);
bool picture_equal(const picture *a, const picture *b);
/* Writes a PNG; false, with errno set, if the file cannot be written. (png.c) */
bool picture_save(const picture *p, const char *path);

/* The picture that the Mandelbrot stop has made serially: the input of the blur. */
const picture *mandelbrot_picture(void);

/* ---- time ---- */

double now_ms(void);

/* Options that name a call in the trace, for the timeline. */
static inline weft_opts named(const char *name) {
  weft_opts o = WEFT_OPTS_INIT;
  o.name = name;
  return o;
}

#endif
