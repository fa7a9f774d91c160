mkdir -p "$1/etc/initramfs-tools/conf.d" "$1/etc/initramfs-tools/hooks"
echo MODULES=list >"$1/etc/initramfs-tools/conf.d/virtual"
cat >"$1/etc/initramfs-tools/hooks/virtual" <<'HOOK'
#!/bin/sh
[ "$1" != prereqs ] || exit 0
. /usr/share/initramfs-tools/hook-functions
manual_add_modules virtio_pci virtio_blk ext4
HOOK
chmod 0755 "$1/etc/initramfs-tools/hooks/virtual"
