/* par/graph/dot.c - writes a graph in the language of Graphviz.
 *
 * Called by the program on any thread while nobody builds; reads only what a run does not
 * change.
 *
 * SPDX-License-Identifier: MIT */
#include "graph.h"

#include <string.h>

/* Does an entity of HTML begin here, which Graphviz would replace? */
static bool is_entity(const char *text) {
  size_t length = strspn(text + 1, "#0123456789abcdefghijklmnopqrstuvwxyz"
                                   "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
  return text[0] == '&' && length > 0 && text[1 + length] == ';';
}

/* One character of a name, so that Graphviz shows it as it is. Bytes above 127 are parts
 * of UTF-8, which it expects. */
static void write_character(const char *at, FILE *out) {
  unsigned char c = (unsigned char)*at;
  if (c == '"' || c == '\\')
    (void)fprintf(out, "\\%c", c);
  else if (c == '\n')
    (void)fputs("\\n", out);
  else if (c < ' ' || c == 127)
    (void)fprintf(out, "\\\\x%02x", c); /* shown as \x07 */
  else
    (void)fputs(is_entity(at) ? "&amp;" : (char[]){(char)c, '\0'}, out);
}

static void write_node(const weft_node *node, FILE *out) {
  (void)fprintf(out, "  n%lu [label=\"", (unsigned long)node->number);
  const char *name = wf_node_rest_of(node)->name;
  if (name == NULL) (void)fprintf(out, "node %lu", (unsigned long)node->number);
  for (const char *at = name; at != NULL && *at != '\0'; at++) write_character(at, out);
  (void)fputs(node->is_choice ? "\", shape=diamond];\n" : "\"];\n", out);
}

static void write_edges(const weft_node *node, FILE *out) {
  const uint32_t *ends = wf_node_ends(node);
  for (uint32_t i = 0; i < node->edges; i++) {
    (void)fprintf(out, "  n%lu -> n%lu", (unsigned long)node->number,
                  (unsigned long)ends[i]);
    if (node->is_choice)
      (void)fprintf(out, " [style=dashed, label=\"%lu\"]", (unsigned long)i);
    (void)fputs(";\n", out);
  }
}

int weft_graph_dot(const weft_graph *g, FILE *out) {
  wf_refuse_if(g == NULL, "weft_graph_dot", "the graph is NULL");
  if (out == NULL) return WEFT_EINVAL;
  (void)fputs("digraph weft {\n  node [shape=box];\n", out);
  for (uint32_t i = 0; i < g->nodes; i++) write_node(wf_graph_node(g, i), out);
  for (uint32_t i = 0; i < g->nodes; i++) write_edges(wf_graph_node(g, i), out);
  (void)fputs("}\n", out);
  return fflush(out) == 0 && ferror(out) == 0 ? 0 : WEFT_EINVAL;
}
