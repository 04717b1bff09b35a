/* par/graph/build.c - makes graphs: memory, nodes, edges.
 *
 * Called by the program, by one thread at a time, while the graph does not run. A call
 * that refuses something leaves the graph as it was.
 *
 * SPDX-License-Identifier: MIT */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

/* The first chunk has room for about thirty nodes; each further one is twice as
 * large, up to 1 MiB, so that there are few and at most half of the memory is unused. A
 * choice. */
enum { FIRST_CHUNK = 4096, LARGEST_CHUNK = 1 << 20 };

static bool add_chunk(weft_graph *g, size_t room) {
  size_t size = g->chunk != NULL ? 2 * g->chunk->size : FIRST_CHUNK;
  if (size > LARGEST_CHUNK) size = LARGEST_CHUNK;
  size_t extra = sizeof(wf_graph_chunk) + WF_CACHE_LINE;
  if (room > SIZE_MAX - extra) return false;
  if (size < room + extra) size = room + extra;
  wf_graph_chunk *chunk = (wf_graph_chunk *)malloc(size);
  if (chunk == NULL) return false;
  *chunk = (wf_graph_chunk){g->chunk, size};
  g->chunk = chunk;
  g->used = sizeof *chunk;
  return true;
}

/* Memory that lives as long as the graph, or NULL. `align` is a power of two, at most a
 * cache line. */
static void *take_memory(weft_graph *g, size_t size, size_t align) {
  for (;;) {
    if (g->chunk != NULL) {
      uintptr_t start = (uintptr_t)g->chunk;
      size_t at = (size_t)(((start + g->used + align - 1) & ~(align - 1)) - start);
      if (at <= g->chunk->size && size <= g->chunk->size - at) {
        g->used = at + size;
        return (char *)g->chunk + at;
      }
    }
    if (!add_chunk(g, size)) return NULL;
  }
}

/* ---- graphs ---- */

static bool is_running(const weft_graph *g) {
  /* Relaxed: whoever builds has seen the end of the last run by other means; a running
   * node that builds sees its own run. */
  return wf_u32_load_relaxed(&g->x_running) != 0;
}

int weft_graph_create(weft_graph **out) {
  if (out == NULL) return WEFT_EINVAL;
  *out = (weft_graph *)calloc(1, sizeof **out);
  return *out != NULL ? 0 : WEFT_ENOMEM;
}

void weft_graph_destroy(weft_graph *g) {
  if (g == NULL) return;
  wf_refuse_if(is_running(g), "weft_graph_destroy", "the graph is running");
  for (wf_graph_chunk *chunk = g->chunk, *older; chunk != NULL; chunk = older) {
    older = chunk->older;
    free(chunk);
  }
  free(g);
}

/* ---- nodes ---- */

/* A node without a function, or NULL. */
static weft_node *add_node(weft_graph *g, const char *name, void *ctx, const char *call) {
  wf_refuse_if(g == NULL, call, "the graph is NULL");
  if (is_running(g) || g->nodes == UINT32_MAX) return NULL;
  weft_node *node = (weft_node *)take_memory(g, sizeof *node, WF_CACHE_LINE);
  if (node == NULL) return NULL;
  memset(node, 0, sizeof *node);
  if (name != NULL) {
    size_t size = strlen(name) + 1;
    char *copy = (char *)take_memory(g, size, 1);
    if (copy == NULL) return NULL; /* the node's memory waits for the end of the graph */
    node->name = (const char *)memcpy(copy, name, size);
  }
  node->task.execute = wf_node_run_taken;
  node->task.context = ctx;
  node->graph = g;
  node->number = g->nodes++;
  if (g->newest != NULL)
    g->newest->newer = node;
  else
    g->oldest = node;
  g->newest = node;
  g->ready = g->checked = false;
  return node;
}

weft_node *weft_graph_add(weft_graph *g, const char *name, weft_fn *fn, void *ctx) {
  wf_refuse_if(fn == NULL, "weft_graph_add", "fn is NULL");
  weft_node *node = add_node(g, name, ctx, "weft_graph_add");
  if (node != NULL) node->fn = fn;
  return node;
}

weft_node *weft_graph_choice(weft_graph *g, const char *name, weft_choice_fn *fn,
                             void *ctx) {
  wf_refuse_if(fn == NULL, "weft_graph_choice", "fn is NULL");
  weft_node *node = add_node(g, name, ctx, "weft_graph_choice");
  if (node == NULL) return NULL;
  node->choose = fn;
  node->is_choice = true;
  g->has_choices = true;
  return node;
}

/* ---- edges ---- */

/* A node with more than WF_NODE_NEAR edges has them in one array, whose capacity is a
 * power of two. From WF_NODE_SCANNED on, a table follows the array: twice as many words,
 * each the index of an edge plus one, or 0, at the place that the end's number leads to.
 * So an edge is found at once, however many the node has. */

static uint32_t capacity_for(uint32_t edges) {
  uint32_t capacity = WF_NODE_SCANNED / 2;
  while (capacity < edges) capacity *= 2;
  return capacity;
}

static uint32_t *table_of(const weft_node *node, uint32_t capacity) {
  return (uint32_t *)(void *)(node->far_ + capacity);
}

/* Where the table has, or would have, the edge to this node. It is never full. */
static uint32_t *find_in_table(const weft_node *node, uint32_t capacity,
                               const weft_node *after) {
  uint32_t *table = table_of(node, capacity);
  uint32_t last = 2 * capacity - 1;
  /* Fibonacci hashing: neighbours in number, which is the usual case, do not collide. */
  uint32_t at = (uint32_t)(after->number * UINT32_C(0x9E3779B1)) & last;
  while (table[at] != 0 && node->far_[table[at] - 1] != after) at = (at + 1) & last;
  return &table[at];
}

static bool has_edge(const weft_node *before, const weft_node *after) {
  if (before->edges > WF_NODE_SCANNED)
    return *find_in_table(before, capacity_for(before->edges), after) != 0;
  weft_node *const *ends = wf_node_edges(before);
  for (uint32_t i = 0; i < before->edges; i++)
    if (ends[i] == after) return true;
  return false;
}

/* Moves the edges of a node into a larger array. False: no memory. */
static bool grow(weft_graph *g, weft_node *node, uint32_t capacity) {
  size_t size = (size_t)capacity * sizeof(weft_node *);
  if (capacity > WF_NODE_SCANNED) size += 2 * (size_t)capacity * sizeof(uint32_t);
  weft_node **larger = (weft_node **)take_memory(g, size, sizeof(weft_node *));
  if (larger == NULL) return false;
  memcpy(larger, wf_node_edges(node), node->edges * sizeof(weft_node *));
  node->far_ = larger;
  if (capacity <= WF_NODE_SCANNED) return true;
  memset(table_of(node, capacity), 0, 2 * (size_t)capacity * sizeof(uint32_t));
  for (uint32_t i = 0; i < node->edges; i++)
    *find_in_table(node, capacity, larger[i]) = i + 1;
  return true;
}

/* Adds the end of an edge that is not there yet. */
static bool append_edge(weft_graph *g, weft_node *before, weft_node *after) {
  uint32_t edges = before->edges;
  if (edges < WF_NODE_NEAR) {
    before->near_[edges] = after;
    before->edges++;
    return true;
  }
  uint32_t capacity = capacity_for(edges + 1);
  if ((edges == WF_NODE_NEAR || edges == capacity_for(edges)) &&
      !grow(g, before, capacity))
    return false;
  before->far_[edges] = after;
  if (capacity > WF_NODE_SCANNED) *find_in_table(before, capacity, after) = edges + 1;
  before->edges++;
  return true;
}

/* Says why there can be no such edge. */
static int refuse_edge(weft_graph *g, const weft_node *before, const weft_node *after,
                       const char *why) {
  wf_graph_say(g, "edge ");
  wf_graph_add_name(g, before);
  wf_graph_add_text(g, " -> ");
  wf_graph_add_name(g, after);
  wf_graph_add_text(g, why);
  return WEFT_EINVAL;
}

int weft_graph_edge(weft_graph *g, weft_node *before, weft_node *after) {
  wf_refuse_if(g == NULL, "weft_graph_edge", "the graph is NULL");
  if (is_running(g)) return WEFT_EBUSY;
  if (before == NULL || after == NULL)
    return refuse_edge(g, before, after, ": a node is NULL");
  if (before->graph != g)
    return refuse_edge(g, before, after, ": the first node belongs to another graph");
  if (after->graph != g)
    return refuse_edge(g, before, after, ": the second node belongs to another graph");
  if (has_edge(before, after))
    return refuse_edge(g, before, after, ": there is such an edge already");
  if (before == after && !before->is_choice)
    return refuse_edge(g, before, after, ": a node cannot wait for itself");
  if (before->edges == UINT32_MAX / 4 || !append_edge(g, before, after)) {
    wf_graph_say(g, "out of memory");
    return WEFT_ENOMEM;
  }
  if (before->is_choice)
    after->is_chosen = true;
  else
    after->needed++;
  g->ready = g->checked = false;
  return 0;
}
