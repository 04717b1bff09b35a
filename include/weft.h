/* weft.h - work-stealing fork-join for C: include this one.
 *
 *     weft/pool.h   pools: the global one starts by itself, others are made and destroyed
 *     weft/join.h   fork-join: weft_join
 *     weft/scope.h  structured concurrency: scopes, weft_spawn, cancellation
 *     weft/task.h   handles, detached work, broadcast, yield, isolate, blocking sections
 *     weft/loop.h   parallel loops: weft_for and its kin
 *     weft/sort_typed.h  sorting of numbers
 *     weft/opts.h   options that these share
 *
 * C11 and C++17. Link with libweft (pkg-config weft, CMake weft::weft), or add
 * src/weft.c to the program.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_H
#define WEFT_H

#include <weft/base.h>
#include <weft/join.h>
#include <weft/loop.h>
#include <weft/opts.h>
#include <weft/pool.h>
#include <weft/scope.h>
#include <weft/sort_typed.h>
#include <weft/task.h>

#endif
