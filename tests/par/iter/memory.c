/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc */
/* link: -Wl,--wrap=free */
/* Iterators when memory runs out: the same results from less of it. Only weft_iter_append
 * may fail, and leaves its buffer as it was then.
 *
 * SPDX-License-Identifier: MIT */
#include "par/array/support.h"
#include "par/iter/sinks.h"
#include "par/refusal.h"

/* The checks of par/iter/sinks.h allocate memory themselves; so here each case has its
 * memory before the refusals begin. */
typedef struct refused_case {
  const weft_iter *it;
  const model *m;
  source_data *data;
  int64_t *got, *more;
} refused_case;

static bool same(const refused_case *r, const int64_t *got, size_t n) {
  return n == r->m->n && (n == 0 || memcmp(got, r->m->a, n * sizeof *got) == 0);
}

static void collect_refused(void *ctx) {
  refused_case *r = ctx;
  atomic_store(&r->data->pulled, 0);
  size_t n = weft_iter_collect(r->it, r->got, r->m->n, sizeof *r->got);
  CHECK(same(r, r->got, n));
}

static void append_refused(void *ctx) {
  refused_case *r = ctx;
  weft_buffer b = {NULL, 0, 0};
  atomic_store(&r->data->pulled, 0);
  int status = weft_iter_append(r->it, &b, sizeof(int64_t));
  CHECK(status == 0 || status == WEFT_ENOMEM);
  if (status == 0) CHECK(same(r, b.data, b.count));
  if (status != 0) CHECK_EQ(b.count, 0);
  free(b.data);
}

static void partition_refused(void *ctx) {
  refused_case *r = ctx;
  uint64_t salt = 9;
  size_t yes = 0, no = 0, wrong = 0;
  atomic_store(&r->data->pulled, 0);
  weft_counts n =
      weft_iter_partition(r->it, r->got, r->more, r->m->n, sizeof *r->got, keep, &salt);
  for (size_t i = 0; i < r->m->n; i++) {
    bool is_yes = keep(&r->m->a[i], &salt);
    wrong += (is_yes ? r->got[yes++] : r->more[no++]) != r->m->a[i];
  }
  CHECK(n.yes == yes && n.no == no && wrong == 0);
}

static void fold_refused(void *ctx) {
  refused_case *r = ctx;
  text_hash expected, got;
  atomic_store(&r->data->pulled, 0);
  hash_init(&expected, NULL);
  hash_fold(&expected, r->m->a, r->m->n, NULL);
  weft_iter_fold(r->it, &got, &HASH, NULL);
  CHECK(got.hash == expected.hash && got.count == r->m->n);
}

static void find_refused(void *ctx) {
  refused_case *r = ctx;
  int64_t got = 7;
  atomic_store(&r->data->pulled, 0);
  bool found = weft_iter_find_last(r->it, &got, sizeof got, NULL, NULL);
  CHECK(found == (r->m->n > 0) && (!found || got == r->m->a[r->m->n - 1]));
}

static void refuse_all(const weft_iter *it, const model *m, source_data *d) {
  refused_case r = {it, m, d, array_of(m->n, 8), array_of(m->n, 8)};
  with_refusals(collect_refused, &r);
  with_refusals(append_refused, &r);
  with_refusals(partition_refused, &r);
  with_refusals(fold_refused, &r);
  with_refusals(find_refused, &r);
  free(r.got);
  free(r.more);
}

TEST_LIMIT(every_stage_without_memory, 180) {
  uint64_t random = harness_seed(), salt = 3;
  source_kind sources[] = {FROM_SLICE,  FROM_FUNCTION, FROM_SPLIT,
                           FROM_LEAVES, FROM_LINES,    FROM_PULL};
  open_pools();
  for (unsigned s = 0; s < 6; s++)
    for (int stage = 0; stage < ONE_SIDED; stage++) {
      source_data *d = source_new(20000 / harness_slowdown(), &random);
      model m;
      weft_iter it = build_source(sources[s], d, &m);
      salt++;
      if (stage_fits((stage_kind)stage, &m, NULL)) {
        weft_opts opts = opts_in(1 + (unsigned)stage % 3);
        add_stage((stage_kind)stage, &it, &m, &salt);
        weft_iter_options(&it, &opts);
        refuse_all(&it, &m, d);
      }
      model_free(&m);
      source_free(d);
    }
  close_pools();
}

/* ---- large elements ---- */

typedef struct large {
  int64_t value;
  char rest[30000];
} large;

static void enlarge(void *out, const void *in, void *ctx) {
  large *to = out;
  (void)ctx;
  memset(to, 7, sizeof *to);
  to->value = load(in);
}

static bool is_odd_large(const void *elem, void *ctx) {
  (void)ctx;
  return ((const large *)elem)->value % 2 != 0;
}

static void narrow_large(void *out, const void *in, void *ctx) {
  (void)ctx;
  store_at(out, ((const large *)in)->value);
}

static void large_refused(void *ctx) {
  const weft_opts *opts = ctx;
  int64_t sum = 0;
  weft_iter it = weft_iter_range(0, 200);
  weft_iter_map(&it, sizeof(large), enlarge, NULL);
  weft_iter_filter(&it, is_odd_large, NULL);
  weft_iter_map(&it, sizeof(int64_t), narrow_large, NULL);
  weft_iter_options(&it, opts);
  sum = weft_iter_sum_i64(&it);
  CHECK_EQ(sum, 10000);
}

TEST(elements_larger_than_the_stack_has) {
  open_pools();
  FOR_POOLS(opts) with_refusals(large_refused, &opts);
  close_pools();
}

/* ---- large chunks ---- */

static void same_value(void *out, const void *in, void *ctx) {
  (void)ctx;
  store_at(out, load(in));
}

static void chunk_sum(void *out, const void *in, void *ctx) {
  const weft_chunk *c = in;
  int64_t sum = 0;
  (void)ctx;
  for (size_t i = 0; i < c->count; i++) sum += ((const int64_t *)c->data)[i];
  store_at(out, sum);
}

static void chunk_refused(void *ctx) {
  weft_iter it = weft_iter_range(0, 100000);
  weft_iter_map(&it, sizeof(int64_t), same_value, NULL);
  weft_iter_chunk(&it, 30000);
  weft_iter_map(&it, sizeof(int64_t), chunk_sum, NULL);
  weft_iter_options(&it, ctx);
  CHECK_EQ(weft_iter_sum_i64(&it), 100000ll * 99999 / 2);
}

TEST(chunks_larger_than_the_stack_has) {
  open_pools();
  FOR_POOLS(opts) with_refusals(chunk_refused, &opts);
  close_pools();
}
