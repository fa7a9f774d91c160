# Runs a vendor's script so that it can write only to the watched paths, which a journal saves whole.
walls=$(cat <<'END'
copy=$1 script=$2 open=
set -eu
lay_shims() {
  mkdir /tmp/.shims
  for tool in chmod chown chgrp; do
    printf '#!/bin/sh\nreal=%s tool=%s grounds="%s"\n%s\n' "$(command -v "$tool")" "$tool" "$1" "$shim" >"/tmp/.shims/$tool"
    chmod 755 "/tmp/.shims/$tool"
  done
}
for ground in $3; do
  if [ ! -d "/$ground" ] || [ -L "/$ground" ]; then continue; fi
  mount --bind "$copy/$ground" "/$ground"
  open="$open /$ground"
done
[ "$copy" ] || open="$open /proc /sys /run"
# A read-only mount does not protect disks: expose only devices that hold no data.
for node in null zero full random urandom tty; do
  [ ! -c "/dev/$node" ] || mount --bind "/dev/$node" "/dev/$node"
  open="$open /dev/$node"
done
cut -d ' ' -f 5,6 /proc/self/mountinfo | while read -r at options; do
  at=$(printf %b "$at") shut=yes
  for one in $open; do case $at in "$one" | "$one"/*) shut= ;; esac; done
  [ -z "$shut" ] || mount --options-mode ignore -o "remount,bind,ro${options#r[ow]},nodev" "$at"
done
hidden='/tmp /var/tmp'
[ -z "$copy" ] || hidden="$hidden /run"
for at in $hidden; do if [ -d "$at" ] && [ ! -L "$at" ]; then mount -t tmpfs -o mode=1777 tmpfs "$at"; fi; done
if [ "$copy" ]; then lay_shims "$3"; PATH=/tmp/.shims:$PATH; fi
caps='-all,+chown,+dac_override,+fowner,+fsetid,+setgid,+setuid'
[ "$copy" ] || caps="$caps,+kill,+net_admin,+audit_control"
cd /
umask 022  # Temper's own would close the new files to everybody who has to read them
echo begun
exec setpriv --no-new-privs --inh-caps=-all --bounding-set="$caps" timeout -k 5 60 bash "$script"
END
)
# In place of chmod, chown and chgrp, while a script is tried: on a plain file of the copy the tool does its work. Of any
# other path the result is found on an empty stand-in, and only noted.
shim=$(cat <<'END'
note_result() {
  trial=$(mktemp ${folder:+-d} /tmp/.trial.XXXXXX)
  "${real%/*}/chown" --reference="$1" -- "$trial" && "${real%/*}/chmod" --reference="$1" -- "$trial" && "$real" -- "$2" "$trial" || exit
  case $tool in chmod) row=mode form=%04a ;; *) row=owner form=%U:%G ;; esac
  now=$(stat -c "$form" -- "$trial")
  [ "$now" = "$(stat -c "$form" -- "$1")" ] || printf '%s\t%s\t%s\n' "$row" "$1" "$now" >&7
  rm -rf -- "$trial"
}
give_up() { printf 'lacking\t-\ton a copy it changed permissions in a way that is not followed\n' >&7; exit; }
spec=
for word; do
  case $word in
  -R | --recursive | --reference=* | -[a-zA-Z]*R*) give_up ;;
  -- | -[hHLPcfv] | --[a-z]*) continue ;;
  esac
  [ "$spec" ] || { spec=$word; continue; }
  at=$(realpath -s -- "$word")
  case $at in *[!A-Za-z0-9_.@+/-]*) give_up ;; esac
  if [ -L "$at" ] || [ ! -e "$at" ]; then continue; fi
  folder=; if [ -d "$at" ]; then folder=yes; fi
  within=; for ground in $grounds; do case $at in "/$ground"/*) within=yes ;; esac; done
  if [ "$within" ] && [ ! "$folder" ]; then "$real" -- "$spec" "$at" || exit; else note_result "$at" "$spec"; fi
done
END
)
walled() {
  # walled COPY SCRIPT: with COPY, run on it without network, foreign processes and sockets; else run for real.
  apart=; [ -z "$1" ] || apart='--net --ipc --uts --pid --fork --kill-child'
  # shellcheck disable=SC2086
  shim=$shim unshare --mount --propagation private $apart sh -c "$walls" walls "$1" "$2" "$grounds" </dev/null 2>&1 9>&-
}
vendors_script() {
  # vendors_script DIGEST BASE64 FILE: write the script and verify its digest.
  printf %s "$2" | base64 -d >"$3" 2>/dev/null || return 1
  read -r found _ <<END
$(sha256sum <"$3")
END
  [ "$found" = "$1" ]
}
outcome() {
  # outcome WAS NOW: print one digest over the new state of everything that changed.
  comm -13 "$1" "$2" | sha256sum | cut -d ' ' -f 1
}
vendor_state() { echo "${ran:-}"; }
vendor_foresee() {
  # vendor_foresee NAME DIGEST BASE64
  for tool in unshare setpriv bash base64 mount; do command -v "$tool" >/dev/null 2>&1 || lacks "it has no $tool, so a script cannot be tried on a copy"; done
  mkdir -p -m 700 -- "$home" && work=$(mktemp -d "${home%/*}/vendor.XXXXXX") || lacks "there is no room to try it on a copy"
  trap 'rm -rf -- "$work"' EXIT
  mkdir -- "$work/copy"
  vendors_script "$2" "$3" "$work/script" || lacks "the script has another digest"
  ( cd / && for ground in $grounds; do [ ! -e "$ground" ] || cp -a --parents -- "$ground" "$work/copy/" || exit; done ) || lacks "there is no room to try it on a copy"
  described / >"$work/was"
  walled "$work/copy" "$work/script" >"$work/log" 7>"$work/permissions"; code=$?
  grep -qx begun "$work/log" || lacks "it cannot be tried on a copy there: $(grep -v "dmesg(1) may have" "$work/log" | tail -n 1)"
  described "$work/copy" >"$work/now"
  comm -3 "$work/was" "$work/now" | sed "s/^$tab//" | cut -f 1 | sort -u >"$work/paths"
  while IFS= read -r path; do
    at=$work/copy/$path
    if [ -d "$at" ] && [ ! -L "$at" ] && [ ! -e "/$path" ]; then continue; fi
    if [ ! -e "$at" ] && [ ! -L "$at" ]; then lacks "on a copy it took /$path away"; fi
    if [ -L "$at" ] || [ ! -f "$at" ]; then lacks "on a copy it changed /$path, which is no plain file"; fi
    [ "$(stat -c %s -- "$at")" -le 262144 ] || lacks "on a copy it made /$path larger than a configuration is"
    row file "/$path" "$(stat -c '%a %U:%G' -- "$at") $(base64 -w 0 <"$at")"
  done <"$work/paths"
  grep -E "^(mode|owner|lacking)$tab" "$work/permissions"
  row outcome "$code" "$(outcome "$work/was" "$work/now")"
  row before "vendor:$1" ''
  row after "vendor:$1" "ran $2"
  {
    grep -oE '[A-Za-z0-9@_.-]+\.(service|socket|timer)' "$work/script" | sed 's/^/unit:/'
    grep -oE '[a-z]+(\.[a-z0-9_-]+)+' "$work/script" | sed 's/^/sysctl:/'
  } | sort -u | while IFS= read -r name; do
    state=$(state_of "$name")
    [ -z "$state" ] || { row before "$name" "$state"; row after "$name" 'not foreseen here'; }
  done
}
vendor_perform() {
  vendors_script "$2" "$3" "$at/script" || fail 8 "the script has another digest"
  walled '' "$at/script" >"$at/log" || grep -qx begun "$at/log" || fail 8 "it cannot be run there: $(grep -v "dmesg(1) may have" "$at/log" | tail -n 1)"
  ran="ran $2"
  described "$at/state" >"$at/then" && described / >"$at/now" || fail 9 "what it did cannot be looked at"
  printf 'outcome\t-\t%s\n' "$(outcome "$at/then" "$at/now")"
}
# A script may change kernel settings as well; no action does.
sysctl_state() {
  at=/proc/sys/$(printf %s "$1" | tr . /)
  [ ! -f "$at" ] || [ ! -r "$at" ] || tr '\t\n' '  ' <"$at" | sed 's/ *$//'
}
sysctl_live() { sysctl_state "$1"; }
sysctl_revive() { sysctl -q -w "$1=$2"; }
