/* weft.c - the whole library as one source file, for programs that would rather compile
 * it than link it:
 *
 *     cc -std=c11 -O2 -pthread -Iinclude src/weft.c app.c
 *
 * Includes every source file, lower layers first. A new file needs a line here; a test
 * checks that none is missing.
 *
 * SPDX-License-Identifier: MIT */

/* The system layer needs more than C11 from the system's headers, and asks for it before
 * the first of them is read. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "sys/affinity.c"
#include "sys/cgroup.c"
#include "sys/cpu_count.c"
#include "sys/darwin.c"
#include "sys/file.c"
#include "sys/lines.c"
#include "sys/linux.c"
#include "sys/posix.c"
#include "sys/terminal.c"
#include "sys/topology.c"
#include "sys/unix.c"
#include "sys/windows.c"
#include "sys/windows_cpu.c"
#include "sys/windows_file.c"
#include "sys/windows_topology.c"

#include "core/arena.c"
#include "core/deque.c"
#include "core/injector.c"
#include "core/latch.c"
#include "core/lock.c"
#include "core/per_thread.c"

#include "trace/export.c"
#include "trace/names.c"
#include "trace/ring.c"
#include "trace/session.c"
#include "trace/text.c"
#include "trace/track.c"

#include "sched/background.c"
#include "sched/bind.c"
#include "sched/blocking.c"
#include "sched/broadcast.c"
#include "sched/environment.c"
#include "sched/fatal.c"
#include "sched/fork.c"
#include "sched/global.c"
#include "sched/guest.c"
#include "sched/handle.c"
#include "sched/handle_wait.c"
#include "sched/idle.c"
#include "sched/inject.c"
#include "sched/isolate.c"
#include "sched/join.c"
#include "sched/nodes.c"
#include "sched/options.c"
#include "sched/parcel.c"
#include "sched/pool.c"
#include "sched/record.c"
#include "sched/report.c"
#include "sched/scope.c"
#include "sched/search.c"
#include "sched/sleep.c"
#include "sched/spawn.c"
#include "sched/stats.c"
#include "sched/steer.c"
#include "sched/topology_print.c"
#include "sched/typed_task.c"
#include "sched/victims.c"
#include "sched/worker.c"

#include "par/base/bytes.c"
#include "par/base/call.c"
#include "par/base/crew.c"
#include "par/base/ordered.c"

#include "par/loop/adaptive.c"
#include "par/loop/cells.c"
#include "par/loop/public.c"

#include "par/array/compact.c"
#include "par/array/filter.c"
#include "par/array/histogram.c"
#include "par/array/map.c"
#include "par/array/move.c"
#include "par/array/search.c"

#include "par/fold/numbers.c"
#include "par/fold/numbers_scan.c"
#include "par/fold/reduce.c"
#include "par/fold/reduce_local.c"
#include "par/fold/scan.c"
#include "par/fold/simd.c"
#include "par/fold/try_reduce.c"

#include "par/shared/bag.c"
#include "par/shared/local.c"

#include "par/progress/line.c"
#include "par/progress/progress.c"
#include "par/progress/screen.c"

#include "par/sort/order/by_key.c"
#include "par/sort/order/guess.c"
#include "par/sort/order/merge.c"
#include "par/sort/order/partition.c"
#include "par/sort/order/sample.c"
#include "par/sort/order/select.c"
#include "par/sort/order/sort.c"

#include "par/sort/radix/buckets.c"
#include "par/sort/radix/lists.c"
#include "par/sort/radix/radix.c"
#include "par/sort/radix/typed.c"

#include "par/iter/build.c"
#include "par/iter/drive.c"
#include "par/iter/fetch.c"
#include "par/iter/ordered.c"
#include "par/iter/plan.c"
#include "par/iter/run.c"
#include "par/iter/sink_collect.c"
#include "par/iter/sink_fold.c"
#include "par/iter/sink_search.c"
#include "par/iter/sink_sum.c"
#include "par/iter/split.c"

#include "par/graph/build.c"
#include "par/graph/check.c"
#include "par/graph/dot.c"
#include "par/graph/run.c"

#include "par/pipeline/hand_over.c"
#include "par/pipeline/public.c"
#include "par/pipeline/run.c"
