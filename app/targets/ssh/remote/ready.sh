# ready BYTES: check that a change and its rollback are possible here.
for tool in tar head timeout mv cp cmp stat sha256sum tac sync dd; do
  command -v "$tool" >/dev/null 2>&1 || fail 3 "$tool is not installed there"
done
writable() {
  trial=$1/.temper-trial
  dd if=/dev/zero of="$trial" bs=65536 count="$2" conv=fsync 2>/dev/null || { rm -f -- "$trial"; return 1; }
  rm -f -- "$trial"
}
writable /etc $(($1 / 65536)) || fail 5 "there is no room to write in /etc, or it is read-only"
# The host can be changed; exit 4 or 6 if it could not roll back.
mkdir -p -m 700 -- "$home" 2>/dev/null && chmod 700 -- "${home%/*}" "$home" || fail 4 "$home cannot be made, so no journal can be kept"
writable "$home" $(($1 / 65536)) || fail 4 "there is no room to write in $home, or it is read-only"
{ [ -d /run/systemd/system ] && command -v systemd-run >/dev/null 2>&1; } || command -v setsid >/dev/null 2>&1 ||
  fail 6 "neither systemd-run nor setsid is there, so no timer can be set for a change that cuts the line"
starts_by >/dev/null || fail 6 "nothing was found that runs when this host starts, so a change that nobody keeps would outlive a restart"
