/* Pipelines under the explorer: the turns of ordered stages, the doors of serial ones,
 * the source, the stack of ready tokens, each alone; then members that come and go.
 *
 * SPDX-License-Identifier: MIT */
#include <explore/engine/explore.h>

/* With what is static there. */
#include <par/pipeline/run.c>
#include <stdlib.h>
#include <string.h>

enum { TOKENS = 3, STAGES = 3, SEATS = 4 };

/* On the heap, where plain accesses are checked for races. */
typedef struct world {
  wf_seat seats[2 * SEATS];
  wf_token tokens[TOKENS];
  wf_pipe_stage stages[STAGES];
  wf_pipe pipe;
  wf_door door;
  wf_source source;
  wf_ready ready;
  unsigned inside;            /* of a stage for one at a time */
  unsigned visits[TOKENS];    /* of each token */
  unsigned items[TOKENS][16]; /* of the pipe: which stages have run */
  size_t next[STAGES];        /* the number that an ordered stage expects */
} world;

static world *w;
static unsigned through[8]; /* per number, through the last stage */
static unsigned found[4];   /* per thread */

static void make_world(void) {
  w = (world *)aligned_alloc(WF_CACHE_LINE, sizeof *w);
  XP_CHECK(w != NULL);
  memset(w->visits, 0, sizeof w->visits);
  memset(w->items, 0, sizeof w->items);
  memset(w->next, 0, sizeof w->next);
  memset(through, 0, sizeof through);
  memset(found, 0, sizeof found);
  w->inside = 0;
  for (uint32_t i = 0; i < TOKENS; i++) {
    wf_token_init(w->tokens, i);
    w->tokens[i].number = i;
  }
  wf_turn_init(w->seats, SEATS);
  wf_word_init(&w->door.x_state, WF_DOOR_FREE);
  w->door.first = NULL;
  wf_u32_init(&w->source.x_state, WF_DOOR_FREE);
  wf_u32_init(&w->source.x_fresh, 0);
  wf_word_init(&w->source.x_idle, 0);
  w->source.next_number = 0;
  wf_u64_init(&w->ready.x_top, 0);
}

static void visit(wf_token *token) {
  XP_CHECK(w->inside == 0);
  w->inside++;
  w->visits[token->index]++;
  w->inside--;
}

static void each_visited_once(void) {
  for (unsigned i = 0; i < TOKENS; i++) XP_CHECK(w->visits[i] == 1);
  XP_CHECK(w->inside == 0);
  free(w);
}

/* ---- turns ---- */

/* Each thread brings one item, and goes on with those that it is handed. */
static void bring_in_turn(unsigned i) {
  wf_token *token = &w->tokens[i];
  if (!wf_turn_enter(w->seats, SEATS - 1, token)) return;
  while (token != NULL) {
    token->admitted = false;
    size_t number = token->number;
    XP_CHECK(w->next[0] == number);
    w->next[0]++;
    visit(token);
    token = wf_turn_leave(w->seats, SEATS - 1, number);
  }
}
static void in_turn_0(void) {
  bring_in_turn(0);
}
static void in_turn_1(void) {
  bring_in_turn(1);
}
static void in_turn_2(void) {
  bring_in_turn(2);
}
SCENARIO(turns, .setup = make_world, .threads = {in_turn_0, in_turn_1, in_turn_2},
         .check = each_visited_once, .bound = 3, .quick_bound = 2)

/* ---- doors ---- */

static void go_through_door(unsigned i) {
  wf_token *token = &w->tokens[i];
  if (!wf_door_enter(&w->door, token)) return;
  while (token != NULL) {
    token->admitted = false;
    visit(token);
    token = wf_door_leave(&w->door);
  }
}
static void through_door_0(void) {
  go_through_door(0);
}
static void through_door_1(void) {
  go_through_door(1);
}
static void through_door_2(void) {
  go_through_door(2);
}
SCENARIO(door, .setup = make_world,
         .threads = {through_door_0, through_door_1, through_door_2},
         .check = each_visited_once, .bound = 3, .quick_bound = 2)

/* ---- ready tokens ---- */

/* Pops and pushes the same token again: a pop that is overtaken by that must not take the
 * token that lay below it before. */
static void two_ready(void) {
  make_world();
  wf_ready_push(&w->ready, w->tokens, &w->tokens[0]);
  wf_ready_push(&w->ready, w->tokens, &w->tokens[1]);
}
static void pop_and_visit(void) {
  wf_token *token = wf_ready_pop(&w->ready, w->tokens);
  if (token != NULL) w->visits[token->index]++;
}
static void pop_two_push_one(void) {
  wf_token *a = wf_ready_pop(&w->ready, w->tokens);
  wf_token *b = wf_ready_pop(&w->ready, w->tokens);
  if (b != NULL) w->visits[b->index]++;
  if (a != NULL) wf_ready_push(&w->ready, w->tokens, a);
}
static void push_another(void) {
  wf_ready_push(&w->ready, w->tokens, &w->tokens[2]);
}
static void all_popped_once(void) {
  wf_token *token;
  while ((token = wf_ready_pop(&w->ready, w->tokens)) != NULL) w->visits[token->index]++;
  XP_CHECK(!wf_ready_any(&w->ready));
  each_visited_once();
}
SCENARIO(ready_tokens, .setup = two_ready,
         .threads = {pop_and_visit, pop_two_push_one, push_another},
         .check = all_popped_once, .bound = 3, .quick_bound = 2)
/* A token that was just pushed comes with the one below it. */
SCENARIO(ready_token_and_below, .setup = two_ready,
         .threads = {push_another, pop_and_visit}, .check = all_popped_once,
         .bound = XP_UNBOUNDED)

/* ---- the source ---- */

/* One thread leaves the first stage, another one has no use for its token any more: at
 * least one of them sees that an item can be started. */
static void source_taken(void) {
  make_world();
  wf_u32_init(&w->source.x_fresh, TOKENS); /* all tokens are in use */
  wf_u32_init(&w->source.x_state, WF_DOOR_BUSY);
}
static void release_and_look(void) {
  wf_source_leave(&w->source);
  found[0] = wf_source_is_ready(&w->source, TOKENS);
}
static void put_and_look(void) {
  wf_source_put_idle(&w->source, &w->tokens[0]);
  found[1] = wf_source_is_ready(&w->source, TOKENS);
}
static void one_has_seen_it(void) {
  XP_CHECK(found[0] + found[1] >= 1);
  free(w);
}
SCENARIO(source_and_idle, .setup = source_taken,
         .threads = {release_and_look, put_and_look}, .check = one_has_seen_it,
         .bound = XP_UNBOUNDED)

/* Three threads start what can be started: one has the source at a time. */
static void start_and_put_back(void) {
  wf_token *token = wf_source_start(&w->source, w->tokens, 2);
  if (token == NULL) return;
  XP_CHECK(w->inside == 0);
  w->inside++;
  w->source.next_number++;
  w->inside--;
  wf_source_leave(&w->source);
  wf_source_put_idle(&w->source, token);
  found[xp_self()]++;
}
static void source_is_free(void) {
  XP_CHECK(wf_source_is_ready(&w->source, 2));
  XP_CHECK(found[0] + found[1] + found[2] + found[3] == w->source.next_number);
  XP_CHECK(w->source.next_number >= 1);
  free(w);
}
SCENARIO(source_start, .setup = make_world,
         .threads = {start_and_put_back, start_and_put_back, start_and_put_back},
         .check = source_is_free, .bound = 2, .quick_bound = 1)

/* ---- members ---- */

static weft_opts no_opts;
static size_t item_count;
static wf_u32 x_wanted; /* members that were brought and have not come */
static wf_u32
    x_members; /* those that were brought and have not left, as a scope counts */
static wf_u32 x_finished; /* the caller has come to its end */
static wf_u32 x_arrived;  /* items in the stage where they meet */
static wf_u32 x_inside;   /* threads in stages that do not block, if one may be */
static bool items_meet;   /* items wait for each other in the second stage */
static size_t fails_at;

static void want_member(wf_pipe *p) {
  (void)p;
  wf_u32_fetch_add_relaxed(&x_members, 1);
  wf_u32_fetch_add_seq_cst(&x_wanted, 1);
}

static bool come_if_wanted(void) {
  uint32_t wanted = wf_u32_load_acquire(&x_wanted);
  while (wanted > 0)
    if (wf_u32_cas_seq_cst(&x_wanted, &wanted, wanted - 1)) {
      wf_pipe_join(&w->pipe, false);
      wf_u32_fetch_sub_release(&x_members, 1);
      return true;
    }
  return false;
}

/* In a pipe for one thread, two are never in stages that do not block. */
static void enter_alone(const wf_pipe_stage *s) {
  if (!w->pipe.is_strict || s->blocks) return;
  XP_CHECK(wf_u32_fetch_add_seq_cst(&x_inside, 1) == 0);
}
static void leave_alone(const wf_pipe_stage *s) {
  if (w->pipe.is_strict && !s->blocks) wf_u32_fetch_sub_seq_cst(&x_inside, 1);
}

static int stage_of_pipe(void *item, size_t number, void *ctx) {
  unsigned *steps = (unsigned *)item;
  size_t stage = (size_t)(uintptr_t)ctx;
  const wf_pipe_stage *s = &w->pipe.stages[stage];
  if (stage == 0 && number >= item_count) return WEFT_END;
  if (stage == 0) *steps = 0;
  XP_CHECK(*steps == stage);
  ++*steps;
  enter_alone(s);
  if (s->kind == WEFT_STAGE_ORDERED) {
    /* Void numbers come last here. */
    XP_CHECK(w->next[stage] == number);
    w->next[stage]++;
  } else if (s->kind == WEFT_STAGE_SERIAL) {
    w->next[stage]++; /* a race, if two are in at once */
  }
  if (stage == 1 && items_meet) {
    wf_u32_fetch_add_seq_cst(&x_arrived, 1);
    while (wf_u32_load_acquire(&x_arrived) < 2) wf_sys_relax();
  }
  leave_alone(s);
  if (stage == 1 && number == fails_at) return -7;
  if (stage + 1 == w->pipe.count) through[number]++;
  return 0;
}

static void make_pipe(weft_stage_kind a, weft_stage_kind b, weft_stage_kind c,
                      uint32_t tokens, size_t items) {
  make_world();
  wf_pipe *p = &w->pipe;
  const weft_stage_kind kinds[] = {a, b, c};
  memset(p, 0, offsetof(wf_pipe, source));
  for (uintptr_t i = 0; i < STAGES; i++) {
    w->stages[i].fn = stage_of_pipe;
    w->stages[i].ctx = (void *)i;
    w->stages[i].kind = kinds[i];
    w->stages[i].blocks = false;
  }
  p->stages = w->stages;
  p->count = STAGES;
  p->tokens = w->tokens;
  p->tokens_count = tokens;
  p->seats_mask = SEATS - 1;
  p->items = (char *)w->items;
  p->item_size = sizeof(unsigned);
  p->item_stride = sizeof w->items[0];
  p->shares = true;
  p->limit = 2;
  p->opts = &no_opts;
  p->bring_member = want_member;
  p->lock = (wf_lock){{0}};
  wf_pipe_init(p, w->seats);
  item_count = items;
  items_meet = false;
  fails_at = SIZE_MAX;
  wf_u32_init(&x_wanted, 0);
  wf_u32_init(&x_members, 0);
  wf_u32_init(&x_finished, 0);
  wf_u32_init(&x_arrived, 0);
  wf_u32_init(&x_inside, 0);
}

/* The calling thread. As in weft_scope_end it waits for the members, also for those in
 * blocking stages, and runs those that nobody has taken. */
static void be_caller(void) {
  wf_pipe_join(&w->pipe, true);
  while (wf_u32_load_acquire(&x_members) != 0)
    if (!come_if_wanted()) wf_sys_relax();
  wf_u32_store_release(&x_finished, 1);
}

/* An idle thread: comes when it is wanted. */
static void be_helper(void) {
  while (wf_u32_load_acquire(&x_finished) == 0)
    if (!come_if_wanted()) wf_sys_relax();
}

static void all_are_through(void) {
  XP_CHECK(wf_u32_peek(&x_wanted) == 0);
  XP_CHECK(wf_u32_peek(&w->pipe.x_active) == 0);
  if (fails_at == SIZE_MAX) XP_CHECK(w->pipe.error == 0);
  size_t complete = fails_at < item_count ? fails_at : item_count;
  for (size_t i = 0; i < complete; i++) XP_CHECK(through[i] == 1);
  if (fails_at < item_count) XP_CHECK(w->pipe.error == -7 && through[fails_at] == 0);
  free(w);
}

static void ordered_parallel_ordered(void) {
  make_pipe(WEFT_STAGE_ORDERED, WEFT_STAGE_PARALLEL, WEFT_STAGE_ORDERED, 2, 2);
}
static void serial_serial_ordered(void) {
  make_pipe(WEFT_STAGE_SERIAL, WEFT_STAGE_SERIAL, WEFT_STAGE_ORDERED, 2, 2);
}
static void parallel_serial_ordered(void) {
  make_pipe(WEFT_STAGE_PARALLEL, WEFT_STAGE_SERIAL, WEFT_STAGE_ORDERED, 2, 2);
}
static void failing(void) {
  make_pipe(WEFT_STAGE_ORDERED, WEFT_STAGE_PARALLEL, WEFT_STAGE_ORDERED, 2, 2);
  fails_at = 0;
}
static void meeting(void) {
  make_pipe(WEFT_STAGE_ORDERED, WEFT_STAGE_PARALLEL, WEFT_STAGE_ORDERED, 2, 2);
  items_meet = true;
}
static void meeting_parallel(void) {
  make_pipe(WEFT_STAGE_PARALLEL, WEFT_STAGE_PARALLEL, WEFT_STAGE_SERIAL, 2, 2);
  items_meet = true;
}

#define PIPE(name, pipe_setup)                                                           \
  SCENARIO(name, .setup = pipe_setup, .threads = {be_caller, be_helper},                 \
           .check = all_are_through, .modes = XP_SC | XP_TSO, .bound = 3,                \
           .quick_bound = 1)                                                             \
  SCENARIO(name##_ra, .setup = pipe_setup, .threads = {be_caller, be_helper},            \
           .check = all_are_through, .modes = XP_RA, .bound = 2, .quick_bound = 1)

PIPE(members_of_a_pipe, ordered_parallel_ordered)
PIPE(members_of_a_serial_pipe, serial_serial_ordered)
PIPE(members_of_a_parallel_pipe, parallel_serial_ordered)
PIPE(members_of_a_failing_pipe, failing)

/* The first item waits for the second one to be in the same stage: a deadlock, if the
 * other thread is not brought, or leaves and is missed. */
PIPE(members_that_must_meet, meeting)
PIPE(members_that_must_meet_in_a_parallel_pipe, meeting_parallel)

/* One thread at a time, but for blocking stages: whoever comes back from one when another
 * is at work leaves its item to that one, which may be about to leave too. */
static void limit_to_one(unsigned blocking_stage) {
  w->stages[blocking_stage].blocks = true;
  w->pipe.limit = 1;
  w->pipe.is_strict = true;
}
static void limited(void) {
  make_pipe(WEFT_STAGE_ORDERED, WEFT_STAGE_PARALLEL, WEFT_STAGE_ORDERED, 2, 2);
  limit_to_one(1);
}
static void limited_parallel(void) {
  make_pipe(WEFT_STAGE_PARALLEL, WEFT_STAGE_SERIAL, WEFT_STAGE_ORDERED, 2, 2);
  limit_to_one(0);
}
PIPE(members_behind_a_blocking_stage, limited)
PIPE(members_behind_a_blocking_first_stage, limited_parallel)

/* Fresh tokens of a parallel first stage: three threads see that there is one left. */
static void one_fresh_left(void) {
  parallel_serial_ordered();
  wf_u32_init(&w->pipe.source.x_fresh, 1);
}
static void take_a_fresh_one(void) {
  const wf_token *token = take_fresh(&w->pipe);
  if (token != NULL) w->visits[token->index]++;
}
static void the_last_was_taken_once(void) {
  XP_CHECK(take_fresh(&w->pipe) == NULL);
  XP_CHECK(wf_u32_peek(&w->pipe.source.x_fresh) == 2);
  XP_CHECK(w->visits[0] == 0 && w->visits[1] == 1);
  free(w);
}
SCENARIO(last_fresh_token, .setup = one_fresh_left,
         .threads = {take_a_fresh_one, take_a_fresh_one, take_a_fresh_one},
         .check = the_last_was_taken_once, .bound = 4, .ra_bound = 2)

/* One of two members enters a blocking stage while the other one has made an item, so
 * that a further one can be made: at least one of them brings a third member. */
static int wait_for_the_other(void *item, size_t number, void *ctx) {
  (void)item, (void)number, (void)ctx;
  while (wf_u32_load_acquire(&x_finished) == 0) wf_sys_relax();
  return 0;
}
static void about_to_block(void) {
  ordered_parallel_ordered();
  w->stages[1].blocks = true;
  w->stages[1].fn = wait_for_the_other;
  wf_u32_init(&w->pipe.source.x_state, WF_DOOR_BUSY);
  wf_u32_init(&w->pipe.source.x_fresh, 1);
  wf_u32_init(&w->pipe.x_active, 2);
}
static void block_in_a_stage(void) {
  call_in_section(&w->pipe, &w->stages[1], w->items[0], 0);
}
static void leave_the_source(void) {
  wf_pipe *p = &w->pipe;
  wf_source_leave(&p->source);
  if (wf_source_is_ready(&p->source, p->tokens_count)) bring_member(p);
  wf_u32_store_release(&x_finished, 1);
}
static void a_member_was_brought(void) {
  XP_CHECK(wf_u32_peek(&x_wanted) >= 1);
  free(w);
}
SCENARIO(work_comes_while_a_member_blocks, .setup = about_to_block,
         .threads = {block_in_a_stage, leave_the_source}, .check = a_member_was_brought,
         .bound = XP_UNBOUNDED)

/* The helper is a member already, finds nothing yet and leaves, while the caller makes
 * work available and sees it counted. */
static void meeting_with_a_member(void) {
  meeting();
  wf_u32_init(&w->pipe.x_active, 2);
  wf_u32_init(&x_members, 1);
}
static void be_member_then_helper(void) {
  wf_pipe_join(&w->pipe, false);
  wf_u32_fetch_sub_release(&x_members, 1);
  be_helper();
}
SCENARIO(member_leaves_while_work_comes, .setup = meeting_with_a_member,
         .threads = {be_caller, be_member_then_helper}, .check = all_are_through,
         .bound = 3, .ra_bound = 2, .quick_bound = 1)
