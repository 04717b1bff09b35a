/* spin/latch.pml - latch against sleeper: src/core/latch.c with park and wake of
 * src/sched/sleep.c, as a joiner whose task was stolen uses them.
 *
 * One worker waits WAITS times in a row, each time on a new latch in a new frame, but with
 * one park word and one bit. Each latch has a setter: it notes itself as the thief, runs
 * the task, sets the latch and wakes. A poster may claim the sleeping waiter at any moment
 * too, since a helper is also woken for other work. A frame is dead as soon as the wait in
 * it has returned; nobody may touch its latch after that.
 *
 * Abstracted: the search for other work is a choice; sequential consistency, because each
 * access of the protocol to a shared word but the park word and the probe is a
 * read-modify-write. The thief's number is one bit above the state.
 *
 * Safety: no access to a dead frame; the wait returns only if the task was run; the count
 * of sleeping helpers is exact; no deadlock (a waiter that is not woken). Liveness: every
 * wait returns, under weak fairness.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WAITS
#define WAITS 2
#endif
#ifndef SPURIOUS
#define SPURIOUS 1
#endif

mtype = { UNSET, SLEEPY, SLEEPING, SET };

mtype state[WAITS] = UNSET;
bool noted[WAITS];  /* the bits above the state: a thief has noted its number */
bool forked[WAITS]; /* the frame exists and its task can be stolen */
bool dead[WAITS];   /* the frame is gone */
bool ran[WAITS];

bool in_set, parked, blocked; /* of the waiting worker */
byte helpers;                 /* x_helpers */
byte returned;

/* Each access to a latch goes through here. */
#define ALIVE(n) assert(!dead[n])

inline unpark() {
  atomic { helpers--; assert(helpers == 0) };
  parked = false;
  blocked = false
}

/* ---- wf_sleep_wake_worker, and a poster's claim: the same for one sleeper ---- */

inline claim_and_wake() {
  atomic {
    if
    :: in_set -> in_set = false
    :: else -> goto nobody
    fi
  };
  unpark();
nobody:
  skip
}

/* ---- run_stolen ---- */

proctype setter(byte n) {
  bool asleep;
  forked[n];
  /* wf_latch_note_thief: a loop around a compare-and-swap that keeps the state. */
#ifdef NOTE_BY_STORE
  mtype seen;
  atomic { ALIVE(n); seen = state[n] };
  atomic { ALIVE(n); state[n] = seen; noted[n] = true };
#else
  atomic { ALIVE(n); noted[n] = true };
#endif
  ran[n] = true;
#ifdef SET_BY_STORE
  atomic { ALIVE(n); asleep = (state[n] == SLEEPING) };
  atomic { ALIVE(n); state[n] = SET };
#else
  atomic { ALIVE(n); asleep = (state[n] == SLEEPING); state[n] = SET };
#endif
#ifdef OWNER_READ_AFTER_SET
  atomic { ALIVE(n) }; /* the owner's number, from the task instead of a copy */
#endif
#ifdef NO_WAKE
  asleep = false;
#endif
  if
  :: asleep -> claim_and_wake()
  :: else
  fi
}

/* Something was made public: a sleeping helper may be claimed. */
proctype poster() {
  claim_and_wake()
}

/* ---- wf_worker_wait, wf_sleep_waiting, park ---- */

/* A transition of the waiter's; it fails if the latch is set. */
#ifdef TRANSITION_BY_STORE
#define TRANSITION(n, from, to, otherwise) \
  atomic { ALIVE(n); if :: state[n] == from :: else -> goto otherwise fi }; state[n] = to
#else
#define TRANSITION(n, from, to, otherwise) \
  atomic { ALIVE(n); if :: state[n] == from -> state[n] = to :: else -> goto otherwise fi }
#endif

active proctype waiter() {
  byte n, spurious;
next:
  forked[n] = true;
  /* The join finds its task stolen. */
probe:
  atomic {
    if
    :: state[n] == SET -> goto leave
    :: else
    fi
  };
  TRANSITION(n, UNSET, SLEEPY, probe);
  TRANSITION(n, SLEEPY, SLEEPING, probe);
  atomic { helpers++; assert(helpers == 1) };
#ifdef PROBE_BEFORE_BIT
  atomic { if :: state[n] == SET -> helpers--; goto leave :: else fi };
#endif
#ifdef PARK_WORD_AFTER_BIT
  in_set = true;
  parked = true;
#else
  parked = true;
  in_set = true;
#endif
#if !defined(NO_PROBE) && !defined(PROBE_BEFORE_BIT)
  atomic {
    if
    :: state[n] == SET
    :: state[n] != SET -> goto block
    :: skip /* it sees other work */
    fi
  };
  atomic {
    if
    :: in_set -> in_set = false
    :: else -> goto block
    fi
  };
  atomic { helpers--; assert(helpers == 0) };
  goto awake;
#endif
block:
  atomic {
    if
    :: parked -> blocked = true
    :: else -> goto awake
    fi
  };
  if
  :: atomic { !blocked -> goto block }
  :: atomic { blocked && spurious < SPURIOUS -> spurious++; blocked = false; goto block }
  fi;
awake: /* wf_latch_wake_up: back to UNSET unless it is set */
#ifdef WAKE_UP_BY_STORE
  atomic { ALIVE(n); if :: state[n] == SET -> goto leave :: else fi };
  state[n] = UNSET;
#else
  atomic {
    ALIVE(n);
    if
    :: state[n] == SLEEPING || state[n] == SLEEPY -> state[n] = UNSET
    :: else
    fi
  };
#endif
  goto probe;
leave:
  atomic {
    assert(ran[n]);
    dead[n] = true;
    returned++;
    n++;
    if
    :: n < WAITS -> goto next
    :: else
    fi
  }
}

init {
  byte i;
  atomic {
    for (i : 0 .. WAITS - 1) { run setter(i) };
    run poster();
    run poster();
    i = 0
  }
}

ltl every_wait_returns { <> (returned == WAITS) }
