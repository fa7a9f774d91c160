# Packages, by dpkg and apt.
DEBIAN_FRONTEND=noninteractive DEBCONF_NONINTERACTIVE_SEEN=true APT_LISTCHANGES_FRONTEND=none NEEDRESTART_SUSPEND=1
export DEBIAN_FRONTEND DEBCONF_NONINTERACTIVE_SEEN APT_LISTCHANGES_FRONTEND NEEDRESTART_SUSPEND
apt_state() {
  # Print "installed VERSION", "config-files VERSION", or nothing if absent.
  dpkg-query -W -f '${db:Status-Status} ${Version}\n' "$1" 2>/dev/null | sed -n '/^not-installed/d; s/ *$//; p; q'
}
apt_now() { dpkg-query -W -f '${binary:Package}\t${db:Status-Status} ${Version}\n' | grep -v "${tab}not-installed" | sort; }
apt_get() {
  # Install nothing else, ask nothing, and keep changed configuration files.
  apt-get -q -y -o APT::Get::AutomaticRemove=false -o APT::Get::HideAutoRemove=true -o DPkg::Lock::Timeout=60 \
    -o Dpkg::Use-Pty=0 -o Dpkg::Options::=--force-confold "$@" </dev/null 9>&-
}
apt_foresees() {
  # apt_foresees install|remove NAME...: print each name and its future version, empty if removed.
  apt_get -s "$@" 2>&1 | sed -n \
    -e 's/^Inst \([^ ]*\) .*(\([^ ]*\) .*$/\1 \2/p' \
    -e 's/^\(Remv\|Purg\) \([^ ]*\) .*$/\2 -/p' -e 's/^E: \(.*\)$/! \1/p'
}
repacked() {
  # repacked NAME FOLDER: rebuild an installed package as a .deb.
  out=$2/tree
  mkdir -p -m 755 -- "$out/DEBIAN" || return 1
  for part in $(dpkg-query --control-list "$1"); do
    cp -p -- "$(dpkg-query --control-path "$1" "$part")" "$out/DEBIAN/$part" || return 1
  done
  dpkg-query -s "$1" | awk '/^[^ ]/ { skip = /^(Status|Conffiles|Config-Version):/ } !skip' >"$out/DEBIAN/control"
  dpkg-query -L "$1" | sed -n 's,^/,,p' | while IFS= read -r path; do
    if [ -L "/$path" ] || { [ -e "/$path" ] && [ ! -L "/$path" ]; }; then
      if [ ! -L "/$path" ] || [ ! -d "/$path" ]; then printf '%s\n' "$path"; fi
    fi
  done >"$2/list"
  tar -C / --no-recursion -cf - -T "$2/list" | tar -C "$out" -xpf - || return 1
  dpkg-deb -Znone -b "$out" "$2/$1.deb" >/dev/null || return 1
  rm -rf -- "$out" "$2/list"
}
apt_kept() {
  # apt_kept NAME FOLDER: save the package, from apt's cache or rebuilt.
  version=$(dpkg-query -W -f '${Version}' "$1") arch=$(dpkg-query -W -f '${Architecture}' "$1")
  for cached in "/var/cache/apt/archives/$1_$(printf %s "$version" | sed 's/:/%3a/')_$arch.deb"; do
    if [ -r "$cached" ] && dpkg-deb --contents "$cached" >/dev/null 2>&1; then cp -- "$cached" "$2/$1.deb"; return; fi
  done
  repacked "$1" "$2"
}
apt_settled() { dpkg --force-confold --configure -a </dev/null >/dev/null 2>&1 9>&-; }
apt_put_back() {
  # apt_put_back PURGE REMOVE PUT: with dpkg alone, without a network. New packages are removed first.
  # shellcheck disable=SC2086
  {
    [ -z "$1" ] || dpkg --force-depends --purge $1
    [ -z "$2" ] || dpkg --force-depends --remove $2
    [ -z "$3" ] || dpkg --force-depends --force-confold --force-confmiss -i $3
    dpkg --force-confold --configure -a
  } </dev/null 2>&1 9>&-
}
apt_needed() {
  # apt_needed PATH...: the packages of these programs, and those that the host calls required.
  dpkg-query -S "$@" 2>/dev/null | sed -n 's/^\([^:, ]*\).*/\1/p'
  dpkg-query -W -f '${Package} ${Essential} ${Protected} ${Priority}\n' | sed -n 's/^\([^ ]*\) .*\(yes\|required\).*/\1/p'
}
apt_candidate() {
  found=$(apt-cache policy -- "$1" 2>/dev/null | sed -n 's/^  Candidate: //p')
  case $found in '(none)') ;; *) printf '%s\n' "$found" ;; esac
}
apt_locked() { false; }
apt_act() { apt_get "$@"; }
