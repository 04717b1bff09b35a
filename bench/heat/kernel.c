/* heat/kernel.c - one row of the plate; see heat.h.
 *
 * SPDX-License-Identifier: MIT */
#include "heat.h"

void heat_row(const double *from, double *to, size_t columns) {
  const double *above = from - columns, *below = from + columns;
  for (size_t i = 1; i < columns - 1; i++)
    to[i] =
        from[i] + 0.2 * (above[i] + below[i] + from[i - 1] + from[i + 1] - 4 * from[i]);
}
