/* mpi_sort.c - MPI between machines, weft within each: a sample sort and a sum over all
 * ranks. Each rank sorts its keys with weft, the ranks exchange them so that every rank
 * gets a range of keys, and each sorts what it has got.
 *
 *     mpicc -O2 -D_GNU_SOURCE mpi_sort.c -o mpi_sort $(pkg-config --cflags --libs weft)
 *     mpirun -n 4 ./mpi_sort [keys of each rank [threads of each rank]]
 *
 * A rank has one thread for each CPU that mpirun has bound it to. All calls of MPI come
 * from the thread that has called MPI_Init_thread: MPI_THREAD_FUNNELED is enough.
 *
 * Prints the CPUs and threads of each rank, how many keys it ended up with, and the sum;
 * rank 0 compares everything with a serial sort.
 *
 * SPDX-License-Identifier: MIT */
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft.h>

/* Key number i of all ranks together: any rank can make any key. */
static uint64_t key_number(uint64_t i) {
  i = (i ^ i >> 31) * 0x9e3779b97f4a7c15u;
  return (i ^ i >> 29) >> 16;
}

WEFT_LOOP(make_keys, i, uint64_t *, keys, size_t, first) {
  keys[i] = key_number(first + i);
}

static void *allocate(size_t bytes) {
  void *memory = malloc(bytes + 1);
  if (memory == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  return memory;
}

/* Which keys go to which rank: equal steps through a sorted sample of all keys. */
static void choose_parts(const uint64_t *keys, size_t n, int ranks, int *counts) {
  enum { SAMPLES = 64 };
  size_t all = (size_t)ranks * SAMPLES, begin = 0;
  uint64_t mine[SAMPLES], *samples = allocate(all * sizeof *samples);
  for (size_t i = 0; i < SAMPLES; i++) mine[i] = keys[i * n / SAMPLES];
  MPI_Allgather(mine, SAMPLES, MPI_UINT64_T, samples, SAMPLES, MPI_UINT64_T,
                MPI_COMM_WORLD);
  weft_sort_u64(samples, all);
  for (int r = 0; r < ranks; r++) {
    size_t end = begin;
    while (end < n && (r + 1 == ranks || keys[end] < samples[(r + 1) * SAMPLES])) end++;
    counts[r] = (int)(end - begin);
    begin = end;
  }
  free(samples);
}

/* The place of each part, from the lengths; returns the sum of the lengths. */
static size_t places(int *at, const int *counts, int ranks) {
  int sum = 0;
  for (int r = 0; r < ranks; r++) at[r] = sum, sum += counts[r];
  return (size_t)sum;
}

/* Sorts the keys of all ranks: each gets a range of them. Returns it, and its length. */
static uint64_t *sort_all(uint64_t *keys, size_t *n, int ranks) {
  size_t size = (size_t)ranks * sizeof(int);
  int *to = allocate(size), *to_at = allocate(size);
  int *from = allocate(size), *from_at = allocate(size);
  weft_sort_u64(keys, *n); /* on the threads of this rank */
  choose_parts(keys, *n, ranks, to);
  MPI_Alltoall(to, 1, MPI_INT, from, 1, MPI_INT, MPI_COMM_WORLD);
  places(to_at, to, ranks);
  *n = places(from_at, from, ranks);
  uint64_t *sorted = allocate(*n * sizeof *sorted);
  MPI_Alltoallv(keys, to, to_at, MPI_UINT64_T, sorted, from, from_at, MPI_UINT64_T,
                MPI_COMM_WORLD);
  weft_sort_u64(sorted, *n);
  free(to), free(to_at), free(from), free(from_at);
  return sorted;
}

static int compare(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* On rank 0: are these all the keys, in the order of a serial sort? */
static bool is_right(const uint64_t *all, size_t n, uint64_t sum) {
  uint64_t *expected = allocate(n * sizeof *expected);
  for (size_t i = 0; i < n; i++) sum -= expected[i] = key_number(i);
  qsort(expected, n, sizeof *expected, compare);
  bool right = sum == 0 && memcmp(all, expected, n * sizeof *all) == 0;
  free(expected);
  return right;
}

int main(int argc, char **argv) {
  int level, rank, ranks;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000, own = n;
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
  if (n == 0 || n > 100000000 / (size_t)ranks || level < MPI_THREAD_FUNNELED ||
      weft_init(&config) != 0) {
    if (rank == 0) fprintf(stderr, "usage: mpi_sort [keys, 10^8 in all [threads]]\n");
    return MPI_Finalize(), 2;
  }
  uint64_t *keys = allocate(n * sizeof *keys), sum, mine;
  make_keys(n, keys, (size_t)rank * n);
  mine = weft_sum_u64(keys, n); /* over the threads of a rank, then over the ranks */
  MPI_Allreduce(&mine, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  uint64_t *sorted = sort_all(keys, &own, ranks);

  cpu_set_t cpus;
  sched_getaffinity(0, sizeof cpus, &cpus);
  int facts[3] = {(int)own, CPU_COUNT(&cpus), (int)weft_thread_count()};
  int *all_facts = allocate((size_t)ranks * sizeof facts);
  int *counts = allocate((size_t)ranks * sizeof(int));
  int *at = allocate((size_t)ranks * sizeof(int)), right = 1;
  MPI_Gather(facts, 3, MPI_INT, all_facts, 3, MPI_INT, 0, MPI_COMM_WORLD);
  for (int r = 0; rank == 0 && r < ranks; r++) {
    const int *f = &all_facts[3 * r];
    counts[r] = f[0];
    printf("rank %d: CPUs: %d, threads: %d, keys: %d\n", r, f[1], f[2], f[0]);
    if (argc < 3 && getenv("WEFT_NUM_THREADS") == NULL && f[2] > f[1]) right = 0;
  }
  if (rank == 0) places(at, counts, ranks);
  uint64_t *all = allocate(rank == 0 ? n * (size_t)ranks * sizeof *all : 0);
  MPI_Gatherv(sorted, (int)own, MPI_UINT64_T, all, counts, at, MPI_UINT64_T, 0,
              MPI_COMM_WORLD);
  if (rank == 0) {
    right = is_right(all, n * (size_t)ranks, sum) && right;
    printf("%d ranks, %zu keys, sum %llu: %s\n", ranks, n * (size_t)ranks,
           (unsigned long long)sum, right ? "same" : "WRONG");
  }
  free(keys), free(sorted), free(all_facts), free(counts), free(at), free(all);
  MPI_Bcast(&right, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return right ? 0 : 1;
}
