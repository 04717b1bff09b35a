/* trace/page.c - writes the timeline page: one file that needs no other.
 *
 * The page is made of the files in ../view, which the build puts into this program, of
 * the summary as JSON, and of the events. Those are numbers of variable length (seven
 * bits in a byte, the highest bit says that more follow), each mostly the difference to
 * the one before, in base 64: about ten bytes for an event. ../view/data.js reads them;
 * write_events here and that file change together.
 *
 * SPDX-License-Identifier: MIT */
#include "trace.h"

#include "../view/embedded.h"

#include <string.h>

/* ---- numbers ---- */

static void put(text *out, uint64_t value) {
  char bytes[10];
  size_t count = 0;
  while (value >= 128) {
    bytes[count++] = (char)(value | 128);
    value >>= 7;
  }
  bytes[count++] = (char)value;
  text_add(out, bytes, count);
}

/* 0, -1, 1, -2 ... become 0, 1, 2, 3 ... */
static void put_signed(text *out, int64_t value) {
  put(out, value < 0 ? (uint64_t)(-(value + 1)) * 2 + 1 : (uint64_t)value * 2);
}

/* ---- events ---- */

static void write_slices(const trace *t, text *out) {
  for (size_t i = 0; i < t->lane_count; i++) {
    const lane *l = &t->lanes[i];
    uint64_t last = 0;
    put(out, l->slice_count);
    for (size_t j = 0; j < l->slice_count; j++) {
      const slice *s = &t->slices[l->slice_first + j];
      put(out, s->begin - last);
      last = s->begin;
      put(out, s->end - s->begin);
      put(out, (uint64_t)s->name * 64 + s->kind + (s->has_range ? 8u : 0u) +
                   (s->open ? 16u : 0u) + (s->other >= 0 ? 32u : 0u));
      if (s->has_range) {
        put(out, s->first);
        put(out, s->last - s->first);
      }
      if (s->other >= 0) put(out, (uint64_t)s->other);
      if (s->kind == SLICE_SLEEP) put(out, s->late);
    }
  }
}

static void write_stretches(const trace *t, text *out) {
  for (size_t i = 0; i < t->lane_count; i++) {
    const lane *l = &t->lanes[i];
    uint64_t last = 0;
    put(out, l->stretch_count);
    for (size_t j = 0; j < l->stretch_count; j++) {
      const stretch *s = &l->stretches[j];
      put(out, s->begin - last);
      put(out, (s->end - s->begin) * 8 + s->state);
      last = s->end;
    }
  }
}

static void write_levels(const stretch *levels, size_t count, text *out) {
  put(out, count);
  for (size_t i = 0; i < count; i++) {
    put(out, levels[i].end - levels[i].begin);
    put(out, levels[i].state);
  }
}

static void write_events(const trace *t, text *out) {
  write_slices(t, out);
  write_stretches(t, out);
  uint64_t last = 0;
  put(out, t->arrow_count);
  for (size_t i = 0; i < t->arrow_count; i++) {
    const arrow *a = &t->arrows[i];
    put(out, a->to_time - last);
    last = a->to_time;
    put_signed(out, (int64_t)a->to_time - (int64_t)a->from_time);
    put(out, a->from_lane);
    put(out, (uint64_t)a->to_lane * 2 + a->kind);
  }
  last = 0;
  put(out, t->mark_count);
  for (size_t i = 0; i < t->mark_count; i++) {
    const mark *m = &t->marks[i];
    put(out, m->time - last);
    last = m->time;
    put(out, m->lane);
    put(out, (uint64_t)m->name * 8 + m->kind);
    put(out, m->number > 0 ? (uint64_t)m->number : 0);
  }
  write_levels(t->levels, t->level_count, out);
  write_levels(t->search_levels, t->search_level_count, out);
}

static void add_base64(text *page, const text *bytes) {
  static const char digits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const unsigned char *from = (const unsigned char *)bytes->chars;
  for (size_t i = 0; i < bytes->length; i += 3) {
    size_t left = bytes->length - i;
    uint32_t three = (uint32_t)from[i] << 16 |
                     (left > 1 ? (uint32_t)from[i + 1] << 8 : 0) |
                     (left > 2 ? from[i + 2] : 0);
    char four[4] = {digits[three >> 18], digits[three >> 12 & 63],
                    left > 1 ? digits[three >> 6 & 63] : '=',
                    left > 2 ? digits[three & 63] : '='};
    text_add(page, four, 4);
  }
}

/* ---- the page ---- */

/* JSON inside a script element must not end it: "<" is written as an escape. */
static void add_json(text *page, const text *json) {
  for (size_t i = 0; i < json->length; i++) {
    if (json->chars[i] == '<')
      text_add_string(page, "\\u003c");
    else
      text_add(page, &json->chars[i], 1);
  }
}

static void add_html(text *page, const char *string) {
  for (; *string != '\0'; string++) {
    if (*string == '<')
      text_add_string(page, "&lt;");
    else if (*string == '&')
      text_add_string(page, "&amp;");
    else
      text_add(page, string, 1);
  }
}

static void add_summary(const trace *t, text *page) {
  json_writer w = {.compact = true};
  trace_write_summary(t, &w);
  add_json(page, &w.out);
  text_free(&w.out);
}

static void add_strings(const trace *t, text *page) {
  json_writer w = {.compact = true};
  json_begin(&w, NULL, '[');
  for (size_t i = 0; i < t->name_count; i++) json_put_text(&w, NULL, t->names[i]);
  json_finish(&w, ']');
  add_json(page, &w.out);
  text_free(&w.out);
}

static void add_part(const trace *t, const char *name, size_t length, text *page) {
  if (length == 5 && memcmp(name, "title", length) == 0) {
    add_html(page, t->program[0] != '\0' ? t->program : "trace");
  } else if (length == 5 && memcmp(name, "style", length) == 0) {
    text_add(page, (const char *)view_style, view_style_length);
  } else if (length == 6 && memcmp(name, "script", length) == 0) {
    text_add(page, (const char *)view_script, view_script_length);
  } else if (length == 7 && memcmp(name, "summary", length) == 0) {
    add_summary(t, page);
  } else if (length == 7 && memcmp(name, "strings", length) == 0) {
    add_strings(t, page);
  } else if (length == 6 && memcmp(name, "events", length) == 0) {
    text events = {0};
    write_events(t, &events);
    add_base64(page, &events);
    text_free(&events);
  }
}

/* The page has places such as {{style}}. */
void trace_write_page(const trace *t, text *page) {
  const char *at = (const char *)view_page, *end = at + view_page_length;
  while (at < end) {
    const char *open = at;
    while (open < end - 1 && (open[0] != '{' || open[1] != '{')) open++;
    if (open >= end - 1) break;
    text_add(page, at, (size_t)(open - at));
    const char *close = open + 2;
    while (close < end - 1 && (close[0] != '}' || close[1] != '}')) close++;
    add_part(t, open + 2, (size_t)(close - open - 2), page);
    at = close + 2;
  }
  text_add(page, at, (size_t)(end - at));
}
