# Takes a page apart, for tools/check-guides, which explains the marks in pages.
#
# awk -v out=FOLDER -v page=NAME -f guides.awk page.md
#
# Writes into FOLDER: N.c and N.cpp, programs; N.other, the library whose code N is, if not
# weft's; N.sh, commands; N.expect, what the step N prints; N.lines, lines that other files have word for word, the files in the first line; the
# files that the page names, in box/; and `steps`, one line for each of these in order. Lines of
# programs keep their numbers by #line. Prints what is wrong with the page, and exits with 1.

function complain(text) {
  print page ":" FNR ": " text
  bad = 1
}

function step(kind) {
  print kind, ++steps >(out "/steps")
  return out "/" steps
}

# A program, of a language or of a language and another library, grows block by block until a
# block has main.
function add_line(key, text) {
  program[key] = program[key] text "\n"
}

function open_block(key) {
  if (program[key] == "") first_line[key] = FNR
  add_line(key, "#line " (FNR + 1) " \"" page "\"")
}

function close_block(key,   name, file) {
  if (!has_main) return
  split(key, name, " ")
  file = step(name[1])
  printf "%s", program[key] >(file "." name[1])
  close(file "." name[1])
  if (name[2] != "") print name[2] >(file ".other")
  program[key] = ""
  has_main = 0
}

# What a mark says holds for the next fence only.
function forget_marks() {
  file_mark = run_by = run_as = not_run = ""
}

# begin_block(language, other): the words of the line that begins it; other is a library, or ""
function begin_block(name, other,   target) {
  language = name
  sub(/^```/, "", language)
  key = other == "" ? language : language " " other
  if (run_by run_as not_run file_mark == "" && language ~ /^(sh|cmake|meson)$/) run_by = page_run_by
  taken = "" # what happens to the lines: "program", a file, or nothing
  if (language == "") complain("a fence without a language")
  else if (file_mark != "") {
    taken = out "/box/" file_mark
  } else if (not_run != "" || language == "text" || language == "rust" || language == "swift")
    taken = ""
  else if (other != "" && other !~ compiled) taken = ""
  else if (run_by != "") {
    taken = step("lines") ".lines"
    print run_by >taken
  } else if (run_as != "") {
    target = step("sh") ".sh"
    printf "%s\n", run_as >target
    close(target)
  } else if (language == "c" || language == "cpp") {
    taken = "program"
    open_block(key)
  } else if (language == "sh") {
    taken = step("sh") ".sh"
    printf "" >taken
  } else if (language == "output") {
    if (steps == 0) complain("output of nothing")
    taken = out "/" steps ".expect"
    printf "" >taken
  } else complain("nobody runs a block of \"" language "\"; say how, or why not")
  forget_marks()
}

function end_block() {
  if (taken == "program") close_block(key)
  else if (taken != "") close(taken)
}

BEGIN { compiled = "^(OpenMP|oneTBB|pthreads|std)$" } # other libraries whose code is compiled

# ---- hidden blocks: a line "<!-- c", lines, a line "-->" ----

hidden && /^-->$/ { end_block(); hidden = 0; next }
!fence && !hidden && /^<!-- (c|cpp|sh|output)( [A-Za-z]+)?$/ { begin_block($2, $3); hidden = 1; next }

# ---- marks ----

!fence && !hidden && /^<!-- run as:$/ { many = 1; run_as = ""; next }
many && /^-->$/ { many = 0; next }
many { run_as = run_as (run_as == "" ? "" : "\n") $0; next }

!fence && /^<!-- compile with: .* -->$/ {
  text = $0
  sub(/^<!-- compile with: /, "", text)
  sub(/ -->$/, "", text)
  print text >(out "/options")
  next
}
!fence && /^<!-- page run by: .* -->$/ {
  page_run_by = $0
  sub(/^<!-- page run by: /, "", page_run_by)
  sub(/ -->$/, "", page_run_by)
  next
}
!fence && /^<!-- (file|run by|run as|not run): .* -->$/ {
  text = $0
  sub(/^<!-- [a-z ]*: /, "", text)
  sub(/ -->$/, "", text)
  if ($2 == "file:") file_mark = text
  else if ($3 == "by:") run_by = text
  else if ($3 == "as:") run_as = text
  else not_run = text
  next
}

# ---- fences ----

/^```/ && !hidden {
  if (fence) end_block()
  else begin_block($1, $2)
  fence = !fence
  next
}
fence || hidden {
  if (taken == "program") {
    add_line(key, $0)
    if ($0 ~ /^int main\(/) has_main = 1
  } else if (taken != "") print >>taken
  next
}

# ---- the rest ----

blank && /^    / { complain("an indented block; use a fence that says what it is") }
{ blank = $0 == "" }

END {
  if (fence || hidden) complain("a block is open at the end")
  for (key in program)
    if (program[key] != "") {
      print page ":" first_line[key] ": these blocks of " key " have no main, so they do not run"
      bad = 1
    }
  exit bad
}
