/* delays/delay.c - the pauses of a build with WEFT_DELAYS: how often and how long.
 *
 * WEFT_DELAY_SEED chooses the pauses; the same seed gives each thread the same sequence,
 * as far as threads come in the same order. Without the variable there are none.
 * WEFT_DELAY_COVER names a file that is written when the program ends: which operations
 * have been reached.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "delay.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

/* How many of 4096 operations sleep, yield and spin. Most races have a window of a few
 * instructions, so the frequent short pauses matter more than the rare long ones, which
 * let other threads go far ahead. The numbers are a choice: tests take a few times as
 * long with them. */
enum { OUT_OF = 4096, SLEEPS = 1, YIELDS = 3, SPINS = 128 };
enum { LONGEST_SLEEP_NS = 50000, LONGEST_SPIN = 256 };

static uint64_t seed; /* 0: no pauses. Written before main, read by all. */
static uint64_t
    threads_so_far; /* Counts threads, with the builtin that is not wrapped. */
static __thread uint64_t state; /* Of this thread; 0 before its first operation. */

/* Before other constructors, which may use atomic operations. */
__attribute__((constructor(101))) static void read_seed(void) {
  const char *text = getenv("WEFT_DELAY_SEED");
  if (text != NULL) seed = strtoull(text, NULL, 10) * 2 + 1;
}

/* xorshift: never 0 again once it is not. */
static uint32_t next_random(void) {
  if (state == 0)
    state = (seed + __sync_fetch_and_add(&threads_so_far, 1)) * 0x9e3779b97f4a7c15u;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (uint32_t)(state >> 32);
}

static void sleep_a_little(void) {
  struct timespec time = {0, (long)(next_random() % LONGEST_SLEEP_NS)};
  nanosleep(&time, NULL);
}

static void spin_a_little(void) {
  for (uint32_t i = next_random() % LONGEST_SPIN; i > 0; i--)
    __asm__ __volatile__("" ::: "memory");
}

/* ---- which operations a program reaches, for tools/atomics ---- */

/* Where the delay was called, and where the function that called it was: the operations
 * are functions that the compiler may not have inlined. By open addressing; a place is
 * never removed. Forked processes share the table. */
enum { PLACES = 1 << 14 };
typedef struct place {
  void *call, *caller;
} place;
static place *places; /* NULL: nobody asks */
static const char *places_path;

__attribute__((constructor(101))) static void make_places(void) {
  places_path = getenv("WEFT_DELAY_COVER");
  if (places_path == NULL) return;
  void *shared = mmap(NULL, PLACES * sizeof(place), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared != MAP_FAILED) places = (place *)shared;
}

/* Two threads that come at the same time may note a place twice. */
static void note_place(void *call, void *caller) {
  uint64_t key = ((uintptr_t)call ^ (uintptr_t)caller << 24) * 0x9e3779b97f4a7c15u;
  for (size_t i = key >> 50, looks = 0; looks < PLACES; looks++, i = (i + 1) % PLACES) {
    if (places[i].call == call && places[i].caller == caller) return;
    if (places[i].call != NULL ||
        !__sync_bool_compare_and_swap(&places[i].call, NULL, call))
      continue;
    places[i].caller = caller;
    return;
  }
}

/* The address in the program's file, as addr2line wants it; 0 if it is in another one. */
static unsigned long in_program(void *address) {
  Dl_info own, info;
  if (dladdr(&places, &own) == 0 || dladdr(address, &info) == 0 ||
      info.dli_fbase != own.dli_fbase)
    return 0;
  return (unsigned long)((uintptr_t)address - (uintptr_t)info.dli_fbase - 1);
}

/* Adds to the file: the program may have started itself again, with other tests. */
__attribute__((destructor)) static void write_places(void) {
  FILE *out = places != NULL ? fopen(places_path, "a") : NULL;
  if (out == NULL) return;
  for (size_t i = 0; i < PLACES; i++)
    if (places[i].call != NULL && in_program(places[i].call) != 0)
      fprintf(out, "%#lx %#lx\n", in_program(places[i].call),
              in_program(places[i].caller));
  (void)fclose(out);
}

void wf_test_delay(void) {
  if (places != NULL) {
    /* The caller's frame, in which its return address is: the preset keeps frames. */
    void **frame = *(void ***)__builtin_frame_address(0);
    note_place(__builtin_return_address(0), frame[1]);
  }
  if (seed == 0) return;
  uint32_t choice = next_random() % OUT_OF;
  if (choice < SLEEPS)
    sleep_a_little();
  else if (choice < SLEEPS + YIELDS)
    sched_yield();
  else if (choice < SLEEPS + YIELDS + SPINS)
    spin_a_little();
}
