# trial: a sshd of its own, on the files as they stand, whose one guest is whoever is at the other end of this line.
set --
# shellcheck disable=SC2046
for pid in $(listeners $(ears "$(came_in_by)")); do
  while IFS= read -r word; do [ -z "$word" ] || set -- "$@" "$word"; done <<END
$(told_by "$pid")
END
done
exec "$(command -v sshd)" -i -e "$@"
