/* The tour (examples/tour) in its small size: in a pipe and on a terminal, its pictures,
 * its timeline, wrong results, and folders that cannot be written.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "harness/harness.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef VIEW_COMMAND /* a build without the command: it succeeds and makes nothing */
#define VIEW_COMMAND "/bin/true"
#define HAS_COMMAND  false
#else
#define HAS_COMMAND true
#endif

static char output[1 << 16], folder[] = "/tmp/weft-tour-XXXXXX";
static size_t length;

/* Runs a shell command; `output` is what it prints, to standard error too. */
__attribute__((format(printf, 1, 2))) static int run(const char *format, ...) {
  char command[4000];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(command, sizeof command, format, arguments);
  va_end(arguments);
  FILE *pipe = popen(command, "r");
  REQUIRE(pipe != NULL);
  length = fread(output, 1, sizeof output - 1, pipe);
  output[length] = '\0';
  int status = pclose(pipe);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static bool says(const char *text) {
  bool is_there = strstr(output, text) != NULL;
  if (!is_there) fprintf(stderr, "no \"%s\" in:\n%s\n", text, output);
  return is_there;
}

static void make_folder(void) {
  strcpy(folder, "/tmp/weft-tour-XXXXXX");
  REQUIRE(mkdtemp(folder) != NULL);
}

static void remove_folder(void) {
  REQUIRE(run("rm -rf '%s'", folder) == 0);
}

/* ---- pictures: read again by another hand ---- */

static unsigned char *file_of(const char *name, size_t *size) {
  char path[200];
  struct stat found;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "rb");
  REQUIRE(file != NULL && fstat(fileno(file), &found) == 0);
  unsigned char *bytes = malloc((size_t)found.st_size + 1);
  REQUIRE(bytes != NULL);
  *size = fread(bytes, 1, (size_t)found.st_size, file);
  CHECK_EQ(*size, found.st_size);
  bytes[*size] = 0;
  fclose(file);
  return bytes;
}

static uint32_t number_at(const unsigned char *b) {
  return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* One bit at a time, without a table. */
static uint32_t crc_of(const unsigned char *bytes, size_t count) {
  uint32_t crc = ~0u;
  for (size_t i = 0; i < count; i++)
    for (int bit = 0; bit < 8; bit++) {
      uint32_t differs = (crc ^ (uint32_t)(bytes[i] >> bit)) & 1;
      crc = crc >> 1 ^ (differs ? 0xEDB88320u : 0);
    }
  return ~crc;
}

/* Unpacks stored blocks to `out`; how many bytes, 0 if something is wrong. */
static size_t unpack(const unsigned char *in, size_t size, unsigned char *out) {
  size_t at = 2, used = 0;
  uint32_t a = 1, b = 0;
  bool is_last = false;
  if (size < 11 || (in[0] << 8 | in[1]) % 31 != 0 || (in[0] & 15) != 8) return 0;
  while (!is_last) {
    if (at + 5 > size || in[at] > 1) return 0;
    is_last = in[at] == 1;
    size_t part = (size_t)(in[at + 1] | in[at + 2] << 8);
    if ((in[at + 3] | in[at + 4] << 8) != (int)(~part & 0xFFFF)) return 0;
    at += 5;
    if (at + part > size) return 0;
    memcpy(out + used, in + at, part);
    used += part;
    at += part;
  }
  for (size_t i = 0; i < used; i++) {
    a = (a + out[i]) % 65521;
    b = (b + a) % 65521;
  }
  return at + 4 == size && number_at(in + at) == (b << 16 | a) ? used : 0;
}

static void check_pixels(const unsigned char *rows, size_t width, size_t height) {
  unsigned colours[256] = {0}, different = 0;
  for (size_t y = 0; y < height; y++) {
    const unsigned char *row = rows + y * (1 + 3 * width);
    CHECK_EQ(row[0], 0); /* no filter */
    for (size_t i = 1; i <= 3 * width; i++) colours[row[i]]++;
  }
  for (unsigned i = 0; i < 256; i++) different += colours[i] > 0;
  CHECK(different > 20); /* it shows something */
}

static void check_picture(const char *name, size_t width, size_t height) {
  size_t size, at = 8, unpacked = 0, rows = height * (1 + 3 * width);
  unsigned char *png = file_of(name, &size), *pixels = malloc(2 * rows + 100);
  REQUIRE(pixels != NULL && size > 33);
  CHECK(memcmp(png, "\x89PNG\r\n\x1a\n", 8) == 0);
  bool has_end = false;
  while (at + 12 <= size && !has_end) {
    size_t data = number_at(png + at);
    REQUIRE(at + 12 + data <= size);
    CHECK_EQ(number_at(png + at + 8 + data), crc_of(png + at + 4, data + 4));
    if (memcmp(png + at + 4, "IHDR", 4) == 0) {
      CHECK_EQ(number_at(png + at + 8), width);
      CHECK_EQ(number_at(png + at + 12), height);
      CHECK(memcmp(png + at + 16, "\x08\x02\0\0\0", 5) == 0);
    } else if (memcmp(png + at + 4, "IDAT", 4) == 0) {
      unpacked = unpack(png + at + 8, data, pixels);
    }
    has_end = memcmp(png + at + 4, "IEND", 4) == 0;
    at += 12 + data;
  }
  CHECK(has_end);
  CHECK_EQ(at, size);
  CHECK_EQ(unpacked, rows);
  if (unpacked == rows) check_pixels(pixels, width, height);
  free(pixels);
  free(png);
}

/* ---- the whole tour ---- */

static const char *const NAMES[] = {"mandelbrot", "sort", "words",
                                    "queens",     "blur", "frames"};

TEST(in_a_pipe) {
  make_folder();
  CHECK_EQ(
      run("cd / && %s --small --out '%s' --view '%s' 2>&1", TOUR, folder, VIEW_COMMAND),
      0);
  CHECK(says("Mandelbrot set, 150 x 100 points"));
  CHECK(says("serial") && says("weft") && says("speed-up") && says("  ok\n"));
  CHECK(says("9 queens have 352 solutions."));
  CHECK(strstr(output, "WRONG") == NULL);
  CHECK(strchr(output, '\r') == NULL && strchr(output, '\033') == NULL);
  CHECK(says("mandelbrot.png\n") && says("blur.png\n") && says("frame.png\n"));
  CHECK(says("trace.json\n"));
  check_picture("mandelbrot.png", 150, 100);
  check_picture("blur.png", 150, 100);
  check_picture("frame.png", 60, 37);
  if (HAS_COMMAND) {
    CHECK(says("timeline.html\n"));
    size_t size;
    char *page = (char *)file_of("timeline.html", &size);
    CHECK(strstr(page, "</html>") != NULL && strstr(page, "Mandelbrot rows") != NULL);
    free(page);
  }
  remove_folder();
}

TEST(exit_codes) {
  make_folder();
  CHECK_EQ(run("%s --small --out '%s' --view /nowhere/weft 2>&1", TOUR, folder), 1);
  CHECK(says("tour: /nowhere/weft view has failed"));
  CHECK_EQ(run("%s --smal 2>&1", TOUR), 2);
  CHECK(says("tour: --smal: usage: tour "));
  CHECK_EQ(run("%s --out 2>&1", TOUR), 2);
  CHECK_EQ(run("%s --small --out /dev/null/x 2>&1", TOUR), 1);
  CHECK(says("tour: cannot make the folder /dev/null/x: "));
  CHECK_EQ(run("%s --small --out /dev/null 2>&1", TOUR), 1);
  CHECK_EQ(run("rm -f '%s/blur.png' && mkdir '%s/blur.png' && cd '%s' && %s --small "
               "--out . 2>&1",
               folder, folder, folder, TOUR),
           1);
  CHECK(says("/blur.png: Is a directory"));
  remove_folder();
}

TEST(wrong_results_are_found) {
  make_folder();
  for (unsigned i = 0; i < 6; i++) {
    char message[100];
    CHECK_EQ(run("PATH=/nowhere %s --small --out '%s' --spoil %s 2>&1", TOUR, folder,
                 NAMES[i]),
             1);
    snprintf(message, sizeof message,
             "tour: WRONG: the result of %s differs from the serial one\n", NAMES[i]);
    CHECK(says(message));
    CHECK(says(" x  WRONG\n"));
    CHECK(says("There is no command \"weft\" here"));
  }
  CHECK_EQ(run("%s --small --out '%s' --spoil tea 2>&1", TOUR, folder), 2);
  remove_folder();
}

/* A trace of the whole process is under way: the tour goes on without its own. */
TEST(with_a_trace_of_the_user) {
  make_folder();
  CHECK_EQ(
      run("WEFT_TRACE='%s/own.json' %s --small --out '%s' 2>&1", folder, TOUR, folder),
      0);
  CHECK(
      says("tour: no trace, and no timeline: already running or in use; is WEFT_TRACE"));
  remove_folder();
}

TEST(on_one_thread) {
  make_folder();
  CHECK_EQ(
      run("WEFT_NUM_THREADS=1 PATH=/nowhere %s --small --out '%s' 2>&1", TOUR, folder),
      0);
  CHECK(says("on 1 thread\n"));
  remove_folder();
}

/* ---- on a terminal ---- */

static void read_terminal(int terminal) {
  length = 0;
  for (;;) {
    ssize_t got = read(terminal, output + length, sizeof output - 1 - length);
    if (got <= 0 || (size_t)got == sizeof output - 1 - length) break;
    length += (size_t)got;
  }
  output[length] = '\0';
}

TEST(on_a_terminal_there_are_bars) {
  make_folder();
  int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), status;
  REQUIRE(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
  const char *name = ptsname(terminal);
  REQUIRE(name != NULL);
  int line = open(name, O_RDWR | O_NOCTTY);
  pid_t child = fork();
  REQUIRE(line >= 0 && child >= 0);
  if (child == 0) {
    setsid();
    dup2(line, STDOUT_FILENO);
    dup2(line, STDERR_FILENO);
    close(line);
    setenv("TERM", "xterm", 1);
    setenv("LC_ALL", "C", 1);
    setenv("PATH", "/nowhere", 1);
    execl(TOUR, "tour", "--small", "--out", folder, (char *)NULL);
    _exit(127);
  }
  close(line);
  read_terminal(terminal);
  close(terminal);
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK_EQ(status, 0);
  CHECK(says("serial: mandelbrot") && says("weft: frames"));
  CHECK(says(" of 100 rows") && says("\033[K"));
  remove_folder();
}
