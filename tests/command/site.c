/* Tests of the site (tools/build-docs) in a real browser: the search finds and leads,
 * light and dark follow the system and the switch, a phone shows everything, nothing
 * comes from outside. CTest has built the site before; without it, or without Chromium,
 * the tests say so and end.
 *
 * SPDX-License-Identifier: MIT */
#include "browser.h"

#include <stdio.h>
#include <unistd.h>

static char page_path[4096];

/* Whether there is a site and a browser; page_path is then the path of the page. */
static bool find_page(const char *page) {
  snprintf(page_path, sizeof page_path, "%s/%s", SITE_FOLDER, page);
  if (access(page_path, R_OK) != 0) {
    printf("skipped: no site in %s (target docs)\n", SITE_FOLDER);
    return false;
  }
  if (browser_find() == NULL) {
    printf("skipped: no Chromium here (on Debian: apt-get install chromium)\n");
    return false;
  }
  return true;
}

static void shoot(browser *b, const char *name) {
  char path[4200];
  snprintf(path, sizeof path, "%s-%s.png", SITE_FOLDER, name);
  CHECK(browser_save(b, "Page.captureScreenshot", "{\"format\":\"png\"}", path) > 10000);
}

static void open_page(browser *b, const char *page) {
  snprintf(page_path, sizeof page_path, "%s/%s", SITE_FOLDER, page);
  browser_open(b, page_path);
}

/* Types a text as a user does: the input gets it, and an event. */
#define SEARCH(b, text)                                                                  \
  browser_ask(b, "(() => { const q = document.getElementById('query'); q.focus(); "      \
                 "q.value = '" text "'; q.dispatchEvent(new Event('input')); "           \
                 "return String(document.querySelectorAll('#results li').length); })()")
#define FIRST_RESULT "document.querySelector('#results li b').textContent"
#define BACK         "getComputedStyle(document.body).backgroundColor"
#define TOO_WIDE     "document.documentElement.scrollWidth - innerWidth"

TEST(the_search_finds_names_and_guides) {
  if (!find_page("index.html")) return;
  browser b;
  browser_start(&b);
  browser_window(&b, 1280, 900, false, false);
  open_page(&b, "index.html");
  /* Nothing comes from outside, and every picture is there. */
  CHECK_STR_EQ(browser_ask(&b,
                           "performance.getEntriesByType('resource').filter((e) => "
                           "!e.name.startsWith('file:')).map((e) => e.name).join(' ')"),
               "");
  CHECK_EQ(browser_number(&b, "[...document.images].filter((i) => i.naturalWidth === "
                              "0).length"),
           0.0);
  SEARCH(&b, "weft_for");
  CHECK_STR_EQ(browser_ask(&b, FIRST_RESULT), "weft_for");
  SEARCH(&b, "WEFT_LOOP");
  CHECK_STR_EQ(browser_ask(&b, FIRST_RESULT), "WEFT_LOOP");
  SEARCH(&b, "for_each");
  CHECK(browser_number(&b, "document.querySelectorAll('#results li').length") >= 3);
  SEARCH(&b, "false sharing cache line");
  CHECK(browser_number(&b, "document.querySelectorAll('#results li').length") >= 1);
  SEARCH(&b, "weft_sum_f32");
  shoot(&b, "search");
  /* Names are found by themselves; every tenth, since build-docs --check knows that all
   * are in the index. */
  CHECK_STR_EQ(browser_ask(&b,
                           "(() => { for (let i = 0; i < searchIndex.length; i += 10) { "
                           "const e = searchIndex[i]; if (e[0] !== 'page' && "
                           "!search(e[1]).some((r) => r[1] === e[1])) return e[1]; } "
                           "return 'all'; })()"),
               "all");
  /* Nothing is found by nonsense, and it is said. */
  SEARCH(&b, "zzzzqqq");
  CHECK_STR_EQ(browser_ask(&b, "document.getElementById('results').textContent"),
               "Nothing found.");
  /* Enter leads to the page. */
  SEARCH(&b, "weft_join");
  browser_key(&b, "Enter", "");
  CHECK_STR_EQ(browser_ask(&b,
                           "new Promise((done) => { const look = () => "
                           "document.readyState === 'complete' && "
                           "location.pathname.endsWith('/reference/weft_join.html') ? "
                           "done(document.querySelector('h1').textContent) : "
                           "setTimeout(look, 20); look(); })"),
               "weft_join");
  browser_stop(&b);
}

TEST(light_dark_and_a_phone) {
  if (!find_page("reference/weft_for.html")) return;
  browser b;
  browser_start(&b);
  browser_window(&b, 1280, 900, false, false);
  open_page(&b, "reference/weft_for.html");
  CHECK_STR_EQ(browser_ask(&b, BACK), "rgb(255, 255, 255)");
  shoot(&b, "light");
  browser_window(&b, 1280, 900, false, true);
  CHECK_STR_EQ(browser_ask(&b, BACK), "rgb(20, 24, 29)");
  shoot(&b, "dark");
  browser_ask(&b, "(document.getElementById('theme').click(), '')");
  CHECK_STR_EQ(browser_ask(&b, BACK), "rgb(255, 255, 255)");
  browser_ask(&b, "(document.getElementById('theme').click(), '')");
  CHECK_STR_EQ(browser_ask(&b, BACK), "rgb(20, 24, 29)");
  browser_ask(&b, "(localStorage.removeItem('weft-theme'), '')");

  /* A phone shows everything. */
  static const char *const pages[] = {"index.html",
                                      "reference/index.html",
                                      "reference/weft_for.html",
                                      "reference/weft_opts.html",
                                      "reference/weft-iterator.html",
                                      "guide/loops.html",
                                      "guide/cpp.html",
                                      "benchmarks.html",
                                      "verification.html"};
  browser_window(&b, 390, 844, true, false);
  for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
    open_page(&b, pages[i]);
    double over = browser_number(&b, TOO_WIDE);
    CHECK_MSG(over <= 0, "%s is %.0f pixels too wide", pages[i], over);
    CHECK(browser_number(&b, "parseFloat(getComputedStyle(document.body).fontSize)") >=
          16);
  }
  open_page(&b, "guide/loops.html");
  shoot(&b, "phone");
  /* The contents are behind a button. */
  CHECK_EQ(browser_number(&b, "document.getElementById('sidebar').offsetHeight"), 0.0);
  browser_ask(&b, "(document.getElementById('menu').click(), '')");
  CHECK(browser_number(&b, "document.getElementById('sidebar').offsetHeight") > 400);
  shoot(&b, "phone-menu");
  browser_stop(&b);
}
