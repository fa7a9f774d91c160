# seed.sh BASE NAME ACCOUNTS: make the layer of a new machine, with the accounts that the script ACCOUNTS adds.
set -eu
base=$1 name=$2 accounts=$3
rm -rf "$name/upper" "$name/work" "$name/root"
mkdir -p "$name/upper" "$name/work" "$name/root"
chmod 0755 "$name/upper" "$name/root"
mount --make-rprivate /
mount -t overlay overlay -o "lowerdir=$base,upperdir=$name/upper,workdir=$name/work,userxattr" "$name/root"
mount -t tmpfs dev "$name/root/dev"
for node in null random urandom; do : > "$name/root/dev/$node"; mount --bind "/dev/$node" "$name/root/dev/$node"; done
cp "$name/temper.pub" "$name/backup.pub" "$name/root/tmp/"
chroot "$name/root" /bin/sh -euc "$accounts" sh "$name"
# Created once, so that the host key stays the same after a reset.
if [ -d "$name/keys" ]; then
  cp -a "$name"/keys/ssh_host_* "$name/root/etc/ssh/"  # the keys alone: the folder's own mode is not /etc/ssh's
else
  chroot "$name/root" /usr/bin/ssh-keygen -q -A
  mkdir -m 0700 "$name/keys"
  cp -a "$name"/root/etc/ssh/ssh_host_* "$name/keys/"
fi
cat "$name"/root/etc/ssh/ssh_host_*_key.pub > "$name/host-keys"
