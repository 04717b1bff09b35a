/* grid.c - see grid.h. Pure arithmetic, without shared state.
 *
 * SPDX-License-Identifier: MIT */
#include "grid.h"

#include <stdint.h>

static size_t smaller(size_t a, size_t b) {
  return a < b ? a : b;
}

const char *wfp_grid_init(struct grid *g, unsigned dims, unsigned tiled, bool dynamic,
                          const size_t *sizes) {
  *g = (struct grid){.dims = dims, .tiled = tiled, .dynamic = dynamic, .total = 1};
  bool empty = false;
  for (unsigned d = 0; d < dims; d++) {
    g->range[d] = sizes[d];
    g->tile[d] = d < dims - tiled ? 1 : sizes[dims + d - (dims - tiled)];
    if (g->tile[d] == 0) return "a tile of 0";
    g->tiles[d] = g->range[d] / g->tile[d] + (g->range[d] % g->tile[d] != 0);
    empty = empty || g->tiles[d] == 0;
  }
  for (unsigned d = 0; d < dims; d++) {
    if (empty) {
      g->total = 0;
    } else if (g->tiles[d] > SIZE_MAX / 2 / g->total) {
      /* Half, because threads count a little past the end (see claim in run.c). */
      return "a grid of more than SIZE_MAX / 2 tiles";
    } else {
      g->total *= g->tiles[d];
    }
  }
  g->along = dims - 1;
  if (tiled > 1 && g->tiles[g->along] == 1) g->along--;
  return NULL;
}

static void seek_next(const struct grid *g, struct grid_place *place) {
  place->number++;
  for (unsigned d = g->dims; d-- > 0;) {
    if (++place->at[d] < g->tiles[d]) return;
    place->at[d] = 0;
  }
}

void wfp_grid_seek(const struct grid *g, struct grid_place *place, size_t number) {
  if (number == place->number) return;
  if (number == place->number + 1) {
    seek_next(g, place);
    return;
  }
  place->number = number;
  for (unsigned d = g->dims; d-- > 0;) {
    place->at[d] = number % g->tiles[d];
    number /= g->tiles[d];
  }
}

size_t wfp_grid_side_by_side(const struct grid *g, size_t number) {
  /* The dimensions behind `along`, if any, have one tile each. */
  size_t row = g->tiles[g->along];
  return row - number % row;
}

void wfp_grid_values(const struct grid *g, const struct grid_place *place, size_t count,
                     size_t values[GRID_VALUES]) {
  unsigned uncut = g->dims - g->tiled;
  for (unsigned d = 0; d < g->dims; d++) {
    size_t begin = place->at[d] * g->tile[d];
    values[d] = begin;
    if (d < uncut) continue;
    size_t left = g->range[d] - begin;
    /* count * tile does not overflow where it matters: all but the last of these tiles
     * lie within the range. */
    bool several = g->dynamic && d == g->along && count > 1;
    size_t length = several ? (count - 1) * g->tile[d] : 0;
    length += smaller(g->tile[d], left - length);
    values[g->dims + d - uncut] = length;
  }
}
