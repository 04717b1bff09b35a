/* par/sort_scatter.c - moving elements to their buckets when these are far more than the
 * caches hold: what goes to one bucket is gathered in a line first, and lines are written
 * past the caches. So the memory of buckets is not read before it is written.
 *
 * SPDX-License-Identifier: MIT */
#include "radix.h"
#include "sort.h"

enum {
  GATHER_LEAST = 4 << 20,
  COPY_LEAST = 1 << 20 /* bytes; below, caches do better */
};

bool wf_scatter_gathers(size_t size, const char *to, size_t n) {
  bool fits = size == 8 || size == 16 || size == 32 || size == 64;
  return fits && n >= GATHER_LEAST / size && (uintptr_t)to % size == 0;
}

/* The lines of all buckets, then where each began. */
typedef struct gathering {
  char *lines;
  char **first, **places;
} gathering;

/* A line's end is reached; what lies in front of the bucket is not its own. */
static void write_gathered(const gathering *g, size_t id, char *end) {
  char *begin = end - WF_LINE_BYTES, *first = g->first[id];
  const char *line = g->lines + id * WF_LINE_BYTES;
  if (WF_UNLIKELY(begin < first))
    memcpy(first, line + (first - begin), (size_t)(end - first));
  else
    wf_write_line(begin, line, true);
}

static inline __attribute__((always_inline)) void gather_all(const gathering *g,
                                                             const char *data, size_t n,
                                                             const uint16_t *ids,
                                                             size_t size) {
  for (size_t i = 0; i < n; i++, data += size) {
    size_t id = ids[i];
    char *place = g->places[id];
    memcpy(g->lines + id * WF_LINE_BYTES + (uintptr_t)place % WF_LINE_BYTES, data, size);
    place += size;
    g->places[id] = place;
    if ((uintptr_t)place % WF_LINE_BYTES == 0) write_gathered(g, id, place);
  }
}

static void gather_by_size(const gathering *g, const char *data, size_t n,
                           const uint16_t *ids, size_t size) {
  switch (size) {
  case 8:
    gather_all(g, data, n, ids, 8);
    break;
  case 16:
    gather_all(g, data, n, ids, 16);
    break;
  case 32:
    gather_all(g, data, n, ids, 32);
    break;
  default:
    gather_all(g, data, n, ids, 64);
  }
}

size_t wf_scatter_memory(size_t buckets) {
  return buckets * (WF_LINE_BYTES + sizeof(char *));
}

void wf_scatter_gathered(const char *data, size_t n, size_t size, const uint16_t *ids,
                         char **places, size_t buckets, void *memory) {
  gathering g = {.lines = (char *)memory, .places = places};
  g.first = (char **)(void *)(g.lines + buckets * WF_LINE_BYTES);
  memcpy(g.first, places, buckets * sizeof *places);
  gather_by_size(&g, data, n, ids, size);
  for (size_t b = 0; b < buckets; b++) {
    size_t rest = (uintptr_t)places[b] % WF_LINE_BYTES;
    size_t own = (size_t)(places[b] - g.first[b]);
    if (own > rest) own = rest;
    memcpy(places[b] - own, g.lines + b * WF_LINE_BYTES + rest - own, own);
  }
  wf_stream_end();
}

bool wf_copy_streams(size_t bytes) {
  return bytes >= COPY_LEAST;
}

void wf_stream_copy(char *to, const char *from, size_t bytes) {
  size_t head = (0 - (uintptr_t)to) % WF_CACHE_LINE, at;
  if (head > bytes || (uintptr_t)(from + head) % 16 != 0) head = bytes;
  memcpy(to, from, head);
  for (at = head; bytes - at >= WF_LINE_BYTES; at += WF_LINE_BYTES)
    wf_write_line(to + at, from + at, true);
  memcpy(to + at, from + at, bytes - at);
  wf_stream_end();
}
