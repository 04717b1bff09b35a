/* subcommands.c - the weft command as a user calls it: good and bad input of each
 * subcommand, exit codes, JSON that is valid, no colour in a pipe.
 *
 * SPDX-License-Identifier: MIT */
#include "base/json.h"
#include "invented_trace.h"

#include <harness/harness.h>

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char output[1 << 20];
static char folder[64];

/* Runs `weft ARGUMENTS` in a shell; what it prints is in output. Returns the exit code.
 */
static int weft(const char *environment, const char *arguments) {
  char command[1200];
  snprintf(command, sizeof command, "%s %s %s 2>&1 </dev/null", environment, WEFT_COMMAND,
           arguments);
  FILE *pipe = popen(command, "r");
  REQUIRE(pipe != NULL);
  size_t length = fread(output, 1, sizeof output - 1, pipe);
  output[length] = '\0';
  int status = pclose(pipe);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static bool says(const char *words) {
  return strstr(output, words) != NULL;
}

#define EXPECT(code, environment, arguments, words)                                      \
  do {                                                                                   \
    int got = weft(environment, arguments);                                              \
    CHECK_MSG(got == (code) && says(words), "weft %s: %d, %s", arguments, got, output);  \
  } while (0)

static bool output_is_json(void) {
  char problem[160];
  bool valid = json_is_valid(output, strlen(output), problem);
  CHECK_MSG(valid, "%s: %.300s", problem, output);
  return valid;
}

static void make_folder(void) {
  snprintf(folder, sizeof folder, "/tmp/weft-command-XXXXXX");
  REQUIRE(mkdtemp(folder) != NULL);
}

static void remove_folder(void) {
  char command[100];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  CHECK_EQ(system(command), 0);
}

/* Writes a file below the folder, with the folders that lead to it. */
static void put_file(const char *path, const char *content) {
  char whole[400];
  snprintf(whole, sizeof whole, "%s/%s", folder, path);
  for (char *slash = whole + strlen(folder) + 1; (slash = strchr(slash, '/')) != NULL;
       slash++) {
    *slash = '\0';
    mkdir(whole, 0777);
    *slash = '/';
  }
  CHECK(file_write(whole, content, strlen(content)));
}

static void put_trace(const char *path) {
  invented made;
  invented_program(&made, "invented", 4, 300);
  put_file(path, made.out.chars);
  text_free(&made.out);
}

static const char *with_folder(const char *format) {
  static char arguments[1000];
  size_t at = 0;
  for (; *format != '\0' && at < sizeof arguments - 100; format++) {
    if (*format == '@')
      at += (size_t)snprintf(arguments + at, 100, "%s", folder);
    else
      arguments[at++] = *format;
  }
  arguments[at] = '\0';
  return arguments;
}

TEST(the_command_itself) {
  EXPECT(2, "", "", "Usage: weft SUBCOMMAND");
  EXPECT(0, "", "--help", "Usage: weft SUBCOMMAND");
  EXPECT(0, "", "-h", "doctor");
  EXPECT(0, "", "help", "Usage: weft SUBCOMMAND");
  EXPECT(0, "", "help view", "Usage: weft view");
  EXPECT(0, "", "--version", "weft ");
  EXPECT(2, "", "infoo", "did you mean 'info'?");
  EXPECT(2, "", "zzzzzz", "there is no subcommand 'zzzzzz'");
  EXPECT(2, "", "--nonsense", "there is no subcommand '--nonsense'");
  EXPECT(2, "", "help nonsense", "there is no subcommand");
}

TEST(every_subcommand_explains_itself) {
  static const char *const names[] = {"info", "bench", "run", "view", "top", "doctor"};
  for (int i = 0; i < 6; i++) {
    char arguments[40], usage[40];
    snprintf(usage, sizeof usage, "Usage: weft %s", names[i]);
    snprintf(arguments, sizeof arguments, "%s --help", names[i]);
    EXPECT(0, "", arguments, usage);
    snprintf(arguments, sizeof arguments, "%s -h", names[i]);
    EXPECT(0, "", arguments, usage);
    snprintf(arguments, sizeof arguments, "%s --nonsense", names[i]);
    EXPECT(2, "", arguments, "there is no option --nonsense");
    snprintf(arguments, sizeof arguments, "%s --color=pink", names[i]);
    EXPECT(2, "", arguments, "auto, always or never");
    snprintf(arguments, sizeof arguments, "%s --color", names[i]);
    EXPECT(2, "", arguments, "needs a value");
    snprintf(arguments, sizeof arguments, "%s --help=yes", names[i]);
    EXPECT(2, "", arguments, "takes no value");
  }
}

/* Each option that --help names is in the manual and in both completions. */
TEST(help_manual_and_completion_agree) {
  static const char *const names[] = {"info", "bench", "run", "view", "top", "doctor"};
  text bash = {0}, zsh = {0};
  CHECK(file_read(SOURCE_FOLDER "/command/completion/weft.bash", &bash));
  CHECK(file_read(SOURCE_FOLDER "/command/completion/_weft", &zsh));
  for (int i = 0; i < 6; i++) {
    char arguments[40], path[300];
    snprintf(arguments, sizeof arguments, "%s --help", names[i]);
    CHECK_EQ(weft("", arguments), 0);
    text manual = {0};
    snprintf(path, sizeof path, "%s/command/man/weft-%s.1", SOURCE_FOLDER, names[i]);
    CHECK(file_read(path, &manual));
    unsigned options = 0;
    for (const char *at = output; (at = strstr(at, "--")) != NULL; at += 2) {
      size_t length = strspn(at + 2, "abcdefghijklmnopqrstuvwxyz");
      if (length == 0 || at[-1] != ' ') continue;
      char option[40], escaped[48];
      snprintf(option, sizeof option, "--%.*s", (int)length, at + 2);
      if (strcmp(option, "--live") == 0 && strcmp(names[i], "run") != 0)
        continue; /* a hint */
      if (strcmp(option, "--trace") == 0 && strcmp(names[i], "run") != 0) continue;
      snprintf(escaped, sizeof escaped, "\\-\\-%.*s", (int)length, at + 2);
      CHECK_MSG(strstr(manual.chars, escaped) != NULL, "%s: %s", path, option);
      CHECK_MSG(strstr(bash.chars, option) != NULL, "bash: %s", option);
      CHECK_MSG(strstr(zsh.chars, option) != NULL, "zsh: %s", option);
      options++;
    }
    CHECK(options >= 3);
    text_free(&manual);
  }
  text_free(&bash);
  text_free(&zsh);
}

TEST(bash_completes) {
  char command[600];
  snprintf(command, sizeof command,
           "bash -c 'command -v mapfile compgen >/dev/null || exit 9; source "
           "%s/command/completion/"
           "weft.bash; t() { COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _weft; echo "
           "\"${COMPREPLY[*]}\"; }; t weft v; t weft run --idle p; t weft view --j; t "
           "weft bench so' "
           "2>&1",
           SOURCE_FOLDER);
  FILE *pipe = popen(command, "r");
  REQUIRE(pipe != NULL);
  size_t length = fread(output, 1, sizeof output - 1, pipe);
  output[length] = '\0';
  int status = pclose(pipe);
  if (WEXITSTATUS(status) == 127 || WEXITSTATUS(status) == 9) {
    printf("skipped: no bash with programmable completion\n");
    return;
  }
  CHECK_STR_EQ(output, "view\npower_saving\n--json\nsort\n");
}

TEST(info_shows_this_machine) {
  EXPECT(0, "", "info", "What weft would choose");
  CHECK(!says("\033["));
  CHECK_EQ(weft("", "info --color=always"), 0);
  CHECK(says("\033[1m"));
  CHECK_EQ(weft("NO_COLOR=1", "info --color=always"), 0);
  CHECK(says("\033[1m"));
  CHECK_EQ(weft("", "info --json"), 0);
  CHECK(output_is_json() && says("\"futex\"") && says("\"barrier\"") &&
        says("\"threads_why\""));
  EXPECT(0, "WEFT_NUM_THREADS=7", "info", "7: WEFT_NUM_THREADS says so");
  EXPECT(0, "WEFT_NUM_THREADS=many", "info", "is 'many', which is no number");
  EXPECT(0, "WEFT_IDLE=lazy", "info", "WEFT_IDLE is 'lazy'");
  EXPECT(0, "", "info --topology", "for this process");
  EXPECT(2, "", "info --topology --json", "--topology is for people");
  EXPECT(2, "", "info now", "takes no operand");
  EXPECT(1, "", "info --root /nowhere/at/all", "No such file");
}

/* A machine that exists only as files: a container with a quota of 2.5 of 16 CPUs. */
static void put_machine(void) {
  make_folder();
  put_file("proc/cpuinfo",
           "processor\t: 0\nmodel name\t: Test CPU 9000\nflags\t\t: fpu hypervisor\n");
  put_file("proc/self/status", "Name:\tx\nCpus_allowed_list:\t0-7,9\n");
  put_file("proc/self/cgroup", "0::/pod/box\n");
  put_file("proc/self/mountinfo", "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  put_file("proc/loadavg", "33.50 1 1 1/100 1\n");
  put_file("proc/stat", "cpu 100 0 100 700 0 0 0 100\n");
  put_file("proc/meminfo", "MemTotal:       33554432 kB\n");
  put_file("sys/fs/cgroup/pod/cpu.max", "250000 100000\n");
  put_file("sys/fs/cgroup/pod/box/cpu.max", "max 100000\n");
  put_file("sys/fs/cgroup/pod/cpu.stat",
           "usage_usec 1\nnr_periods 100\nnr_throttled 42\nthrottled_usec 5000000\n");
  put_file("sys/devices/system/cpu/online", "0-15\n");
  put_file("sys/devices/system/node/online", "0-1\n");
  for (int i = 0; i < 16; i++) {
    char path[100], value[16];
    snprintf(path, sizeof path, "sys/devices/system/cpu/cpu%d/topology/core_id", i);
    snprintf(value, sizeof value, "%d\n", i % 4);
    put_file(path, value);
    snprintf(path, sizeof path,
             "sys/devices/system/cpu/cpu%d/topology/physical_package_id", i);
    snprintf(value, sizeof value, "%d\n", i / 8);
    put_file(path, value);
  }
  put_file("sys/devices/system/cpu/cpu0/cache/index0/level", "3\n");
  put_file("sys/devices/system/cpu/cpu0/cache/index0/type", "Unified\n");
  put_file("sys/devices/system/cpu/cpu0/cache/index0/size", "16384K\n");
  put_file("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
  put_file("sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n");
}

TEST(info_and_doctor_read_another_machine) {
  put_machine();
  CHECK_EQ(weft("", with_folder("info --root @")), 0);
  CHECK(says("Test CPU 9000 (virtual machine)") && says("16 (0-15)"));
  CHECK_MSG(says("2 packages, 8 cores, several threads each, several memory nodes"), "%s",
            output);
  CHECK(says("9 of 16 CPUs (0-7,9)") && says("2.50 CPUs, from"));
  CHECK(says("32.0 GiB") && says("16384K"));
  CHECK_EQ(weft("", with_folder("info --json --root @")), 0);
  CHECK(output_is_json() && says("\"quota_cpus\": 2.5"));

  CHECK_EQ(weft("WEFT_NUM_THREADS=64", with_folder("doctor --json --root @")), 3);
  CHECK(output_is_json() && says("\"healthy\": false"));
  CHECK(says("\"throttled\"") && says("42 times") && says("5.00 s"));
  CHECK(says("\"oversubscribed\"") && says("\"load\"") && says("\"host\""));
  CHECK(says("\"huge-pages\"") && says("\"governor\"") && says("\"affinity\""));
  CHECK_EQ(weft("WEFT_IDLE=lazy WEFT_STEER=left WEFT_NUM_THREADS=0",
                with_folder("doctor --root @")),
           3);
  CHECK(says("WEFT_IDLE is 'lazy' and is ignored") && says("WEFT_STEER is 'left'"));
  CHECK(says("WEFT_NUM_THREADS is '0' and is ignored"));
  remove_folder();

  /* A machine that says nothing. */
  make_folder();
  CHECK_EQ(weft("", with_folder("info --root @")), 0);
  CHECK(says("none"));
  remove_folder();
}

TEST(doctor_reads_traces) {
  make_folder();
  put_trace("t.json");
  int code = weft("", with_folder("doctor @/t.json"));
  CHECK(code == 0 || code == 3);
  CHECK(says("invented: "));
  CHECK_EQ(weft("", with_folder("doctor --json @/t.json")), code);
  CHECK(output_is_json() && says("\"program_findings\""));
  EXPECT(1, "", with_folder("doctor @/none.json"), "No such file");
  EXPECT(1, "", with_folder("doctor @"), "Is a directory");
  EXPECT(2, "", "doctor a b", "behind --");
  EXPECT(2, "", "doctor --", "which program?");
  EXPECT(127, "", "doctor -- /nowhere/program", "No such file");
  EXPECT(1, "", "doctor -- true", "wrote no trace");
  remove_folder();
}

TEST(run_sets_the_environment) {
  EXPECT(0, "", "run -n 3 -i balanced -- sh -c 'echo $WEFT_NUM_THREADS $WEFT_IDLE'",
         "3 balanced");
  EXPECT(0, "", "run --threads=5 --steer off sh -c 'echo $WEFT_NUM_THREADS $WEFT_STEER'",
         "5 off");
  EXPECT(0, "", "run --stats sh -c 'echo s$WEFT_STATS'", "s1");
  EXPECT(0, "", "run -l sh -c 'echo s$WEFT_STATS'", "slive");
  EXPECT(0, "",
         "run -t /tmp/x-%p.json --limit 7 sh -c 'echo $WEFT_TRACE $WEFT_TRACE_LIMIT'",
         "/tmp/x-%p.json 7");
  EXPECT(7, "", "run -- sh -c 'exit 7'", "");
  EXPECT(0, "", "run echo --json -n", "--json -n"); /* options end at the program */
  EXPECT(2, "", "run", "which program?");
  EXPECT(2, "", "run -n", "needs a value");
  EXPECT(2, "", "run --trace -- true", "--trace needs a value");
  EXPECT(2, "", "run -n 0 true", "from 1 to 1024, not '0'");
  EXPECT(2, "", "run -n 1025 true", "not '1025'");
  EXPECT(2, "", "run -n 2x true", "not '2x'");
  EXPECT(2, "", "run -n 99999999999999999999 true", "from 1 to 1024");
  EXPECT(2, "", "run --idle lazy true", "not 'lazy'");
  EXPECT(2, "", "run --steer maybe true", "not 'maybe'");
  EXPECT(2, "", "run --limit 0 true", "not '0'");
  EXPECT(2, "", "run -s -l true", "exclude each other");
  EXPECT(1, "", "run --trace /nowhere/at/all.json true", "cannot write the trace");
  EXPECT(1, "", "run --trace '' true", "has no name");
  EXPECT(127, "", "run /nowhere/program", "No such file");
  EXPECT(126, "", "run /", "cannot run");
}

TEST(view_makes_pages) {
  make_folder();
  put_trace("t.json");
  char page[200];
  struct stat status;
  EXPECT(0, "", with_folder("view @/t.json"), "t.html");
  snprintf(page, sizeof page, "%s/t.html", folder);
  CHECK(stat(page, &status) == 0 && status.st_size > 20000);
  EXPECT(0, "", with_folder("view @/t.json -o @/other.html"), "other.html");
  CHECK_EQ(weft("", with_folder("view @/t.json -o -")), 0);
  CHECK(strncmp(output, "<!doctype html>", 15) == 0);
  CHECK_EQ(weft("", with_folder("view - -o @/in.html < @/t.json #")), 0);
  CHECK_EQ(weft("", with_folder("view @/t.json --json")), 0);
  CHECK(output_is_json() && says("\"speedup_max\"") && says("\"findings\""));
  EXPECT(2, "", "view", "give the name of one trace");
  EXPECT(2, "", "view a b", "give the name of one trace");
  EXPECT(2, "", with_folder("view @/t.json -o @/t.json"), "would overwrite the trace");
  EXPECT(2, "", with_folder("view @/t.json --json -o -"), "cannot both");
  EXPECT(1, "", with_folder("view @/none.json"), "No such file");
  EXPECT(1, "", with_folder("view @"), "Is a directory");
  EXPECT(1, "", with_folder("view @/t.json -o /nowhere/at/all.html"), "cannot write");
  EXPECT(1, "", with_folder("view @/t.json -o /dev/full"), "No space left");
  put_file("empty.json", "");
  EXPECT(1, "", with_folder("view @/empty.json"), "is empty");
  put_file("bad.json", "{\"traceEvents\":[\n{\"ph\":}]}");
  EXPECT(1, "", with_folder("view @/bad.json"), "line 2");
  CHECK(access(with_folder("@/bad.html"), F_OK) != 0);
  put_file("other.json", "{\"a\":[1,2]}");
  EXPECT(1, "", with_folder("view @/other.json"), "no trace");
  remove_folder();
}

TEST(top_sums_up_traces) {
  make_folder();
  put_trace("t.json");
  EXPECT(0, "", with_folder("top @/t.json"), "at work over time");
  CHECK(says("weft-3") && says("blur rows") && !says("\033["));
  CHECK_EQ(weft("", with_folder("top --json @/t.json")), 0);
  CHECK(output_is_json());
  EXPECT(1, "", with_folder("top @/none.json"), "No such file");
  EXPECT(2, "", "top 1 2", "give one process");
  EXPECT(2, "", "top --count 0 1", "not '0'");
  EXPECT(2, "", "top --interval 5 1", "not '5'");
  remove_folder();
}

/* A name may hold anything; a terminal must not obey it. */
TEST(names_do_nothing_to_the_terminal) {
  static const char *const subcommands[] = {"top @/t.json", "doctor @/t.json",
                                            "view @/t.json -o @/t.html", NULL};
  make_folder();
  put_file("t.json", "{\"otherData\":{\"program\":\"p\\u001b[2J\"},\"traceEvents\":["
                     "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":1,"
                     "\"args\":{\"name\":\"t\\u009b2J\"}},\n"
                     "{\"ph\":\"X\",\"cat\":\"task\",\"name\":\"a\\u001b]0;b\\u0007\\r"
                     "c\\u007f\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":90000}]}");
  for (int i = 0; subcommands[i] != NULL; i++) {
    int code = weft("", with_folder(subcommands[i]));
    CHECK(code == 0 || code == 3);
    CHECK(says("p?[2J"));
    CHECK(!says("\033") && !says("\r") && !says("\a") && !says("\177") &&
          !says("\xC2\x9B"));
  }
  CHECK_EQ(weft("", with_folder("top @/t.json")), 0);
  CHECK(says("a?]0;b??c?") && says("1 thread,"));
  remove_folder();
}

static const char LOOK[] = "{\"weft\":\"0.2.0\",\"pid\":%ld,\"program\":\"player\","
                           "\"uptime_ns\":2000000000,\"pools\":[{"
                           "\"pool\":1,\"name\":\"weft\",\"threads\":2,\"cpus\":2,"
                           "\"queued\":3,\"background\":0,\"workers\":["
                           "{\"worker\":0,\"role\":\"caller\",\"state\":\"away\","
                           "\"queue\":0,\"tasks\":0,\"working_ns\":0},"
                           "{\"worker\":1,\"role\":\"started\",\"state\":\"working\","
                           "\"queue\":5,\"tasks\":100,\"steals\":10,"
                           "\"wakes\":4,\"working_ns\":1500000000,\"searching_ns\":"
                           "300000000,\"asleep_ns\":200000000}]}]}";

TEST(top_watches_programs) {
  make_folder();
  chmod(folder, 0700);
  char environment[120], content[1000], path[60], arguments[60];
  snprintf(environment, sizeof environment, "XDG_RUNTIME_DIR=%s", folder);
  long pid = (long)getpid();
  EXPECT(1, environment, "top 1", "shows no statistics");
  EXPECT(1, environment, "top 999999999", "there is no process 999999999");
  snprintf(content, sizeof content, LOOK, pid);
  snprintf(path, sizeof path, "weft-%ld.json", pid);
  put_file(path, content);
  snprintf(arguments, sizeof arguments, "top %ld", pid);
  EXPECT(0, environment, arguments, "player");
  CHECK(says("1 of 2 threads at work") && says("waiting: 3 injected") && says("75 %"));
  CHECK(says("working") && !says("away") && !says("\033["));
  snprintf(arguments, sizeof arguments, "top %ld --json", pid);
  CHECK_EQ(weft(environment, arguments), 0);
  CHECK(output_is_json());
  snprintf(arguments, sizeof arguments, "top %ld --count 2 --interval 100", pid);
  EXPECT(0, environment, arguments, "figures of the last interval");
  /* The only one is found without its number, unless others run on this machine. */
  int code = weft(environment, "top");
  CHECK((code == 0 && says("player")) || (code == 2 && says("player")));
  put_file(path, "{\"pid\":");
  snprintf(arguments, sizeof arguments, "top %ld", pid);
  EXPECT(1, environment, arguments, "not valid");
  /* What a process left that could not tidy up is not shown. */
  put_file("weft-999999998.json", content);
  EXPECT(1, environment, "top 999999998", "there is no process");
  /* Nor one whose parent has not asked for its exit code. */
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) _exit(0);
  siginfo_t info;
  REQUIRE(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) == 0);
  snprintf(path, sizeof path, "weft-%ld.json", (long)child);
  put_file(path, content);
  snprintf(arguments, sizeof arguments, "top %ld", (long)child);
  EXPECT(1, environment, arguments, "there is no process");
  REQUIRE(waitpid(child, NULL, 0) == child);
  remove_folder();
}

/* Runs the command on a terminal of its own; what it prints, until it prints `until`, is
 * in output. Then it gets `key`. Returns its exit code. */
static int on_terminal(char **arguments, const char *kind, const char *until,
                       const char *key) {
  int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  REQUIRE(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
  const char *name = ptsname(terminal);
  REQUIRE(name != NULL);
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    setsid();
    int line = open(name, O_RDWR);
    dup2(line, 0);
    dup2(line, 1);
    dup2(line, 2);
    unsetenv("NO_COLOR");
    setenv("TERM", kind, 1);
    setenv("LC_ALL", "C", 1); /* a byte is a column */
    execv(WEFT_COMMAND, arguments);
    _exit(127);
  }
  size_t length = 0;
  bool sent = key == NULL;
  for (;;) {
    ssize_t got = read(terminal, output + length, sizeof output - 1 - length);
    if (got <= 0) break; /* the other side is closed */
    length += (size_t)got;
    output[length] = '\0';
    if (!sent && says(until)) sent = write(terminal, key, strlen(key)) > 0;
  }
  close(terminal);
  int status;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

TEST(a_terminal_has_colour_and_keys) {
  char command[] = "weft", info[] = "info", top[] = "top", never[] = "--color=never";
  char *plain[] = {command, info, NULL};
  CHECK_EQ(on_terminal(plain, "xterm", "", NULL), 0);
  CHECK(says("\033[1m"));
  char *colourless[] = {command, info, never, NULL};
  CHECK_EQ(on_terminal(colourless, "xterm", "", NULL), 0);
  CHECK(!says("\033["));

  make_folder();
  char content[1000], path[60], pid[24];
  setenv("XDG_RUNTIME_DIR", folder, 1);
  snprintf(pid, sizeof pid, "%ld", (long)getpid());
  snprintf(content, sizeof content, LOOK, (long)getpid());
  snprintf(path, sizeof path, "weft-%s.json", pid);
  put_file(path, content);
  char *watch[] = {command, top, pid, NULL};
  CHECK_EQ(on_terminal(watch, "xterm", "q ends", "q"), 0);
  CHECK(says("player") && says("\033[?1049h") && says("\033[?1049l") &&
        says("\033[?25h"));
  /* Without such abilities: one look, which fits into 80 columns. */
  CHECK_EQ(on_terminal(watch, "dumb", "", NULL), 0);
  CHECK(says("player") && !says("\033"));
  for (const char *line = output; *line != '\0';) {
    size_t length = strcspn(line, "\r\n");
    CHECK_MSG(length <= 80, "%zu columns: %.*s", length, (int)length, line);
    line += length + strspn(line + length, "\r\n");
  }
  remove_folder();
}

TEST(bench_measures) {
  EXPECT(0, "WEFT_NUM_THREADS=2", "bench --quick fork wake", "a fork and its join");
  CHECK(says("less is better") && says("this machine (2)") && !says("\033["));
  CHECK_EQ(weft("WEFT_NUM_THREADS=2", "bench --quick --json"), 0);
  CHECK(output_is_json() && says("\"sort\"") && says("\"recorded\""));
  EXPECT(2, "", "bench --quick nonsense", "there is no row 'nonsense'");
  EXPECT(2, "", "bench --seconds 0", "from 1 to 600");
  EXPECT(2, "", "bench --record x fork", "needs all rows");
}

TEST(a_full_disk_is_an_error) {
  EXPECT(1, "", "info >/dev/full", "");
}
