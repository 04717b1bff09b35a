/* weft.h - work-stealing fork-join for C: include this one.
 *
 *     weft/pool.h   pools: the global one starts by itself, others are made and destroyed
 *     weft/join.h   fork-join: weft_join
 *     weft/typed_task.h   WEFT_TASK: fork-join with arguments and results by value
 *     weft/scope.h  structured concurrency: scopes, weft_spawn, cancellation
 *     weft/task.h   handles, detached work, broadcast, yield, isolate, blocking sections
 *     weft/loop.h   parallel loops: weft_for and its kin
 *     weft/array.h  array algorithms: map, filter, partition, count, histogram, moves
 *     weft/search.h searches that stop early, comparisons
 *     weft/kernel.h the same for one type, inlined and vectorised
 *     weft/reduce.h reductions and scans with operations of your own
 *     weft/kernel_fold.h  WEFT_FOLD: reductions whose loops are inlined
 *     weft/typed.h  sums, minima, scans of arrays of numbers
 *     weft/sort.h   sorting by a comparator; weft/kernel_sort.h makes typed sorts
 *     weft/sort_typed.h  sorting of numbers
 *     weft/iter.h   lazy sequences: sources, stages, sinks
 *     weft/opts.h   options that these share
 *
 * C11 and C++17. Link with libweft (pkg-config weft, CMake weft::weft), or add
 * src/weft.c to the program.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_H
#define WEFT_H

#include <weft/array.h>
#include <weft/base.h>
#include <weft/fn.h>
#include <weft/iter.h>
#include <weft/iter_kernel.h>
#include <weft/iter_sink.h>
#include <weft/join.h>
#include <weft/kernel.h>
#include <weft/kernel_fold.h>
#include <weft/kernel_sort.h>
#include <weft/loop.h>
#include <weft/opts.h>
#include <weft/pool.h>
#include <weft/reduce.h>
#include <weft/scope.h>
#include <weft/search.h>
#include <weft/sort.h>
#include <weft/sort_typed.h>
#include <weft/task.h>
#include <weft/typed.h>
#include <weft/typed_task.h>

#endif
