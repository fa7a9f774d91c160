# Packages: what is common to apt and dnf. Each is a part of its own, with the same functions.
rpm_database() {
  for at in /var/lib/rpm /usr/lib/sysimage/rpm; do
    for one in rpmdb.sqlite Packages.db Packages; do [ ! -s "$at/$one" ] || return 0; done
  done
  return 1
}
manager=
if has apt-get && has dpkg-query; then manager=apt; fi
if has dnf && has rpm && rpm_database && { [ -z "$manager" ] || [ ! -s /var/lib/dpkg/status ]; }; then manager=dnf; fi
package_state() { [ -z "$manager" ] || "${manager}_state" "$1"; }
packages_now() { [ -z "$manager" ] || "${manager}_now"; }
packages_kept() {
  # packages_kept JOURNAL: save the states of all packages, and the journal's installed ones.
  packages_now >"$1/packages" && mkdir -m 700 -- "$1/keep" || return 1
  while IFS= read -r held; do
    case $held in
    package:*) case $(package_state "${held#package:}") in
      installed*) "${manager}_kept" "${held#package:}" "$1/keep" >/dev/null || return 1 ;;
      esac ;;
    esac
  done <"$1/resources"
}
packages_back() {
  # packages_back JOURNAL: restore them without a network.
  packages_now >"$1/packages.now"
  grep -q '^package:' "$1/resources" || return 0
  "${manager}_settled"
  packages_now >"$1/packages.now"
  others=$(comm -3 "$1/packages" "$1/packages.now" | sed "s/^$tab//" | cut -f 1 | sort -u)
  purge= remove= put=
  for other in $others; do
    case $(sed -n "s/^$other$tab//p" "$1/packages") in
    installed*) for kept in "$1/keep/${other%%:*}".deb "$1/keep/$other".rpm; do [ ! -r "$kept" ] || put="$put $kept"; done ;;
    '') purge="$purge $other" ;;
    *) remove="$remove $other" ;;
    esac
  done
  "${manager}_put_back" "$purge" "$remove" "$put" >"$1/packages.log"
  packages_now >"$1/packages.now"
}
packages_needed() {
  # Print the packages of the programs that Temper and its probes use, and those that the host calls required.
  set --
  for tool in sh sshd sudo visudo timeout flock tar sed awk sha256sum systemctl systemd-run setsid chpasswd su passwd auditctl \
    augenrules sysctl modprobe dpkg apt-get dnf rpm find findmnt mount chage oscap rsyslogd logger python3 restorecon; do
    at=$(command -v "$tool") && at=$(readlink -f -- "$at") || continue
    set -- "$@" "$at" "${at#/usr}"
  done
  "${manager}_needed" "$@"
}
package_offer() {
  [ "$manager" ] || return 0
  was=$(package_state "$1") could=
  # To ask for a version takes dnf seconds, and an installed package is only ever removed.
  case $manager$was in dnfinstalled*) ;; *) could=$("${manager}_candidate" "$1") ;; esac
  [ -z "$was$could" ] || { row state "package:$1" "$was"; row could "package:$1" "$could"; }
}
package_verb='' package_names=''
package_foresee() {
  [ -z "$package_verb" ] || [ "$package_verb" = "$2" ] || lacks "packages are installed or removed, not both in one change"
  [ "$manager" ] || lacks "it has neither apt nor dnf, and no other package manager is known"
  [ "$2" != remove ] || ! "${manager}_locked" "$1" || lacks "versionlock holds $1: a person has to unlock it first"
  package_verb=$2 package_names="$package_names $1"
}
packages_foreseen() {
  # Ask about all packages at once.
  [ "$package_verb" ] || return 0
  # shellcheck disable=SC2086
  "${manager}_foresees" "$package_verb" $package_names | while read -r name version; do
    if [ "$name" = '!' ]; then row lacking - "$version"; continue; fi
    row before "package:$name" "$(package_state "$name")"
    if [ "$version" = - ]; then row after "package:$name" ''; else row after "package:$name" "installed $version"; fi
  done
  [ "$package_verb" = install ] || packages_needed | sort -u | while read -r name; do row need "$name" ''; done
}
package_perform() {
  # Another process may have changed something since the dry run.
  "${manager}_foresees" "$2" "$1" | while read -r one version; do
    [ "$one" != '!' ] || fail 8 "$version"
    holds "package:$one"
  done || exit
  "${manager}_act" "$2" "$1" >"$at/log" 2>&1 ||
    fail 8 "$(sed -n 's/^\(E\|Error\): //p' "$at/log" | tail -n 2 | tr '\n' ' ')"
}
