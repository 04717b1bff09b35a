/* reference/graph.c - examples of weft/graph.h and weft/pipeline.h.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include <weft.h>

#include "example.h"

/* example: weft_graph, weft_graph_create, weft_graph_add, weft_graph_edge, weft_graph_run
 */
struct job {
  int loaded, left, right, saved;
};

static void load(void *ctx) {
  ((struct job *)ctx)->loaded++;
}
static void blur_left(void *ctx) {
  ((struct job *)ctx)->left++;
}
static void blur_right(void *ctx) {
  ((struct job *)ctx)->right++;
}
static void save(void *ctx) {
  struct job *job = ctx;
  job->saved = job->left + job->right; /* both have ended */
}

EXAMPLE(graph_diamond) {
  struct job job = {0, 0, 0, 0};
  weft_graph *g;
  if (weft_graph_create(&g) != 0) return;
  weft_node *first = weft_graph_add(g, "load", load, &job);
  weft_node *left = weft_graph_add(g, "left", blur_left, &job);
  weft_node *right = weft_graph_add(g, "right", blur_right, &job);
  weft_node *last = weft_graph_add(g, "save", save, &job);
  weft_graph_edge(g, first, left);
  weft_graph_edge(g, first, right);
  weft_graph_edge(g, left, last);
  weft_graph_edge(g, right, last);
  for (int frame = 0; frame < 10; frame++) weft_graph_run(g);
  assert(job.saved == 20);
  weft_graph_destroy(g);
}

/* example: weft_graph_choice, weft_choice_fn, WEFT_CHOOSE_NONE */
static void start(void *ctx) {
  *(double *)ctx = 1;
}
static void halve(void *ctx) {
  *(double *)ctx /= 2;
}
static size_t is_small(void *ctx) {
  return *(double *)ctx > 0.01 ? 0 : WEFT_CHOOSE_NONE;
}

EXAMPLE(graph_loop) {
  double error;
  weft_graph *g;
  if (weft_graph_create(&g) != 0) return;
  weft_node *first = weft_graph_add(g, "start", start, &error);
  weft_node *step = weft_graph_add(g, "step", halve, &error);
  weft_node *test = weft_graph_choice(g, "small enough?", is_small, &error);
  weft_graph_edge(g, first, step);
  weft_graph_edge(g, step, test);
  weft_graph_edge(g, test, step); /* edge 0: once more */
  weft_graph_run(g);
  assert(error <= 0.01);
  weft_graph_destroy(g);
}

/* example: weft_graph_error, weft_graph_dot, weft_graph_destroy */
static void nothing(void *ctx) {
  (void)ctx;
}

EXAMPLE(graph_error) {
  weft_graph *g;
  if (weft_graph_create(&g) != 0) return;
  weft_node *parse = weft_graph_add(g, "parse", nothing, NULL);
  weft_node *check = weft_graph_add(g, "check", nothing, NULL);
  weft_graph_edge(g, parse, check);
  weft_graph_edge(g, check, parse);
  assert(weft_graph_run(g) == WEFT_EINVAL);
  assert(strstr(weft_graph_error(g), "cycle") != NULL); /* with the names of the nodes */
  FILE *out = tmpfile();
  if (out != NULL) weft_graph_dot(g, out), fclose(out); /* dot -Tsvg draws it */
  weft_graph_destroy(g);
}

/* example: weft_pipeline, weft_stage, weft_stage_kind, weft_stage_fn, WEFT_END */
struct block {
  int number;
  long square;
};

static int make_block(void *item, size_t number, void *ctx) {
  struct block *b = item;
  (void)ctx;
  if (number == 100) return WEFT_END;
  b->number = (int)number;
  return 0;
}

static int compress(void *item, size_t number, void *ctx) {
  struct block *b = item;
  (void)number, (void)ctx;
  b->square = (long)b->number * b->number;
  return 0;
}

static int write_block(void *item, size_t number, void *ctx) {
  const struct block *b = item;
  long *sum = ctx;
  assert(b->number == (int)number);
  *sum += b->square; /* in order, one at a time: no lock */
  return 0;
}

EXAMPLE(pipeline) {
  long sum = 0;
  weft_stage stages[] = {{WEFT_STAGE_ORDERED, make_block, NULL},
                         {WEFT_STAGE_PARALLEL, compress, NULL},
                         {WEFT_STAGE_ORDERED, write_block, &sum}};
  int error = weft_pipeline(sizeof(struct block), 0, stages, 3);
  assert(error == 0 && sum == 328350);
}
