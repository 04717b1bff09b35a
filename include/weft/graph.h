/* weft/graph.h - task graphs: functions with an order between some of them, built once
 * and run many times.
 *
 *     weft_graph *g;
 *     weft_graph_create(&g);
 *     weft_node *load = weft_graph_add(g, "load", load_file, &job);
 *     weft_node *left = weft_graph_add(g, "left", blur, &job.left);
 *     weft_node *right = weft_graph_add(g, "right", blur, &job.right);
 *     weft_node *save = weft_graph_add(g, "save", save_file, &job);
 *     weft_graph_edge(g, load, left);
 *     weft_graph_edge(g, load, right);
 *     weft_graph_edge(g, left, save);
 *     weft_graph_edge(g, right, save);
 *     for (int frame = 0; frame < 1000; frame++) weft_graph_run(g);
 *     weft_graph_destroy(g);
 *
 * Building: one thread at a time, while the graph does not run. Nodes and edges are
 * added, never removed. Any call that refuses something leaves the graph as it was, and
 * weft_graph_error says what was wrong, with the names of the nodes.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_GRAPH_H
#define WEFT_GRAPH_H

#include <stdio.h>
#include <weft/opts.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What all calls of this header share.
 *
 * Serial: none: only weft_graph_run runs something, unless the call says otherwise.
 * Threads: those that may build, one at a time, unless the call says otherwise. Errors: a
 * NULL graph ends the program with a message, unless the call says otherwise. Cost: a few
 * loads, unless the call says otherwise. */

/* A graph of functions. It belongs to the program, from weft_graph_create to
 * weft_graph_destroy. */
typedef struct weft_graph weft_graph;

/* A node of a graph; it lives as long as its graph. */
typedef struct weft_node weft_node;

/* The function of a node that chooses: returns the number of an edge. */
typedef size_t weft_choice_fn(void *ctx);

/* Returned by a weft_choice_fn to choose no edge. Every number that no edge has does the
 * same. */
#define WEFT_CHOOSE_NONE SIZE_MAX

/* Creates an empty graph.
 *
 * Meaning: *out is the graph, or NULL on failure. An empty graph can be run: nothing
 * happens. Threads: any. Errors: WEFT_EINVAL for NULL out, WEFT_ENOMEM.
 *
 * Cost: an allocation. */
WEFT_API int weft_graph_create(weft_graph **out);

/* Frees a graph with its nodes. NULL does nothing. A graph that runs ends the program
 * with a message. Threads: any, while nobody uses the graph.
 *
 * Cost: that of freeing the memory. */
WEFT_API void weft_graph_destroy(weft_graph *g);

/* Adds a node: a function that is called once in each run.
 *
 * Serial: fn(ctx);
 *
 * fn(ctx) is called when all nodes with an edge to it have
 * ended, on any thread of the pool.
 *
 * Meaning: the name is for messages, for weft_graph_dot and for traces. It is copied, may
 * be NULL, and need not be unique. ctx must stay valid while the graph runs. What the
 * nodes before it did is visible to fn.
 *
 * A node may use all of weft: loops, joins, scopes, weft_graph_run of another graph. In
 * fn, weft_scope_current() is a scope around this one call: what fn spawns there has
 * ended before the nodes behind it start.
 *
 *     static void split(void *ctx) {
 *       struct job *job = ctx;
 *       for (int i = 0; i < job->parts; i++)
 *         weft_spawn(weft_scope_current(), work, &job->part[i]);
 *     }
 *
 * Threads: one at a time. Errors: NULL without memory, and while the graph runs. A fn
 * that is NULL ends the program with a message. fn must not be left by longjmp,
 * pthread_exit or a C++ exception. Cost: 132 bytes and the name. */
WEFT_API weft_node *weft_graph_add(weft_graph *g, const char *name, weft_fn *fn,
                                   void *ctx);

/* Adds a node that chooses what comes next.
 *
 * Serial: switch (fn(ctx)) { case 0: ...; break; case 1: ...; break; }
 *
 * Its edges are numbered 0, 1, ... in the order
 * in which they were added, and the node behind the edge whose number fn returns starts
 * at once. Any other number, such as WEFT_CHOOSE_NONE, starts nothing: the path ends
 * there.
 *
 * Meaning: nodes do not wait for an edge of a choice. A node that has such edges only
 * runs when it is chosen; one that has others too runs when the nodes from which those
 * come have ended, and again each time that it is chosen. So an edge of a choice may lead
 * back, and makes a loop:
 *
 *     static size_t again(void *ctx) {
 *       return ((struct job *)ctx)->error > 1e-9 ? 0 : 1;
 *     }
 *     ...
 *     weft_node *test = weft_graph_choice(g, "converged?", again, &job);
 *     weft_graph_edge(g, step, test);
 *     weft_graph_edge(g, test, step);   // 0: once more
 *     weft_graph_edge(g, test, save);   // 1: on
 *
 * A run must not choose a node that has not ended since it was last started: then it is
 * cancelled with WEFT_EBUSY. A node which waits for several others goes by the number of
 * nodes that ended, so do not run one of them twice before the others have run once. Nor
 * does it run if one of them is never chosen: where two branches come together again, let
 * each end in a choice that returns 0, with one edge to the common node.
 * Everything else is as with weft_graph_add. */
WEFT_API weft_node *weft_graph_choice(weft_graph *g, const char *name, weft_choice_fn *fn,
                                      void *ctx);

/* Adds an edge: `after` starts when `before` has ended.
 *
 * Serial: before; after;
 *
 * Threads: one at a time. Errors: WEFT_EINVAL, and weft_graph_error names the nodes, for
 * an edge that is there already, from a node to itself (unless that is a choice), with a
 * node of another graph, or with NULL; WEFT_ENOMEM; WEFT_EBUSY while the graph runs.
 * Cycles are found when the graph is run. Cost: up to four edges of a node need no memory
 * of their own. */
WEFT_API int weft_graph_edge(weft_graph *g, weft_node *before, weft_node *after);

/* Runs a graph and returns when all of it has ended.
 *
 * Serial: for (each node, in an order that the edges allow) fn(ctx);
 *
 * The thread takes part, and while
 * it waits it helps, as in weft_scope_end.
 *
 * Meaning: returns 0, or the error with which a node cancelled the scope around it,
 *
 *     weft_scope_cancel(weft_scope_current(), error);
 *
 * or that of the scope around the call. The first error wins. Nodes that have not started
 * then are skipped; running ones go on to their end and can ask weft_scope_cancelled. The
 * graph can be run again after any error.
 *
 * weft_graph_run_with takes from its options the pool, the scope `cancel` (the result is
 * WEFT_ECANCELED then), and max_workers, the most nodes that run at the same time. The
 * others have no meaning here.
 *
 * Threads: any, tasks and nodes of other graphs too. Errors: WEFT_EINVAL if the graph has
 * a cycle without a choice in it, or no node to start with; nothing has run then, and
 * weft_graph_error names the nodes. WEFT_EBUSY if the graph runs already, which the other
 * run does not notice; or if a choice chose a node that had not ended.
 *
 * Cost: some 10 ns per node on one thread, and no memory; the first run after a change
 * also checks the graph, in one pass. Nodes that follow each other, one by one, run on
 * one thread without touching its deque. */
WEFT_API int weft_graph_run(weft_graph *g);
WEFT_API int weft_graph_run_with(const weft_opts *o, weft_graph *g);

/* Returns what was wrong when a call about this graph was last refused, as in
 *
 *     cycle: parse -> check -> parse
 *
 * or "" if none was. The text belongs to the graph and is valid until the next such call.
 * It is cut where it would be long. Nodes without a name are called by their number: node
 * 0 was added first. Threads: those that may build. */
WEFT_API const char *weft_graph_error(const weft_graph *g);

/* Writes the graph in the language of Graphviz: dot -Tsvg draws it. Choices are diamonds,
 * and their edges are dashed and numbered.
 *
 * Threads: any, while nobody builds. Errors: WEFT_EINVAL if out is NULL or does not take
 * what is written; errno says why.
 *
 *     weft_graph_dot(g, stdout);
 *
 * Cost: that of writing the text. */
WEFT_API int weft_graph_dot(const weft_graph *g, FILE *out);

#ifdef __cplusplus
}
#endif

#endif
