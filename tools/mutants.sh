# tools/order-mutants includes it from the root of the project. It keeps a copy of the sources in
# which one thing is changed at a time, compiles it for the explorer, and runs the scenarios that
# look at it. tools/code-mutants takes from here how to compile, and programs_for.
#
# Needs: $work, a folder, and $tiers, the options of the runs (--quick). Sets: $tree (the copy)
# and $cc.

cc=${CC:-cc}
! command -v ccache >/dev/null || cc="ccache $cc" # most of what is compiled is the same each time
tree=$work/tree
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

# What the explorer compiles of the library. The loops of numbers in one set, as in its own
# build (tests/explore/CMakeLists.txt).
explored_sources() {
  find src/core src/trace src/sched src/par -name '*.c' | sort
}

# compile_explored <folder> <source...>: compiles files of the copy, with the list of all that
# they include beside each; false if one does not compile.
compile_explored() {
  folder=$1
  shift
  for source in "$@"; do echo "$source"; done | xargs -P "$(nproc)" -I'{}' sh -c '
    object=$1/$(echo "${2%.c}" | tr / +).o
    case $2 in */simd.c) set -- "$@" -DWEFT_NO_SIMD ;; esac
    source=$3/$2
    shift 3
    exec "$@" -MMD -c "$source" -o "$object"' sh "$folder" '{}' "$tree" $cc $explored || return 1
  [ $# -eq 0 ] || plain_names "$folder"/*.d
}

# plain_names <file...>: a/../b becomes b in lists of what is included. Headers name each other so.
plain_names() {
  sed -i ':again; s|/[^/. ][^/ ]*/\.\./|/|; t again' "$@"
}

# Compiles everything as it is; not again if nothing has changed since the last time.
prepare_mutants() {
  if [ -e "$work/prepared" ] &&
    [ -z "$(find src include tests/explore tests/simulated tools/mutants.sh \
      -newer "$work/prepared" -print -quit)" ]; then
    cp -r src include "$tree" # the last run may have left a mutant
    rm -f "$work"/programs/*
    return
  fi
  rm -rf "$work/prepared" "$tree" "$work/engine" "$work/objects" "$work/mutant" "$work/programs"
  mkdir -p "$tree" "$work/engine" "$work/objects" "$work/mutant" "$work/programs"
  cp -r src include "$tree"
  for source in tests/explore/engine/*.c tests/simulated/*.c; do
    $cc $flags -O2 -Iinclude -Isrc -c "$source" -o "$work/engine/$(echo "${source%.c}" | tr / +).o"
  done
  compile_explored "$work/objects" $(explored_sources)
  rm -f "$work/libweft.a"
  ar rc "$work/libweft.a" "$work"/objects/*.o
  touch "$work/prepared"
}

# programs_for <file>: the programs to run, those with the most scenarios for the file first.
programs_for() {
  if [ -n "${only_program:-}" ]; then
    echo "$only_program"
    return
  fi
  case $1 in
  */core/deque.*) echo deque ;;
  */detail/fork_join.h) echo deque sleep typed fast_task life scope blocking ;;
  */detail/fast_task.h) echo fast_task ;;
  */detail/typed_task.h | */sched/typed_task.*) echo typed fast_task ;;
  */core/latch.*) echo latch ;;
  */core/lock.*) echo queue latch deque ;;
  */core/per_thread.*) echo per_thread par_shared ;;
  */core/*) echo queue latch ;;
  */trace/*) echo trace ;;
  */par/fold/numbers_scan.*) echo par_scan ;;
  */par/iter/*) echo par_iter ;;
  */par/shared/* | */par/progress/*) echo par_shared ;;
  */par/graph/*) echo graph ;;
  */par/pipeline/*) echo pipeline ;;
  */par/*) echo par_array par_iter ;;
  */sched/blocking.*) echo blocking ;;
  */sched/global.*) echo life ;;
  */sched/handle* | */sched/idle.* | */sched/background.*) echo handle scope life ;;
  */sched/steer.*) echo steer ;;
  */sched/stats.*) echo stats ;;
  */sched/broadcast.* | */sched/isolate.* | */sched/join.*)
    echo scope sleep watch life blocking ;;
  */sched/scope* | */sched/spawn.*) echo scope sleep graph life blocking ;;
  */sched/inject.*) echo sleep handle life scope ;;
  */sched/sleep.* | */sched/search.*) echo sleep watch steer life scope blocking ;;
  *) echo sleep life scope blocking ;;
  esac
}

# finds <program>: true if a scenario of the program fails; $killer names it. A program that
# includes the changed file is compiled again.
finds() {
  program=$work/programs/$1
  if [ ! -e "$program.o" ] || grep -qF "$tree/$changed" "$program.d"; then
    $cc $explored -MMD -c "tests/explore/$1.c" -o "$program.o" 2>"$work/log" || {
      cat "$work/log"
      exit 2
    }
    plain_names "$program.d"
  fi
  # A program that includes a source file has its own of it.
  $cc "$program.o" "$work"/engine/*.o $objects "$work/libweft.a" -ldl \
    -Wl,--allow-multiple-definition -o "$program" 2>"$work/log" || {
    cat "$work/log"
    exit 2
  }
  ! grep -qF "$tree/$changed" "$program.d" || rm "$program.o" # of this mutant alone
  for extra in $tiers; do
    for mode in ra tso; do
      timeout 300 "$program" $extra --stop --mode $mode >"$work/out" 2>&1 && continue || status=$?
      # Running out of time proves nothing: the explorer itself ends endless executions.
      killer=$(sed -n 's/^\([a-z_0-9]*\) *\(sc\|tso\|ra\) .*FAILED.*/\1 (\2)/p' "$work/out" | head -1)
      # A crash where the result is looked at, or of the explorer itself.
      [ -n "$killer" ] || [ $status = 124 ] || killer="crash ($mode)"
      [ -z "$killer" ] || return 0
    done
  done
  return 1
}

# is_found <file>: true if the explorer finds the defect in the changed file. Compiles what
# includes the file; the rest is in the archive.
is_found() {
  changed=$1 killer=
  rm -f "$work"/mutant/*
  compile_explored "$work/mutant" $(grep -lF "$tree/$1" "$work"/objects/*.d |
    sed "s|.*/||; s|\.d$|.c|; s|+|/|g") 2>"$work/log" || {
    cat "$work/log"
    exit 2
  }
  objects=$(ls "$work"/mutant/*.o 2>/dev/null || true)
  for name in $(programs_for "$1"); do
    if finds "$name"; then return 0; fi
  done
  return 1
}
