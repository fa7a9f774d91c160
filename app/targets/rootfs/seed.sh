# seed.sh BASE NAME: add accounts to a new machine: `temper` with sudo, and `root` with its own key for backups.
set -eu
base=$1 name=$2
rm -rf "$name/upper" "$name/work" "$name/root"
mkdir -p "$name/upper" "$name/work" "$name/root"
chmod 0755 "$name/upper" "$name/root"
mount --make-rprivate /
mount -t overlay overlay -o "lowerdir=$base,upperdir=$name/upper,workdir=$name/work,userxattr" "$name/root"
mount -t tmpfs dev "$name/root/dev"
for node in null random urandom; do : > "$name/root/dev/$node"; mount --bind "/dev/$node" "$name/root/dev/$node"; done
cp "$name/temper.pub" "$name/backup.pub" "$name/root/tmp/"
chroot "$name/root" /bin/sh -eus "$name" <<'INSIDE'
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
useradd --create-home --shell /bin/bash temper
useradd --create-home --shell /bin/bash --groups sudo opsadmin
# A random password: an administrator whose sudo asks for one needs one.
echo "opsadmin:$(head -c 24 /dev/urandom | base64)" | chpasswd -c SHA512
echo 'temper ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/temper
chmod 0440 /etc/sudoers.d/temper
allow() { install -d -m 0700 -o "$1" -g "$1" "$2/.ssh"; install -m 0600 -o "$1" -g "$1" "$3" "$2/.ssh/authorized_keys"; }
allow temper /home/temper /tmp/temper.pub
allow opsadmin /home/opsadmin /tmp/temper.pub
allow root /root /tmp/backup.pub
echo "127.0.0.1 localhost $1" > /etc/hosts
# Make the offered packages known to apt without a network.
if [ -d /srv/offers ]; then
  apt-get -qq update -o Dir::Etc::sourcelist=sources.list.d/offers.list -o Dir::Etc::sourceparts=-
fi
rm -f /tmp/temper.pub /tmp/backup.pub /etc/ssh/ssh_host_*
INSIDE
# Created once, so that the host key stays the same after a reset.
if [ -d "$name/keys" ]; then
  cp -a "$name"/keys/ssh_host_* "$name/root/etc/ssh/"  # the keys alone: the folder's own mode is not /etc/ssh's
else
  chroot "$name/root" /usr/bin/ssh-keygen -q -A
  mkdir -m 0700 "$name/keys"
  cp -a "$name"/root/etc/ssh/ssh_host_* "$name/keys/"
fi
cat "$name"/root/etc/ssh/ssh_host_*_key.pub > "$name/host-keys"
