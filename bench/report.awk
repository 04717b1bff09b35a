# bench/report.awk - the tables of bench/run.
#
# Input files: titles (row|text), goals (see bench/run), results.csv. Prints for each row
# and case a table of times and a table of other figures, and at the end the overview of
# goals. Plain POSIX awk.
#
# SPDX-License-Identifier: MIT

FNR == 1 { file++ }

file == 1 {
  split($0, f, "|")
  rows[++row_count] = f[1]
  title[f[1]] = f[2]
  next
}

file == 2 { goals[++goal_count] = $0; next }

FNR > 1 {
  split($0, f, ",")
  rc = f[1] SUBSEP f[2]
  who = rc SUBSEP f[4]
  key = who SUBSEP f[5]
  if (!(rc in seen)) { seen[rc]; cases[f[1], ++case_count[f[1]]] = f[2] }
  if (!(who in seen)) { seen[who]; names[rc, ++name_count[rc]] = f[4] }
  if (f[5] != "best_ns" && f[5] != "median_ns" && !((rc, "metric", f[5]) in seen)) {
    seen[rc, "metric", f[5]]
    metrics[rc, ++metric_count[rc]] = f[5]
  }
  samples[key, ++count[key]] = f[6]
}

END {
  for (r = 1; r <= row_count; r++) print_row(rows[r])
  print_overview()
}

# The value of a metric over all rounds: the smallest of best_ns, the median of the rest.
function value(key, metric,    n, i, j, v, a) {
  n = count[key]
  if (n == 0) { missing = 1; return 0 }
  for (i = 1; i <= n; i++) {
    v = samples[key, i] + 0
    for (j = i - 1; j >= 1 && a[j] > v; j--) a[j + 1] = a[j]
    a[j + 1] = v
  }
  if (metric == "best_ns") return a[1]
  return n % 2 ? a[(n + 1) / 2] : (a[n / 2] + a[n / 2 + 1]) / 2
}

function time(ns) {
  if (ns < 1e3) return sprintf("%.1f ns", ns)
  if (ns < 1e6) return sprintf("%.2f us", ns / 1e3)
  if (ns < 1e9) return sprintf("%.2f ms", ns / 1e6)
  return sprintf("%.2f s", ns / 1e9)
}

function figure(v) {
  if (v == int(v)) return sprintf("%d", v)
  return sprintf(v < 0.01 && v > -0.01 ? "%.4f" : "%.2f", v)
}

function ratio(a, b) {
  return b > 0 && a > 0 ? figure(a / b) : "-"
}

# ---- tables: cells are collected, then printed with columns as wide as they need ----

function cell(text) {
  cells[lines, ++columns] = text
  if (length(text) > width[columns]) width[columns] = length(text)
}
function line() { lines++; columns = 0 }
function clear() { split("", cells); split("", width); lines = 0; columns = 0 }

function print_table(    i, j, text, align, dashes) {
  for (i = 1; i <= lines; i++) {
    text = "|"
    for (j = 1; j <= columns; j++) {
      align = j == 1 || left[j] ? "-" : ""
      text = text sprintf(" %" align width[j] "s |", cells[i, j])
    }
    print text
    if (i == 1) {
      text = "|"
      for (j = 1; j <= columns; j++) {
        dashes = sprintf("%" (width[j] + 2) "s", "")
        gsub(/ /, "-", dashes)
        text = text dashes "|"
      }
      print text
    }
  }
}

function print_row(row,    c) {
  print ""
  print "## " row ": " title[row]
  if (case_count[row] == 0) print "\nnot measured"
  for (c = 1; c <= case_count[row]; c++) print_case(row, cases[row, c])
}

function median_of(rc, who) {
  return value(rc SUBSEP who SUBSEP "median_ns", "median_ns")
}

function print_case(row, kase,    rc, i, k, who, key, med, base, bare, has_weft, has_task,
                    has) {
  rc = row SUBSEP kase
  base = median_of(rc, "serial")
  bare = median_of(rc, "serial-noinline")
  has_weft = median_of(rc, "weft")
  has_task = median_of(rc, "weft-task")
  split("", left)
  clear()
  line()
  cell(kase); cell("best"); cell("median")
  if (base) cell("/ serial")
  if (bare) cell("/ not inlined")
  if (has_weft) cell("/ weft")
  if (has_task) cell("/ weft-task")
  for (i = 1; i <= name_count[rc]; i++) {
    who = names[rc, i]
    med = median_of(rc, who)
    if (!med) continue
    line()
    cell(who)
    cell(time(value(rc SUBSEP who SUBSEP "best_ns", "best_ns")))
    cell(time(med))
    if (base) cell(ratio(med, base))
    if (bare) cell(ratio(med, bare))
    if (has_weft) cell(ratio(med, has_weft))
    if (has_task) cell(ratio(med, has_task))
  }
  if (lines > 1) { print ""; print_table() }

  if (metric_count[rc] == 0) return
  clear()
  line()
  cell(kase)
  for (k = 1; k <= metric_count[rc]; k++) cell(metrics[rc, k])
  for (i = 1; i <= name_count[rc]; i++) {
    who = names[rc, i]
    has = 0
    for (k = 1; k <= metric_count[rc]; k++) if (count[rc, who, metrics[rc, k]]) has = 1
    if (!has) continue
    line()
    cell(who)
    for (k = 1; k <= metric_count[rc]; k++) {
      key = rc SUBSEP who SUBSEP metrics[rc, k]
      if (!count[key]) cell("-")
      else if (metrics[rc, k] ~ /_ns$/) cell(time(value(key, "")))
      else cell(figure(value(key, "")))
    }
  }
  print ""
  print_table()
}

# ---- goals ----

# The value of a postfix expression; times by the given statistic. Sets missing, and
# timed if a time took part, so that best and median differ.
function evaluate(row, text, stat,    n, i, token, f, parts, metric, stack, top) {
  n = split(text, token, " ")
  top = 0
  missing = 0
  for (i = 1; i <= n; i++) {
    if (token[i] ~ /^[-+*\/]$/) {
      top--
      if (token[i] == "+") stack[top] += stack[top + 1]
      else if (token[i] == "-") stack[top] -= stack[top + 1]
      else if (token[i] == "*") stack[top] *= stack[top + 1]
      else if (stack[top + 1] == 0) missing = 1
      else stack[top] /= stack[top + 1]
    } else if (index(token[i], ":") == 0) {
      stack[++top] = token[i] + 0
    } else {
      parts = split(token[i], f, ":")
      metric = parts == 3 ? f[3] : stat
      if (parts == 2) timed = 1
      stack[++top] = value_of(row, f[1], f[2], metric)
    }
  }
  return stack[1]
}

# The same value for a list of contestants, separated by commas; a * at the end stands for
# any end: that of the fastest of them. Sets fastest to its name.
function value_of(row, kase, list, metric,    n, i, k, wanted, rc, who, prefix, best, v) {
  if (list !~ /[*,]/) return value(row SUBSEP kase SUBSEP list SUBSEP metric, metric)
  rc = row SUBSEP kase
  best = -1
  n = split(list, wanted, ",")
  for (i = 1; i <= name_count[rc]; i++) {
    who = names[rc, i]
    for (k = 1; k <= n; k++) {
      prefix = wanted[k]
      if (sub(/\*$/, "", prefix) ? index(who, prefix) != 1 : who != prefix) continue
      if (!count[rc, who, metric]) continue
      v = value(rc SUBSEP who SUBSEP metric, metric)
      if (best < 0 || v < best) { best = v; fastest = who }
    }
  }
  if (best < 0) { missing = 1; return 0 }
  return best
}

function holds(v, sense, limit) { return sense == "<=" ? v <= limit : v >= limit }

function print_overview(    g, f, row, wanted, r, median, best, gone, c, machine, met,
                        text, chosen) {
  for (r = 1; r <= row_count; r++) wanted[rows[r]]
  clear()
  line()
  cell("row"); cell("goal"); cell("measured"); cell("met?")
  split("", left)
  left[2] = 1
  for (g = 1; g <= goal_count; g++) {
    split(goals[g], f, "|")
    row = f[1]
    if (!(row in wanted)) continue
    timed = 0
    fastest = ""
    median = evaluate(row, f[5], "median_ns")
    gone = missing
    chosen = fastest
    best = evaluate(row, f[5], "best_ns")
    line()
    cell(row)
    cell(f[2] " " f[3] " " f[4])
    if (gone) { cell("-"); cell("not measured"); continue }
    text = figure(median)
    if (f[5] ~ / -( |$)/) timed = 0 # bests of different things do not subtract
    if (timed) text = text " (best " figure(best) ")"
    if (chosen != "") text = text "; fastest: " chosen
    if (holds(median, f[3], f[4])) met = "yes"
    else if (timed && holds(best, f[3], f[4])) met = "best only"
    else met = "no"
    if (f[6] != "") {
      split(f[6], c, " ")
      machine = evaluate(row, c[1], "median_ns")
      text = text "; machine gives " figure(machine)
      if (met != "yes" && machine < c[2] + 0) met = "machine too busy"
    }
    cell(text)
    cell(met)
  }
  print ""
  print "## Overview"
  print ""
  print_table()
}
