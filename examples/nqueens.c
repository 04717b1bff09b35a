/* nqueens.c - in how many ways can n queens stand on an n x n board so that none attacks
 * another? A search tree with WEFT_TASK: each node forks its children and adds up what
 * they return. Arguments and results go by value, so nothing is shared.
 *
 *     cc -O2 nqueens.c -o nqueens $(pkg-config --cflags --libs weft)
 *     ./nqueens [queens [threads]]
 *
 * Prints one solution, the number of solutions, and the times of the serial and the
 * parallel search.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <weft.h>

/* LAST_ROWS: the search of the last rows takes some nanoseconds, as long as forks do. */
enum { MOST = 16, LAST_ROWS = 3 };

/* Squares of the next row that are attacked, as bits: by column and along diagonals. */
typedef struct attacked {
  unsigned columns, left, right;
} attacked;

static unsigned free_squares(attacked by, unsigned n) {
  return ~(by.columns | by.left | by.right) & ((1u << n) - 1);
}

static attacked with_queen(attacked by, unsigned square) {
  attacked next = {by.columns | square, (by.left | square) << 1,
                   (by.right | square) >> 1};
  return next;
}

static long solutions_serially(unsigned n, unsigned row, attacked by) {
  if (row == n) return 1;
  long sum = 0;
  for (unsigned free = free_squares(by, n); free != 0; free &= free - 1)
    sum += solutions_serially(n, row + 1, with_queen(by, free & -free));
  return sum;
}

/* static long solutions(unsigned n, unsigned row, attacked by), which can be forked. */
WEFT_TASK(long, solutions, unsigned, n, unsigned, row, attacked, by) {
  if (n - row <= LAST_ROWS) return solutions_serially(n, row, by);
  solutions_task children[MOST];
  unsigned count = 0;
  long sum = 0;
  for (unsigned free = free_squares(by, n); free != 0; free &= free - 1)
    solutions_fork(&children[count++], n, row + 1, with_queen(by, free & -free));
  while (count > 0) sum += solutions_join(&children[--count]); /* the newest first */
  return sum;
}

/* ---- the program around it ---- */

static double now_ms(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* Prints the first solution, last row first. */
static bool print_one(unsigned n, unsigned row, attacked by) {
  if (row == n) return true;
  for (unsigned free = free_squares(by, n); free != 0; free &= free - 1) {
    unsigned square = free & -free;
    if (!print_one(n, row + 1, with_queen(by, square))) continue;
    for (unsigned col = 0; col < n; col++) printf("%s", square >> col & 1 ? " Q" : " .");
    puts("");
    return true;
  }
  return false;
}

int main(int argc, char **argv) {
  unsigned n = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 12;
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
  if (n < 1 || n > MOST || weft_init(&config) != 0) {
    fprintf(stderr, "usage: nqueens [queens up to %d [threads]]\n", MOST);
    return 2;
  }
  attacked none = {0, 0, 0};
  print_one(n, 0, none);

  double start = now_ms();
  long expected = solutions_serially(n, 0, none);
  double middle = now_ms();
  long found = solutions(n, 0, none);
  double end = now_ms();

  printf("%u queens, %ld solutions: serial %.1f ms, weft %.1f ms on %u threads: %s\n", n,
         found, middle - start, end - middle, weft_thread_count(),
         found == expected ? "same" : "WRONG");
  return found == expected ? 0 : 1;
}
