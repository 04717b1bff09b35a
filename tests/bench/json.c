/* JSON as the result files use it: what is written can be read, and what is wrong is
 * refused with its line.
 *
 * SPDX-License-Identifier: MIT */
#include <bench/harness/json.h>
#include <harness/harness.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static json_value must_read(const char *chars) {
  json_value value;
  char *problem;
  bool ok = json_read(chars, &value, &problem);
  CHECK_MSG(ok, "%s: %s", chars, ok ? "" : problem);
  free(problem);
  return value;
}

static void must_fail(const char *chars, const char *part) {
  json_value value;
  char *problem;
  bool ok = json_read(chars, &value, &problem);
  CHECK_MSG(!ok, "accepted: %s", chars);
  if (ok)
    json_free(&value);
  else
    CHECK_MSG(strstr(problem, part) != NULL, "%s: %s", chars, problem);
  free(problem);
}

TEST(values_of_every_kind) {
  json_value v = must_read(" { \"a\" : [1, -2.5e3, true, false, null], \"b\":\"x\" } ");
  CHECK_EQ((int)v.kind, (int)JSON_OBJECT);
  const json_value *list = json_member(&v, "a");
  REQUIRE(list != NULL && list->count == 5);
  CHECK_EQ(list->items[0].number, 1.0);
  CHECK_EQ(list->items[1].number, -2500.0);
  CHECK_EQ((int)list->items[2].kind, (int)JSON_BOOL);
  CHECK_EQ(list->items[2].number, 1.0);
  CHECK_EQ((int)list->items[4].kind, (int)JSON_NULL);
  CHECK_STR_EQ(json_member_text(&v, "b", "none"), "x");
  CHECK_STR_EQ(json_member_text(&v, "a", "none"), "none");
  CHECK_STR_EQ(json_member_text(&v, "c", "none"), "none");
  CHECK_EQ(json_member_number(&v, "b", 7), 7.0);
  json_free(&v);
}

TEST(empty_lists_and_objects) {
  json_value v = must_read("[[], {}, \"\"]");
  CHECK_EQ(v.count, (size_t)3);
  CHECK_EQ(v.items[0].count, (size_t)0);
  CHECK_EQ((int)v.items[1].kind, (int)JSON_OBJECT);
  CHECK_STR_EQ(v.items[2].chars, "");
  json_free(&v);
}

TEST(escapes_become_characters) {
  json_value v = must_read("\"a\\\"\\\\\\/\\n\\t\\u0041\\u00e9\\u20ac\\ud83d\\ude00\"");
  CHECK_STR_EQ(v.chars, "a\"\\/\n\tA\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
  json_free(&v);
}

TEST(mistakes_are_refused_with_their_line) {
  must_fail("", "line 1: no value");
  must_fail("[1, 2", "without its end");
  must_fail("[1, 2,]", "no value");
  must_fail("{\"a\" 1}", "no colon");
  must_fail("{\n\"a\": 1,\n}", "line 3: no key");
  must_fail("[1]\n\n]", "line 3: something behind");
  must_fail("\"abc", "without its end");
  must_fail("\"\\x\"", "unknown escape");
  must_fail("\"\\u12\"", "hex");
  must_fail("\"\\ud800\"", "half a character");
  must_fail("truth", "unknown word");
  must_fail("01", "begins with 0");
  must_fail("+1", "no value");
  must_fail("nan", "unknown word");
}

TEST(brackets_without_end_are_refused) {
  char deep[1000];
  memset(deep, '[', sizeof deep - 1);
  deep[sizeof deep - 1] = 0;
  must_fail(deep, "too many brackets");
}

TEST(what_is_written_is_read_back) {
  const double numbers[] = {1, 0.1, 123456789012.0, -2.5e-7};
  json_writer w = {0};
  json_begin(&w, '{');
  json_key(&w, "text \"quoted\"\n");
  json_text(&w, "tab\t, bell\a, back\\slash, \xc3\xa9");
  json_key(&w, "none");
  json_text(&w, NULL);
  json_key(&w, "numbers");
  json_numbers(&w, numbers, 4);
  json_key(&w, "no numbers");
  json_numbers(&w, numbers, 0);
  json_key(&w, "infinite");
  json_number(&w, INFINITY);
  json_key(&w, "yes");
  json_bool(&w, true);
  json_key(&w, "nested");
  json_begin(&w, '[');
  json_begin(&w, '{');
  json_end(&w, '}');
  json_end(&w, ']');
  json_end(&w, '}');

  json_value v = must_read(w.out.chars);
  CHECK_EQ(v.count, (size_t)7);
  CHECK_STR_EQ(v.keys[0], "text \"quoted\"\n");
  CHECK_STR_EQ(v.items[0].chars, "tab\t, bell\a, back\\slash, \xc3\xa9");
  CHECK_EQ((int)v.items[1].kind, (int)JSON_NULL);
  REQUIRE(v.items[2].count == 4);
  for (int i = 0; i < 4; i++)
    CHECK(fabs(v.items[2].items[i].number - numbers[i]) <= 1e-9 * fabs(numbers[i]));
  CHECK_EQ(v.items[3].count, (size_t)0);
  CHECK_EQ((int)v.items[4].kind, (int)JSON_NULL);
  CHECK_EQ(json_member_number(&v, "yes", 0), 1.0);
  CHECK_EQ(v.items[6].count, (size_t)1);
  json_free(&v);
  text_free(&w.out);
}

TEST(lists_of_numbers_stay_on_one_line) {
  const double numbers[] = {1, 2};
  json_writer w = {0};
  json_begin(&w, '{');
  json_key(&w, "n");
  json_numbers(&w, numbers, 2);
  json_end(&w, '}');
  CHECK_STR_EQ(w.out.chars, "{\n \"n\": [1, 2]\n}\n");
  text_free(&w.out);
}
