# guard NAME SECONDS GUARDED: take the changes on stdin back if nobody confirms them within so many seconds of the
# next start. GUARDED is the script that does it then.
at=$home/$1
locked
rm -rf -- "$at"
mkdir -- "$at" || fail 9 "nothing can be set that takes the changes back after the reboot"
cat >"$at/journals" && printf '%s\n' "$2" >"$at/seconds" && printf '%s\n' "$3" >"$at/restore" || fail 9 "no room for what takes the changes back"
synced "$at"/* "$at" "$home"
hooked "$1" || { unhooked "$1"; fail 9 "nothing can be set that takes the changes back when the host starts anew"; }
