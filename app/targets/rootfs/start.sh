# start.sh BASE NAME PORT: mount machine NAME over BASE and start its sshd on loopback. Runs as the namespace's root.
set -eu
base=$1 name=$2 port=$3
mount --make-rprivate /
mount -t overlay overlay -o "lowerdir=$base,upperdir=$name/upper,workdir=$name/work,userxattr" "$name/root"
cd -P "$name/root"  # -P: the plain one goes by the whole path, and not all of it may be ours to walk
mount -t proc -o nosuid,nodev,noexec proc proc
mount -t tmpfs -o mode=0755 dev dev
for node in null zero full random urandom tty; do : > "dev/$node"; mount --bind "/dev/$node" "dev/$node"; done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666,mode=0620,gid=5 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
mount -t tmpfs -o mode=1777 shm dev/shm
mount -t tmpfs -o mode=0755 run run
mkdir -p run/sshd mnt
# The kernel is shared, so each start gets a boot id of its own.
cat proc/sys/kernel/random/uuid >run/boot_id
chmod 444 run/boot_id
mount --bind run/boot_id proc/sys/kernel/random/boot_id
hostname "$name"
mount -t tmpfs old mnt
mkdir mnt/old
pivot_root . mnt/old
cd -P /
umount -l /mnt/old
umount -l /mnt
export PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8
exec < /dev/null
[ -x /usr/sbin/rsyslogd ] && /usr/sbin/rsyslogd -i /run/rsyslogd.pid || true
# Replaces init: restart sshd when it is killed and reap orphans.
# Replaces init at boot: run what is enabled to run at start.
for script in /etc/rcS.d/S*; do [ ! -x "$script" ] || "$script" start || true; done
while :; do /usr/sbin/sshd -D -p "$port" -o ListenAddress=127.0.0.1 || true; sleep 0.2; done
