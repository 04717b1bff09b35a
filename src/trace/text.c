/* trace/text.c - lines of JSON, and the file that they go into.
 *
 * Used by the reader, the thread that writes the file, and for live statistics. Allocates
 * nothing and uses nothing of the C library that takes a lock: the reader also works when
 * another thread has crashed in the middle of malloc.
 *
 * SPDX-License-Identifier: MIT */
#include "record.h"

#include <string.h>

/* ---- text ---- */

static void text_bytes(wf_text *text, const char *bytes, size_t count) {
  size_t room = WF_LINE_MAX - text->length;
  if (count > room) count = room;
  memcpy(text->data + text->length, bytes, count);
  text->length += count;
}

void wf_text_put(wf_text *text, const char *string) {
  text_bytes(text, string, strlen(string));
}

/* The digits of a number, at least `least` of them. */
static void text_digits(wf_text *text, uint64_t value, unsigned base, unsigned least) {
  char digits[24];
  unsigned at = sizeof digits;
  do {
    digits[--at] = "0123456789abcdef"[value % base];
    value /= base;
  } while (value > 0 || sizeof digits - at < least);
  text_bytes(text, digits + at, sizeof digits - at);
}

void wf_text_number(wf_text *text, uint64_t value) {
  text_digits(text, value, 10, 1);
}

void wf_text_us(wf_text *text, uint64_t ns) {
  text_digits(text, ns / 1000, 10, 1);
  text_bytes(text, ".", 1);
  text_digits(text, ns % 1000, 10, 3);
}

void wf_text_address(wf_text *text, uint64_t address) {
  wf_text_put(text, "\"0x");
  text_digits(text, address, 16, 1);
  wf_text_put(text, "\"");
}

/* How many bytes the UTF-8 character at `s` has; 0: it is none. The limits on the second
 * byte leave out forms that are too long, surrogates, and what lies beyond U+10FFFF. */
static size_t utf8_length(const unsigned char *s) {
  unsigned low = 0x80, high = 0xBF;
  size_t length;
  if (s[0] < 0x80) return 1;
  if (s[0] >= 0xC2 && s[0] <= 0xDF)
    length = 2;
  else if (s[0] >= 0xE0 && s[0] <= 0xEF)
    length = 3;
  else if (s[0] >= 0xF0 && s[0] <= 0xF4)
    length = 4;
  else
    return 0;
  if (s[0] == 0xE0) low = 0xA0;
  if (s[0] == 0xED) high = 0x9F;
  if (s[0] == 0xF0) low = 0x90;
  if (s[0] == 0xF4) high = 0x8F;
  if (s[1] < low || s[1] > high) return 0;
  for (size_t i = 2; i < length; i++)
    if (s[i] < 0x80 || s[i] > 0xBF) return 0; /* also at the end of the string */
  return length;
}

static void text_escaped(wf_text *text, unsigned char c) {
  char escape[] = {'\\', (char)c};
  if (c == '"' || c == '\\') {
    text_bytes(text, escape, 2);
  } else if (c < 0x20 || c == 0x7F) {
    wf_text_put(text, "\\u");
    text_digits(text, c, 16, 4);
  } else {
    text_bytes(text, escape + 1, 1);
  }
}

void wf_text_string_open(wf_text *text, const char *string) {
  const unsigned char *s = (const unsigned char *)string;
  wf_text_put(text, "\"");
  for (size_t taken = 0; *s != '\0';) {
    size_t length = utf8_length(s);
    if (taken + length > WF_NAME_MAX || taken >= WF_NAME_MAX) {
      wf_text_put(text, "...");
      break;
    }
    if (length == 0)
      wf_text_put(text, "\\ufffd");
    else if (length == 1)
      text_escaped(text, *s);
    else
      text_bytes(text, (const char *)s, length);
    s += length > 0 ? length : 1;
    taken += length > 0 ? length : 1;
  }
}

void wf_text_string(wf_text *text, const char *string) {
  wf_text_string_open(text, string);
  wf_text_put(text, "\"");
}

/* ---- the file ---- */

/* What makes the file whole. Eight bytes with as many spaces before it: see cross_page.
 */
static const char TAIL[] = "\n]}\n";
enum { TAIL_SIZE = sizeof TAIL - 1, WINDOW = 256 * WF_PAGE };
_Static_assert(TAIL_SIZE == 4, "a tail moves to the next page in one store of 8 bytes");
_Static_assert(WF_LINE_MAX + 2 * TAIL_SIZE < WF_PAGE, "a line fits into a page");

/* A write may have been done in part: the disk is full, and its blocks are smaller than a
 * page. The file ends where it did before. That takes no room; if it fails too, nothing
 * can be done. */
static void out_fail(wf_file *out) {
  out->has_failed = true;
  if (out->end > 0) (void)wf_sys_file_write(out->file, TAIL, TAIL_SIZE, out->end);
  (void)wf_sys_file_cut(out->file, out->end > 0 ? out->end + TAIL_SIZE : 0);
}

static void out_write(wf_file *out, const void *data, size_t size, uint64_t offset) {
  if (!out->has_failed && !wf_sys_file_write(out->file, data, size, offset))
    out_fail(out);
}

/* Room for pending text in the page that the tail is in. */
static size_t out_room(const wf_file *out) {
  size_t used = (size_t)(out->end % WF_PAGE) + out->pending + TAIL_SIZE;
  return used < WF_PAGE ? WF_PAGE - used : 0;
}

/* The write touches one page only, so it is done or not done when the process dies. */
void wf_file_flush(wf_file *out) {
  if (out->pending == 0) return;
  memcpy(out->page + out->pending, TAIL, TAIL_SIZE);
  out_write(out, out->page, out->pending + TAIL_SIZE, out->end);
  if (!out->has_failed) out->end += out->pending;
  out->pending = 0;
}

/* The page of the file that begins at `at`, as memory; NULL if there is none. */
static char *out_map(wf_file *out, uint64_t at) {
  if (out->has_failed) return NULL;
  uint64_t window_at = at - at % WINDOW;
  if (out->window == NULL || out->window_at != window_at) {
    if (out->window != NULL) wf_sys_unmap(out->window, 2 * WINDOW);
    out->window = (char *)wf_sys_file_map(out->file, window_at, 2 * (size_t)WINDOW);
    out->window_at = window_at;
  }
  return out->window != NULL ? out->window + (at - window_at) : NULL;
}

/* A store that the compiler makes in one instruction, at any address, for these machines.
 * For others it makes several. */
#if defined(__x86_64__) || defined(__aarch64__) || defined(__s390x__)
enum { ONE_STORE = true };
#else
enum { ONE_STORE = false };
#endif
typedef struct __attribute__((packed)) any_u64 {
  uint64_t value;
} any_u64;

/* Without a change: the next store to this page does not have to wait for it. */
static void touch_page(char *at) {
  volatile char *byte = at;
  *byte = *byte;
}

/* Moves the tail from the end of one page to the beginning of the next. A write that
 * touches two pages may be cut in two by SIGKILL; a store of the CPU may not. If it takes
 * several, they follow each other without a page fault between them: only a signal within
 * these few nanoseconds cuts the file. */
static void move_tail_across(wf_file *out, uint64_t boundary) {
  char moved[2 * TAIL_SIZE];
  memset(moved, ' ', TAIL_SIZE);
  memcpy(moved + TAIL_SIZE, TAIL, TAIL_SIZE);
  char *page = out_map(out, boundary - WF_PAGE);
  if (page != NULL) {
    any_u64 tail;
    memcpy(&tail, moved, sizeof tail);
    if (!ONE_STORE) {
      touch_page(page + WF_PAGE - 1);
      touch_page(page + WF_PAGE);
    }
    *(volatile any_u64 *)(void *)(page + WF_PAGE - TAIL_SIZE) = tail;
  } else {
    out_write(out, moved, sizeof moved, boundary - TAIL_SIZE);
  }
}

/* Goes on in the next page. The file is whole after each of the three steps: first there
 * are spaces behind the tail, then before it. Nothing is pending. */
static void cross_page(wf_file *out) {
  char spaces[WF_PAGE];
  size_t left = WF_PAGE - (size_t)(out->end % WF_PAGE);
  uint64_t boundary = out->end + left;
  memset(spaces, ' ', sizeof spaces);
  WF_ASSERT(out->pending == 0 && left >= TAIL_SIZE);
  out_write(out, spaces, left, out->end + TAIL_SIZE);
  memcpy(spaces + left - TAIL_SIZE, TAIL, TAIL_SIZE);
  out_write(out, spaces, left, out->end);
  move_tail_across(out, boundary);
  if (!out->has_failed) out->end = boundary;
}

void wf_file_line(wf_file *out, const wf_text *line) {
  if (out->has_failed) return;
  if (line->length + 2 > out_room(out)) {
    wf_file_flush(out);
    cross_page(out);
    if (out->has_failed) return;
  }
  if (out->has_lines) out->page[out->pending++] = ',';
  out->page[out->pending++] = '\n';
  memcpy(out->page + out->pending, line->data, line->length);
  out->pending += line->length;
  out->has_lines = true;
  WF_ASSERT(out->end % WF_PAGE + out->pending + TAIL_SIZE <= WF_PAGE);
}

bool wf_file_open(wf_file *out, int file, const wf_text *head) {
  memset(out, 0, sizeof *out);
  out->file = file;
  WF_ASSERT(head->length + TAIL_SIZE <= WF_PAGE);
  memcpy(out->page, head->data, head->length);
  out->pending = head->length;
  wf_file_flush(out);
  return !out->has_failed;
}

void wf_file_close(wf_file *out) {
  wf_file_flush(out);
  wf_file_abandon(out);
}

void wf_file_abandon(wf_file *out) {
  if (out->window != NULL) wf_sys_unmap(out->window, 2 * WINDOW);
  out->window = NULL;
  wf_sys_file_close(out->file);
}
