/* grid.h - the tiles of a grid of up to six dimensions, numbered from 0.
 *
 * A dimension that is not cut has tiles of one element, so every form of call is a grid
 * of tiles. The last dimension varies fastest, as in nested loops.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WFP_GRID_H
#define WFP_GRID_H

#include <stdbool.h>
#include <stddef.h>

#define GRID_DIMS   6
#define GRID_VALUES 8 /* the most arguments behind the context: 6 + 2, or 4 + 4 */

/* Invariants: tile[d] >= 1; tiles[d] * tile[d] >= range[d]; total is the product of all
 * tiles[d]. */
struct grid {
  unsigned dims;
  unsigned tiled; /* the last dimensions, which the caller cut into tiles */
  bool dynamic;   /* whether one call of the function may get several tiles */
  unsigned along; /* then they lie side by side in this dimension */
  size_t range[GRID_DIMS];
  size_t tile[GRID_DIMS];
  size_t tiles[GRID_DIMS]; /* how many there are in each dimension */
  size_t total;
};

/* Where a walk over the grid is: the number of a tile, and its place. */
struct grid_place {
  size_t number;
  size_t at[GRID_DIMS]; /* counts tiles */
};

/* Fills a grid from the sizes of a call: `dims` ranges, then `tiled` lengths of tiles.
 * Returns NULL, or what is wrong with them. */
const char *wfp_grid_init(struct grid *g, unsigned dims, unsigned tiled, bool dynamic,
                          const size_t *sizes);

/* Moves a place to a tile: by division, or cheaply if it is the next one. */
void wfp_grid_seek(const struct grid *g, struct grid_place *place, size_t number);

/* How many tiles from this one on lie side by side along the dimension `along`. */
size_t wfp_grid_side_by_side(const struct grid *g, size_t number);

/* The arguments for `count` tiles side by side, from the place on: the first index in
 * each dimension, then the lengths in those that were cut. */
void wfp_grid_values(const struct grid *g, const struct grid_place *place, size_t count,
                     size_t values[GRID_VALUES]);

#endif
