/* skynet/weft.c - skynet by weft_join, which halves the ten children of a node; and by a
 * scope with ten spawned tasks, as weft-scope.
 *
 * Usage: skynet_weft [threads [n [scope]]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"
#include "skynet.h"

/* Some of the children, each of size n. */
typedef struct span {
  long first, n;
  int count;
  long sum;
} span;

static void node(void *ctx) {
  span *s = (span *)ctx;
  if (s->count > 1) {
    int half = s->count / 2;
    span left = {s->first, s->n, half, 0},
         right = {s->first + half * s->n, s->n, s->count - half, 0};
    weft_join(node, &left, node, &right);
    s->sum = left.sum + right.sum;
  } else if (s->n == 1) {
    s->sum = s->first;
  } else {
    span ten = {s->first, s->n / 10, 10, 0};
    node(&ten);
    s->sum = ten.sum;
  }
}

static long sum(long n) {
  span root = {0, n, 1, 0};
  node(&root);
  return root.sum;
}

static void scope_node(void *ctx) {
  span *s = (span *)ctx;
  if (s->n == 1) {
    s->sum = s->first;
    return;
  }
  span child[10];
  weft_scope scope;
  weft_scope_begin(&scope);
  for (int i = 0; i < 10; i++) {
    child[i].first = s->first + i * (s->n / 10);
    child[i].n = s->n / 10;
    weft_spawn(&scope, scope_node, &child[i]);
  }
  weft_scope_end(&scope);
  s->sum = 0;
  for (int i = 0; i < 10; i++) s->sum += child[i].sum;
}

static long scope_sum(long n) {
  span root = {0, n, 1, 0};
  scope_node(&root);
  return root.sum;
}

int main(int argc, char **argv) {
  bench_weft_start(bench_arg(argc, argv, 1, 2));
  if (argc > 3 && strcmp(argv[3], "scope") == 0)
    skynet_measure("weft-scope", scope_sum, argc, argv);
  else
    skynet_measure("weft", sum, argc, argv);
  weft_shutdown();
  return 0;
}
