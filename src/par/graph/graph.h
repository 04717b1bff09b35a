/* par/graph/graph.h - what is inside a graph: nodes, edges, memory. Shared by build.c
 * (nodes and edges), check.c (before a run), run.c and dot.c.
 *
 * While the graph does not run, all of it belongs to the thread that builds or checks it.
 * While it runs, each field says who writes it; the protocol is in graph.md.
 *
 * A large graph is larger than the caches, and runs visit its nodes in no order that a
 * processor could foresee. So what a run touches is kept together and small: a node is
 * one cache line and four bytes, and edges are numbers of nodes. Measured with 100,000
 * nodes and 250,000 edges at random, see graph.md.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_PAR_GRAPH_H
#define WF_PAR_GRAPH_H

#include "../base/call.h"

#include <weft/graph.h>

/* ---- nodes ---- */

/* Up to four edges lie in the node itself: chains, trees and wavefronts need no more, and
 * the node fills a cache line with them. */
enum { WF_NODE_NEAR = 4 };

/* The part of a node that runs use: a cache line. Written when the graph is built, except
 * the task, which belongs to the thread that has the node in its hands. */
struct weft_node {
  wf_task task; /* execute: wf_node_run_taken; context: the program's ctx; the scope */
  union {
    weft_fn *fn;
    weft_choice_fn *choose;
  };
  uint32_t number; /* in the order of adding, from 0 */
  uint32_t needed; /* edges that lead here from nodes that do not choose */
  uint32_t edges;  /* that begin here */
  bool is_choice;
  bool is_chosen; /* an edge of a choice leads here */
  bool has_below; /* there are nodes at `below`; as the task */
  uint8_t mark;   /* WF_NODE_NEW ... in check.c */
  union {         /* where the edges lead */
    uint32_t near_ends[WF_NODE_NEAR];
    uint32_t *far_ends; /* if there are more; see build.c */
  };
};

/* The other part. The links belong to the thread that has the node in its hands. */
typedef struct wf_node_rest {
  weft_node *below;  /* the first of those that became ready with this one; run.c */
  weft_node *beside; /* the next one of such a list; in check.c, of a list too */
  weft_node *source; /* the next node to start with, if this is one */
  const char *name;  /* or NULL */
  weft_graph *graph;
  wf_u32 x_active; /* started and not ended; only used in graphs with choices */
} wf_node_rest;

/* How far a node has come in a search (check.c). */
enum { WF_NODE_NEW, WF_NODE_OPEN, WF_NODE_DONE };

_Static_assert(sizeof(void *) != 8 || sizeof(weft_node) == WF_CACHE_LINE,
               "a run touches one cache line of a node");

/* ---- blocks of nodes ---- */

/* Block k has 16 << k nodes, so that a node's number leads to it without a table: first
 * their lines, then the rests, then the counts. */
enum { WF_BLOCK_FIRST_LOG2 = 4, WF_BLOCKS = 27, WF_GRAPH_LARGEST = (1 << 30) };

typedef struct wf_node_block {
  weft_node *nodes;
  /* How many of the nodes before a node have not ended since the last of them started it.
   * Between runs of a graph that is ready: `needed`. Written by the threads that end
   * them. */
  wf_u32 *x_pending;
  void *memory; /* as malloc gave it */
} wf_node_block;

typedef struct wf_node_place {
  unsigned block;
  uint32_t offset, length; /* in the block, and of it */
} wf_node_place;

static inline wf_node_place wf_node_place_of(uint32_t number) {
  uint32_t from_first = number + (1u << WF_BLOCK_FIRST_LOG2);
  unsigned log2 = 31 - (unsigned)__builtin_clz(from_first);
  uint32_t length = (uint32_t)1 << log2;
  return (wf_node_place){log2 - WF_BLOCK_FIRST_LOG2, from_first - length, length};
}

static inline wf_node_rest *wf_node_rest_of(const weft_node *node) {
  wf_node_place place = wf_node_place_of(node->number);
  const weft_node *rests = node - place.offset + place.length;
  return (wf_node_rest *)(uintptr_t)rests + place.offset;
}

/* ---- graphs ---- */

/* A piece of memory for names and edges; the graph takes from it piece by piece. */
typedef struct wf_graph_chunk {
  struct wf_graph_chunk *older;
  size_t size; /* of all of it */
} wf_graph_chunk;

enum { WF_GRAPH_MESSAGE = 512 }; /* a choice: some twenty names of usual length */

struct weft_graph {
  wf_node_block block[WF_BLOCKS];
  uint32_t nodes;
  weft_node *sources; /* those to start with; of a graph that was checked */
  bool has_choices;
  bool checked;     /* since the last change */
  bool ready;       /* checked, and all nodes as between runs */
  wf_u32 x_running; /* 1 while it runs; the thread that sets it owns the graph */
  wf_ptr x_met;     /* a node that was chosen while it was active, or NULL */
  wf_graph_chunk *chunk;
  size_t used; /* bytes of the newest chunk */
  char message[WF_GRAPH_MESSAGE];
};

static inline weft_node *wf_graph_node(const weft_graph *g, uint32_t number) {
  wf_node_place place = wf_node_place_of(number);
  return &g->block[place.block].nodes[place.offset];
}

static inline wf_u32 *wf_graph_pending(const weft_graph *g, uint32_t number) {
  wf_node_place place = wf_node_place_of(number);
  return &g->block[place.block].x_pending[place.offset];
}

/* The numbers of the nodes that a node's edges lead to. */
static inline const uint32_t *wf_node_ends(const weft_node *node) {
  return node->edges <= WF_NODE_NEAR ? node->near_ends : node->far_ends;
}

/* ---- messages (check.c) ---- */

/* Writes a new message. */
void wf_graph_say(weft_graph *g, const char *text);
/* Add to it; what does not fit is left out, and the message ends in "...". */
void wf_graph_add_text(weft_graph *g, const char *text);
void wf_graph_add_name(weft_graph *g, const weft_node *node);

/* ---- before a run (check.c) ---- */

/* Makes the graph ready. 0, or WEFT_EINVAL with a message. Allocates nothing. */
int wf_graph_prepare(weft_graph *g);

/* ---- run (run.c) ---- */

/* What a deque calls to run a node. */
void wf_node_run_taken(void *task);

#endif
