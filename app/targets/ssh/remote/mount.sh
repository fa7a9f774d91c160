# Mounts, in /etc/fstab and in the kernel.
flags='nodev nosuid noexec'
named_flags() {
  # Print the three relevant options of a comma-separated list, in a fixed order.
  found=
  for flag in $flags; do case ",$1," in *",$flag,"*) found="$found $flag" ;; esac; done
  printf '%s' "${found:- none}"
}
live_options() { # of what is mounted there last
  mounted=
  while read -r _ _ _ _ at options _; do [ "$at" != "$1" ] || mounted=$options; done </proc/self/mountinfo
  printf '%s' "$mounted"
}
is_memory() { awk -v at="$1" '$5 == at { for (n = 7; $n != "-"; n++); type = $(n + 1) } END { exit type != "tmpfs" }' /proc/self/mountinfo; }
fstab_options() { awk -v at="$1" '!/^[ \t]*#/ && $2 == at { said = $4 } END { printf "%s", said }' /etc/fstab 2>/dev/null; }
mount_state() {
  live=$(live_options "$1") stated=$(fstab_options "$1")
  [ "$live" ] || return 0
  printf 'mounted%s, fstab%s\n' "$(named_flags "$live")" "$(named_flags "$stated")"
}
mount_becomes() {
  # mount_becomes MOUNT FLAGS: print the options with these added.
  live=$(live_options "$1") stated=$(fstab_options "$1")
  [ "$stated" ] || stated=$live
  printf 'mounted%s, fstab%s\n' "$(named_flags "$live,$2")" "$(named_flags "$stated,$2")"
}
fstab_with() {
  # fstab_with MOUNT FLAGS: print the changed file. A file system in memory gets a line if it has none; for another mount
  # without a line the exit status is 3.
  is_memory "$1" && own="defaults$(named_flags "$(live_options "$1"),$2" | sed 's/ none//; s/ /,/g')" || own=
  awk -v at="$1" -v more="$2" -v own="$own" '
    function with(options,   n, i, words, out) {
      n = split(more, words, ","); out = options
      for (i = 1; i <= n; i++) {
        gsub("(^|,)" substr(words[i], 3) "(,|$)", ",", out)
        if (("," out ",") !~ ("," words[i] ",")) out = out "," words[i]
      }
      gsub(/,,+/, ",", out); sub(/^,/, "", out); return out
    }
    !/^[ \t]*#/ && $2 == at { seen = 1; $4 = with($4) } { print }
    END { if (!seen && own) print "tmpfs " at " tmpfs " own " 0 0"; exit seen || own ? 0 : 3 }' /etc/fstab
}
remounted() {
  # remounted MOUNT OPTIONS: remount with exactly these, whatever fstab has.
  with=$2
  for flag in $flags; do case ",$2," in *",$flag,"*) ;; *) with="$with,${flag#no}" ;; esac; done
  mount --options-mode ignore -o "remount,$with" "$1"
}
mount_offer() {
  was=$(mount_state "$1")
  [ -z "$was" ] || { [ -z "$(fstab_options "$1")" ] && ! is_memory "$1"; } || row state "mount:$1" "$was"
}
mount_foresee() {
  was=$(mount_state "$1")
  [ "$was" ] || lacks "nothing is mounted at $1, and no file system is made here"
  command -v findmnt >/dev/null 2>&1 || lacks "it has no findmnt"
  new=$(mktemp) && { fstab_with "$1" "$2" >"$new" || { rm -f "$new"; lacks "$1 has no line in /etc/fstab"; }; }
  why=$(findmnt --verify --tab-file "$new" 2>&1) || { rm -f "$new"; lacks "findmnt --verify refuses the new /etc/fstab: $(printf %s "$why" | tr '\n' ' ')"; }
  rm -f "$new"
  row before "mount:$1" "$was"
  row after "mount:$1" "$(mount_becomes "$1" "$2")"
}
mount_perform() {
  temp=$(beside /etc/fstab)
  fstab_with "$1" "$2" >"$temp" && chmod --reference=/etc/fstab -- "$temp" && chown --reference=/etc/fstab -- "$temp" &&
    synced "$temp" && mv -fT -- "$temp" /etc/fstab || fail 8 "/etc/fstab cannot be written"
  live=$(live_options "$1")
  saying remounted "$1" "$live,$2"
}
mount_live() { live_options "$1"; }
mount_revive() { remounted "$1" "$2"; }
