# Makes programs of the examples in the comments of a public header, for tools/check-examples,
# which explains the rules.
#
# awk -v out=PREFIX -v world=FILE -v header=NAME -f examples.awk FILE header.h...
#
# The first file is the world of the headers: what their examples use. Writes PREFIX.1.c (for
# headers of C++ PREFIX.1.cpp), PREFIX.2.c and so on; prints how many examples there are.

# ---- the world: which blocks are no examples ----

FILENAME == ARGV[1] {
  if ($0 ~ /^\/\/ skip: /) {
    sub(/:$/, "", $4)
    skipped[$3 " " $4] = 1
  }
  next
}

# ---- the blocks of indented code in comments ----

# A list: names, and in a second column what they mean; or what a macro makes.
function is_list(text) {
  sub(/\n.*/, "", text)
  return text ~ /NAME/ || text ~ /[^ ;{]  +[a-z]/ && text !~ /;|\/\//
}

function end_block() {
  if (block != "" && before !~ /(Replaces|Serial:.*)$/ && !is_list(block))
    example[++examples] = block
  block = ""
}

# What the comment stands in front of.
function name_of(line) {
  if (match(line, /^#define WEFT_[A-Z0-9_]*/)) return substr(line, 9, RLENGTH - 8)
  if (match(line, /(weft|WEFT)_[A-Za-z0-9_]*\(/)) return substr(line, RSTART, RLENGTH - 1)
  if (match(line, /(weft|WEFT)_[A-Za-z0-9_]*/)) return substr(line, RSTART, RLENGTH)
  return "other"
}

function use_examples(name,   i, key) {
  for (i = 1; i <= examples; i++) {
    key = cpp ? file_name " " ++in_file : name " " i
    if (!(key in skipped)) add_example(key, example[i])
  }
  examples = 0
}

FNR == 1 {
  file_name = FILENAME
  sub(/.*\//, "", file_name)
  sub(/\.hpp$/, "", file_name)
  cpp = FILENAME ~ /\.hpp$/
  seen_guard = in_file = 0
}
/^\/\*/ {
  if (examples > 0) use_examples(seen_guard ? "other" : "top")
  comment = 1
  last = ""
}
comment {
  text = $0
  ends = text ~ /\*\/ *$/
  sub(/ *\*\/ *$/, "", text)
  if (text ~ /^ \*     /) {
    if (block == "") before = last
    block = block substr(text, 8) "\n"
  } else if (text ~ /^ \*$/ && block != "") block = block "\n"
  else {
    end_block()
    sub(/^[ \/]*\*+ */, "", text)
    if (text != "") last = text
  }
  if (ends) {
    end_block()
    comment = 0
  }
  next
}
/^#ifndef WEFT_/ && !seen_guard { if (examples > 0) use_examples("top"); seen_guard = 1 }
/^[^ \/]/ && examples > 0 { use_examples(name_of($0)) }

# ---- an example becomes definitions and a function ----

function is_definition(line) {
  return line ~ /^(static|struct [a-z_]* \{|typedef|enum|#|WEFT_SIMD|long [a-z]*\(.*\) \{$)/ ||
         (line ~ /^WEFT_[A-Z0-9_]*\(/ && line !~ /^WEFT_INVOKE/)
}

function without_comment(line) {
  sub(/ *\/\/.*$/, "", line)
  return line
}

function depth_of(line,   copy, open) {
  copy = line
  gsub(/"[^"]*"/, "", copy)
  open = gsub(/[({]/, "", copy)
  return open - gsub(/[)}]/, "", copy)
}

# The name that a definition gives, to keep two examples with the same one apart.
function defined_name(line) {
  if (match(line, /WEFT_[A-Z0-9_]*\(/) && line !~ /^WEFT_SIMD/) {
    sub(/^.*WEFT_[A-Z0-9_]*\(/, "", line)
    if (line ~ /^[a-z_ ]*[*]?, [a-z_]*, [a-z]/ && header ~ /task|async/) sub(/^[^,]*, /, "", line)
    sub(/[,)].*$/, "", line)
    return line
  }
  if (match(line, /^struct [a-z_]* \{/)) return substr(line, 1, RLENGTH - 2)
  sub(/[(=\[].*$/, "", line)
  sub(/ *$/, "", line)
  sub(/^.*[ *]/, "", line)
  return line
}

function add_example(key, text,   lines, count, i, line, item, depth, top, body, names, name, unit) {
  count = split(text, lines, "\n")
  item = top = body = names = ""
  depth = 0
  for (i = 1; i <= count; i++) {
    line = lines[i]
    if (line ~ /^ *\.\.\.$/) continue # something between two lines
    sub(/\{ ?\.\.\. ?\}/, item line ~ /^static void/ ? "{ }" : "{ return 0; }", line)
    sub(/ \.\.\.;/, " abort();", line)
    sub(/for \(\.\.\.\)/, "for (int k = 0; k < 3; k++)", line)
    if (item == "") first = line
    item = item line "\n"
    depth += depth_of(without_comment(line))
    if (depth > 0) continue
    line = without_comment(line)
    if (line ~ /^ *$/ || line ~ /[;}]$/ || is_definition(first)) {
      if (first ~ /^ *$/) body = body item
      else if (is_definition(first)) {
        top = top item
        names = names " " defined_name(first)
      } else body = body item
      item = ""
    }
  }
  body = body item
  gsub(/return;/, "return 0;", body)
  for (unit = 1; clashes(unit, names); unit++) continue
  count = split(names, lines, " ")
  for (i = 1; i <= count; i++) taken[unit, lines[i]] = 1
  if (unit > units) units = unit
  total++
  name = key
  gsub(/[^A-Za-z0-9]/, "_", name)
  definitions[unit] = definitions[unit] "/* " key " */\n" top \
    "#ifndef PARAMETERS_" name "\n#define PARAMETERS_" name " void\n#endif\n" \
    "static int example_" name "(PARAMETERS_" name ") {\n" body "return 0;\n}\n\n"
  calls[unit] = calls[unit] "#ifdef RUN_" name "\n  RUN_" name "(example_" name ");\n#else\n" \
    "  example_" name "();\n#endif\n"
}

function clashes(unit, names,   list, count, i) {
  count = split(names, list, " ")
  for (i = 1; i <= count; i++)
    if ((unit, list[i]) in taken) return 1
  return 0
}

END {
  for (unit = 1; unit <= units; unit++) {
    file = out "." unit (cpp ? ".cpp" : ".c")
    print "#include \"" world "\"\n\n" definitions[unit] "int main(void) {\n" calls[unit] \
      "#ifdef AT_END\n  AT_END;\n#endif\n  return 0;\n}" >file
    close(file)
  }
  print total + 0
}
