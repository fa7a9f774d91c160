# Packages, by dpkg and apt.
DEBIAN_FRONTEND=noninteractive DEBCONF_NONINTERACTIVE_SEEN=true APT_LISTCHANGES_FRONTEND=none NEEDRESTART_SUSPEND=1
export DEBIAN_FRONTEND DEBCONF_NONINTERACTIVE_SEEN APT_LISTCHANGES_FRONTEND NEEDRESTART_SUSPEND
package_state() {
  # Print "installed VERSION", "config-files VERSION", or nothing if absent.
  dpkg-query -W -f '${db:Status-Status} ${Version}\n' "$1" 2>/dev/null | sed -n '/^not-installed/d; s/ *$//; p; q'
}
packages_now() { ! command -v dpkg-query >/dev/null 2>&1 || dpkg-query -W -f '${binary:Package}\t${db:Status-Status} ${Version}\n' | grep -v "${tab}not-installed" | sort; }
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
package_kept() {
  # package_kept NAME FOLDER: save the package, from apt's cache or rebuilt.
  version=$(dpkg-query -W -f '${Version}' "$1") arch=$(dpkg-query -W -f '${Architecture}' "$1")
  for cached in "/var/cache/apt/archives/$1_$(printf %s "$version" | sed 's/:/%3a/')_$arch.deb"; do
    if [ -r "$cached" ] && dpkg-deb --contents "$cached" >/dev/null 2>&1; then cp -- "$cached" "$2/$1.deb"; return; fi
  done
  repacked "$1" "$2"
}
packages_kept() {
  # packages_kept JOURNAL: save the states of all packages, and the journal's installed ones.
  packages_now >"$1/packages" && mkdir -m 700 -- "$1/keep" || return 1
  while IFS= read -r held; do
    case $held in
    package:*) case $(package_state "${held#package:}") in
      installed*) package_kept "${held#package:}" "$1/keep" >/dev/null || return 1 ;;
      esac ;;
    esac
  done <"$1/resources"
}
packages_back() {
  # packages_back JOURNAL: restore with dpkg alone, without a network. New packages are removed first.
  packages_now >"$1/packages.now"
  grep -q '^package:' "$1/resources" || return 0
  dpkg --force-confold --configure -a </dev/null >/dev/null 2>&1 9>&-
  packages_now >"$1/packages.now"
  others=$(comm -3 "$1/packages" "$1/packages.now" | sed "s/^$tab//" | cut -f 1 | sort -u)
  purge= remove= put=
  for other in $others; do
    case $(sed -n "s/^$other$tab//p" "$1/packages") in
    installed*) [ ! -r "$1/keep/${other%%:*}.deb" ] || put="$put $1/keep/${other%%:*}.deb" ;;
    '') purge="$purge $other" ;;
    *) remove="$remove $other" ;;
    esac
  done
  # shellcheck disable=SC2086
  {
    [ -z "$purge" ] || dpkg --force-depends --purge $purge
    [ -z "$remove" ] || dpkg --force-depends --remove $remove
    [ -z "$put" ] || dpkg --force-depends --force-confold --force-confmiss -i $put
    dpkg --force-confold --configure -a
  } </dev/null >"$1/dpkg.log" 2>&1 9>&-
  packages_now >"$1/packages.now"
}
packages_needed() {
  # Print the packages of the programs that Temper and its probes use, and those that the host calls required.
  set --
  for tool in sh sshd sudo visudo timeout flock tar sed awk sha256sum systemctl systemd-run setsid chpasswd su passwd auditctl \
    augenrules sysctl modprobe dpkg apt-get find findmnt mount chage oscap rsyslogd logger python3; do
    at=$(command -v "$tool") && at=$(readlink -f -- "$at") || continue
    set -- "$@" "$at" "${at#/usr}"
  done
  dpkg-query -S "$@" 2>/dev/null | sed -n 's/^\([^:, ]*\).*/\1/p'
  dpkg-query -W -f '${Package} ${Essential} ${Protected} ${Priority}\n' | sed -n 's/^\([^ ]*\) .*\(yes\|required\).*/\1/p'
}
package_offer() {
  command -v apt-cache >/dev/null 2>&1 || return 0
  was=$(package_state "$1") could=$(apt-cache policy -- "$1" 2>/dev/null | sed -n 's/^  Candidate: //p')
  case $could in '(none)') could= ;; esac
  [ -z "$was$could" ] || { row state "package:$1" "$was"; row could "package:$1" "$could"; }
}
apt_verb='' apt_names=''
package_foresee() {
  [ -z "$apt_verb" ] || [ "$apt_verb" = "$2" ] || lacks "packages are installed or removed, not both in one change"
  command -v apt-get >/dev/null 2>&1 && command -v dpkg-query >/dev/null 2>&1 || lacks "it has no apt, and no other package manager is known"
  apt_verb=$2 apt_names="$apt_names $1"
}
packages_foreseen() {
  # Ask apt about all packages at once.
  [ "$apt_verb" ] || return 0
  # shellcheck disable=SC2086
  apt_foresees "$apt_verb" $apt_names | while read -r name version; do
    if [ "$name" = '!' ]; then row lacking - "$version"; continue; fi
    row before "package:$name" "$(package_state "$name")"
    if [ "$version" = - ]; then row after "package:$name" ''; else row after "package:$name" "installed $version"; fi
  done
  [ "$apt_verb" = install ] || packages_needed | sort -u | while read -r name; do row need "$name" ''; done
}
package_perform() {
  # Another process may have changed something since the dry run.
  apt_foresees "$2" "$1" | while read -r one version; do
    [ "$one" != '!' ] || fail 8 "$version"
    holds "package:$one"
  done || exit
  apt_get "$2" "$1" >"$at/log" 2>&1 || fail 8 "$(sed -n 's/^E: //p' "$at/log" | tail -n 2 | tr '\n' ' ')"
}
