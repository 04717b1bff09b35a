/* harness/json_write.c - the writing half of json.h.
 *
 * SPDX-License-Identifier: MIT */
#include "json.h"
#include <math.h>
#include <stdio.h>

static void write_quoted(text *out, const char *chars) {
  text_add(out, "\"");
  for (; *chars != 0; chars++) {
    unsigned char c = (unsigned char)*chars;
    if (c == '"' || c == '\\')
      text_print(out, "\\%c", c);
    else if (c == '\n')
      text_add(out, "\\n");
    else if (c == '\t')
      text_add(out, "\\t");
    else if (c < 0x20)
      text_print(out, "\\u%04x", c);
    else
      text_add_bytes(out, chars, 1);
  }
  text_add(out, "\"");
}

static bool on_one_line(const json_writer *w) {
  return w->compact != 0 && w->depth >= w->compact;
}

static void new_line(json_writer *w) {
  text_add(&w->out, "\n");
  for (int i = 0; i < w->depth; i++) text_add(&w->out, " ");
}

/* What comes before a value or a key. */
static void separate(json_writer *w) {
  bool first = w->first;
  w->first = false;
  if (w->keyed) {
    w->keyed = false;
    return;
  }
  if (w->depth == 0) return;
  if (!first) text_add(&w->out, ",");
  if (!on_one_line(w))
    new_line(w);
  else if (!first)
    text_add(&w->out, " ");
}

void json_begin(json_writer *w, char bracket) {
  separate(w);
  text_add_bytes(&w->out, &bracket, 1);
  w->depth++;
  w->first = true;
}

void json_end(json_writer *w, char bracket) {
  bool one_line = on_one_line(w);
  w->depth--;
  if (!w->first && !one_line) new_line(w);
  text_add_bytes(&w->out, &bracket, 1);
  w->first = false;
  if (w->depth == 0) text_add(&w->out, "\n");
}

void json_key(json_writer *w, const char *key) {
  separate(w);
  write_quoted(&w->out, key);
  text_add(&w->out, ": ");
  w->keyed = true;
}

void json_text(json_writer *w, const char *value) {
  separate(w);
  if (value != NULL)
    write_quoted(&w->out, value);
  else
    text_add(&w->out, "null");
}

void json_number(json_writer *w, double value) {
  separate(w);
  if (!isfinite(value))
    text_add(&w->out, "null");
  else if (value == floor(value) && fabs(value) < 1e15)
    text_print(&w->out, "%.0f", value);
  else
    text_print(&w->out, "%.10g", value);
}

void json_bool(json_writer *w, bool value) {
  separate(w);
  text_add(&w->out, value ? "true" : "false");
}

void json_numbers(json_writer *w, const double *values, size_t count) {
  int before = w->compact;
  if (!on_one_line(w)) w->compact = w->depth + 1;
  json_begin(w, '[');
  for (size_t i = 0; i < count; i++) json_number(w, values[i]);
  json_end(w, ']');
  w->compact = before;
}
