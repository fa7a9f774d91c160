# masks: print the units that the next boot skips, a row each, after a row with the exit status. systemctl is slow:
# it reads every folder once per unit. The first file of a name decides; an empty file or a link to a device
# masks; a link to another unit follows that unit; files in /run are gone by then.
masks() {
  set --
  for at in /etc/systemd/system.control /run/systemd/system.control /run/systemd/transient /run/systemd/generator.early \
    /etc/systemd/system /etc/systemd/system.attached /run/systemd/system /run/systemd/system.attached \
    /run/systemd/generator /usr/local/lib/systemd/system /lib/systemd/system /usr/lib/systemd/system \
    /run/systemd/generator.late; do
    [ -d "$at" ] && set -- "$@" "$at/"
  done
  [ $# -gt 0 ] || return 0
  out=$(timeout -k 1 5 find "$@" -mindepth 1 -maxdepth 1 -type f,l -regextype posix-extended \
    -regex '.*/[A-Za-z0-9:_.\@-]+\.(service|socket|target|device|mount|automount|swap|timer|path|slice|scope)' \
    -printf '%f\t%Y\t%y%s\t%H\t%l\n' 2>/dev/null </dev/null); row masked all "code $?"
  printf '%s\n' "$out" | awk -F '\t' '
    NF == 5 && !($1 in at) {
      at[$1] = $4; masked[$1] = $2 == "c" || $3 == "f0"
      if ($3 ~ /^l/) { to[$1] = $5; sub(/.*\//, "", to[$1]) }
    }
    END {
      for (unit in at) {
        name = unit
        for (hop = 0; !masked[name] && to[name] in at && hop < 8; hop++) name = to[name]
        if (masked[name] && at[name] !~ /^\/run\//) print unit
      }
    }' | sort | head -n 200 | while IFS= read -r unit; do row masked all "$unit"; done
}
