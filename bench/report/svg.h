/* report/svg.h - drawing: a few shapes, scales and axes, as SVG text.
 *
 * Shapes have classes, and the style sheet in style.c gives each class a colour for light
 * and for dark mode. A picture is as wide as a phone, so its text is not made smaller
 * there.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_REPORT_SVG_H
#define BENCH_REPORT_SVG_H

#include "../harness/text.h"

enum { SVG_WIDTH = 400 };

typedef enum anchor { AT_START, AT_MIDDLE, AT_END } anchor;

/* A picture: a title and a description for those who do not see it. */
void svg_begin(text *out, double height, const char *title, const char *description);
void svg_end(text *out);

void svg_rect(text *out, const char *class, double x, double y, double width,
              double height);
void svg_line(text *out, const char *class, double x1, double y1, double x2, double y2);
/* Filled, or only its outline: seen without colours, too. */
void svg_dot(text *out, const char *class, double x, double y, double radius,
             const char *tip);
void svg_path(text *out, const char *class, const double *xy, size_t points);
__attribute__((format(printf, 6, 7))) void svg_text(text *out, const char *class,
                                                    anchor where, double x, double y,
                                                    const char *format, ...);

/* Text of results as text of a page. */
void add_escaped(text *out, const char *chars);

/* ---- scales ---- */

/* Values from low to high become places from `from` to `to`, by logarithm. */
typedef struct scale {
  double low, high, from, to;
} scale;

/* A scale that has room for the values; at least from `low` to `high`. */
scale scale_over(const double *values, size_t count, double low, double high, double from,
                 double to);
double scale_at(const scale *s, double value);

/* Lines and numbers of a horizontal (or vertical) axis across the area between `near` and
 * `far`, at 1, 2, 5, 10 ... or at powers of ten where there are many. */
void svg_axis_x(text *out, const scale *s, double near, double far,
                void (*label)(text *out, double value));
void svg_axis_y(text *out, const scale *s, double near, double far,
                void (*label)(text *out, double value));

/* As exact as anybody wants to read it. */
double three_digits(double value);

/* Labels: 2x; 1.5 us. */
void label_ratio(text *out, double value);
void label_time(text *out, double value);
void label_plain(text *out, double value);

#endif
