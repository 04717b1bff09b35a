/* Litmus tests: which outcomes the explorer produces in each memory mode, against tables.
 *
 * An outcome is written as a number whose decimal digits are what the threads have read,
 * thread by thread. "LB" is the known gap: no load reads a store that comes later, so
 * load buffering is not produced in RA mode, although C11 allows it.
 *
 * SPDX-License-Identifier: MIT */
#include <explore/engine/explore.h>

#include <core/atomic.h>
#include <sys/sys.h>

static wf_u32 x, y, z;
static uint32_t r[6];

static void setup(void) {
  wf_u32_store_relaxed(&x, 0);
  wf_u32_store_relaxed(&y, 0);
  wf_u32_store_relaxed(&z, 0);
  for (int i = 0; i < 6; i++) r[i] = 0;
}

static void outcome_2(void) {
  xp_outcome(r[0] * 10 + r[1]);
}

static void outcome_3(void) {
  xp_outcome(r[0] * 100 + r[1] * 10 + r[2]);
}

static void outcome_4(void) {
  xp_outcome(r[0] * 1000 + r[1] * 100 + r[2] * 10 + r[3]);
}

/* What is in x and y at the end. */
static void outcome_xy(void) {
  xp_outcome(wf_u32_load_relaxed(&x) * 10 + wf_u32_load_relaxed(&y));
}

#define LITMUS(name, ...)                                                                \
  SCENARIO(name, .setup = setup, .bound = XP_UNBOUNDED, __VA_ARGS__)

#define RELAXED_STORE(word, value) wf_u32_store_relaxed(&(word), value)
#define RELEASE_STORE(word, value) wf_u32_store_release(&(word), value)
#define SC_STORE(word, value)      wf_u32_store_seq_cst(&(word), value)
#define RELAXED_LOAD(word)         wf_u32_load_relaxed(&(word))
#define ACQUIRE_LOAD(word)         wf_u32_load_acquire(&(word))
#define SC_LOAD(word)              wf_u32_load_seq_cst(&(word))

/* ---- store buffering ---- */

static void sb_0(void) {
  RELAXED_STORE(x, 1);
  r[0] = RELAXED_LOAD(y);
}
static void sb_1(void) {
  RELAXED_STORE(y, 1);
  r[1] = RELAXED_LOAD(x);
}
LITMUS(sb, .threads = {sb_0, sb_1}, .check = outcome_2,
       .outcomes = {"1 10 11", "0 1 10 11", "0 1 10 11"})

static void sb_fence_0(void) {
  RELAXED_STORE(x, 1);
  wf_fence_seq_cst();
  r[0] = RELAXED_LOAD(y);
}
static void sb_fence_1(void) {
  RELAXED_STORE(y, 1);
  wf_fence_seq_cst();
  r[1] = RELAXED_LOAD(x);
}
LITMUS(sb_fences, .threads = {sb_fence_0, sb_fence_1}, .check = outcome_2,
       .outcomes = {"1 10 11", "1 10 11", "1 10 11"})
LITMUS(sb_one_fence, .threads = {sb_fence_0, sb_1}, .check = outcome_2,
       .outcomes = {"1 10 11", "0 1 10 11", "0 1 10 11"})

static void sb_sc_0(void) {
  SC_STORE(x, 1);
  r[0] = SC_LOAD(y);
}
static void sb_sc_1(void) {
  SC_STORE(y, 1);
  r[1] = SC_LOAD(x);
}
LITMUS(sb_seq_cst, .threads = {sb_sc_0, sb_sc_1}, .check = outcome_2,
       .outcomes = {"1 10 11", "1 10 11", "1 10 11"})
LITMUS(sb_seq_cst_and_fence, .threads = {sb_sc_0, sb_fence_1}, .check = outcome_2,
       .outcomes = {"1 10 11", "1 10 11", "1 10 11"})

/* A seq_cst load of one's own store does not make it seq_cst. */
static void sb_own_0(void) {
  RELEASE_STORE(x, 1);
  if (SC_LOAD(x) == 1) r[0] = SC_LOAD(y);
}
LITMUS(sb_own_store_is_read, .threads = {sb_own_0, sb_sc_1}, .check = outcome_2,
       .outcomes = {"1 10 11", "0 1 10 11", "0 1 10 11"})

/* An exchange is a full fence on x86, and not in C11. */
static void sb_rmw_0(void) {
  wf_u32_exchange_acq_rel(&x, 1);
  r[0] = RELAXED_LOAD(y);
}
static void sb_rmw_1(void) {
  wf_u32_exchange_acq_rel(&y, 1);
  r[1] = RELAXED_LOAD(x);
}
LITMUS(sb_rmws, .threads = {sb_rmw_0, sb_rmw_1}, .check = outcome_2,
       .outcomes = {"1 10 11", "1 10 11", "0 1 10 11"})

/* The asymmetric pair: one side is a compiler barrier. */
static void sb_light(void) {
  RELAXED_STORE(x, 1);
  wf_light_barrier();
  r[0] = RELAXED_LOAD(y);
}
static void sb_heavy(void) {
  RELAXED_STORE(y, 1);
  wf_sys_barrier();
  r[1] = RELAXED_LOAD(x);
}
static void sb_light_other(void) {
  RELAXED_STORE(y, 1);
  wf_light_barrier();
  r[1] = RELAXED_LOAD(x);
}
LITMUS(sb_light_heavy, .threads = {sb_light, sb_heavy}, .check = outcome_2,
       .outcomes = {"1 10 11", "1 10 11", "1 10 11"})
LITMUS(sb_light_light, .threads = {sb_light, sb_light_other}, .check = outcome_2,
       .outcomes = {"1 10 11", "0 1 10 11", "0 1 10 11"})

/* A thread sees its own stores at once. */
static void sb_forward_0(void) {
  RELAXED_STORE(x, 1);
  r[0] = RELAXED_LOAD(x);
  r[1] = RELAXED_LOAD(y);
}
static void sb_forward_1(void) {
  RELAXED_STORE(y, 1);
  r[2] = RELAXED_LOAD(y);
  r[3] = RELAXED_LOAD(x);
}
LITMUS(sb_forward, .threads = {sb_forward_0, sb_forward_1}, .check = outcome_4,
       .outcomes = {"1011 1110 1111", "1010 1011 1110 1111", "1010 1011 1110 1111"})

/* ---- message passing ---- */

static void mp_relaxed_0(void) {
  RELAXED_STORE(x, 1);
  RELAXED_STORE(y, 1);
}
static void mp_relaxed_1(void) {
  r[0] = RELAXED_LOAD(y);
  r[1] = RELAXED_LOAD(x);
}
LITMUS(mp_relaxed, .threads = {mp_relaxed_0, mp_relaxed_1}, .check = outcome_2,
       .outcomes = {"0 1 11", "0 1 11", "0 1 10 11"})

static void mp_release(void) {
  RELAXED_STORE(x, 1);
  RELEASE_STORE(y, 1);
}
static void mp_acquire(void) {
  r[0] = ACQUIRE_LOAD(y);
  r[1] = RELAXED_LOAD(x);
}
LITMUS(mp_release_acquire, .threads = {mp_release, mp_acquire}, .check = outcome_2,
       .outcomes = {"0 1 11", "0 1 11", "0 1 11"})
LITMUS(mp_release_relaxed, .threads = {mp_release, mp_relaxed_1}, .check = outcome_2,
       .outcomes = {"0 1 11", "0 1 11", "0 1 10 11"})
LITMUS(mp_relaxed_acquire, .threads = {mp_relaxed_0, mp_acquire}, .check = outcome_2,
       .outcomes = {"0 1 11", "0 1 11", "0 1 10 11"})

static void mp_fence_0(void) {
  RELAXED_STORE(x, 1);
  wf_fence_seq_cst();
  RELAXED_STORE(y, 1);
}
static void mp_fence_1(void) {
  r[0] = RELAXED_LOAD(y);
  wf_fence_seq_cst();
  r[1] = RELAXED_LOAD(x);
}
LITMUS(mp_fences, .threads = {mp_fence_0, mp_fence_1}, .check = outcome_2,
       .outcomes = {"0 1 11", "0 1 11", "0 1 11"})

/* The release is headed by a store and goes on through a read-modify-write of another
 * thread, whatever its order. */
static void sequence_0(void) {
  RELAXED_STORE(x, 1);
  RELEASE_STORE(y, 1);
}
static void sequence_1(void) {
  wf_u32_fetch_add_relaxed(&y, 1);
}
static void sequence_2(void) {
  r[0] = ACQUIRE_LOAD(y);
  r[1] = RELAXED_LOAD(x);
}
LITMUS(release_sequence, .threads = {sequence_0, sequence_1, sequence_2},
       .check = outcome_2, .outcomes = {"0 1 10 11 21", "0 1 10 11 21", "0 1 10 11 21"})

/* A relaxed store of the same thread ends it (C++20). */
static void sequence_store(void) {
  RELAXED_STORE(x, 1);
  RELEASE_STORE(y, 1);
  RELAXED_STORE(y, 2);
}
LITMUS(release_sequence_store, .threads = {sequence_store, sequence_2},
       .check = outcome_2, .outcomes = {"0 1 11 21", "0 1 11 21", "0 1 11 20 21"})

/* ---- coherence ---- */

static void store_x_1(void) {
  RELAXED_STORE(x, 1);
}
static void store_x_2(void) {
  RELAXED_STORE(x, 2);
}
static void read_x_twice(void) {
  r[0] = RELAXED_LOAD(x);
  r[1] = RELAXED_LOAD(x);
}
LITMUS(co_rr, .threads = {store_x_1, read_x_twice}, .check = outcome_2,
       .outcomes = {"0 1 11", "0 1 11", "0 1 11"})

static void read_x_twice_more(void) {
  r[2] = RELAXED_LOAD(x);
  r[3] = RELAXED_LOAD(x);
}
/* Two readers agree on the order of two stores, and nobody goes back. */
static void readers_agree(void) {
  XP_CHECK(!(r[0] == 1 && r[1] == 2 && r[2] == 2 && r[3] == 1));
  XP_CHECK(!(r[0] == 2 && r[1] == 1 && r[2] == 1 && r[3] == 2));
  XP_CHECK(!(r[0] != 0 && r[1] == 0) && !(r[2] != 0 && r[3] == 0));
}
LITMUS(co_rr_two, .threads = {store_x_1, store_x_2, read_x_twice, read_x_twice_more},
       .check = readers_agree)

static void store_x_1_then_2(void) {
  RELAXED_STORE(x, 1);
  RELAXED_STORE(x, 2);
}
LITMUS(co_ww, .threads = {store_x_1_then_2, read_x_twice}, .check = outcome_2,
       .outcomes = {"0 1 2 11 12 22", "0 1 2 11 12 22", "0 1 2 11 12 22"})

/* ---- load buffering: not produced ---- */

static void lb_0(void) {
  r[0] = RELAXED_LOAD(x);
  RELAXED_STORE(y, 1);
}
static void lb_1(void) {
  r[1] = RELAXED_LOAD(y);
  RELAXED_STORE(x, 1);
}
LITMUS(lb, .threads = {lb_0, lb_1}, .check = outcome_2,
       .outcomes = {"0 1 10", "0 1 10", "0 1 10"})

/* ---- two writers of two words ---- */

static void two_two_0(void) {
  RELAXED_STORE(x, 1);
  RELAXED_STORE(y, 2);
}
static void two_two_1(void) {
  RELAXED_STORE(y, 1);
  RELAXED_STORE(x, 2);
}
LITMUS(two_plus_two_w, .threads = {two_two_0, two_two_1}, .check = outcome_xy,
       .outcomes = {"12 21 22", "12 21 22", "11 12 21 22"})

static void r_0(void) {
  RELAXED_STORE(x, 1);
  RELAXED_STORE(y, 1);
}
static void r_1(void) {
  RELAXED_STORE(y, 2);
  r[0] = RELAXED_LOAD(x);
}
static void outcome_r(void) {
  xp_outcome(wf_u32_load_relaxed(&y) * 10 + r[0]);
}
/* 20: y is 2 in the end, and x was not there. */
LITMUS(r_shape, .threads = {r_0, r_1}, .check = outcome_r,
       .outcomes = {"10 11 21", "10 11 20 21", "10 11 20 21"})

static void s_0(void) {
  RELAXED_STORE(x, 2);
  RELEASE_STORE(y, 1);
}
static void s_1(void) {
  r[0] = ACQUIRE_LOAD(y);
  RELAXED_STORE(x, 1);
}
static void outcome_s(void) {
  xp_outcome(wf_u32_load_relaxed(&x) * 10 + r[0]);
}
LITMUS(s_shape, .threads = {s_0, s_1}, .check = outcome_s,
       .outcomes = {"10 11 20", "10 11 20", "10 11 20"})
static void s_relaxed_1(void) {
  r[0] = RELAXED_LOAD(y);
  RELAXED_STORE(x, 1);
}
/* 21: the store of 1 is before that of 2, although its thread has seen y. */
LITMUS(s_relaxed, .threads = {s_0, s_relaxed_1}, .check = outcome_s,
       .outcomes = {"10 11 20", "10 11 20", "10 11 20 21"})

/* ---- causality over three threads ---- */

static void wrc_1(void) {
  r[0] = ACQUIRE_LOAD(x);
  RELEASE_STORE(y, 1);
}
static void wrc_2(void) {
  r[1] = ACQUIRE_LOAD(y);
  r[2] = RELAXED_LOAD(x);
}
static void wrc_0(void) {
  RELEASE_STORE(x, 1);
}
LITMUS(wrc, .threads = {wrc_0, wrc_1, wrc_2}, .check = outcome_3,
       .outcomes = {"0 1 10 11 100 101 111", "0 1 10 11 100 101 111",
                    "0 1 10 11 100 101 111"})
static void wrc_relaxed_1(void) {
  r[0] = RELAXED_LOAD(x);
  RELAXED_STORE(y, 1);
}
static void wrc_relaxed_2(void) {
  r[1] = RELAXED_LOAD(y);
  r[2] = RELAXED_LOAD(x);
}
LITMUS(wrc_relaxed, .threads = {store_x_1, wrc_relaxed_1, wrc_relaxed_2},
       .check = outcome_3,
       .outcomes = {"0 1 10 11 100 101 111", "0 1 10 11 100 101 111",
                    "0 1 10 11 100 101 110 111"})

/* ---- independent readers of independent writers ---- */

static void iriw_x(void) {
  RELEASE_STORE(x, 1);
}
static void iriw_y(void) {
  RELEASE_STORE(y, 1);
}
static void iriw_xy(void) {
  r[0] = ACQUIRE_LOAD(x);
  r[1] = ACQUIRE_LOAD(y);
}
static void iriw_yx(void) {
  r[2] = ACQUIRE_LOAD(y);
  r[3] = ACQUIRE_LOAD(x);
}
#define ALL_BUT_1010 "0 1 10 11 100 101 110 111 1000 1001 1011 1100 1101 1110 1111"
#define ALL_16       "0 1 10 11 100 101 110 111 1000 1001 1010 1011 1100 1101 1110 1111"
LITMUS(iriw, .threads = {iriw_x, iriw_y, iriw_xy, iriw_yx}, .check = outcome_4,
       .outcomes = {ALL_BUT_1010, ALL_BUT_1010, ALL_16})

static void iriw_fence_xy(void) {
  r[0] = RELAXED_LOAD(x);
  wf_fence_seq_cst();
  r[1] = RELAXED_LOAD(y);
}
static void iriw_fence_yx(void) {
  r[2] = RELAXED_LOAD(y);
  wf_fence_seq_cst();
  r[3] = RELAXED_LOAD(x);
}
LITMUS(iriw_fences, .threads = {iriw_x, iriw_y, iriw_fence_xy, iriw_fence_yx},
       .check = outcome_4, .outcomes = {ALL_BUT_1010, ALL_BUT_1010, ALL_BUT_1010})

static void iriw_sc_x(void) {
  SC_STORE(x, 1);
}
static void iriw_sc_y(void) {
  SC_STORE(y, 1);
}
static void iriw_sc_xy(void) {
  r[0] = SC_LOAD(x);
  r[1] = SC_LOAD(y);
}
static void iriw_sc_yx(void) {
  r[2] = SC_LOAD(y);
  r[3] = SC_LOAD(x);
}
LITMUS(iriw_seq_cst, .threads = {iriw_sc_x, iriw_sc_y, iriw_sc_xy, iriw_sc_yx},
       .check = outcome_4, .outcomes = {ALL_BUT_1010, ALL_BUT_1010, ALL_BUT_1010})

/* ---- atomicity ---- */

static void add_one(void) {
  wf_u32_fetch_add_relaxed(&x, 1);
}
LITMUS(rmw_atomic, .threads = {add_one, add_one, add_one}, .check = outcome_xy,
       .outcomes = {"30", "30", "30"})

static void cas_0_to_1(void) {
  uint32_t seen = 0;
  r[0] = wf_u32_cas_acquire(&x, &seen, 1);
}
static void cas_0_to_2(void) {
  uint32_t seen = 0;
  r[1] = wf_u32_cas_acquire(&x, &seen, 2);
}
LITMUS(cas_one_wins, .threads = {cas_0_to_1, cas_0_to_2}, .check = outcome_2,
       .outcomes = {"1 10", "1 10", "1 10"})
