# foresee: dry-run the actions on stdin, one a line; print each resource before and after, and
# what Temper and its probes need. Rows of a word, a name and a value.
row() { printf '%s\t%s\t%s\n' "$1" "$2" "$3"; }
lacks() { row lacking - "$*"; exit 0; }
needs() {
  set --
  for tool in sh sshd sudo visudo timeout flock tar sed awk sha256sum systemctl systemd-run setsid chpasswd su passwd auditctl \
    augenrules sysctl modprobe dpkg apt-get find findmnt mount chage oscap rsyslogd logger python3; do
    at=$(command -v "$tool") && at=$(readlink -f -- "$at") || continue
    set -- "$@" "$at" "${at#/usr}"
  done
  dpkg-query -S "$@" 2>/dev/null | sed -n 's/^\([^:, ]*\).*/\1/p'
  dpkg-query -W -f '${Package} ${Essential} ${Protected} ${Priority}\n' | sed -n 's/^\([^ ]*\) .*\(yes\|required\).*/\1/p'
}
row today - "$(($(date +%s) / 86400))"
verb='' packages=''
while read -r one name rest; do
  case $one in
  install | remove)
    [ -z "$verb" ] || [ "$verb" = "$one" ] || lacks "packages are installed or removed, not both in one change"
    command -v apt-get >/dev/null 2>&1 && command -v dpkg-query >/dev/null 2>&1 || lacks "it has no apt, and no other package manager is known"
    verb=$one packages="$packages $name" ;;
  enable | disable | mask | unmask | start | stop)
    command -v systemctl >/dev/null 2>&1 || lacks "it has no systemctl"
    was=$(unit_state "$name")
    [ "$was" ] || lacks "it has no unit $name"
    case "$one ${was% *}" in
    start* | stop*) booted || lacks "systemd does not run there, so nothing is started or stopped by it" ;;
    "enable "static | "disable "static | "enable "masked* | "enable "generated | "enable "transient | "enable "indirect | "enable "alias)
      lacks "$name is ${was% *}, and cannot be ${one}d" ;;
    esac
    row before "unit:$name" "$was"
    row after "unit:$name" "$(unit_becomes "$one" "$was")" ;;
  options)
    was=$(mount_state "$name")
    [ "$was" ] || lacks "nothing is mounted at $name, and no file system is made here"
    command -v findmnt >/dev/null 2>&1 || lacks "it has no findmnt"
    new=$(mktemp) && { fstab_with "$name" "$rest" >"$new" || { rm -f "$new"; lacks "$name has no line in /etc/fstab"; }; }
    why=$(findmnt --verify --tab-file "$new" 2>&1) || { rm -f "$new"; lacks "findmnt --verify refuses the new /etc/fstab: $(printf %s "$why" | tr '\n' ' ')"; }
    rm -f "$new"
    row before "mount:$name" "$was"
    row after "mount:$name" "$(mount_becomes "$name" "$rest")" ;;
  # shellcheck disable=SC2086
  vendor) vendor_foreseen "$name" $rest </dev/null ;;
  age)
    command -v chage >/dev/null 2>&1 || lacks "it has no chage"
    was=$(account_state "$name")
    [ "$was" ] || lacks "it has no account $name in /etc/shadow"
    row before "account:$name" "$was"
    # shellcheck disable=SC2086
    row after "account:$name" "$(account_becomes "$name" $rest)" ;;
  esac
done
[ "$verb" ] || exit 0
# shellcheck disable=SC2086
apt_foresees "$verb" $packages | while read -r name version; do
  if [ "$name" = '!' ]; then row lacking - "$version"; continue; fi
  row before "package:$name" "$(package_state "$name")"
  if [ "$version" = - ]; then row after "package:$name" ''; else row after "package:$name" "installed $version"; fi
done
[ "$verb" = install ] || needs | sort -u | while read -r name; do row need "$name" ''; done
exit 0
