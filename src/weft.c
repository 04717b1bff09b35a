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

#include "sys/cgroup.c"
#include "sys/cpu_count.c"
#include "sys/linux.c"
#include "sys/posix.c"
#include "sys/unix.c"

#include "core/arena.c"
#include "core/deque.c"
#include "core/injector.c"
#include "core/latch.c"
#include "core/lock.c"

#include "pool/fatal.c"
#include "pool/fork.c"
#include "pool/global.c"
#include "pool/guest.c"
#include "pool/mail.c"
#include "pool/options.c"
#include "pool/pool.c"
#include "pool/scoped.c"
#include "pool/search.c"
#include "pool/sleep.c"
#include "pool/spare.c"
#include "pool/stats.c"
#include "pool/status.c"
#include "pool/worker.c"

#include "task/broadcast.c"
#include "task/handle.c"
#include "task/isolate.c"
#include "task/join.c"
#include "task/scope.c"
#include "task/spawn.c"
#include "task/typed_task.c"

#include "par/filter.c"
#include "par/for.c"
#include "par/histogram.c"
#include "par/iter_collect.c"
#include "par/iter_drive.c"
#include "par/iter_fetch.c"
#include "par/iter_fold.c"
#include "par/iter_gaps.c"
#include "par/iter_kernel.c"
#include "par/iter_order.c"
#include "par/iter_plan.c"
#include "par/iter_pull.c"
#include "par/iter_push.c"
#include "par/iter_sink.c"
#include "par/iter_source.c"
#include "par/iter_stage.c"
#include "par/kernels.c"
#include "par/loop.c"
#include "par/map.c"
#include "par/move.c"
#include "par/pack.c"
#include "par/par.c"
#include "par/radix.c"
#include "par/reduce.c"
#include "par/scan.c"
#include "par/scratch.c"
#include "par/search.c"
#include "par/sort.c"
#include "par/sort_copy.c"
#include "par/sort_few.c"
#include "par/sort_index.c"
#include "par/sort_inplace.c"
#include "par/sort_keyed.c"
#include "par/sort_lists.c"
#include "par/sort_merge.c"
#include "par/sort_pairs.c"
#include "par/sort_quick.c"
#include "par/sort_rows.c"
#include "par/sort_sample.c"
#include "par/sort_select.c"
#include "par/sort_typed.c"
#include "par/stream.c"
#include "par/typed.c"
#include "par/typed_scan.c"
