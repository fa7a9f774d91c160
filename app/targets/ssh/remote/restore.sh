# restore NAME asked|timer|boot: restore what the journal holds; repeatable. Prints what still differs.
name=$1 at=$home/$1
# Wait for running package scripts: killing one would leave more to restore.
[ ! -e "$at/resources" ] || patience=330
locked
case $(mark_of "$name") in
open) ;;
committed) fail 5 "the change $name was committed" ;;
*) exit 0 ;;
esac
if [ "$2" = timer ] && [ -e "$at/disarmed" ]; then exit 0; fi
[ ! -e "$at/resources" ] || { resources_back "$at"; lives_back "$at"; }
while IFS=$tab read -r number path; do
  temp=$(beside "$path")
  if [ -f "$at/$number" ]; then
    if ! same "$at/$number" "$path"; then
      rm -f -- "$temp"
      # On a full disk, hard-link the image: that needs no space.
      { cp -a -- "$at/$number" "$temp" && synced "$temp"; } 2>/dev/null || { rm -f -- "$temp"; ln -- "$at/$number" "$temp"; }
      mv -fT -- "$temp" "$path"
    fi
    rm -f -- "$temp"
  elif [ -d "${path%/*}" ]; then
    rm -f -- "$temp" "$path"
  fi
  [ -d "${path%/*}" ] && synced "${path%/*}"
done <"$at/files"
tac "$at/folders" | while read -r folder; do
  [ ! -d "$folder" ] || rmdir -- "$folder"
done
differs=$(while IFS=$tab read -r number path; do
  same "$at/$number" "$path" || printf '%s\n' "$path"
done <"$at/files"
[ ! -e "$at/resources" ] || { resources_left "$at"; lives_left "$at"; })
printf '%s\n' "$differs"
port=$(cat "$at/port" 2>/dev/null)
# At boot under systemd we run before the services that read the files.
[ "$2" = boot ] && [ -d /run/systemd/system ] || while read -r service; do
  [ -z "$service" ] || reload_one "$service" 9>&-
done <"$at/services"
if [ "$2" != asked ] && [ -z "$differs" ]; then
  marked "$name" undone
  echo "$2" >"$at/undone"
fi
exit 0
