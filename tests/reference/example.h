/* reference/example.h - for the examples of the reference: complete programs in a few
 * lines.
 *
 * What stands between two lines "example: names" is one example, and the reference shows
 * it on the page of each of these names, with `int main(void)` for EXAMPLE(...). All
 * examples are compiled into one program, which runs them.
 *
 * SPDX-License-Identifier: MIT */
#ifndef REFERENCE_EXAMPLE_H
#define REFERENCE_EXAMPLE_H

#undef NDEBUG /* assert must assert */
#include <assert.h>
#include <harness/harness.h>

#define EXAMPLE(name) TEST(name)

#endif
