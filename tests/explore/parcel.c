/* Parcels under the explorer: a range that is cut in halves, each of which anybody may
 * take over. The elements are plain memory, so that an element that runs twice, or is not
 * ordered before the end, is a race. The work and the region are freed as soon as the
 * waiter goes on.
 *
 * SPDX-License-Identifier: MIT */
#include "sched_kit.h"

#include <stdlib.h>

enum { MOST_ELEMENTS = 3 };

/* On the heap, where plain accesses are checked. */
typedef struct shared {
  wf_shared_work work;
  wf_region region;
  unsigned elements;
  unsigned runs[MOST_ELEMENTS];
} shared;

static bool shows; /* offers are public at once */
static unsigned elements;
static wf_u32 x_begun; /* elements that have begun */

/* The first two elements wait for each other; relaxed, so that nothing is ordered by it.
 */
static void run_element(shared *s, size_t i) {
  if (wf_u32_fetch_add_relaxed(&x_begun, 1) < 2)
    while (wf_u32_load_relaxed(&x_begun) < 2) wf_sys_relax();
  s->runs[i]++;
}

static void run_range(shared *s, size_t begin, size_t end, size_t *own);

static void run_taken(void *ctx) {
  wf_parcel *parcel = (wf_parcel *)ctx;
  size_t own = parcel->amount, begin = parcel->content[1];
  run_range((shared *)parcel->content[0], begin, begin + own, &own);
  parcel->amount = own;
}

static void run_range(shared *s, size_t begin, size_t end, size_t *own) {
  size_t mid = begin + (end - begin) / 2;
  if (end - begin == 1) {
    run_element(s, begin);
    return;
  }
  wf_parcel *parcel = (wf_parcel *)malloc(sizeof *parcel); /* checked, as above */
  XP_CHECK(parcel != NULL);
  parcel->fn = run_taken;
  parcel->work = &s->work;
  parcel->amount = end - mid;
  parcel->content[0] = (uintptr_t)s;
  parcel->content[1] = mid;
  wf_parcel_offer(wf_self, parcel, &s->region);
  if (shows) wf_offers_show(wf_self);
  run_range(s, begin, mid, own);
  bool is_back = wf_parcel_take_back(wf_self, parcel);
  free(parcel);
  if (is_back)
    run_range(s, mid, end, own);
  else
    *own -= end - mid;
}

static void lead(void *ctx) {
  (void)ctx;
  shared *s = (shared *)calloc(1, sizeof *s);
  XP_CHECK(s != NULL);
  size_t own = elements;
  const wf_region *outer = wf_self->region;
  wf_self->region = &s->region;
  wf_shared_begin(&s->work, elements);
  run_range(s, 0, elements, &own);
  wf_shared_end(&s->work, own, "test");
  wf_self->region = outer;
  for (unsigned i = 0; i < elements; i++) XP_CHECK(s->runs[i] == 1);
  free(s);
}

static void lead_in_pool(void) {
  weft_pool_run(pool, lead, NULL);
  done_with_pool();
}

static void set_up(unsigned n, bool show) {
  elements = n;
  shows = show;
  wf_u32_init(&x_begun, 0);
}
static void two_elements(void) {
  one_worker();
  set_up(2, false);
}
static void two_shown(void) {
  one_worker();
  set_up(2, true);
}
static void three_elements(void) {
  two_workers();
  set_up(3, false);
}
static void three_shown(void) {
  two_workers();
  set_up(3, true);
}
static void end_all(void) {
  XP_CHECK(wf_u32_load_relaxed(&x_begun) == elements);
  free_pool();
}

LARGE_SCENARIO(parcel_taken, .setup = two_elements, .threads = {worker_1, lead_in_pool},
               .check = end_all)
LARGE_SCENARIO(parcel_shown, .setup = two_shown, .threads = {worker_1, lead_in_pool},
               .check = end_all)
SCENARIO(parcel_of_a_thief, .modes = XP_SC | XP_TSO, .bound = 1, .quick_bound = -2,
         .setup = three_elements, .threads = {worker_1, worker_2, lead_in_pool},
         .check = end_all)
SCENARIO(parcel_shown_by_a_thief, .modes = XP_SC | XP_TSO, .bound = 1, .quick_bound = -2,
         .setup = three_shown, .threads = {worker_1, worker_2, lead_in_pool},
         .check = end_all)
