/* weft_spawn_copy: arguments of any size arrive whole, aligned and as the task's own, and
 * the caller may reuse its own at once.
 *
 * SPDX-License-Identifier: MIT */
#include "support.h"

#include <stdalign.h>

/* The first byte is random and the others follow from it, so that a copy can be checked
 * by itself. */
static void fill(unsigned char *bytes, size_t size, unsigned char first) {
  for (size_t i = 0; i < size; i++) bytes[i] = (unsigned char)(first + i * 7);
}

static bool is_filled(const unsigned char *bytes, size_t size) {
  for (size_t i = 0; i < size; i++)
    if (bytes[i] != (unsigned char)(bytes[0] + i * 7)) return false;
  return true;
}

static atomic_ulong copies_run, first_bytes;

/* Two copies that share memory destroy each other: each is filled anew, and checked again
 * after a while. */
static void check_copy(void *ctx, size_t size) {
  unsigned char *copy = ctx;
  atomic_fetch_add(&copies_run, 1);
  if (size == 0) return;
  CHECK_EQ((uintptr_t)copy % alignof(max_align_t), 0);
  CHECK_MSG(is_filled(copy, size), "%zu bytes", size);
  atomic_fetch_add(&first_bytes, copy[0]);
  fill(copy, size, (unsigned char)(copy[0] + 1));
  spin(20);
  CHECK_MSG(is_filled(copy, size), "%zu bytes, changed", size);
  memset(copy, 0xee, size);
}

/* A function for each size, since a task knows nothing but the address. */
/* clang-format off */
#define SIZE_LIST(ENTRY)                                                                 \
  ENTRY(0) ENTRY(1) ENTRY(2) ENTRY(7) ENTRY(8) ENTRY(15) ENTRY(16) ENTRY(17) ENTRY(31)   \
  ENTRY(32) ENTRY(33) ENTRY(48) ENTRY(63) ENTRY(64) ENTRY(65) ENTRY(127) ENTRY(128)      \
  ENTRY(1000) ENTRY(1023) ENTRY(1024) ENTRY(1025) ENTRY(2000) ENTRY(2047) ENTRY(2048)    \
  ENTRY(2049) ENTRY(4095) ENTRY(4096) ENTRY(4097) ENTRY(100000) ENTRY(1048576)
/* clang-format on */

#define COPY_FUNCTION(size)                                                              \
  static void check_##size(void *ctx) {                                                  \
    check_copy(ctx, size);                                                               \
  }
SIZE_LIST(COPY_FUNCTION)

typedef struct sized {
  size_t size;
  weft_fn *fn;
} sized;

#define COPY_ENTRY(size) {size, check_##size},
static const sized SIZED[] = {SIZE_LIST(COPY_ENTRY)};
enum { SIZED_COUNT = sizeof SIZED / sizeof SIZED[0], LARGEST = 1048576 };

static unsigned char *buffer_of(size_t size) {
  unsigned char *buffer = malloc(size);
  REQUIRE(buffer != NULL);
  return buffer;
}

static void copies_start(void) {
  atomic_store(&copies_run, 0);
  atomic_store(&first_bytes, 0);
}

static void copies_end(unsigned long count, unsigned long sum) {
  CHECK_EQ(atomic_load(&copies_run), count);
  CHECK_EQ(atomic_load(&first_bytes), sum);
}

/* ---- every size ---- */

static void copy_every_size(void *ctx) {
  uint64_t *random = ctx;
  unsigned char *args = buffer_of(LARGEST);
  for (unsigned i = 0; i < SIZED_COUNT; i++) {
    unsigned long count = SIZED[i].size > 5000 ? scaled(20) : scaled(500), sum = 0;
    copies_start();
    weft_scope scope;
    weft_scope_begin(&scope);
    for (unsigned long c = 0; c < count; c++) {
      unsigned char first = (unsigned char)harness_random(random);
      fill(args, SIZED[i].size, first);
      weft_spawn_copy(&scope, args, SIZED[i].size, SIZED[i].fn);
      memset(args, 0xdd, SIZED[i].size);
      if (SIZED[i].size > 0) sum += first;
    }
    CHECK_EQ(weft_scope_end(&scope), 0);
    copies_end(count, sum);
  }
  free(args);
}

TEST(copies_of_every_size) {
  uint64_t random = harness_seed();
  in_pools(copy_every_size, &random);
  copy_every_size(&random); /* in the global pool */
  weft_shutdown();
}

/* Nothing to copy: then no pointer is needed either. */
TEST(a_copy_of_nothing) {
  copies_start();
  weft_scope scope;
  weft_scope_begin(&scope);
  weft_spawn_copy(&scope, NULL, 0, check_0);
  CHECK_EQ(weft_scope_end(&scope), 0);
  copies_end(1, 0);
  weft_shutdown();
}

/* Source addresses of every alignment. */
static void copy_from_odd_places(void *ctx) {
  unsigned char args[64 + alignof(max_align_t)];
  unsigned long count = 0, sum = 0;
  (void)ctx;
  copies_start();
  weft_scope scope;
  weft_scope_begin(&scope);
  for (size_t offset = 0; offset < alignof(max_align_t); offset++) {
    for (unsigned i = 0; SIZED[i].size <= 64; i++) {
      fill(args + offset, SIZED[i].size, (unsigned char)(offset + i));
      weft_spawn_copy(&scope, args + offset, SIZED[i].size, SIZED[i].fn);
      memset(args, 0xdd, sizeof args);
      count++;
      if (SIZED[i].size > 0) sum += (unsigned char)(offset + i);
    }
  }
  CHECK_EQ(weft_scope_end(&scope), 0);
  copies_end(count, sum);
}

TEST(copies_from_any_address) {
  in_pools(copy_from_odd_places, NULL);
}

/* ---- mixed sizes, many spawners ---- */

typedef struct mixture {
  weft_scope *scope;
  uint64_t seed;
  atomic_ulong count, sum; /* what was spawned */
} mixture;

/* Small sizes are more frequent than large ones. */
static const sized *draw_size(uint64_t *random) {
  uint64_t number = harness_random(random);
  bool small = number % 64 != 0;
  return &SIZED[(number >> 8) % (small ? SIZED_COUNT - 5 : SIZED_COUNT)];
}

static void spawn_mixture(mixture *m, uint64_t *random, unsigned long times) {
  unsigned char *args = buffer_of(LARGEST);
  for (unsigned long i = 0; i < times; i++) {
    const sized *drawn = draw_size(random);
    unsigned char first = (unsigned char)harness_random(random);
    fill(args, drawn->size, first);
    if (harness_random(random) % 8 == 0) weft_spawn(m->scope, do_nothing, NULL);
    weft_spawn_copy(m->scope, args, drawn->size, drawn->fn);
    memset(args, 0xdd, drawn->size);
    atomic_fetch_add(&m->count, 1);
    if (drawn->size > 0) atomic_fetch_add(&m->sum, first);
  }
  free(args);
}

static void spawn_from_outside(unsigned index, void *arg) {
  mixture *m = arg;
  uint64_t random = m->seed + index;
  spawn_mixture(m, &random, scaled(2000));
}

static void spawn_from_a_task(void *ctx) {
  mixture *m = *(mixture *const *)ctx;
  uint64_t random = m->seed - atomic_load(&m->count);
  spawn_mixture(m, &random, scaled(200));
}

TEST(mixed_copies_from_everywhere) {
  static const unsigned sizes[] = {1, 2, 3, 8};
  for (unsigned i = 0; i < 4; i++) {
    for (int order = WEFT_ORDER_LIFO; order <= WEFT_ORDER_FIFO; order++) {
      weft_pool *pool = pool_of(sizes[i]);
      weft_scope scope;
      mixture m = {.scope = &scope, .seed = harness_seed() + i};
      mixture *address = &m;
      weft_opts opts = opts_on(pool);
      opts.order = (weft_order)order;
      copies_start();
      weft_scope_begin_with(&opts, &scope);
      for (int t = 0; t < 10; t++)
        weft_spawn_copy(&scope, &address, sizeof address, spawn_from_a_task);
      harness_run_threads(4, spawn_from_outside, &m);
      spawn_from_outside(4, &m);
      CHECK_EQ(weft_scope_end(&scope), 0);
      copies_end(atomic_load(&m.count), atomic_load(&m.sum));
      weft_pool_destroy(pool);
    }
  }
}

/* ---- as programs use it ---- */

typedef struct part {
  weft_scope *scope;
  unsigned depth;
  unsigned long number; /* of its leaves, the first */
  unsigned char *marks;
} part;

static void split(void *ctx) {
  part *self = ctx;
  if (self->depth == 0) {
    mark(&self->marks[self->number]);
    return;
  }
  self->depth--;
  part upper = *self;
  upper.number += 1ul << self->depth;
  weft_spawn_copy(self->scope, &upper, sizeof upper, split);
  split(self); /* the copy is the task's own */
}

static void split_often(void *ctx) {
  const unsigned depth = harness_slowdown() == 1 ? 14 : 9;
  unsigned char *marks = marks_of((size_t)1 << depth);
  (void)ctx;
  for (unsigned long i = 0; i < scaled(10); i++) {
    weft_scope scope;
    part all = {&scope, depth, 0, marks};
    weft_scope_begin(&scope);
    weft_spawn_copy(&scope, &all, sizeof all, split);
    CHECK_EQ(weft_scope_end(&scope), 0);
    check_marks(marks, (size_t)1 << depth, 1);
  }
  free(marks);
}

TEST(tasks_split_by_copies) {
  in_pools(split_often, NULL);
}

/* Skipped tasks leave nothing behind: LeakSanitizer looks on. */
static void copy_in_vain(void *ctx) {
  unsigned char *args = buffer_of(LARGEST);
  (void)ctx;
  memset(args, 0, LARGEST);
  copies_start();
  for (unsigned i = 0; i < SIZED_COUNT; i++) {
    weft_scope scope;
    weft_scope_begin(&scope);
    weft_scope_cancel(&scope, 3);
    for (int c = 0; c < 20; c++)
      weft_spawn_copy(&scope, args, SIZED[i].size, SIZED[i].fn);
    CHECK_EQ(weft_scope_end(&scope), 3);
  }
  copies_end(0, 0);
  free(args);
}

TEST(cancelled_copies_do_not_run) {
  in_pools(copy_in_vain, NULL);
}
