/* trace/names.c - copies of names that may be gone before the reader writes them.
 *
 * Records hold pointers to names. The name of a node of a graph lives in the graph, which
 * may be freed while its last records are still in the rings. So such a name is copied
 * once and the copy stays until the process ends. Equal names share a copy, and there is
 * room for a fixed number of them: a program that makes up new names all the time does
 * not fill the memory.
 *
 * A table of pointers that only grows, open addressing, no lock: [any] thread looks and
 * adds at the same time, also in a forked process.
 *
 * SPDX-License-Identifier: MIT */
#include "record.h"

#include <stdlib.h>
#include <string.h>

/* A choice: 128 KiB of addresses, of which only used pages become memory. */
enum { NAME_PLACES = 1 << 14, NAME_TRIES = 32 };

static wf_ptr x_kept_names[NAME_PLACES];

/* FNV-1a. */
static uint32_t hash_name(const char *name, size_t length) {
  uint32_t hash = 2166136261u;
  for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)name[i]) * 16777619u;
  return hash ^ hash >> 15;
}

static bool is_kept_as(const char *kept, const char *name, size_t length) {
  return strncmp(kept, name, length) == 0 && kept[length] == '\0';
}

/* A copy in this place, which was empty; or what another thread has put there meanwhile;
 * or NULL without memory. */
static const char *fill_name_place(wf_ptr *x_place, const char *name, size_t length) {
  char *copy = (char *)malloc(length + 1);
  void *there = NULL;
  if (copy == NULL) return NULL;
  memcpy(copy, name, length);
  copy[length] = '\0';
  /* Release: pairs with the acquire in wf_trace_keep: the copy is written. */
  if (wf_ptr_cas_release(x_place, &there, copy)) return copy;
  free(copy);
  /* Acquire: pairs with the release above of the other thread. */
  return (const char *)wf_ptr_load_acquire(x_place);
}

const char *wf_trace_keep(const char *name) {
  size_t length = 0;
  if (name == NULL) return NULL;
  /* One byte more than is shown, so that it is shown as cut. */
  while (length <= WF_NAME_MAX && name[length] != '\0') length++;
  uint32_t hash = hash_name(name, length);
  for (uint32_t i = 0; i < NAME_TRIES; i++) {
    wf_ptr *x_place = &x_kept_names[(hash + i) % NAME_PLACES];
    /* Acquire: pairs with the release in fill_name_place. */
    const char *kept = (const char *)wf_ptr_load_acquire(x_place);
    if (kept == NULL) kept = fill_name_place(x_place, name, length);
    if (kept == NULL || is_kept_as(kept, name, length)) return kept;
  }
  return NULL;
}
