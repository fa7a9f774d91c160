# Units, mounts and account ageing. Packages are in packages.sh.
state_of() {
  case $1 in
  package:*) package_state "${1#package:}" ;;
  unit:*) unit_state "${1#unit:}" ;;
  mount:*) mount_state "${1#mount:}" ;;
  account:*) account_state "${1#account:}" ;;
  sysctl:*) sysctl_state "${1#sysctl:}" ;;
  vendor:*) echo "${ran:-}" ;;
  esac
}
sysctl_state() {
  at=/proc/sys/$(printf %s "$1" | tr . /)
  [ ! -f "$at" ] || [ ! -r "$at" ] || tr '\t\n' '  ' <"$at" | sed 's/ *$//'
}
booted() { [ -d /run/systemd/system ]; }
unit_state() {
  # Print "enabled active"; systemctl knows the first without a running systemd. Nothing for an unknown unit.
  enabled=$(systemctl is-enabled "$1" 2>/dev/null | head -n 1)
  case $enabled in '' | not-found) return ;; esac
  active=-
  if booted; then active=$(systemctl is-active "$1" 2>/dev/null | head -n 1); fi
  printf '%s %s\n' "$enabled" "${active:--}"
}
unit_becomes() {
  # unit_becomes VERB STATE
  set -- "$1" "${2% *}" "${2#* }"
  case $1 in
  enable) echo "enabled $3" ;;
  disable) echo "disabled $3" ;;
  mask) echo "masked $3" ;;
  unmask) echo "unmasked $3" ;;
  start) echo "$2 active" ;;
  stop) echo "$2 inactive" ;;
  esac
}
flags='nodev nosuid noexec'
named_flags() {
  # Print the three relevant options of a comma-separated list, in a fixed order.
  found=
  for flag in $flags; do case ",$1," in *",$flag,"*) found="$found $flag" ;; esac; done
  printf '%s' "${found:- none}"
}
live_options() { # of what is mounted there last
  mounted=
  while read -r _ _ _ _ at options _; do [ "$at" != "$1" ] || mounted=$options; done </proc/self/mountinfo
  printf '%s' "$mounted"
}
fstab_options() { awk -v at="$1" '!/^[ \t]*#/ && $2 == at { said = $4 } END { printf "%s", said }' /etc/fstab 2>/dev/null; }
mount_state() {
  live=$(live_options "$1") stated=$(fstab_options "$1")
  [ "$live" ] || return 0
  printf 'mounted%s, fstab%s\n' "$(named_flags "$live")" "$(named_flags "$stated")"
}
mount_becomes() {
  # mount_becomes MOUNT FLAGS: print the options with these added.
  live=$(live_options "$1") stated=$(fstab_options "$1")
  printf 'mounted%s, fstab%s\n' "$(named_flags "$live,$2")" "$(named_flags "$stated,$2")"
}
fstab_with() {
  # fstab_with MOUNT FLAGS: print the changed file; exit 3 if it has no line for the mount.
  awk -v at="$1" -v more="$2" '
    function with(options,   n, i, words, out) {
      n = split(more, words, ","); out = options
      for (i = 1; i <= n; i++) {
        gsub("(^|,)" substr(words[i], 3) "(,|$)", ",", out)
        if (("," out ",") !~ ("," words[i] ",")) out = out "," words[i]
      }
      gsub(/,,+/, ",", out); sub(/^,/, "", out); return out
    }
    !/^[ \t]*#/ && $2 == at { seen = 1; $4 = with($4) } { print }
    END { exit seen ? 0 : 3 }' /etc/fstab
}
account_state() {
  awk -F: -v name="$1" '$1 == name { printf "min %s, max %s, warn %s, inactive %s, changed %s\n", $4, $5, $6, $7, $3 }' /etc/shadow |
    sed 's/ ,/ -,/g; s/ $/ -/'
}
account_becomes() {
  # account_becomes NAME SETTING DAYS
  account_state "$1" | sed "s/$2 [^,]*/$2 $3/"
}
remounted() {
  # remounted MOUNT OPTIONS: remount with exactly these, whatever fstab has.
  with=$2
  for flag in $flags; do case ",$2," in *",$flag,"*) ;; *) with="$with,${flag#no}" ;; esac; done
  mount --options-mode ignore -o "remount,$with" "$1"
}
lives_kept() {
  # lives_kept JOURNAL: save what no file holds: running units and the options of mounts.
  while IFS= read -r held; do
    case $held in
    unit:*) printf '%s\t%s\n' "$held" "$(unit_state "${held#unit:}")" ;;
    mount:*) printf '%s\t%s\n' "$held" "$(live_options "${held#mount:}")" ;;
    sysctl:*) printf '%s\t%s\n' "$held" "$(state_of "$held")" ;;
    esac
  done <"$1/resources" >"$1/lives"
}
lives_back() {
  # Runs after the files are restored.
  if booted; then systemctl daemon-reload; fi
  while IFS=$tab read -r held was; do
    case $held in
    unit:*)
      if booted; then
        now=$(unit_state "${held#unit:}")
        if [ "${now#* }" != "${was#* }" ]; then
          case ${was#* } in active) systemctl start "${held#unit:}" ;; *) systemctl stop "${held#unit:}" ;; esac
        fi
      fi ;;
    mount:*) [ "$(live_options "${held#mount:}")" = "$was" ] || remounted "${held#mount:}" "$was" ;;
    sysctl:*) [ "$(state_of "$held")" = "$was" ] || sysctl -q -w "${held#sysctl:}=$was" ;;
    esac
  done <"$1/lives" 9>&- >/dev/null 2>&1
}
lives_left() {
  while IFS=$tab read -r held was; do
    case $held in
    unit:*) now=$(unit_state "${held#unit:}") ;;
    mount:*) now=$(live_options "${held#mount:}") ;;
    sysctl:*) now=$(state_of "$held") ;;
    esac
    [ "$now" = "$was" ] || printf '%s\n' "$held"
  done <"$1/lives"
}
