/* base/json_write.c - the JSON writer; see json.h.
 *
 * SPDX-License-Identifier: MIT */
#include "json.h"

#include <math.h>
#include <string.h>

static void put_string(text *out, const char *value) {
  text_add(out, "\"", 1);
  for (; *value != '\0'; value++) {
    unsigned char c = (unsigned char)*value;
    if (c == '"' || c == '\\')
      text_format(out, "\\%c", c);
    else if (c < 32)
      text_format(out, "\\u%04x", c);
    else
      text_add(out, value, 1);
  }
  text_add(out, "\"", 1);
}

/* What comes before a value: a comma, a new line, the key. */
static void lead(json_writer *w, const char *key) {
  if (w->depth > 0) {
    if (!w->first) text_add(&w->out, ",", 1);
    if (!w->compact) text_format(&w->out, "\n%*s", 2 * w->depth, "");
  }
  w->first = false;
  if (key == NULL) return;
  put_string(&w->out, key);
  text_add_string(&w->out, w->compact ? ":" : ": ");
}

void json_begin(json_writer *w, const char *key, char bracket) {
  lead(w, key);
  text_add(&w->out, &bracket, 1);
  w->depth++;
  w->first = true;
}

void json_finish(json_writer *w, char bracket) {
  w->depth--;
  if (!w->first && !w->compact) text_format(&w->out, "\n%*s", 2 * w->depth, "");
  text_add(&w->out, &bracket, 1);
  w->first = false;
}

void json_put_text(json_writer *w, const char *key, const char *value) {
  lead(w, key);
  if (value == NULL)
    text_add_string(&w->out, "null");
  else
    put_string(&w->out, value);
}

void json_put_number(json_writer *w, const char *key, double value) {
  lead(w, key);
  if (!isfinite(value))
    text_add_string(&w->out, "null");
  else if (value == floor(value) && fabs(value) < 1e15)
    text_format(&w->out, "%.0f", value);
  else
    text_format(&w->out, "%.6g", value);
}

void json_put_bool(json_writer *w, const char *key, bool value) {
  lead(w, key);
  text_add_string(&w->out, value ? "true" : "false");
}

void json_print(json_writer *w) {
  text_add(&w->out, "\n", 1);
  fwrite(w->out.chars, 1, w->out.length, stdout);
  text_free(&w->out);
}
