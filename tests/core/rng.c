/* Random numbers: known values, range, evenness, and seeds that do not walk in step. All
 * seeds are fixed, so the results are the same on every run.
 *
 * SPDX-License-Identifier: MIT */
#include "core/rng.h"

#include "harness/harness.h"

/* Published values: SplitMix64 of seed 0 and 1, and XorShift64* from the state 1. */
TEST(known_values) {
  wf_rng rng;
  wf_rng_seed(&rng, 0);
  CHECK_EQ(rng.state, UINT64_C(0xe220a8397b1dcdaf));
  wf_rng_seed(&rng, 1);
  CHECK_EQ(rng.state, UINT64_C(0x910a2dec89025cc1));
  rng.state = 1;
  CHECK_EQ(wf_rng_next(&rng), UINT64_C(0x47e4ce4b896cdd1d));
  CHECK_EQ(rng.state, UINT64_C(0x2000001));
}

TEST(state_is_never_zero) {
  wf_rng rng;
  /* The one seed that SplitMix64 maps to zero. */
  wf_rng_seed(&rng, 0 - UINT64_C(0x9e3779b97f4a7c15));
  CHECK_EQ(rng.state, 1);
  for (uint64_t seed = 0; seed < 1000; seed++) {
    wf_rng_seed(&rng, seed);
    for (int i = 0; i < 100; i++) {
      wf_rng_next(&rng);
      if (!CHECK(rng.state != 0)) return;
    }
  }
}

TEST(different_seeds_differ) {
  static const uint64_t bases[] = {0, 1000000, UINT64_C(1) << 32, UINT64_MAX - 200};
  for (int b = 0; b < 4; b++) {
    uint64_t first[200];
    for (uint64_t i = 0; i < 200; i++) {
      wf_rng rng;
      wf_rng_seed(&rng, bases[b] + i);
      first[i] = wf_rng_next(&rng);
      for (uint64_t j = 0; j < i; j++) CHECK(first[i] != first[j]);
    }
  }
}

TEST(bounded_stays_in_range_and_reaches_the_ends) {
  static const uint32_t bounds[] = {1, 2, 3, 7, 64, 65535, (1u << 31) + 1, UINT32_MAX};
  for (int b = 0; b < 8; b++) {
    const uint32_t bound = bounds[b];
    wf_rng rng;
    uint32_t lowest = UINT32_MAX, highest = 0;
    wf_rng_seed(&rng, bound);
    for (int i = 0; i < 100 * 1000; i++) {
      uint32_t value = wf_rng_bounded(&rng, bound);
      if (!CHECK(value < bound)) break;
      if (value < lowest) lowest = value;
      if (value > highest) highest = value;
    }
    if (bound <= 64) {
      CHECK_EQ(lowest, 0);
      CHECK_EQ(highest, bound - 1);
    } else {
      CHECK(lowest < bound / 1000);
      CHECK(highest > bound - 1 - bound / 1000);
    }
  }
}

/* Pearson's sum of squares over `bound` cells. */
static double chi_square(uint64_t seed, uint32_t bound, int draws) {
  uint32_t cells[8] = {0};
  wf_rng rng;
  wf_rng_seed(&rng, seed);
  for (int i = 0; i < draws; i++) cells[wf_rng_bounded(&rng, bound)]++;
  double sum = 0, expected = (double)draws / bound;
  for (uint32_t i = 0; i < bound; i++) {
    double off = (double)cells[i] - expected;
    sum += off * off / expected;
  }
  return sum;
}

/* The limits are the 99 % points with bound - 1 degrees of freedom. */
TEST(bounded_is_even) {
  static const struct {
    uint32_t bound;
    double limit;
  } table[] = {{3, 9.21}, {6, 15.09}, {7, 16.81}};
  for (int i = 0; i < 3; i++) {
    double sum = chi_square(2024, table[i].bound, 1000 * 1000);
    CHECK_MSG(sum < table[i].limit, "bound %u: %f", (unsigned)table[i].bound, sum);
    CHECK(sum > 0.01); /* and not too good to be random */
  }
}

/* With a bound of 3 * 2^30, a high half of a product without rejection would give every
 * third number twice as often. */
TEST(bounded_rejects_what_would_favour_some) {
  const uint32_t bound = UINT32_C(3) << 30;
  uint32_t cells[3] = {0};
  wf_rng rng;
  wf_rng_seed(&rng, 7);
  for (int i = 0; i < 300 * 1000; i++) cells[wf_rng_bounded(&rng, bound) % 3]++;
  for (int i = 0; i < 3; i++) CHECK(cells[i] > 98 * 1000 && cells[i] < 102 * 1000);
}

/* Workers have neighbouring seeds. Half of the bits agree, and one in four of the choices
 * among four: no more, no less. */
TEST(neighbouring_seeds_do_not_walk_in_step) {
  enum { SEEDS = 64, DRAWS = 1000 };
  for (uint64_t distance = 1; distance <= 3; distance++) {
    uint64_t equal_bits = 0, equal_choices = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
      wf_rng a, b;
      wf_rng_seed(&a, seed);
      wf_rng_seed(&b, seed + distance);
      for (int i = 0; i < DRAWS; i++) {
        equal_bits +=
            (uint64_t)__builtin_popcountll(~(wf_rng_next(&a) ^ wf_rng_next(&b)));
        if (wf_rng_bounded(&a, 4) == wf_rng_bounded(&b, 4)) equal_choices++;
      }
    }
    /* Five standard deviations on each side. */
    const double bits = (double)equal_bits / (SEEDS * DRAWS);
    const double choices = (double)equal_choices / (SEEDS * DRAWS);
    CHECK_MSG(bits > 31.92 && bits < 32.08, "%f", bits);
    CHECK_MSG(choices > 0.2414 && choices < 0.2586, "%f", choices);
  }
}
