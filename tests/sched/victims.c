/* The order in which thieves look at victims: near first, all of them, each once. The
 * machines are played: topologies are made by hand, and workers are put on their CPUs.
 *
 * SPDX-License-Identifier: MIT */
#include "support.h"

#include "sched/bind.h"
#include "sched/search.h"
#include "sched/victims.h"

#include <limits.h>

/* ---- machines ---- */

/* `nodes` nodes of two caches of two cores of two hardware threads; CPU numbers as on
 * usual servers: the second threads of all cores come after the first ones. Nodes are
 * linked in a ring. */
static wf_topology ring_of(unsigned nodes) {
  wf_topology t = {.count = nodes * 8, .packages = nodes, .is_known = true};
  t.cpus = calloc(t.count, sizeof *t.cpus);
  t.nodes = calloc(nodes, sizeof *t.nodes);
  t.distances = calloc((size_t)nodes * nodes, sizeof *t.distances);
  REQUIRE(t.cpus != NULL && t.nodes != NULL && t.distances != NULL);
  for (unsigned i = 0; i < t.count; i++) {
    unsigned core = i % (nodes * 4);
    t.cpus[i] = (wf_cpu){.number = i,
                         .group = {core, core, core / 2, core / 4},
                         .package = core / 4,
                         .thread = i / (nodes * 4),
                         .capacity = WF_FULL_CAPACITY};
  }
  t.groups[WF_CORE] = t.groups[WF_L2] = nodes * 4;
  t.groups[WF_L3] = nodes * 2;
  t.groups[WF_NODE] = nodes;
  for (unsigned a = 0; a < nodes; a++) {
    t.nodes[a] = a;
    for (unsigned b = 0; b < nodes; b++) {
      unsigned apart = (b + nodes - a) % nodes;
      if (apart > nodes / 2) apart = nodes - apart;
      t.distances[a * nodes + b] = 10 + apart * 5;
    }
  }
  return t;
}

/* A pool without threads, whose worker i is on CPU i. */
static weft_pool *played_on(const wf_topology *t) {
  wf_options options;
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = t->count;
  REQUIRE(wf_options_resolve(&options, &config, (wf_environment){0}) == 0);
  weft_pool *pool;
  REQUIRE(wf_pool_allocate(&pool, &options) == 0);
  wf_victims_destroy(pool->victims); /* those of the real machine */
  pool->victims = wf_victims_create(t, pool->words);
  for (unsigned i = 0; i < t->count; i++) {
    wf_bitset_add(pool->x_present, i);
    if (pool->victims != NULL) wf_victims_note(pool->victims, &pool->workers[i], (int)i);
  }
  return pool;
}

/* How far two CPUs are apart: a number that grows with the distance. */
static unsigned far_apart(const wf_topology *t, unsigned a, unsigned b) {
  const wf_cpu *x = &t->cpus[a], *y = &t->cpus[b];
  for (int domain = 0; domain < WF_DOMAINS; domain++)
    if (x->group[domain] == y->group[domain]) return (unsigned)domain;
  return wf_topology_distance(t, x->group[WF_NODE], y->group[WF_NODE]);
}

/* ---- the walk ---- */

static void check_walk(const weft_pool *pool, const wf_topology *t, unsigned thief) {
  wf_victim_walk walk;
  unsigned farthest = 0;
  unsigned found = 0;
  uint64_t all[WF_MOST_PLACE_WORDS] = {0};
  wf_victims_begin(&walk, pool->victims, &pool->workers[thief]);
  while (wf_victims_next(&walk)) {
    unsigned nearest_now = UINT_MAX, farthest_now = 0;
    for (unsigned i = 0; i < t->count; i++) {
      if ((walk.now[i / 64] >> i % 64 & 1) == 0) continue;
      unsigned apart = far_apart(t, thief, i);
      if (apart < nearest_now) nearest_now = apart;
      if (apart > farthest_now) farthest_now = apart;
      found++;
    }
    for (unsigned word = 0; word < pool->words; word++) {
      CHECK_EQ(all[word] & walk.now[word], 0); /* each place is in one class */
      all[word] |= walk.now[word];
    }
    if (nearest_now == UINT_MAX) continue; /* the rest, in which nobody is */
    CHECK_EQ(nearest_now, farthest_now);   /* classes are those of the distance */
    CHECK(nearest_now >= farthest);
    farthest = farthest_now;
  }
  CHECK_EQ(found, t->count);
  for (unsigned word = 0; word < pool->words; word++) CHECK_EQ(all[word], UINT64_MAX);
}

TEST(classes_are_by_distance_and_hold_everybody_once) {
  for (unsigned nodes = 1; nodes <= 8; nodes++) {
    wf_topology t = ring_of(nodes);
    weft_pool *pool = played_on(&t);
    REQUIRE(pool->victims != NULL);
    for (unsigned thief = 0; thief < t.count; thief++) check_walk(pool, &t, thief);
    wf_pool_free(pool);
    wf_topology_free(&t);
  }
}

TEST(a_flat_machine_has_no_order) {
  wf_topology t = ring_of(1);
  for (unsigned i = 0; i < t.count; i++)
    t.cpus[i] = (wf_cpu){.number = i, .group = {i, i, 0, 0}, .capacity = 1024};
  t.groups[WF_CORE] = t.groups[WF_L2] = t.count;
  t.groups[WF_L3] = t.groups[WF_NODE] = 1;
  CHECK(wf_topology_is_flat(&t));
  CHECK(wf_victims_create(&t, 4) == NULL);
  wf_topology_free(&t);
}

/* Two CPUs, as on a small virtual machine: nothing is read, and nobody is nearer. */
TEST(pools_of_two_cpus_have_no_order) {
  weft_pool *pool = pool_of(2);
  if (pool->options.cpus <= 2) CHECK(pool->victims == NULL);
  weft_pool_destroy(pool);
}

/* ---- workers that move ---- */

static unsigned members(const wf_victims *v, wf_domain domain, unsigned group) {
  unsigned count = 0;
  for (unsigned word = 0; word < v->words; word++)
    count += (unsigned)__builtin_popcountll(
        wf_u64_load_relaxed(&v->x_sets[domain][(size_t)group * v->words + word]));
  return count;
}

TEST(a_worker_is_where_it_was_last_seen) {
  wf_topology t = ring_of(4);
  weft_pool *pool = played_on(&t);
  wf_worker *worker = &pool->workers[3];
  uint64_t state = harness_seed();
  for (unsigned i = 0; i < 1000; i++) {
    int cpu = (int)(harness_random(&state) % 40) - 4; /* some that do not exist */
    wf_victims_note(pool->victims, worker, cpu);
    bool known = cpu >= 0 && (unsigned)cpu < t.count;
    CHECK_EQ(worker->seat, known ? (unsigned)cpu + 1 : 0);
    for (int domain = 0; domain < WF_DOMAINS; domain++) {
      unsigned total = 0;
      if (pool->victims->x_sets[domain] == NULL) continue;
      for (unsigned group = 0; group < t.groups[domain]; group++)
        total += members(pool->victims, (wf_domain)domain, group);
      CHECK_EQ(total, known ? t.count : t.count - 1);
    }
  }
  wf_victims_note(pool->victims, worker, 3); /* where check_walk expects it */
  check_walk(pool, &t, 4);
  wf_pool_free(pool);
  wf_topology_free(&t);
}

/* ---- the search itself ---- */

static void offer_from(weft_pool *pool, unsigned worker, wf_task *task) {
  wf_deque *deque = &pool->workers[worker].deque;
  wf_deque_news news;
  REQUIRE(wf_deque_prepare(deque) == 0);
  *task = (wf_task){do_nothing, NULL, {{0}}};
  if (wf_deque_push(deque, task)) CHECK(wf_deque_fork_slow(deque, &news) == NULL);
}

/* Everybody has one task; a thief that is never moved takes them from near to far. */
TEST(thieves_take_from_near_to_far) {
  static wf_task tasks[64];
  wf_topology t = ring_of(4);
  weft_pool *pool = played_on(&t);
  int cpu = wf_sys_cpu_now();
  for (unsigned i = 1; i < t.count; i++) offer_from(pool, i, &tasks[i]);
  wf_worker *thief = &pool->workers[0];
  /* The thread that runs this test plays the thief, and the search notes where it is. */
  unsigned farthest = 0, found = 0;
  wf_work work;
  for (;;) {
    thief->last_victim = -1;
    thief->looks_at_all = true; /* else it looks at eight, half of them anywhere */
    if (!wf_search_anybody(thief, &work)) break;
    unsigned here = thief->seat != 0 ? thief->seat - 1U : 0;
    unsigned apart = far_apart(&t, here, work.owner);
    if (cpu >= 0 && wf_sys_cpu_now() == cpu && here == (unsigned)cpu) {
      CHECK(apart >= farthest);
      farthest = apart;
    } else {
      farthest = 0; /* the system has moved this thread: a new order begins */
      cpu = wf_sys_cpu_now();
    }
    found++;
  }
  CHECK_EQ(found, t.count - 1);
  wf_pool_free(pool);
  wf_topology_free(&t);
}

/* What a worker had went to its thief, and from there to the next one: a search that
 * begins at the first finds it, whoever else there is. */
TEST(searches_follow_thieves) {
  static wf_task tasks[64];
  wf_topology t = ring_of(8);
  weft_pool *pool = played_on(&t);
  wf_work work;
  for (unsigned i = 1; i <= 60;
       i++) { /* in 60 searches of 8 it is found 8 times by luck */
    unsigned chain[] = {i, (i + 20) % 60 + 1, (i + 41) % 60 + 1};
    for (int k = 0; k < 2; k++) {
      offer_from(pool, chain[k], &tasks[chain[k]]);
      wf_worker *thief = &pool->workers[chain[k + 1]];
      thief->last_victim = (int)chain[k];
      REQUIRE(wf_search_anybody(thief, &work) && work.owner == chain[k]);
    }
    offer_from(pool, chain[2], &tasks[chain[2]]);
    wf_worker *late = &pool->workers[0];
    late->last_victim = (int)chain[0];
    CHECK(wf_search_anybody(late, &work) && work.owner == chain[2]);
    while (work.owner != chain[2]) { /* so that one failure is not followed by others */
      late->looks_at_all = true;
      REQUIRE(wf_search_anybody(late, &work));
    }
  }
  wf_pool_free(pool);
  wf_topology_free(&t);
}

/* ---- seats ---- */

TEST(threads_get_one_core_each_before_they_share) {
  wf_topology t = ring_of(2);
  unsigned order[64];
  CHECK_EQ(wf_bind_order(&t, WEFT_BIND_CORES, order), 8);
  for (unsigned i = 0; i < 8; i++) CHECK_EQ(order[i], i);
  CHECK_EQ(wf_bind_order(&t, WEFT_BIND_THREADS, order), 16);
  for (unsigned i = 0; i < 16; i++) CHECK_EQ(order[i], i);
  wf_topology_free(&t);
}

/* The fast CPUs have the last numbers, and nodes alternate. */
TEST(fast_cores_and_neighbours_come_first) {
  wf_topology t = ring_of(2);
  unsigned order[64];
  for (unsigned i = 0; i < t.count; i++) t.cpus[i].capacity = i % 4 < 2 ? 446 : 1024;
  CHECK_EQ(wf_bind_order(&t, WEFT_BIND_CORES, order), 8);
  static const unsigned expected[] = {2, 3, 6, 7, 0, 1, 4, 5};
  for (unsigned i = 0; i < 8; i++) CHECK_EQ(order[i], expected[i]);
  for (unsigned i = 0; i < t.count; i++) {
    t.cpus[i].capacity = 1024;
    t.cpus[i].group[WF_NODE] = i % 2;
  }
  CHECK_EQ(wf_bind_order(&t, WEFT_BIND_CORES, order), 8);
  for (unsigned i = 0; i < 8; i++) CHECK_EQ(t.cpus[order[i]].group[WF_NODE], i / 4);
  wf_topology_free(&t);
}
