/* weft.h - work-stealing fork-join for C: include this one.
 *
 *     weft/pool.h            pools: the global one starts by itself, others are created
 *     weft/join.h            fork-join: weft_join, weft_invoke
 *     weft/typed_task.h      WEFT_TASK: fork-join with arguments and results by value
 *     weft/scope.h           structured concurrency: scopes, weft_spawn, cancellation
 *     weft/task.h            handles, detached work, broadcast, yield, isolate, blocking
 *     weft/typed_async.h     WEFT_ASYNC: handles with arguments and results by value
 *     weft/loop.h            parallel loops: weft_for, weft_for_each, weft_for_2d, ...
 *     weft/typed_loop.h      WEFT_LOOP, WEFT_SUM_LOOP, ...: loops from their body alone
 *     weft/array.h           arrays: map, filter, partition, count, histogram, moves
 *     weft/search.h          searches that stop early, comparisons of arrays
 *     weft/reduce.h          reductions and scans with operations of your own
 *     weft/local.h           one slot for each thread: weft_local
 *     weft/bag.h             a growing array that any task adds to: weft_bag
 *     weft/sort.h            sorting by a comparator, merging, selecting
 *     weft/numbers.h         sums, minima, scans of arrays of numbers
 *     weft/sort_numbers.h    sorting of arrays of numbers
 *     weft/typed_function.h  typed functions: macros such as WEFT_MAP make array
 * functions for your own types, with the loops inlined weft/typed_fold.h      typed
 * functions for reductions and scans weft/typed_sort.h      typed functions for sorting
 *     weft/iter.h            lazy sequences: sources, stages, sinks
 *     weft/iter_kernel.h     kernel stages: stages whose loops are inlined
 *     weft/graph.h           task graphs: nodes and edges, built once, run many times
 *     weft/pipeline.h        items that go through stages, several at a time
 *     weft/progress.h        how far a long loop is: a bar on a terminal
 *     weft/opts.h            options that all calls share
 *     weft/trace.h           traces of what the scheduler does, names, observers
 *
 * Parameters have one order in all calls: options; the destination, with its size or
 * length if it has one of its own; then the array as in qsort, `base, n, size`; then what
 * is special to the call; the function and its ctx last. A call for one type has the same
 * parameters without the sizes of that type. Several arrays of one length stand together
 * in front of it.
 *
 *     weft_argsort(order, base, n, size, cmp, ctx);    weft_argsort_f64(order, a, n);
 *     weft_nth_element(base, n, size, nth, cmp, ctx);  weft_nth_element_f64(a, n, nth);
 *
 * C11 and C++17. Link with libweft (pkg-config weft, CMake weft::weft), or add
 * src/weft.c to the program.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_H
#define WEFT_H

#include <weft/array.h>
#include <weft/bag.h>
#include <weft/base.h>
#include <weft/fn.h>
#include <weft/graph.h>
#include <weft/iter.h>
#include <weft/iter_kernel.h>
#include <weft/iter_sink.h>
#include <weft/join.h>
#include <weft/local.h>
#include <weft/loop.h>
#include <weft/numbers.h>
#include <weft/opts.h>
#include <weft/pipeline.h>
#include <weft/pool.h>
#include <weft/progress.h>
#include <weft/reduce.h>
#include <weft/scope.h>
#include <weft/search.h>
#include <weft/sort.h>
#include <weft/sort_numbers.h>
#include <weft/task.h>
#include <weft/topology.h>
#include <weft/trace.h>
#include <weft/typed_async.h>
#include <weft/typed_fold.h>
#include <weft/typed_function.h>
#include <weft/typed_loop.h>
#include <weft/typed_sort.h>
#include <weft/typed_task.h>

#endif
