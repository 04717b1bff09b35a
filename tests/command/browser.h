/* browser.h - a headless Chromium that a test clicks and types in.
 *
 * The browser is spoken to through two pipes (--remote-debugging-pipe): messages of JSON,
 * each ended by a byte 0. Clicks, keys, wheel and touch go the way that a user's go. No
 * other program is needed.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_COMMAND_BROWSER_H
#define TESTS_COMMAND_BROWSER_H

#include "base/json.h"
#include "base/text.h"

#include <harness/harness.h>

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct browser {
  pid_t process;
  int to, from;
  long id;
  char session[80], profile[64];
  text input; /* what was read and not yet used */
} browser;

/* The path of the browser, or NULL. */
static inline const char *browser_find(void) {
  static const char *const names[] = {"chromium", "chromium-browser", "google-chrome"};
  static char path[300];
  const char *folders = getenv("PATH");
  while (folders != NULL && *folders != '\0') {
    size_t length = strcspn(folders, ":");
    for (int i = 0; i < 3; i++) {
      snprintf(path, sizeof path, "%.*s/%s", (int)(length < 200 ? length : 200), folders,
               names[i]);
      if (access(path, X_OK) == 0) return path;
    }
    folders += length + (folders[length] == ':');
  }
  return NULL;
}

/* The value of a member of a message, at any depth: enough for the answers of Chromium. A
 * text is copied without its quotes; false if there is none. */
static inline bool browser_member(const char *message, size_t length, const char *key,
                                  text *value) {
  json_reader r;
  json_open(&r, message, length);
  bool found = false;
  for (json_token token;
       !found && (token = json_next(&r)) != JSON_END && token != JSON_ERROR;) {
    if (token != JSON_KEY || strcmp(r.string, key) != 0) continue;
    token = json_next(&r);
    value->length = 0;
    found = true;
    if (token == JSON_STRING)
      text_add(value, r.string, r.length);
    else if (token == JSON_NUMBER)
      text_format(value, "%.17g", r.number);
    else if (token == JSON_TRUE || token == JSON_FALSE)
      text_add_string(value, token == JSON_TRUE ? "true" : "false");
    else
      found = false;
  }
  json_close(&r);
  return found;
}

/* Reads the next message; the caller owns it. */
static inline text browser_read(browser *b) {
  for (;;) {
    char *end =
        b->input.length > 0 ? memchr(b->input.chars, '\0', b->input.length) : NULL;
    if (end != NULL) {
      text message = {0};
      size_t length = (size_t)(end - b->input.chars);
      text_add(&message, b->input.chars, length);
      memmove(b->input.chars, end + 1, b->input.length - length - 1);
      b->input.length -= length + 1;
      return message;
    }
    static char chunk[1 << 16];
    ssize_t got = read(b->from, chunk, sizeof chunk);
    REQUIRE(got > 0); /* the browser has gone */
    text_add(&b->input, chunk, (size_t)got);
  }
}

/* Sends a command and returns the answer. */
static inline text browser_call(browser *b, const char *method, const char *parameters) {
  text message = {0};
  long id = ++b->id;
  text_format(&message, "{\"id\":%ld,\"method\":\"%s\",\"params\":%s", id, method,
              parameters);
  if (b->session[0] != '\0') text_format(&message, ",\"sessionId\":\"%s\"", b->session);
  text_add(&message, "}", 2); /* with the byte 0 */
  for (size_t at = 0; at < message.length;) {
    ssize_t sent = write(b->to, message.chars + at, message.length - at);
    REQUIRE(sent > 0);
    at += (size_t)sent;
  }
  text_free(&message);
  char start[32];
  int start_length = snprintf(start, sizeof start, "{\"id\":%ld,", id);
  for (;;) {
    text answer = browser_read(b);
    if (strncmp(answer.chars, start, (size_t)start_length) == 0) return answer;
    text_free(&answer); /* an event */
  }
}

static inline void browser_do(browser *b, const char *method, const char *parameters) {
  text answer = browser_call(b, method, parameters);
  CHECK_MSG(strstr(answer.chars, "\"error\":") == NULL, "%s: %.300s", method,
            answer.chars);
  text_free(&answer);
}

/* Starts a browser with an empty page. */
static inline void browser_start(browser *b) {
  *b = (browser){.id = 0};
  int to[2], from[2];
  REQUIRE(pipe(to) == 0 && pipe(from) == 0);
  snprintf(b->profile, sizeof b->profile, "/tmp/weft-browser-XXXXXX");
  REQUIRE(mkdtemp(b->profile) != NULL);
  b->process = fork();
  REQUIRE(b->process >= 0);
  if (b->process == 0) {
    char profile[100];
    snprintf(profile, sizeof profile, "--user-data-dir=%s", b->profile);
    /* Descriptors 3 and 4 are where it reads and writes; first out of their way. */
    int in = fcntl(to[0], F_DUPFD, 20), out = fcntl(from[1], F_DUPFD, 20);
    dup2(in, 3);
    dup2(out, 4);
    for (int fd = 5; fd < 256; fd++) close(fd);
    int nowhere = open("/dev/null", O_RDWR);
    dup2(nowhere, 0);
    dup2(nowhere, 1);
    dup2(nowhere, 2);
    execl(browser_find(), "chromium", "--headless", "--no-sandbox", "--disable-gpu",
          "--no-first-run", "--hide-scrollbars", "--disable-background-networking",
          "--disable-component-update", "--disable-sync", "--disable-extensions",
          "--remote-debugging-pipe", "--touch-events=enabled", profile, "about:blank",
          (char *)NULL);
    _exit(127);
  }
  close(to[0]);
  close(from[1]);
  b->to = to[1];
  b->from = from[0];
  text answer = browser_call(b, "Target.createTarget", "{\"url\":\"about:blank\"}"),
       id = {0};
  REQUIRE(browser_member(answer.chars, answer.length, "targetId", &id));
  text_free(&answer);
  char parameters[200];
  snprintf(parameters, sizeof parameters, "{\"targetId\":\"%s\",\"flatten\":true}",
           id.chars);
  answer = browser_call(b, "Target.attachToTarget", parameters);
  REQUIRE(browser_member(answer.chars, answer.length, "sessionId", &id));
  snprintf(b->session, sizeof b->session, "%s", id.chars);
  text_free(&answer);
  text_free(&id);
  browser_do(b, "Page.enable", "{}");
  browser_do(b, "Runtime.enable", "{}");
}

static inline void browser_stop(browser *b) {
  b->session[0] = '\0';
  text answer = browser_call(b, "Browser.close", "{}");
  text_free(&answer);
  /* It ends by itself; a browser that does not is ended after ten seconds. */
  for (int i = 0; waitpid(b->process, NULL, WNOHANG) == 0; i++) {
    if (i == 1000) kill(b->process, SIGKILL); /* the one that browser_start made */
    usleep(10000);
  }
  close(b->to);
  close(b->from);
  text_free(&b->input);
  char command[120];
  snprintf(command, sizeof command, "rm -rf '%s' 2>/dev/null", b->profile);
  CHECK(system(command) >= 0);
}

/* Size of the window, and the theme that the system asks for. */
static inline void browser_window(browser *b, int width, int height, bool phone,
                                  bool dark) {
  char parameters[300];
  snprintf(parameters, sizeof parameters,
           "{\"width\":%d,\"height\":%d,\"deviceScaleFactor\":%d,\"mobile\":%s}", width,
           height, phone ? 2 : 1, phone ? "true" : "false");
  browser_do(b, "Emulation.setDeviceMetricsOverride", parameters);
  snprintf(parameters, sizeof parameters,
           "{\"features\":[{\"name\":\"prefers-color-scheme\",\"value\":\"%s\"},"
           "{\"name\":\"prefers-reduced-motion\",\"value\":\"reduce\"}]}",
           dark ? "dark" : "light");
  browser_do(b, "Emulation.setEmulatedMedia", parameters);
}

/* Evaluates JavaScript, waits for a promise, and returns the value as text. */
static inline const char *browser_ask(browser *b, const char *script) {
  static text value;
  json_writer w = {.compact = true};
  json_begin(&w, NULL, '{');
  json_put_text(&w, "expression", script);
  json_put_bool(&w, "returnByValue", true);
  json_put_bool(&w, "awaitPromise", true);
  json_finish(&w, '}');
  text answer = browser_call(b, "Runtime.evaluate", w.out.chars);
  text_free(&w.out);
  value.length = 0;
  text_add(&value, "", 0);
  if (strstr(answer.chars, "exceptionDetails") != NULL ||
      !browser_member(answer.chars, answer.length, "value", &value))
    CHECK_MSG(strstr(answer.chars, "\"undefined\"") != NULL, "%s: %.600s", script,
              answer.chars);
  text_free(&answer);
  return value.chars;
}

static inline double browser_number(browser *b, const char *script) {
  return strtod(browser_ask(b, script), NULL);
}

/* Opens a file and waits until its script has run. */
static inline void browser_open(browser *b, const char *path) {
  char parameters[4200]; /* a path has at most 4096 characters */
  snprintf(parameters, sizeof parameters, "{\"url\":\"file://%s\"}", path);
  browser_do(b, "Page.navigate", parameters);
  while (strcmp(browser_ask(b, "document.readyState === 'complete' && "
                               "location.protocol === 'file:' ? 'yes' : 'no'"),
                "yes") != 0)
    usleep(10000);
}

static inline void browser_mouse(browser *b, const char *type, double x, double y,
                                 const char *more) {
  char parameters[300];
  snprintf(parameters, sizeof parameters, "{\"type\":\"%s\",\"x\":%.1f,\"y\":%.1f%s%s}",
           type, x, y, *more != '\0' ? "," : "", more);
  browser_do(b, "Input.dispatchMouseEvent", parameters);
}

static inline void browser_click(browser *b, double x, double y) {
  browser_mouse(b, "mouseMoved", x, y, "");
  browser_mouse(b, "mousePressed", x, y, "\"button\":\"left\",\"clickCount\":1");
  browser_mouse(b, "mouseReleased", x, y, "\"button\":\"left\",\"clickCount\":1");
}

/* One key: its name, and the text that it makes or "". */
static inline void browser_key(browser *b, const char *key, const char *makes) {
  char parameters[300];
  snprintf(parameters, sizeof parameters, "{\"type\":\"%s\",\"key\":\"%s\"%s%s%s}",
           *makes != '\0' ? "keyDown" : "rawKeyDown", key,
           *makes != '\0' ? ",\"text\":\"" : "", makes, *makes != '\0' ? "\"" : "");
  browser_do(b, "Input.dispatchKeyEvent", parameters);
  snprintf(parameters, sizeof parameters, "{\"type\":\"keyUp\",\"key\":\"%s\"}", key);
  browser_do(b, "Input.dispatchKeyEvent", parameters);
}

static inline void browser_touch(browser *b, const char *type, int count,
                                 const double *points) {
  text parameters = {0};
  text_format(&parameters, "{\"type\":\"%s\",\"touchPoints\":[", type);
  for (int i = 0; i < count; i++)
    text_format(&parameters, "%s{\"x\":%.1f,\"y\":%.1f,\"id\":%d}", i > 0 ? "," : "",
                points[2 * i], points[2 * i + 1], i);
  text_add_string(&parameters, "]}");
  browser_do(b, "Input.dispatchTouchEvent", parameters.chars);
  text_free(&parameters);
}

static inline int browser_digit(char c) {
  static const char digits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const char *found = c != '\0' ? strchr(digits, c) : NULL;
  return found != NULL ? (int)(found - digits) : -1;
}

/* Writes what a command returns as `data` in base 64; the number of bytes. */
static inline size_t browser_save(browser *b, const char *method, const char *parameters,
                                  const char *path) {
  text answer = browser_call(b, method, parameters), data = {0}, bytes = {0};
  CHECK(browser_member(answer.chars, answer.length, "data", &data));
  unsigned word = 0, count = 0;
  for (size_t i = 0; i < data.length; i++) {
    int digit = browser_digit(data.chars[i]);
    if (digit < 0) break;
    word = word << 6 | (unsigned)digit;
    if (++count % 4 == 0) {
      char three[3] = {(char)(word >> 16), (char)(word >> 8), (char)word};
      text_add(&bytes, three, 3);
    }
  }
  CHECK(file_write(path, bytes.chars, bytes.length));
  size_t length = bytes.length;
  text_free(&answer);
  text_free(&data);
  text_free(&bytes);
  return length;
}

#endif
