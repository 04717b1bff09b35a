/* weft.hpp - weft for C++17: include this one. Header-only; link with libweft as in C.
 *
 *     weft/hpp/join.hpp    weft::join: callables, perhaps at the same time
 *     weft/hpp/loop.hpp    weft::for_each, for_blocks, for_chunks, transform, map
 *     weft/hpp/reduce.hpp  weft::reduce, transform_reduce, fold
 *     weft/hpp/sort.hpp    weft::sort, stable_sort
 *     weft/hpp/iter.hpp    weft::iter: lazy pipelines, fused into one loop
 *     weft/hpp/scope.hpp   weft::scope, in_scope, async
 *     weft/hpp/pool.hpp    weft::pool, isolate, blocking, broadcast
 *
 * It is a thin layer over the C calls of weft.h, which may be used beside it: the same
 * scheduler, the same pools, the same options, with callables inlined into the loops, and
 * with exceptions, which go to the caller:
 *
 *     join          all are called; throws that of the first in the list
 *     loops, iter   throws that of the lowest index; what is in front of it runs, blocks
 *                   behind it are skipped
 *     reduce, fold  as loops
 *     sort          throws the first in time; most comparisons are left out
 *     scope         throws the first in time; tasks that were not started are skipped
 *
 * In each case the call returns (throws) only when nothing that it has started is still
 * running, and everything that was made is destroyed. With -fno-exceptions all of it
 * works, and nothing is carried. docs/guide/cpp.md is the guide.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_HPP
#define WEFT_HPP

#include <weft/hpp/base.hpp>
#include <weft/hpp/iter.hpp>
#include <weft/hpp/join.hpp>
#include <weft/hpp/loop.hpp>
#include <weft/hpp/pool.hpp>
#include <weft/hpp/reduce.hpp>
#include <weft/hpp/scope.hpp>
#include <weft/hpp/sort.hpp>

#endif
