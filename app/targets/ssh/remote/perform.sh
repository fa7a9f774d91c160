# perform JOURNAL: perform the actions on stdin, one a line (kind, name, words), that the open journal covers. Prints the new state
# of its resources, and other changed paths.
at=$home/$1
locked
[ "$(mark_of "$1")" = open ] && [ -s "$at/resources" ] || fail 7 "no open journal of the host holds this"
holds() { grep -qxF -- "$1" "$at/resources" || fail 8 "$1 would change too, and nobody was asked about it"; }
saying() { why=$("$@" 2>&1 </dev/null 9>&-) || fail 8 "$(printf '%s' "$why" | tail -n 2 | tr '\n' ' ')"; }
while read -r kind name words; do
  holds "$kind:$name"
  # shellcheck disable=SC2086
  "${kind}_perform" "$name" $words </dev/null
done
touched "$at" >"$at/touched.new" && synced "$at/touched.new" && mv -fT -- "$at/touched.new" "$at/touched" || fail 9 "what else changed cannot be noted"
while IFS= read -r name; do printf 'state\t%s\t%s\n' "$name" "$(state_of "$name")"; done <"$at/resources"
while IFS= read -r path; do printf 'touched\t/%s\t\n' "$path"; done <"$at/touched"
exit 0
