/* lines.c - reads small text files of the system line by line.
 *
 * A line that does not fit is skipped as a whole, since half a path or half a number
 * would be a wrong one. Keeps no state; any thread.
 *
 * SPDX-License-Identifier: MIT */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* O_CLOEXEC */
#endif

#include "lines.h"

#if defined(__linux__)

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

bool wf_path_join(char *path, const char *first, const char *second, const char *third) {
  const char *parts[] = {first, second, third};
  size_t length = 0;
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    const size_t part = strlen(parts[i]);
    if (part >= WF_PATH_SIZE - length) return false;
    memcpy(path + length, parts[i], part + 1);
    length += part;
  }
  return true;
}

bool wf_lines_open(wf_lines *reader, const char *path) {
  reader->used = reader->filled = 0;
  do {
    reader->fd = open(path, O_RDONLY | O_CLOEXEC);
  } while (reader->fd < 0 && errno == EINTR);
  return reader->fd >= 0;
}

void wf_lines_close(wf_lines *reader) {
  close(reader->fd);
}

/* Returns the next character, or -1 at the end; an error is an end. */
static int lines_char(wf_lines *reader) {
  if (reader->used == reader->filled) {
    ssize_t count;
    do {
      count = read(reader->fd, reader->chunk, sizeof reader->chunk);
    } while (count < 0 && errno == EINTR);
    if (count <= 0) return -1;
    reader->used = 0;
    reader->filled = (size_t)count;
  }
  return (unsigned char)reader->chunk[reader->used++];
}

bool wf_lines_next(wf_lines *reader) {
  for (;;) {
    size_t length = 0;
    int c;
    while ((c = lines_char(reader)) >= 0 && c != '\n') {
      if (length < WF_LINE_ROOM - 1) reader->line[length] = (char)c;
      length++;
    }
    if (c < 0 && length == 0) return false;
    if (length >= WF_LINE_ROOM) continue;
    if (length > 0 && reader->line[length - 1] == '\r') length--;
    reader->line[length] = '\0';
    return true;
  }
}

#endif
