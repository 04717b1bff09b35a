/* What the examples of weft/topology.h use; see tools/check-examples.
 *
 * SPDX-License-Identifier: MIT */
#include <assert.h>
#include <stdatomic.h>
#include <weft.h>

static struct whole { atomic_uint parts; } whole;
static void work_on_part(unsigned index, unsigned count, void *ctx) {
  assert(index < count);
  atomic_fetch_add(&((struct whole *)ctx)->parts, 1);
}
#define AT_END assert(atomic_load(&whole.parts) >= 1)
