# release: delete the pre-images of committed changes, which were kept for a reboot.
[ -d "$home" ] || exit 0
locked
for at in "$home"/*/; do
  name=${at%/} name=${name##*/}
  find_mark "$name"
  if [ -e "$at/kept" ] && [ "$mark" = committed ]; then images_dropped "$name"; fi
done
exit 0
