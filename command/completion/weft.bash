# Completion of the weft command for bash.
#
# Installed as share/bash-completion/completions/weft; or: source weft.bash

_weft() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  local sub=${COMP_WORDS[1]-} options i
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W "info bench run view top doctor help --help --version" -- "$word")
    return
  fi
  # Behind -- stands a program with its own arguments.
  for ((i = 2; i < COMP_CWORD; i++)); do
    if [ "${COMP_WORDS[i]}" = -- ] && { [ "$sub" = run ] || [ "$sub" = doctor ]; }; then
      if [ $((i + 1)) -eq "$COMP_CWORD" ]; then
        mapfile -t COMPREPLY < <(compgen -c -- "$word")
      else
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
      fi
      return
    fi
  done
  case $before in
  --color) options="auto always never" ;;
  --idle | -i)
    [ "$sub" = run ] && options="low_latency balanced power_saving"
    ;;
  --steer) options="auto on off" ;;
  --output | -o | --trace | -t)
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
    return
    ;;
  --root)
    mapfile -t COMPREPLY < <(compgen -d -- "$word")
    return
    ;;
  --threads | -n | --limit | --seconds | --record | --count | -c | --interval) return ;;
  esac
  if [ -n "$options" ]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
    return
  fi
  case $sub in
  info) options="--json --topology --root --color --help" ;;
  bench) options="--seconds --quick --json --record --color --help fork wake loop sort" ;;
  run) options="--threads --idle --steer --trace --limit --stats --live --color --help --" ;;
  view) options="--output --json --color --help" ;;
  top) options="--once --count --interval --json --color --help" ;;
  doctor) options="--json --root --color --help --" ;;
  help) options="info bench run view top doctor" ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
  case $sub in
  view | doctor)
    [ "${word#-}" = "$word" ] && mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$word")
    ;;
  top)
    # Programs that can be watched, and traces.
    local folder
    for folder in "${XDG_RUNTIME_DIR-}" "/tmp/weft-$UID"; do
      for i in "$folder"/weft-*.json; do
        [ -e "$i" ] || continue
        i=${i##*/weft-}
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "${i%.json}" -- "$word")
      done
    done
    [ "${word#-}" = "$word" ] && mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$word")
    ;;
  run)
    [ "${word#-}" = "$word" ] && mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -c -- "$word")
    ;;
  esac
}

complete -o filenames -F _weft weft
