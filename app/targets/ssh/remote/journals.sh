# journals: print name, mark and timer state of each journal, one a line.
[ -d "$home" ] || exit 0
for at in "$home"/*/; do
  [ -r "$at/files" ] || continue
  name=${at%/} name=${name##*/}
  armed=-
  [ -e "$at/armed" ] && [ ! -e "$at/disarmed" ] && armed=armed
  find_mark "$name"
  printf '%s\t%s\t%s\n' "$name" "$mark" "$armed"
done
