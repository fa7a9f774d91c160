# offers: for each "kind name" on stdin that exists here, print kind, name and state; for a
# package also the version that could be installed.
row() { printf '%s\t%s\t%s\n' "$1" "$2" "$3"; }
while read -r kind name; do
  case $kind in
  package)
    command -v apt-cache >/dev/null 2>&1 || continue
    was=$(package_state "$name") could=$(apt-cache policy -- "$name" 2>/dev/null | sed -n 's/^  Candidate: //p')
    case $could in '(none)') could= ;; esac
    [ -z "$was$could" ] || { row state "package:$name" "$was"; row could "package:$name" "$could"; } ;;
  unit)
    command -v systemctl >/dev/null 2>&1 || continue
    was=$(unit_state "$name"); [ -z "$was" ] || row state "unit:$name" "$was" ;;
  mount) was=$(mount_state "$name"); [ -z "$was" ] || [ -z "$(fstab_options "$name")" ] || row state "mount:$name" "$was" ;;
  account) was=$(account_state "$name"); [ -z "$was" ] || row state "account:$name" "$was" ;;
  esac
done
if booted; then row systemd runs ''; fi
exit 0
