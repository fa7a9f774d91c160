# listed EXCLUDE...: list /etc, the key folders without contents and the entries that the host boots by. Each path has
# three fields, each ended by a NUL: kind, mode, owner and size; link target; name. Then an empty field, and the
# sha256 and name of each file.
cd / || fail 9 "the root folder cannot be entered"
command -v find >/dev/null 2>&1 && command -v sha256sum >/dev/null 2>&1 || fail 9 "find and sha256sum are needed there"
keys() {
  for one in usr usr/lib usr/lib/os-release root root/.ssh root/.ssh/authorized_keys* home home/* home/*/.ssh home/*/.ssh/authorized_keys*; do
    [ -e "$one" ] && printf '%s\0' "$one"
  done
  # Elsewhere programs write such entries anew.
  boots_by_entries || return 0
  for one in boot boot/loader boot/loader/entries boot/loader/entries/*.conf; do
    [ -e "$one" ] && printf '%s\0' "$one"
  done
}
under() (
  # Each exclusion is one path: large generated or temporary files.
  set -f
  excluded='-name .temper-trial -o -name *.temper-new -o -name *temper-undo-*'
  for one in $1; do excluded="$excluded -o -path $one"; done
  shift
  find etc -xdev \( $excluded \) -prune -o "$@"
)
under "$*" -printf '%y %m %u:%g %s\0%l\0%p\0'
keys | xargs -0 -r sh -c 'exec find "$@" -maxdepth 0 -printf "%y %m %u:%g %s\\0%l\\0%p\\0"' sh
printf '\0'
{ under "$*" -type f -print0; keys; } | xargs -0 -r sha256sum -z -- 2>/dev/null
exit 0
