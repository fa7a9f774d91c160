# begin NAME SECONDS RESTORE SERVICES: store pre-images of the paths on stdin; arm the rollback timer and boot unit.
name=$1 new=$home/.$1.new at=$home/$1
locked
fallback_dropped
case $(mark_of "$name") in
open | committed) fail 3 "the journal $name is there already" ;;
undone | void) n=1; while [ -e "$at~$n" ]; do n=$((n + 1)); done; mv -T -- "$at" "$at~$n" || exit 9 ;;
esac
rm -rf -- "$new"
mkdir -- "$new" || fail 9 "no journal can be begun"
gone() { rm -rf -- "$new"; fail "$@"; }
: >"$new/files" && : >"$new/folders" || gone 9 "the journal cannot be written"
while IFS=$tab read -r number digest path; do
  if [ "$number" = folder ]; then
    printf '%s\n' "$path" 2>/dev/null >>"$new/folders" || gone 9 "the journal cannot be written"
    continue
  fi
  if [ "$number" = resource ]; then
    printf '%s\n' "$path" 2>/dev/null >>"$new/resources" || gone 9 "the journal cannot be written"
    continue
  fi
  printf '%s\t%s\n' "$number" "$path" 2>/dev/null >>"$new/files" || gone 9 "the journal cannot be written"
  if [ "$digest" = - ]; then
    if [ -e "$path" ] || [ -L "$path" ]; then gone 4 "$path is there by now"; fi
  else
    if [ -L "$path" ] || [ ! -f "$path" ]; then gone 4 "$path is no plain file any more"; fi
    why=$(one_name "$path") || gone 4 "$why"
    cp -a -- "$path" "$new/$number" || gone 9 "no room for the pre-image of $path"
    read -r found _ <<END
$(sha256sum <"$new/$number")
END
    [ "$found" = "$digest" ] || gone 4 "$path changed meanwhile"
  fi
done
if [ -e "$new/resources" ]; then
  resources_kept "$new" || gone 9 "no room for what is to be put back, or a package cannot be kept"
fi
printf '%s\n' "$3" >"$new/restore" && printf '%s\n' "$4" >"$new/services" && came_in_by >"$new/port" || gone 9 "the journal cannot be written"
if [ -e "$new/resources" ]; then sync; fi
synced "$new"/* "$new"
mv -T -- "$new" "$at" || gone 9 "the journal cannot be kept"
synced "$home"
back() { unhooked "$name"; mv -T -- "$at" "$new"; gone "$@"; }
hooked "$name" || back 9 "nothing can be set that takes the change back when the host starts anew"
if [ -d /run/systemd/system ] && command -v systemd-run >/dev/null 2>&1; then
  systemd-run --quiet --collect --on-active="$2" --timer-property=AccuracySec=100ms /bin/sh "$at/restore" "$name" timer
else
  setsid /bin/sh -c 'sleep "$1"; exec /bin/sh "$2" "$3" timer' timer "$2" "$at/restore" "$name" </dev/null >/dev/null 2>&1 9>&- &
  echo "$!" >"$at/timer.pid"
fi || back 9 "no timer can be set, so the line could be lost for good"
: >"$at/armed"
synced "$at"
