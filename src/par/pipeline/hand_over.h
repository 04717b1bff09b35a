/* par/pipeline/hand_over.h - how items get from thread to thread: stages that admit one
 * at a time, items that wait, items that any thread may go on with.
 *
 * A token is a place for an item, and what is known about the item that is in it. At each
 * moment a token belongs to one thread, or waits in exactly one of these: a seat of an
 * ordered stage, the list of a serial stage, the stack of ready tokens, the stack of idle
 * tokens. Every function that puts a token somewhere gives it away: the caller does not
 * touch it afterwards. Nothing here waits, and nothing here knows of pools or workers.
 * Protocol and proofs: pipeline.md.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_PAR_PIPELINE_HAND_OVER_H
#define WF_PAR_PIPELINE_HAND_OVER_H

#include "../../core/assert.h"
#include "../../core/atomic.h"

#include <stddef.h>

/* Written by whoever has the token, but for x_below: a thread that pops a ready token may
 * read that of a token which others have popped meanwhile. */
typedef struct wf_token {
  _Alignas(WF_CACHE_LINE) size_t number; /* of its item */
  struct wf_token *next;                 /* in the list of a serial stage, or idle */
  uint32_t index;                        /* of the token itself */
  uint32_t stage;                        /* where its item goes on, or is now */
  wf_u32 x_below; /* 1 + the index of the ready token below it; 0: none */
  bool admitted;  /* it was given the stage: nobody else is in there */
  bool is_void;   /* its number has no item; it only passes its turns on */
  bool is_fresh;  /* no item has been in it */
} wf_token;

/* A token that is used for the first time. */
wf_token *wf_token_init(wf_token *tokens, uint32_t index);

/* ---- ordered stages: by turns ---- */

/* Item n may enter when item n - 1 has left. Both meet at the seat n & mask: the item
 * leaves itself there if it comes first, the predecessor leaves TURN. The one that comes
 * second finds the other. The seat of the item that is in the stage is empty. There are
 * at least as many seats as tokens, a power of two, because a division would cost more
 * than the rest. */
enum { WF_SEAT_EMPTY = 0, WF_SEAT_TURN = 1 };

typedef struct wf_seat {
  _Alignas(WF_CACHE_LINE) wf_word x_state; /* EMPTY, TURN or a wf_token */
} wf_seat;

/* Before anybody uses the seats: number 0 may enter. */
void wf_turn_init(wf_seat *seats, size_t count);

/* True: the token may enter. False: it waits at its seat, and is given away. */
bool wf_turn_enter(wf_seat *seats, size_t mask, wf_token *token);

/* The item with this number leaves. Returns the next token if it has waited: it is
 * admitted now, and the caller's. Else NULL. */
wf_token *wf_turn_leave(wf_seat *seats, size_t mask, size_t number);

/* ---- serial stages: one at a time ---- */

/* FREE: nobody is in. BUSY: somebody is, and nobody has come since. Else somebody is in,
 * and this is the token that came last, with `next` leading to those before it. */
enum { WF_DOOR_FREE = 0, WF_DOOR_BUSY = 1 };

typedef struct wf_door {
  _Alignas(WF_CACHE_LINE) wf_word x_state;
  wf_token *first; /* of those that came before the list was last taken; the one who is
                      inside owns it */
} wf_door;

/* As wf_turn_enter and wf_turn_leave. Tokens that wait enter in the order in which they
 * came, as far as leavers have seen them. */
bool wf_door_enter(wf_door *door, wf_token *token);
wf_token *wf_door_leave(wf_door *door);

/* ---- the source: a first stage for one item at a time ---- */

/* Idle tokens have no item. One of them may go to the first stage when that is free. The
 * thread that has the source takes them from the stack, any thread puts them there. */
typedef struct wf_source {
  _Alignas(WF_CACHE_LINE) wf_u32 x_state; /* WF_DOOR_FREE or WF_DOOR_BUSY */
  wf_u32 x_fresh;                         /* tokens that were never used: from here on */
  size_t next_number;                     /* the one who has the source */
  _Alignas(WF_CACHE_LINE) wf_word x_idle; /* the idle token that came last, or 0 */
} wf_source;

/* True: the caller has the source. */
bool wf_source_take(wf_source *source);
void wf_source_leave(wf_source *source);

/* Puts an idle token away. */
void wf_source_put_idle(wf_source *source, wf_token *token);

/* Can an item be started? Exact if nobody changes anything meanwhile. */
bool wf_source_is_ready(const wf_source *source, uint32_t tokens);

/* Takes the source and an idle token, the one that came last or else a fresh one; NULL if
 * another thread has the source, or there is no token. */
wf_token *wf_source_start(wf_source *source, wf_token *tokens, uint32_t count);

/* ---- ready tokens ---- */

/* A stack of tokens that any thread may go on with. The word has the index of the top
 * token plus one, 0 for none, in its low half; the other half counts changes, so that a
 * pop that was overtaken fails even if the same token is on top again. */
typedef struct wf_ready {
  _Alignas(WF_CACHE_LINE) wf_u64 x_top;
} wf_ready;

void wf_ready_push(wf_ready *ready, wf_token *tokens, wf_token *token);
wf_token *wf_ready_pop(wf_ready *ready, wf_token *tokens);
bool wf_ready_any(const wf_ready *ready);

#endif
