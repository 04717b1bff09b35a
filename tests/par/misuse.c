/* Nonsense ends the program with a message that names the call: NULL arrays with elements
 * in them, functions that are NULL, sizes of 0, options that mean nothing. One line of a
 * table for each call; tools/check-api looks whether a call is missing.
 *
 * SPDX-License-Identifier: MIT */
#include "support.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 4 };

/* ---- arguments ---- */

static int numbers[N], others[N];
static size_t order[N] = {0, 1, 2, 3};

static void map_nothing(void *out, const void *in, size_t index, void *ctx) {
  (void)out, (void)in, (void)index, (void)ctx;
}

static int try_map_nothing(void *out, const void *in, size_t index, void *ctx) {
  (void)out, (void)in, (void)index, (void)ctx;
  return 0;
}

static bool is_seven(const void *elem, void *ctx) {
  (void)ctx;
  return *(const int *)elem == 7;
}

static int compare(const void *a, const void *b, void *ctx) {
  int x = *(const int *)a, y = *(const int *)b;
  (void)ctx;
  return (x > y) - (x < y);
}

static size_t key_of(const void *elem, void *ctx) {
  (void)elem, (void)ctx;
  return 3;
}

static void add(void *acc, const void *x, void *ctx) {
  (void)ctx;
  *(int *)acc += *(const int *)x;
}

static void range_nothing(size_t begin, size_t end, void *ctx) {
  (void)begin, (void)end, (void)ctx;
}

static int try_nothing(size_t begin, size_t end, void *ctx) {
  (void)begin, (void)end, (void)ctx;
  return 0;
}

static int one_item(void *item, size_t number, void *ctx) {
  (void)item, (void)ctx;
  return number == 0 ? 0 : WEFT_END;
}

static int stage_end(void *item, size_t number, void *ctx) {
  (void)item, (void)number, (void)ctx;
  return WEFT_END;
}

static const weft_stage good_stages[] = {{WEFT_STAGE_ORDERED, one_item, NULL},
                                         {WEFT_STAGE_PARALLEL, one_item, NULL}};
static const weft_stage stage_without_function[] = {{WEFT_STAGE_ORDERED, one_item, NULL},
                                                    {WEFT_STAGE_SERIAL, NULL, NULL}};
static const weft_stage stage_of_no_kind[] = {{WEFT_STAGE_ORDERED, one_item, NULL},
                                              {(weft_stage_kind)3, one_item, NULL}};
static const weft_stage stage_that_ends[] = {{WEFT_STAGE_ORDERED, one_item, NULL},
                                             {WEFT_STAGE_ORDERED, stage_end, NULL}};

static void each_nothing(void *elem, size_t index, void *ctx) {
  (void)elem, (void)index, (void)ctx;
}

static int try_each_nothing(void *elem, size_t index, void *ctx) {
  (void)elem, (void)index, (void)ctx;
  return 0;
}

static void chunk_nothing(void *first, size_t count, size_t index, void *ctx) {
  (void)first, (void)count, (void)index, (void)ctx;
}

static void step_nothing(size_t i, void *ctx) {
  (void)i, (void)ctx;
}

static void tile_nothing(size_t r0, size_t r1, size_t c0, size_t c1, void *ctx) {
  (void)r0, (void)r1, (void)c0, (void)c1, (void)ctx;
}

static void init_nothing(void *acc, void *ctx) {
  (void)ctx;
  *(int *)acc = 0;
}

static void fold_nothing(void *acc, size_t begin, size_t end, void *ctx) {
  (void)acc, (void)begin, (void)end, (void)ctx;
}

static void merge_nothing(void *acc, const void *right, void *ctx) {
  (void)acc, (void)right, (void)ctx;
}

static const weft_reducer reducer = {4, init_nothing, fold_nothing, merge_nothing};
static const weft_reducer no_init = {4, NULL, fold_nothing, merge_nothing};
static const weft_reducer no_fold = {4, init_nothing, NULL, merge_nothing};
static const weft_reducer no_merge = {4, init_nothing, fold_nothing, NULL};
static const weft_reducer no_size = {0, init_nothing, fold_nothing, merge_nothing};

static int try_fold_nothing(void *acc, size_t begin, size_t end, void *ctx) {
  (void)acc, (void)begin, (void)end, (void)ctx;
  return 0;
}

static int try_merge_nothing(void *acc, const void *right, void *ctx) {
  (void)acc, (void)right, (void)ctx;
  return 0;
}

static const weft_try_reducer try_reducer = {4, init_nothing, try_fold_nothing,
                                             try_merge_nothing};
static const weft_try_reducer try_no_init = {4, NULL, try_fold_nothing,
                                             try_merge_nothing};
static const weft_try_reducer try_no_fold = {4, init_nothing, NULL, try_merge_nothing};
static const weft_try_reducer try_no_merge = {4, init_nothing, try_fold_nothing, NULL};
static const weft_try_reducer try_no_size = {0, init_nothing, try_fold_nothing,
                                             try_merge_nothing};
static const weft_try_reducer try_huge = {SIZE_MAX - 8, init_nothing, try_fold_nothing,
                                          try_merge_nothing};

/* ---- typed functions ---- */

static inline int twice(int x, void *ctx) {
  (void)ctx;
  return 2 * x;
}

static inline bool is_odd(int x, void *ctx) {
  (void)ctx;
  return x % 2 != 0;
}

static inline int add_one(int sum, int x, void *ctx) {
  (void)ctx;
  return sum + x;
}

static inline bool int_less(const int *a, const int *b, void *ctx) {
  (void)ctx;
  return *a < *b;
}

WEFT_MAP(kernel_map, int, int, twice)
WEFT_FILTER(kernel_filter, int, is_odd)
WEFT_FIND(kernel_find, int, is_odd)
WEFT_COUNT(kernel_count, int, is_odd)
WEFT_FOLD(kernel_fold, int, int, 0, add_one, add_one)
WEFT_SORT(kernel_sort, int, int_less)

/* ---- the table ---- */

static weft_opts unknown_split, no_struct_size, unknown_lane, unknown_order;

/* A list of misuses is a function: it says what the message of the misuse of that number
 * is, and commits it if told so. NULL: there are no more. */
typedef const char *misuse_list(unsigned which, bool commit);

#define MISUSE(message, ...)                                                             \
  if (at++ == which) {                                                                   \
    if (commit) (void)(__VA_ARGS__);                                                     \
    return message;                                                                      \
  }

#define LIST(...) __VA_ARGS__

/* The call and its twin with a NULL array, and the twin with a bad split; arguments in
 * parentheses. */
#define CALL(call, without_array, right)                                                 \
  NO_ARRAY(call, without_array)                                                          \
  BAD_SPLIT(call, right)
#define NO_ARRAY(call, arguments)                                                        \
  MISUSE(#call ": an array is NULL", call arguments)                                     \
  MISUSE(#call ": an array is NULL", call##_with(NULL, LIST arguments))
#define BAD_SPLIT(call, arguments)                                                       \
  MISUSE(#call ": the options are not valid: unknown split",                             \
         call##_with(&unknown_split, LIST arguments))

/* The call and its twin with elements that need more bytes than there are numbers; the
 * product of these wraps around to 16. */
#define HUGE_COUNT (SIZE_MAX / 16 + 2)
/* This many indices are more than half of the memory; as many bytes are not. */
#define TOO_MANY_INDICES (SIZE_MAX / 2 / sizeof *order + 2)
#define TOO_LARGE(call, arguments)                                                       \
  MISUSE(#call ": the array is larger than memory can be", call arguments)               \
  MISUSE(#call ": the array is larger than memory can be",                               \
         call##_with(NULL, LIST arguments))

static const char *large_misuse(unsigned which, bool commit) {
  unsigned at = 0;
  const size_t n = HUGE_COUNT;
  int zero = 0;
  TOO_LARGE(weft_for_each, (numbers, n, 16, each_nothing, NULL))
  TOO_LARGE(weft_chunks, (numbers, n, 16, 1, chunk_nothing, NULL))
  TOO_LARGE(weft_map, (others, 4, numbers, n, 16, map_nothing, NULL))
  TOO_LARGE(weft_map, (others, 16, numbers, n, 4, map_nothing, NULL))
  TOO_LARGE(weft_try_map, (others, 4, numbers, n, 16, try_map_nothing, NULL))
  TOO_LARGE(weft_try_map, (others, 16, numbers, n, 4, try_map_nothing, NULL))
  TOO_LARGE(weft_try_for_each, (numbers, n, 16, try_each_nothing, NULL))
  TOO_LARGE(weft_filter, (others, numbers, n, 16, is_seven, NULL))
  TOO_LARGE(weft_partition, (numbers, n, 16, is_seven, NULL))
  TOO_LARGE(weft_unique, (numbers, n, 16, compare, NULL))
  TOO_LARGE(weft_count, (numbers, n, 16, is_seven, NULL))
  TOO_LARGE(weft_histogram, (order, N, numbers, n, 16, key_of, NULL))
  TOO_LARGE(weft_fill, (numbers, n, 16, others))
  TOO_LARGE(weft_copy, (others, numbers, n, 16))
  TOO_LARGE(weft_reverse, (numbers, n, 16))
  TOO_LARGE(weft_rotate, (numbers, n, 16, 1))
  TOO_LARGE(weft_gather, (others, numbers, order, n, 16))
  TOO_LARGE(weft_scatter, (others, numbers, order, n, 16))
  TOO_LARGE(weft_find_first, (numbers, n, 16, is_seven, NULL))
  TOO_LARGE(weft_find_last, (numbers, n, 16, is_seven, NULL))
  TOO_LARGE(weft_find_any, (numbers, n, 16, is_seven, NULL))
  TOO_LARGE(weft_any, (numbers, n, 16, is_seven, NULL))
  TOO_LARGE(weft_all, (numbers, n, 16, is_seven, NULL))
  TOO_LARGE(weft_none, (numbers, n, 16, is_seven, NULL))
  TOO_LARGE(weft_min_index, (numbers, n, 16, compare, NULL))
  TOO_LARGE(weft_max_index, (numbers, n, 16, compare, NULL))
  TOO_LARGE(weft_equal, (others, numbers, n, 16))
  TOO_LARGE(weft_equal_by, (others, numbers, n, 16, compare, NULL))
  TOO_LARGE(weft_compare, (others, n, numbers, N, 16, compare, NULL))
  TOO_LARGE(weft_compare, (others, N, numbers, n, 16, compare, NULL))
  TOO_LARGE(weft_sort, (numbers, n, 16, compare, NULL))
  TOO_LARGE(weft_sort_stable, (numbers, n, 16, compare, NULL))
  TOO_LARGE(weft_merge, (others, numbers, n, numbers, 2, 16, compare, NULL))
  TOO_LARGE(weft_merge, (others, numbers, 2, numbers, n, 16, compare, NULL))
  TOO_LARGE(weft_merge,
            (others, numbers, SIZE_MAX / 40, numbers, SIZE_MAX / 40, 16, compare, NULL))
  TOO_LARGE(weft_sort_by_key, (numbers, n, 16, others, 4, compare, NULL))
  TOO_LARGE(weft_sort_by_key, (numbers, n, 4, others, 16, compare, NULL))
  TOO_LARGE(weft_argsort, (order, numbers, n, 16, compare, NULL))
  TOO_LARGE(weft_argsort, (order, numbers, SIZE_MAX / 3, 1, compare, NULL))
  TOO_LARGE(weft_argsort_i32, (order, numbers, TOO_MANY_INDICES))
  TOO_LARGE(weft_gather, (others, numbers, order, TOO_MANY_INDICES, 1))
  TOO_LARGE(weft_scatter, (others, numbers, order, TOO_MANY_INDICES, 1))
  TOO_LARGE(weft_histogram, (order, SIZE_MAX / 3, numbers, N, 4, key_of, NULL))
  TOO_LARGE(weft_sort_by_key_i32, (numbers, N, others, SIZE_MAX / 3))
  TOO_LARGE(weft_nth_element, (numbers, n, 16, 1, compare, NULL))
  TOO_LARGE(weft_partial_sort, (numbers, n, 16, 1, compare, NULL))
  TOO_LARGE(weft_is_sorted, (numbers, n, 16, compare, NULL))
  TOO_LARGE(weft_scan, (others, numbers, n, 16, &zero, true, add, NULL))
  TOO_LARGE(kernel_map, (others, numbers, SIZE_MAX / 4 + 2, NULL))
  TOO_LARGE(kernel_filter, (others, numbers, SIZE_MAX / 4 + 2, NULL))
  TOO_LARGE(kernel_find, (numbers, SIZE_MAX / 4 + 2, NULL))
  TOO_LARGE(kernel_count, (numbers, SIZE_MAX / 4 + 2, NULL))
  TOO_LARGE(kernel_sort, (numbers, SIZE_MAX / 4 + 2, NULL))
  MISUSE("weft_for_each: the element size is 0",
         weft_for_each(numbers, N, 0, each_nothing, NULL))
  MISUSE("weft_chunks: the element size is 0",
         weft_chunks(numbers, N, 0, 1, chunk_nothing, NULL))
  MISUSE("weft_try_for_each: the element size is 0",
         weft_try_for_each(numbers, N, 0, try_each_nothing, NULL))
  return NULL;
}

static const char *loop_misuse(unsigned which, bool commit) {
  unsigned at = 0;
  BAD_SPLIT(weft_for, (N, range_nothing, NULL))
  BAD_SPLIT(weft_try_for, (N, try_nothing, NULL))
  CALL(weft_for_each, (NULL, N, 4, each_nothing, NULL),
       (numbers, N, 4, each_nothing, NULL))
  CALL(weft_try_for_each, (NULL, N, 4, try_each_nothing, NULL),
       (numbers, N, 4, try_each_nothing, NULL))
  MISUSE("weft_try_for_each: the function is NULL",
         weft_try_for_each(numbers, N, 4, NULL, NULL))
  CALL(weft_chunks, (NULL, N, 4, 1, chunk_nothing, NULL),
       (numbers, N, 4, 1, chunk_nothing, NULL))
  BAD_SPLIT(weft_for_step, (0, N, 1, step_nothing, NULL))
  BAD_SPLIT(weft_for_2d, (N, N, 1, 1, tile_nothing, NULL))
  MISUSE("weft_for: the function is NULL", weft_for(N, NULL, NULL))
  MISUSE("weft_try_for: the function is NULL", weft_try_for(N, NULL, NULL))
  BAD_SPLIT(weft_pipeline, (4, 0, good_stages, 2))
  MISUSE("weft_pipeline: there are no stages", weft_pipeline(4, 0, NULL, 2))
  MISUSE("weft_pipeline: there are no stages", weft_pipeline(4, 0, good_stages, 0))
  MISUSE("weft_pipeline: the function of a stage is NULL",
         weft_pipeline(4, 0, stage_without_function, 2))
  MISUSE("weft_pipeline: a stage has an unknown kind",
         weft_pipeline(4, 0, stage_of_no_kind, 2))
  MISUSE("weft_for_each: the function is NULL", weft_for_each(numbers, N, 4, NULL, NULL))
  MISUSE("weft_chunks: the function is NULL", weft_chunks(numbers, N, 4, 1, NULL, NULL))
  MISUSE("weft_for_step: the function is NULL", weft_for_step(0, N, 1, NULL, NULL))
  MISUSE("weft_for_2d: the function is NULL", weft_for_2d(1, 1, 0, 0, NULL, NULL))
  MISUSE("weft_chunks: the chunk length is 0",
         weft_chunks(numbers, N, 4, 0, chunk_nothing, NULL))
  MISUSE("weft_for_step: the step is 0", weft_for_step(0, N, 0, step_nothing, NULL))
  MISUSE("weft_for: the options are not valid, start from WEFT_OPTS_INIT",
         weft_for_with(&no_struct_size, 0, range_nothing, NULL))
  MISUSE("weft_for: the options are not valid: unknown lane",
         weft_for_with(&unknown_lane, 0, range_nothing, NULL))
  MISUSE("weft_for: the options are not valid: unknown order",
         weft_for_with(&unknown_order, 0, range_nothing, NULL))
  return NULL;
}

static const char *array_misuse(unsigned which, bool commit) {
  unsigned at = 0;
  CALL(weft_map, (NULL, 4, numbers, N, 4, map_nothing, NULL),
       (others, 4, numbers, N, 4, map_nothing, NULL))
  NO_ARRAY(weft_map, (others, 4, NULL, N, 4, map_nothing, NULL))
  CALL(weft_try_map, (NULL, 4, numbers, N, 4, try_map_nothing, NULL),
       (others, 4, numbers, N, 4, try_map_nothing, NULL))
  NO_ARRAY(weft_try_map, (others, 4, NULL, N, 4, try_map_nothing, NULL))
  MISUSE("weft_try_map: the function is NULL",
         weft_try_map(others, 4, numbers, N, 4, NULL, NULL))
  MISUSE("weft_try_map: the element size is 0",
         weft_try_map(others, 0, numbers, N, 4, try_map_nothing, NULL))
  CALL(weft_filter, (NULL, numbers, N, 4, is_seven, NULL),
       (others, numbers, N, 4, is_seven, NULL))
  NO_ARRAY(weft_filter, (others, NULL, N, 4, is_seven, NULL))
  CALL(weft_partition, (NULL, N, 4, is_seven, NULL), (numbers, N, 4, is_seven, NULL))
  CALL(weft_unique, (NULL, N, 4, compare, NULL), (numbers, N, 4, compare, NULL))
  CALL(weft_count, (NULL, N, 4, is_seven, NULL), (numbers, N, 4, is_seven, NULL))
  CALL(weft_histogram, (order, N, NULL, N, 4, key_of, NULL),
       (order, N, numbers, N, 4, key_of, NULL))
  CALL(weft_fill, (NULL, N, 4, others), (numbers, N, 4, others))
  CALL(weft_copy, (NULL, numbers, N, 4), (others, numbers, N, 4))
  NO_ARRAY(weft_copy, (others, NULL, N, 4))
  CALL(weft_reverse, (NULL, N, 4), (numbers, N, 4))
  CALL(weft_rotate, (NULL, N, 4, 1), (numbers, N, 4, 1))
  CALL(weft_gather, (NULL, numbers, order, N, 4), (others, numbers, order, N, 4))
  NO_ARRAY(weft_gather, (others, NULL, order, N, 4))
  CALL(weft_scatter, (NULL, numbers, order, N, 4), (others, numbers, order, N, 4))
  NO_ARRAY(weft_scatter, (others, NULL, order, N, 4))
  MISUSE("weft_map: the function is NULL", weft_map(others, 4, numbers, N, 4, NULL, NULL))
  MISUSE("weft_map: the element size is 0",
         weft_map(others, 4, numbers, N, 0, map_nothing, NULL))
  MISUSE("weft_filter: the function is NULL",
         weft_filter(others, numbers, N, 4, NULL, NULL))
  MISUSE("weft_filter: the element size is 0",
         weft_filter(others, numbers, N, 0, is_seven, NULL))
  MISUSE("weft_partition: the function is NULL",
         weft_partition(numbers, N, 4, NULL, NULL))
  MISUSE("weft_unique: the function is NULL", weft_unique(numbers, N, 4, NULL, NULL))
  MISUSE("weft_count: the function is NULL", weft_count(numbers, N, 4, NULL, NULL))
  MISUSE("weft_histogram: the function is NULL",
         weft_histogram(order, N, numbers, N, 4, NULL, NULL))
  MISUSE("weft_histogram: the counts are NULL",
         weft_histogram(NULL, N, numbers, N, 4, key_of, NULL))
  MISUSE("weft_fill: the value is NULL", weft_fill(numbers, N, 4, NULL))
  MISUSE("weft_rotate: the middle is behind the end", weft_rotate(numbers, N, 4, N + 1))
  MISUSE("weft_gather: the index is NULL", weft_gather(others, numbers, NULL, N, 4))
  MISUSE("weft_scatter: the index is NULL", weft_scatter(others, numbers, NULL, N, 4))
  return NULL;
}

static const char *search_misuse(unsigned which, bool commit) {
  unsigned at = 0;
#define SEARCH(call)                                                                     \
  CALL(call, (NULL, N, 4, is_seven, NULL), (numbers, N, 4, is_seven, NULL))              \
  MISUSE(#call ": the function is NULL", call(numbers, N, 4, NULL, NULL))                \
  MISUSE(#call ": the element size is 0", call(numbers, N, 0, is_seven, NULL))
  SEARCH(weft_find_first)
  SEARCH(weft_find_last)
  SEARCH(weft_find_any)
  SEARCH(weft_any)
  SEARCH(weft_all)
  SEARCH(weft_none)
#undef SEARCH
  CALL(weft_min_index, (NULL, N, 4, compare, NULL), (numbers, N, 4, compare, NULL))
  CALL(weft_max_index, (NULL, N, 4, compare, NULL), (numbers, N, 4, compare, NULL))
  MISUSE("weft_min_index: the function is NULL",
         weft_min_index(numbers, N, 4, NULL, NULL))
  CALL(weft_equal, (NULL, numbers, N, 4), (others, numbers, N, 4))
  NO_ARRAY(weft_equal, (numbers, NULL, N, 4))
  CALL(weft_equal_by, (NULL, numbers, N, 4, compare, NULL),
       (others, numbers, N, 4, compare, NULL))
  NO_ARRAY(weft_equal_by, (numbers, NULL, N, 4, compare, NULL))
  CALL(weft_compare, (NULL, N, numbers, N, 4, compare, NULL),
       (others, N, numbers, N, 4, compare, NULL))
  NO_ARRAY(weft_compare, (numbers, N, NULL, N, 4, compare, NULL))
  return NULL;
}

static const char *sort_misuse(unsigned which, bool commit) {
  unsigned at = 0;
  CALL(weft_sort, (NULL, N, 4, compare, NULL), (numbers, N, 4, compare, NULL))
  CALL(weft_sort_stable, (NULL, N, 4, compare, NULL), (numbers, N, 4, compare, NULL))
  CALL(weft_merge, (NULL, numbers, 2, numbers, 2, 4, compare, NULL),
       (others, numbers, 2, numbers, 2, 4, compare, NULL))
  NO_ARRAY(weft_merge, (others, NULL, 2, numbers, 2, 4, compare, NULL))
  NO_ARRAY(weft_merge, (others, numbers, 2, NULL, 2, 4, compare, NULL))
  CALL(weft_sort_by_key, (NULL, N, 4, others, 4, compare, NULL),
       (numbers, N, 4, others, 4, compare, NULL))
  NO_ARRAY(weft_sort_by_key, (numbers, N, 4, NULL, 4, compare, NULL))
  CALL(weft_argsort, (NULL, numbers, N, 4, compare, NULL),
       (order, numbers, N, 4, compare, NULL))
  NO_ARRAY(weft_argsort, (order, NULL, N, 4, compare, NULL))
  CALL(weft_nth_element, (NULL, N, 4, 1, compare, NULL),
       (numbers, N, 4, 1, compare, NULL))
  CALL(weft_partial_sort, (NULL, N, 4, 1, compare, NULL),
       (numbers, N, 4, 1, compare, NULL))
  CALL(weft_is_sorted, (NULL, N, 4, compare, NULL), (numbers, N, 4, compare, NULL))
  MISUSE("weft_sort: the comparator is NULL", weft_sort(numbers, N, 4, NULL, NULL))
  MISUSE("weft_sort_stable: the size of an element is 0",
         weft_sort_stable(numbers, N, 0, compare, NULL))
  MISUSE("weft_merge: the comparator is NULL",
         weft_merge(others, NULL, 0, numbers, 2, 4, NULL, NULL))
  MISUSE("weft_argsort: the comparator is NULL",
         weft_argsort(order, numbers, N, 4, NULL, NULL))
  return NULL;
}

static const char *reduce_misuse(unsigned which, bool commit) {
  unsigned at = 0;
  int zero = 0, result;
  BAD_SPLIT(weft_reduce, (&result, N, &reducer, NULL))
  CALL(weft_scan, (NULL, numbers, N, 4, &zero, true, add, NULL),
       (others, numbers, N, 4, &zero, true, add, NULL))
  NO_ARRAY(weft_scan, (others, NULL, N, 4, &zero, true, add, NULL))
  MISUSE("weft_reduce: the reducer is NULL", weft_reduce(&result, N, NULL, NULL))
  MISUSE("weft_reduce: the result is NULL", weft_reduce(NULL, N, &reducer, NULL))
  MISUSE("weft_reduce: init is NULL", weft_reduce(&result, N, &no_init, NULL))
  MISUSE("weft_reduce: fold is NULL", weft_reduce(&result, N, &no_fold, NULL))
  MISUSE("weft_reduce: merge is NULL", weft_reduce(&result, N, &no_merge, NULL))
  MISUSE("weft_reduce: the size of the accumulator is 0",
         weft_reduce(&result, N, &no_size, NULL))
  BAD_SPLIT(weft_reduce_local, (&result, N, &reducer, NULL))
  BAD_SPLIT(weft_try_reduce, (&result, N, &try_reducer, NULL))
#define REDUCTION(call, prefix, right)                                                   \
  MISUSE(#call ": the reducer is NULL", call(&result, N, NULL, NULL))                    \
  MISUSE(#call ": the result is NULL", call(NULL, N, &right, NULL))                      \
  MISUSE(#call ": init is NULL", call(&result, N, &prefix##no_init, NULL))               \
  MISUSE(#call ": fold is NULL", call(&result, N, &prefix##no_fold, NULL))               \
  MISUSE(#call ": merge is NULL", call(&result, N, &prefix##no_merge, NULL))             \
  MISUSE(#call ": the size of the accumulator is 0",                                     \
         call(&result, N, &prefix##no_size, NULL))
  REDUCTION(weft_reduce_local, , reducer)
  REDUCTION(weft_try_reduce, try_, try_reducer)
#undef REDUCTION
  MISUSE("weft_try_reduce: the size of the accumulator is too large",
         weft_try_reduce(&result, N, &try_huge, NULL))
  MISUSE("weft_scan: the operation is NULL",
         weft_scan(others, numbers, N, 4, &zero, true, NULL, NULL))
  MISUSE("weft_scan: the identity is NULL",
         weft_scan(others, numbers, N, 4, NULL, true, add, NULL))
  MISUSE("weft_scan: the size of an element is 0",
         weft_scan(others, numbers, N, 0, &zero, true, add, NULL))
  return NULL;
}

static const char *kernel_misuse(unsigned which, bool commit) {
  unsigned at = 0;
  CALL(kernel_map, (NULL, numbers, N, NULL), (others, numbers, N, NULL))
  NO_ARRAY(kernel_map, (others, NULL, N, NULL))
  CALL(kernel_filter, (NULL, numbers, N, NULL), (others, numbers, N, NULL))
  NO_ARRAY(kernel_filter, (others, NULL, N, NULL))
  CALL(kernel_find, (NULL, N, NULL), (numbers, N, NULL))
  CALL(kernel_count, (NULL, N, NULL), (numbers, N, NULL))
  CALL(kernel_fold, (NULL, N, NULL), (numbers, N, NULL))
  CALL(kernel_sort, (NULL, N, NULL), (numbers, N, NULL))
  CALL(kernel_sort_stable, (NULL, N, NULL), (numbers, N, NULL))
  return NULL;
}

/* Of each of the six types: weft_NAME_type. */
#define TYPED_MISUSE(type, T)                                                            \
  static const char *type##_misuse(unsigned which, bool commit) {                        \
    unsigned at = 0;                                                                     \
    static T some[N], more[N];                                                           \
    CALL(weft_sum_##type, (NULL, N), (some, N))                                          \
    CALL(weft_product_##type, (NULL, N), (some, N))                                      \
    CALL(weft_dot_##type, (NULL, some, N), (some, more, N))                              \
    NO_ARRAY(weft_dot_##type, (some, NULL, N))                                           \
    CALL(weft_min_##type, (NULL, N), (some, N))                                          \
    CALL(weft_max_##type, (NULL, N), (some, N))                                          \
    CALL(weft_min_index_##type, (NULL, N), (some, N))                                    \
    CALL(weft_max_index_##type, (NULL, N), (some, N))                                    \
    CALL(weft_mean_##type, (NULL, N), (some, N))                                         \
    CALL(weft_variance_##type, (NULL, N), (some, N))                                     \
    CALL(weft_scan_##type, (NULL, some, N), (more, some, N))                             \
    NO_ARRAY(weft_scan_##type, (some, NULL, N))                                          \
    CALL(weft_scan_exclusive_##type, (NULL, some, N), (more, some, N))                   \
    NO_ARRAY(weft_scan_exclusive_##type, (some, NULL, N))                                \
    CALL(weft_fill_##type, (NULL, N, 0), (some, N, 0))                                   \
    CALL(weft_sort_##type, (NULL, N), (some, N))                                         \
    CALL(weft_sort_by_key_##type, (NULL, N, numbers, 4), (some, N, numbers, 4))          \
    NO_ARRAY(weft_sort_by_key_##type, (some, N, NULL, 4))                                \
    CALL(weft_argsort_##type, (NULL, some, N), (order, some, N))                         \
    NO_ARRAY(weft_argsort_##type, (order, NULL, N))                                      \
    CALL(weft_nth_element_##type, (NULL, N, 1), (some, N, 1))                            \
    CALL(weft_partial_sort_##type, (NULL, N, 1), (some, N, 1))                           \
    CALL(weft_is_sorted_##type, (NULL, N), (some, N))                                    \
    return NULL;                                                                         \
  }
TYPED_MISUSE(i32, int32_t)
TYPED_MISUSE(u32, uint32_t)
TYPED_MISUSE(i64, int64_t)
TYPED_MISUSE(u64, uint64_t)
TYPED_MISUSE(f32, float)
TYPED_MISUSE(f64, double)

/* ---- committing them ---- */

/* In a child, whose last words go through the pipe. All of these are noticed before a
 * pool is started, which not every tool allows a child to do. */
static void check_misuse(misuse_list *list, unsigned which, const char *message) {
  char output[4096];
  int ends[2], status = 0;
  size_t length = 0;
  REQUIRE(pipe(ends) == 0);
  fflush(NULL);
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    signal(SIGABRT, SIG_DFL);
    list(which, true);
    _exit(0);
  }
  close(ends[1]);
  for (ssize_t got = 1; got > 0 && length < sizeof output - 1; length += (size_t)got) {
    got = read(ends[0], output + length, sizeof output - 1 - length);
    if (got < 0) break;
  }
  output[length] = '\0';
  close(ends[0]);
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK_MSG(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "%s: status %x", message,
            (unsigned)status);
  CHECK_MSG(strstr(output, message) != NULL, "%s: it said: %s", message, output);
}

static void check_list(misuse_list *list) {
  weft_opts *bad[] = {&unknown_split, &no_struct_size, &unknown_lane, &unknown_order};
  for (unsigned i = 0; i < 4; i++) *bad[i] = (weft_opts)WEFT_OPTS_INIT;
  unknown_split.split = (weft_split)(WEFT_SPLIT_HOME + 1);
  no_struct_size.struct_size = 0;
  unknown_lane.lane = (weft_lane)7;
  unknown_order.order = (weft_order)-1;
  unsigned which = 0;
  for (const char *message; (message = list(which, false)) != NULL; which++)
    check_misuse(list, which, message);
  CHECK(which > 0);
}

TEST(sizes_that_cannot_be_are_named) {
  check_list(large_misuse);
}

TEST(misused_loops_are_named) {
  check_list(loop_misuse);
}

TEST(misused_array_calls_are_named) {
  check_list(array_misuse);
}

TEST(misused_searches_are_named) {
  check_list(search_misuse);
}

TEST(misused_sorts_are_named) {
  check_list(sort_misuse);
}

TEST(misused_reductions_are_named) {
  check_list(reduce_misuse);
}

TEST(misused_kernels_are_named) {
  check_list(kernel_misuse);
}

TEST(misused_typed_calls_are_named) {
  check_list(i32_misuse);
  check_list(u32_misuse);
  check_list(i64_misuse);
  check_list(u64_misuse);
  check_list(f32_misuse);
  check_list(f64_misuse);
}

/* A misuse that is noticed while threads work: in a program of its own, because
 * ThreadSanitizer cannot start threads in the child of a fork. */
TEST_BY_NAME(end_from_the_second_stage) {
  weft_pipeline(4, 0, stage_that_ends, 2);
}

TEST(misuse_at_work_is_named) {
  static char output[65536];
  int status = harness_run_self(NULL, "end_from_the_second_stage", output, sizeof output);
  CHECK_EQ(status, 128 + SIGABRT);
  CHECK_MSG(strstr(output, "weft: weft_pipeline: WEFT_END came from a stage that is not "
                           "the first") != NULL,
            "it said: %s", output);
}

/* No elements are no misuse, whatever the pointers are. */
TEST(nothing_is_no_misuse) {
  int zero = 0;
  weft_map(NULL, 4, NULL, 0, 4, map_nothing, NULL);
  CHECK_EQ(weft_filter(NULL, NULL, 0, 4, is_seven, NULL), 0);
  CHECK_EQ(weft_find_first(NULL, 0, 4, is_seven, NULL), SIZE_MAX);
  CHECK_EQ(weft_compare(NULL, 0, numbers, N, 4, compare, NULL), -1);
  weft_merge(others, NULL, 0, numbers, 2, 4, compare, NULL);
  weft_merge(others, numbers, 2, NULL, 0, 4, compare, NULL);
  weft_merge(NULL, NULL, 0, NULL, 0, 4, compare, NULL);
  weft_sort_by_key(numbers, N, 4, NULL, 0, compare, NULL);
  weft_scan(NULL, NULL, 0, 4, &zero, true, add, NULL);
  CHECK_EQ(weft_sum_i32(NULL, 0), 0);
  weft_sort_f64(NULL, 0);
  kernel_sort(NULL, 0, NULL);
  CHECK_EQ(kernel_fold(NULL, 0, NULL), 0);
  weft_shutdown();
}
