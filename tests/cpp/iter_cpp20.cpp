/* The tests of weft::iter as C++20.
 *
 * SPDX-License-Identifier: MIT */
/* compile: -std=c++20 */
#include "iter.cpp"
