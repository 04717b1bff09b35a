/* sort_record/sort_record.h - P9: sorting 2 M records of 32 bytes by their first 8.
 *
 *     random    keys spread over the whole range
 *     sorted    keys that ascend already
 *     reversed  the same, descending
 *     few       16 different keys, at random
 *
 * Before each sort the array is filled again from a copy of the input. After each the
 * keys must ascend, each record must be whole and each be there once; after a stable sort
 * equal keys must be in the order of the input. None of that is timed.
 *
 * The Rust twin is rayon.rs.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_SORT_RECORD_SORT_RECORD_H
#define BENCH_SORT_RECORD_SORT_RECORD_H

#include "../common/bench.h"

enum { SORT_RECORD_N = 2000000 };

typedef struct record {
  uint64_t key;
  uint64_t index;   /* where it was in the input */
  uint64_t seal[2]; /* made from both */
} record;

/* The sorts of a contestant; stable may be NULL. */
typedef struct record_sorts {
  void (*unstable)(record *a, size_t n);
  void (*stable)(record *a, size_t n);
} record_sorts;

typedef struct record_state {
  const char *who;
  void (*sort)(record *a, size_t n);
  record *input, *a;
  size_t n;
  int stable;
} record_state;

BENCH_HELPER uint64_t record_key(int pattern, size_t i, size_t n) {
  if (pattern == 0) return bench_mix(i);
  if (pattern == 1) return 3 * (uint64_t)i;
  if (pattern == 2) return 3 * (uint64_t)(n - i);
  return bench_mix(i) % 16;
}

BENCH_HELPER uint64_t record_seal(const record *r, uint64_t which) {
  return bench_mix(r->key ^ bench_mix(r->index + which));
}

BENCH_HELPER void record_prepare(void *ctx) {
  record_state *s = (record_state *)ctx;
  memcpy(s->a, s->input, s->n * sizeof *s->a);
}

BENCH_HELPER void record_work(void *ctx) {
  record_state *s = (record_state *)ctx;
  s->sort(s->a, s->n);
}

/* Each index once: by its sum and the sum of its mixed value. */
BENCH_HELPER uint64_t record_digest(const record *a, size_t n) {
  uint64_t digest = 0;
  for (size_t i = 0; i < n; i++) digest += a[i].index + bench_mix(a[i].index);
  return digest;
}

BENCH_HELPER void record_check(void *ctx) {
  record_state *s = (record_state *)ctx;
  uint64_t disorder = 0, broken = 0;
  for (size_t i = 0; i < s->n; i++) {
    const record *r = &s->a[i];
    broken += r->seal[0] != record_seal(r, 0) || r->seal[1] != record_seal(r, 1);
    if (i == 0) continue;
    disorder += r[-1].key > r->key;
    disorder += s->stable && r[-1].key == r->key && r[-1].index > r->index;
  }
  bench_check(s->who, disorder, 0);
  bench_check(s->who, broken, 0);
  bench_check(s->who, record_digest(s->a, s->n), record_digest(s->input, s->n));
}

/* The whole of a contestant. Arguments 1 and 2: unstable or stable, and the pattern. */
BENCH_HELPER void record_measure(const char *who, record_sorts sorts, int argc,
                                 char **argv, long n) {
  static const char *const kinds[] = {"unstable", "stable"};
  static const char *const patterns[] = {"random", "sorted", "reversed", "few"};
  int stable = bench_choose(argc, argv, 1, kinds, 2);
  int pattern = bench_choose(argc, argv, 2, patterns, 4);
  record_state s = {who,   stable ? sorts.stable : sorts.unstable, NULL, NULL, (size_t)n,
                    stable};
  if (s.sort == NULL) {
    fprintf(stderr, "%s: has no such sort\n", who);
    exit(2);
  }
  s.input = (record *)bench_array(s.n, sizeof *s.input);
  s.a = (record *)bench_array(s.n, sizeof *s.a);
  for (size_t i = 0; i < s.n; i++) {
    record *r = &s.input[i];
    r->key = record_key(pattern, i, s.n);
    r->index = i;
    for (uint64_t k = 0; k < 2; k++) r->seal[k] = record_seal(r, k);
  }
  bench_job job = {record_prepare, record_work, record_check, &s};
  bench_measure_job(who, &job);
  bench_passed(record_digest(s.input, s.n));
  free(s.input);
  free(s.a);
}

#endif
