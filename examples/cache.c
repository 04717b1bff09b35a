/* cache.c - a thread-safe cache that the tasks of a scope fill. Tasks look values up,
 * compute those that are missing and store them. No lock is held while a value is
 * computed: that may call weft, and a thread that waits in weft runs other tasks, which
 * would then wait for the lock.
 *
 *     cc -O2 -D_GNU_SOURCE cache.c -o cache $(pkg-config --cflags --libs weft)
 *     ./cache [requests [threads]]
 *
 * The value of n is the sum of the divisors of n. Prints how many requests were answered,
 * and how many values were computed for them.
 *
 * SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <weft.h>

/* ---- the cache: chains of entries, and a lock for each part of them ---- */

enum { PARTS = 64, LEAST = 10000, MOST = 12000, BAD_KEY = 1 };

typedef struct entry {
  struct entry *next;
  uint64_t key, value;
} entry;

typedef struct cache {
  struct part {
    _Alignas(64) pthread_mutex_t lock; /* on a cache line of its own */
    entry *first;
    size_t computed, stored;
  } parts[PARTS];
} cache;

static entry *find(struct part *part, uint64_t key) {
  entry *e = part->first;
  while (e != NULL && e->key != key) e = e->next;
  return e;
}

/* The value of a key, from the cache or from compute(key). If two tasks miss the same key
 * at the same time, both compute it, and one of the two results is kept. */
static uint64_t cache_get(cache *c, uint64_t key, uint64_t (*compute)(uint64_t key)) {
  struct part *part = &c->parts[key % PARTS];
  pthread_mutex_lock(&part->lock);
  entry *e = find(part, key);
  uint64_t value = e != NULL ? e->value : 0;
  pthread_mutex_unlock(&part->lock);
  if (e != NULL) return value;

  value = compute(key); /* without the lock */
  pthread_mutex_lock(&part->lock);
  part->computed++;
  if (find(part, key) == NULL && (e = malloc(sizeof *e)) != NULL) {
    *e = (entry){part->first, key, value};
    part->first = e;
    part->stored++;
  }
  pthread_mutex_unlock(&part->lock);
  return value;
}

/* ---- the work: a task for each request ---- */

static cache divisors;

WEFT_SUM_LOOP(divisor_sum, uint64_t, i, uint64_t, n) {
  return n % (i + 1) == 0 ? i + 1 : 0;
}

static uint64_t sum_of_divisors(uint64_t n) {
  return divisor_sum(n, n); /* a parallel loop inside a task */
}

typedef struct request {
  uint64_t key, answer;
} request;

static void answer(void *ctx) {
  request *r = ctx;
  if (r->key == 0)
    weft_scope_cancel(weft_scope_current(), BAD_KEY); /* 0 has no sum of divisors */
  else
    r->answer = cache_get(&divisors, r->key, sum_of_divisors);
}

/* Answers all requests: 0, or the error of one that cannot be answered. */
static int answer_all(request *requests, size_t n) {
  weft_scope scope;
  weft_scope_begin(&scope);
  for (size_t i = 0; i < n; i++) weft_spawn(&scope, answer, &requests[i]);
  return weft_scope_end(&scope);
}

/* ---- the program around it ---- */

static double now_ms(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

int main(int argc, char **argv) {
  size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000;
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
  request *requests = n > 0 && n <= 10000000 ? calloc(n, sizeof *requests) : NULL;
  if (requests == NULL || weft_init(&config) != 0) {
    fprintf(stderr, "usage: cache [requests up to 10^7 [threads]]\n");
    return 2;
  }
  for (size_t i = 0; i < PARTS; i++) pthread_mutex_init(&divisors.parts[i].lock, NULL);
  uint32_t random = 1;
  for (size_t i = 0; i < n; i++) {
    random = random * 1664525u + 1013904223u;
    requests[i].key = LEAST + (random >> 8) % (MOST - LEAST);
  }
  double start = now_ms();
  int error = answer_all(requests, n);
  double end = now_ms();

  bool right = error == 0;
  size_t computed = 0, stored = 0;
  static uint64_t expected[MOST];
  for (uint64_t d = 1; d < MOST; d++)
    for (uint64_t i = d; i < MOST; i += d) expected[i] += d;
  for (size_t i = 0; i < n; i++)
    right = right && requests[i].answer == expected[requests[i].key];
  requests[n / 2].key = 0; /* a bad request cancels the scope */
  right = answer_all(requests, n) == BAD_KEY && right;
  for (struct part *part = divisors.parts; part < divisors.parts + PARTS; part++) {
    computed += part->computed;
    stored += part->stored;
    for (entry *e = part->first, *next; e != NULL; e = next) next = e->next, free(e);
  }
  printf("%zu requests: %zu values, computed %zu times, %.1f ms on %u threads: %s\n", n,
         stored, computed, end - start, weft_thread_count(), right ? "right" : "WRONG");
  free(requests);
  return right ? 0 : 1;
}
