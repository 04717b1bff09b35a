/* weft/bag.h - a growing array that any number of tasks add to at the same time.
 *
 *     weft_bag *found;
 *     if (weft_bag_create(&found, sizeof(struct match)) != 0) ...;
 *     weft_for(n, search_part, found);              // calls weft_bag_add(found, &match)
 *     size_t count = weft_bag_count(found);
 *     struct match *all = malloc(count * sizeof *all);
 *     weft_bag_copy(all, found);
 *     weft_bag_destroy(found);
 *
 * Where each element of an array gives at most one result, weft_filter and weft_iter_*
 * keep the order of the input; a bag has no order.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_BAG_H
#define WEFT_BAG_H

#include <weft/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What all calls of this header share.
 *
 * Serial: an array with a count, unless the call says otherwise.
 *
 * Threads: any, unless the call says otherwise. Errors: a NULL argument ends the program
 * with a message, unless the call says otherwise. Cost: a few nanoseconds, unless the
 * call says otherwise. */

/* Elements of one size, in no particular order. */
typedef struct weft_bag weft_bag;

/* Creates an empty bag for elements of `size` bytes. Threads: any. Errors: WEFT_EINVAL if
 * out is NULL, or size is 0 or more than a quarter of the address space; WEFT_ENOMEM.
 * Then *out is NULL.
 *
 * Cost: an allocation. */
WEFT_API int weft_bag_create(weft_bag **out, size_t size);

/* Adds a copy of an element.
 *
 * Replaces
 *
 *     memcpy(&array[count++], elem, size);
 *
 * Meaning: adds a copy of the element at elem. Elements that one thread adds keep their
 * order among each other; otherwise the order is unspecified. An element stays where it
 * is until weft_bag_clear or weft_bag_destroy.
 *
 * Threads: any number at the same time. Each thread adds to memory of its own, so they do
 * not wait for each other and share no cache line. Errors: WEFT_ENOMEM; the element was
 * not added, and the bag is as before. NULL arguments end the program with a message.
 * Cost: about 4 ns. Memory: up to twice that of the elements, from the second thread on
 * at least a page for each. */
WEFT_API int weft_bag_add(weft_bag *b, const void *elem);

/* Adds copies of several elements.
 *
 * Replaces
 *
 *     memcpy(&array[count], base, n * size), count += n;
 *
 * Meaning: adds n elements, in their order. Without memory none of them is added. base
 * may be NULL if n is 0. All else as weft_bag_add. */
WEFT_API int weft_bag_add_many(weft_bag *b, const void *base, size_t n);

/* Returns the number of elements. Cost: a few loads for each thread that has added.
 * Threads: any. While others add, it counts at least what was added before (in the sense
 * of threads: a loop that has ended) and at most what was added in all. */
WEFT_API size_t weft_bag_count(const weft_bag *b);

/* Copies all elements to an array.
 *
 * Replaces
 *
 *     memcpy(dst, array, count * size);
 *
 * Meaning: copies all elements, weft_bag_count of them, to dst, in some order; the bag
 * keeps them. Uses the current pool if there are many. Threads: any, while none adds.
 * Errors: NULL arguments (dst may be NULL if the bag is empty) end the program.
 *
 * Cost: that of copying the memory. */
WEFT_API void weft_bag_copy(void *dst, const weft_bag *b);

/* Calls a function for each element, on the calling thread.
 *
 * Replaces
 *
 *     for (size_t i = 0; i < count; i++) fn(&array[i], ctx);
 *
 * Meaning: calls fn(elem, ctx) for each element where it is, one after the other, on the
 * calling thread. fn may change the element, and must not add to the bag. To do it in
 * parallel, copy them to an array. Threads: any, while none adds. Errors: NULL arguments
 * end the program with a message.
 *
 * Cost: a call for each element. */
WEFT_API void weft_bag_each(weft_bag *b, void (*fn)(void *elem, void *ctx), void *ctx);

/* Takes all elements out. Keeps some of the memory for those that come next. Threads:
 * any, while no other one uses the bag. NULL ends the program with a message.
 *
 * Cost: some instructions for each thread that has added, and that of freeing memory. */
WEFT_API void weft_bag_clear(weft_bag *b);

/* Frees the bag with its elements. NULL does nothing. No other thread may use the bag now
 * or later.
 *
 * Threads: one, when no other one uses the bag. Cost: that of freeing the memory. */
WEFT_API void weft_bag_destroy(weft_bag *b);

#ifdef __cplusplus
}
#endif

#endif
