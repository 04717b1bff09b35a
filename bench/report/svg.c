/* report/svg.c - writes shapes, scales and axes as SVG text, for the plots.
 *
 * SPDX-License-Identifier: MIT */
#include "svg.h"
#include "../harness/tables.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

void add_escaped(text *out, const char *chars) {
  for (; chars != NULL && *chars != 0; chars++) {
    if (*chars == '&')
      text_add(out, "&amp;");
    else if (*chars == '<')
      text_add(out, "&lt;");
    else if (*chars == '>')
      text_add(out, "&gt;");
    else if (*chars == '"')
      text_add(out, "&quot;");
    else
      text_add_bytes(out, chars, 1);
  }
}

/* ---- shapes ---- */

void svg_begin(text *out, double height, const char *title, const char *description) {
  text_print(out,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %.0f\" "
             "role=\"img\"><title>",
             SVG_WIDTH, height);
  add_escaped(out, title);
  text_add(out, "</title><desc>");
  add_escaped(out, description);
  text_add(out, "</desc>\n");
}

void svg_end(text *out) {
  text_add(out, "</svg>\n");
}

void svg_rect(text *out, const char *class, double x, double y, double width,
              double height) {
  if (width < 0) {
    x += width;
    width = -width;
  }
  text_print(out,
             "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
             "rx=\"2\"/>\n",
             class, x, y, fmax(width, 1), height);
}

void svg_line(text *out, const char *class, double x1, double y1, double x2, double y2) {
  text_print(out,
             "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
             class, x1, y1, x2, y2);
}

void svg_dot(text *out, const char *class, double x, double y, double radius,
             const char *tip) {
  text_print(out, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\">", class, x, y,
             radius);
  if (tip != NULL) {
    text_add(out, "<title>");
    add_escaped(out, tip);
    text_add(out, "</title>");
  }
  text_add(out, "</circle>\n");
}

void svg_path(text *out, const char *class, const double *xy, size_t points) {
  text_print(out, "<polyline class=\"%s\" points=\"", class);
  for (size_t i = 0; i < points; i++)
    text_print(out, "%.1f,%.1f ", xy[2 * i], xy[2 * i + 1]);
  text_add(out, "\"/>\n");
}

void svg_text(text *out, const char *class, anchor where, double x, double y,
              const char *format, ...) {
  static const char *const anchors[] = {"start", "middle", "end"};
  char line[256];
  va_list list;
  va_start(list, format);
  vsnprintf(line, sizeof line, format, list);
  va_end(list);
  text_print(out, "<text class=\"%s\" text-anchor=\"%s\" x=\"%.1f\" y=\"%.1f\">", class,
             anchors[where], x, y);
  add_escaped(out, line);
  text_add(out, "</text>\n");
}

/* ---- scales ---- */

scale scale_over(const double *values, size_t count, double low, double high, double from,
                 double to) {
  for (size_t i = 0; i < count; i++) {
    if (!(values[i] > 0) || isinf(values[i])) continue;
    low = fmin(low, values[i]);
    high = fmax(high, values[i]);
  }
  return (scale){low / 1.1, high * 1.1, from, to};
}

double scale_at(const scale *s, double value) {
  if (!(value > s->low)) value = s->low;
  if (value > s->high) value = s->high;
  double share = log(value / s->low) / log(s->high / s->low);
  return s->from + share * (s->to - s->from);
}

/* The tick after this one. Over many powers of ten only those have ticks. */
static double next_tick(const scale *s, double tick) {
  double decades = log10(s->high / s->low);
  if (decades > 6) return tick * 100;
  if (decades > 3) return tick * 10;
  double digit = tick / pow(10, floor(log10(tick) + 1e-9));
  return tick * (digit > 1.5 && digit < 3 ? 2.5 : 2);
}

static double first_tick(const scale *s) {
  double tick = pow(10, floor(log10(s->low)));
  while (tick < s->low) tick = next_tick(s, tick);
  return tick;
}

static void tick_text(text *out, anchor where, double x, double y, double value,
                      void (*label)(text *out, double value)) {
  text t = {0};
  label(&t, value);
  svg_text(out, "tick", where, x, y, "%s", t.chars);
  text_free(&t);
}

void svg_axis_x(text *out, const scale *s, double near, double far,
                void (*label)(text *out, double value)) {
  for (double tick = first_tick(s); tick <= s->high; tick = next_tick(s, tick)) {
    double x = scale_at(s, tick);
    svg_line(out, "grid", x, near, x, far);
    /* At the edges a label in the middle would be cut off. */
    anchor where = x < 20 ? AT_START : x > SVG_WIDTH - 24 ? AT_END : AT_MIDDLE;
    tick_text(out, where, where == AT_END ? SVG_WIDTH - 2 : x, far + 14, tick, label);
  }
}

void svg_axis_y(text *out, const scale *s, double near, double far,
                void (*label)(text *out, double value)) {
  for (double tick = first_tick(s); tick <= s->high; tick = next_tick(s, tick)) {
    double y = scale_at(s, tick);
    svg_line(out, "grid", near, y, far, y);
    tick_text(out, AT_END, near - 5, y + 4, tick, label);
  }
}

double three_digits(double value) {
  if (!(value > 0)) return value;
  double unit = pow(10, floor(log10(value)) - 2);
  return round(value / unit) * unit;
}

void label_ratio(text *out, double value) {
  text_print(out, "%g\u00d7", value);
}

void label_time(text *out, double value) {
  if (value >= 1e9)
    text_print(out, "%g s", value / 1e9);
  else if (value >= 1e6)
    text_print(out, "%g ms", value / 1e6);
  else if (value >= 1e3)
    text_print(out, "%g \u00b5s", value / 1e3);
  else
    text_print(out, "%g ns", value);
}

void label_plain(text *out, double value) {
  text_print(out, "%g", value);
}
