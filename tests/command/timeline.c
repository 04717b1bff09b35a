/* timeline.c - the timeline page in a real browser: clicks, keys, wheel, touch, search,
 * themes, phone, paper, and a million slices. Screenshots stay in the folder that the
 * test prints, for people to look at.
 *
 * Without Chromium the tests say so and do nothing.
 *
 * SPDX-License-Identifier: MIT */
#include "browser.h"
#include "invented_trace.h"

#include "trace/trace.h"

#include <sys/stat.h>

static char folder[200];
static text page_path;

static bool browser_is_there(void) {
  if (browser_find() != NULL) return true;
  printf("skipped: no Chromium here (on Debian: apt-get install chromium)\n");
  return false;
}

/* Makes the page of an invented program; false without a browser. */
static bool make_page(unsigned workers, size_t slices) {
  if (!browser_is_there()) return false;
  const char *build = getenv("WEFT_TIMELINE_FOLDER");
  snprintf(folder, sizeof folder, "%s", build != NULL ? build : TIMELINE_FOLDER);
  mkdir(folder, 0777);
  invented made;
  invented_program(&made, "invented", workers, slices);
  trace t;
  char problem[200];
  REQUIRE(trace_parse(&t, made.out.chars, made.out.length, problem));
  trace_analyse(&t);
  trace_find(&t);
  text page = {0};
  trace_write_page(&t, &page);
  page_path.length = 0;
  text_format(&page_path, "%s/timeline-%zu.html", folder, slices);
  REQUIRE(file_write(page_path.chars, page.chars, page.length));
  text_free(&page);
  text_free(&made.out);
  trace_free(&t);
  return true;
}

/* Waits until what has changed is drawn. */
static void settle(browser *b) {
  browser_ask(
      b, "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => "
         "done(1))))");
}

static void shoot(browser *b, const char *name) {
  char path[300];
  snprintf(path, sizeof path, "%s/%s.png", folder, name);
  browser_ask(
      b, "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => "
         "done(1))))");
  CHECK(browser_save(b, "Page.captureScreenshot", "{\"format\":\"png\"}", path) > 5000);
}

static double length_shown(browser *b) {
  return browser_number(b, "weftTimeline.view.t1 - weftTimeline.view.t0");
}

static double begin_shown(browser *b) {
  return browser_number(b, "weftTimeline.view.t0");
}

/* A point in the middle of the lanes. */
static void lanes_point(browser *b, double across, double *x, double *y) {
  settle(b);
  char script[200];
  snprintf(script, sizeof script,
           "(() => { const r = document.getElementById('lanes').getBoundingClientRect(); "
           "return "
           "r.left + weftTimeline.lanes.gutter + %g * (r.width - "
           "weftTimeline.lanes.gutter); })()",
           across);
  *x = browser_number(b, script);
  *y = browser_number(
      b, "document.getElementById('lanes').getBoundingClientRect().top + 120");
}

/* Where the middle of a slice is on the screen. */
static void slice_point(browser *b, int number, double *x, double *y) {
  char script[300];
  settle(b);
  snprintf(script, sizeof script,
           "(() => { const r = document.getElementById('lanes').getBoundingClientRect(), "
           "box = "
           "weftTimeline.lanes.boxOf(%d); return r.left + box.x + box.width / 2; })()",
           number);
  *x = browser_number(b, script);
  snprintf(script, sizeof script,
           "(() => { const r = document.getElementById('lanes').getBoundingClientRect(), "
           "box = "
           "weftTimeline.lanes.boxOf(%d); return r.top + box.y + box.height / 2; })()",
           number);
  *y = browser_number(b, script);
}

TEST(the_page_shows_what_the_trace_says) {
  if (!make_page(8, 2000)) return;
  browser b;
  browser_start(&b);
  browser_window(&b, 1440, 1000, false, false);
  browser_open(&b, page_path.chars);
  CHECK_STR_EQ(browser_ask(&b, "document.getElementById('program').textContent"),
               "invented");
  CHECK_EQ(browser_number(&b, "weftTimeline.model.bytesLeft"), 0.0);
  CHECK_EQ(browser_number(&b, "weftTimeline.model.lanes.length"), 8.0);
  CHECK(browser_number(&b, "document.querySelectorAll('.tile').length") >= 6);
  CHECK(browser_number(&b, "document.querySelectorAll('.finding').length") >= 1);
  CHECK_EQ(browser_number(&b, "document.querySelectorAll('#longest tr.row').length"),
           15.0);
  CHECK(browser_number(&b, "document.querySelectorAll('#matrix td').length") >= 49);
  CHECK_EQ(browser_number(&b, "document.querySelectorAll('.share').length"), 8.0);
  /* The states that C and the page compute agree: working time of lane 1. */
  CHECK_STR_EQ(
      browser_ask(&b,
                  "(() => { const s = weftTimeline.model.stretches[1]; let w = 0; for "
                  "(let i = 0; i < s.state.length; i++) if (s.state[i] === 1) w += "
                  "s.end[i] - s.begin[i]; return String(w === "
                  "weftTimeline.model.summary.lanes[1].working_ns); })()"),
      "true");
  /* The levels add up to the work. */
  CHECK_STR_EQ(
      browser_ask(&b,
                  "String(Math.abs(integral(weftTimeline.model.working, "
                  "weftTimeline.model.duration) - weftTimeline.model.summary.work_ns) "
                  "< 1)"),
      "true");
  /* Nothing is wider than the window, and nothing comes from outside. */
  CHECK_EQ(browser_number(&b, "document.documentElement.scrollWidth - innerWidth"), 0.0);
  CHECK_EQ(browser_number(&b, "performance.getEntriesByType('resource').length"), 0.0);
  shoot(&b, "light");
  browser_stop(&b);
}

TEST(wheel_drag_and_keys_move_the_view) {
  if (!make_page(8, 2000)) return;
  browser b;
  browser_start(&b);
  browser_window(&b, 1440, 1000, false, false);
  browser_open(&b, page_path.chars);
  double whole = length_shown(&b), x, y;
  lanes_point(&b, 0.25, &x, &y);

  /* The wheel zooms; the time under the pointer stays. */
  browser_mouse(&b, "mouseMoved", x, y, "");
  browser_mouse(&b, "mouseWheel", x, y, "\"deltaX\":0,\"deltaY\":-240");
  double zoomed = length_shown(&b);
  CHECK(zoomed < 0.8 * whole);
  double center = begin_shown(&b) + 0.25 * zoomed;
  CHECK(center > 0.23 * whole && center < 0.27 * whole);

  /* With shift it moves. */
  double before = begin_shown(&b);
  browser_mouse(&b, "mouseWheel", x, y, "\"deltaX\":0,\"deltaY\":100,\"modifiers\":8");
  CHECK(begin_shown(&b) > before);
  CHECK(length_shown(&b) < zoomed * 1.01 && length_shown(&b) > zoomed * 0.99);

  /* A drag to the right shows earlier times. */
  before = begin_shown(&b);
  browser_mouse(&b, "mousePressed", x, y, "\"button\":\"left\",\"clickCount\":1");
  browser_mouse(&b, "mouseMoved", x + 60, y, "\"button\":\"left\",\"buttons\":1");
  browser_mouse(&b, "mouseReleased", x + 60, y, "\"button\":\"left\",\"clickCount\":1");
  CHECK(begin_shown(&b) < before);
  CHECK_EQ(browser_number(&b, "weftTimeline.lanes.selected"), -1.0);

  /* Keys. */
  browser_key(&b, "0", "0");
  CHECK_EQ(length_shown(&b), whole);
  browser_key(&b, "+", "+");
  CHECK(length_shown(&b) < whole);
  before = begin_shown(&b);
  browser_key(&b, "ArrowRight", "");
  CHECK(begin_shown(&b) > before);
  browser_key(&b, "ArrowLeft", "");
  CHECK(begin_shown(&b) < before + 1);
  double length = length_shown(&b);
  browser_key(&b, "s", "s");
  CHECK(length_shown(&b) > length);
  browser_key(&b, "End", "");
  CHECK_EQ(browser_number(&b, "weftTimeline.view.t1 - weftTimeline.model.duration"), 0.0);
  browser_key(&b, "Home", "");
  CHECK_EQ(begin_shown(&b), 0.0);

  /* Nothing can be lost by zooming: neither in nor out beyond the ends. */
  for (int i = 0; i < 60; i++) browser_key(&b, "w", "w");
  CHECK(length_shown(&b) >= 20 && length_shown(&b) < 40);
  for (int i = 0; i < 60; i++) browser_key(&b, "s", "s");
  CHECK_EQ(length_shown(&b), whole);

  /* Shift and drag zooms to a part; the overview does too. */
  browser_mouse(&b, "mousePressed", x, y,
                "\"button\":\"left\",\"clickCount\":1,\"modifiers\":8");
  browser_mouse(&b, "mouseMoved", x + 200, y,
                "\"button\":\"left\",\"buttons\":1,\"modifiers\":8");
  browser_mouse(&b, "mouseReleased", x + 200, y,
                "\"button\":\"left\",\"clickCount\":1,\"modifiers\":8");
  CHECK(length_shown(&b) < 0.4 * whole);
  browser_key(&b, "0", "0");
  double oy = browser_number(
      &b, "document.getElementById('overview').getBoundingClientRect().top + "
          "20");
  browser_mouse(&b, "mousePressed", x, oy, "\"button\":\"left\",\"clickCount\":1");
  browser_mouse(&b, "mouseMoved", x + 100, oy, "\"button\":\"left\",\"buttons\":1");
  browser_mouse(&b, "mouseReleased", x + 100, oy, "\"button\":\"left\",\"clickCount\":1");
  CHECK(length_shown(&b) < 0.2 * whole);
  shoot(&b, "zoomed");
  browser_stop(&b);
}

TEST(slices_can_be_hovered_selected_and_found) {
  if (!make_page(8, 2000)) return;
  browser b;
  browser_start(&b);
  browser_window(&b, 1440, 1000, false, true);
  browser_open(&b, page_path.chars);
  CHECK_STR_EQ(browser_ask(&b, "document.documentElement.dataset.theme"), "dark");

  /* The longest piece of the table is shown, selected and described. */
  double x = browser_number(
      &b, "(() => { const row = document.querySelector('#longest tr.row'); "
          "row.scrollIntoView({block: 'center'}); return "
          "row.getBoundingClientRect().left + 40; })()");
  double y =
      browser_number(&b, "(() => { const r = document.querySelector('#longest "
                         "tr.row').getBoundingClientRect(); return r.top + r.height / 2; "
                         "})()");
  browser_click(&b, x, y);
  int selected = (int)browser_number(&b, "weftTimeline.lanes.selected");
  CHECK(selected >= 0);
  CHECK_STR_EQ(
      browser_ask(&b, "String(document.getElementById('selected').textContent.includes("
                      "weftTimeline.model.summary.longest[0].name))"),
      "true");

  /* A click on the slice itself does the same, and the pointer over it shows its name. */
  browser_ask(&b,
              "void document.getElementById('lanes').scrollIntoView({block: 'center'})");
  browser_key(&b, "Escape", "");
  CHECK_EQ(browser_number(&b, "weftTimeline.lanes.selected"), -1.0);
  slice_point(&b, selected, &x, &y);
  browser_mouse(&b, "mouseMoved", x, y, "");
  CHECK_EQ(browser_number(&b, "weftTimeline.lanes.hovered"), (double)selected);
  CHECK_STR_EQ(
      browser_ask(&b, "String(!document.getElementById('tip').hidden && "
                      "document.getElementById('tip').textContent.includes('Elements'))"),
      "true");
  browser_click(&b, x, y);
  CHECK_EQ(browser_number(&b, "weftTimeline.lanes.selected"), (double)selected);
  browser_key(&b, "]", "]");
  CHECK(browser_number(&b, "weftTimeline.lanes.selected") > selected);
  browser_key(&b, "[", "[");
  CHECK_EQ(browser_number(&b, "weftTimeline.lanes.selected"), (double)selected);

  /* Search. */
  browser_key(&b, "/", "");
  CHECK_STR_EQ(browser_ask(&b, "document.activeElement.id"), "search");
  browser_do(&b, "Input.insertText", "{\"text\":\"shade\"}");
  double matches = browser_number(&b, "weftTimeline.matches.length");
  CHECK(matches > 10);
  CHECK_STR_EQ(browser_ask(&b, "String(weftTimeline.matches.every(i => "
                               "sliceName(weftTimeline.model, i).includes('shade')))"),
               "true");
  browser_key(&b, "Enter", "\\r");
  CHECK(browser_number(&b, "weftTimeline.match") >= 0);
  double first = browser_number(&b, "weftTimeline.lanes.selected");
  browser_key(&b, "Enter", "\\r");
  CHECK(browser_number(&b, "weftTimeline.lanes.selected") != first);
  shoot(&b, "dark-search");
  browser_key(&b, "Escape", "");
  CHECK_EQ(browser_number(&b, "weftTimeline.matches.length"), 0.0);

  /* A finding leads to its place. */
  browser_key(&b, "0", "0");
  browser_ask(
      &b,
      "void document.querySelector('button.finding').scrollIntoView({block: 'center'})");
  x = browser_number(
      &b, "document.querySelector('button.finding').getBoundingClientRect().left + "
          "30");
  y = browser_number(
      &b, "document.querySelector('button.finding').getBoundingClientRect().top + "
          "12");
  browser_click(&b, x, y);
  CHECK(length_shown(&b) < browser_number(&b, "weftTimeline.model.duration"));

  /* The switch, and the dialog of keys. */
  browser_ask(&b, "void scrollTo(0, 0)");
  browser_key(&b, "0", "0");
  shoot(&b, "dark");
  x = browser_number(
      &b, "document.getElementById('theme').getBoundingClientRect().left + 10");
  y = browser_number(&b,
                     "document.getElementById('theme').getBoundingClientRect().top + 10");
  browser_click(&b, x, y);
  CHECK_STR_EQ(browser_ask(&b, "document.documentElement.dataset.theme"), "light");
  browser_key(&b, "t", "t");
  CHECK_STR_EQ(browser_ask(&b, "document.documentElement.dataset.theme"), "dark");
  browser_key(&b, "?", "?");
  CHECK_STR_EQ(browser_ask(&b, "String(document.getElementById('keys').open)"), "true");
  browser_stop(&b);
}

TEST(a_phone_and_paper) {
  if (!make_page(8, 2000)) return;
  browser b;
  browser_start(&b);
  browser_window(&b, 390, 844, true, false);
  browser_do(&b, "Emulation.setTouchEmulationEnabled",
             "{\"enabled\":true,\"maxTouchPoints\":5}");
  browser_open(&b, page_path.chars);
  CHECK_EQ(browser_number(&b, "document.documentElement.scrollWidth - innerWidth"), 0.0);
  shoot(&b, "phone-top");
  browser_ask(&b,
              "void document.getElementById('lanes').scrollIntoView({block: 'center'})");
  double whole = length_shown(&b), x, y;
  lanes_point(&b, 0.5, &x, &y);

  /* Two fingers zoom in. */
  double points[4] = {x - 20, y, x + 20, y};
  browser_touch(&b, "touchStart", 2, points);
  for (int i = 1; i <= 4; i++) {
    points[0] = x - 20 - 12 * i;
    points[2] = x + 20 + 12 * i;
    browser_touch(&b, "touchMove", 2, points);
  }
  browser_touch(&b, "touchEnd", 0, points);
  double zoomed = length_shown(&b);
  CHECK_MSG(zoomed < 0.7 * whole, "%g of %g", zoomed, whole);

  /* One finger moves. */
  double before = begin_shown(&b);
  double finger[2] = {x + 40, y};
  browser_touch(&b, "touchStart", 1, finger);
  for (int i = 1; i <= 5; i++) {
    finger[0] = x + 40 - 20 * i;
    browser_touch(&b, "touchMove", 1, finger);
  }
  browser_touch(&b, "touchEnd", 0, finger);
  CHECK(begin_shown(&b) > before);
  shoot(&b, "phone");

  browser_window(&b, 900, 1270, false, true);
  browser_do(&b, "Emulation.setEmulatedMedia", "{\"media\":\"print\"}");
  browser_ask(&b,
              "void (window.dispatchEvent(new Event('beforeprint')), scrollTo(0, 0))");
  CHECK_STR_EQ(browser_ask(&b, "document.documentElement.dataset.theme"), "light");
  CHECK_STR_EQ(
      browser_ask(&b, "getComputedStyle(document.querySelector('.find')).display"),
      "none");
  shoot(&b, "print");
  char path[300];
  snprintf(path, sizeof path, "%s/print.pdf", folder);
  CHECK(browser_save(&b, "Page.printToPDF", "{\"printBackground\":true}", path) > 10000);
  browser_stop(&b);
}

/* What a frame costs depends on the pixels, not on the slices. */
TEST_LIMIT(a_million_slices_are_smooth, 240) {
  if (harness_slowdown() > 1) {
    printf("skipped: this build is slow, and the page is the same\n");
    return;
  }
  if (!make_page(64, 1000000)) return;
  browser b;
  browser_start(&b);
  browser_window(&b, 1600, 1000, false, false);
  browser_open(&b, page_path.chars);
  CHECK(browser_number(&b, "weftTimeline.model.slices.begin.length") >= 1e6);
  double worst = browser_number(&b, "(() => { let times = []; const t = weftTimeline, "
                                    "all = t.model.duration; for (let i = 0; "
                                    "i < 40; i++) { const part = all * Math.pow(0.7, i), "
                                    "at = all * (i % 7) / 8; t.show(at, at "
                                    "+ part); t.drawNow(); times.push(t.drawTime); } "
                                    "times.sort((a, b) => a - b); return "
                                    "times[20]; })()");
  printf("a frame of a million slices: median %.1f ms\n", worst);
  /* On a free machine 10 to 20 ms. A page that draws every slice takes seconds. */
  CHECK_MSG(worst < 400, "a frame takes %g ms", worst);
  browser_key(&b, "0", "0");
  shoot(&b, "million");
  double x, y;
  lanes_point(&b, 0.4, &x, &y);
  for (int i = 0; i < 8; i++)
    browser_mouse(&b, "mouseWheel", x, y, "\"deltaX\":0,\"deltaY\":-240");
  shoot(&b, "million-zoomed");
  browser_key(&b, "/", "");
  browser_do(&b, "Input.insertText", "{\"text\":\"blur\"}");
  CHECK(browser_number(&b, "weftTimeline.matches.length") > 10000);
  browser_stop(&b);
}
