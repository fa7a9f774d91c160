# push journalled|anyway|alone PATH SIZE MODE OWNER TIME: replace the file by stdin, atomically.
claimed
path=$2 temp=$(beside "$2")
rm -f -- "$temp"
set -C
cat >"$temp" || { rm -f -- "$temp"; fail 9 "no room for the new $path"; }
set +C
gone() { rm -f -- "$temp"; fail "$@"; }
[ "$(stat -c %s -- "$temp")" = "$3" ] || gone 8 "the line was cut: $path came in part"
[ "$1" = alone ] || locked
if [ "$1" = journalled ]; then
  # No write without a pre-image: the change may have been rolled back meanwhile.
  held=
  while IFS= read -r name; do
    find_mark "$name"
    [ "$mark" = open ] && while IFS=$tab read -r _ one; do [ "$one" = "$path" ] && held=1; done <"$home/$name/files"
  done <<END
$(ls "$home")
END
  [ "$held" ] || gone 7 "no open journal of the host holds $path"
fi
if [ -L "$path" ] || { [ -e "$path" ] && [ ! -f "$path" ]; }; then gone 6 "$path is no plain file any more"; fi
if [ -f "$path" ]; then
  [ "$1" = anyway ] || why=$(one_name "$path") || gone 6 "$why"
  cp --attributes-only --preserve=all -- "$path" "$temp" || gone 9 "what $path has besides its content cannot be kept"
fi
chown -- "$5" "$temp" && chmod -- "$4" "$temp" || gone 9 "$path cannot be given to $5"
[ -f "$path" ] || labelled "$temp" "$path"
# A change gets a new time, so that backups copy it; a restored file gets its old time.
if [ "$6" = - ]; then touch -- "$temp"; else touch -d "@$6" -- "$temp"; fi
synced "$temp"
mv -fT -- "$temp" "$path" || gone 9 "$path cannot be put in place"
synced "${path%/*}"
