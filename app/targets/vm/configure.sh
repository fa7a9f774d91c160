# configure.sh BASE DISKS UUID ACCOUNTS KIND CONTENT INSIDE: make BASE/tree a system that boots, and BASE/boot.img what
# boots it. DISKS is one line a disk: its label, its folder and its megabytes. UUID is the root disk's. CONTENT is the
# data stream that comes with it. INSIDE is a script of the kind, run in the tree before the boot loader is set up.
set -eu
base=$1 disks=$2 uuid=$3 accounts=$4 kind=$5 content=$6 inside=$7
tree=$base/tree
mount --make-rprivate /
mount -t tmpfs -o mode=0755 dev "$tree/dev"
for node in null zero random urandom; do : > "$tree/dev/$node"; mount --bind "/dev/$node" "$tree/dev/$node"; done
mkdir -p "$tree/dev/disk/by-uuid"
: > "$tree/dev/disk/by-uuid/$uuid"  # so that grub-mkconfig names the root by it
mount -t proc proc "$tree/proc"
cp "$base/temper.pub" "$base/backup.pub" "$tree/tmp/"
chroot "$tree" /bin/sh -euc "$accounts" sh "$kind"

echo "$disks" | while read -r label folder megabytes; do
  case $folder in
    /) echo "LABEL=$label / ext4 errors=remount-ro 0 1" ;;
    *) echo "LABEL=$label $folder ext4 defaults 0 2" ;;
  esac
done | sort -k 2 > "$tree/etc/fstab"

# grub-mkconfig asks which device holds /, and a tree of files has none: these are the disk's answers.
cat > "$tree/tmp/grub-probe" <<PROBE
#!/bin/sh
case "\$*" in
  *target=device*) echo /dev/vda ;;
  *target=fs_uuid*) echo $uuid ;;
  *target=fs_label*) echo root ;;
  *target=fs*) echo ext2 ;;
  *target=drive*) echo "(hd1)" ;;
  *target=hints_string*|*target=partmap*|*target=abstraction*|*target=partuuid*) ;;
  *) exit 1 ;;
esac
PROBE
chmod 0755 "$tree/tmp/grub-probe"
echo "$kind" > "$tree/etc/hostname"
chroot "$tree" /bin/sh -eu <<'NETWORK_AND_KEYS'
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
systemd-machine-id-setup >/dev/null
cat > /etc/systemd/network/10-wired.network <<'NETWORK'
[Match]
Name=en* eth*
[Network]
Address=10.0.2.15/24
Gateway=10.0.2.2
NETWORK
systemctl --quiet enable systemd-networkd
# There is no network to wait for, and no archive to ask.
systemctl --quiet mask systemd-networkd-wait-online.service
systemctl --quiet disable apt-daily.timer apt-daily-upgrade.timer
/usr/bin/ssh-keygen -q -A
# Emulated on a busy machine, the kernel would take its slow timer for a broken one, and panic.
sed -i 's/^GRUB_TIMEOUT=.*/GRUB_TIMEOUT=0/; s/^GRUB_CMDLINE_LINUX_DEFAULT=.*/GRUB_CMDLINE_LINUX_DEFAULT=""/
  s/^GRUB_CMDLINE_LINUX=.*/GRUB_CMDLINE_LINUX="console=tty0 console=ttyS0,115200 no_timer_check"/' /etc/default/grub
echo 'GRUB_TERMINAL=serial' >> /etc/default/grub
NETWORK_AND_KEYS
chroot "$tree" /bin/sh -euc "$inside"
chroot "$tree" /bin/sh -eu <<'BOOT_LOADER'
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mkdir -p /boot/grub
cp -r /usr/lib/grub/i386-pc /boot/grub/
mount --bind /tmp/grub-probe /usr/sbin/grub-probe
grub-mkconfig -o /boot/grub/grub.cfg 2>/tmp/grub.log || { cat /tmp/grub.log >&2; exit 1; }
umount /usr/sbin/grub-probe
printf 'serial\nterminal_output serial\nsearch.fs_label root root\nset prefix=($root)/boot/grub\n' > /tmp/early.cfg
grub-mkimage -O i386-pc -p /boot/grub -c /tmp/early.cfg -o /tmp/core.img \
  biosdisk ext2 part_msdos search_label serial terminal normal configfile linux
BOOT_LOADER
# GRUB's first sector reads what follows it: the core, which finds the file system by its label.
cat "$tree/usr/lib/grub/i386-pc/boot.img" "$tree/tmp/core.img" > "$base/boot.img"
truncate --size=1M "$base/boot.img"
cat "$tree"/etc/ssh/ssh_host_*_key.pub > "$base/host-keys"
cp "$tree/usr/share/xml/scap/ssg/content/$content" "$base/"
# SELinux's labels of all files, by the machine's own policy; pack.sh writes them into the disks.
: > "$base/labels"
if [ -d "$tree/etc/selinux/targeted" ]; then
  chroot "$tree" /bin/sh -euc 'PATH=/usr/sbin:/usr/bin; find / -xdev -print0 | xargs -0 matchpathcon' > "$base/labels"
fi
