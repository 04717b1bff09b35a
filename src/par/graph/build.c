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

/* Chunks for names and edges: the first is a page, each further one twice as large, up to
 * 1 MiB, so that there are few and at most half of the memory is unused. A choice. */
enum { FIRST_GRAPH_CHUNK = 4096, LARGEST_CHUNK = 1 << 20 };

static bool add_chunk(weft_graph *g, size_t room) {
  size_t size = g->chunk != NULL ? 2 * g->chunk->size : FIRST_GRAPH_CHUNK;
  if (size > LARGEST_CHUNK) size = LARGEST_CHUNK;
  size_t extra = sizeof(wf_graph_chunk) + sizeof(void *);
  if (room > SIZE_MAX - extra) return false;
  if (size < room + extra) size = room + extra;
  wf_graph_chunk *chunk = (wf_graph_chunk *)malloc(size);
  if (chunk == NULL) return false;
  *chunk = (wf_graph_chunk){g->chunk, size};
  g->chunk = chunk;
  g->used = sizeof *chunk;
  return true;
}

/* Memory that lives as long as the graph, or NULL. `align` is a power of two, at most
 * that of a pointer. */
static void *take_memory(weft_graph *g, size_t size, size_t align) {
  size_t at = (g->used + align - 1) & ~(align - 1);
  if (g->chunk == NULL || at > g->chunk->size || size > g->chunk->size - at) {
    if (!add_chunk(g, size)) return NULL;
    at = (g->used + align - 1) & ~(align - 1);
  }
  g->used = at + size;
  return (char *)g->chunk + at;
}

/* Memory for the nodes of a block. Large ones ask for large pages: a run visits nodes in
 * any order, and with small pages each visit would also look for its page. */
static bool init_block(wf_node_block *block, size_t length) {
  size_t nodes = length * sizeof(weft_node), rests = length * sizeof(weft_node);
  size_t size = WF_CACHE_LINE + nodes + rests + length * sizeof(wf_u32);
  block->memory = malloc(size);
  if (block->memory == NULL) return false;
  wf_sys_prefer_large_pages(block->memory, size);
  uintptr_t start = (uintptr_t)block->memory + WF_CACHE_LINE - 1;
  block->nodes = (weft_node *)(start & ~(uintptr_t)(WF_CACHE_LINE - 1));
  block->x_pending = (wf_u32 *)(void *)((char *)block->nodes + nodes + rests);
  return true;
}

_Static_assert(sizeof(wf_node_rest) <= sizeof(weft_node), "see wf_node_rest_of");

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
  for (unsigned i = 0; i < WF_BLOCKS; i++) free(g->block[i].memory);
  free(g);
}

/* ---- nodes ---- */

/* A node without a function, or NULL. */
static weft_node *add_node(weft_graph *g, const char *name, void *ctx, const char *call) {
  wf_refuse_if(g == NULL, call, "the graph is NULL");
  if (is_running(g) || g->nodes == WF_GRAPH_LARGEST) return NULL;
  wf_node_place place = wf_node_place_of(g->nodes);
  wf_node_block *block = &g->block[place.block];
  size_t name_size = name != NULL ? strlen(name) + 1 : 0;
  char *copy = name != NULL ? (char *)take_memory(g, name_size, 1) : NULL;
  if ((name != NULL && copy == NULL) ||
      (block->memory == NULL && !init_block(block, place.length))) {
    wf_graph_say(g, "out of memory");
    return NULL;
  }
  if (name != NULL) memcpy(copy, name, name_size);
  weft_node *node = &block->nodes[place.offset];
  memset(node, 0, sizeof *node);
  node->task.execute = wf_node_run_taken;
  node->task.context = ctx;
  node->number = g->nodes++;
  *wf_node_rest_of(node) = (wf_node_rest){.name = copy, .graph = g};
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

/* A node with more than WF_NODE_NEAR edges has them in an array, whose capacity is a
 * power of two. With more than SCANNED edges a table follows the array: twice as many
 * words, each the index of an edge plus one, or 0, at the place to which the number of
 * the edge's end leads. So an edge is found at once, however many a node has. */

/* Up to here one looks at all edges: they are one cache line. */
enum { SCANNED = 16 };

static uint32_t capacity_for(uint32_t edges) {
  uint32_t capacity = 2 * WF_NODE_NEAR;
  while (capacity < edges) capacity *= 2;
  return capacity;
}

/* Where the table has, or would have, the edge to this node. It is never full. */
static uint32_t *find_in_table(const weft_node *node, uint32_t capacity, uint32_t end) {
  uint32_t *table = node->far_ends + capacity;
  uint32_t last = 2 * capacity - 1;
  /* Neighbours in number, which is the usual case, do not collide. */
  uint32_t at = (uint32_t)(end * UINT32_C(0x9E3779B1)) & last;
  while (table[at] != 0 && node->far_ends[table[at] - 1] != end) at = (at + 1) & last;
  return &table[at];
}

static bool has_edge(const weft_node *before, const weft_node *after) {
  if (before->edges > SCANNED)
    return *find_in_table(before, capacity_for(before->edges), after->number) != 0;
  const uint32_t *ends = wf_node_ends(before);
  for (uint32_t i = 0; i < before->edges; i++)
    if (ends[i] == after->number) return true;
  return false;
}

/* Moves the edges of a node into a larger array. False: no memory. */
static bool grow_edges(weft_graph *g, weft_node *node, uint32_t capacity) {
  size_t words = capacity > SCANNED ? 3 * (size_t)capacity : capacity;
  size_t size = words * sizeof(uint32_t);
  uint32_t *larger = (uint32_t *)take_memory(g, size, sizeof(uint32_t));
  if (larger == NULL) return false;
  memset(larger, 0, size);
  memcpy(larger, wf_node_ends(node), node->edges * sizeof(uint32_t));
  node->far_ends = larger;
  for (uint32_t i = 0; i < node->edges && capacity > SCANNED; i++)
    *find_in_table(node, capacity, larger[i]) = i + 1;
  return true;
}

/* Adds an edge that is not there yet. */
static bool append_edge(weft_graph *g, weft_node *before, const weft_node *after) {
  uint32_t edges = before->edges;
  if (edges < WF_NODE_NEAR) {
    before->near_ends[edges] = after->number;
    before->edges++;
    return true;
  }
  uint32_t capacity = capacity_for(edges + 1);
  bool is_full = edges == WF_NODE_NEAR || edges == capacity_for(edges);
  if (is_full && !grow_edges(g, before, capacity)) return false;
  before->far_ends[edges] = after->number;
  if (capacity > SCANNED) *find_in_table(before, capacity, after->number) = edges + 1;
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
  if (wf_node_rest_of(before)->graph != g)
    return refuse_edge(g, before, after, ": the first node belongs to another graph");
  if (wf_node_rest_of(after)->graph != g)
    return refuse_edge(g, before, after, ": the second node belongs to another graph");
  if (has_edge(before, after))
    return refuse_edge(g, before, after, ": there is such an edge already");
  if (before == after && !before->is_choice)
    return refuse_edge(g, before, after, ": a node cannot wait for itself");
  if (!append_edge(g, before, after)) {
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
