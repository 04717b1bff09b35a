# Compares what a program printed with what its page says. In the page, "..." stands for any
# text in a line, and a line that is "..." for any number of lines.
#
# awk -f expect.awk page-says printed      exits with 1 if they differ

FILENAME == ARGV[1] { wanted[++wanted_count] = $0; next }
{ got[++got_count] = $0 }

function line_fits(pattern, text,   at, part) {
  at = index(pattern, "...")
  if (at == 0) return pattern == text
  part = substr(pattern, 1, at - 1)
  if (substr(text, 1, at - 1) != part) return 0
  pattern = substr(pattern, at + 3)
  text = substr(text, at)
  for (;;) {
    if (line_fits(pattern, text)) return 1
    if (text == "") return 0
    text = substr(text, 2)
  }
}

function fits(i, k) {
  while (i <= wanted_count) {
    if (wanted[i] == "...") {
      for (; k <= got_count + 1; k++)
        if (fits(i + 1, k)) return 1
      return 0
    }
    if (k > got_count || !line_fits(wanted[i], got[k])) return 0
    i++
    k++
  }
  return k == got_count + 1
}

END { exit !fits(1, 1) }
