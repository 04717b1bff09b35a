/* Uses an installed libweft-pthreadpool.
 *
 * SPDX-License-Identifier: MIT */
#include <pthreadpool.h>

#define ROWS 100
#define COLS 37

static int seen[ROWS][COLS];

static void mark(void *context, size_t row, size_t first, size_t count) {
  (void)context;
  for (size_t i = first; i < first + count; i++) seen[row][i]++;
}

int main(void) {
  pthreadpool_t pool = pthreadpool_create(3);
  if (pool == NULL || pthreadpool_get_threads_count(pool) != 3) return 1;
  pthreadpool_parallelize_2d_tile_1d(pool, mark, NULL, ROWS, COLS, 5, 0);
  pthreadpool_destroy(pool);
  for (size_t i = 0; i < ROWS * COLS; i++) {
    if (seen[i / COLS][i % COLS] != 1) return 2;
  }
  return 0;
}
