/* par/graph/check.c - what must hold before a graph runs: no circle without a choice, and
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
  } else if (node->name != NULL) {
    wf_graph_add_text(g, node->name);
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
  node->beside = NULL;
  if (queue->first == NULL)
    queue->first = node;
  else
    queue->last->beside = node;
  queue->last = node;
}

static weft_node *dequeue_node(node_queue *queue) {
  weft_node *node = queue->first;
  if (node != NULL) queue->first = node->beside;
  return node;
}

/* ---- circles ---- */

/* All nodes as they are between runs. */
static void reset_nodes(weft_graph *g) {
  for (weft_node *node = g->oldest; node != NULL; node = node->newer) {
    wf_u32_store_relaxed(&node->x_pending, node->needed);
    wf_u32_store_relaxed(&node->x_active, 0);
    node->below = NULL;
    node->mark = WF_NODE_NEW;
  }
}

/* Takes nodes out that wait for no other one, until there are no more (Kahn). Returns how
 * many are left; all others are marked WF_NODE_DONE. Edges of choices count for nothing.
 */
static uint32_t nodes_in_circles(weft_graph *g) {
  node_queue queue = {NULL, NULL};
  weft_node *node;
  uint32_t left = g->nodes;
  for (node = g->oldest; node != NULL; node = node->newer)
    if (node->needed == 0) enqueue_node(&queue, node);
  while ((node = dequeue_node(&queue)) != NULL) {
    node->mark = WF_NODE_DONE;
    left--;
    weft_node *const *ends = wf_node_edges(node);
    for (uint32_t i = 0; i < node->edges && !node->is_choice; i++) {
      uint32_t pending = wf_u32_load_relaxed(&ends[i]->x_pending) - 1;
      wf_u32_store_relaxed(&ends[i]->x_pending, pending);
      if (pending == 0) enqueue_node(&queue, ends[i]);
    }
  }
  return left;
}

/* The next end of an edge of `node` that is not done, or NULL. x_pending counts the edges
 * that were looked at. */
static weft_node *next_end(weft_node *node) {
  weft_node *const *ends = wf_node_edges(node);
  uint32_t at = wf_u32_load_relaxed(&node->x_pending);
  weft_node *end = NULL;
  while (end == NULL && at < node->edges && !node->is_choice) {
    end = ends[at++];
    if (end->mark == WF_NODE_DONE) end = NULL;
  }
  wf_u32_store_relaxed(&node->x_pending, at);
  return end;
}

/* Follows edges from a node, depth first. Returns a node of a circle, from which
 * `source` leads round the circle against its edges; or NULL, and all that the node leads
 * to is done. */
static weft_node *find_circle_from(weft_node *node) {
  weft_node *end;
  node->source = NULL;
  node->mark = WF_NODE_OPEN;
  wf_u32_store_relaxed(&node->x_pending, 0);
  while (node != NULL) {
    if ((end = next_end(node)) == NULL) {
      node->mark = WF_NODE_DONE;
      node = node->source;
    } else if (end->mark == WF_NODE_OPEN) {
      end->source = node; /* closes the circle; what is before `end` is not part of it */
      return end;
    } else {
      end->source = node;
      end->mark = WF_NODE_OPEN;
      wf_u32_store_relaxed(&end->x_pending, 0);
      node = end;
    }
  }
  return NULL;
}

/* Names the nodes of a circle in the direction of its edges, from the one that was added
 * first. */
static void say_circle(weft_graph *g, weft_node *in_circle) {
  weft_node *first = in_circle;
  for (weft_node *it = in_circle->source; it != in_circle; it = it->source)
    if (it->number < first->number) first = it;
  weft_node *it = first;
  do { /* turn the links round: `beside` leads along the edges */
    it->source->beside = it;
    it = it->source;
  } while (it != first);
  wf_graph_say(g, "circle: ");
  do {
    wf_graph_add_name(g, it);
    wf_graph_add_text(g, " -> ");
    it = it->beside;
  } while (it != first);
  wf_graph_add_name(g, first);
}

static int refuse_circles(weft_graph *g) {
  if (nodes_in_circles(g) == 0) return 0;
  weft_node *circle = NULL;
  for (weft_node *node = g->oldest; circle == NULL; node = node->newer) {
    WF_ASSERT(node != NULL); /* nodes are left, so there is a circle */
    if (node->mark == WF_NODE_NEW) circle = find_circle_from(node);
  }
  say_circle(g, circle);
  return WEFT_EINVAL;
}

/* ---- where to start ---- */

/* A run starts with the nodes that nothing leads to. They are linked by `source`, in the
 * order of adding. */
static void find_sources(weft_graph *g) {
  weft_node **link = &g->sources;
  for (weft_node *node = g->oldest; node != NULL; node = node->newer) {
    if (node->needed != 0 || node->is_chosen) continue;
    *link = node;
    link = &node->source;
  }
  *link = NULL;
}

/* In a graph with choices there may be nodes that no run can come to: circles with a
 * choice, and what lies behind them, if nothing leads into them. */
static int refuse_unreachable(weft_graph *g) {
  node_queue queue = {NULL, NULL};
  weft_node *node;
  for (node = g->oldest; node != NULL; node = node->newer) node->mark = WF_NODE_NEW;
  for (node = g->sources; node != NULL; node = node->source) {
    node->mark = WF_NODE_DONE;
    enqueue_node(&queue, node);
  }
  while ((node = dequeue_node(&queue)) != NULL) {
    weft_node *const *ends = wf_node_edges(node);
    for (uint32_t i = 0; i < node->edges; i++) {
      if (ends[i]->mark == WF_NODE_DONE) continue;
      ends[i]->mark = WF_NODE_DONE;
      enqueue_node(&queue, ends[i]);
    }
  }
  for (node = g->oldest; node != NULL; node = node->newer) {
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
    int status = refuse_circles(g);
    if (status == 0) find_sources(g);
    if (status == 0 && g->has_choices) status = refuse_unreachable(g);
    if (status != 0) return status;
    g->checked = true;
    reset_nodes(g);
  }
  g->ready = true;
  return 0;
}
