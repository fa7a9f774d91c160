# ask PROGRAM ARGUMENT...: run the host's program on the files from stdin, laid over the host's own.
# In a private mount namespace with the host read-only: invisible to others, and nothing is left.
[ -x "$1" ] || fail 44 "$1 is not installed there"
command -v unshare >/dev/null 2>&1 || fail 44 "unshare is not installed there"
mkdir -p -m 700 -- "${home%/*}" || fail 44 "${home%/*} cannot be made"
box=$(mktemp -d "${home%/*}/ask.XXXXXX") || fail 44 "no folder can be made"
trap 'rmdir -- "$box"' EXIT
unshare --mount --pid --fork --net --ipc --uts /bin/sh -c '
no() { printf "%s\n" "$1" >&2; exit 44; }
box=$1; shift
mount -t tmpfs -o mode=0755,size=64m temper "$box" && cd "$box" && mkdir up work etc root tmp proc || no "no memory can be mounted"
for one in /*; do
  name=${one#/}
  case $name in etc | root | tmp | proc | sys | home | mnt | media | boot | srv | lost+found) continue ;; esac
  if [ -L "$one" ]; then cp -P -- "$one" "$name"
  elif [ -d "$one" ]; then
    mkdir -- "$name" && mount --rbind -- "$one" "$name" || no "$one cannot be shown"
  fi
done
while read -r _ at _; do
  case $at in "$box"/*) mount -o remount,bind,ro "$at" || no "$at stays open to writing" ;; esac
done </proc/self/mounts
mount -t proc proc proc || no "no processes of its own"
mount -t overlay -o lowerdir=/etc,upperdir=up,workdir=work overlay etc 2>/dev/null ||
  mount -t overlay -o lowerdir=/etc,upperdir=up,workdir=work,userxattr overlay etc 2>/dev/null ||
  cp -a /etc/. etc/ || no "/etc cannot be copied"
tar -xpf - || no "the files cannot be laid out"
set -- chroot "$box" "$@"
# Read-only: drop every capability to change what root can read.
drop="setpriv --no-new-privs --bounding-set -all,+dac_read_search,+sys_chroot --inh-caps -all"
$drop true 2>/dev/null && set -- $drop "$@"
# Not by exec: as PID 1 of the namespace, programs of systemd write to the journal what they have to say.
"$@" </dev/null 2>&1
exit $?
' ask "$box" "$@"
