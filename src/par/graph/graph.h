/* par/graph/graph.h - what is inside a graph: nodes, edges, memory. Shared by build.c
 * (nodes and edges), check.c (before a run), run.c and dot.c.
 *
 * While the graph does not run, all of it belongs to the thread that builds or checks it.
 * While it runs, each field says who writes it; the protocol is in graph.md.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_PAR_GRAPH_H
#define WF_PAR_GRAPH_H

#include "../base/call.h"

#include <weft/graph.h>

/* Up to two edges lie in the node itself: chains, binary trees and wavefronts need no
 * more, and the node fills a cache line with them. */
enum { WF_NODE_NEAR = 2 };

/* From this number of edges on, a node has a table to find an edge by its end. Below, one
 * looks at all: eight pointers are one cache line. */
enum { WF_NODE_SCANNED = 8 };

/* What a node does in the check, and how deep it is in the search for a circle. */
typedef enum wf_node_mark { WF_NODE_NEW, WF_NODE_OPEN, WF_NODE_DONE } wf_node_mark;

/* Two cache lines. The first holds all that a run needs of a node with up to two edges.
 *
 * Between runs, if the graph is ready (see weft_graph):
 *
 *     x_pending = needed = the number of edges to the node from nodes that do not choose
 *     x_active = 0, below = NULL
 *
 * In a run, x_pending is how many of those have not ended since the node last started.
 */
struct weft_node {
  wf_task task; /* execute: run_taken; context: the program's ctx; the run's scope */
  union {
    weft_fn *fn;
    weft_choice_fn *choose;
  };
  wf_u32 x_pending; /* written by threads that end a node before this one */
  uint32_t needed;
  uint32_t edges;
  bool is_choice;
  bool is_chosen;                 /* an edge of a choice leads here */
  uint8_t mark;                   /* wf_node_mark; check.c */
  weft_node *near_[WF_NODE_NEAR]; /* the ends of its edges, if they are no more */

  weft_node **far_;  /* all of them, if they are; with a table behind it */
  weft_node *below;  /* the first of those that became ready with this one; run.c */
  weft_node *beside; /* the next one of such a list; in check.c the next of a list too */
  weft_node *source; /* the next node to start with, if this is one */
  weft_node *newer;  /* the node that was added next */
  weft_graph *graph;
  const char *name; /* or NULL */
  uint32_t number;  /* in the order of adding, from 0 */
  wf_u32 x_active;  /* started and not ended; only used in graphs with choices */
};

/* A piece of memory; the graph takes from it piece by piece. */
typedef struct wf_graph_chunk {
  struct wf_graph_chunk *older;
  size_t size; /* of all of it */
} wf_graph_chunk;

enum { WF_GRAPH_MESSAGE = 512 }; /* a choice: some twenty names of usual length */

struct weft_graph {
  weft_node *oldest, *newest; /* all nodes, in the order of adding */
  weft_node *sources;         /* those to start with; of a graph that is ready */
  uint32_t nodes;
  bool has_choices;
  bool ready;       /* checked since the last change, and all nodes as between runs */
  bool checked;     /* checked since the last change */
  wf_u32 x_running; /* 1 while it runs; the thread that sets it owns the graph */
  wf_ptr x_met;     /* a node that was chosen while it was active, or NULL */
  wf_graph_chunk *chunk;
  size_t used; /* bytes of the newest chunk */
  char message[WF_GRAPH_MESSAGE];
};

/* Where the ends of a node's edges are. */
static inline weft_node *const *wf_node_edges(const weft_node *node) {
  return node->edges <= WF_NODE_NEAR ? node->near_ : node->far_;
}

/* ---- messages (check.c) ---- */

/* Writes a new message. */
void wf_graph_say(weft_graph *g, const char *text);
/* Adds to it; what does not fit is left out, and the message ends in "...". */
void wf_graph_add_text(weft_graph *g, const char *text);
void wf_graph_add_name(weft_graph *g, const weft_node *node);

/* ---- before a run (check.c) ---- */

/* Makes the graph ready. 0, or WEFT_EINVAL with a message. Allocates nothing. */
int wf_graph_prepare(weft_graph *g);

/* ---- run (run.c) ---- */

/* What a deque calls to run a node. */
void wf_node_run_taken(void *task);

#endif
