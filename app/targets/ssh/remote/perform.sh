# perform JOURNAL: perform the actions on stdin, one a line, that the open journal covers. Prints the new state
# of its resources, and other changed paths.
at=$home/$1
locked
[ "$(mark_of "$1")" = open ] && [ -s "$at/resources" ] || fail 7 "no open journal of the host holds this"
holds() { grep -qxF -- "$1" "$at/resources" || fail 8 "$1 would change too, and nobody was asked about it"; }
saying() { why=$("$@" 2>&1 </dev/null 9>&-) || fail 8 "$(printf '%s' "$why" | tail -n 2 | tr '\n' ' ')"; }
while read -r verb name rest; do
  case $verb in
  install | remove)
    # Another process may have changed something since the dry run.
    apt_foresees "$verb" "$name" | while read -r one version; do
      [ "$one" != '!' ] || fail 8 "$version"
      holds "package:$one"
    done || exit
    apt_get "$verb" "$name" >"$at/log" 2>&1 || fail 8 "$(sed -n 's/^E: //p' "$at/log" | tail -n 2 | tr '\n' ' ')" ;;
  enable | disable | mask | unmask | start | stop) holds "unit:$name"; saying systemctl "$verb" "$name" ;;
  options)
    holds "mount:$name"
    temp=$(beside /etc/fstab)
    fstab_with "$name" "$rest" >"$temp" && chmod --reference=/etc/fstab -- "$temp" && chown --reference=/etc/fstab -- "$temp" &&
      synced "$temp" && mv -fT -- "$temp" /etc/fstab || fail 8 "/etc/fstab cannot be written"
    live=$(live_options "$name")
    saying remounted "$name" "$live,$rest" ;;
  vendor)
    holds "vendor:$name"
    vendors_script "${rest% *}" "${rest#* }" "$at/script" || fail 8 "the script has another digest"
    walled '' "$at/script" >"$at/log" || grep -qx begun "$at/log" || fail 8 "it cannot be run there: $(tail -n 1 "$at/log")"
    ran="ran ${rest% *}"
    described "$at/state" >"$at/then" && described / >"$at/now" || fail 9 "what it did cannot be looked at"
    printf 'outcome\t-\t%s\n' "$(outcome "$at/then" "$at/now")" ;;
  age)
    holds "account:$name"
    case ${rest% *} in min) key=-m ;; max) key=-M ;; warn) key=-W ;; inactive) key=-I ;; *) fail 8 "chage has no ${rest% *}" ;; esac
    saying chage "$key" "${rest#* }" "$name" ;;
  esac
done
touched "$at" >"$at/touched.new" && synced "$at/touched.new" && mv -fT -- "$at/touched.new" "$at/touched" || fail 9 "what else changed cannot be noted"
while IFS= read -r name; do printf 'state\t%s\t%s\n' "$name" "$(state_of "$name")"; done <"$at/resources"
while IFS= read -r path; do printf 'touched\t/%s\t\n' "$path"; done <"$at/touched"
exit 0
