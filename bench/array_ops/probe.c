/* array_ops/probe.c - P10: what two bare threads take to read the array of a count, as
 * stream/probe.c does for P5. Contestant: bandwidth.
 *
 * Usage: array_ops_probe sum [n]
 *
 * SPDX-License-Identifier: MIT */
#include "../stream/probe.c"
