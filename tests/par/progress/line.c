/* The text of a line of progress: what it says, and that it fits into any terminal.
 *
 * SPDX-License-Identifier: MIT */
#include "harness/harness.h"
#include "par/progress/progress.h"

#include <string.h>

static char line[WF_LINE_SIZE];

static wf_progress_view view_of(const char *title, uint64_t done, uint64_t total) {
  wf_progress_view view;
  memset(&view, 0, sizeof view);
  view.columns = 100;
  view.state = (weft_progress_state){sizeof view.state, done, total, 0, 0, UINT64_MAX};
  wf_progress_copy_text(view.title, sizeof view.title, title);
  return view;
}

static const char *text_of(const wf_progress_view *view) {
  size_t length = wf_progress_line(line, view);
  CHECK_EQ(length, strlen(line));
  return line;
}

TEST(a_line_while_it_runs) {
  wf_progress_view view = view_of("reading", 6100000000, 10000000000);
  view.state.rate = 1.02e9;
  view.state.left_ns = UINT64_C(4999999999);
  CHECK_STR_EQ(text_of(&view), "[##############..........]  61 %, 0:04 left  reading  "
                               "6.10 G of 10.0 G, 1.02 G/s");
  wf_progress_copy_text(view.unit, sizeof view.unit, "bytes");
  CHECK_STR_EQ(text_of(&view), "[##############..........]  61 %, 0:04 left  reading  "
                               "6.10 G of 10.0 G bytes, 1.02 G/s");
  view.is_utf8 = true;
  CHECK(strncmp(text_of(&view), "━━━━━━━━━━━━━━──────────  61 %", 72 + 6) == 0);
}

TEST(a_line_at_the_end) {
  wf_progress_view view = view_of("sort", 1000, 1000);
  view.is_ended = true;
  view.state.elapsed_ns = UINT64_C(2000000000);
  CHECK_STR_EQ(text_of(&view), "[########################] 100 %, in 2.0 s  sort  "
                               "1.00 k, 500/s");
  view.state.done = 999; /* never "100 %" before all is done */
  CHECK_STR_EQ(text_of(&view), "[#######################.]  99 %, stopped after 2.0 s  "
                               "sort  999 of 1.00 k, 499/s");
  view.state.done = 1001;
  CHECK(strstr(text_of(&view), "100 %, in 2.0 s") != NULL);
  view = view_of("", 0, 0);
  view.is_ended = true;
  CHECK_STR_EQ(text_of(&view), "[########################] in 0.0 s");
}

TEST(a_mark_goes_to_and_fro_without_a_total) {
  wf_progress_view view = view_of("find", 12, 0);
  CHECK_STR_EQ(text_of(&view), "[####....................] 0:00  find  12");
  view.state.elapsed_ns = UINT64_C(4000000000); /* the end of the way */
  CHECK_STR_EQ(text_of(&view), "[....................####] 0:04  find  12");
  view.state.elapsed_ns = UINT64_C(7800000000);
  CHECK_STR_EQ(text_of(&view), "[.####...................] 0:07  find  12");
}

TEST(times_and_rates) {
  wf_progress_view view = view_of("", 1, 2);
  static const struct {
    uint64_t seconds;
    const char *text;
  } TIMES[] = {{59, "0:59"},         {61, "1:01"},
               {3599, "59:59"},      {3600, "1:00:00"},
               {86399, "23:59:59"},  {86400, "1 d 0 h"},
               {500000, "5 d 18 h"}, {18000000000, "208333 d 8 h"}};
  for (unsigned i = 0; i < sizeof TIMES / sizeof TIMES[0]; i++) {
    view.state.left_ns = TIMES[i].seconds * 1000000000;
    CHECK_MSG(strstr(text_of(&view), TIMES[i].text) != NULL, "%s", line);
  }
  view.state.rate = 0.25;
  CHECK(strstr(text_of(&view), "1 of 2, 0.2/s") != NULL);
  view.state.rate = 999.6;
  CHECK(strstr(text_of(&view), ", 1.00 k/s") != NULL);
  view.state = (weft_progress_state){sizeof view.state, UINT64_MAX - 1, UINT64_MAX, 1e300,
                                     UINT64_MAX,        UINT64_MAX - 1};
  CHECK(strstr(text_of(&view), "  99 %") != NULL);
}

/* ---- texts ---- */

TEST(no_text_moves_the_cursor) {
  char copy[64];
  wf_progress_copy_text(copy, sizeof copy, "a\033[2Jb\nc\x7f\xc2\x9b!\xff\xe2\x82");
  CHECK_STR_EQ(copy, "a [2Jb c  !???");
  wf_progress_copy_text(copy, sizeof copy, NULL);
  CHECK_STR_EQ(copy, "");
  wf_progress_copy_text(copy, 6, "aaaa€"); /* no half characters */
  CHECK_STR_EQ(copy, "aaaa");
  wf_progress_copy_text(copy, 1, "a");
  CHECK_STR_EQ(copy, "");
}

static unsigned columns_in(const char *text) {
  unsigned columns = 0;
  for (; *text != '\0'; text++) columns += ((unsigned char)*text & 0xC0) != 0x80;
  return columns;
}

TEST(a_line_fits_into_any_width) {
  static const char *const TITLES[] = {
      "", "sort", "größer als je zuvor", "漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字",
      "a title that is much longer than what fits into the line of a terminal of the "
      "usual "
      "width, and longer than two of them put together, which is not usual for a title"};
  for (unsigned columns = 0; columns < 300; columns++)
    for (unsigned i = 0; i < 5; i++)
      for (unsigned kind = 0; kind < 8; kind++) {
        wf_progress_view view = view_of(TITLES[i], 1234567, kind & 1 ? 0 : 7654321);
        view.columns = columns;
        view.is_utf8 = (kind & 2) != 0;
        view.is_ended = (kind & 4) != 0;
        view.state.rate = 123456;
        unsigned used = columns_in(text_of(&view));
        CHECK_MSG(used == 0 || used < columns, "%u of %u: %s", used, columns, line);
        if (!view.is_utf8)
          for (const char *c = line; *c != '\0'; c++) CHECK(*c >= ' ' && *c <= '~');
      }
}

TEST(the_title_is_worth_more_than_the_numbers) {
  wf_progress_view view = view_of("a title of thirty characters..", 5, 10);
  view.state.rate = 3;
  view.columns = 71;
  CHECK_STR_EQ(text_of(&view),
               "[############............]  50 %, 0:00  a title of thirty "
               "characters..");
  view.columns = 20;
  CHECK(strstr(text_of(&view), " 50 %, 0:00") != NULL);
}
