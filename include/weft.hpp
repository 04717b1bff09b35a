/* weft.hpp - weft for C++17: include this one. Header-only; link with libweft as in C.
 *
 *     weft/hpp/join.hpp     weft::join, invoke: callables, perhaps at the same time
 *     weft/hpp/loop.hpp     for_each, for_blocks, for_chunks, for_step, for_2d, try_for,
 *                           try_for_each, transform, try_transform, map
 *     weft/hpp/reduce.hpp   reduce, transform_reduce, fold, fold_local, try_fold
 *     weft/hpp/local.hpp    local: an object for each thread; bag: a growing array
 *     weft/hpp/numbers.hpp  sum, product, dot, min, max, mean, variance
 *     weft/hpp/array.hpp    fill, copy, reverse, rotate, gather, scatter, unique,
 *                           stable_partition, histogram, scans, comparisons
 *     weft/hpp/sort.hpp     sort, stable_sort
 *     weft/hpp/order.hpp    merge, nth_element, partial_sort, argsort, sort_by_key
 *     weft/hpp/iter.hpp     weft::iter: lazy pipelines, fused into one loop
 *     weft/hpp/scope.hpp    weft::scope, in_scope, async
 *     weft/hpp/graph.hpp    weft::graph: nodes and edges, built once, run many times
 *     weft/hpp/pipeline.hpp weft::pipeline: objects that go through stages
 *     weft/hpp/progress.hpp weft::progress: how far a long loop is
 *     weft/hpp/pool.hpp     weft::pool, detach, yield, isolate, blocking, broadcast
 *
 * It is a thin layer over the C calls of weft.h, which can be used beside it: the same
 * scheduler, pools and options, with callables inlined into the loops. Exceptions reach
 * the caller:
 *
 *     join, invoke  all are called; throws that of the first in the list
 *     loops, iter   throws that of the lowest index; blocks in front of it run, blocks
 *                   behind it are skipped
 *     reduce, fold  as loops
 *     pipeline      throws that of the lowest item, if that has not returned an error
 *     sort          throws the first in time; most comparisons are left out
 *     scope         throws the first in time; tasks that were not started are skipped
 *     graph         run() throws the first in time; nodes that were not started are
 *                   skipped
 *     detach        nobody waits: std::terminate
 *
 * A call throws only when nothing that it has started is still running and everything
 * that was made is destroyed. With -fno-exceptions all of it works, without this.
 * docs/guide/cpp.md is the guide, with a table of the two faces.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_HPP
#define WEFT_HPP

#include <weft/hpp/array.hpp>
#include <weft/hpp/base.hpp>
#include <weft/hpp/graph.hpp>
#include <weft/hpp/iter.hpp>
#include <weft/hpp/join.hpp>
#include <weft/hpp/local.hpp>
#include <weft/hpp/loop.hpp>
#include <weft/hpp/numbers.hpp>
#include <weft/hpp/order.hpp>
#include <weft/hpp/pipeline.hpp>
#include <weft/hpp/pool.hpp>
#include <weft/hpp/progress.hpp>
#include <weft/hpp/reduce.hpp>
#include <weft/hpp/scope.hpp>
#include <weft/hpp/sort.hpp>
#include <weft/hpp/topology.hpp>
#include <weft/hpp/trace.hpp>

#endif
