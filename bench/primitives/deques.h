/* primitives/deques.h - the steps of a deque, without a pool around it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_PRIMITIVES_DEQUES_H
#define BENCH_PRIMITIVES_DEQUES_H

#include "limits.h"
#include <core/deque.h>

static wf_deque deques[LINES]; /* the partner's */
static wf_deque own;
static wf_task task;

static void make_deque(wf_deque *deque, size_t capacity, bool eager) {
  wf_deque_init(deque, capacity, 0, eager);
  if (wf_deque_prepare(deque) != 0) exit(2);
}

static void push(wf_deque *deque) {
  wf_deque_news news;
  if (wf_deque_push(deque, &task)) wf_deque_fork_slow(deque, &news);
}

static bool pop(wf_deque *deque) {
  wf_deque_news news;
  return wf_deque_take_private(deque) != NULL || wf_deque_pop(deque, &news) != NULL;
}

/* ---- by the owner ---- */

static void make_own(void) {
  make_deque(&own, 16 * MANY, false);
  push(&own); /* offered, as the first one is; the others are private */
}

static double push_many(void) {
  double before = bench_now_ns();
  for (int i = 0; i < MANY; i++) push(&own);
  double took = bench_now_ns() - before;
  for (int i = 0; i < MANY; i++) pop(&own);
  return took / MANY;
}

static double pop_many(void) {
  for (int i = 0; i < MANY; i++) push(&own);
  double before = bench_now_ns();
  for (int i = 0; i < MANY; i++) pop(&own);
  return (bench_now_ns() - before) / MANY;
}

/* ---- by a thief, whose victim is on another CPU ---- */

static void make_eager(void) {
  for (int i = 0; i < LINES; i++) make_deque(&deques[i], 64, true);
}

static void make_private(void) {
  for (int i = 0; i < LINES; i++) make_deque(&deques[i], 64, false);
}

/* Each has two tasks, and its pins are open where it is not eager. */
static void fill(void *unused) {
  (void)unused;
  for (int i = 0; i < LINES; i++) {
    while (pop(&deques[i])) {
    }
    for (int n = 0; n < 4; n++) push(&deques[i]);
    for (int n = 0; n < 2; n++) pop(&deques[i]);
  }
}

static double steal_each(void) {
  wf_task *got;
  by_partner(fill, NULL);
  int count = 0;
  double before = bench_now_ns();
  for (int i = 0; i < LINES; i++)
    count += wf_deque_steal(&deques[i], &got) == WF_STEAL_GOT;
  double took = bench_now_ns() - before;
  bench_check("steal", (uint64_t)count, LINES);
  return took / LINES;
}

static double ask_each(void) {
  by_partner(fill, NULL);
  double before = bench_now_ns();
  for (int i = 0; i < LINES; i++) wf_deque_ask(&deques[i]);
  return (bench_now_ns() - before) / LINES;
}

/* The owner does not come by. */
static double take_over_each(void) {
  unsigned count = 0;
  by_partner(fill, NULL);
  double before = bench_now_ns();
  for (int i = 0; i < LINES; i++) {
    wf_deque_pin(&deques[i]);
    uint64_t asked = wf_deque_asked(&deques[i]);
    wf_sys_barrier();
    count += wf_deque_take_over(&deques[i], asked);
  }
  double took = bench_now_ns() - before;
  bench_check("take-over", count > 0, 1);
  return took / LINES;
}

#endif
