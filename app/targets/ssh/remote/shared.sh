# Shared by every script: paths and locks. Needs POSIX sh, coreutils and tar; flock if present.
set -u
umask 077
LC_ALL=C
PATH=/usr/sbin:/usr/bin:/sbin:/bin:${PATH:-}
export LC_ALL PATH
home=/var/lib/temper/journal
tab=$(printf '\t')
fail() { code=$1; shift; printf '%s\n' "$*" >&2; exit "$code"; }
synced() { sync -- "$@" 2>/dev/null || sync; }
beside() { printf '%s/.%s.temper-new' "${1%/*}" "${1##*/}"; }
labelled() {
  # labelled FILE PATH: give a new file the label that SELinux's policy has for its future path.
  context=$(matchpathcon -n -m file -- "$2" 2>/dev/null) && chcon -- "$context" "$1" 2>/dev/null && return
  ! command -v restorecon >/dev/null 2>&1 || restorecon -- "$1" 2>/dev/null
}
# Refuse earlier owners of the host: each has a claim number, and the highest counts.
claimed() {
  highest=0
  [ "${claim:-0}" = 0 ] && return 0
  [ ! -r "$home/claim" ] || read -r highest <"$home/claim"
  case $highest in *[!0-9]* | "") highest=0 ;; esac
  [ "$claim" -ge "$highest" ] || fail 97 "temper: taken over"
}
# One script at a time. Without flock, only marks and sizes protect the order.
locked() {
  mkdir -p -m 700 -- "$home" || fail 9 "$home cannot be made"
  if command -v flock >/dev/null 2>&1; then
    # Try in a subshell: a failing exec ends the shell with a message.
    ( : >>"$home/lock" ) 2>/dev/null || fail 9 "$home cannot be written to: it is full or read-only"
    exec 9>>"$home/lock"
    flock -w "${patience:-20}" 9 || fail 9 "somebody else works on the journals of this host"
  fi
  claimed
  [ "${claim:-0}" = "${highest:-0}" ] || {
    printf '%s\n' "$claim" >"$home/claim.new" && synced "$home/claim.new" && mv -fT -- "$home/claim.new" "$home/claim"
  } 2>/dev/null
  return 0
}
find_mark() {
  # find_mark NAME: set `mark` to the journal's; "" if there is no such journal. It starts no process: a host has many journals.
  for mark in void committed undone; do [ ! -e "$home/$1/$mark" ] || return 0; done
  mark=
  [ ! -d "$home/$1" ] || mark=open
}
mark_of() { find_mark "$1"; printf '%s' "$mark"; }
marked() {
  # marked NAME MARK [keep]: write the mark first. A closed journal keeps no images, unless it may be reopened.
  if [ "${3:-}" = keep ]; then : >"$home/$1/kept" || fail 9 "the journal $1 cannot be kept"; fi
  : >"$home/$1/$2" || fail 9 "the journal $1 cannot be marked $2"
  synced "$home/$1/$2" "$home/$1"
  : >"$home/$1/disarmed" 2>/dev/null
  [ "${3:-}" = keep ] || images_dropped "$1"
  unhooked "$1"
}
images_dropped() {
  rm -f -- "$home/$1/kept" && synced "$home/$1"
  while IFS=$tab read -r number _; do rm -f -- "$home/$1/$number"; done <"$home/$1/files"
  rm -rf -- "$home/$1/state" "$home/$1/keep" "$home/$1/then"
}
same() {
  # Succeed if the file equals its image.
  if [ -f "$1" ]; then
    [ -f "$2" ] && [ ! -L "$2" ] && cmp -s -- "$1" "$2" && [ "$(stat -c '%a %u %g' -- "$1")" = "$(stat -c '%a %u %g' -- "$2")" ]
  else
    [ ! -e "$2" ] && [ ! -L "$2" ]
  fi
}
one_name() {
  # Refuse files with several names: replacing one would silently split them.
  [ "$(stat -c %h -- "$1")" = 1 ] && return 0
  others=$(find /etc -samefile "$1" ! -path "$1" 2>/dev/null | head -n 3 | tr '\n' ' ')
  printf '%s has other names (hard links)%s; changing it would part them. Make it a file of its own first\n' "$1" "${others:+: ${others% }}"
  return 1
}
# The boot loader of this host reads entries below /boot/loader, and no menu has their arguments.
boots_by_entries() { grep -qE "^GRUB_ENABLE_BLSCFG=[\"']?true[\"']?[[:space:]]*$" /etc/default/grub 2>/dev/null; }
