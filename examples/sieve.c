/* sieve.c - counts primes by a sieve in segments: each segment fits the cache of the
 * thread that works on it, and WEFT_SUM_LOOP adds up what the segments contain.
 *
 *     cc -O2 sieve.c -o sieve $(pkg-config --cflags --libs weft)
 *     ./sieve [limit [threads]]
 *
 * Prints how many primes are below the limit, and the times of a plain serial sieve and
 * of the parallel one.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <weft.h>

enum { SEGMENT = 32 * 1024 }; /* numbers in a segment: a byte of stack for each */

/* The plain sieve: sets is_prime[i] for i < limit, and returns how many there are. */
static size_t sieve_serially(unsigned char *is_prime, size_t limit) {
  size_t count = 0;
  memset(is_prime, 1, limit);
  for (size_t i = 2; i < limit; i++) {
    if (!is_prime[i]) continue;
    count++;
    for (size_t j = i * i; i < 65536 && j < limit; j += i) is_prime[j] = 0;
  }
  return count;
}

/* size_t count_primes(size_t segments, limit, ...): the sum of what the body returns for
 * each segment. `primes` are all primes up to the root of the limit. */
WEFT_SUM_LOOP(count_primes, size_t, segment, size_t, limit, const uint32_t *, primes,
              size_t, prime_count) {
  unsigned char is_prime[SEGMENT];
  size_t begin = segment * SEGMENT, count = 0;
  size_t length = limit - begin < SEGMENT ? limit - begin : SEGMENT;
  memset(is_prime, 1, length);
  for (size_t k = 0; k < prime_count; k++) {
    size_t p = primes[k], first = p * p;
    if (first >= begin + length) break;
    if (first < begin) first = (begin + p - 1) / p * p;
    for (size_t j = first - begin; j < length; j += p) is_prime[j] = 0;
  }
  for (size_t j = begin < 2 ? 2 - begin : 0; j < length; j++) count += is_prime[j];
  return count;
}

/* ---- the program around it ---- */

static double now_ms(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* The primes whose squares are below the limit. */
static uint32_t *small_primes(size_t limit, size_t *count) {
  size_t root = 2;
  while (root * root < limit) root++;
  unsigned char *is_prime = malloc(root + 1);
  uint32_t *primes = malloc((root + 1) * sizeof *primes);
  *count = 0;
  if (is_prime != NULL && primes != NULL) {
    sieve_serially(is_prime, root + 1);
    for (uint32_t i = 2; i <= root; i++)
      if (is_prime[i]) primes[(*count)++] = i;
  }
  free(is_prime);
  return *count > 0 ? primes : NULL;
}

int main(int argc, char **argv) {
  size_t limit = argc > 1 ? strtoul(argv[1], NULL, 10) : 20000000;
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
  if (limit < 3 || limit > 4000000000u || weft_init(&config) != 0) {
    fprintf(stderr, "usage: sieve [limit from 3 to 4 * 10^9 [threads]]\n");
    return 2;
  }
  unsigned char *is_prime = malloc(limit);
  if (is_prime == NULL) return perror("sieve"), 1;

  double start = now_ms();
  size_t expected = sieve_serially(is_prime, limit);
  double middle = now_ms();
  size_t prime_count, segments = (limit + SEGMENT - 1) / SEGMENT;
  uint32_t *primes = small_primes(limit, &prime_count);
  if (primes == NULL) return perror("sieve"), 1;
  size_t count = count_primes(segments, limit, primes, prime_count);
  double end = now_ms();

  printf("%zu primes below %zu: serial %.1f ms, weft %.1f ms on %u threads: %s\n", count,
         limit, middle - start, end - middle, weft_thread_count(),
         count == expected ? "same" : "WRONG");
  free(primes);
  free(is_prime);
  return count == expected ? 0 : 1;
}
