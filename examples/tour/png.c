/* png.c - writes a picture as PNG, without any other library: the data is stored instead
 * of compressed, which the format allows.
 *
 * A PNG is a signature and chunks: length, type, data, and a check sum (CRC) of type and
 * data. The pixels are in one chunk, IDAT, as a zlib stream of rows; each row has a byte
 * in front that says how it is filtered: 0, not at all.
 *
 * SPDX-License-Identifier: MIT */
#include "tour.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool picture_make(picture *p, size_t width, size_t height) {
  p->width = width;
  p->height = height;
  p->pixels = calloc(width * height, sizeof *p->pixels);
  return p->pixels != NULL;
}

bool picture_equal(const picture *a, const picture *b) {
  return a->width == b->width && a->height == b->height &&
         memcmp(a->pixels, b->pixels, a->width * a->height * sizeof(rgb)) == 0;
}

/* ---- a file that grows in memory ---- */

typedef struct buffer {
  unsigned char *bytes;
  size_t used;
} buffer;

static void put_bytes(buffer *to, const void *bytes, size_t count) {
  memcpy(to->bytes + to->used, bytes, count);
  to->used += count;
}

static void put_u32(buffer *to, uint32_t number) {
  unsigned char bytes[4] = {(unsigned char)(number >> 24), (unsigned char)(number >> 16),
                            (unsigned char)(number >> 8), (unsigned char)number};
  put_bytes(to, bytes, 4);
}

/* CRC-32, as in Ethernet: the remainder of a division by a polynomial, bit by bit. */
static uint32_t crc_of(const unsigned char *bytes, size_t count) {
  uint32_t crc = 0xFFFFFFFF, table[256];
  for (uint32_t i = 0; i < 256; i++) {
    table[i] = i;
    for (int bit = 0; bit < 8; bit++)
      table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xEDB88320 : 0);
  }
  for (size_t i = 0; i < count; i++) crc = table[(crc ^ bytes[i]) & 0xFF] ^ crc >> 8;
  return ~crc;
}

/* The check sum of zlib streams. */
static uint32_t adler_of(const unsigned char *bytes, size_t count) {
  uint32_t a = 1, b = 0;
  for (size_t i = 0; i < count; i++) {
    a = (a + bytes[i]) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

/* ---- chunks ---- */

static size_t begin_chunk(buffer *to, const char *type) {
  size_t start = to->used;
  put_u32(to, 0); /* the length, known at the end */
  put_bytes(to, type, 4);
  return start;
}

static void end_chunk(buffer *to, size_t start) {
  uint32_t crc = crc_of(to->bytes + start + 4, to->used - start - 4);
  buffer length = {to->bytes, start};
  put_u32(&length, (uint32_t)(to->used - start - 8));
  put_u32(to, crc);
}

/* A zlib stream of blocks that are stored: a block has a mark, its length, the same
 * number inverted, and the bytes. */
static void put_stored(buffer *to, const unsigned char *bytes, size_t count) {
  enum { MOST = 65535 };
  put_bytes(to, "\x78\x01", 2);
  for (size_t at = 0; at < count; at += MOST) {
    size_t part = count - at < MOST ? count - at : MOST;
    unsigned length = (unsigned)part, inverse = ~length & 0xFFFF;
    unsigned char head[5] = {at + part == count, (unsigned char)length,
                             (unsigned char)(length >> 8), (unsigned char)inverse,
                             (unsigned char)(inverse >> 8)};
    put_bytes(to, head, sizeof head);
    put_bytes(to, bytes + at, part);
  }
  put_u32(to, adler_of(bytes, count));
}

static bool write_file(const char *path, const buffer *content) {
  FILE *file = fopen(path, "wb");
  if (file == NULL) return false;
  bool is_written = fwrite(content->bytes, 1, content->used, file) == content->used;
  int error = errno;
  bool is_closed = fclose(file) == 0; /* a full disk may be seen only here */
  if (!is_written) errno = error;
  return is_written && is_closed;
}

bool picture_save(const picture *p, const char *path) {
  size_t row = 1 + 3 * p->width, rows = row * p->height;
  unsigned char *filtered = malloc(rows);
  buffer out = {malloc(rows + rows / 1000 + 1000), 0};
  bool is_saved = false;
  if (filtered != NULL && out.bytes != NULL) {
    for (size_t y = 0; y < p->height; y++) {
      filtered[y * row] = 0;
      memcpy(filtered + y * row + 1, p->pixels + y * p->width, 3 * p->width);
    }
    put_bytes(&out, "\x89PNG\r\n\x1A\n", 8);
    size_t head = begin_chunk(&out, "IHDR");
    put_u32(&out, (uint32_t)p->width);
    put_u32(&out, (uint32_t)p->height);
    put_bytes(&out, "\x08\x02\0\0\0", 5); /* 8 bits each of red, green and blue */
    end_chunk(&out, head);
    size_t data = begin_chunk(&out, "IDAT");
    put_stored(&out, filtered, rows);
    end_chunk(&out, data);
    end_chunk(&out, begin_chunk(&out, "IEND"));
    is_saved = write_file(path, &out);
  } else {
    errno = ENOMEM;
  }
  free(filtered);
  free(out.bytes);
  return is_saved;
}
