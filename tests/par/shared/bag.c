/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc */
/* link: -Wl,--wrap=free,--wrap=mmap */
/* weft_bag: everything that is added is there once, from any thread and of any size;
 * addresses that stay; no memory; cleared and used again; misuse.
 *
 * SPDX-License-Identifier: MIT */
#include "par/refusal.h"
#include "sched/dies.h"

#include <sys/mman.h>

void *__real_mmap(void *at, size_t size, int access, int flags, int file, off_t offset);
void *__wrap_mmap(void *at, size_t size, int access, int flags, int file, off_t offset);

/* Refused together with all other memory. */
void *__wrap_mmap(void *at, size_t size, int access, int flags, int file, off_t offset) {
  if (atomic_load(&memory_faults.what) == REFUSE_FROM && !memory_is_exempt)
    return MAP_FAILED;
  return __real_mmap(at, size, access, flags, file, offset);
}

static weft_bag *bag_of(size_t size) {
  weft_bag *b = NULL;
  REQUIRE(weft_bag_create(&b, size) == 0);
  return b;
}

/* ---- against an array, on one thread ---- */

/* Element i of any size: bytes that depend on i and the place. */
static void set_element(unsigned char *elem, size_t i, size_t size) {
  for (size_t b = 0; b < size; b++)
    elem[b] = (unsigned char)(i >> (8 * (b % 4)) ^ (b * 37));
}

typedef struct visit {
  size_t next, size;
  unsigned char *expected;
} visit;

static void check_next(void *elem, void *ctx) {
  visit *v = ctx;
  CHECK_EQ(memcmp(elem, v->expected + v->next * v->size, v->size), 0);
  v->next++;
}

static void check_serial(size_t n, size_t size, size_t step) {
  weft_bag *b = bag_of(size);
  unsigned char *expected = array_of(n, size), *got = array_of(n, size);
  for (size_t i = 0; i < n; i++) set_element(expected + i * size, i, size);
  for (size_t i = 0; i < n;) {
    size_t count = n - i < step ? n - i : step;
    if (step == 1)
      CHECK_EQ(weft_bag_add(b, expected + i * size), 0);
    else
      CHECK_EQ(weft_bag_add_many(b, expected + i * size, count), 0);
    i += count;
    CHECK_EQ(weft_bag_count(b), i);
  }
  weft_bag_copy(got, b); /* one thread: in order */
  CHECK_EQ(memcmp(got, expected, n * size), 0);
  visit v = {0, size, expected};
  weft_bag_each(b, check_next, &v);
  CHECK_EQ(v.next, n);
  weft_bag_destroy(b);
  free(expected);
  free(got);
}

TEST(one_thread_gives_an_array) {
  for (unsigned k = 0; k < ELEMENT_SIZES_COUNT; k++)
    for (unsigned i = 0; i < LENGTHS_COUNT; i++) {
      if (LENGTHS[i] > 5000 && (ELEMENT_SIZES[k] > 8 || LENGTHS[i] > 70000)) continue;
      if (is_too_large(LENGTHS[i], ELEMENT_SIZES[k] * 4)) continue;
      check_serial(LENGTHS[i], ELEMENT_SIZES[k], 1);
      check_serial(LENGTHS[i], ELEMENT_SIZES[k], 7);
      check_serial(LENGTHS[i], ELEMENT_SIZES[k], 3000);
    }
}

/* ---- many threads ---- */

/* Adds the squares of even indices one by one, those of odd ones three at a time. */
static void add_squares(size_t begin, size_t end, void *ctx) {
  weft_bag *b = ctx;
  for (size_t i = begin; i < end; i++) {
    uint64_t square = (uint64_t)i * i, three[3] = {square, square, square};
    if (i % 2 == 0)
      CHECK_EQ(weft_bag_add(b, &square), 0);
    else
      CHECK_EQ(weft_bag_add_many(b, three, 3), 0);
  }
}

static int by_value(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static void check_squares(weft_bag *b, size_t n) {
  size_t count = weft_bag_count(b), k = 0;
  CHECK_EQ(count, n + n / 2 * 2);
  uint64_t *got = array_of(count, sizeof *got);
  weft_bag_copy(got, b);
  qsort(got, count, sizeof *got, by_value);
  for (size_t i = 0; i < n; i++)
    for (size_t times = i % 2 == 0 ? 1 : 3; times > 0; times--)
      if (got[k++] != (uint64_t)i * i) {
        CHECK_MSG(false, "element %zu of %zu", k - 1, count);
        free(got);
        return;
      }
  free(got);
}

static void fill_bags(void *ctx) {
  (void)ctx;
  for (unsigned k = 0; k < LENGTHS_COUNT; k++) {
    if (LENGTHS[k] > 100000 / harness_slowdown()) continue;
    weft_bag *b = bag_of(sizeof(uint64_t));
    weft_for(LENGTHS[k], add_squares, b);
    check_squares(b, LENGTHS[k]);
    weft_bag_clear(b);
    CHECK_EQ(weft_bag_count(b), 0);
    weft_for(LENGTHS[k], add_squares, b);
    check_squares(b, LENGTHS[k]);
    weft_bag_destroy(b);
  }
}

TEST(all_that_threads_add_is_there) {
  in_each_pool(fill_bags, NULL);
  weft_pool *pool = pool_of(64);
  weft_pool_run(pool, fill_bags, NULL);
  weft_pool_destroy(pool);
}

/* From outside, from tasks and from bodies of loops at once, into one bag. */
static weft_bag *common;

static void add_from_outside(unsigned index, void *arg) {
  (void)arg;
  if (index % 2 == 0)
    weft_for(3000, add_squares, common);
  else
    add_squares(0, 3000, common);
}

TEST(several_callers_at_once) {
  common = bag_of(sizeof(uint64_t));
  harness_run_threads(6, add_from_outside, NULL);
  CHECK_EQ(weft_bag_count(common), 6 * 6000);
  weft_bag_destroy(common);
}

/* ---- counted meanwhile ---- */

static atomic_bool adding_ends;

static void count_meanwhile(unsigned index, void *arg) {
  weft_bag *b = arg;
  if (index > 0) {
    for (int i = 0; i < 100; i++) add_squares(0, 20, b);
    if (index == 1) atomic_store(&adding_ends, true);
    return;
  }
  for (size_t before = 0; !atomic_load(&adding_ends);) {
    size_t now = weft_bag_count(b);
    CHECK(now >= before && now <= 3 * 100 * 40);
    before = now;
  }
}

TEST(counts_only_grow) {
  weft_bag *b = bag_of(sizeof(uint64_t));
  atomic_store(&adding_ends, false);
  harness_run_threads(4, count_meanwhile, b);
  CHECK_EQ(weft_bag_count(b), 3 * 100 * 40);
  weft_bag_destroy(b);
}

/* ---- addresses that stay ---- */

static void note_address(void *elem, void *ctx) {
  uint32_t i = *(const uint32_t *)elem;
  ((void **)ctx)[i] = elem;
}

static void check_address(void *elem, void *ctx) {
  uint32_t i = *(const uint32_t *)elem;
  if (i < 1000) CHECK_EQ(((void **)ctx)[i], elem);
}

TEST(elements_stay_where_they_are) {
  static void *at[1000];
  weft_bag *b = bag_of(sizeof(uint32_t));
  for (uint32_t i = 0; i < 1000; i++) CHECK_EQ(weft_bag_add(b, &i), 0);
  weft_bag_each(b, note_address, at);
  for (uint32_t i = 1000; i < 100000; i++) CHECK_EQ(weft_bag_add(b, &i), 0);
  weft_bag_each(b, check_address, at);
  weft_bag_destroy(b);
}

/* ---- no memory ---- */

TEST(without_memory_nothing_changes) {
  uint32_t numbers[3000], got[3000];
  for (uint32_t i = 0; i < 3000; i++) numbers[i] = i;
  for (size_t before = 0; before < 3000; before += 100) {
    weft_bag *b = bag_of(sizeof(uint32_t));
    CHECK_EQ(weft_bag_add_many(b, numbers, before), 0);
    refuse_all_memory();
    size_t count = before;
    while (count < 3000 && weft_bag_add(b, &numbers[count]) == 0) count++;
    if (count < 3000) { /* what there was room for */
      CHECK_EQ(weft_bag_add(b, &numbers[count]), WEFT_ENOMEM);
      CHECK_EQ(weft_bag_add_many(b, numbers + count, 3000 - count), WEFT_ENOMEM);
    }
    CHECK_EQ(weft_bag_count(b), count);
    allow_memory();
    CHECK_EQ(weft_bag_add_many(b, numbers + count, 3000 - count), 0);
    weft_bag_copy(got, b);
    CHECK_EQ(memcmp(got, numbers, sizeof got), 0);
    weft_bag_destroy(b);
  }
}

TEST(each_request_may_fail) {
  long before = memory_in_use();
  for (unsigned long number = 1;; number++) {
    weft_bag *b = NULL;
    size_t added = 0;
    refuse_memory(REFUSE_ONE, number);
    int status = weft_bag_create(&b, 100);
    CHECK_EQ(status == 0, b != NULL);
    for (int i = 0; b != NULL && i < 1000; i++) {
      char elem[100] = {(char)i};
      status = weft_bag_add(b, elem);
      CHECK(status == 0 || status == WEFT_ENOMEM);
      added += status == 0;
    }
    if (b != NULL) CHECK_EQ(weft_bag_count(b), added);
    weft_bag_destroy(b);
    CHECK_EQ(memory_in_use(), before);
    if (allow_memory() == 0) break;
  }
}

/* ---- misuse ---- */

TEST(wrong_arguments_are_refused) {
  weft_bag *b = (weft_bag *)&common;
  CHECK_EQ(weft_bag_create(NULL, 8), WEFT_EINVAL);
  CHECK_EQ(weft_bag_create(&b, 0), WEFT_EINVAL);
  CHECK(b == NULL);
  CHECK_EQ(weft_bag_create(&b, SIZE_MAX), WEFT_EINVAL);
  weft_bag_destroy(NULL);
  b = bag_of(8);
  CHECK_EQ(weft_bag_add_many(b, NULL, 0), 0);
  CHECK_EQ(weft_bag_add_many(b, b, SIZE_MAX / 4), WEFT_ENOMEM);
  weft_bag_copy(NULL, b);
  CHECK_EQ(weft_bag_count(b), 0);
  weft_bag_destroy(b);
}

TEST(misuse_is_named) {
  weft_bag *b = bag_of(1);
  CHECK_EQ(weft_bag_add(b, "x"), 0);
  CHECK_DIES("weft_bag_add: the bag is NULL", weft_bag_add(NULL, b));
  CHECK_DIES("weft_bag_add: the element is NULL", weft_bag_add(b, NULL));
  CHECK_DIES("weft_bag_add_many: the bag is NULL", weft_bag_add_many(NULL, b, 1));
  CHECK_DIES("weft_bag_add_many: an array is NULL", weft_bag_add_many(b, NULL, 1));
  CHECK_DIES("weft_bag_count: the bag is NULL", (void)weft_bag_count(NULL));
  CHECK_DIES("weft_bag_copy: the bag is NULL", weft_bag_copy(&common, NULL));
  CHECK_DIES("weft_bag_copy: an array is NULL", weft_bag_copy(NULL, b));
  CHECK_DIES("weft_bag_each: the bag is NULL", weft_bag_each(NULL, check_next, NULL));
  CHECK_DIES("weft_bag_each: the function is NULL", weft_bag_each(b, NULL, NULL));
  CHECK_DIES("weft_bag_clear: the bag is NULL", weft_bag_clear(NULL));
  weft_bag_destroy(b);
}
