/* The programs of docs/guide/servers.md, run. The build makes the header of the guide's
 * blocks.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "guide_servers.h"

#include "harness/harness.h"

#include <fcntl.h>

static int busy;

void reply_busy(void *request) {
  free(request);
  busy++;
}

TEST(an_event_loop) {
  static struct job jobs[MOST_JOBS];
  int ends[2], expected = 0;
  REQUIRE(pipe(ends) == 0);
  REQUIRE(fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0);
  for (int i = 0; i < MOST_JOBS; i++) {
    CHECK_EQ(start_job(&jobs[i], i, ends[1]), 0);
    expected += i * i;
  }
  CHECK_EQ(run_loop(jobs, ends[0]), expected);
  close(ends[0]);
  close(ends[1]);
  weft_shutdown();
}

TEST(results_and_limits) {
  int a[] = {1, 2, 3}, b[] = {4, 5, 6}, block = 10;
  struct job first = {NULL, 3, 0}, second = {NULL, 3, 0};
  CHECK_EQ(both(a, b, 3), 91);
  CHECK_EQ(compress_then_store(&block), 0);
  weft_pool_wait_idle(NULL);
  CHECK_EQ(block, 21);
  CHECK_EQ(weft_async(&first.handle, work, &first), 0);
  CHECK_EQ(weft_async(&second.handle, work, &second), 0);
  int got = first_of(&first, &second);
  CHECK(got == 9 || got == -1);
  wait_for_both(&first, &second);
  CHECK_EQ(first.square + second.square, 18);
  weft_shutdown();
}

TEST(more_work_than_the_pool_can_do) {
  enum { N = 5000 };
  static void *requests[N];
  weft_pool *pool;
  REQUIRE(start_pool(&pool) == 0);
  for (int i = 0; i < N; i++) REQUIRE((requests[i] = malloc(1)) != NULL);
  process_all(pool, requests, N);
  for (int i = 0; i < N; i++) REQUIRE((requests[i] = malloc(1)) != NULL);
  for (int i = 0; i < N; i++) accept_request(pool, requests[i]);
  CHECK(busy < N);
  weft_pool_destroy(pool);
}
