/* fib/pair.c - what two copies of the sequential program reach side by side.
 *
 * The machine check of P1p: two threads can only be expected to give a speed-up where
 * two processes that share nothing do. Two children run fib at the same time, then one
 * runs alone, and so on in turn; pair.speedup_x is 2 where both run at full speed.
 * In both cases the time is that of the slower child, without the fork.
 *
 * Usage: fib_pair [n]
 *
 * SPDX-License-Identifier: MIT */
#include "serial.h"
#include <sys/mman.h>
#include <sys/wait.h>

enum { ROUNDS = 5 };

typedef struct shared {
  uint32_t go;
  double took_ns[2];
} shared;

static double run_copies(shared *s, int copies, long n) {
  pid_t child[2];
  __atomic_store_n(&s->go, 0, __ATOMIC_SEQ_CST);
  for (int i = 0; i < copies; i++) {
    child[i] = fork();
    if (child[i] < 0) {
      perror("fib_pair: fork");
      exit(2);
    }
    if (child[i] == 0) {
      volatile long sink = fib_noinline(25);
      __atomic_fetch_add(&s->go, 1, __ATOMIC_SEQ_CST);
      while (__atomic_load_n(&s->go, __ATOMIC_SEQ_CST) < (uint32_t)copies) {
      }
      double before = bench_now_ns();
      sink = fib_noinline(n);
      s->took_ns[i] = bench_now_ns() - before;
      _exit(sink == bench_fib_answer(n) ? 0 : 1);
    }
  }
  double slower = 0;
  for (int i = 0; i < copies; i++) {
    int status = 0;
    waitpid(child[i], &status, 0);
    bench_check("pair", (uint64_t)status, 0);
    if (s->took_ns[i] > slower) slower = s->took_ns[i];
  }
  return slower;
}

int main(int argc, char **argv) {
  long n = bench_arg(argc, argv, 1, 35);
  shared *s = (shared *)mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (s == MAP_FAILED) {
    perror("fib_pair: mmap");
    return 2;
  }
  bench_samples both = {NULL, 0, 0}, alone = {NULL, 0, 0};
  for (int i = 0; i < ROUNDS; i++) {
    bench_add(&both, run_copies(s, 2, n));
    bench_add(&alone, run_copies(s, 1, n));
  }
  bench_print_times("one-copy", &alone);
  bench_print_times("two-copies", &both);
  bench_print("two-copies", "speedup_x",
              2 * bench_quantile(&alone, 0.5) / bench_quantile(&both, 0.5));
  bench_passed((uint64_t)bench_fib_answer(n));
  return 0;
}
