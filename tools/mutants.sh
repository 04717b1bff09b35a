# Shared by tools/order-mutants and tools/code-mutants, which include it from the root of the
# project. It keeps a copy of the sources in which one thing is changed at a time, compiles it
# for the explorer, and runs the scenarios that look at it.
#
# Needs: $work, a folder, and $tiers, the options of the runs (--quick). Sets: $tree (the copy)
# and $cc.

cc=${CC:-cc}
tree=$work/tree
rm -rf "$work"
mkdir -p "$tree" "$work/engine"
flags="-std=c11 -g -O1 -I$tree/include -I$tree/src -Itests"
explored="$flags -include tests/explore/engine/redirect.h -fsanitize=thread -DWEFT_DEBUG=1"

# unit <name> <folder...>: writes a file that includes all sources of the folders.
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

# programs_for <file>: the programs to run, those with the most scenarios for the file first.
programs_for() {
  case $1 in
  */core/deque.*) echo deque ;;
  */detail/fork_join.h) echo deque sleep life scope blocking ;;
  */core/latch.*) echo latch ;;
  */core/lock.*) echo queue latch deque ;;
  */core/per_thread.*) echo per_thread ;;
  */core/*) echo queue latch ;;
  */sched/blocking.*) echo blocking ;;
  */sched/global.*) echo life ;;
  */sched/broadcast.* | */sched/handle.* | */sched/isolate.* | */sched/join.*)
    echo scope sleep life blocking ;;
  */sched/scope* | */sched/spawn.* | */sched/typed_task.*) echo scope sleep life blocking ;;
  *) echo sleep life scope blocking ;;
  esac
}

# finds <library> <program>: true if a scenario of the program fails; $killer names it.
finds() {
  $cc $explored -c "tests/explore/$2.c" -o "$work/$2.o" 2>"$work/log" &&
    $cc "$work"/engine/*.o "$work/$1.o" "$work/$2.o" -ldl -o "$work/$2" 2>>"$work/log" || {
    cat "$work/log"
    exit 2
  }
  for extra in $tiers; do
    for mode in ra tso; do
      timeout 300 "$work/$2" $extra --stop --mode $mode >"$work/out" 2>&1 && continue
      # Running out of time proves nothing: the explorer itself ends endless executions.
      killer=$(sed -n 's/^\([a-z_0-9]*\) *\(sc\|tso\|ra\) .*FAILED.*/\1 (\2)/p' "$work/out" | head -1)
      [ -z "$killer" ] || return 0
    done
  done
  return 1
}

# compiles_explored <library>: compiles the changed sources for the explorer.
compiles_explored() {
  $cc $explored -c "$work/$1.c" -o "$work/$1.o" 2>"$work/log"
}

# is_found <file>: true if the explorer finds the defect in the changed file.
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
