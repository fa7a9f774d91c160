# foresee: dry-run the actions on stdin, one a line: kind, name, words. Print each resource before and after, and
# what Temper and its probes need. Rows of a word, a name and a value.
lacks() { row lacking - "$*"; exit 0; }
row today - "$(($(date +%s) / 86400))"
while read -r kind name words; do
  # shellcheck disable=SC2086
  "${kind}_foresee" "$name" $words </dev/null
done
packages_foreseen
exit 0
