/* base/text.c - a text that grows, and whole files in memory; see text.h.
 *
 * SPDX-License-Identifier: MIT */
#include "text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void *memory_resize(void *memory, size_t count, size_t size) {
  if (count == 0) count = 1;
  void *resized = count <= SIZE_MAX / size ? realloc(memory, count * size) : NULL;
  if (resized == NULL) {
    fprintf(stderr, "weft: out of memory\n");
    exit(1);
  }
  return resized;
}

static void make_room(text *t, size_t more) {
  if (t->capacity - t->length > more) return;
  size_t capacity = t->capacity < 64 ? 64 : t->capacity;
  while (capacity - t->length <= more) capacity *= 2;
  t->chars = memory_resize(t->chars, capacity, 1);
  t->capacity = capacity;
}

void text_add(text *t, const char *chars, size_t length) {
  make_room(t, length);
  if (length > 0) memcpy(t->chars + t->length, chars, length);
  t->length += length;
  t->chars[t->length] = '\0';
}

void text_add_string(text *t, const char *string) {
  text_add(t, string, strlen(string));
}

void text_format(text *t, const char *format, ...) {
  for (;;) {
    va_list arguments;
    va_start(arguments, format);
    size_t room = t->capacity - t->length;
    int length =
        vsnprintf(room > 0 ? t->chars + t->length : NULL, room, format, arguments);
    va_end(arguments);
    if (length < 0) return;
    if ((size_t)length < room) {
      t->length += (size_t)length;
      return;
    }
    make_room(t, (size_t)length + 1);
  }
}

void text_free(text *t) {
  free(t->chars);
  *t = (text){0};
}

void make_printable(char *chars, size_t length) {
  for (size_t i = 0; i < length; i++) {
    unsigned char c = (unsigned char)chars[i];
    /* U+0080 to U+009F are 0xC2 and another byte; 0x9B of them begins a command, too. */
    bool is_second = i + 1 < length && c == 0xC2 && (unsigned char)chars[i + 1] < 0xA0;
    if (c < 0x20 || c == 0x7F || is_second) chars[i] = '?';
    if (is_second) chars[++i] = '?';
  }
}

/* ---- files ---- */

bool file_read(const char *path, text *content) {
  bool standard = strcmp(path, "-") == 0;
  FILE *file = standard ? stdin : fopen(path, "rb");
  if (file == NULL) return false;
  /* fopen accepts folders; reading them fails with a clear EISDIR. */
  struct stat status;
  if (fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode))
    make_room(content, (size_t)status.st_size + 1);
  size_t got;
  do {
    make_room(content, 1 << 16);
    got = fread(content->chars + content->length, 1, 1 << 16, file);
    content->length += got;
  } while (got > 0);
  int problem = ferror(file) ? errno : 0;
  content->chars[content->length] = '\0';
  if (!standard) fclose(file);
  errno = problem;
  return problem == 0;
}

static bool write_to(FILE *file, const char *chars, size_t length) {
  bool written = fwrite(chars, 1, length, file) == length;
  return fflush(file) == 0 && written;
}

bool file_write(const char *path, const char *chars, size_t length) {
  if (strcmp(path, "-") == 0) return write_to(stdout, chars, length);
  struct stat status;
  bool special = stat(path, &status) == 0 && !S_ISREG(status.st_mode);
  text aside = {0};
  text_add_string(&aside, path);
  if (!special) text_format(&aside, ".%ld.part", (long)getpid());
  FILE *file = fopen(aside.chars, "wb");
  bool written = file != NULL && write_to(file, chars, length);
  int problem = errno;
  if (file != NULL && fclose(file) != 0 && written) {
    written = false;
    problem = errno;
  }
  if (written && !special && rename(aside.chars, path) != 0) {
    written = false;
    problem = errno;
  }
  if (!written && file != NULL && !special) unlink(aside.chars);
  text_free(&aside);
  errno = problem;
  return written;
}
