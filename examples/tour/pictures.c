/* pictures.c - two stops of the tour: the Mandelbrot set, whose rows cost very different
 * amounts of time, and a blur of that picture.
 *
 * SPDX-License-Identifier: MIT */
#include "tour.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the Mandelbrot set: a loop over rows ---- */

enum { LIMIT = 500 };

/* [0] serial, [1] with weft */
static picture fractals[2];

const picture *mandelbrot_picture(void) {
  return &fractals[0];
}

/* From dark blue over gold to white; points of the set are black. */
static rgb colour_of(int steps, double distance) {
  if (steps == LIMIT) return (rgb){0, 0, 0};
  double smooth = steps + 1 - log2(log2(distance) / 2);
  double t = fmod(0.02 * smooth + 0.55, 1);
  return (rgb){(unsigned char)(127 + 127 * cos(6.2832 * t)),
               (unsigned char)(127 + 127 * cos(6.2832 * (t - 0.1))),
               (unsigned char)(127 + 127 * cos(6.2832 * (t - 0.25)))};
}

static void draw_row(picture *p, size_t y) {
  double scale = 3.0 / (double)p->width;
  double ci = ((double)y - (double)p->height / 2) * scale;
  for (size_t x = 0; x < p->width; x++) {
    double cr = (double)x * scale - 2.1, zr = 0, zi = 0;
    int steps = 0;
    for (; steps < LIMIT && zr * zr + zi * zi < 64; steps++) {
      double next = zr * zr - zi * zi + cr;
      zi = 2 * zr * zi + ci;
      zr = next;
    }
    p->pixels[y * p->width + x] = colour_of(steps, zr * zr + zi * zi);
  }
}

static double mandelbrot_serial(weft_progress *progress) {
  double start = now_ms();
  for (size_t y = 0; y < fractals[0].height; y++) {
    draw_row(&fractals[0], y);
    weft_progress_add(progress, 1);
  }
  return now_ms() - start;
}

/* This is all that a parallel loop takes: its body, below a line that names the loop, the
 * index and what the body uses. */
WEFT_LOOP(mandelbrot, y, picture *, p, weft_progress *, progress) {
  draw_row(p, y);
  weft_progress_add(progress, 1);
}

static double mandelbrot_parallel(weft_progress *progress) {
  weft_opts o = named("Mandelbrot rows"); /* without a name: mandelbrot(height, ...) */
  double start = now_ms();
  mandelbrot_with(&o, fractals[1].height, &fractals[1], progress);
  return now_ms() - start;
}

static bool mandelbrot_prepare(stop *s, bool is_small) {
  size_t width = is_small ? 150 : 1200, height = width * 2 / 3;
  s->steps = height;
  (void)snprintf(s->title, sizeof s->title, "Mandelbrot set, %zu x %zu points", width,
                 height);
  return picture_make(&fractals[0], width, height) &&
         picture_make(&fractals[1], width, height);
}

static bool mandelbrot_is_right(void) {
  return picture_equal(&fractals[0], &fractals[1]);
}

static void mandelbrot_spoil(void) {
  fractals[1].pixels[0].r ^= 1;
}

static bool mandelbrot_save(const char *path) {
  return picture_save(&fractals[1], path);
}

static void mandelbrot_release(void) {
  free(fractals[0].pixels);
  free(fractals[1].pixels);
}

stop mandelbrot_stop = {.name = "mandelbrot",
                        .unit = "rows",
                        .image = "mandelbrot.png",
                        .prepare = mandelbrot_prepare,
                        .serial = mandelbrot_serial,
                        .parallel = mandelbrot_parallel,
                        .is_right = mandelbrot_is_right,
                        .spoil = mandelbrot_spoil,
                        .save = mandelbrot_save,
                        .release = mandelbrot_release};

/* ---- a blur: two loops over rows, one after the other ---- */

enum { RADIUS = 20, TAPS = 2 * RADIUS + 1 };

typedef struct blur {
  const picture *from;
  float *between; /* blurred along rows: three numbers for each point */
  picture to;
} blur;

static blur blurs[2]; /* as above */
static float weights[TAPS];

static size_t clamp(ptrdiff_t at, size_t length) {
  return at < 0 ? 0 : (size_t)at < length ? (size_t)at : length - 1;
}

/* Along the row: each point becomes an average of those to its left and right. */
static void blur_along(blur *b, size_t y) {
  size_t width = b->from->width;
  const rgb *row = b->from->pixels + y * width;
  for (size_t x = 0; x < width; x++) {
    float red = 0, green = 0, blue = 0;
    for (int k = 0; k < TAPS; k++) {
      const rgb *p = &row[clamp((ptrdiff_t)x + k - RADIUS, width)];
      red += weights[k] * (float)p->r;
      green += weights[k] * (float)p->g;
      blue += weights[k] * (float)p->b;
    }
    float *out = b->between + 3 * (y * width + x);
    out[0] = red, out[1] = green, out[2] = blue;
  }
}

/* Across the rows: needs what the first loop has made of the rows around. */
static void blur_across(blur *b, size_t y) {
  size_t width = b->from->width;
  for (size_t x = 0; x < width; x++) {
    float red = 0, green = 0, blue = 0;
    for (int k = 0; k < TAPS; k++) {
      size_t row = clamp((ptrdiff_t)y + k - RADIUS, b->from->height);
      const float *p = b->between + 3 * (row * width + x);
      red += weights[k] * p[0];
      green += weights[k] * p[1];
      blue += weights[k] * p[2];
    }
    b->to.pixels[y * width + x] =
        (rgb){(unsigned char)red, (unsigned char)green, (unsigned char)blue};
  }
}

static double blur_serial(weft_progress *progress) {
  double start = now_ms();
  for (size_t y = 0; y < blurs[0].to.height; y++) {
    blur_along(&blurs[0], y);
    weft_progress_add(progress, 1);
  }
  for (size_t y = 0; y < blurs[0].to.height; y++) {
    blur_across(&blurs[0], y);
    weft_progress_add(progress, 1);
  }
  return now_ms() - start;
}

WEFT_LOOP(all_along, y, blur *, b, weft_progress *, progress) {
  blur_along(b, y);
  weft_progress_add(progress, 1);
}

WEFT_LOOP(all_across, y, blur *, b, weft_progress *, progress) {
  blur_across(b, y);
  weft_progress_add(progress, 1);
}

/* The first loop has ended, and all it did is visible, when the second one begins. */
static double blur_parallel(weft_progress *progress) {
  weft_opts along = named("blur along rows"), across = named("blur across rows");
  double start = now_ms();
  all_along_with(&along, blurs[1].to.height, &blurs[1], progress);
  all_across_with(&across, blurs[1].to.height, &blurs[1], progress);
  return now_ms() - start;
}

static bool blur_make(blur *b, const picture *from) {
  b->from = from;
  b->between = malloc(from->width * from->height * 3 * sizeof *b->between);
  return b->between != NULL && picture_make(&b->to, from->width, from->height);
}

static bool blur_prepare(stop *s, bool is_small) {
  (void)is_small; /* as large as the picture */
  float sum = 0;
  for (int k = 0; k < TAPS; k++) {
    float distance = (float)(k - RADIUS) / (RADIUS / 2.5f);
    sum += weights[k] = expf(-distance * distance / 2);
  }
  for (int k = 0; k < TAPS; k++) weights[k] /= sum;
  const picture *from = mandelbrot_picture();
  s->steps = 2 * from->height;
  (void)snprintf(s->title, sizeof s->title, "blur of that picture, %d points wide", TAPS);
  return blur_make(&blurs[0], from) && blur_make(&blurs[1], from);
}

static bool blur_is_right(void) {
  return picture_equal(&blurs[0].to, &blurs[1].to);
}

static void blur_spoil(void) {
  blurs[1].to.pixels[7].g ^= 1;
}

static bool blur_save(const char *path) {
  return picture_save(&blurs[1].to, path);
}

static void blur_release(void) {
  for (int i = 0; i < 2; i++) {
    free(blurs[i].between);
    free(blurs[i].to.pixels);
  }
}

stop blur_stop = {.name = "blur",
                  .unit = "rows",
                  .image = "blur.png",
                  .prepare = blur_prepare,
                  .serial = blur_serial,
                  .parallel = blur_parallel,
                  .is_right = blur_is_right,
                  .spoil = blur_spoil,
                  .save = blur_save,
                  .release = blur_release};
