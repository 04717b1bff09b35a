/* nqueens/weft.c - the search by weft_join, which halves the columns of a row.
 *
 * Usage: nqueens_weft [threads [n]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"
#include "nqueens.h"

/* Some of the free columns of the next row, at least one. */
typedef struct span {
  const board *b;
  const signed char *columns;
  int length;
  long count;
} span;

static long search(const board *b);

static void search_span(void *ctx) {
  span *s = (span *)ctx;
  if (s->length == 1) {
    board next = board_with(s->b, s->columns[0]);
    s->count = search(&next);
    return;
  }
  int half = s->length / 2;
  span left = {s->b, s->columns, half, 0},
       right = {s->b, s->columns + half, s->length - half, 0};
  weft_join(search_span, &left, search_span, &right);
  s->count = left.count + right.count;
}

static long search(const board *b) {
  if (b->rows == b->n) return 1;
  signed char columns[QUEENS_MOST];
  span all = {b, columns, 0, 0};
  for (int column = 0; column < b->n; column++)
    if (board_free(b, column)) columns[all.length++] = (signed char)column;
  if (all.length != 0) search_span(&all);
  return all.count;
}

static long count(long n) {
  board b = board_empty(n);
  return search(&b);
}

int main(int argc, char **argv) {
  bench_weft_start(bench_arg(argc, argv, 1, 2));
  queens_measure("weft", count, argc, argv);
  weft_shutdown();
  return 0;
}
