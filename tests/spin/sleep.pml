/* spin/sleep.pml - who sleeps and who wakes: src/sched/sleep.c with src/core/counters.h.
 *
 * WORKERS idle workers against POSTERS that publish JOBS jobs each. Steps are as in the
 * code, one per access to a shared word: announce, search, look at the counter, park word,
 * bit, fence, look, block; publish, fence, post, read the set, read the count of inactive
 * workers, claim, park word, futex wake. A loop around a compare-and-swap is one step,
 * because its effect is that of the round that succeeds.
 *
 * Abstracted: all sources of work are one queue, which is a number (private parts are in
 * deque.pml, the latch in latch.pml, the end in shutdown.pml); patience is a choice at
 * any time; stand-ins are left out (their set works as the idle one). The jobs event
 * counter counts modulo MODULUS; with NO_JEC, as in large pools, there is none. The counts
 * of the groups are one number: of a sum that is read in parts, each part is as good as
 * one that was read at once a moment earlier or later, because a worker that gets idle in
 * between looks afterwards, and one that finds work wakes the next. Memory is TSO where it can matter: a publication
 * stays in the poster's store buffer until a fence, a read-modify-write or any later
 * moment; all other stores of the protocol are read-modify-writes or are followed by one.
 * A futex wait returns without reason at most SPURIOUS times for each worker.
 *
 * With HOLD_BACK all CPUs count as taken: nobody is woken for a job, and one sleeper at a
 * time is the watcher. It sleeps until somebody claims it or its time is over, at any
 * moment; it leaves work that it sees LOOKS times, and then takes it. All posters publish
 * tasks then, since injected work is not held back.
 *
 * One sleeper at a time looks at the queue, and once more for those who come meanwhile. If
 * it sees something it stays awake, leaves, and wakes one of them; idle workers search then,
 * so in this model they do not even wake anybody, and no job is lost.
 *
 * With HELPERS the workers are helpers: nobody trusts that they search, so posters wake one
 * for each job. Worker 0 is called away at some moment: its latch is set, and it ends. If
 * it looks for others then, it wakes one of them instead; if it was woken for jobs, it
 * wakes the next one. The others wait for ever, as far as this model goes. The latch itself
 * is in latch.pml: here its setter always reaches for the bit. With STAYS_WITH_OTHERS the
 * one that looks wakes another one and stays as long as others come: then those that it
 * wakes may be the ones that come, and it never gets away.
 *
 * Jobs end, or with LONG_JOBS keep their worker for ever: then each needs its own worker,
 * and the chain of wake-ups is on trial.
 *
 * Safety: the counts fit at each step, and when nothing can happen any more, every job has
 * been run. Liveness: every job is run, and a helper that is called away goes, under weak
 * fairness.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef POSTERS
#define POSTERS 2
#endif
#ifndef JOBS
#define JOBS 1
#endif
#ifndef MODULUS
#define MODULUS 4
#endif
#ifndef SPURIOUS
#define SPURIOUS 1
#endif
#ifndef LOOKS
#define LOOKS 1
#endif
#define TOTAL (POSTERS * JOBS)
#define NOBODY 255

byte queue;             /* published and not taken */
byte executed;
bool buffered[POSTERS]; /* a publication that is not visible yet */

byte inactive, jec;     /* the words of counters.h */

bool in_set[WORKERS];   /* x_sets[IDLE], or of helpers: one word, read at once */
bool parked[WORKERS];   /* x_park = PARKED */
bool blocked[WORKERS];  /* in the kernel's queue for the word */
byte looking;           /* x_looks: nobody, one, one that has to look once more */

#ifdef HOLD_BACK
bool watched;           /* x_watched */
bool held;              /* x_held */
bool watches[WORKERS];  /* woken to be the watcher */
#define IS_TASK(poster) true
#elif defined(HELPERS)
#define IS_TASK(poster) true
#else
#define IS_TASK(poster) (poster % 2 == 1)
#endif

#if WORKERS == 2
#define SLEEPING (in_set[0] + in_set[1])
#else
#define SLEEPING (in_set[0] + in_set[1] + in_set[2])
#endif

#ifdef HELPERS
bool latch_set;           /* of what worker 0 waits for */
bool was_called[WORKERS]; /* woken for jobs, and has not looked for them yet */
bool has_gone;            /* worker 0, or it is at a job that does not end */
#define IS_CALLED_AWAY (me == 0 && latch_set)
#define NOTE noted = true
#define COUNT_IN skip
#define COUNT_OUT skip
#define COUNTS_FIT skip
#else
#define IS_CALLED_AWAY false
#define NOTE skip
#define COUNT_IN inactive++
#define COUNT_OUT inactive--
#define COUNTS_FIT assert(SLEEPING <= inactive && inactive <= WORKERS)
#endif

/* What the one that looks does when others have come meanwhile. Helpers wake one if they
 * leave, or have seen something for them. */
#if defined(HELPERS) && !defined(LEAVES_SILENTLY)
#define WAKES_FOR_OTHERS true
#else
#define WAKES_FOR_OTHERS false
#endif

/* Temporaries are cleared after use, and what happens between two accesses to shared words
 * is part of the step before: both make no difference but to the number of states. */

/* ---- claim and wake: both posters and workers do it ---- */

/* The lowest bit but that of the caller, claimed by whoever takes it out. */
inline take_any(who, caller) {
  atomic {
    who = 0;
    do
    :: who < WORKERS && (!in_set[who] || who == caller) -> who++
    :: who == WORKERS -> who = NOBODY; break
    :: who < WORKERS && in_set[who] && who != caller -> break
    od
#ifndef CLAIM_IN_TWO_STEPS
    ;
    if
#ifndef WAKE_WITHOUT_CLAIM
    :: who != NOBODY -> in_set[who] = false
#endif
    :: else
    fi
#endif
  };
#ifdef CLAIM_IN_TWO_STEPS
  if
  :: who != NOBODY -> in_set[who] = false
  :: else
  fi
#endif
}

inline futex_wake(who) {
  d_step { blocked[who] = false; who = 0 }
}

inline unpark(who) {
#ifdef WAKE_BEFORE_STORE
  blocked[who] = false;
  atomic { parked[who] = false; who = 0 }
#else
  parked[who] = false;
  futex_wake(who)
#endif
}

inline wake_one(who, caller) {
  take_any(who, caller);
  if
  :: who != NOBODY ->
#ifdef HELPERS
     was_called[who] = true; /* its claimer's until it is unparked */
#endif
     unpark(who)
  :: else -> who = 0
  fi
}

#ifdef HOLD_BACK
/* hold_back: in the place of a wake-up. */
inline wake_or_hold_back(who, caller) {
  held = true;
#ifndef NO_WATCHER
elect:
  atomic { /* the load and the compare-and-swap */
    if
    :: !watched -> watched = true; who = 0
    :: else -> who = NOBODY
    fi
  };
  if
  :: who != NOBODY ->
     take_any(who, caller);
     if
     :: who != NOBODY -> watches[who] = true; unpark(who)
     :: else ->
        who = 0;
        watched = false;
#ifndef ELECTS_ONCE
        if /* has somebody gone to sleep, and another thread counted on a watcher? */
        :: SLEEPING > 0 -> goto elect
        :: else
        fi
#endif
     fi
  :: else -> who = 0
  fi
#endif
}
#else
#define wake_or_hold_back(who, caller) wake_one(who, caller)
#endif

/* ---- posters: wf_sleep_new_injected (even number), wf_sleep_new_tasks (odd) ---- */

proctype poster(byte me) {
  byte posted, who, asleep;
  bool was_empty;
  do
  :: posted < JOBS ->
     atomic { /* publish */
       was_empty = (IS_TASK(me) && queue == 0);
       buffered[me] = true;
       posted++
     };
#ifndef NO_POST_FENCE
     !buffered[me]; /* fence */
#endif
     atomic { /* wf_counters_post; a compare-and-swap waits for the store buffer */
#ifndef NO_JEC
       if
       :: jec % 2 == 0 -> !buffered[me]; jec = (jec + 1) % MODULUS
       :: else
       fi;
#endif
#ifndef COUNTER_ALONE /* for which all is under one mutex */
       skip
     };
     atomic { /* wf_sleep_sleeping */
#endif
       asleep = SLEEPING;
       if
       :: asleep == 0 -> was_empty = false; goto posted_one
       :: else
       fi;
#ifndef COUNTER_ALONE
     };
     atomic { /* awake_idle */
#endif
       if
       :: inactive > asleep && (!IS_TASK(me) || was_empty) ->
          asleep = 0; was_empty = false;
          goto posted_one /* trusts the one that searches */
       :: else -> asleep = 0; was_empty = false
       fi
     };
     wake_or_hold_back(who, NOBODY);
posted_one:
     skip
  :: else -> break
  od;
  !buffered[me]
}

/* The hardware empties the store buffers. */
active proctype memory() {
end:
  do
  :: atomic { buffered[0] -> buffered[0] = false; queue++ }
#if POSTERS > 1
  :: atomic { buffered[1] -> buffered[1] = false; queue++ }
#endif
  od
}

/* ---- workers: wait_for_work, wf_sleep_idle, park ---- */

proctype worker(byte me) {
  byte announced, who, spurious, asleep;
  bool sees, insists;
#ifdef HELPERS
  bool called, noted;
#endif
#ifdef HOLD_BACK
  byte looks;
  bool was_held;
#endif
search:
  atomic {
    if
    :: queue > 0 -> queue--; goto work
    :: else
    fi
  };
  atomic { COUNT_IN; COUNTS_FIT };
again:
  atomic {
    announced = 0;
    if
    :: IS_CALLED_AWAY -> goto leave
    :: else
    fi;
    if
    :: queue > 0 -> queue--; goto found
    :: else
    fi
  };
#if !defined(NO_JEC) && !defined(HELPERS)
  atomic { /* wf_counters_announce */
    if
#ifdef EVEN_TO_ODD_ON_BOTH_SIDES
    :: jec % 2 == 0 -> jec = (jec + 1) % MODULUS
#else
    :: jec % 2 == 1 -> jec = (jec + 1) % MODULUS
#endif
    :: else
    fi;
    announced = jec
  };
  atomic {
    if
    :: queue > 0 -> announced = 0; queue--; goto found
    :: else
    fi
  };
#ifdef STOPS_AFTER_THE_SEARCH
register: /* as if its last look had counted, and the sleep needed none */
  announced = jec;
#endif
  atomic { /* may_sleep */
    if
    :: jec == announced || insists -> announced = 0; insists = false
    :: else ->
#ifndef COUNTER_ALONE /* which needs no look, and so must be right every time */
       insists = true; /* it is kept from sleeping once */
#endif
       goto again
    fi;
#ifdef COUNTER_ALONE
    /* As if park word and bit were set under one mutex with the posters. */
    parked[me] = true;
    in_set[me] = true;
    goto block
#endif
  };
#endif
#ifdef LOOK_BEFORE_REGISTERING
  if
  :: queue > 0 -> goto again
  :: else
  fi;
#endif
#ifdef HELPERS
  atomic { called = was_called[me]; was_called[me] = false };
#endif
#ifdef PARK_WORD_AFTER_BIT
  in_set[me] = true;
  parked[me] = true;
#else
  parked[me] = true;
  atomic { in_set[me] = true; COUNTS_FIT };
#endif
#ifdef HELPERS
  if /* wf_latch_probe */
  :: IS_CALLED_AWAY -> sees = true; goto stay
  :: else
  fi;
#endif
  /* The fence: the bit is set by a read-modify-write, after which TSO needs none. */
#if !defined(NO_LOOK) && !defined(LOOK_BEFORE_REGISTERING)
  atomic { /* begin_look */
    if
    :: looking == 0 -> looking = 1
#ifdef LEAVES_NO_NOTE
    :: else -> goto block
#else
    :: else -> looking = 2; goto block
#endif
    fi
  };
look:
  sees = (queue > 0 || IS_CALLED_AWAY);
#ifdef STAYS_WITH_OTHERS
  if
  :: noted && sees -> noted = false; wake_one(who, me)
  :: else -> noted = false
  fi;
#endif
  atomic { /* end_look */
    if
#ifdef NOT_ONCE_MORE
    :: true -> looking = 0
#else
    :: looking == 1 -> looking = 0
#ifndef STAYS_WITH_OTHERS
    :: looking == 2 && sees -> NOTE; looking = 0 /* leaves */
    :: looking == 2 && !sees -> NOTE; looking = 1; goto look
#else
    :: looking == 2 -> NOTE; looking = 1; goto look
#endif
#endif
    fi
  };
#if defined(HELPERS) && !defined(STAYS_WITH_OTHERS)
  if
  :: noted && sees && WAKES_FOR_OTHERS -> noted = false; wake_one(who, me)
  :: else -> noted = false
  fi;
#endif
stay:
  if
  :: sees ->
     atomic { /* takes its own bit out, unless somebody has claimed it */
       if
       :: in_set[me] -> in_set[me] = false
       :: else -> goto block
       fi;
#ifdef HELPERS
       was_called[me] = called;
       called = false;
#endif
       sees = false
     };
     goto again
  :: else
  fi;
#endif
block: /* The loop of park. A wait is entered only if the word still has its value. */
  atomic {
    if
    :: parked[me] -> blocked[me] = true
    :: else ->
#ifdef HELPERS /* it has not looked to the end if `sees` */
       was_called[me] = was_called[me] || (sees && called);
       called = false;
#endif
       sees = false;
#ifdef HOLD_BACK
       if
       :: watches[me] -> watches[me] = false; looks = 0; goto watch
       :: else
       fi;
#endif
       goto again
    fi
  };
end_asleep:
  if
  :: atomic { !blocked[me] -> goto block }
  :: atomic {
       blocked[me] && spurious < SPURIOUS ->
       spurious++;
       blocked[me] = false;
#ifdef SPURIOUS_IS_A_WAKE
       goto again
#else
       goto block
#endif
     }
  fi;
#ifdef HOLD_BACK
watch: /* watch_for_a_while: no jobs event counter, it looks again by itself */
  parked[me] = true;
  atomic { in_set[me] = true; COUNTS_FIT };
  /* The timed wait: a claim ends it, or the time, at any moment. */
  if
  :: !parked[me] -> goto stop
  :: atomic { in_set[me] -> in_set[me] = false } /* the time is over, and it is not claimed */
  fi;
  atomic { was_held = held; held = false };
  if
  :: queue > 0 ->
     if
     :: looks < LOOKS -> looks++; goto watch
     :: looks == LOOKS -> goto stop
     fi
  :: queue == 0 ->
     if
     :: was_held -> looks = 0; goto watch
     :: else
     fi
  fi;
stop:
  atomic { looks = 0; was_held = false };
#ifdef STOPS_AFTER_THE_SEARCH
  if
  :: atomic { queue > 0 -> queue--; watched = false; goto found }
  :: queue == 0
  fi;
  watched = false;
  goto register
#else
  watched = false;
  goto again;
#endif
#endif
leave: /* called away: for what it was woken somebody else has to look */
#ifdef HELPERS
  atomic { called = was_called[me]; was_called[me] = false };
#ifndef KEEPS_THE_CALL
  if
  :: called -> called = false; wake_one(who, me)
  :: else
  fi;
#endif
#endif
  goto gone;
found: /* leave_idle: before it runs the job, it wakes the next one if nobody searches */
  atomic { COUNT_OUT; COUNTS_FIT };
#ifdef HELPERS
  was_called[me] = false;
#endif
#ifndef NO_WAKE_NEXT
  atomic { /* wf_sleep_sleeping */
    asleep = SLEEPING;
    if
    :: asleep == 0 -> goto work
    :: else
    fi
  };
  atomic { /* awake_idle */
    if
    :: inactive > asleep -> asleep = 0; goto work
    :: else -> asleep = 0
    fi
  };
  wake_or_hold_back(who, NOBODY);
#endif
work:
  atomic { executed++; assert(executed <= TOTAL) };
#ifndef LONG_JOBS
  goto search;
#endif
gone:
#ifdef HELPERS
  has_gone = has_gone || me == 0
#else
  skip
#endif
}

#ifdef HELPERS
/* Sets the latch of worker 0. */
active proctype setter() {
  bool claimed;
  latch_set = true;
  atomic { claimed = in_set[0]; in_set[0] = false };
  if
  :: claimed -> parked[0] = false; blocked[0] = false
  :: else
  fi
}
#endif

/* When nothing can happen any more, no job may be left. */
active proctype watch() {
  timeout -> assert(executed == TOTAL)
}

init {
  byte i;
  atomic {
    for (i : 0 .. WORKERS - 1) { run worker(i) };
    for (i : 0 .. POSTERS - 1) { run poster(i) };
    i = 0
  }
}

#ifdef HELPERS
ltl all_executed { <> (executed == TOTAL && has_gone) }
#else
ltl all_executed { <> (executed == TOTAL) }
#endif
