/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc */
/* link: -Wl,--wrap=free,--wrap=mmap */
/* Memory for each thread: the same again for the same key, apart for different ones,
 * tables that grow and that cannot, reserved memory, no memory at all.
 *
 * SPDX-License-Identifier: MIT */
#include "core/per_thread.h"

#include "harness/memory_faults.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <weft/base.h>

void *__real_mmap(void *at, size_t size, int access, int flags, int file, off_t offset);
void *__wrap_mmap(void *at, size_t size, int access, int flags, int file, off_t offset);

static bool mmap_is_refused;

void *__wrap_mmap(void *at, size_t size, int access, int flags, int file, off_t offset) {
  if (mmap_is_refused && !memory_is_exempt) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return __real_mmap(at, size, access, flags, file, offset);
}

static void start(wf_per_thread *p, size_t size, unsigned entries_log2) {
  REQUIRE(wf_per_thread_init(p, size, entries_log2, NULL, NULL) == 0);
}

static size_t listed(const wf_per_thread *p) {
  size_t count = 0;
  for (const wf_thread_slot *s = wf_per_thread_first(p); s != NULL; s = s->next) count++;
  return count;
}

/* Keys as threads have them: addresses at equal distances; and small ones. */
static uintptr_t key_of(size_t i, bool small) {
  return small ? i + 1 : (uintptr_t)0x7f0000000000 + i * 0x801000;
}

TEST(each_key_has_its_own) {
  const long before = memory_in_use();
  enum { KEYS = 300 };
  static void *memory[KEYS];
  for (unsigned small = 0; small <= 1; small++)
    for (size_t size = 1; size <= 200; size += 67) {
      wf_per_thread p;
      start(&p, size, 1);
      for (size_t i = 0; i < KEYS; i++) {
        memory[i] = wf_per_thread_get(&p, key_of(i, small));
        REQUIRE(memory[i] != NULL);
        CHECK_EQ((uintptr_t)memory[i] % WF_CACHE_LINE, 0);
        for (size_t b = 0; b < size; b++) CHECK_EQ(((unsigned char *)memory[i])[b], 0);
        memset(memory[i], (int)i, p.size);
      }
      for (size_t i = 0; i < KEYS; i++) {
        CHECK_EQ(wf_per_thread_get(&p, key_of(i, small)), memory[i]);
        CHECK_EQ(((unsigned char *)memory[i])[size - 1], (unsigned char)i);
      }
      CHECK_EQ(listed(&p), KEYS);
      wf_per_thread_check(&p);
      wf_per_thread_destroy(&p);
    }
  CHECK_EQ(memory_in_use(), before);
}

/* ---- init ---- */

typedef struct first_use {
  wf_per_thread p;
  unsigned calls;
  bool asks_again; /* as if code on top, on the same thread, asked for the slot */
} first_use;

static void set_seven(void *memory, void *ctx) {
  first_use *f = ctx;
  f->calls++;
  if (f->asks_again) {
    f->asks_again = false;
    *(int *)wf_per_thread_get(&f->p, 9) = 70;
  }
  *(int *)memory = 7;
}

TEST(init_is_called_once_for_each) {
  first_use f = {.calls = 0};
  REQUIRE(wf_per_thread_init(&f.p, sizeof(int), 1, set_seven, &f) == 0);
  for (unsigned round = 0; round < 3; round++)
    for (uintptr_t key = 1; key <= 5; key++)
      CHECK_EQ(*(int *)wf_per_thread_get(&f.p, key), 7);
  CHECK_EQ(f.calls, 5);
  wf_per_thread_destroy(&f.p);
}

TEST(a_slot_that_is_made_twice_stays_in_the_list) {
  first_use f = {.asks_again = true};
  REQUIRE(wf_per_thread_init(&f.p, sizeof(int), 1, set_seven, &f) == 0);
  int *own = wf_per_thread_get(&f.p, 9);
  CHECK_EQ(*own, 70); /* the one that was finished first */
  CHECK_EQ(wf_per_thread_get(&f.p, 9), (void *)own);
  CHECK_EQ(f.calls, 2);
  CHECK_EQ(listed(&f.p), 2);
  CHECK(wf_per_thread_get(&f.p, 10) != (void *)own);
  wf_per_thread_destroy(&f.p);
}

/* ---- memory that runs out ---- */

TEST(without_malloc_the_system_gives_pages) {
  const long before = memory_in_use();
  wf_per_thread p;
  start(&p, 100, 4);
  refuse_all_memory();
  char *memory = wf_per_thread_get(&p, 5);
  allow_memory();
  REQUIRE(memory != NULL);
  memset(memory, 1, 100);
  CHECK_EQ(wf_per_thread_get(&p, 5), (void *)memory);
  wf_per_thread_destroy(&p);
  CHECK_EQ(memory_in_use(), before);
}

TEST(without_any_memory_there_is_no_slot) {
  const long before = memory_in_use();
  wf_per_thread p;
  start(&p, 100, 1);
  refuse_all_memory();
  mmap_is_refused = true;
  CHECK(wf_per_thread_get(&p, 5) == NULL);
  CHECK_EQ(wf_per_thread_reserve(&p, 2), WEFT_ENOMEM);
  CHECK_EQ(listed(&p), 0);
  mmap_is_refused = false;
  allow_memory();
  CHECK(wf_per_thread_get(&p, 5) != NULL); /* it tries again */
  CHECK_EQ(wf_per_thread_reserve(&p, SIZE_MAX / 100), WEFT_ENOMEM);
  wf_per_thread_destroy(&p);
  refuse_all_memory();
  CHECK_EQ(wf_per_thread_init(&p, 100, 1, NULL, NULL), WEFT_ENOMEM);
  allow_memory();
  CHECK_EQ(memory_in_use(), before);
}

TEST(reserved_slots_need_no_memory) {
  const long before = memory_in_use();
  enum { KEYS = 40 };
  void *memory[KEYS];
  wf_per_thread p;
  start(&p, 10, 1); /* and the table cannot grow */
  CHECK_EQ(wf_per_thread_reserve(&p, 0), 0);
  CHECK_EQ(wf_per_thread_reserve(&p, KEYS - 10), 0);
  CHECK_EQ(wf_per_thread_reserve(&p, 10), 0);
  refuse_all_memory();
  mmap_is_refused = true;
  for (size_t i = 0; i < KEYS; i++) {
    memory[i] = wf_per_thread_get(&p, key_of(i, false));
    REQUIRE(memory[i] != NULL);
    memset(memory[i], (int)i, p.size);
  }
  CHECK(wf_per_thread_get(&p, 1) == NULL); /* one more */
  for (size_t i = 0; i < KEYS; i++) {
    CHECK_EQ(wf_per_thread_get(&p, key_of(i, false)), memory[i]);
    CHECK_EQ(*(unsigned char *)memory[i], i);
  }
  mmap_is_refused = false;
  allow_memory();
  wf_per_thread_check(&p);
  for (size_t i = 0; i < KEYS; i++) /* now the table grows */
    CHECK_EQ(wf_per_thread_get(&p, key_of(i, false)), memory[i]);
  CHECK_EQ(((wf_slot_table *)wf_ptr_peek(&p.x_table))->mask + 1, 128);
  wf_per_thread_destroy(&p);
  CHECK_EQ(memory_in_use(), before);
}

/* ---- threads ---- */

enum { RACERS = 16, ROUNDS = 200 };

static wf_per_thread shared;

static void race(unsigned index, void *arg) {
  (void)arg;
  uintptr_t key = key_of(index, false);
  unsigned long *own = wf_per_thread_get(&shared, key);
  REQUIRE(own != NULL);
  for (int i = 0; i < 100; i++) {
    unsigned long *again = wf_per_thread_get(&shared, key);
    CHECK_EQ(again, own);
    ++*again;
  }
}

TEST(threads_make_slots_at_the_same_time) {
  for (unsigned round = 0; round < ROUNDS / harness_slowdown(); round++) {
    unsigned long sum = 0;
    start(&shared, sizeof(unsigned long), 1);
    if (round % 2 == 0) REQUIRE(wf_per_thread_reserve(&shared, 5) == 0);
    run_exempt_threads(RACERS, race, NULL);
    wf_per_thread_check(&shared);
    CHECK_EQ(listed(&shared), RACERS);
    for (const wf_thread_slot *s = wf_per_thread_first(&shared); s != NULL; s = s->next)
      sum += *(unsigned long *)wf_slot_memory(s);
    CHECK_EQ(sum, RACERS * 100);
    wf_per_thread_destroy(&shared);
  }
}
