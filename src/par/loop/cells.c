/* par/loop/cells.c - 2-d loops that choose their tiles: the runtime half of WEFT_LOOP_2D.
 *
 * The cells of the matrix are numbered row by row, as the serial loops visit them, and
 * the loop goes over these numbers. So a block may begin and end anywhere: blocks of one
 * cell balance a small matrix whose cells take long, and blocks of many cells are mostly
 * whole rows. weft_for_2d, where the program chooses the tiles, never cuts one.
 *
 * Narrower tiles would help bodies that read along columns (a transposition of 4096 x
 * 4096 floats takes 34 ms in tiles of 64 x 64 and 60 ms by rows) and slow down the others
 * (a stencil on as many doubles takes 19 ms instead of 16; 2 threads, AMD EPYC). Most
 * bodies read along rows, and for the others there is weft_for_2d.
 *
 * Called by the functions that WEFT_LOOP_2D makes, on any thread. The struct of the loop
 * lives in the frame of the call; the threads of the loop only read it.
 *
 * SPDX-License-Identifier: MIT */
#include "loop.h"

#include <weft/typed_loop.h>

typedef struct cell_loop {
  weft_tile_fn *fn;
  void *ctx;
  size_t row0; /* the first row of this part of the matrix */
  size_t cols; /* at least 1 */
} cell_loop;

/* Calls fn for the end of a row, for whole rows, and for the start of a row. */
static void cell_block(size_t begin, size_t end, void *ctx) {
  const cell_loop m = *(const cell_loop *)ctx;
  WF_ASSERT(begin < end);
  size_t row = m.row0 + begin / m.cols, col = begin % m.cols;
  size_t last_row = m.row0 + end / m.cols, last_col = end % m.cols;
  if (row == last_row) {
    m.fn(row, row + 1, col, last_col, m.ctx);
    return;
  }
  if (col > 0) {
    m.fn(row, row + 1, col, m.cols, m.ctx);
    row++;
  }
  if (row < last_row) m.fn(row, last_row, 0, m.cols, m.ctx);
  if (last_col > 0) m.fn(last_row, last_row + 1, 0, last_col, m.ctx);
}

void wf_typed_for_2d(const wf_typed *k, size_t rows, size_t cols, weft_tile_fn *fn) {
  weft_opts opts;
  wf_par_options(&opts, k->opts, k->name);
  if (rows == 0 || cols == 0) return;
  cell_loop m = {fn, k->ctx, 0, cols};
  wf_loop loop = {cell_block, &m, NULL};
  /* In parts of as many rows as size_t can number the cells of: as a rule in one. */
  const size_t most = SIZE_MAX / cols;
  while (m.row0 < rows && !wf_par_cancelled(&opts)) {
    size_t left = rows - m.row0, part = left < most ? left : most;
    wf_loop_run(&opts, part * cols, &loop);
    m.row0 += part;
  }
}
