# Mode and owner of a folder or of a file.
reached() {
  # reached PATH: open it on descriptor 8; fail if a link is on the way.
  { [ -d "$1" ] || [ -f "$1" ]; } && [ ! -L "$1" ] && exec 8<"$1" && [ "$(readlink /proc/self/fd/8)" = "$1" ]
}
is_home() {
  # A home, or what stands in one and belongs to its owner.
  keeper=$(stat -c %U -- "$1") home_of=$(getent passwd "$keeper" | cut -d: -f6)
  [ "$keeper" != root ] && [ "$home_of" ] && case "$1/" in "$home_of"/*) [ "$home_of" != / ] ;; *) false ;; esac
}
permission_state() {
  if [ -L "$1" ]; then return 0; elif [ -d "$1" ]; then is=folder; elif [ -f "$1" ]; then is=file; else return 0; fi
  more=
  if is_home "$1"; then more=' home'; fi
  if [ "$is" = file ] && [ -x "$1" ]; then more="$more program"; fi
  printf '%s %s%s\n' "$is" "$(stat -c '%04a %U:%G' -- "$1")" "$more"
}
permission_foresee() {
  # permission_foresee PATH MODE OWNER
  was=$(permission_state "$1")
  [ "$was" ] || lacks "$1 is not there, or is a link"
  (reached "$1") || lacks "a link is on the way to $1"
  [ "$3" = - ] || has_owner "$3" || lacks "it has no account or group $3"
  row before "permission:$1" "$was"
  # shellcheck disable=SC2086
  row after "permission:$1" "$(changed "$2" "$3" $was)"
}
has_owner() {
  # has_owner USER:GROUP, USER or :GROUP: say whether the host has them.
  case $1 in :*) ;; *) getent passwd "${1%%:*}" >/dev/null || return 1 ;; esac
  case $1 in *:*) getent group "${1#*:}" >/dev/null || return 1 ;; esac
}
changed() {
  # changed MODE OWNER KIND OLD_MODE OLD_OWNER [WORD...]: print the new state.
  mode=$1 owner=$2 is=$3
  [ "$mode" != - ] || mode=$4
  case $owner in
    -) owner=$5 ;;
    :*) owner=${5%%:*}$owner ;;
    *:*) ;;
    *) owner=$owner:${5#*:} ;;
  esac
  shift 5
  printf '%s\n' "$is $mode $owner${*:+ $*}"
}
permission_perform() {
  reached "$1" || fail 8 "a link is on the way to $1"
  [ "$3" = - ] || chown -- "$3" /proc/self/fd/8 || fail 8 "the owner of $1 cannot be set"
  [ "$2" = - ] || chmod -- "$2" /proc/self/fd/8 || fail 8 "the mode of $1 cannot be set"
  exec 8<&-
}
permission_live() {
  [ -L "$1" ] || stat -c '%04a %u:%g' -- "$1" 2>/dev/null
}
permission_revive() {
  # permission_revive PATH "MODE UID:GID"
  reached "$1" && chown -- "${2#* }" /proc/self/fd/8 && chmod -- "${2% *}" /proc/self/fd/8
  exec 8<&-
}
