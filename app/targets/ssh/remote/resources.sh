# What all kinds of resources share. KIND.sh has the functions of a kind:
#   KIND_state NAME           print the state, nothing if it is absent
#   KIND_foresee NAME WORD... print a row `before` and a row `after`, or call `lacks`
#   KIND_perform NAME WORD... do it, or call `fail`; the open journal is $at
#   KIND_offer NAME           if a state alone does not make an action possible: print a row `state` or nothing
#   KIND_live NAME            if no file holds all of it: print what else is to be put back
#   KIND_revive NAME LIVE     put that back, once the files are
# Paths, relative to the root, that package scripts and semanage write besides the package's files.
grounds='etc var/lib/pam var/lib/alternatives var/lib/ucf var/lib/apt/extended_states var/lib/dpkg/alternatives
  var/lib/systemd/deb-systemd-helper-enabled var/lib/systemd/deb-systemd-helper-masked usr/share/pam-configs
  var/lib/selinux/*/active/file_contexts.local'
has() { command -v "$1" >/dev/null 2>&1; }
row() { printf '%s\t%s\t%s\n' "$1" "$2" "$3"; }
booted() { [ -d /run/systemd/system ]; }
state_of() { "${1%%:*}_state" "${1#*:}"; }
live_of() { "${1%%:*}_live" "${1#*:}"; }
described() (
  # Print every watched path with kind, mode, owner and link target, then its digest.
  cd -- "$1/" || exit
  set --
  for ground in $grounds; do
    if [ -e "$ground" ] || [ -L "$ground" ]; then set -- "$@" "$ground"; fi
  done
  [ "$#" -gt 0 ] || exit 0
  {
    find "$@" ! -name '*temper-undo-*' ! -name '*.temper-new' ! -name "*$tab*" -printf '%p\t%y %m %U:%G %l\n'
    find "$@" ! -name '*temper-undo-*' ! -name '*.temper-new' ! -name "*$tab*" -type f -exec sha256sum {} + |
      sed "s/^\([0-9a-f]*\)  \(.*\)$/\2$tab\1/"
  } | sort
)
touched() {
  # touched JOURNAL: print the paths that changed since the journal began. What was saved is described once.
  [ -e "$1/then" ] || { described "$1/state" >"$1/then.new" && mv -fT -- "$1/then.new" "$1/then"; } || return 1
  described / >"$1/now" || return 1
  comm -3 "$1/then" "$1/now" | sed "s/^$tab//" | cut -f 1 | sort -u
  rm -f -- "$1/now"
}
resources_kept() {
  # resources_kept JOURNAL: save the packages, the paths that package scripts can change, and what no file holds.
  packages_kept "$1" && mkdir -m 700 -- "$1/state" || return 1
  ( cd / && for ground in $grounds; do
      [ ! -e "$ground" ] || cp -a --parents -- "$ground" "$1/state/" || exit 1
    done ) || return 1
  while IFS= read -r held; do
    ! has "${held%%:*}_live" || printf '%s\t%s\n' "$held" "$(live_of "$held")"
  done <"$1/resources" >"$1/lives"
}
resources_back() {
  # resources_back JOURNAL: restore paths; changes that were not made by our scripts stay.
  if [ ! -e "$1/others" ]; then
    if [ -r "$1/touched" ]; then touched "$1" | comm -23 - "$1/touched"; fi >"$1/others.new"
    mv -fT -- "$1/others.new" "$1/others"
  fi
  packages_back "$1"
  touched "$1" | comm -23 - "$1/others" >"$1/differ"
  sort -r "$1/differ" | while IFS= read -r path; do
    if [ -e "$1/state/$path" ] || [ -L "$1/state/$path" ]; then continue; fi
    if [ -d "/$path" ] && [ ! -L "/$path" ]; then rmdir -- "/$path"; else rm -f -- "/$path"; fi
  done 2>/dev/null
  while IFS= read -r path; do
    was=$1/state/$path
    if [ -d "$was" ] && [ ! -L "$was" ]; then
      [ -d "/$path" ] || mkdir -- "/$path"
      chown --reference="$was" -- "/$path" && chmod --reference="$was" -- "/$path"
      chcon --reference="$was" -- "/$path" 2>/dev/null
    elif [ -e "$was" ] || [ -L "$was" ]; then
      temp=$(beside "/$path")
      rm -rf -- "$temp" && cp -a -- "$was" "$temp" && mv -fT -- "$temp" "/$path"
    fi
  done <"$1/differ"
  sync
}
resources_left() {
  # resources_left JOURNAL: print the resources that still differ, one a line.
  comm -3 "$1/packages" "$1/packages.now" | sed "s/^$tab//" | cut -f 1 | sort -u | sed 's/^/package:/'
  touched "$1" | comm -23 - "$1/others" | sed 's,^,/,'
}
live_equals() {
  # live_equals KIND:NAME LIVE. A unit that had failed may be inactive now: nothing makes it fail again on purpose.
  now=$(live_of "$1")
  [ "$now" = "$2" ] || [ "${1%%:*}:$now" = "unit:${2% failed} inactive" ]
}
lives_back() {
  # Runs after the files are restored.
  if booted; then systemctl daemon-reload; fi
  while IFS=$tab read -r held was; do
    live_equals "$held" "$was" || "${held%%:*}_revive" "${held#*:}" "$was" </dev/null
  done <"$1/lives" 9>&- >/dev/null 2>&1
}
lives_left() {
  while IFS=$tab read -r held was; do
    live_equals "$held" "$was" || printf '%s\n' "$held"
  done <"$1/lives"
}
