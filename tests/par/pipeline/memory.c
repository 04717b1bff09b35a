/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc */
/* link: -Wl,--wrap=free */
/* A pipeline asks for memory once, whatever the number of items; with less memory it has
 * fewer items in flight; and with none it still runs if an item is small.
 *
 * SPDX-License-Identifier: MIT */
#include "harness/memory_faults.h"
#include "par/pipeline/plant.h"
#include "par/refusal.h"

#include <pthread.h>

static const weft_stage_kind KINDS[] = {WEFT_STAGE_ORDERED, WEFT_STAGE_PARALLEL,
                                        WEFT_STAGE_SERIAL, WEFT_STAGE_ORDERED};

static void run_plant(void *ctx) {
  plant *p = ctx;
  plant_reset(p);
  CHECK_EQ(weft_pipeline(sizeof(part), 6, p->stages, p->count), 0);
  check_all_through(p);
}

/* ---- one request ---- */

static unsigned long requests_for(plant *p, size_t items) {
  p->items = items;
  refuse_memory(REFUSE_NONE, 0);
  run_plant(p);
  allow_memory();
  return memory_requests();
}

static void count_requests(void *ctx) {
  plant *p = plant_of(KINDS, 4, 50);
  (void)ctx;
  run_plant(p);
  CHECK_EQ(requests_for(p, 0), 1);
  CHECK_EQ(requests_for(p, 1), 1);
  /* A thread may spawn for the first time: it makes its ring and its cells then. */
  CHECK(requests_for(p, MOST_ITEMS) <= 1 + 3 * 8);
  free(p);
}

TEST(one_request_for_any_number_of_items) {
  in_each_pool(count_requests, NULL);
}

static void count_requests_alone(void *ctx) {
  plant *p = plant_of(KINDS, 4, 50);
  (void)ctx;
  CHECK_EQ(requests_for(p, MOST_ITEMS), 1);
  free(p);
}

TEST(one_request_on_one_thread) {
  weft_pool *pool = pool_of(1);
  weft_pool_run(pool, count_requests_alone, NULL);
  weft_pool_destroy(pool);
}

/* ---- refused ---- */

static void refuse_in_pool(void *ctx) {
  plant *p = plant_of(KINDS, 4, 200);
  (void)ctx;
  with_refusals(run_plant, p);
  allow_memory();
  run_plant(p);
  free(p);
}

TEST(all_items_go_through_without_memory) {
  long before = atomic_load(&memory_faults.in_use);
  in_each_pool(refuse_in_pool, NULL);
  CHECK_EQ(atomic_load(&memory_faults.in_use), before);
}

/* An item that does not fit the stack: nothing has run. */
static int never(void *item, size_t number, void *ctx) {
  (void)item, (void)number, (void)ctx;
  CHECK(false);
  return WEFT_END;
}

TEST(no_memory_for_one_large_item) {
  weft_stage stages[] = {{WEFT_STAGE_ORDERED, never, NULL}};
  refuse_all_memory();
  CHECK_EQ(weft_pipeline(100000, 0, stages, 1), WEFT_ENOMEM);
  allow_memory();
  CHECK_EQ(weft_pipeline(SIZE_MAX, 0, stages, 1), WEFT_ENOMEM);
  CHECK_EQ(weft_pipeline(SIZE_MAX - 63, 1, stages, 1), WEFT_ENOMEM);
  weft_shutdown();
}

/* Memory for the items but none for tasks: members run at once, on top of each other.
 * Many items in blocking stages do not fill the stack with them, here a small one. */
enum { MANY = 4000, SMALL_STACK = 512 * 1024 };

static int some_items(void *item, size_t number, void *ctx) {
  (void)item, (void)ctx;
  return number < MANY ? 0 : WEFT_END;
}

static int next_item(void *item, size_t number, void *ctx) {
  size_t *next = ctx;
  (void)item;
  CHECK_EQ(number, *next);
  ++*next;
  return 0;
}

static void run_many_blocked(void *ctx) {
  size_t through = 0;
  (void)ctx;
  weft_stage stages[] = {{WEFT_STAGE_PARALLEL_BLOCKING, some_items, NULL},
                         {WEFT_STAGE_ORDERED, next_item, &through}};
  refuse_memory(REFUSE_FROM, 2);
  CHECK_EQ(weft_pipeline(sizeof(part), SIZE_MAX, stages, 2), 0);
  allow_memory();
  CHECK_EQ(through, MANY);
}

static void *on_small_stack(void *ctx) {
  weft_pool *pool = pool_of(2);
  weft_pool_run(pool, run_many_blocked, NULL);
  weft_pool_destroy(pool);
  return ctx;
}

TEST(no_memory_for_tasks_and_many_blocking_items) {
  pthread_attr_t attr;
  pthread_t thread;
  REQUIRE(pthread_attr_init(&attr) == 0);
  REQUIRE(pthread_attr_setstacksize(&attr, SMALL_STACK) == 0);
  REQUIRE(pthread_create(&thread, &attr, on_small_stack, NULL) == 0);
  pthread_join(thread, NULL);
  pthread_attr_destroy(&attr);
}

/* No bound, in effect: the ring has a size nevertheless. */
static int ten_items(void *item, size_t number, void *ctx) {
  (void)item, (void)ctx;
  return number < 10 ? 0 : WEFT_END;
}

static int look_at_item(void *item, size_t number, void *ctx) {
  const unsigned char *bytes = item;
  (void)number, (void)ctx;
  CHECK_EQ(bytes[0], 0);
  return 0;
}

TEST(a_bound_that_means_none) {
  weft_stage stages[] = {{WEFT_STAGE_ORDERED, ten_items, NULL},
                         {WEFT_STAGE_PARALLEL, look_at_item, NULL},
                         {WEFT_STAGE_ORDERED, look_at_item, NULL}};
  CHECK_EQ(weft_pipeline(4096, SIZE_MAX, stages, 3), 0);
  CHECK_EQ(weft_pipeline(8, SIZE_MAX, stages, 3), 0);
  weft_shutdown();
}
