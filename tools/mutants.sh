# Common to tools/order-mutants and tools/code-mutants, which include it from the root of the
# project: a copy of the sources in which one thing is changed at a time, compiled for the
# explorer, with the scenarios that look at it.
#
# Sets: $work, $tree (the copy), $cc. Wants: $tiers, the options of the runs (--quick).

cc=${CC:-cc}
tree=$work/tree
rm -rf "$work"
mkdir -p "$tree" "$work/engine"
flags="-std=c11 -g -O1 -I$tree/include -I$tree/src -Itests"
explored="$flags -include tests/explore/engine/redirect.h -fsanitize=thread -DWEFT_DEBUG=1"

# unit <name> <folder...>: all sources of the folders as one.
unit() {
  name=$1
  shift
  for folder in "$@"; do
    for source in src/"$folder"/*.c; do echo "#include \"${source#src/}\""; done
  done >"$work/$name.c"
}

prepare_mutants() {
  cp -r src include "$tree"
  for source in tests/explore/engine/*.c; do
    $cc $flags -O2 -Iinclude -Isrc -c "$source" -o "$work/engine/$(basename "$source" .c).o"
  done
  unit core core
  unit all core sched
}

# The programs to run, those that know the file best first: of files that one program alone
# has scenarios for, that one.
programs_for() {
  case $1 in
  */core/deque.*) echo deque ;;
  */core/latch.*) echo latch ;;
  */core/lock.*) echo queue latch deque ;;
  */core/*) echo queue latch ;;
  */sched/blocking.*) echo blocking ;;
  */sched/global.*) echo life ;;
  */sched/broadcast.* | */sched/handle.* | */sched/isolate.* | */sched/join.* | */sched/scope* |
    */sched/spawn.* | */sched/typed_task.*) echo scope sleep life blocking ;;
  *) echo sleep life scope blocking ;;
  esac
}

# finds <library> <program>: does one of the program's scenarios fail? Which: $killer.
finds() {
  $cc $explored -c "tests/explore/$2.c" -o "$work/$2.o" 2>"$work/log" &&
    $cc "$work"/engine/*.o "$work/$1.o" "$work/$2.o" -ldl -o "$work/$2" 2>>"$work/log" || {
    cat "$work/log"
    exit 2
  }
  for extra in $tiers; do
    for mode in ra tso; do
      timeout 300 "$work/$2" $extra --stop --mode $mode >"$work/out" 2>&1 && continue
      # Out of time finds nothing: the explorer itself ends what never would.
      killer=$(sed -n 's/^\([a-z_0-9]*\) *\(sc\|tso\|ra\) .*FAILED.*/\1 (\2)/p' "$work/out" | head -1)
      [ -z "$killer" ] || return 0
    done
  done
  return 1
}

# compiles_explored <library>: the changed sources, for the explorer.
compiles_explored() {
  $cc $explored -c "$work/$1.c" -o "$work/$1.o" 2>"$work/log"
}

# is_found <file>: does the explorer find what is wrong in the changed file?
is_found() {
  library=all killer=
  case $1 in */core/*) library=core ;; esac
  compiles_explored $library || {
    cat "$work/log"
    exit 2
  }
  for program in $(programs_for "$1"); do
    if finds $library "$program"; then return 0; fi
  done
  return 1
}
