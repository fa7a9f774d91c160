# offers: for each "kind name" on stdin that exists here, print kind, name and state; for a
# package also the version that could be installed.
while read -r kind name; do
  if has "${kind}_offer"; then "${kind}_offer" "$name"; continue; fi
  was=$(state_of "$kind:$name")
  [ -z "$was" ] || row state "$kind:$name" "$was"
done
if booted; then row systemd runs ''; fi
exit 0
