/* spin/deque.pml - the split deque with its asymmetric barrier: src/core/deque.c and the
 * inlined fork and join of include/weft/detail/fork_join.h.
 *
 * The owner forks and joins without a fence; its stores go through a store buffer as on a
 * TSO machine, a channel that the hardware empties at any time. Fences, read-modify-writes
 * and the lock wait until it is empty; a process-wide barrier empties it. THIEVES thieves
 * each do ROUNDS things in any order: steal, ask, take over (pin, note, barrier, expose).
 *
 * Stores of thieves are visible at once: each is a compare-and-swap or happens under the
 * lock, whose release empties their buffer before they load anything that matters.
 * Abstracted: indices instead of pointers into the ring; one ring that is large enough,
 * no laps, growth or overflow; a waiter for a stolen task waits until it was run (the
 * latch is in latch.pml); flags of background work.
 *
 * PROGRAM 0 forks two tasks, joins both, and forks and joins a third; PROGRAM 1 forks three
 * and joins three. EAGER is the build without a barrier. With SLEEPER the owner forks
 * and joins one task, forks another and then works for ever, and the only thief goes to sleep by the steps of
 * src/sched/sleep.md: the task must be found, or its fork must wake the sleeper.
 *
 * Safety: each task is run once, and what a thief reads from a slot is a task; no deadlock.
 * Liveness: all tasks are run, under weak fairness.
 *
 * SPDX-License-Identifier: MIT */
#ifndef THIEVES
#define THIEVES 2
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#ifndef PROGRAM
#define PROGRAM 0
#endif
#ifdef SLEEPER
#define TASKS 2
#else
#define TASKS 3
#endif

#define SLOTS 4
#define NO_TASK 255

/* The two low bits of x_asked; above them the count of openings. */
#define NOT 0
#define PINNED 1
#define SEALED 2
#define RICH 3
#define STATE(asked) ((asked) % 4)

/* Values of the words that fork and join compare with. */
#define LIMIT_PINNED 0
#define GATE_PINNED 200
#define LIMIT_FAR 100

byte top, split, bottom;
byte slot[SLOTS] = NO_TASK;
byte gate = GATE_PINNED;
byte limit = LIMIT_PINNED;
byte asked = SEALED;
bool locked;
byte ran[TASKS];
byte all_ran;
bool registered, woken; /* of the sleeper */

/* ---- the owner's store buffer ---- */

#define BOTTOM 0
#define SPLIT 1
#define GATE 2
#define LIMIT 3
#define ASKED 4
#define SLOT 5

chan buffer = [4] of { byte, byte };

inline apply(word, value) {
  if
  :: word == BOTTOM -> bottom = value
  :: word == SPLIT -> split = value
  :: word == GATE -> gate = value
  :: word == LIMIT -> limit = value
  :: word == ASKED -> asked = value
  :: word >= SLOT -> slot[word - SLOT] = value
  fi
}

/* The hardware empties it, one store after the other. */
active proctype memory() {
  byte word, value;
end:
  do
  :: atomic { buffer?word,value -> apply(word, value); word = 0; value = 0 }
  od
}

/* wf_sys_barrier: the owner executes a full fence at a moment within the call. */
inline barrier() {
#ifdef NO_BARRIER
  skip
#else
  atomic {
    do
    :: nempty(buffer) -> buffer?word,value; apply(word, value)
    :: empty(buffer) -> break
    od;
    word = 0;
    value = 0
  }
#endif
}

#define FENCE empty(buffer)

inline execute(task) {
  ran[task]++;
  assert(ran[task] == 1);
  all_ran++
}

/* ---- the owner's slow halves; its own words are in b (bottom) and s (split) ---- */

inline owner_lock() {
  atomic { !locked && FENCE -> locked = true; s = split; a = asked }
}

inline owner_unlock() {
  atomic { FENCE -> locked = false; s = 0; a = 0 }
}

inline open_pins() {
  buffer!LIMIT,LIMIT_FAR;
#ifdef GATE_BELOW_SPLIT
  buffer!GATE,0
#else
  buffer!GATE,s
#endif
}

/* Moves split over the older half of what is private, and opens the pins; with nothing to
 * give, seals them. */
inline answer() {
  if
  :: STATE(a) == NOT -> open_pins()
  :: STATE(a) != NOT && b > s ->
#ifdef EAGER
     atomic { s = b; exposed = true };
     buffer!SPLIT,s
#else
     atomic { s = s + (b - s + 1) / 2; exposed = true };
     buffer!SPLIT,s;
     a = a - STATE(a) + 4;
     buffer!ASKED,a;
     open_pins()
#endif
  :: else ->
     a = a - STATE(a) + SEALED;
     buffer!ASKED,a
  fi
}

/* wf_sleep_new_tasks, as far as the one sleeper goes. */
inline tell() {
  if
  :: exposed ->
     FENCE;
     atomic { exposed = false; if :: registered -> woken = true :: else fi }
  :: else
  fi
}

/* The newest task, at index b - 1, is public. */
inline retract(index) {
  t = top;
  if
  :: index >= t ->
#ifdef EAGER
     s = index;
#else
     s = t + (index - t) / 2;
#endif
     buffer!SPLIT,s;
#ifndef NO_RETRACT_FENCE
     FENCE;
#endif
     t = top;
     if
     :: s > t -> b = index; won = true
     :: s <= t && index > t -> s = t + 1; buffer!SPLIT,s; b = index; won = true
     :: t == index ->
#ifdef LAST_WITHOUT_CAS
        won = true;
        top = index + 1;
#else
        atomic {
          FENCE;
          if
          :: top == t -> top = t + 1; won = true
          :: else -> won = false
          fi
        };
#endif
        b = index + 1; s = b; buffer!SPLIT,s
     :: t > index -> b = index + 1; s = b; buffer!SPLIT,s; won = false
     fi
  :: else -> b = index + 1; s = b; buffer!SPLIT,s; won = false
  fi;
  buffer!BOTTOM,b;
  t = 0
}

/* ---- the owner's fast path ---- */

inline fork(task) {
  buffer!(SLOT + b),task;
  b++;
  buffer!BOTTOM,b;
  if
  :: b >= limit -> owner_lock(); answer(); owner_unlock(); tell()
  :: else
  fi
}

inline join(task) {
#ifdef NO_LIGHT_BARRIER
  /* The compiler loads gate first. */
  won = (b - 1 >= gate);
  b--;
  buffer!BOTTOM,b;
  if
  :: won ->
#else
  b--;
  buffer!BOTTOM,b;
  if
  :: b >= gate ->
#endif
     atomic { won = false; execute(task) } /* still private */
  :: else ->
     b++;
     buffer!BOTTOM,b;
     won = false;
     if
     :: b > top ->
        owner_lock();
        if
        :: b - 1 >= s -> b--; buffer!BOTTOM,b; won = true
        :: else -> retract(b - 1)
        fi;
        answer();
        owner_unlock();
        tell()
     :: else -> /* stolen: the owner seals closed pins, if it sees them */
        if
        :: STATE(asked) == PINNED || STATE(asked) == RICH ->
           owner_lock();
           answer();
           owner_unlock();
           tell()
        :: else
        fi
     fi;
     if
     :: won -> atomic { won = false; execute(task) }
     :: else -> ran[task] == 1
     fi
  fi
}

active proctype owner() {
  byte b, s, a, t;
  bool won, exposed;
#ifdef SLEEPER
  fork(0);
  join(0); /* after this the pins are open, unless the thief has closed them again */
  fork(1);
  ran[1] == 1
#else
#if PROGRAM == 0
  fork(0);
  fork(1);
  join(1);
  join(0);
  fork(2);
  join(2)
#else
  fork(0);
  fork(1);
  fork(2);
  join(2);
  join(1);
  join(0)
#endif
#endif
}

/* ---- thieves ---- */

inline steal() {
#ifdef SPLIT_BEFORE_TOP
  s = split;
  t = top;
#else
  t = top;
  /* The fence: TSO keeps loads in order. */
  s = split;
#endif
  if
  :: s > t ->
     task = slot[t % SLOTS];
     atomic {
       if
       :: top == t -> top++; assert(task != NO_TASK); execute(task)
       :: else
       fi;
       s = 0; t = 0; task = 0
     }
  :: else -> atomic { s = 0; t = 0 }
  fi
}

inline pin_locked() {
  if
  :: STATE(asked) == NOT -> gate = GATE_PINNED; limit = LIMIT_PINNED; asked = asked + PINNED
  :: else
  fi
}

inline ask() {
  if
  :: atomic { STATE(asked) == NOT && !locked -> locked = true }; pin_locked(); locked = false
  :: else
  fi
}

inline expose_for_owner() {
  if
  :: STATE(noted) == PINNED || STATE(noted) == RICH ->
     atomic { !locked -> locked = true };
     if
#ifdef NO_COUNT_OF_OPENINGS
     :: STATE(asked) == PINNED || STATE(asked) == RICH ->
#else
     :: (asked == noted && STATE(asked) == PINNED) || STATE(asked) == RICH ->
#endif
        s = split;
        t = bottom;
        if
        :: t > s ->
           split = s + (t - s + 1) / 2;
           atomic {
             if
             :: t - s > 1 -> asked = asked - STATE(asked) + RICH
             :: else -> asked = asked - STATE(asked) + SEALED
             fi
           }
        :: else -> asked = asked - STATE(asked) + SEALED
        fi
     :: else
     fi;
     atomic { locked = false; s = 0; t = 0; noted = 0 }
  :: else -> noted = 0
  fi
}

inline take_over() {
  if
  :: STATE(asked) == NOT -> atomic { !locked -> locked = true }; pin_locked(); locked = false
  :: else
  fi;
  noted = asked;
  if
  :: STATE(noted) == PINNED -> barrier()
  :: else
  fi;
  expose_for_owner()
}

#ifdef SLEEPER

active proctype sleeper() {
  byte s, t, task, noted, word, value;
again:
  steal();
  if
  :: all_ran == TASKS -> goto done
  :: else
  fi;
  registered = true;
  if
  :: split > top -> atomic { registered = false; woken = false; goto again }
  :: else
  fi;
  take_over();
  if
  :: split > top -> atomic { registered = false; woken = false; goto again }
  :: else
  fi;
  atomic { woken -> registered = false; woken = false; goto again };
done:
  skip
}

#else

active [THIEVES] proctype thief() {
  byte s, t, task, noted, word, value, round;
  do
  :: round < ROUNDS ->
     round++;
     if
     :: skip -> steal()
     :: skip -> ask()
     :: skip -> take_over(); steal()
     fi
  :: else -> break
  od
}

#endif

ltl all_tasks_run { <> (all_ran == TASKS) }
