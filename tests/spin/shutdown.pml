/* spin/shutdown.pml - the end of a pool: weft_pool_destroy in src/sched/pool.c, with the
 * workers' way to sleep and to their end in src/sched/worker.c.
 *
 * Two functions are submitted, the first of which submits a third; then the pool is ended
 * by the submitting thread, while workers search, run, fall asleep or sleep. With HOOK the
 * first worker to end detaches one more function in its exit hook. Steps: drain (store,
 * fence, both counts, once-latch), set each terminate latch and wake by the set of
 * sleepers, join, run what is left, free.
 *
 * Abstracted: one lane; the sleep protocol without the jobs event counter and without the
 * count of sleepers (they are in sleep.pml), and a poster always claims a sleeper; patience
 * is a choice at any time. Memory is TSO where it can matter: the store of x_draining stays
 * in the ending thread's store buffer until its fence.
 *
 * Safety: each function is run once and before the pool is freed; no thread touches a
 * freed pool; no thread is left; no deadlock. Liveness: the end is reached, under weak
 * fairness.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WORKERS
#define WORKERS 2
#endif
#ifdef HOOK
#define FUNCTIONS 4
#else
#define FUNCTIONS 3
#endif
#define NOBODY 255

mtype = { UNSET, SLEEPY, SLEEPING, SET, WAITING };

byte queue, pushed, done; /* injector, x_pushed, x_injected_done */
byte executed, running;
bool draining, draining_buffered;
mtype drained = UNSET;    /* the once-latch */
bool drained_blocked;     /* the ending thread is in the kernel's queue for it */

mtype terminate[WORKERS] = UNSET;
bool in_set[WORKERS], parked[WORKERS], blocked[WORKERS];
bool ended[WORKERS];
bool hook_ran, freed, finished;

#define POOL_LIVES assert(!freed)

/* ---- waking ---- */

inline unpark(who) {
  parked[who] = false;
  atomic { POOL_LIVES; blocked[who] = false; who = 0 }
}

/* wf_injector_push, then a poster that finds no searcher it could trust. */
inline inject(who) {
  atomic { POOL_LIVES; queue++; pushed++ };
  atomic {
    POOL_LIVES;
    who = 0;
    do
    :: who < WORKERS && !in_set[who] -> who++
    :: who == WORKERS -> who = NOBODY; break
    :: who < WORKERS && in_set[who] -> in_set[who] = false; break
    od
  };
  if
  :: who != NOBODY -> unpark(who)
  :: else -> who = 0
  fi
}

/* ---- workers ---- */

proctype worker(byte me) {
  byte who, mine;
  bool last;
again:
  atomic {
    POOL_LIVES;
    if
    :: queue > 0 -> queue--; running++; goto execute
    :: else
    fi
  };
  /* is_done: the latch first, then the queue. */
  atomic {
    POOL_LIVES;
    if
    :: terminate[me] == SET
    :: else -> goto get_sleepy
    fi
  };
  atomic {
    POOL_LIVES;
    if
    :: queue == 0 -> goto leave
    :: else -> goto again
    fi
  };
get_sleepy:
  atomic {
    POOL_LIVES;
    if
    :: terminate[me] == UNSET -> terminate[me] = SLEEPY
    :: else -> goto again
    fi
  };
  atomic { /* the search between the two transitions */
    POOL_LIVES;
    if
    :: queue > 0 -> queue--; running++;
       if
       :: terminate[me] == SLEEPY -> terminate[me] = UNSET
       :: else
       fi;
       goto execute
    :: else
    fi
  };
  atomic {
    POOL_LIVES;
    if
    :: terminate[me] == SLEEPY -> terminate[me] = SLEEPING
    :: else -> goto again
    fi
  };
  parked[me] = true;
  atomic { POOL_LIVES; in_set[me] = true };
#ifndef NO_PROBE
  atomic {
    POOL_LIVES;
    if
    :: terminate[me] == SET
    :: else -> goto look
    fi
  };
  goto change_mind;
look:
#endif
  atomic {
    POOL_LIVES;
    if
    :: queue > 0
    :: else -> goto block
    fi
  };
change_mind:
  atomic {
    POOL_LIVES;
    if
    :: in_set[me] -> in_set[me] = false; goto awake
    :: else
    fi
  };
block:
  atomic {
    POOL_LIVES;
    if
    :: parked[me] -> blocked[me] = true
    :: else -> goto awake
    fi
  };
  atomic { !blocked[me] -> goto block };
awake:
  atomic {
    POOL_LIVES;
    if
    :: terminate[me] == SLEEPING || terminate[me] == SLEEPY -> terminate[me] = UNSET
    :: else
    fi;
    goto again
  };

execute: /* run_injected: the first function submits another before it returns */
  atomic {
    executed++;
    assert(executed <= FUNCTIONS);
    if
    :: executed == 1
    :: else -> goto returned
    fi
  };
  inject(who);
returned: /* wf_pool_injected_done */
#ifdef LOOK_BEFORE_COUNTING
  atomic { POOL_LIVES; last = draining };
  atomic { POOL_LIVES; running--; done++; mine = done };
#else
  atomic { POOL_LIVES; running--; done++; mine = done };
  atomic { POOL_LIVES; last = draining };
#endif
  atomic {
    if
    :: last && mine == pushed -> mine = 0
    :: else -> mine = 0; last = false; goto again
    fi
  };
  atomic { /* wf_once_latch_set: an exchange; wakes only a waiter that has said so */
    POOL_LIVES;
    last = (drained == WAITING);
    drained = SET
  };
  if
  :: last -> atomic { POOL_LIVES; drained_blocked = false }
  :: else
  fi;
  atomic { last = false; goto again };

leave:
#ifdef HOOK
  atomic {
    if
    :: !hook_ran -> hook_ran = true
    :: else -> goto end_thread
    fi
  };
  inject(who);
end_thread:
#endif
  atomic { POOL_LIVES; ended[me] = true }
}

/* The hardware empties the store buffer. */
active proctype memory() {
end:
  do
  :: atomic { draining_buffered -> draining_buffered = false; draining = true }
  od
}

/* ---- the thread that submits and ends the pool ---- */

active proctype ending() {
  byte who, i, seen;
  atomic { for (i : 0 .. WORKERS - 1) { run worker(i) }; i = 0 };
  inject(who);
  inject(who);
  /* drain */
  draining_buffered = true;
#ifndef NO_DRAIN_FENCE
  !draining_buffered;
#endif
#ifdef PUSHED_COUNT_FIRST
  seen = pushed;
  atomic { if :: done == seen -> seen = 0; goto stop :: else -> seen = 0 fi };
#else
  seen = done;
  atomic { if :: pushed == seen -> seen = 0; goto stop :: else -> seen = 0 fi };
#endif
wait: /* wf_once_latch_wait: announce, then block while nobody has set it */
  atomic {
    if
    :: drained == UNSET -> drained = WAITING
    :: else
    fi
  };
block:
  atomic {
    if
    :: drained == WAITING -> drained_blocked = true
    :: else -> goto stop
    fi
  };
  atomic { !drained_blocked -> goto block };
stop: /* everything that was submitted before the end has returned */
  atomic { assert(done == 3 && running == 0 && queue == 0); i = 0 };
  do
  :: i < WORKERS ->
     atomic { /* wf_latch_set, then wf_sleep_wake_worker */
       seen = (terminate[i] == SLEEPING);
       terminate[i] = SET
     };
#ifdef TERMINATE_WITHOUT_WAKE
     seen = 0;
#endif
     if
     :: atomic {
          seen == 1 ->
          if
          :: in_set[i] -> in_set[i] = false; who = i
          :: else -> who = NOBODY
          fi
        };
        if
        :: who != NOBODY -> unpark(who)
        :: else -> who = 0
        fi
     :: else
     fi;
     atomic { seen = 0; i++ }
  :: else -> break
  od;
#ifndef FREE_WITHOUT_JOIN
  i = 0;
  do
  :: i < WORKERS -> ended[i]; i++
  :: else -> break
  od;
#endif
  /* run_leftovers */
#ifndef NO_LEFTOVERS
  do
  :: atomic { queue > 0 -> queue--; executed++ }
  :: atomic { queue == 0 -> break }
  od;
#endif
  atomic { freed = true; assert(executed == FUNCTIONS) };
  finished = true
}

ltl the_end_is_reached { <> finished }
