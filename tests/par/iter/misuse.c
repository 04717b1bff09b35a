/* Misuse of iterators: each ends with a sentence that names the call, before anything is
 * corrupted. The handler leaves by longjmp, as it may, so one program sees them all.
 *
 * SPDX-License-Identifier: MIT */
#include "par/iter/support.h"

#include <setjmp.h>

static jmp_buf after_message;
static char message[256];

static void keep_message(const char *text, void *ctx) {
  (void)ctx;
  strncpy(message, text, sizeof message - 1);
  longjmp(after_message, 1);
}

/* The call must end with a message that starts with its name and contains the words. */
#define REFUSED(name, words, call)                                                       \
  do {                                                                                   \
    message[0] = 0;                                                                      \
    weft_set_fatal_handler(keep_message, NULL);                                          \
    if (setjmp(after_message) == 0) {                                                    \
      call;                                                                              \
      CHECK_MSG(false, "%s was not refused", #call);                                     \
    }                                                                                    \
    weft_set_fatal_handler(NULL, NULL);                                                  \
    CHECK_MSG(strncmp(message, name ":", strlen(name) + 1) == 0, "%s", message);         \
    CHECK_MSG(strstr(message, words) != NULL, "%s", message);                            \
  } while (0)

static int64_t numbers[100];
static uint64_t salt = 1;

static weft_iter known(void) {
  return weft_iter_slice(numbers, 100, sizeof numbers[0]);
}

/* Each way to lose the length. */
enum { WAYS = 9 };

static bool no_split(void *piece, void *right, void *ctx) {
  (void)piece, (void)right, (void)ctx;
  return false;
}

static weft_iter unknown(unsigned way) {
  weft_iter it = known();
  switch (way) {
  case 0:
    weft_iter_filter(&it, keep, &salt);
    break;
  case 1:
    weft_iter_filter_map(&it, 8, keep_value, &salt);
    break;
  case 2:
    weft_iter_flat_map(&it, 8, emit_some, &salt);
    break;
  case 3:
    weft_iter_take_while(&it, before_end, &salt);
    break;
  case 4:
    weft_iter_apply(&it, &kernel_filter, &salt);
    break;
  case 5:
    weft_iter_apply(&it, &kernel_flat_map, &salt);
    break;
  case 6:
    it = weft_iter_lines("a\nb", 3);
    weft_iter_map(&it, 8, line_to_value, NULL);
    break;
  case 7:
    it = weft_iter_split(numbers, 8, no_split, NULL);
    break;
  default:
    it = weft_iter_pull(8, pull_some, NULL);
    break;
  }
  return it;
}

static unsigned way_now; /* static: not clobbered by longjmp */

static void check_way(unsigned way, const char *words) {
  weft_iter it;
  REFUSED("weft_iter_enumerate", words,
          (it = unknown(way), weft_iter_enumerate(&it, 16, 8)));
  REFUSED("weft_iter_step", words, (it = unknown(way), weft_iter_step(&it, 2)));
  REFUSED("weft_iter_skip", words, (it = unknown(way), weft_iter_skip(&it, 2)));
  REFUSED("weft_iter_take", words, (it = unknown(way), weft_iter_take(&it, 2)));
  REFUSED("weft_iter_reverse", words, (it = unknown(way), weft_iter_reverse(&it)));
  REFUSED("weft_iter_chunk", words, (it = unknown(way), weft_iter_chunk(&it, 2)));
  REFUSED("weft_iter_position", words,
          (it = unknown(way), weft_iter_position(&it, keep, &salt)));
  /* And behind a map, which keeps it lost. */
  REFUSED("weft_iter_reverse", "length is not known",
          (it = unknown(way), weft_iter_map(&it, 8, map_value, &salt),
           weft_iter_reverse(&it)));
}

/* The same for those that have another side. */
static void check_way_of_two(unsigned way, const char *words) {
  weft_iter it, right = known();
  REFUSED("weft_iter_zip", words, (it = unknown(way), weft_iter_zip(&it, &right, 16, 8)));
  REFUSED("weft_iter_zip", words, (it = unknown(way), weft_iter_zip(&right, &it, 16, 8)));
  right = known();
  REFUSED("weft_iter_zip_map", words,
          (it = unknown(way), weft_iter_zip_map(&it, &right, 8, join_values, &salt)));
  REFUSED("weft_iter_zip_apply", words,
          (it = unknown(way), weft_iter_zip_apply(&it, &right, &kernel_zip, &salt)));
  REFUSED("weft_iter_interleave", words,
          (it = unknown(way), weft_iter_interleave(&it, &right)));
}

TEST(stages_that_need_the_length) {
  for (way_now = 0; way_now < WAYS; way_now++) {
    check_way(way_now, "length is not known");
    check_way_of_two(way_now,
                     way_now == WAYS - 1 ? "pull source" : "length is not known");
  }
}

TEST(a_pull_has_no_other_side) {
  weft_iter pull = unknown(WAYS - 1), it = known();
  REFUSED("weft_iter_chain", "pull source", weft_iter_chain(&it, &pull));
  it = known();
  REFUSED("weft_iter_chain", "pull source", weft_iter_chain(&pull, &it));
}

/* ---- sizes ---- */

WEFT_KERNEL_MAP(of_ints, int32_t, int32_t, x + 1)
WEFT_KERNEL_ZIP(of_int_and_long, int32_t, int64_t, int64_t, x + y)

static void emit_wrong(const void *in, weft_out *out, void *ctx) {
  (void)in, (void)ctx;
  int32_t x = 0;
  weft_emit(out, &x, sizeof x);
}

static void init_nothing(void *acc, void *ctx) {
  (void)acc, (void)ctx;
}

static void fold_nothing(void *acc, const void *elems, size_t n, void *ctx) {
  (void)acc, (void)elems, (void)n, (void)ctx;
}

static const weft_folder folder = {8, 4, init_nothing, fold_nothing, map_value};

TEST(sizes_that_do_not_match) {
  weft_iter it = known(), right = known();
  int32_t small = 0;
  weft_buffer buffer = {NULL, 0, 0};
  weft_buffer broken = {NULL, 2, 1};
  REFUSED("weft_iter_apply", "another size", weft_iter_apply(&it, &of_ints, NULL));
  it = known();
  REFUSED("weft_iter_zip_apply", "other sizes",
          weft_iter_zip_apply(&it, &right, &of_int_and_long, NULL));
  it = known();
  REFUSED("weft_iter_zip", "do not fit", weft_iter_zip(&it, &right, 16, 4));
  it = known();
  REFUSED("weft_iter_zip", "do not fit", weft_iter_zip(&it, &right, 15, 8));
  it = known();
  REFUSED("weft_iter_enumerate", "do not fit", weft_iter_enumerate(&it, 16, 9));
  it = known();
  REFUSED("weft_iter_enumerate", "do not fit",
          weft_iter_enumerate(&it, 16, sizeof(size_t) / 2));
  it = known();
  right = weft_iter_slice(numbers, 200, sizeof small);
  REFUSED("weft_iter_chain", "different sizes", weft_iter_chain(&it, &right));
  it = known();
  REFUSED("weft_iter_interleave", "different sizes", weft_iter_interleave(&it, &right));
  it = known();
  REFUSED("weft_iter_sum_i32", "not that of", weft_iter_sum_i32(&it));
  REFUSED("weft_iter_min_f32", "not that of", weft_iter_min_f32(&it));
  REFUSED("weft_iter_sum_f64", "not that of", weft_iter_sum_f64(&right));
  REFUSED("weft_iter_collect", "not that of", weft_iter_collect(&it, numbers, 1, 4));
  REFUSED("weft_iter_append", "not that of", weft_iter_append(&it, &buffer, 4));
  REFUSED("weft_iter_append", "capacity", weft_iter_append(&it, &broken, 8));
  REFUSED("weft_iter_find_first", "not that of",
          weft_iter_find_first(&it, &small, sizeof small, NULL, NULL));
  REFUSED("weft_iter_reduce", "not that of",
          weft_iter_reduce(&it, &small, 4, &small, map_value, NULL));
  REFUSED("weft_iter_fold", "not that of", weft_iter_fold(&it, &small, &folder, NULL));
  REFUSED("weft_iter_unzip", "not inside",
          weft_iter_unzip(&it, numbers, numbers, 1, 4, 4, 6));
}

/* Found out when it runs, in the middle of a pool's work: in a program of its own. */
TEST(a_flat_map_of_other_sizes) {
  char output[512];
  int code = harness_run_self(NULL, "misuse_emit", output, sizeof output);
  CHECK(code > 128);
  CHECK(strstr(output, "weft_emit: the size") != NULL);
}

TEST_BY_NAME(misuse_emit) {
  weft_iter it = known();
  weft_iter_flat_map(&it, 8, emit_wrong, NULL);
  weft_iter_sum_i64(&it);
}

/* ---- functions and arguments ---- */

TEST(null_functions) {
  weft_iter it = known(), right = known();
  weft_folder none = {8, 8, NULL, NULL, NULL};
  REFUSED("weft_iter_map", "NULL", weft_iter_map(&it, 8, NULL, NULL));
  REFUSED("weft_iter_map", "size is 0", weft_iter_map(&it, 0, map_value, NULL));
  REFUSED("weft_iter_inspect", "NULL", weft_iter_inspect(&it, NULL, NULL));
  REFUSED("weft_iter_filter", "NULL", weft_iter_filter(&it, NULL, NULL));
  REFUSED("weft_iter_filter_map", "NULL", weft_iter_filter_map(&it, 8, NULL, NULL));
  REFUSED("weft_iter_flat_map", "NULL", weft_iter_flat_map(&it, 8, NULL, NULL));
  REFUSED("weft_iter_take_while", "NULL", weft_iter_take_while(&it, NULL, NULL));
  REFUSED("weft_iter_zip_map", "NULL", weft_iter_zip_map(&it, &right, 8, NULL, NULL));
  REFUSED("weft_iter_apply", "NULL", weft_iter_apply(&it, NULL, NULL));
  REFUSED("weft_iter_zip_apply", "NULL", weft_iter_zip_apply(&it, &right, NULL, NULL));
  REFUSED("weft_iter_apply", "zip_apply", weft_iter_apply(&it, &kernel_zip, NULL));
  REFUSED("weft_iter_zip_apply", "not one of two",
          weft_iter_zip_apply(&it, &right, &kernel_map, NULL));
  REFUSED("weft_iter_pull", "NULL", weft_iter_pull(8, NULL, NULL));
  REFUSED("weft_iter_from", "function is NULL", weft_iter_from(5, 8, NULL, NULL));
  REFUSED("weft_iter_from", "size is 0", weft_iter_from(5, 0, fill_elements, NULL));
  REFUSED("weft_iter_slice", "larger than memory",
          weft_iter_slice(numbers, SIZE_MAX / 8 + 2, 8));
  REFUSED("weft_iter_refs", "larger than memory", weft_iter_refs(numbers, SIZE_MAX, 8));
  REFUSED("weft_iter_chunks", "larger than memory",
          weft_iter_chunks(numbers, SIZE_MAX / 2, 8, 3));
  REFUSED("weft_iter_windows", "larger than memory",
          weft_iter_windows(numbers, SIZE_MAX / 2, 8, 3));
  REFUSED("weft_iter_split", "function is NULL", weft_iter_split(numbers, 8, NULL, NULL));
  REFUSED("weft_iter_split", "piece is NULL", weft_iter_split(NULL, 8, no_split, NULL));
  REFUSED("weft_iter_split", "is 0", weft_iter_split(numbers, 0, no_split, NULL));
  REFUSED("weft_iter_for_each", "NULL", weft_iter_for_each(&it, NULL, NULL));
  REFUSED("weft_iter_each_batch", "NULL", weft_iter_each_batch(&it, NULL, NULL));
  REFUSED("weft_iter_any", "NULL", weft_iter_any(&it, NULL, NULL));
  REFUSED("weft_iter_position", "NULL", weft_iter_position(&it, NULL, NULL));
  REFUSED("weft_iter_min_by", "NULL", weft_iter_min_by(&it, NULL, 8, NULL, NULL));
  REFUSED("weft_iter_fold", "NULL", weft_iter_fold(&it, numbers, NULL, NULL));
  REFUSED("weft_iter_fold", "NULL", weft_iter_fold(&it, numbers, &none, NULL));
  REFUSED("weft_iter_reduce", "NULL",
          weft_iter_reduce(&it, numbers, 8, numbers, NULL, NULL));
  REFUSED("weft_iter_sort", "NULL", weft_iter_sort(&it, numbers, 1, 8, NULL, NULL));
  REFUSED("weft_iter_partition", "NULL",
          weft_iter_partition(&it, numbers, numbers, 1, 8, NULL, NULL));
  REFUSED("weft_iter_collect", "NULL", weft_iter_collect(&it, NULL, 1, 8));
}

TEST(bad_arguments) {
  weft_iter it = known(), empty = {0};
  weft_opts bad = WEFT_OPTS_INIT;
  bad.struct_size = 0;
  REFUSED("weft_iter_slice", "NULL", weft_iter_slice(NULL, 1, 8));
  REFUSED("weft_iter_slice", "size is 0", weft_iter_slice(numbers, 1, 0));
  REFUSED("weft_iter_lines", "NULL", weft_iter_lines(NULL, 1));
  REFUSED("weft_iter_repeat", "NULL", weft_iter_repeat(NULL, 1, 8));
  REFUSED("weft_iter_range_step", "step is 0", weft_iter_range_step(0, 1, 0));
  REFUSED("weft_iter_chunks", "length is 0", weft_iter_chunks(numbers, 1, 8, 0));
  REFUSED("weft_iter_windows", "length is 0", weft_iter_windows(numbers, 1, 8, 0));
  REFUSED("weft_iter_tiles", "more tiles", weft_iter_tiles(SIZE_MAX, SIZE_MAX, 1, 1));
  REFUSED("weft_iter_step", "step is 0", weft_iter_step(&it, 0));
  REFUSED("weft_iter_chunk", "length is 0", weft_iter_chunk(&it, 0));
  REFUSED("weft_iter_map", "no source", weft_iter_map(&empty, 8, map_value, NULL));
  REFUSED("weft_iter_count", "no source", weft_iter_count(&empty));
  REFUSED("weft_iter_count", "NULL", weft_iter_count(NULL));
  REFUSED("weft_iter_skip", "NULL", weft_iter_skip(NULL, 1));
  REFUSED("weft_iter_options", "not valid", weft_iter_options(&it, &bad));
  REFUSED("weft_iter_reduce", "where the result goes",
          weft_iter_reduce(&it, numbers, 8, numbers, map_value, NULL));
  weft_iter_map(&it, 8, map_value, &salt);
  weft_iter_chunk(&it, 3);
  REFUSED("weft_iter_chunk", "chunks of chunks", weft_iter_chunk(&it, 2));
}

/* ---- into what is read ---- */

static int compare_none(const void *a, const void *b, void *ctx) {
  (void)a, (void)b, (void)ctx;
  return 0;
}

/* Ways to read `numbers`: arrays, parts of them, texts, values. */
enum { READERS = 6 };

static weft_iter reader(unsigned way) {
  weft_iter it = known();
  if (way == 1) it = weft_iter_refs(numbers, 100, sizeof numbers[0]);
  if (way == 2) it = weft_iter_chunks(numbers, 100, sizeof numbers[0], 7);
  if (way == 3) it = weft_iter_windows(numbers, 100, sizeof numbers[0], 7);
  if (way == 4) it = weft_iter_lines((const char *)numbers, sizeof numbers);
  if (way == 5) it = weft_iter_repeat(&numbers[50], 100, sizeof numbers[0]);
  weft_iter_map(&it, sizeof(int64_t), map_value, &salt);
  return it;
}

TEST(into_what_is_read) {
  static int64_t free_array[200];
  const char *words = "one that the iterator reads";
  for (way_now = 0; way_now < READERS; way_now++) {
    weft_iter it = reader(way_now), right = weft_iter_range(0, 1000);
    weft_buffer own = {numbers, 10, 100};
    REFUSED("weft_iter_collect", words, weft_iter_collect(&it, numbers, 100, 8));
    REFUSED("weft_iter_collect", words, weft_iter_collect(&it, &numbers[50], 50, 8));
    REFUSED("weft_iter_scan", words,
            weft_iter_scan(&it, numbers, 100, 8, &salt, true, map_value, NULL));
    REFUSED("weft_iter_sort", words,
            weft_iter_sort(&it, numbers, 100, 8, compare_none, NULL));
    REFUSED("weft_iter_partition", words,
            weft_iter_partition(&it, free_array, numbers, 100, 8, keep, &salt));
    REFUSED("weft_iter_unzip", words,
            weft_iter_unzip(&it, free_array, &numbers[25], 200, 4, 4, 4));
    REFUSED("weft_iter_append", words, weft_iter_append(&it, &own, 8));
    /* Also if it is on the other side. */
    weft_iter_chain(&right, &it);
    REFUSED("weft_iter_collect", words, weft_iter_collect(&right, numbers, 100, 8));
  }
}

/* Next to it, or without room, is fine; so is what filters leave in front of it. */
TEST(next_to_what_is_read) {
  static int64_t arena[300];
  for (int64_t i = 0; i < 300; i++) arena[i] = i;
  weft_iter it = weft_iter_slice(&arena[100], 100, sizeof arena[0]);
  CHECK_EQ(weft_iter_collect(&it, &arena[200], 1000, 8), 100);
  CHECK(arena[199] == 199 && arena[200] == 100 && arena[299] == 199);
  weft_iter_filter(&it, keep, &salt);
  CHECK_EQ(weft_iter_collect(&it, &arena[100], 0, 8), weft_iter_count(&it));
  size_t n = weft_iter_collect(&it, arena, SIZE_MAX, 8);
  CHECK(n == weft_iter_count(&it) && n <= 100 && arena[100] == 100);
  weft_iter nothing = weft_iter_slice(arena, 0, sizeof arena[0]);
  CHECK_EQ(weft_iter_collect(&nothing, arena, 300, 8), 0);
}

TEST(too_many_stages) {
  weft_iter it = known(), right = known();
  for (int i = 0; i < 15; i++) weft_iter_inspect(&it, count_look, NULL);
  CHECK_EQ(weft_iter_count(&it), 100);
  REFUSED("weft_iter_inspect", "too many stages",
          weft_iter_inspect(&it, count_look, NULL));
  CHECK_EQ(weft_iter_count(&it), 100); /* as it was */
  it = known();
  for (int i = 0; i < 13; i++) weft_iter_inspect(&it, count_look, NULL);
  weft_iter full = it;
  weft_iter_chain(&full, &right);
  CHECK_EQ(weft_iter_count(&full), 200);
  weft_iter_skip(&it, 1);
  REFUSED("weft_iter_chain", "too many stages", weft_iter_chain(&it, &right));
  CHECK_EQ(weft_iter_count(&it), 99);
}

/* ---- other versions ---- */

/* What programs have compiled in may not change (weft/detail/iter.h). */
_Static_assert(sizeof(weft_iter) == 1536, "the size of an iterator is part of the ABI");
_Static_assert(sizeof(void *) != 8 || offsetof(wf_out, counted) == 40,
               "weft_emit is compiled into programs");

/* Iterators of another layout: of an older library, of a newer one, and no iterator. */
TEST(iterators_of_other_versions) {
  static const uint32_t layouts[] = {WF_ITER_LAYOUT - 1, WF_ITER_LAYOUT + 1, 0, 77};
  int64_t got = 0;
  for (way_now = 0; way_now < 4; way_now++) {
    const char *words = way_now < 2 ? "another version of weft" : "no source";
    weft_iter it = known(), right = known();
    weft_opts opts = WEFT_OPTS_INIT;
    it.layout = layouts[way_now];
    REFUSED("weft_iter_map", words, weft_iter_map(&it, 8, map_value, &salt));
    REFUSED("weft_iter_filter", words, weft_iter_filter(&it, keep, &salt));
    REFUSED("weft_iter_apply", words, weft_iter_apply(&it, &kernel_map, &salt));
    REFUSED("weft_iter_take", words, weft_iter_take(&it, 1));
    REFUSED("weft_iter_chunk", words, weft_iter_chunk(&it, 2));
    REFUSED("weft_iter_zip", words, weft_iter_zip(&it, &right, 16, 8));
    REFUSED("weft_iter_zip", words, weft_iter_zip(&right, &it, 16, 8));
    REFUSED("weft_iter_chain", words, weft_iter_chain(&right, &it));
    REFUSED("weft_iter_pool", words, weft_iter_pool(&it, NULL));
    REFUSED("weft_iter_options", words, weft_iter_options(&it, &opts));
    REFUSED("weft_iter_len", words, weft_iter_len(&it));
    REFUSED("weft_iter_size", words, weft_iter_size(&it));
    REFUSED("weft_iter_count", words, weft_iter_count(&it));
    REFUSED("weft_iter_sum_i64", words, weft_iter_sum_i64(&it));
    REFUSED("weft_iter_sum_f64", words, weft_iter_sum_f64(&it));
    REFUSED("weft_iter_min_by", words,
            weft_iter_min_by(&it, &got, 8, compare_none, NULL));
    REFUSED("weft_iter_find_first", words,
            weft_iter_find_first(&it, &got, 8, keep, &salt));
    REFUSED("weft_iter_collect", words, weft_iter_collect(&it, &got, 1, 8));
    REFUSED("weft_iter_for_each", words, weft_iter_for_each(&it, count_look, NULL));
    CHECK_EQ(weft_iter_count(&right), 100); /* as it was */
    /* More stages than there are. */
    it = known();
    it.count = WF_ITER_STAGES + 1;
    REFUSED("weft_iter_count", "no source", weft_iter_count(&it));
  }
}

/* A kernel stage of a header that knew fewer members. */
TEST(kernels_of_other_versions) {
  weft_iter it = known(), right = known();
  weft_iter_kernel older = kernel_map, older_zip = kernel_zip, newer = kernel_map;
  older.struct_size = older_zip.struct_size = offsetof(weft_iter_kernel, wide);
  REFUSED("weft_iter_apply", "WEFT_KERNEL_", weft_iter_apply(&it, &older, &salt));
  REFUSED("weft_iter_zip_apply", "WEFT_KERNEL_",
          weft_iter_zip_apply(&it, &right, &older_zip, &salt));
  newer.struct_size += sizeof(void *); /* members that this library does not know */
  weft_iter_apply(&it, &newer, &salt);
  CHECK_EQ(weft_iter_count(&it), 100);
  /* A kernel stage that cannot add up: the library does. */
  weft_iter whole = known();
  older.struct_size = offsetof(weft_iter_kernel, number);
  weft_iter_apply(&whole, &older, &salt);
  CHECK_EQ(weft_iter_sum_i64(&whole), weft_iter_sum_i64(&it));
}
