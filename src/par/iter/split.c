/* par/iter/split.c - sequences that a function splits: finds the leaves of the tree, in
 * order, before a sink runs. iter.md says why they are all found first.
 *
 * Called by plan.c. A walk belongs to one thread: it goes through its part of the tree
 * from left to right with a list of pieces that are still to be split, and adds each leaf
 * to its pages. When another thread asks for work, the walk gives the last piece of its
 * list away, which is the largest one in a balanced tree, as an offer (sched/sched.h).
 * What the other thread finds there comes behind everything that this one still has in
 * its list, so its pages are put behind the pages of this walk when both have ended.
 *
 * SPDX-License-Identifier: MIT */
#include "iter.h"

/* FIRST_PIECES, FIRST_LEAVES: a tree of a few leaves takes little memory. PAGE_MOST: the
 * bytes of a page from which on pages do not grow; a page more costs nothing then.
 * GIFTS_MOST: pieces that a walk has given away at the same time. Each takes a frame of
 * its stack, and of a balanced tree the first ten are nearly all of it. SPLITS_PER_LOOK:
 * calls of the function after which a walk looks whether it was cancelled. All are
 * choices. */
enum {
  FIRST_PIECES = 32,
  FIRST_LEAVES = 32,
  PAGE_MOST = 64 << 10,
  GIFTS_MOST = 64,
  SPLITS_PER_LOOK = 64
};

/* What the walks of one tree share; only read. */
typedef struct split_call {
  const wf_stage *stage;
  const wf_iter_plan *plan;
  bool shared; /* other threads may help */
} split_call;

/* Invariants: first <= end <= room, and [first, end) are the pieces that are still to be
 * walked, the next one at the end; the last page is NULL if there is no page. */
typedef struct tree_walk {
  const split_call *call;
  wf_iter_leaves *first_page, *last_page;
  wf_scratch pieces;
  size_t first, end, room;
  unsigned gifts;  /* given away and not back yet */
  unsigned splits; /* calls of the function; may run over */
  bool cancelled;
} tree_walk;

/* ---- memory ---- */

static char *piece_at(const tree_walk *w, size_t i) {
  return (char *)w->pieces.memory + i * w->call->stage->size;
}

/* Room for one more piece at the end of the list. Places in front of the list, of pieces
 * that were given away, are used again. */
static void make_piece_room(tree_walk *w) {
  const size_t size = w->call->stage->size, count = w->end - w->first;
  if (w->end < w->room) return;
  wf_scratch old = w->pieces;
  if (w->first <= w->room / 2) {
    if (w->room > SIZE_MAX / 2 / size)
      wf_fatal(w->call->plan->call, "the tree is too deep");
    w->room = w->room == 0 ? FIRST_PIECES : 2 * w->room;
    w->pieces = wf_scratch_need(w->room * size, w->call->plan->call);
  }
  if (count > 0)
    memmove(w->pieces.memory, (char *)old.memory + w->first * size, count * size);
  if (old.memory != w->pieces.memory) wf_scratch_put(old);
  w->first = 0;
  w->end = count;
}

static wf_iter_leaves *make_page(const split_call *call, size_t room) {
  const size_t size = call->stage->size;
  if (room > (SIZE_MAX / 2 - WF_ITER_LEAVES_HEAD) / size)
    wf_fatal(call->plan->call, "the pieces are too large");
  wf_scratch memory =
      wf_scratch_need(WF_ITER_LEAVES_HEAD + room * size, call->plan->call);
  wf_iter_leaves *page = (wf_iter_leaves *)memory.memory;
  *page = (wf_iter_leaves){.memory = memory, .room = room};
  return page;
}

static void free_pages(wf_iter_leaves *page) {
  while (page != NULL) {
    wf_iter_leaves *next = page->next;
    wf_scratch_put(page->memory); /* the page is in it */
    page = next;
  }
}

static void add_page(tree_walk *w) {
  const size_t most = PAGE_MOST / w->call->stage->size;
  size_t room = w->last_page == NULL ? FIRST_LEAVES : 2 * w->last_page->room;
  if (room > most) room = most > 0 ? most : 1;
  wf_iter_leaves *page = make_page(w->call, room);
  if (w->last_page == NULL)
    w->first_page = page;
  else
    w->last_page->next = page;
  w->last_page = page;
}

static void add_leaf(tree_walk *w, const char *leaf) {
  const size_t size = w->call->stage->size;
  wf_iter_leaves *page = w->last_page;
  if (page == NULL || page->count == page->room) {
    add_page(w);
    page = w->last_page;
  }
  memcpy(wf_iter_leaves_data(page) + page->count++ * size, leaf, size);
}

/* ---- walking ---- */

/* A piece on its way to another thread. It lives in the frame of the walk that gives it
 * away; the thread that takes it writes `other`. */
typedef struct gift {
  wf_task task;
  tree_walk other;
} gift;

static void tree_walk_on(tree_walk *w);

/* On the thread that has taken the gift. */
static void walk_gift(void *ctx) {
  tree_walk_on(&((gift *)ctx)->other);
}

/* The pages of the other walk follow those of this one. */
static void append_pages(tree_walk *w, const tree_walk *other) {
  if (other->cancelled) w->cancelled = true;
  if (other->first_page == NULL) return;
  if (w->last_page == NULL)
    w->first_page = other->first_page;
  else
    w->last_page->next = other->first_page;
  w->last_page = other->last_page;
}

/* Offers the last piece of the list, walks through the others, and goes on with the
 * offered one if nobody has taken it. */
static __attribute__((noinline)) void give_and_walk(tree_walk *w) {
  gift g;
  memset(&g.other, 0, sizeof g.other);
  g.other.call = w->call;
  make_piece_room(&g.other);
  memcpy(piece_at(&g.other, 0), piece_at(w, w->first++), w->call->stage->size);
  g.other.end = 1;
  w->gifts++;
  wf_offer(wf_self, &g.task, walk_gift, &g);
  tree_walk_on(w);
  w->gifts--;
  if (wf_take_back(wf_self, &g.task) && !w->cancelled) {
    WF_ASSERT(g.other.first_page == NULL && g.other.end == 1);
    make_piece_room(w);
    memcpy(piece_at(w, w->end++), piece_at(&g.other, 0), w->call->stage->size);
  }
  append_pages(w, &g.other);
  wf_scratch_put(g.other.pieces);
}

/* Walks through all pieces of the list. */
static void tree_walk_on(tree_walk *w) {
  const wf_stage *s = w->call->stage;
  const size_t size = s->size;
  while (w->first < w->end && !w->cancelled) {
    WF_ASSERT(w->end <= w->room);
    if (w->call->shared && w->end - w->first >= 2 && w->gifts < GIFTS_MOST &&
        wf_is_asked(wf_self)) {
      give_and_walk(w);
      continue;
    }
    if (++w->splits % SPLITS_PER_LOOK == 0 && wf_par_cancelled(&w->call->plan->opts))
      w->cancelled = true;
    make_piece_room(w); /* for the right part */
    char *last = piece_at(w, w->end - 1), *right = last + size;
    if (!s->as.split.fn(last, right, s->as.split.ctx)) {
      add_leaf(w, last);
      w->end--;
      continue;
    }
    /* The left part comes first, so it goes to the end of the list. */
    wf_swap_bytes(last, right, size);
    w->end++;
  }
}

/* ---- all ---- */

typedef struct split_walk {
  split_call call;
  tree_walk whole;
} split_walk;

static void split_inside(void *ctx) {
  split_walk *all = (split_walk *)ctx;
  const wf_stage *s = all->call.stage;
  /* A limited number of threads: this one alone. The blocks of leaves are shared. */
  unsigned threads = wf_sched_threads();
  all->call.shared = threads > 1 && wf_par_crew(&all->call.plan->opts) == threads;
  all->whole.call = &all->call;
  make_piece_room(&all->whole);
  memcpy(piece_at(&all->whole, 0), s->as.split.whole, s->size);
  all->whole.end = 1;
  tree_walk_on(&all->whole);
  wf_scratch_put(all->whole.pieces);
}

/* All leaves side by side: the first page itself if there is no other. */
static wf_iter_leaves *gather_leaves(const split_call *call, wf_iter_leaves *pages) {
  const size_t size = call->stage->size;
  size_t count = 0;
  for (const wf_iter_leaves *page = pages; page != NULL; page = page->next)
    count += page->count; /* they are in memory, so their number fits */
  if (pages == NULL || pages->next == NULL) return pages;
  wf_iter_leaves *all = make_page(call, count);
  for (wf_iter_leaves *page = pages; page != NULL; page = page->next) {
    memcpy(wf_iter_leaves_data(all) + all->count * size, wf_iter_leaves_data(page),
           page->count * size);
    all->count += page->count;
  }
  WF_ASSERT(all->count == count);
  free_pages(pages);
  return all;
}

size_t wf_iter_split_tree(wf_iter_plan *plan, unsigned k) {
  split_walk all;
  memset(&all, 0, sizeof all);
  all.call.stage = wf_plan_stage(plan, k);
  all.call.plan = plan;
  WF_ASSERT(all.call.stage->kind == WF_SPLIT);
  wf_par_run(&plan->opts, split_inside, &all);
  wf_iter_leaves *leaves = gather_leaves(&all.call, all.whole.first_page);
  if (leaves == NULL) return 0; /* cancelled before the first */
  leaves->stage = k;
  leaves->next = plan->leaves;
  plan->leaves = leaves;
  return leaves->count;
}

void wf_iter_plan_end(wf_iter_plan *plan) {
  if (WF_UNLIKELY(plan->leaves != NULL)) free_pages(plan->leaves);
  plan->leaves = NULL;
}
