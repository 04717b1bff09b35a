/* json.c - the JSON reader and writer of the command, which read and write what other
 * programs read: strict in both directions.
 *
 * SPDX-License-Identifier: MIT */
#include "base/json.h"

#include <harness/harness.h>

#include <stdlib.h>
#include <string.h>

static bool valid(const char *chars) {
  char problem[160];
  return json_is_valid(chars, strlen(chars), problem);
}

TEST(valid_texts_are_read) {
  static const char *const texts[] = {"{}",
                                      "[]",
                                      "0",
                                      "-0",
                                      "1.5e-3",
                                      "\"\"",
                                      "null",
                                      "true",
                                      "false",
                                      " [1 , 2\n]\t",
                                      "{\"a\":{\"b\":[[],{}]},\"c\":null}",
                                      "\"\\u00e9\\uD83D\\ude00\\n\\\\\"",
                                      "\"\xc3\xa9\"",
                                      "123456789012345678901234567890",
                                      "\"\x7f\""};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    CHECK_MSG(valid(texts[i]), "%s", texts[i]);
}

TEST(all_else_is_refused) {
  static const char *const texts[] = {"",
                                      " ",
                                      "{",
                                      "}",
                                      "[",
                                      "[1",
                                      "[1,",
                                      "[1,]",
                                      "[,1]",
                                      "{\"a\"}",
                                      "{\"a\":}",
                                      "{\"a\":1,}",
                                      "{a:1}",
                                      "{'a':1}",
                                      "01",
                                      "-",
                                      "1.",
                                      ".5",
                                      "1e",
                                      "+1",
                                      "nul",
                                      "truee",
                                      "NaN",
                                      "Infinity",
                                      "\"",
                                      "\"\\x\"",
                                      "\"\\u12\"",
                                      "\"\\ud800\"",
                                      "\"\\udc00\"",
                                      "\"\n\"",
                                      "1 2",
                                      "[] []",
                                      "[1 2]",
                                      "{\"a\" 1}",
                                      "{\"a\":1 \"b\":2}",
                                      "[}",
                                      "{]",
                                      "\"\xff\"",
                                      "\"\xc0\x80\"",
                                      "\"\xed\xa0\x80\"",
                                      "\"\xf5\x80\x80\x80\"",
                                      "\"\xe2\x82\"",
                                      "// no\n1",
                                      "\xef\xbb\xbf{}"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    CHECK_MSG(!valid(texts[i]), "%s", texts[i]);
}

TEST(depth_is_limited) {
  char deep[300];
  memset(deep, '[', 64);
  memset(deep + 64, ']', 64);
  deep[128] = '\0';
  CHECK(valid(deep));
  memset(deep, '[', 65);
  memset(deep + 65, ']', 65);
  deep[130] = '\0';
  CHECK(!valid(deep));
}

static double number(const char *chars) {
  json_reader r;
  json_open(&r, chars, strlen(chars));
  CHECK_EQ(json_next(&r), JSON_NUMBER);
  double value = r.number;
  CHECK_EQ(json_next(&r), JSON_END);
  json_close(&r);
  return value;
}

TEST(numbers_are_exact) {
  static const char *const texts[] = {"0",
                                      "1",
                                      "-1",
                                      "0.001",
                                      "123456789.123",
                                      "1e300",
                                      "1e-300",
                                      "3600000000.001",
                                      "9007199254740991",
                                      "0.1",
                                      "5e-324",
                                      "123456789012345.6"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    CHECK_EQ(number(texts[i]), strtod(texts[i], NULL));
}

/* Every beginning of a text is an error that says so, and none reads behind the end. */
TEST(a_text_that_is_cut_off_is_noticed) {
  static const char whole[] = "{\"a\":[1.5,true,\"\\u00e9x\",null],\"b\":{}}";
  size_t length = sizeof whole - 1;
  for (size_t i = 0; i < length; i++) {
    char *copy = malloc(i + 1);
    REQUIRE(copy != NULL);
    memcpy(copy, whole, i);
    json_reader r;
    json_open(&r, copy, i);
    json_token token;
    do token = json_next(&r);
    while (token != JSON_END && token != JSON_ERROR);
    CHECK_EQ(token, JSON_ERROR);
    CHECK_MSG(r.cut_short, "%.*s: %s", (int)i, whole, r.problem);
    json_close(&r);
    free(copy);
  }
}

TEST(errors_name_the_line) {
  char problem[160];
  CHECK(!json_is_valid("[1,\n2,\nx]", 9, problem));
  CHECK_MSG(strncmp(problem, "line 3:", 7) == 0, "%s", problem);
}

TEST(what_is_written_can_be_read) {
  json_writer w = {.depth = 0};
  json_begin(&w, NULL, '{');
  json_put_text(&w, "quote \" and \\", "line\nend \x01");
  json_put_text(&w, "nothing", NULL);
  json_put_number(&w, "big", 123456789012345.0);
  json_put_number(&w, "infinite", 1.0 / 0.0);
  json_put_bool(&w, "yes", true);
  json_begin(&w, "list", '[');
  json_finish(&w, ']');
  json_begin(&w, "pairs", '[');
  json_put_number(&w, NULL, 0.5);
  json_begin(&w, NULL, '{');
  json_finish(&w, '}');
  json_finish(&w, ']');
  json_finish(&w, '}');
  CHECK(valid(w.out.chars));
  CHECK(strstr(w.out.chars, "123456789012345") != NULL);
  CHECK(strstr(w.out.chars, "\"infinite\": null") != NULL);
  text_free(&w.out);
}
