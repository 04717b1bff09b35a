/* weft_pipeline: every mixture of stages, all small numbers of items, bounds and threads;
 * items of all sizes; from inside and outside of pools, several at a time.
 *
 * SPDX-License-Identifier: MIT */
#include "par/pipeline/plant.h"

/* ---- every mixture ---- */

static const size_t BOUNDS[] = {0, 1, 2, 3, 17};
static const size_t ITEMS[] = {0, 1, 2, 3, 40};

static void run_mixture(unsigned mixture, unsigned count, size_t items, size_t bound) {
  weft_stage_kind kinds[MOST_STAGES];
  kinds_of(mixture, count, kinds);
  plant *p = plant_of(kinds, count, items);
  CHECK_EQ(weft_pipeline(sizeof(part), bound, p->stages, count), 0);
  check_all_through(p);
  CHECK_EQ(atomic_load(&p->in_flight), 0);
  if (bound != 0) CHECK(atomic_load(&p->most_in_flight) <= bound);
  for (unsigned s = 0; s < count; s++) {
    CHECK_EQ(p->posts[s].inside, 0);
    CHECK_EQ(atomic_load(&p->posts[s].calls), items);
  }
  free(p);
}

static void run_all_mixtures(void *ctx) {
  const unsigned most = harness_slowdown() > 1 ? 3 : 4;
  (void)ctx;
  for (unsigned count = 1; count <= most; count++)
    for (unsigned mixture = 0; mixture < mixtures_of(count); mixture++)
      for (unsigned b = 0; b < sizeof BOUNDS / sizeof BOUNDS[0]; b++)
        run_mixture(mixture, count, ITEMS[(mixture + b) % 5], BOUNDS[b]);
}

TEST(every_mixture_of_stages) {
  in_each_pool(run_all_mixtures, NULL);
  run_all_mixtures(NULL); /* from outside, in the global pool */
  weft_shutdown();
}

static void run_some_mixtures(void *ctx) {
  (void)ctx;
  for (unsigned mixture = 0; mixture < mixtures_of(3); mixture++)
    run_mixture(mixture, 3, 300, mixture % 2 == 0 ? 0 : 100);
}

TEST(on_64_threads) {
  weft_pool *pool = pool_of(64);
  weft_pool_run(pool, run_some_mixtures, NULL);
  weft_pool_destroy(pool);
}

TEST(threads_that_sleep_are_woken) {
  weft_pool *pool = sleepy_pool_of(3);
  for (int i = 0; i < 20; i++) {
    AWAIT(all_asleep(pool));
    weft_pool_run(pool, run_some_mixtures, NULL);
  }
  weft_pool_destroy(pool);
}

/* ---- many items, uneven stages ---- */

static void uneven_work(plant *p, unsigned stage, size_t number) {
  (void)p;
  spin((unsigned)((number * 2654435761u >> 7) % 97 + stage));
}

static void run_uneven(void *ctx) {
  (void)ctx;
  for (unsigned mixture = 0; mixture < mixtures_of(3); mixture++) {
    weft_stage_kind kinds[MOST_STAGES];
    kinds_of(mixture, 3, kinds);
    plant *p = plant_of(kinds, 3, MOST_ITEMS / harness_slowdown());
    p->work = uneven_work;
    CHECK_EQ(weft_pipeline(sizeof(part), mixture % 3 * 3, p->stages, 3), 0);
    check_all_through(p);
    free(p);
  }
}

TEST(many_items_with_uneven_stages) {
  in_each_pool(run_uneven, NULL);
}

/* ---- more than one thread takes part ---- */

/* Each item waits in a parallel stage until another item is there too. */
static atomic_ulong met;
static void meet(plant *p, unsigned stage, size_t number) {
  if (stage != 1) return;
  atomic_fetch_add(&met, 1);
  AWAIT(atomic_load(&met) >= (number / 2 + 1) * 2);
  (void)p;
}

static void run_meeting(void *ctx) {
  static const weft_stage_kind first[] = {WEFT_STAGE_ORDERED, WEFT_STAGE_SERIAL,
                                          WEFT_STAGE_PARALLEL};
  (void)ctx;
  for (unsigned f = 0; f < 3; f++)
    for (int with_end = 0; with_end < 2; with_end++) {
      weft_stage_kind kinds[] = {first[f], WEFT_STAGE_PARALLEL, WEFT_STAGE_ORDERED};
      plant *p = plant_of(kinds, with_end ? 3 : 2, 200);
      p->work = meet;
      atomic_store(&met, 0);
      CHECK_EQ(weft_pipeline(sizeof(part), 0, p->stages, p->count), 0);
      check_all_through(p);
      free(p);
    }
}

TEST(items_are_in_a_parallel_stage_at_the_same_time) {
  weft_pool *pool = pool_of(2);
  weft_pool_run(pool, run_meeting, NULL);
  weft_pool_destroy(pool);
}

/* An item in one serial stage waits for the next item to be in the other. */
static atomic_ulong reached[3];
static void overlap(plant *p, unsigned stage, size_t number) {
  atomic_store(&reached[stage], number + 1);
  if (stage == 1 && number + 1 < p->items) AWAIT(atomic_load(&reached[0]) >= number + 2);
}

static void run_overlap(void *ctx) {
  (void)ctx;
  for (unsigned mixture = 0; mixture < 4; mixture++) {
    /* The stage that waits is in order: else an item could wait there for one that
     * cannot begin before those behind it are through. */
    weft_stage_kind kinds[] = {(weft_stage_kind)(mixture & 1), WEFT_STAGE_ORDERED,
                               (weft_stage_kind)(mixture >> 1)};
    plant *p = plant_of(kinds, 3, 100);
    p->work = overlap;
    for (int s = 0; s < 3; s++) atomic_store(&reached[s], 0);
    CHECK_EQ(weft_pipeline(sizeof(part), 2, p->stages, 3), 0);
    check_all_through(p);
    free(p);
  }
}

TEST(serial_stages_run_at_the_same_time) {
  weft_pool *pool = pool_of(2);
  weft_pool_run(pool, run_overlap, NULL);
  weft_pool_destroy(pool);
}

/* ---- items ---- */

enum { LARGEST = 5000 };

typedef struct sizes {
  size_t size;
  size_t made;
  unsigned char seen[8]; /* of the places: how often each was used */
  char *places[8];
} sizes;

static int fill_item(void *item, size_t number, void *ctx) {
  sizes *z = ctx;
  unsigned char *bytes = item;
  if (number == 50) return WEFT_END;
  CHECK_EQ((uintptr_t)item % 64, 0);
  unsigned place = 0;
  while (place < 8 && z->places[place] != NULL && z->places[place] != (char *)item)
    place++;
  if (z->size > 0) {
    REQUIRE(place < 8); /* the bound */
    unsigned char expected = z->places[place] == NULL ? 0 : (unsigned char)(place + 1);
    z->places[place] = item;
    for (size_t i = 0; i < z->size; i++)
      if (bytes[i] != expected) {
        CHECK_EQ(bytes[i], expected);
        break;
      }
  }
  memset(item, (int)place + 1, z->size);
  z->made++;
  return 0;
}

static int keep_item(void *item, size_t number, void *ctx) {
  const sizes *z = ctx;
  const unsigned char *bytes = item;
  (void)number;
  for (size_t i = 1; i < z->size; i++)
    if (bytes[i] != bytes[0]) {
      CHECK_EQ(bytes[i], bytes[0]);
      break;
    }
  return 0;
}

static void run_sizes(void *ctx) {
  static const size_t all[] = {0, 1, 8, 63, 64, 65, 100, 4096, LARGEST};
  (void)ctx;
  for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++) {
    sizes z = {.size = all[i]};
    weft_stage stages[] = {{WEFT_STAGE_ORDERED, fill_item, &z},
                           {WEFT_STAGE_PARALLEL, keep_item, &z},
                           {WEFT_STAGE_SERIAL, keep_item, &z}};
    CHECK_EQ(weft_pipeline(all[i], 8, stages, 3), 0);
    CHECK_EQ(z.made, 50);
  }
}

TEST(items_of_all_sizes_begin_as_zeros_and_keep_their_bytes) {
  in_each_pool(run_sizes, NULL);
}

/* ---- a parallel first stage ---- */

/* Some numbers in the middle have no item; those that have one go through all stages. */
typedef struct holes {
  atomic_bool ended;
  unsigned char made[4096], seen[4096];
  size_t last; /* plain: of the ordered stage */
} holes;

static int make_hole(void *item, size_t number, void *ctx) {
  holes *h = ctx;
  (void)item;
  REQUIRE(number < 4096);
  /* Numbers above 100 end it, but not all of them: these were begun at the same time. */
  if (number >= 100 && number % 3 != 0) {
    atomic_store(&h->ended, true);
    return WEFT_END;
  }
  h->made[number]++;
  return 0;
}

static int see_in_order(void *item, size_t number, void *ctx) {
  holes *h = ctx;
  (void)item;
  CHECK(h->last == SIZE_MAX || number > h->last);
  h->last = number;
  h->seen[number]++;
  return 0;
}

static void run_holes(void *ctx) {
  (void)ctx;
  for (int i = 0; i < 20; i++) {
    holes h = {.last = SIZE_MAX};
    weft_stage stages[] = {{WEFT_STAGE_PARALLEL, make_hole, &h},
                           {WEFT_STAGE_ORDERED, see_in_order, &h}};
    CHECK_EQ(weft_pipeline(0, i % 3 == 0 ? 0 : (size_t)i, stages, 2), 0);
    CHECK(memcmp(h.made, h.seen, sizeof h.made) == 0);
    for (size_t k = 0; k < 100; k++) CHECK_EQ(h.made[k], 1);
    CHECK(atomic_load(&h.ended));
  }
}

TEST(numbers_without_items_pass_their_turns_on) {
  in_each_pool(run_holes, NULL);
}

/* ---- several at a time ---- */

static void run_one_of_several(unsigned index, void *arg) {
  weft_opts opts = opts_on(arg);
  for (unsigned i = 0; i < 20; i++) {
    weft_stage_kind kinds[MOST_STAGES];
    kinds_of((index * 7 + i) % 27, 3, kinds);
    plant *p = plant_of(kinds, 3, 60);
    CHECK_EQ(weft_pipeline_with(&opts, sizeof(part), i % 5, p->stages, 3), 0);
    check_all_through(p);
    free(p);
  }
}

TEST(several_threads_run_pipelines_in_one_pool) {
  weft_pool *pool = pool_of(3);
  harness_run_threads(4, run_one_of_several, pool);
  weft_pool_destroy(pool);
}

/* ---- options ---- */

static atomic_ulong inside_now;
static unsigned most_allowed;
static void count_inside(plant *p, unsigned stage, size_t number) {
  (void)p, (void)stage, (void)number;
  CHECK(atomic_fetch_add(&inside_now, 1) < most_allowed);
  spin(20);
  atomic_fetch_sub(&inside_now, 1);
}

TEST(max_workers_limits_the_threads_in_stages) {
  weft_pool *pool = pool_of(8);
  static const weft_stage_kind kinds[] = {WEFT_STAGE_PARALLEL, WEFT_STAGE_PARALLEL,
                                          WEFT_STAGE_SERIAL};
  for (most_allowed = 1; most_allowed <= 3; most_allowed++) {
    weft_opts opts = opts_on(pool);
    opts.max_workers = most_allowed;
    plant *p = plant_of(kinds, 3, 300);
    p->work = count_inside;
    CHECK_EQ(weft_pipeline_with(&opts, sizeof(part), 20, p->stages, 3), 0);
    check_all_through(p);
    free(p);
  }
  weft_pool_destroy(pool);
}

/* ---- values ---- */

TEST(end_is_no_other_status) {
  CHECK(WEFT_END != 0);
  for (int status = -200; status <= 200; status++) CHECK(status != WEFT_END);
}
