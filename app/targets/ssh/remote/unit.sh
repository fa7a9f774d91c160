# Units, by systemctl.
unit_state() {
  # Print "enabled active"; systemctl knows the first without a running systemd. Nothing for an unknown unit.
  enabled=$(systemctl is-enabled "$1" 2>/dev/null | head -n 1)
  case $enabled in '' | not-found) return ;; esac
  case $1 in *.target) [ "$(systemctl get-default 2>/dev/null)" != "$1" ] || enabled=default ;; esac
  active=-
  if booted; then active=$(systemctl is-active "$1" 2>/dev/null | head -n 1); fi
  printf '%s %s\n' "$enabled" "${active:--}"
}
unit_becomes() {
  # unit_becomes VERB STATE
  set -- "$1" "${2% *}" "${2#* }"
  case $1 in
  enable) echo "enabled $3" ;;
  enable-now) if booted; then echo "enabled active"; else echo "enabled $3"; fi ;;
  disable) echo "disabled $3" ;;
  mask) echo "masked $3" ;;
  unmask) echo "unmasked $3" ;;
  start) echo "$2 active" ;;
  stop) echo "$2 inactive" ;;
  set-default) echo "default $3" ;;
  esac
}
unit_foresee() {
  command -v systemctl >/dev/null 2>&1 || lacks "it has no systemctl"
  was=$(unit_state "$1")
  [ "$was" ] || lacks "it has no unit $1"
  case "$2 ${was% *}" in
  start* | stop*) booted || lacks "systemd does not run there, so nothing is started or stopped by it" ;;
  enable-now" "static | enable-now" "masked* | "enable "static | "disable "static | "enable "masked* | "enable "generated | "enable "transient | "enable "indirect | "enable "alias)
    lacks "$1 is ${was% *}, and cannot be ${2}d" ;;
  set-default*) case $1 in *.target) ;; *) lacks "$1 is no target to boot into" ;; esac ;;
  esac
  row before "unit:$1" "$was"
  row after "unit:$1" "$(unit_becomes "$2" "$was")"
}
unit_perform() {
  case $2 in
  enable-now) if booted; then saying systemctl enable --now "$1"; else saying systemctl enable "$1"; fi ;;
  *) saying systemctl "$2" "$1" ;;
  esac
}
unit_live() { unit_state "$1"; }
unit_revive() {
  booted || return 0
  now=$(unit_state "$1")
  [ "${now#* }" != "${2#* }" ] || return 0
  case ${2#* } in
  active) systemctl start "$1" ;;
  *) systemctl stop "$1"; systemctl reset-failed "$1" 2>/dev/null || : ;;
  esac
}
