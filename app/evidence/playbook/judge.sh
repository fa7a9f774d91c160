# judge ROOT DO PATH OLD NEW STATES AFTER MODE PASSING LATER...: exits 0 if the edit is made, 10 if it is to be made, 11
# if it is to be made on the one line that sets the option, 3 if the host differs from the run's. It changes nothing.
temper_has() { # FILE LINE: ignores trailing blanks
  TEMPER_LINE=$2 awk 'BEGIN { want = ENVIRON["TEMPER_LINE"]; sub(/[ \t\r]+$/, "", want) }
    { sub(/[ \t\r]+$/, ""); if ($0 == want) found = 1 } END { exit !found }' "$1"
}
temper_judge() {
  file=$1$3 do=$2 path=$3 old=$4 new=$5 states=$6 after=$7 mode=$8 passing=$9
  real=$(readlink -f -- "$file") || real=''
  base=$(readlink -f -- "${1:-/}")
  if [ -n "$real" ] && [ "$real" != "${base%/}$path" ]; then
    echo "$path is a link, or lies behind one" >&2
    return 3
  fi
  shift 9
  if [ "$do" = write ]; then
    [ -f "$file" ] && printf '%s' "$new" | cmp -s - "$file" &&
      [ "$(stat -c %a "$file")" = "$(printf '%o' "0$mode")" ] && return 0
    return 10
  fi
  if [ ! -f "$file" ]; then
    [ "$do" = remove ] && return 0
    echo "$path is not there" >&2
    return 3
  fi
  case $do in
    mode) [ "$(stat -c %a "$file")" = "$(printf '%o' "0$mode")" ] && return 0; return 10 ;;
    remove) temper_has "$file" "$old" && return 10; return 0 ;;
    replace) temper_has "$file" "$old" && return 10 ;;
  esac
  for line in "$new" "$@"; do temper_has "$file" "$line" && return 0; done
  [ "$passing" = passing ] && return 0
  if [ "$do" = insert ]; then
    { [ -z "$after" ] || [ "$passing" = behind ] || temper_has "$file" "$after"; } && return 10
    echo "$path has no line to put it behind: $after" >&2
    return 3
  fi
  [ -n "$states" ] && ! grep -qiE '^[[:blank:]]*match[[:blank:]]' "$file" &&
    [ "$(grep -ciE "$states" "$file")" = 1 ] && return 11
  echo "$path has neither the line that the run found nor the one that it left: $old" >&2
  return 3
}
