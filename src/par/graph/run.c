/* par/graph/run.c - runs a graph: nodes that became ready go into deques, or on at once.
 *
 * A run is a scope, and a node that is ready is a task of it, which lives in the node. A
 * thread that gets one runs it, and goes on with a node that it has made ready by that,
 * without touching its deque; the others it offers there. Who may touch what, and why
 * nothing is lost: graph.md.
 *
 * weft_graph_run is called by any thread; the rest runs on threads of its pool.
 *
 * SPDX-License-Identifier: MIT */
#include "graph.h"

#include <weft/scope.h>

/* A graph that runs. Lives in the frame of weft_graph_run; threads find it by the scope
 * of a task. What is not x_ is constant during the run. */
typedef struct graph_run {
  weft_scope scope; /* first: its address is the run's */
  weft_graph *graph;
  weft_opts opts;
  int status;
  bool is_traced; /* nodes say in the trace that they run */

  /* max_workers: how many threads are in the run, and nodes that were ready when there
   * were enough of them. Both under the lock. Invariant: x_late is empty, or as many
   * threads as allowed are in the run, and one of them will look here when it leaves. */
  wf_lock lock;
  unsigned inside;
  weft_node *late;
} graph_run;

/* A thread in a run, from one task on for as long as it finds something to do. */
typedef struct walk {
  graph_run *run;
  weft_node *held; /* ready nodes that the deque did not take, linked by `beside` */
  weft_scope part; /* around each node in turn */
} walk;

/* ---- several nodes that became ready at once ---- */

/* They are offered as binomial trees, so that a thief takes a half, and so that the deque
 * needs as many places as the number of nodes has digits. A tree of rank r has 2^r nodes:
 * its root, and below it trees of rank r-1, r-2, ... 0, the first one at `below`, linked
 * by `beside`. Whoever gets the root offers what is below it and runs it. */
typedef struct ready_nodes {
  uint32_t count; /* bit r: there is a tree of rank r */
  weft_node *tree[32];
} ready_nodes;

/* Adds one node, as one adds 1 to a binary number. */
static inline void add_ready(ready_nodes *ready, weft_node *node) {
  unsigned rank = 0;
  WF_ASSERT(!node->has_below);
  for (; (ready->count >> rank & 1) != 0; rank++) {
    weft_node *root = ready->tree[rank];
    wf_node_rest *rest = wf_node_rest_of(root);
    wf_node_rest_of(node)->beside = root->has_below ? rest->below : NULL;
    rest->below = node;
    root->has_below = true;
    node = root;
  }
  ready->tree[rank] = node;
  ready->count++;
}

/* Offers a tree to other threads, or holds it until the deque has room. */
static inline void offer(walk *w, weft_node *root) {
  if (WF_LIKELY(wf_placed_push(&w->run->scope, &root->task))) return;
  wf_node_rest_of(root)->beside = w->held;
  w->held = root;
}

/* The largest trees first: thieves take what lies longest. */
static inline void offer_ready(walk *w, ready_nodes *ready) {
  while (ready->count != 0) {
    unsigned rank = 31 - (unsigned)__builtin_clz(ready->count);
    ready->count &= ~(UINT32_C(1) << rank);
    offer(w, ready->tree[rank]);
  }
}

/* Offers what is below a root that this thread got, so that the root is a single node. */
static inline void offer_below(walk *w, weft_node *root) {
  if (WF_LIKELY(!root->has_below)) return;
  weft_node *next = wf_node_rest_of(root)->below;
  root->has_below = false;
  while (next != NULL) {
    weft_node *tree = next;
    next = wf_node_rest_of(tree)->beside; /* before the tree is another thread's */
    offer(w, tree);
  }
}

/* ---- nodes that become ready ---- */

/* A choice has started a node that has not ended. The first one is reported. */
static void refuse_meeting(graph_run *run, weft_node *node) {
  void *none = NULL;
  /* Release: pairs with nothing of its own; the end of the scope orders it before the
   * look in run_ready. explorer: relaxed suffices. */
  wf_ptr_cas_release(&run->graph->x_met, &none, node);
  weft_scope_cancel(&run->scope, WEFT_EBUSY);
}

/* In graphs with choices a node may be started a second time while it is active: its task
 * would be in two places. */
static bool activate(graph_run *run, weft_node *node) {
  if (WF_LIKELY(!run->graph->has_choices)) return true;
  /* acq_rel: pairs with the release in end_node: what the node did last time comes before
   * what it does now. explorer: acquire suffices; graphs with choices alone pay for it.
   */
  if (WF_LIKELY(wf_u32_exchange_acq_rel(&wf_node_rest_of(node)->x_active, 1) == 0))
    return true;
  refuse_meeting(run, node);
  return false;
}

/* One of the nodes that this one waits for has ended. Was it the last? */
static inline bool arrive(wf_u32 *x_pending) {
  /* Acquire: pairs with the subtraction below by the other threads that have arrived:
   * what their nodes did is visible to this one. If only one is missing, it is the
   * caller, and nobody else writes the word; so a node that waits for one other needs no
   * read-modify-write. */
  if (wf_u32_load_acquire(x_pending) == 1) return true;
  /* acq_rel: pairs with itself and with the load above. */
  return wf_u32_fetch_sub_acq_rel(x_pending, 1) == 1;
}

/* Lets the nodes behind a node that has ended go on. Returns one that this thread runs
 * next, or NULL; the others that are ready are offered. */
static weft_node *start_successors(walk *w, const weft_node *node) {
  const weft_graph *g = w->run->graph;
  const uint32_t *ends = wf_node_ends(node);
  weft_node *next = NULL;
  ready_nodes ready;
  ready.count = 0;
  for (uint32_t i = 0, edges = node->edges; i < edges; i++) {
    wf_node_place place = wf_node_place_of(ends[i]);
    const wf_node_block *block = &g->block[place.block];
    if (!arrive(&block->x_pending[place.offset])) continue;
    weft_node *end = &block->nodes[place.offset];
    /* Relaxed: the next thread that arrives here does so after `end` has ended, in this
     * run or in the next. */
    if (end->needed > 1)
      wf_u32_store_relaxed(&block->x_pending[place.offset], end->needed);
    if (!activate(w->run, end)) continue;
    if (next == NULL)
      next = end;
    else
      add_ready(&ready, end);
  }
  offer_ready(w, &ready);
  return next;
}

/* ---- running a node ---- */

typedef struct choice_call {
  weft_choice_fn *choose;
  void *ctx;
  size_t chosen;
} choice_call;

/* Calls a node's function, with its name in the trace. */
static __attribute__((noinline)) void call_traced(walk *w, const weft_node *node,
                                                  weft_fn *fn, void *ctx) {
  uintptr_t address = node->is_choice ? (uintptr_t)node->choose : (uintptr_t)node->fn;
  const char *name = wf_trace_keep(wf_node_rest_of(node)->name);
  wf_sched_part_begins(WF_TASK_NODE, name, address);
  wf_scope_call(&w->part, fn, ctx);
  wf_sched_part_ends();
}

static inline void call_node(walk *w, const weft_node *node, weft_fn *fn, void *ctx) {
  if (WF_UNLIKELY(w->run->is_traced))
    call_traced(w, node, fn, ctx);
  else
    wf_scope_call(&w->part, fn, ctx);
}

static void call_choice(void *ctx) {
  choice_call *call = (choice_call *)ctx;
  call->chosen = call->choose(call->ctx);
}

/* Nobody touches the node's own words from the start of its function to here, and from
 * here on it may be started again. */
static void end_node(graph_run *run, weft_node *node) {
  if (WF_LIKELY(!run->graph->has_choices)) return;
  wf_u32 *x_active = &wf_node_rest_of(node)->x_active;
  WF_ASSERT(wf_u32_peek(x_active) == 1);
  wf_u32_store_release(x_active, 0); /* pairs with the exchange in activate */
}

static bool is_cancelled(const graph_run *run) {
  return wf_scope_is_cancelled(&run->scope) || wf_par_cancelled(&run->opts);
}

static weft_node *run_choice(walk *w, weft_node *node) {
  choice_call call = {node->choose, node->task.context, WEFT_CHOOSE_NONE};
  call_node(w, node, call_choice, &call);
  end_node(w->run, node);
  if (is_cancelled(w->run) || call.chosen >= node->edges) return NULL;
  weft_node *next = wf_graph_node(w->run->graph, wf_node_ends(node)[call.chosen]);
  return activate(w->run, next) ? next : NULL;
}

/* Runs a single node. Returns one that is to be run next, or NULL. */
static inline weft_node *run_node(walk *w, weft_node *node) {
  WF_ASSERT(!node->has_below);
  if (WF_UNLIKELY(node->is_choice)) return run_choice(w, node);
  call_node(w, node, node->fn, node->task.context);
  end_node(w->run, node);
  /* A cancelled run starts nothing: also not what waits for a node that was skipped in
   * part. */
  if (WF_UNLIKELY(is_cancelled(w->run))) return NULL;
  return start_successors(w, node);
}

/* ---- walking ---- */

static weft_node *node_of(wf_task *task) {
  return (weft_node *)(void *)task; /* the first member */
}

static weft_node *take_held(walk *w) {
  weft_node *root = w->held;
  if (root != NULL) w->held = wf_node_rest_of(root)->beside;
  return root;
}

/* The next node for a thread that has none: its own newest one, or one that it holds. A
 * thread that should be elsewhere goes on only with what no other thread could take. */
static weft_node *next_node(walk *w, bool stays) {
  wf_task *task = stays ? wf_placed_take(&w->run->scope, wf_node_run_taken) : NULL;
  weft_node *root = task != NULL ? node_of(task) : take_held(w);
  if (root != NULL) offer_below(w, root);
  return root;
}

/* Runs nodes until this thread has none left. The walk's part is open. */
static void walk_on(walk *w, weft_node *node, bool stays) {
  while (node != NULL && !is_cancelled(w->run)) {
    node = run_node(w, node);
    /* Others may have emptied the deque meanwhile. */
    if (WF_UNLIKELY(w->held != NULL)) offer(w, take_held(w));
    if (!stays && node != NULL) {
      offer(w, node);
      node = NULL;
    }
    if (node == NULL) node = next_node(w, stays);
  }
}

/* ---- max_workers ---- */

static bool is_limited(const graph_run *run) {
  return run->opts.max_workers != 0;
}

/* A thread comes with a tree of nodes. False: there are enough; one of them takes it. */
static bool come_in(graph_run *run, weft_node *root) {
  if (!is_limited(run)) return true;
  wf_lock_lock(&run->lock);
  bool may = run->inside < run->opts.max_workers;
  if (may) {
    run->inside++;
  } else {
    wf_node_rest_of(root)->beside = run->late;
    run->late = root;
  }
  wf_lock_unlock(&run->lock);
  return may;
}

/* A thread has nothing left. Returns a tree that has come meanwhile; or NULL, and the
 * thread is not in the run any more. */
static weft_node *go_out(graph_run *run) {
  if (!is_limited(run)) return NULL;
  wf_lock_lock(&run->lock);
  weft_node *root = run->late;
  if (root != NULL)
    run->late = wf_node_rest_of(root)->beside;
  else
    run->inside--;
  wf_lock_unlock(&run->lock);
  return root;
}

/* ---- tasks ---- */

static void walk_from(void *ctx) {
  weft_node *root = (weft_node *)ctx;
  graph_run *run = (graph_run *)(void *)wf_latch_scope(&root->task.completion);
  if (is_cancelled(run) || !come_in(run, root)) return;
  walk w;
  w.run = run;
  w.held = NULL;
  bool stays = wf_placed_may_stay(&run->scope);
  wf_scope_begin_part(&w.part);
  do {
    offer_below(&w, root);
    walk_on(&w, root, stays);
  } while ((root = go_out(run)) != NULL);
  weft_scope_end(&w.part);
}

void wf_node_run_taken(void *task) {
  wf_placed_run((wf_task *)task, walk_from, node_of((wf_task *)task));
}

/* ---- the run ---- */

/* The caller's own walk: the first node itself, the others are offered. */
static void walk_from_sources(graph_run *run) {
  walk w;
  w.run = run;
  w.held = NULL;
  weft_node *node = run->graph->sources;
  ready_nodes ready;
  ready.count = 0;
  run->inside = 1;
  weft_node *other = node;
  while ((other = wf_node_rest_of(other)->source) != NULL)
    if (activate(run, other)) add_ready(&ready, other);
  activate(run, node);
  wf_scope_begin_part(&w.part);
  offer_ready(&w, &ready);
  do {
    offer_below(&w, node);
    walk_on(&w, node, true);
  } while ((node = go_out(run)) != NULL);
  weft_scope_end(&w.part);
}

static void run_in_pool(void *ctx) {
  graph_run *run = (graph_run *)ctx;
  weft_scope_begin(&run->scope);
  walk_from_sources(run);
  run->status = weft_scope_end(&run->scope);
}

/* Runs a graph that is ready. */
static int run_ready(weft_graph *g, const weft_opts *opts) {
  graph_run run;
  if (g->sources == NULL) return 0; /* it is empty */
  run.graph = g;
  run.opts = *opts;
  run.is_traced = wf_trace_is_on();
  run.lock = (wf_lock){{WF_LOCK_FREE}};
  run.late = NULL;
  wf_ptr_store_relaxed(&g->x_met, NULL); /* nobody else is in the run yet */
  wf_par_run_over(opts, g->nodes, run_in_pool, &run);
  int status = run.status;
  if (status == 0 && wf_par_cancelled(opts)) status = WEFT_ECANCELED;
  /* Where some nodes did not run, others were left half-way. */
  if (status != 0 || g->has_choices) g->ready = false;
  const weft_node *met =
      (const weft_node *)wf_ptr_load_relaxed(&g->x_met); /* all ended */
  if (met != NULL) {
    wf_graph_say(g, "chosen before it had ended: ");
    wf_graph_add_name(g, met);
  }
  return status;
}

int weft_graph_run_with(const weft_opts *o, weft_graph *g) {
  weft_opts opts;
  wf_refuse_if(g == NULL, "weft_graph_run", "the graph is NULL");
  wf_par_options(&opts, o, "weft_graph_run");
  uint32_t not_running = 0;
  /* Acquire: pairs with the release below: this run sees all of the last one. */
  if (!wf_u32_cas_acquire(&g->x_running, &not_running, 1)) return WEFT_EBUSY;
  int status = wf_graph_prepare(g);
  if (status == 0) status = run_ready(g, &opts);
  wf_u32_store_release(&g->x_running, 0); /* pairs with the CAS above in the next run */
  return status;
}
WF_PLAIN_OF(int, weft_graph_run, (weft_graph * g), g)
