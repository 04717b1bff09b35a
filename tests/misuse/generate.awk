# Part of tests/misuse/generate, which see. Reads "name parameters" of each function.

function trim(s) { gsub(/^[ \t]+|[ \t]+$/, "", s); return s }

function complain(text) { print "tests/misuse: " text >"/dev/stderr"; failed = 1 }

# A line of columns between bars; empty ones and comments are passed over.
function read_table(file, line, column, i, count) {
  while ((getline line < file) > 0) {
    if (line ~ /^(#|[ \t]*$)/) continue
    count = split(line, column, /[|]/)
    for (i = 1; i <= count; i++) column[i] = trim(column[i])
    if (file == values) add_value(column, count)
    else add_rule(column, count)
  }
  close(file)
}

# parameter | right value | wrong value | what happens
function add_value(column, count) {
  if (column[2] != "") right[column[1]] = column[2]
  if (count < 3 || column[3] == "") return
  wrong_count[column[1]]++
  wrong[column[1], wrong_count[column[1]]] = column[3]
  happens[column[1], column[3]] = column[4]
}

# function | parameter | wrong value, or "right" | what happens, or the right value
function add_rule(column, count) {
  rule[column[1], column[2], column[3]] = column[4]
  rule_seen[column[1], column[2], column[3]] = 0
}

# The rule for a function, for all types of numbers, or for all functions of a kind.
function find_rule(name, parameter, value, i, pattern) {
  pattern[1] = name
  pattern[2] = name; sub(/_[iuf](32|64)$/, "_T", pattern[2])
  match(name, /^weft_[a-z]+_/)
  pattern[3] = RLENGTH > 0 ? substr(name, 1, RLENGTH) "*" : name
  for (i = 1; i <= 3; i++)
    if ((pattern[i], parameter, value) in rule) {
      rule_seen[pattern[i], parameter, value]++
      return rule[pattern[i], parameter, value]
    }
  return ""
}

function split_parameters(text, out, i, c, depth, count, one) {
  count = 0; depth = 0; one = ""
  if (text == "void") return 0
  for (i = 1; i <= length(text); i++) {
    c = substr(text, i, 1)
    if (c == "(") depth++
    if (c == ")") depth--
    if (c == "," && depth == 0) { out[++count] = trim(one); one = "" }
    else one = one c
  }
  out[++count] = trim(one)
  return count
}

# Numbers of the six types are one kind of parameter.
function key_of(parameter) {
  gsub(/(u?int(32|64)_t|float|double) \*/, "T *", parameter)
  sub(/^(u?int(32|64)_t|float|double) value$/, "T value", parameter)
  return parameter
}

function name_of(parameter) {
  if (match(parameter, /\(\*[a-z_]+\)/)) return substr(parameter, RSTART + 2, RLENGTH - 3)
  match(parameter, /[a-z_]+$/)
  return substr(parameter, RSTART)
}

function right_value(name, key, special) {
  special = find_rule(name, name_of(key), "right")
  if (special != "") return special
  if (key == "const weft_iter *it" && name ~ /_[iuf](32|64)$/)
    return "an_iter_of(" (name ~ /32$/ ? 4 : 8) ")"
  if (!(key in right)) { complain(name ": no right value for `" key "'"); return "0" }
  return right[key]
}

function row(name, base, shown, call, what, rest) {
  gsub(/"/, "'", shown)
  rest = what
  sub(/^[a-z]+ ?/, "", rest)
  if (what ~ /^dies( |$)/)
    printf "ROW_DIES(%d, \"%s\", \"%s\", \"%s\", %s)\n", rows, shown, base, rest, call
  else if (what ~ /^gives /)
    printf "ROW_GIVES(%d, \"%s\", \"%s\", (%s) == (%s))\n", rows, shown, base, call, rest
  else if (what == "works")
    printf "ROW_WORKS(%d, \"%s\", \"%s\", %s)\n", rows, shown, base, call
  else
    complain(shown ": what does `" what "' mean?")
  rows++
}

BEGIN { read_table(values); read_table(rules) }

{
  name = $1
  base = name
  sub(/_with$/, "", base)
  parameters = $0
  sub(/^[^ ]* /, "", parameters)
  delete parameter
  count = split_parameters(parameters, parameter)
  functions++
  for (i = 1; i <= count; i++) {
    key = key_of(parameter[i])
    if (!(key in right) && find_rule(base, name_of(key), "right") == "")
      complain(name ": nothing is said about `" key "'")
    for (w = 1; w <= wrong_count[key]; w++) {
      value = wrong[key, w]
      what = find_rule(base, name_of(key), value)
      if (what == "") what = happens[key, value]
      if (what == "no") continue
      arguments = ""
      for (j = 1; j <= count; j++)
        arguments = arguments (j > 1 ? ", " : "") \
          (j == i ? value : right_value(base, key_of(parameter[j])))
      row(name, base, name "(" name_of(key) " = " value ")", name "(" arguments ")", what)
    }
  }
}

END {
  for (each in rule_seen)
    if (rule_seen[each] == 0) {
      split(each, part, SUBSEP)
      complain("rules.txt: nobody has needed " part[1] " | " part[2] " | " part[3])
    }
  if (functions < 400) complain("only " functions " functions were found")
  exit failed
}
