/* view.c - `weft view`: makes the timeline page from a trace.
 *
 * SPDX-License-Identifier: MIT */
#include "base/options.h"
#include "base/terminal.h"
#include "command.h"
#include "trace/trace.h"

#include <errno.h>
#include <string.h>

static void help(void) {
  printf("Usage: weft view TRACE.json [-o PAGE.html]\n\n"
         "Makes one self-contained page from a trace: lanes of the workers, steals, who "
         "was at\n"
         "work when, the longest tasks, and findings in plain words. It needs no network "
         "and\n"
         "opens in any browser. A TRACE of - is the standard input.\n\n"
         "  -o, --output FILE  where the page goes; - is the standard output. Without "
         "it: the\n"
         "                     name of the trace, with .html\n"
         "      --json         print what the page says as JSON, and write no page "
         "unless -o\n"
         "                     asks for it\n"
         "      --color WHEN   auto, always or never\n"
         "  -h, --help         this text\n\n"
         "A trace comes from: weft run --trace trace.json -- program\n");
}

enum { OPTION_OUTPUT, OPTION_JSON };
static const option OPTIONS[] = {
    {"output", 'o', true}, {"json", 0, false}, {NULL, 0, false}};

/* "run.json" becomes "run.html". */
static void page_name(const char *trace_name, text *name) {
  size_t length = strlen(trace_name);
  if (length > 5 && strcmp(trace_name + length - 5, ".json") == 0) length -= 5;
  text_add(name, trace_name, length);
  text_add_string(name, ".html");
}

static void say_what_was_found(const trace *t, const char *page) {
  static const style styles[] = {STYLE_GREEN, STYLE_BLUE, STYLE_YELLOW, STYLE_RED};
  printf("%s%s%s: %s, %.0f thread%s, %s slices; %.1f times as fast as one thread\n",
         on(STYLE_BOLD), t->program[0] != '\0' ? t->program : "trace", on(STYLE_PLAIN),
         show_ns(t->duration_ns), t->threads, t->threads == 1 ? "" : "s",
         show_count((double)t->slice_count), t->speedup);
  for (size_t i = 0; i < t->finding_count; i++)
    printf("  %s%s%s %s\n", on(styles[t->findings[i].severity]),
           terminal_has_unicode() ? "●" : "*", on(STYLE_PLAIN), t->findings[i].title);
  printf("The page is %s\n", page);
}

static int make_page(const trace *t, const char *output) {
  text page = {0};
  trace_write_page(t, &page);
  bool written = file_write(output, page.chars, page.length);
  text_free(&page);
  return written ? COMMAND_OK
                 : failure("view", "cannot write %s: %s", output, strerror(errno));
}

int command_view(int argc, char **argv) {
  options o = {.argc = argc, .argv = argv};
  const char *output = NULL;
  bool json = false;
  for (int found; (found = options_next(&o, OPTIONS)) != OPTIONS_END;) {
    if (found == OPTIONS_WRONG) return COMMAND_USAGE;
    if (found == OPTIONS_HELP) return help(), COMMAND_OK;
    if (found == OPTION_OUTPUT) output = o.value;
    if (found == OPTION_JSON) json = true;
  }
  if (o.operands != 1) return usage_error("view", "give the name of one trace");
  const char *path = argv[1];
  if (json && output != NULL && strcmp(output, "-") == 0)
    return usage_error("view",
                       "--json and the page cannot both go to the standard output");
  text name = {0};
  if (output == NULL && strcmp(path, "-") == 0) {
    text_add_string(&name, "-");
  } else if (output == NULL) {
    page_name(path, &name);
  } else {
    text_add_string(&name, output);
  }

  trace t;
  char problem[200];
  int status = COMMAND_OK;
  if (strcmp(name.chars, path) == 0 && strcmp(path, "-") != 0) {
    status = usage_error("view", "the page would overwrite the trace %s", path);
    memset(&t, 0, sizeof t);
  } else if (!trace_read(&t, path, problem)) {
    status = failure("view", "%s: %s", path, problem);
  } else {
    terminal_force_unicode(true);
    trace_analyse(&t);
    trace_find(&t);
    terminal_force_unicode(false);
    if (!json || output != NULL) status = make_page(&t, name.chars);
    if (json && status == COMMAND_OK) {
      json_writer w = {0};
      trace_write_summary(&t, &w);
      json_print(&w);
    } else if (status == COMMAND_OK && strcmp(name.chars, "-") != 0) {
      say_what_was_found(&t, name.chars);
    }
  }
  trace_free(&t);
  text_free(&name);
  return status;
}
