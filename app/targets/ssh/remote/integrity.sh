# The database of AIDE, where its own configuration has it. Undoing removes what was built.
aide_config() {
  for config in /etc/aide.conf /etc/aide/aide.conf; do
    if [ -r "$config" ]; then printf '%s\n' "$config"; return; fi
  done
}
aide_file() {
  # aide_file SETTING: print the file that the configuration names for database_in (in older ones: database) or database_out.
  awk -v setting="$1" '
    $1 == "@@define" { known[$2] = $3 }
    /^[ \t]*database(_in|_out)?[ \t]*=/ {
      name = value = $0
      sub(/[ \t]*=.*/, "", name); sub(/^[ \t]*/, "", name); sub(/[^=]*=[ \t]*/, "", value); sub(/[ \t]+$/, "", value)
      for (one in known) { at = index(value, "@@{" one "}")
        if (at) value = substr(value, 1, at - 1) known[one] substr(value, at + length(one) + 4) }
      if (name == setting || name "_in" == setting) file = value
    }
    END { if (sub(/^file:/, "", file) && file ~ /^\/[^ \t@]+$/) print file }' "$(aide_config)"
}
integrity_state() {
  has aide && [ "$(aide_config)" ] || return 0
  kept=$(aide_file database_in)
  [ -z "$kept" ] || if [ -s "$kept" ]; then echo 'a database'; else echo 'no database'; fi
}
integrity_foresee() {
  has aide || lacks "it has no aide"
  [ "$(aide_config)" ] || lacks "AIDE has no configuration"
  [ "$(aide_file database_in)" ] && [ "$(aide_file database_out)" ] || lacks "AIDE's configuration names no files for its database"
  was=$(integrity_state "$1")
  row before "integrity:$1" "$was"
  if [ "$was" = 'a database' ]; then row after "integrity:$1" 'another database'; else row after "integrity:$1" 'a database'; fi
}
integrity_perform() {
  kept=$(aide_file database_in) new=$(aide_file database_out)
  saying nice aide --config "$(aide_config)" --init
  [ -s "$new" ] || fail 8 "aide --init left no $new"
  [ "$new" = "$kept" ] || mv -fT -- "$new" "$kept" || fail 8 "$kept cannot be written"
  synced "$kept"
}
integrity_live() { integrity_state "$1"; }
integrity_revive() {
  # integrity_revive NAME LIVE
  [ "$2" = 'no database' ] && rm -f -- "$(aide_file database_in)" "$(aide_file database_out)"
}
