/* par/loop/cells.c - 2-d loops that choose their tiles: the runtime half of WEFT_LOOP_2D.
 *
 * The cells of the matrix are numbered tile by tile, inside a tile row by row, and the
 * loop goes over these numbers. So a block may begin and end anywhere: blocks of one cell
 * balance a small matrix whose cells take long, and blocks of many cells are mostly whole
 * tiles. weft_for_2d, where the program chooses the tiles, never cuts one.
 *
 *     columns 0 ..... 255 | 256 ...          a band: 32 rows; then the next band
 *             0    1    2 | 8192
 *             256  257    | ...
 *
 * Called by the functions that WEFT_LOOP_2D makes, on any thread. The struct of the loop
 * lives in the frame of the call; the threads of the loop only read it.
 *
 * SPDX-License-Identifier: MIT */
#include "loop.h"

#include <weft/typed_loop.h>

/* Of a tile. Choices: a body that reads along columns, as a transposition does, touches a
 * cache line for each column of a tile and finds it again in the next row, 256 lines or
 * 16 KiB in all; and 256 columns are long enough for the loop over them to be
 * vectorised. */
enum { TILE_ROWS = 32, TILE_COLS = 256 };

/* Invariant: rows, cols >= 1, rows * cols does not overflow, 1 <= width <= cols. */
typedef struct cell_loop {
  weft_tile_fn *fn;
  void *ctx;
  size_t row0;       /* the first row of this part of the matrix */
  size_t rows, cols; /* of this part */
  size_t width;      /* columns of a tile, but for the last one of a band */
} cell_loop;

/* Calls fn for the cells [begin, end) of the tile at row r and column c, which is w
 * columns wide. */
static void run_cells_of_tile(const cell_loop *m, size_t r, size_t c, size_t w,
                              size_t begin, size_t end) {
  WF_ASSERT(begin < end && w > 0);
  size_t row = begin / w, col = begin % w, last_row = end / w, last_col = end % w;
  r += m->row0;
  if (row == last_row) { /* within a row */
    m->fn(r + row, r + row + 1, c + col, c + last_col, m->ctx);
    return;
  }
  if (col > 0) {
    m->fn(r + row, r + row + 1, c + col, c + w, m->ctx);
    row++;
  }
  if (row < last_row) m->fn(r + row, r + last_row, c, c + w, m->ctx);
  if (last_col > 0) m->fn(r + last_row, r + last_row + 1, c, c + last_col, m->ctx);
}

static void cell_block(size_t begin, size_t end, void *ctx) {
  const cell_loop m = *(const cell_loop *)ctx;
  WF_ASSERT(end <= m.rows * m.cols);
  while (begin < end) {
    size_t band = begin / m.cols / TILE_ROWS, r = band * TILE_ROWS;
    size_t h = m.rows - r < TILE_ROWS ? m.rows - r : TILE_ROWS;
    size_t in_band = begin - r * m.cols;
    size_t c = in_band / (h * m.width) * m.width;
    size_t w = m.cols - c < m.width ? m.cols - c : m.width;
    size_t tile = r * m.cols + c * h; /* the number of its first cell */
    WF_ASSERT(r < m.rows && c < m.cols && tile <= begin && begin - tile < h * w);
    size_t stop = end - tile < h * w ? end - tile : h * w;
    run_cells_of_tile(&m, r, c, w, begin - tile, stop);
    begin = tile + stop;
  }
}

void wf_typed_for_2d(const wf_typed *k, size_t rows, size_t cols, weft_tile_fn *fn) {
  weft_opts opts;
  wf_par_options(&opts, k->opts, k->name);
  if (rows == 0 || cols == 0) return;
  size_t across = cols / TILE_COLS + (cols % TILE_COLS != 0);
  cell_loop m = {fn, k->ctx, 0, 0, cols, cols / across + (cols % across != 0)};
  wf_loop loop = {cell_block, &m, NULL};
  /* In parts of as many rows as size_t can number the cells of: as a rule in one. */
  const size_t most = SIZE_MAX / cols;
  for (; m.row0 < rows && !wf_par_cancelled(&opts); m.row0 += m.rows) {
    m.rows = rows - m.row0 < most ? rows - m.row0 : most;
    wf_loop_run(&opts, m.rows * cols, &loop);
  }
}
