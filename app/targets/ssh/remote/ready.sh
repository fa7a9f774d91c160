# ready BYTES: can a change be made here, and taken back?
for tool in tar head timeout mv cp cmp stat sha256sum tac sync dd; do
  command -v "$tool" >/dev/null 2>&1 || fail 3 "$tool is not installed there"
done
mkdir -p -m 700 -- "$home" || fail 4 "$home cannot be made, so no journal can be kept"
chmod 700 -- "${home%/*}" "$home"
for folder in "$home" /etc; do
  trial=$folder/.temper-trial
  dd if=/dev/zero of="$trial" bs=65536 count=$(($1 / 65536)) conv=fsync 2>/dev/null || { rm -f -- "$trial"; fail 5 "there is no room to write in $folder, or it is read-only"; }
  rm -f -- "$trial"
done
