/* Every call of pthreadpool.h covers its grid exactly once, with the right arguments.
 *
 * The table of the shim makes the tests too: for each line, a function that counts what
 * it is called for, and a call on pools of 1 and 4 threads. The expected values come from
 * plain nested loops over the elements of the grid.
 *
 * SPDX-License-Identifier: MIT */
#include "harness/harness.h"

#include <core/atomic.h>
#include <pthreadpool.h>
#include <stdio.h>
#include <string.h>

#define DIMS     6
#define ELEMENTS 4096 /* more than the largest grid below has */
#define UARCH    7U

/* One grid, and how often each of its elements was covered. */
static struct {
  unsigned dims, tiled;
  bool dynamic, has_thread, has_uarch;
  size_t range[DIMS], tile[DIMS];
  size_t threads;
  wf_u32 covered[ELEMENTS];
  wf_u32 busy[16]; /* 1 while a function has this thread number */
  wf_u32 mistakes;
  wf_u32 calls;
} the;

static void mistake(void) {
  (void)wf_u32_fetch_add_relaxed(&the.mistakes, 1);
}

/* Checks one dimension of a tile, and says how long it is. */
static size_t checked_length(unsigned d, size_t begin, const size_t *lengths) {
  if (d < the.dims - the.tiled) {
    if (begin >= the.range[d]) mistake();
    return 1;
  }
  size_t length = lengths[d - (the.dims - the.tiled)];
  if (begin % the.tile[d] != 0 || length == 0 || begin + length > the.range[d]) {
    mistake();
    return 0;
  }
  bool whole = length == the.tile[d];
  bool last = begin + length == the.range[d];
  if (the.dynamic ? length % the.tile[d] != 0 && !last
                  : !whole && !(last && length < the.tile[d])) {
    mistake();
  }
  return length;
}

/* Marks the elements of a tile, dimension by dimension. */
static void mark(unsigned d, size_t base, const size_t *begin, const size_t *length) {
  if (d == the.dims) {
    (void)wf_u32_fetch_add_relaxed(&the.covered[base], 1);
    return;
  }
  for (size_t i = 0; i < length[d]; i++) {
    mark(d + 1, base * the.range[d] + begin[d] + i, begin, length);
  }
}

static void seen(unsigned uarch, size_t thread, const size_t *values) {
  size_t length[DIMS];
  (void)wf_u32_fetch_add_relaxed(&the.calls, 1);
  if (the.has_uarch && uarch != UARCH) mistake();
  if (the.has_thread) {
    if (thread >= the.threads || wf_u32_exchange_acquire(&the.busy[thread], 1) != 0) {
      mistake(); /* pairs with the release below: another call has this number */
      return;
    }
  }
  for (unsigned d = 0; d < the.dims; d++) {
    length[d] = checked_length(d, values[d], values + the.dims);
    if (length[d] == 0) return;
  }
  mark(0, 0, values, length);
  if (the.has_thread) (void)wf_u32_exchange_release(&the.busy[thread], 0);
}

/* Sizes: ranges and tiles so that some tiles are cut off, or `large` ones that cover
 * their range, so that dynamic forms go along the last dimension but one. */
static void prepare(unsigned dims, unsigned tiled, bool large, size_t *sizes) {
  static const size_t ranges[DIMS] = {3, 5, 4, 3, 5, 4};
  static const size_t tiles[DIMS] = {2, 2, 3, 2, 2, 3};
  memset(&the, 0, sizeof the);
  the.dims = dims;
  the.tiled = tiled;
  for (unsigned d = 0; d < dims; d++) {
    unsigned from_end = dims - 1 - d;
    sizes[d] = the.range[d] = ranges[from_end] + (dims < 3 ? 20 : 0);
    the.tile[d] = d < dims - tiled ? 1 : tiles[from_end];
    if (large && from_end == 0 && tiled > 0) the.tile[d] = the.range[d] + 9;
    if (d >= dims - tiled) sizes[dims + d - (dims - tiled)] = the.tile[d];
  }
}

static void check(const char *name) {
  size_t elements = 1, wrong = 0, tiles = 1;
  for (unsigned d = 0; d < the.dims; d++) {
    elements *= the.range[d];
    tiles *= (the.range[d] + the.tile[d] - 1) / the.tile[d];
  }
  REQUIRE(elements <= ELEMENTS);
  for (size_t i = 0; i < elements; i++)
    wrong += wf_u32_load_relaxed(&the.covered[i]) != 1;
  CHECK_MSG(wrong == 0, "%s: %zu elements not covered once", name, wrong);
  CHECK_MSG(wf_u32_load_relaxed(&the.mistakes) == 0, "%s: wrong arguments", name);
  if (the.dynamic) {
    CHECK_MSG(wf_u32_load_relaxed(&the.calls) <= tiles, "%s: too many calls", name);
  } else {
    CHECK_MSG(wf_u32_load_relaxed(&the.calls) == tiles, "%s: number of calls", name);
  }
}

/* The arguments of functions and calls, by their number. */
#define P1          size_t a
#define P2          P1, size_t b
#define P3          P2, size_t c
#define P4          P3, size_t d
#define P5          P4, size_t e
#define P6          P5, size_t f
#define P7          P6, size_t g
#define P8          P7, size_t h
#define N1          a
#define N2          N1, b
#define N3          N2, c
#define N4          N3, d
#define N5          N4, e
#define N6          N5, f
#define N7          N6, g
#define N8          N7, h
#define S1          s[0]
#define S2          S1, s[1]
#define S3          S2, s[2]
#define S4          S3, s[3]
#define S5          S4, s[4]
#define S6          S5, s[5]
#define S7          S6, s[6]
#define S8          S7, s[7]
#define JOIN(a, b)  JOIN_(a, b)
#define JOIN_(a, b) a##b

/* What comes between context and indices in the function, and in the call. Dynamic forms
 * that take only a thread take it as uint32_t. */
#define IDS_NONE(dynamic)
#define IDS_UARCH(dynamic)  uint32_t uarch,
#define IDS_BOTH(dynamic)   uint32_t uarch, size_t thread,
#define IDS_THREAD(dynamic) JOIN(THREAD_, dynamic)
#define THREAD_0            size_t thread,
#define THREAD_1            uint32_t thread,
#define SEEN_NONE           0, 0
#define SEEN_UARCH          uarch, 0
#define SEEN_BOTH           uarch, thread
#define SEEN_THREAD         0, thread
#define PASS_NONE
#define PASS_UARCH UARCH, UARCH,
#define PASS_BOTH  UARCH, UARCH,
#define PASS_THREAD
#define HAS_NONE   false, false
#define HAS_UARCH  false, true
#define HAS_BOTH   true, true
#define HAS_THREAD true, false

#define FORM(name, task, dims, tiled, sizes, ids, dynamic)                               \
  static void on_##name(void *context, IDS_##ids(dynamic) P##sizes) {                    \
    CHECK(context == &the);                                                              \
    seen(SEEN_##ids, (const size_t[]){N##sizes});                                        \
  }                                                                                      \
  static void call_##name(pthreadpool_t pool, const size_t *s, uint32_t flags) {         \
    pthreadpool_parallelize_##name(pool, on_##name, &the, PASS_##ids S##sizes, flags);   \
  }
#include <forms.h>
#undef FORM

static const struct form {
  const char *name;
  void (*call)(pthreadpool_t pool, const size_t *sizes, uint32_t flags);
  unsigned dims, tiled;
  bool dynamic, has_thread, has_uarch;
} forms[] = {
#define FORM(name, task, dims, tiled, sizes, ids, dynamic)                               \
  {#name, call_##name, dims, tiled, dynamic, HAS_##ids},
#include <forms.h>
#undef FORM
};
#define FORMS (sizeof forms / sizeof *forms)

static void run_form(const struct form *form, pthreadpool_t pool, bool large) {
  size_t sizes[8];
  prepare(form->dims, form->tiled, large, sizes);
  the.dynamic = form->dynamic;
  the.has_thread = form->has_thread;
  the.has_uarch = form->has_uarch;
  the.threads = pthreadpool_get_threads_count(pool);
  form->call(pool, sizes, 0);
  check(form->name);
}

TEST(all_forms_are_there) {
  CHECK_EQ(FORMS, 45);
}

static void run_all_forms(pthreadpool_t pool) {
  for (size_t i = 0; i < FORMS; i++) {
    for (int repeat = 0; repeat < 20; repeat++)
      run_form(&forms[i], pool, repeat % 2 == 1);
  }
  pthreadpool_destroy(pool);
}

TEST(every_form_covers_its_grid) {
  run_all_forms(NULL);
  run_all_forms(pthreadpool_create(1));
  run_all_forms(pthreadpool_create(4));
}

TEST(every_form_takes_empty_ranges) {
  pthreadpool_t pool = pthreadpool_create(3);
  for (size_t i = 0; i < FORMS; i++) {
    for (unsigned empty = 0; empty < forms[i].dims; empty++) {
      size_t sizes[8];
      prepare(forms[i].dims, forms[i].tiled, false, sizes);
      sizes[empty] = 0;
      forms[i].call(pool, sizes, 0);
      CHECK_EQ(wf_u32_load_relaxed(&the.calls), 0);
    }
  }
  pthreadpool_destroy(pool);
}

/* ---- the old names ---- */

#define OLD(name, sizes)                                                                 \
  static void on_old_##name(void *context, P##sizes) {                                   \
    CHECK(context == &the);                                                              \
    seen(0, 0, (const size_t[]){N##sizes});                                              \
  }
OLD(1d, 1)
OLD(1d_tiled, 2)
OLD(2d, 2)
OLD(2d_tiled, 4)
OLD(3d_tiled, 6)
OLD(4d_tiled, 8)

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

TEST(the_old_names_work) {
  pthreadpool_t pool = pthreadpool_create(3);
  size_t s[8];
#define CALL_OLD(name, dims, tiled, sizes)                                               \
  prepare(dims, tiled, false, s);                                                        \
  pthreadpool_compute_##name(pool, on_old_##name, &the, S##sizes);                       \
  check(#name)
  CALL_OLD(1d, 1, 0, 1);
  CALL_OLD(1d_tiled, 1, 1, 2);
  CALL_OLD(2d, 2, 0, 2);
  CALL_OLD(2d_tiled, 2, 2, 4);
  CALL_OLD(3d_tiled, 3, 3, 6);
  CALL_OLD(4d_tiled, 4, 4, 8);
  pthreadpool_destroy(pool);
}
