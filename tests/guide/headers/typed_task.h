/* What the examples of weft/typed_task.h use; see tools/check-examples.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <weft.h>

typedef struct shape {
  double side;
} shape;
