/* weft_graph_choice: branches, loops, loops in loops; what is chosen twice is refused.
 *
 * SPDX-License-Identifier: MIT */
#include "support.h"

/* ---- branches ---- */

typedef struct branching {
  weft_graph *graph;
  size_t chosen;
  unsigned char ran[5];
} branching;

static size_t choose(void *ctx) {
  return ((branching *)ctx)->chosen;
}

static void run_branches(void *ctx) {
  branching *b = ctx;
  for (size_t chosen = 0; chosen <= 6; chosen++) {
    b->chosen = chosen == 6 ? WEFT_CHOOSE_NONE : chosen;
    CHECK_EQ(weft_graph_run(b->graph), 0);
    for (size_t i = 0; i < 5; i++) CHECK_EQ(b->ran[i], chosen < 5 ? i == chosen : 0);
    memset(b->ran, 0, sizeof b->ran);
  }
}

TEST(one_branch_runs_or_none) {
  branching b = {0};
  REQUIRE(weft_graph_create(&b.graph) == 0);
  weft_node *which = weft_graph_choice(b.graph, "which", choose, &b);
  for (size_t i = 0; i < 5; i++) {
    weft_node *first = weft_graph_add(b.graph, "first", do_nothing, NULL);
    weft_node *then = weft_graph_add(b.graph, "then", mark, &b.ran[i]);
    CHECK_EQ(weft_graph_edge(b.graph, which, first), 0);
    CHECK_EQ(weft_graph_edge(b.graph, first, then), 0);
  }
  in_pools(run_branches, &b);
  weft_graph_destroy(b.graph);
}

/* A node that waits for a branch which is not taken does not run, and the next run finds
 * it as it was. */
typedef struct half {
  size_t chosen;
  unsigned char ran;
} half;

static size_t choose_half(void *ctx) {
  return ((half *)ctx)->chosen;
}

TEST(what_waits_for_a_branch_not_taken_does_not_run) {
  half h = {0};
  weft_graph *g;
  REQUIRE(weft_graph_create(&g) == 0);
  weft_node *which = weft_graph_choice(g, "which", choose_half, &h);
  weft_node *branch = weft_graph_add(g, "branch", do_nothing, NULL);
  weft_node *other = weft_graph_add(g, "other", do_nothing, NULL);
  weft_node *both = weft_graph_add(g, "both", mark, &h.ran);
  CHECK_EQ(weft_graph_edge(g, which, branch), 0);
  CHECK_EQ(weft_graph_edge(g, branch, both), 0);
  CHECK_EQ(weft_graph_edge(g, other, both), 0);
  unsigned char expected = 0;
  for (int run = 0; run < 20; run++) {
    h.chosen = run % 3 == 0 ? 0 : 1;
    if (h.chosen == 0) expected++;
    CHECK_EQ(weft_graph_run(g), 0);
    CHECK_EQ(h.ran, expected);
  }
  weft_graph_destroy(g);
}

/* Branches that end in choices come together again, whichever was taken. */
static size_t choose_first(void *ctx) {
  (void)ctx;
  return 0;
}

static void run_joined_branches(void *ctx) {
  branching *b = ctx;
  for (b->chosen = 0; b->chosen < 5; b->chosen++) {
    b->ran[0] = 0;
    CHECK_EQ(weft_graph_run(b->graph), 0);
    CHECK_EQ(b->ran[0], 1);
  }
}

TEST(branches_come_together) {
  branching b = {0};
  REQUIRE(weft_graph_create(&b.graph) == 0);
  weft_node *which = weft_graph_choice(b.graph, "which", choose, &b);
  weft_node *common = weft_graph_add(b.graph, "common", mark, &b.ran[0]);
  for (size_t i = 0; i < 5; i++) {
    weft_node *branch = weft_graph_choice(b.graph, "branch", choose_first, NULL);
    CHECK_EQ(weft_graph_edge(b.graph, which, branch), 0);
    CHECK_EQ(weft_graph_edge(b.graph, branch, common), 0);
  }
  in_pools(run_joined_branches, &b);
  weft_graph_destroy(b.graph);
}

/* A node that waits for two others and is also chosen runs for both reasons: to be chosen
 * takes nothing from what has arrived. */
TEST(a_chosen_node_still_waits_for_the_others) {
  half h = {0};
  weft_pool *pool = pool_of(1); /* runs `first` and what it leads to before `second` */
  weft_opts opts = opts_on(pool);
  weft_graph *g;
  REQUIRE(weft_graph_create(&g) == 0);
  weft_node *first = weft_graph_add(g, "first", do_nothing, NULL);
  weft_node *second = weft_graph_add(g, "second", do_nothing, NULL);
  weft_node *which = weft_graph_choice(g, "which", choose_half, &h);
  weft_node *both = weft_graph_add(g, "both", mark, &h.ran);
  CHECK_EQ(weft_graph_edge(g, first, which), 0);
  CHECK_EQ(weft_graph_edge(g, first, both), 0);
  CHECK_EQ(weft_graph_edge(g, second, both), 0);
  CHECK_EQ(weft_graph_edge(g, which, both), 0);
  for (int run = 0; run < 10; run++) {
    h.ran = 0;
    h.chosen = (size_t)(run % 2);
    CHECK_EQ(weft_graph_run_with(&opts, g), 0);
    CHECK_EQ(h.ran, h.chosen == 0 ? 2 : 1);
  }
  weft_graph_destroy(g);
  weft_pool_destroy(pool);
}

/* ---- loops ---- */

/* init -> body -> again? -> body or done; the body is a diamond of plain words. */
typedef struct looping {
  weft_graph *graph;
  unsigned long rounds, i, left, right, sum, done;
} looping;

static void loop_init(void *ctx) {
  looping *l = ctx;
  l->i = l->sum = l->left = l->right = 0;
}
static void loop_top(void *ctx) {
  ((looping *)ctx)->i++;
}
static void loop_left(void *ctx) {
  looping *l = ctx;
  l->left += l->i;
}
static void loop_right(void *ctx) {
  looping *l = ctx;
  l->right += 2 * l->i;
}
static void loop_bottom(void *ctx) {
  looping *l = ctx;
  l->sum = l->left + l->right;
}
static size_t loop_again(void *ctx) {
  looping *l = ctx;
  return l->i < l->rounds ? 0 : 1;
}
static void loop_done(void *ctx) {
  ((looping *)ctx)->done++;
}

static void build_loop(looping *l, weft_graph *g) {
  weft_node *init = weft_graph_add(g, "init", loop_init, l);
  weft_node *top = weft_graph_add(g, "top", loop_top, l);
  weft_node *left = weft_graph_add(g, "left", loop_left, l);
  weft_node *right = weft_graph_add(g, "right", loop_right, l);
  weft_node *bottom = weft_graph_add(g, "bottom", loop_bottom, l);
  weft_node *again = weft_graph_choice(g, "again?", loop_again, l);
  weft_node *done = weft_graph_add(g, "done", loop_done, l);
  CHECK_EQ(weft_graph_edge(g, init, top), 0);
  CHECK_EQ(weft_graph_edge(g, top, left), 0);
  CHECK_EQ(weft_graph_edge(g, top, right), 0);
  CHECK_EQ(weft_graph_edge(g, left, bottom), 0);
  CHECK_EQ(weft_graph_edge(g, right, bottom), 0);
  CHECK_EQ(weft_graph_edge(g, bottom, again), 0);
  CHECK_EQ(weft_graph_edge(g, again, top), 0);
  CHECK_EQ(weft_graph_edge(g, again, done), 0);
}

static void run_loops(void *ctx) {
  looping *l = ctx;
  for (unsigned long rounds = 1; rounds <= 30; rounds++) {
    for (unsigned k = 0; k < 3; k++) l[k].rounds = rounds + k;
    CHECK_EQ(weft_graph_run(l[0].graph), 0);
    for (unsigned k = 0; k < 3; k++) {
      unsigned long n = l[k].rounds;
      CHECK_EQ(l[k].sum, 3 * n * (n + 1) / 2);
      CHECK_EQ(l[k].done, 1);
      l[k].done = 0;
    }
  }
}

/* Three loops beside each other in one graph. */
TEST(loops) {
  looping l[3] = {{0}};
  REQUIRE(weft_graph_create(&l[0].graph) == 0);
  for (unsigned k = 0; k < 3; k++) build_loop(&l[k], l[0].graph);
  in_pools(run_loops, l);
  weft_graph_destroy(l[0].graph);
}

typedef struct self_loop {
  unsigned long calls, wanted;
} self_loop;

static size_t count_to(void *ctx) {
  self_loop *s = ctx;
  return ++s->calls < s->wanted ? 0 : 1;
}

TEST(a_choice_may_choose_itself) {
  self_loop s = {0, 1000};
  weft_graph *g;
  REQUIRE(weft_graph_create(&g) == 0);
  weft_node *start = weft_graph_add(g, "start", do_nothing, NULL);
  weft_node *self = weft_graph_choice(g, "self", count_to, &s);
  CHECK_EQ(weft_graph_edge(g, start, self), 0);
  CHECK_EQ(weft_graph_edge(g, self, self), 0);
  CHECK_EQ(weft_graph_run(g), 0);
  CHECK_EQ(s.calls, 1000);
  weft_graph_destroy(g);
}

/* A loop in a loop: the inner one runs anew in each round of the outer one. */
typedef struct nested {
  unsigned long outer, inner, total;
} nested;

static void start_inner(void *ctx) {
  ((nested *)ctx)->inner = 0;
}
static void inner_step(void *ctx) {
  ((nested *)ctx)->total++;
}
static size_t inner_again(void *ctx) {
  return ++((nested *)ctx)->inner < 7 ? 0 : 1;
}
static size_t outer_again(void *ctx) {
  return ++((nested *)ctx)->outer < 11 ? 0 : WEFT_CHOOSE_NONE;
}

TEST(loops_in_loops) {
  nested n = {0};
  weft_graph *g;
  REQUIRE(weft_graph_create(&g) == 0);
  weft_node *start = weft_graph_add(g, "start", do_nothing, NULL);
  weft_node *begin = weft_graph_add(g, "begin", start_inner, &n);
  weft_node *step = weft_graph_add(g, "step", inner_step, &n);
  weft_node *inner = weft_graph_choice(g, "inner?", inner_again, &n);
  weft_node *outer = weft_graph_choice(g, "outer?", outer_again, &n);
  CHECK_EQ(weft_graph_edge(g, start, begin), 0);
  CHECK_EQ(weft_graph_edge(g, begin, step), 0);
  CHECK_EQ(weft_graph_edge(g, step, inner), 0);
  CHECK_EQ(weft_graph_edge(g, inner, step), 0);
  CHECK_EQ(weft_graph_edge(g, inner, outer), 0);
  CHECK_EQ(weft_graph_edge(g, outer, begin), 0);
  for (unsigned long run = 1; run <= 10; run++) {
    n.outer = 0;
    CHECK_EQ(weft_graph_run(g), 0);
    CHECK_EQ(n.total, run * 7 * 11);
  }
  weft_graph_destroy(g);
}

/* ---- chosen while active ---- */

typedef struct meeting_choices {
  atomic_uint came;
  atomic_bool go;
} meeting_choices;

static void wait_to_go(void *ctx) {
  meeting_choices *m = ctx;
  AWAIT(atomic_load(&m->came) == 1);
  atomic_store(&m->go, true);
}

/* The node that waits is chosen again while it runs. */
static size_t choose_when_it_runs(void *ctx) {
  meeting_choices *m = ctx;
  AWAIT(atomic_load(&m->go));
  return 0;
}

static void run_until_chosen(void *ctx) {
  meeting_choices *m = ctx;
  atomic_store(&m->came, 1);
  AWAIT(atomic_load(&m->go));
  while (!weft_scope_cancelled(weft_scope_current())) sched_yield();
}

TEST(a_node_that_is_chosen_while_it_runs_ends_the_run) {
  weft_pool *pool = pool_of(3);
  meeting_choices m = {0};
  weft_graph *g;
  REQUIRE(weft_graph_create(&g) == 0);
  weft_node *busy = weft_graph_add(g, "busy", run_until_chosen, &m);
  weft_node *start = weft_graph_add(g, "start", do_nothing, NULL);
  weft_node *waits = weft_graph_add(g, "waits", wait_to_go, &m);
  weft_node *which = weft_graph_choice(g, "which", choose_when_it_runs, &m);
  CHECK_EQ(weft_graph_edge(g, start, busy), 0);
  CHECK_EQ(weft_graph_edge(g, waits, which), 0);
  CHECK_EQ(weft_graph_edge(g, which, busy), 0);
  weft_opts opts = opts_on(pool);
  for (int run = 0; run < 10; run++) {
    atomic_store(&m.came, 0);
    atomic_store(&m.go, false);
    CHECK_EQ(weft_graph_run_with(&opts, g), WEFT_EBUSY);
    CHECK_STR_EQ(weft_graph_error(g), "chosen before it had ended: busy");
  }
  weft_graph_destroy(g);
  weft_pool_destroy(pool);
}
