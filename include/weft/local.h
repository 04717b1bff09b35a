/* weft/local.h - one slot for each thread: counters, buffers and partial results that
 * tasks write without a lock, and that are combined at the end.
 *
 *     weft_local *counts;
 *     if (weft_local_create(&counts, sizeof(struct counts), NULL, NULL) != 0) ...;
 *     weft_for(n, count_part, counts);                // calls weft_local_get(counts)
 *     weft_local_each(counts, add_to_total, &total);  // one call for each slot
 *     weft_local_destroy(counts);
 *
 * For a reduction over a range, weft_reduce_local (weft/reduce.h) does all of this in one
 * call. For results that are a growing array there is weft/bag.h.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_LOCAL_H
#define WEFT_LOCAL_H

#include <weft/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What all calls of this header share.
 *
 * Serial: a variable, unless the call says otherwise. Threads: any, unless the call says
 * otherwise. Errors: a NULL argument ends the program with a message, unless the call
 * says otherwise. Cost: a few nanoseconds, unless the call says otherwise. */

/* One slot of memory for each thread that has asked for one. */
typedef struct weft_local weft_local;

/* Creates a set of slots, one for each thread that asks for one.
 *
 * Replaces
 *
 *     T slot;
 *     init(&slot, ctx);        // or zeros
 *
 * Meaning: *out is a new set of slots of `size` bytes, and has none yet. A slot is made
 * when a thread first calls weft_local_get: it is zeroed, or, if init is not NULL, given
 * to init(slot, ctx), which sets all of it. init runs on the thread of the slot, for
 * several threads at the same time; it may call weft, but not weft_local_get of the same
 * set. Slots start at a cache line and share none with anything else, so threads that
 * write to theirs do not slow each other down.
 *
 * Threads: any. Errors: WEFT_EINVAL if out is NULL, or size is 0 or more than a quarter
 * of the address space; WEFT_ENOMEM. Then *out is NULL. Cost: two allocations here, and
 * one for each slot. */
WEFT_API int weft_local_create(weft_local **out, size_t size,
                               void (*init)(void *slot, void *ctx), void *ctx);

/* Returns the slot of the calling thread.
 *
 * Meaning: the same address each time on the same thread, another one on each other
 * thread. No other thread uses it as long as this thread runs. All threads count: those
 * of any pool, stand-ins for blocked threads, and threads that are in no pool. A thread
 * that begins after another one has ended may get the slot of that one, with what is in
 * it; so there are not more slots than threads that ran at the same time. (It is the
 * system that orders the two. ThreadSanitizer does not know of that, and reports a race
 * if the first thread was detached and not joined.)
 *
 * The slot is this function's alone until it calls weft or ends. While it waits in a call
 * of weft (a loop, a join, weft_scope_end, also weft_spawn), its thread may run another
 * block or task, which gets the same slot and changes it. So finish with the slot before
 * such a call, and read it again after it:
 *
 *     long *hits = weft_local_get(counts);
 *     long before = *hits;
 *     weft_for(n, inner, counts);              // may add to the same *hits
 *     *hits = before + 1;                      // WRONG: what inner has added is lost
 *
 *     weft_for(n, inner, counts);
 *     ++*(long *)weft_local_get(counts);       // right: nothing of weft in between
 *
 * A body that needs something to itself across calls of weft has it in a variable of its
 * own, and adds it to the slot at the end.
 *
 * Threads: any. Errors: NULL if the slot is new and there is no memory for it; the next
 * call tries again. weft_local_reserve excludes that beforehand. A NULL set ends the
 * program with a message. Cost: 2 ns (AMD EPYC, gcc 12); the first call of a thread
 * allocates. */
WEFT_API void *weft_local_get(weft_local *l);

/* Gets the memory for `count` further slots now. As many threads then get theirs without
 * a further allocation, and weft_local_get returns NULL for none of them.
 *
 *     weft_local_reserve(buffers, weft_thread_count() + 1);
 *
 * (Stand-ins of blocking sections and other callers would be further threads.) Threads:
 * any. Errors: WEFT_EINVAL if the set is NULL, WEFT_ENOMEM; then nothing has changed.
 *
 * Cost: an allocation for each slot. */
WEFT_API int weft_local_reserve(weft_local *l, size_t count);

/* Calls a function for each slot, to combine them.
 *
 * Replaces
 *
 *     fn(&slot, ctx);
 *
 * Meaning: calls fn(slot, ctx) once for each slot that was made, one after the other, on
 * the calling thread, in no particular order. fn may change the slot, for instance set it
 * back to zero for the next round, or free what it owns. Which thread did how much
 * differs from run to run, so combine by operations whose result does not depend on order
 * or grouping: sums of integers, minima, unions. For sums of floats that must have the
 * same bits each time use weft_reduce.
 *
 * Threads: any, while no other one uses the set: after the loop, or the end of the scope,
 * that has used it. Errors: NULL arguments end the program with a message.
 *
 * Cost: a call for each slot. */
WEFT_API void weft_local_each(weft_local *l, void (*fn)(void *slot, void *ctx),
                              void *ctx);

/* Returns how many slots were made. Threads: any, also while others use the set. */
WEFT_API size_t weft_local_count(const weft_local *l);

/* Frees the set and its slots. What the slots own is the program's: free it with
 * weft_local_each first. NULL does nothing. No other thread may use the set now or later.
 *
 * Threads: one, when no other one uses the set. Cost: that of freeing the memory. */
WEFT_API void weft_local_destroy(weft_local *l);

#ifdef __cplusplus
}
#endif

#endif
