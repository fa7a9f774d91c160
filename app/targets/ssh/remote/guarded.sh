# guarded NAME boot|late: wait for the confirmation; without it take the changes back, newest first, and boot again.
name=$1 at=$home/$1
if [ "$2" = boot ] && [ ! -d /run/systemd/system ]; then # whoever calls this waits for its end
  setsid /bin/sh "$at/restore" "$name" late </dev/null >/dev/null 2>&1 &
  exit 0
fi
read -r seconds <"$at/seconds" || exit 0
# A confirmation takes the folder away, and with it the reason to wait.
until [ -e "$at/taking" ] || [ ! -e "$at/journals" ] || [ "$seconds" -le 0 ]; do
  sleep 1
  seconds=$((seconds - 1))
done
[ -e "$at/taking" ] || [ -e "$at/journals" ] || exit 0 # confirmed; whoever did that may hold the lock for long
locked
[ ! -e "$at/journals" ] || mv -T -- "$at/journals" "$at/taking"
[ -e "$at/taking" ] || exit 0
synced "$at"
exec 9>&- # each rollback takes the lock itself
while read -r one; do
  if [ "$(mark_of "$one")" = committed ] && [ -e "$home/$one/kept" ]; then
    rm -f -- "$home/$one/committed" && synced "$home/$one"
  fi
  /bin/sh "$home/$one/restore" "$one" boot
done <"$at/taking"
unhooked "$name"
rm -rf -- "$at"
booted_anew
