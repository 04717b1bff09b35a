/* Scopes of threads that find no place in the pool: more callers than guest places, tasks
 * of other pools whose way must not wait for a place, and pools that call each other.
 *
 * SPDX-License-Identifier: MIT */
#include "support.h"

static weft_pool *pool_with_guests(unsigned threads, unsigned guests) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = threads;
  config.guests = guests;
  return pool_with(&config);
}

/* ---- a bit of everything in one scope ---- */

typedef struct seed_of {
  weft_scope *scope;
  weft_pool *pool;
  unsigned depth;
  atomic_ulong *ran;
} seed_of;

static void sprout(void *ctx) {
  const seed_of *self = ctx;
  seed_of below = *self;
  CHECK_EQ(weft_pool_current(), self->pool);
  CHECK_EQ(weft_scope_current(), self->scope);
  atomic_fetch_add(self->ran, 1);
  if (below.depth-- == 0) return;
  weft_spawn_copy(self->scope, &below, sizeof below, sprout);
  weft_spawn_copy(self->scope, &below, sizeof below, sprout);
}

/* Spawns, tasks that spawn, joins, a scope inside, an error now and then. */
static void use_scope(weft_pool *pool, unsigned salt) {
  weft_opts opts = opts_on(pool);
  weft_scope scope, inner;
  atomic_ulong ran = 0, skipped = 0;
  spot spots[20];
  for (int i = 0; i < 20; i++) spots[i] = (spot){pool, 0};
  opts.order = salt % 2 == 0 ? WEFT_ORDER_LIFO : WEFT_ORDER_FIFO;
  weft_scope_begin_with(&opts, &scope);
  CHECK_EQ(weft_pool_current(), pool);
  CHECK_EQ(weft_scope_current(), &scope);
  for (int i = 0; i < 10; i++) weft_spawn(&scope, run_spot, &spots[i]);
  seed_of seed = {&scope, pool, 4, &ran};
  weft_spawn_copy(&scope, &seed, sizeof seed, sprout);
  check_tree(4);
  weft_scope_begin(&inner);
  CHECK_EQ(weft_pool_current(), pool);
  for (int i = 10; i < 20; i++) weft_spawn(&inner, run_spot, &spots[i]);
  CHECK_EQ(weft_scope_end(&inner), 0);
  check_spots(spots + 10, 10);
  int error = salt % 3 == 0 ? 5 : 0;
  if (error != 0) {
    weft_scope_begin(&inner);
    weft_scope_cancel(&inner, error);
    for (int i = 0; i < 10; i++) weft_spawn(&inner, count_one, &skipped);
    CHECK_EQ(weft_scope_end(&inner), error);
    CHECK_EQ(atomic_load(&skipped), 0);
  }
  CHECK_EQ(weft_scope_end(&scope), 0);
  CHECK_EQ(weft_scope_current(), NULL);
  check_spots(spots, 10);
  CHECK_EQ(atomic_load(&ran), 31);
}

/* ---- more callers than places ---- */

enum { CALLERS = 6 };

static void scopes_from_outside(unsigned index, void *arg) {
  for (unsigned long i = 0; i < scaled(300); i++) use_scope(arg, index + (unsigned)i);
}

TEST_LIMIT(more_scopes_than_places, 120) {
  for (unsigned threads = 1; threads <= 3; threads++) {
    for (unsigned guests = 1; guests <= 3; guests += 2) {
      weft_pool *pool = pool_with_guests(threads, guests);
      harness_run_threads(CALLERS, scopes_from_outside, pool);
      weft_pool_destroy(pool);
    }
  }
}

static void global_scopes(unsigned index, void *arg) {
  (void)arg;
  for (unsigned long i = 0; i < scaled(300); i++) {
    unsigned char marks[30] = {0};
    weft_scope scope;
    weft_scope_begin(&scope);
    for (unsigned m = 0; m < sizeof marks; m++) weft_spawn(&scope, mark, &marks[m]);
    check_tree((index + (unsigned)i) % 6);
    CHECK_EQ(weft_scope_end(&scope), 0);
    check_marks(marks, sizeof marks, 1);
  }
}

TEST(more_scopes_than_places_of_the_global_pool) {
  for (unsigned threads = 1; threads <= 3; threads++) {
    weft_config config = WEFT_CONFIG_INIT;
    config.threads = threads;
    config.guests = 1;
    CHECK_EQ(weft_init(&config), 0);
    harness_run_threads(CALLERS, global_scopes, NULL);
    weft_shutdown();
  }
}

/* One thread has the only place and keeps it; the others come and go meanwhile. */
typedef struct held {
  weft_pool *pool, *home;
  gate place; /* the holder stands in it */
  atomic_uint finished;
  unsigned long rounds;
} held;

static void hold_the_place(void *ctx) {
  gate_pass(&((held *)ctx)->place);
}

static void come_and_go(unsigned index, void *arg) {
  held *h = arg;
  if (index == 0) {
    weft_pool_run(h->pool, hold_the_place, h);
    return;
  }
  AWAIT(atomic_load(&h->place.inside) == 1);
  for (unsigned long i = 0; i < h->rounds; i++) use_scope(h->pool, index + (unsigned)i);
  if (atomic_fetch_add(&h->finished, 1) + 1 == CALLERS - 1) gate_open(&h->place);
}

TEST(scopes_while_the_only_place_is_held) {
  for (unsigned threads = 1; threads <= 3; threads++) {
    held h = {.pool = pool_with_guests(threads, 1), .rounds = scaled(200)};
    harness_run_threads(CALLERS, come_and_go, &h);
    weft_pool_destroy(h.pool);
  }
}

/* Spawning into the scope of a thread that has no place, from threads in no pool. */
typedef struct placeless {
  held *of;
  weft_scope scope;
  spot *spots;
} placeless;

static void spawn_twenty(unsigned index, void *arg) {
  placeless *p = arg;
  for (unsigned i = 0; i < 20; i++)
    weft_spawn(&p->scope, run_spot, &p->spots[index * 20 + i]);
}

static void open_for_others(unsigned index, void *arg) {
  placeless *p = arg;
  held *h = p->of;
  if (index == 0) {
    weft_pool_run(h->pool, hold_the_place, h);
    return;
  }
  AWAIT(atomic_load(&h->place.inside) == 1);
  weft_opts opts = opts_on(h->pool);
  for (unsigned long i = 0; i < h->rounds; i++) {
    p->spots = spots_of(80, h->pool);
    weft_scope_begin_with(&opts, &p->scope);
    harness_run_threads(3, spawn_twenty, p);
    spawn_twenty(3, p);
    CHECK_EQ(weft_scope_end(&p->scope), 0);
    check_spots(p->spots, 80);
    free(p->spots);
  }
  gate_open(&h->place);
}

TEST(others_spawn_into_a_scope_without_a_place) {
  for (unsigned threads = 1; threads <= 3; threads++) {
    held h = {.pool = pool_with_guests(threads, 1), .rounds = scaled(100)};
    placeless p = {.of = &h};
    harness_run_threads(2, open_for_others, &p);
    weft_pool_destroy(h.pool);
  }
}

/* ---- tasks of another pool ---- */

static void scopes_from_a_task(void *ctx) {
  held *h = ctx;
  for (unsigned long i = 0; i < h->rounds; i++) use_scope(h->pool, (unsigned)i);
  atomic_fetch_add(&h->finished, 1);
}

static void visit_from_home(unsigned index, void *arg) {
  held *h = arg;
  if (index == 0) {
    weft_pool_run(h->pool, hold_the_place, h);
    return;
  }
  AWAIT(atomic_load(&h->place.inside) == 1);
  for (int i = 0; i < 3; i++)
    CHECK_EQ(weft_pool_detach(h->home, scopes_from_a_task, h), 0);
  weft_pool_run(h->home, scopes_from_a_task, h);
  AWAIT(atomic_load(&h->finished) == 4);
  gate_open(&h->place);
}

TEST(tasks_of_another_pool_find_no_place) {
  for (unsigned threads = 1; threads <= 3; threads++) {
    held h = {
        .pool = pool_with_guests(threads, 1), .home = pool_of(3), .rounds = scaled(200)};
    harness_run_threads(2, visit_from_home, &h);
    weft_pool_destroy(h.pool);
    weft_pool_destroy(h.home);
  }
}

/* And no thread to serve them either: a worker of another pool must not wait for one, or
 * two pools could wait for each other. */
TEST(tasks_of_another_pool_do_not_wait_for_one) {
  for (unsigned threads = 1; threads <= 3; threads++) {
    gate plug = {0};
    held h = {
        .pool = pool_with_guests(threads, 1), .home = pool_of(3), .rounds = scaled(200)};
    plug_threads(&plug, h.pool);
    harness_run_threads(2, visit_from_home, &h);
    unplug(&plug);
    weft_pool_destroy(h.pool);
    weft_pool_destroy(h.home);
  }
}

/* ---- errors of scopes around ---- */

static void child_without_a_place(void *ctx) {
  held *h = ctx;
  weft_opts opts = opts_on(h->pool);
  weft_scope child;
  atomic_ulong ran = 0;
  weft_scope_begin_with(&opts, &child);
  weft_scope_cancel(&child, 0);
  CHECK_EQ(weft_scope_end(&child), WEFT_ECANCELED);
  /* Now the scope around. */
  weft_scope *parent = weft_scope_current();
  weft_scope_begin_with(&opts, &child);
  CHECK(!weft_scope_cancelled(&child));
  weft_scope_cancel(parent, 6);
  CHECK(weft_scope_cancelled(&child));
  for (int i = 0; i < 10; i++) weft_spawn(&child, count_one, &ran);
  CHECK_EQ(weft_scope_end(&child), 6);
  CHECK_EQ(atomic_load(&ran), 0);
}

static void parents_at_home(unsigned index, void *arg) {
  held *h = arg;
  if (index == 0) {
    weft_pool_run(h->pool, hold_the_place, h);
    return;
  }
  AWAIT(atomic_load(&h->place.inside) == 1);
  weft_opts opts = opts_on(h->home);
  for (unsigned long i = 0; i < h->rounds; i++) {
    weft_scope parent;
    weft_scope_begin_with(&opts, &parent);
    if (i % 2 == 0)
      child_without_a_place(h);
    else
      weft_spawn(&parent, child_without_a_place, h);
    CHECK_EQ(weft_scope_end(&parent), 6);
  }
  gate_open(&h->place);
}

TEST(cancelling_reaches_scopes_without_a_place) {
  held h = {.pool = pool_with_guests(2, 1), .home = pool_of(2), .rounds = scaled(200)};
  harness_run_threads(2, parents_at_home, &h);
  weft_pool_destroy(h.pool);
  weft_pool_destroy(h.home);
}

/* ---- cycles between pools with one place each ---- */

typedef struct cycle {
  weft_pool *pools[2];
  unsigned depth, here;
  atomic_ulong *ran;
} cycle;

static void run_cycle(void *ctx) {
  const cycle *c = ctx;
  atomic_fetch_add(c->ran, 1);
  if (c->depth == 0) return;
  cycle next = *c;
  next.depth--;
  next.here = !c->here;
  weft_opts opts = opts_on(c->pools[next.here]);
  weft_scope scope;
  weft_scope_begin_with(&opts, &scope);
  weft_spawn(&scope, run_cycle, &next);
  check_tree(3);
  weft_spawn(&scope, run_cycle, &next);
  CHECK_EQ(weft_scope_end(&scope), 0);
}

static void cycles_from_outside(unsigned index, void *arg) {
  for (unsigned long i = 0; i < scaled(100); i++) {
    atomic_ulong ran = 0;
    cycle c = *(const cycle *)arg;
    c.here = (index + (unsigned)i) % 2;
    c.ran = &ran;
    weft_pool_run(c.pools[c.here], run_cycle, &c);
    CHECK_EQ(atomic_load(&ran), 31);
  }
}

TEST_LIMIT(cycles_of_scopes_between_pools, 120) {
  for (unsigned threads = 1; threads <= 3; threads++) {
    cycle c = {{pool_with_guests(threads, 1), pool_with_guests(2, 1)}, 4, 0, NULL};
    harness_run_threads(CALLERS, cycles_from_outside, &c);
    weft_pool_destroy(c.pools[0]);
    weft_pool_destroy(c.pools[1]);
  }
}

/* ---- a thread without a place that blocks at the end ---- */

typedef struct late {
  weft_pool *pool;
  weft_scope scope;
  atomic_bool began, place_taken, done;
  atomic_ulong ran;
} late;

/* Occupies the only started thread until the late task has run. */
static void wait_for_late(void *ctx) {
  late *l = ctx;
  atomic_store(&l->began, true);
  AWAIT(atomic_load(&l->ran) == 1);
}

static void end_without_place(late *l) {
  weft_opts opts = opts_on(l->pool);
  AWAIT(atomic_load(&l->place_taken));
  weft_scope_begin_with(&opts, &l->scope);
  CHECK(l->scope.blocks);
  weft_spawn(&l->scope, wait_for_late, l);
  AWAIT(atomic_load(&l->began)); /* or this thread would run it at the end */
  CHECK_EQ(weft_scope_end(&l->scope), 0);
  atomic_store(&l->done, true);
}

static bool is_blocked(const late *l) {
  return __atomic_load_n(&l->scope.x_blocked_end.raw, __ATOMIC_SEQ_CST) != 0;
}

static void keep_the_place_taken(void *ctx) {
  late *l = ctx;
  atomic_store(&l->place_taken, true);
  AWAIT(atomic_load(&l->done));
}

static void late_roles(unsigned index, void *arg) {
  late *l = arg;
  if (index == 0) {
    weft_pool_run(l->pool, keep_the_place_taken, l);
  } else if (index == 1) {
    end_without_place(l);
  } else {
    AWAIT(atomic_load(&l->began));
    AWAIT(is_blocked(l));
    weft_spawn(&l->scope, count_one, &l->ran);
  }
}

TEST(a_task_that_comes_late_is_run_by_the_blocked_thread) {
  for (unsigned long i = 0; i < scaled(50); i++) {
    late l = {.pool = pool_with_guests(2, 1)};
    harness_run_threads(3, late_roles, &l);
    CHECK_EQ(atomic_load(&l.ran), 1);
    weft_pool_destroy(l.pool);
  }
}
