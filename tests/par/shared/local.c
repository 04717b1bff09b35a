/* weft_local: each thread its own slot, whoever the thread is, and all of them at the
 * end; threads that end and others that begin; bodies that call weft; misuse.
 *
 * SPDX-License-Identifier: MIT */
#include "par/support.h"
#include "sched/dies.h"

#include <sys/wait.h>
#include <unistd.h>

typedef struct tally {
  uint64_t sum;
  atomic_uint users; /* of this slot, now */
} tally;

static weft_local *tallies;

static void add_slot(void *slot, void *ctx) {
  *(uint64_t *)ctx += ((const tally *)slot)->sum;
}

static uint64_t total(void) {
  uint64_t sum = 0;
  weft_local_each(tallies, add_slot, &sum);
  return sum;
}

static void start_tallies(void) {
  REQUIRE(weft_local_create(&tallies, sizeof(tally), NULL, NULL) == 0);
}

/* Plain additions: two threads in one slot would be seen here and by ThreadSanitizer. */
static void add_indices(size_t begin, size_t end, void *ctx) {
  (void)ctx;
  tally *own = weft_local_get(tallies);
  CHECK_EQ(atomic_fetch_add(&own->users, 1), 0);
  for (size_t i = begin; i < end; i++) own->sum += i;
  CHECK_EQ(weft_local_get(tallies), (void *)own);
  atomic_fetch_sub(&own->users, 1);
}

static void check_sums(void *ctx) {
  (void)ctx;
  for (unsigned k = 0; k < LENGTHS_COUNT; k++) {
    size_t n = LENGTHS[k];
    start_tallies();
    weft_for(n, add_indices, NULL);
    CHECK_EQ(total(), n < 2 ? 0 : (uint64_t)n * (n - 1) / 2);
    CHECK(weft_local_count(tallies) <= (n < 64 ? n : 64));
    weft_local_destroy(tallies);
  }
}

TEST(slots_add_up) {
  in_each_pool(check_sums, NULL);
  weft_pool *pool = pool_of(64);
  weft_pool_run(pool, check_sums, NULL);
  weft_pool_destroy(pool);
  check_sums(NULL);
}

TEST(one_thread_has_one_slot) {
  weft_pool *pool = pool_of(1);
  weft_opts opts = opts_on(pool);
  start_tallies();
  CHECK_EQ(weft_local_count(tallies), 0);
  void *own = weft_local_get(tallies); /* outside of any pool */
  weft_for_with(&opts, 100000, add_indices, NULL);
  CHECK_EQ(weft_local_get(tallies), own);
  CHECK_EQ(weft_local_count(tallies), 1);
  weft_local_destroy(tallies);
  weft_pool_destroy(pool);
}

/* ---- slots lie apart ---- */

static void note_line(void *slot, void *ctx) {
  uintptr_t **next = ctx;
  CHECK_EQ((uintptr_t)slot % WF_CACHE_LINE, 0);
  *(*next)++ = (uintptr_t)slot;
}

static void take_slots(unsigned index, void *arg) {
  (void)index;
  REQUIRE(weft_local_get(arg) != NULL);
}

TEST(no_two_slots_share_a_cache_line) {
  static const size_t SIZES[] = {1, 64, 65, 1000};
  for (unsigned k = 0; k < 4; k++) {
    weft_local *l;
    uintptr_t lines[20], *next = lines;
    REQUIRE(weft_local_create(&l, SIZES[k], NULL, NULL) == 0);
    if (k == 2) REQUIRE(weft_local_reserve(l, 12) == 0);
    harness_run_threads(20, take_slots, l);
    REQUIRE(weft_local_count(l) <= 20);
    weft_local_each(l, note_line, &next);
    CHECK_EQ(next - lines, weft_local_count(l));
    for (uintptr_t *a = lines; a < next; a++)
      for (uintptr_t *b = lines; b < a; b++)
        CHECK((*a > *b ? *a - *b : *b - *a) >= (SIZES[k] + 63) / 64 * 64);
    weft_local_destroy(l);
  }
}

/* ---- all kinds of threads at once ---- */

enum { OUTSIDERS = 6, LOOP = 3000 };

static weft_pool *pools[2];

static void outsider(unsigned index, void *arg) {
  (void)arg;
  weft_opts opts = opts_on(pools[index % 2]);
  add_indices(0, 10, NULL); /* in no pool */
  weft_for_with(&opts, LOOP, add_indices, NULL);
  weft_for(LOOP, add_indices, NULL); /* the global pool */
}

TEST(callers_guests_and_several_pools) {
  for (unsigned round = 0; round < 20 / harness_slowdown() + 1; round++) {
    weft_config config = WEFT_CONFIG_INIT;
    config.threads = 3;
    config.guests = 1; /* others hand their calls in */
    start_tallies();
    pools[0] = pool_of(2);
    pools[1] = pool_with(&config);
    harness_run_threads(OUTSIDERS, outsider, NULL);
    CHECK_EQ(total(), OUTSIDERS * (45UL + 2UL * (LOOP * (LOOP - 1UL) / 2)));
    weft_pool_destroy(pools[0]);
    weft_pool_destroy(pools[1]);
    weft_local_destroy(tallies);
  }
}

/* A body that blocks: a stand-in works meanwhile, with a slot of its own. */
static void block_then_add(size_t begin, size_t end, void *ctx) {
  atomic_uint *began = ctx;
  unsigned wanted = atomic_fetch_add(began, 1) == 0 ? 2 : 0;
  weft_blocking_begin();
  if (begin == 0) AWAIT(atomic_load(began) >= wanted);
  weft_blocking_end();
  add_indices(begin, end, NULL);
}

TEST(stand_ins_have_slots) {
  weft_pool *pool = pool_of(2);
  weft_opts opts = opts_on(pool);
  atomic_uint began = 0;
  opts.max_len = 1;
  start_tallies();
  weft_for_with(&opts, 100, block_then_add, &began);
  CHECK_EQ(total(), 4950);
  weft_local_destroy(tallies);
  weft_pool_destroy(pool);
}

/* ---- threads that end, and others that begin ---- */

static void *add_one_thread(void *arg) {
  tally *own = weft_local_get(tallies);
  (void)arg;
  REQUIRE(own != NULL);
  CHECK_EQ(atomic_fetch_add(&own->users, 1), 0);
  own->sum++;
  atomic_fetch_sub(&own->users, 1);
  return NULL;
}

TEST(threads_come_and_go) {
  start_tallies();
  for (int i = 0; i < 200; i++) {
    pthread_t threads[3];
    for (int k = 0; k < 3; k++)
      REQUIRE(pthread_create(&threads[k], NULL, add_one_thread, NULL) == 0);
    for (int k = 0; k < 3; k++) pthread_join(threads[k], NULL);
  }
  CHECK_EQ(total(), 600); /* what ended threads have added is still there */
  CHECK(weft_local_count(tallies) <= 600);
  weft_local_destroy(tallies);
}

static void pools_come_and_go(void *ctx) {
  (void)ctx;
  weft_for(1000, add_indices, NULL);
}

TEST(pools_come_and_go_between_uses) {
  start_tallies();
  for (int i = 0; i < 20; i++) in_each_pool(pools_come_and_go, NULL);
  CHECK_EQ(total(), 20 * 4 * 499500UL);
  weft_local_destroy(tallies);
}

/* ---- bodies that call weft ---- */

/* The right use: the slot is read again after the call. */
static void nested_body(size_t begin, size_t end, void *ctx) {
  (void)ctx;
  for (size_t i = begin; i < end; i++) {
    tally *own = weft_local_get(tallies);
    own->sum += 1;
    weft_for(50, add_indices, NULL);
    CHECK_EQ(weft_local_get(tallies), (void *)own); /* tasks do not change threads */
    own->sum += 1;
  }
}

static void check_nested(void *ctx) {
  (void)ctx;
  start_tallies();
  weft_for(300, nested_body, NULL);
  CHECK_EQ(total(), 300 * (1225UL + 2));
  weft_local_destroy(tallies);
}

TEST(bodies_may_call_weft) {
  in_each_pool(check_nested, NULL);
  weft_pool *pool = pool_of(64);
  weft_pool_run(pool, check_nested, NULL);
  weft_pool_destroy(pool);
}

/* Nested in tasks of scopes and joins. */
static void add_in_task(void *ctx) {
  (void)ctx;
  ((tally *)weft_local_get(tallies))->sum++;
}

static void join_and_spawn(void *ctx) {
  weft_scope scope;
  (void)ctx;
  weft_scope_begin(&scope);
  for (int i = 0; i < 1000; i++) weft_spawn(&scope, add_in_task, NULL);
  weft_join(add_in_task, NULL, add_in_task, NULL);
  CHECK_EQ(weft_scope_end(&scope), 0);
}

static void check_tasks(void *ctx) {
  start_tallies();
  join_and_spawn(ctx);
  CHECK_EQ(total(), 1002);
  weft_local_destroy(tallies);
}

TEST(tasks_have_slots) {
  in_each_pool(check_tasks, NULL);
}

/* ---- init ---- */

static atomic_uint inits;

static void spin_range(size_t begin, size_t end, void *ctx) {
  (void)ctx;
  spin((unsigned)(end - begin));
}

/* Calls weft: blocks that run meanwhile on this thread make a slot first. */
static void init_in_parallel(void *slot, void *ctx) {
  CHECK_EQ(ctx, (void *)&inits);
  atomic_fetch_add(&inits, 1);
  weft_for(2000, spin_range, NULL);
  *(tally *)slot = (tally){.sum = 1000000};
}

static void check_init(void *ctx) {
  (void)ctx;
  atomic_store(&inits, 0);
  REQUIRE(weft_local_create(&tallies, sizeof(tally), init_in_parallel, &inits) == 0);
  weft_for(500, add_indices, NULL);
  CHECK_EQ(weft_local_count(tallies), atomic_load(&inits));
  CHECK_EQ(total(), 124750 + 1000000UL * atomic_load(&inits));
  weft_local_destroy(tallies);
}

TEST(init_may_call_weft) {
  in_each_pool(check_init, NULL);
}

/* ---- reuse ---- */

static void set_back(void *slot, void *ctx) {
  add_slot(slot, ctx);
  ((tally *)slot)->sum = 0;
}

TEST(slots_can_be_set_back_for_the_next_round) {
  start_tallies();
  for (int round = 0; round < 5; round++) {
    uint64_t sum = 0;
    weft_for(1000, add_indices, NULL);
    weft_local_each(tallies, set_back, &sum);
    CHECK_EQ(sum, 499500);
  }
  weft_local_destroy(tallies);
}

/* ---- after a fork ---- */

TEST(slots_work_in_a_forked_process) {
  if (harness_slowdown() > 1) return; /* sanitizers know no such child */
  start_tallies();
  weft_for(1000, add_indices, NULL);
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    weft_for(1000, add_indices, NULL);
    _exit(total() == 2 * 499500UL ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK_EQ(status, 0);
  CHECK_EQ(total(), 499500);
  weft_local_destroy(tallies);
}

/* ---- misuse ---- */

TEST(wrong_arguments_are_refused) {
  weft_local *l = (weft_local *)&inits;
  CHECK_EQ(weft_local_create(NULL, 8, NULL, NULL), WEFT_EINVAL);
  CHECK_EQ(weft_local_create(&l, 0, NULL, NULL), WEFT_EINVAL);
  CHECK(l == NULL);
  CHECK_EQ(weft_local_create(&l, SIZE_MAX, NULL, NULL), WEFT_EINVAL);
  CHECK_EQ(weft_local_reserve(NULL, 1), WEFT_EINVAL);
  weft_local_destroy(NULL);
}

TEST(misuse_is_named) {
  weft_local *l;
  REQUIRE(weft_local_create(&l, 8, NULL, NULL) == 0);
  CHECK_DIES("weft_local_get: the local is NULL", (void)weft_local_get(NULL));
  CHECK_DIES("weft_local_each: the local is NULL", weft_local_each(NULL, add_slot, NULL));
  CHECK_DIES("weft_local_each: the function is NULL", weft_local_each(l, NULL, NULL));
  CHECK_DIES("weft_local_count: the local is NULL", (void)weft_local_count(NULL));
  weft_local_destroy(l);
}
