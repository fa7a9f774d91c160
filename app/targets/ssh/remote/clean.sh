# clean KEPT: remove everything of ours and print each path; exit 3 if a change is open.
ours=${home%/*}
[ ! -d "$home" ] || locked
for at in "$home"/*/; do
  name=${at%/} name=${name##*/}
  [ -d "$at" ] && [ "$(mark_of "$name")" = open ] && fail 3 "the change $name is open"
done
gone() { [ ! -e "$1" ] && [ ! -L "$1" ] || { rm -rf -- "$1" && printf '%s\n' "$1"; }; }
for at in "$home"/*/; do
  name=${at%/} name=${name##*/}
  [ -r "$at/files" ] || continue
  while IFS=$tab read -r _ path; do gone "$(beside "$path")"; done <"$at/files"
done
for at in /etc/.temper-trial /etc/systemd/system/temper-undo-* /etc/systemd/system/*.wants/temper-undo-* /etc/local.d/temper-undo-* \
  /etc/rcS.d/S99temper-undo-* /etc/cron.d/temper-undo-* "$1" "$ours"; do gone "$at"; done
# Remove our folders if they are empty.
if rmdir -- "${1%/*}" 2>/dev/null; then printf "%s\n" "${1%/*}"; fi
exit 0
