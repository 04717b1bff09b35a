/* life.c - Conway's game of life on a board without edges: WEFT_LOOP_2D makes the next
 * generation, and the two boards change places. A loop returns when all of it is done,
 * so no barrier is needed between generations.
 *
 *     cc -O2 life.c -o life $(pkg-config --cflags --libs weft)
 *     ./life [generations [threads [rows cols]]]
 *
 * Prints a corner of the last board: a gun that shoots gliders. Far below it there are
 * random cells.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <weft.h>

typedef unsigned char cell;

static cell next_cell(const cell *board, size_t r, size_t c, size_t rows, size_t cols) {
  const cell *here = board + r * cols;
  const cell *above = board + (r > 0 ? r - 1 : rows - 1) * cols;
  const cell *below = board + (r + 1 < rows ? r + 1 : 0) * cols;
  size_t left = c > 0 ? c - 1 : cols - 1, right = c + 1 < cols ? c + 1 : 0;
  int neighbours = above[left] + above[c] + above[right] + here[left] + here[right] +
                   below[left] + below[c] + below[right];
  return neighbours == 3 || (neighbours == 2 && here[c]);
}

/* The parallel loop: void generation(size_t rows, size_t cols, cell *to, ...). */
WEFT_LOOP_2D(generation, r, c, cell *, to, const cell *, from, size_t, rows, size_t,
             cols) {
  to[r * cols + c] = next_cell(from, r, c, rows, cols);
}

static void generation_serially(size_t rows, size_t cols, cell *to, const cell *from) {
  for (size_t r = 0; r < rows; r++)
    for (size_t c = 0; c < cols; c++)
      to[r * cols + c] = next_cell(from, r, c, rows, cols);
}

WEFT_SUM_LOOP(population, size_t, i, const cell *, board) {
  return board[i];
}

/* ---- the program around it ---- */

static double now_ms(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static const char *const GUN[] = {
    "........................O",
    "......................O.O",
    "............OO......OO............OO",
    "...........O...O....OO............OO",
    "OO........O.....O...OO",
    "OO........O...O.OO....O.O",
    "..........O.....O.......O",
    "...........O...O",
    "............OO",
};

static void set_up(cell *board, size_t rows, size_t cols) {
  uint32_t random = 1;
  memset(board, 0, rows * cols);
  for (size_t r = 0; r < sizeof GUN / sizeof GUN[0]; r++)
    for (size_t c = 0; GUN[r][c] != '\0'; c++)
      board[(r + 1) * cols + c + 1] = GUN[r][c] == 'O';
  for (size_t i = 100 * cols; i + 100 * cols < rows * cols; i++) {
    random = random * 1664525u + 1013904223u;
    board[i] = random >> 30 == 0;
  }
}

static void print_part(const cell *board, size_t cols) {
  for (size_t r = 0; r < 26; r++) {
    char line[65];
    for (size_t c = 0; c < 64; c++) line[c] = board[r * cols + c] ? 'O' : '.';
    line[64] = '\0';
    puts(line);
  }
}

static void swap(cell **now, cell **next) {
  cell *old = *now;
  *now = *next;
  *next = old;
}

int main(int argc, char **argv) {
  size_t count = argc > 1 ? strtoul(argv[1], NULL, 10) : 100;
  size_t rows = argc > 4 ? strtoul(argv[3], NULL, 10) : 400;
  size_t cols = argc > 4 ? strtoul(argv[4], NULL, 10) : 600;
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
  if (count == 0 || count > 1000000 || rows < 40 || rows > 20000 || cols < 64 ||
      cols > 20000 || weft_init(&config) != 0) {
    fprintf(stderr, "usage: life [generations up to 10^6 [threads [rows cols]]]\n");
    return 2;
  }
  size_t size = rows * cols;
  cell *now = malloc(size), *next = malloc(size), *right_now = malloc(size);
  if (now == NULL || next == NULL || right_now == NULL) return perror("life"), 1;

  set_up(right_now, rows, cols);
  double start = now_ms();
  for (size_t i = 0; i < count; i++) {
    generation_serially(rows, cols, next, right_now);
    swap(&right_now, &next);
  }
  double middle = now_ms();
  set_up(now, rows, cols);
  double begin = now_ms();
  for (size_t i = 0; i < count; i++) {
    generation(rows, cols, next, now, rows, cols);
    swap(&now, &next);
  }
  double end = now_ms();

  bool right = memcmp(now, right_now, size) == 0;
  print_part(now, cols);
  printf("%zu x %zu, %zu alive after %zu generations\n", rows, cols,
         population(size, now), count);
  printf("serial %.1f ms, weft %.1f ms on %u threads: %s\n", middle - start, end - begin,
         weft_thread_count(), right ? "same" : "WRONG");
  free(now);
  free(next);
  free(right_now);
  return right ? 0 : 1;
}
