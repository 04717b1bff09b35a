/* stack_use.h - how much of its stack a thread uses, and threads with stacks of a chosen
 * size. The including file defines _GNU_SOURCE first.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_SCHED_STACK_USE_H
#define TESTS_SCHED_STACK_USE_H

#include "support.h"

#include <limits.h>
#include <pthread.h>

/* Stack sizes are given for ordinary builds; sanitizers make frames many times larger. */
static inline size_t scaled_stack(size_t size) {
  size_t slower = harness_slowdown() < 8 ? harness_slowdown() : 8;
  return size * slower * slower;
}

/* The same for the stack of a thread: at least what the system asks for, which is 128 KiB
 * on aarch64. */
static inline size_t thread_stack(size_t size) {
#ifdef PTHREAD_STACK_MIN
  const size_t least = (size_t)PTHREAD_STACK_MIN;
#else
  const size_t least = 0;
#endif
  return scaled_stack(size) > least ? scaled_stack(size) : least;
}

/* Where the stack of a thread starts: stacks grow downwards. */
typedef struct own_stack {
  const char *top; /* NULL: not yet looked up */
  size_t size;
} own_stack;

static inline own_stack find_own_stack(void) {
  uintptr_t lowest;
  size_t size;
  REQUIRE(wf_sys_thread_stack(&lowest, &size));
  return (own_stack){(const char *)(lowest + size), size};
}

/* The bytes in use from the start of the stack to here. Not inlined, so that it measures
 * at least the frame of its caller. */
__attribute__((noinline)) static size_t stack_used(const own_stack *stack) {
  return (size_t)(stack->top - (const char *)__builtin_frame_address(0));
}

typedef struct stack_call {
  weft_fn *fn;
  void *ctx;
} stack_call;

static inline void *run_stack_call(void *arg) {
  const stack_call *call = arg;
  call->fn(call->ctx);
  return NULL;
}

/* Starts fn(ctx) on a thread of its own with a stack of that size, from the outside of
 * all pools. The call must live until the thread is joined. */
static inline pthread_t start_with_stack(size_t size, stack_call *call) {
  pthread_t thread;
  pthread_attr_t attributes;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstacksize(&attributes, size) == 0);
  REQUIRE(pthread_create(&thread, &attributes, run_stack_call, call) == 0);
  pthread_attr_destroy(&attributes);
  return thread;
}

static inline void run_with_stack(size_t size, weft_fn *fn, void *ctx) {
  stack_call call = {fn, ctx};
  pthread_join(start_with_stack(size, &call), NULL);
}

#endif
