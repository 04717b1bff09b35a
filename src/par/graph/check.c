/* par/graph/check.c - what must hold before a graph runs: no cycle without a choice, and
 * a way to every node. Also the messages that name nodes.
 *
 * Called by weft_graph_run on the thread that has set x_running, so the whole graph is
 * this thread's, and relaxed accesses are enough everywhere. Allocates nothing: lists and
 * counts are in the nodes.
 *
 * SPDX-License-Identifier: MIT */
#include "graph.h"

#include <string.h>

/* ---- messages ---- */

void wf_graph_say(weft_graph *g, const char *text) {
  g->message[0] = '\0';
  wf_graph_add_text(g, text);
}

void wf_graph_add_text(weft_graph *g, const char *text) {
  static const char dots[] = "...";
  size_t used = strlen(g->message);
  size_t room = sizeof g->message - sizeof dots; /* the dots always fit */
  size_t length = strlen(text);
  if (used > room) return; /* it ends in dots already */
  if (length <= room - used) {
    memcpy(g->message + used, text, length + 1);
    return;
  }
  memcpy(g->message + used, text, room - used);
  memcpy(g->message + room, dots, sizeof dots);
}

void wf_graph_add_name(weft_graph *g, const weft_node *node) {
  char text[32];
  if (node == NULL) {
    wf_graph_add_text(g, "NULL");
  } else if (wf_node_rest_of(node)->name != NULL) {
    wf_graph_add_text(g, wf_node_rest_of(node)->name);
  } else {
    (void)snprintf(text, sizeof text, "node %lu", (unsigned long)node->number);
    wf_graph_add_text(g, text);
  }
}

const char *weft_graph_error(const weft_graph *g) {
  wf_refuse_if(g == NULL, "weft_graph_error", "the graph is NULL");
  return g->message;
}

/* ---- lists of nodes, linked by `beside` ---- */

typedef struct node_queue {
  weft_node *first, *last;
} node_queue;

static void enqueue_node(node_queue *queue, weft_node *node) {
  wf_node_rest_of(node)->beside = NULL;
  if (queue->first == NULL)
    queue->first = node;
  else
    wf_node_rest_of(queue->last)->beside = node;
  queue->last = node;
}

static weft_node *dequeue_node(node_queue *queue) {
  weft_node *node = queue->first;
  if (node != NULL) queue->first = wf_node_rest_of(node)->beside;
  return node;
}

/* ---- cycles ---- */

/* All nodes as they are between runs. */
static void reset_nodes(weft_graph *g) {
  for (uint32_t i = 0; i < g->nodes; i++) {
    weft_node *node = wf_graph_node(g, i);
    wf_node_rest *rest = wf_node_rest_of(node);
    wf_u32_store_relaxed(wf_graph_pending(g, i), node->needed);
    wf_u32_store_relaxed(&rest->x_active, 0);
    rest->below = NULL;
    node->has_below = false;
    node->mark = WF_NODE_NEW;
  }
}

/* Takes nodes out that wait for no other one, until there are no more (Kahn). Returns how
 * many are left; all others are marked WF_NODE_DONE. Edges of choices count for nothing.
 */
static uint32_t nodes_in_cycles(weft_graph *g) {
  node_queue queue = {NULL, NULL};
  weft_node *node;
  uint32_t left = g->nodes;
  for (uint32_t i = 0; i < g->nodes; i++)
    if (wf_graph_node(g, i)->needed == 0) enqueue_node(&queue, wf_graph_node(g, i));
  while ((node = dequeue_node(&queue)) != NULL) {
    node->mark = WF_NODE_DONE;
    left--;
    const uint32_t *ends = wf_node_ends(node);
    for (uint32_t i = 0; i < node->edges && !node->is_choice; i++) {
      wf_u32 *x_pending = wf_graph_pending(g, ends[i]);
      uint32_t pending = wf_u32_load_relaxed(x_pending) - 1;
      wf_u32_store_relaxed(x_pending, pending);
      if (pending == 0) enqueue_node(&queue, wf_graph_node(g, ends[i]));
    }
  }
  return left;
}

/* The next node that an edge of `node` leads to and that is not done, or NULL. The
 * node's count says how many edges were looked at. */
static weft_node *next_end(const weft_graph *g, const weft_node *node) {
  wf_u32 *x_looked_at = wf_graph_pending(g, node->number);
  uint32_t at = wf_u32_load_relaxed(x_looked_at);
  weft_node *end = NULL;
  while (end == NULL && at < node->edges && !node->is_choice) {
    end = wf_graph_node(g, wf_node_ends(node)[at++]);
    if (end->mark == WF_NODE_DONE) end = NULL;
  }
  wf_u32_store_relaxed(x_looked_at, at);
  return end;
}

/* Comes to a new node from another one, or from nowhere. */
static void open_node(const weft_graph *g, weft_node *node, weft_node *from) {
  wf_node_rest_of(node)->source = from;
  node->mark = WF_NODE_OPEN;
  wf_u32_store_relaxed(wf_graph_pending(g, node->number), 0);
}

/* Follows edges from a node, depth first. Returns a node of a cycle, from which `source`
 * leads round the cycle against its edges; or NULL, and all that the node leads to is
 * done. */
static weft_node *find_cycle_from(const weft_graph *g, weft_node *node) {
  open_node(g, node, NULL);
  while (node != NULL) {
    weft_node *end = next_end(g, node);
    if (end == NULL) {
      node->mark = WF_NODE_DONE;
      node = wf_node_rest_of(node)->source;
    } else if (end->mark == WF_NODE_OPEN) {
      wf_node_rest_of(end)->source = node; /* closes it; the way to `end` is no part */
      return end;
    } else {
      open_node(g, end, node);
      node = end;
    }
  }
  return NULL;
}

/* Names the nodes of a cycle in the direction of its edges, from the one that was added
 * first. */
static void say_cycle(weft_graph *g, weft_node *in_cycle) {
  weft_node *first = in_cycle, *node = in_cycle;
  do { /* turn the links round: `beside` leads along the edges */
    weft_node *before = wf_node_rest_of(node)->source;
    wf_node_rest_of(before)->beside = node;
    if (before->number < first->number) first = before;
    node = before;
  } while (node != in_cycle);
  wf_graph_say(g, "cycle: ");
  node = first;
  do {
    wf_graph_add_name(g, node);
    wf_graph_add_text(g, " -> ");
    node = wf_node_rest_of(node)->beside;
  } while (node != first);
  wf_graph_add_name(g, first);
}

static int refuse_cycles(weft_graph *g) {
  if (nodes_in_cycles(g) == 0) return 0;
  weft_node *cycle = NULL;
  for (uint32_t i = 0; cycle == NULL; i++) {
    WF_ASSERT(i < g->nodes); /* nodes are left, so there is a cycle */
    weft_node *node = wf_graph_node(g, i);
    if (node->mark == WF_NODE_NEW) cycle = find_cycle_from(g, node);
  }
  say_cycle(g, cycle);
  return WEFT_EINVAL;
}

/* ---- where to start ---- */

/* A run starts with the nodes that nothing leads to. They are linked by `source`, in the
 * order of adding. */
static void find_sources(weft_graph *g) {
  weft_node **link = &g->sources;
  for (uint32_t i = 0; i < g->nodes; i++) {
    weft_node *node = wf_graph_node(g, i);
    if (node->needed != 0 || node->is_chosen) continue;
    *link = node;
    link = &wf_node_rest_of(node)->source;
  }
  *link = NULL;
}

/* Marks a node that a run can come to, to look at its edges later. */
static void reach(node_queue *queue, weft_node *node) {
  if (node->mark == WF_NODE_DONE) return;
  node->mark = WF_NODE_DONE;
  enqueue_node(queue, node);
}

/* In a graph with choices there may be nodes that no run can come to: cycles with a
 * choice, and what lies behind them, if nothing leads into them. */
static int refuse_unreachable(weft_graph *g) {
  node_queue queue = {NULL, NULL};
  weft_node *node;
  for (uint32_t i = 0; i < g->nodes; i++) wf_graph_node(g, i)->mark = WF_NODE_NEW;
  for (node = g->sources; node != NULL; node = wf_node_rest_of(node)->source)
    reach(&queue, node);
  while ((node = dequeue_node(&queue)) != NULL)
    for (uint32_t i = 0; i < node->edges; i++)
      reach(&queue, wf_graph_node(g, wf_node_ends(node)[i]));
  for (uint32_t i = 0; i < g->nodes; i++) {
    node = wf_graph_node(g, i);
    if (node->mark == WF_NODE_DONE) continue;
    wf_graph_say(g, "no run can come to ");
    wf_graph_add_name(g, node);
    wf_graph_add_text(g, ": no node to start with leads there");
    return WEFT_EINVAL;
  }
  return 0;
}

int wf_graph_prepare(weft_graph *g) {
  if (g->ready) return 0;
  reset_nodes(g);
  if (!g->checked) {
    int status = refuse_cycles(g);
    if (status == 0) find_sources(g);
    if (status == 0 && g->has_choices) status = refuse_unreachable(g);
    if (status != 0) return status;
    g->checked = true;
    reset_nodes(g);
  }
  g->ready = true;
  return 0;
}
