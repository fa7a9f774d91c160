# pack.sh BASE DISKS UUID: make the disks of a virtual machine from BASE/tree, which is used up.
# A script of its own, because what configure.sh mounted ends with its namespace.
set -eu
export PATH="$PATH:/usr/sbin:/sbin"
base=$1 disks=$2 uuid=$3
tree=$base/tree
find "$tree/tmp" "$tree/run" -mindepth 1 -delete
echo "$disks" | while read -r label folder megabytes; do
  id=$uuid
  [ "$folder" = / ] || id=$(cat /proc/sys/kernel/random/uuid)
  mke2fs -q -t ext4 -L "$label" -U "$id" -d "$tree$folder" "$base/$label.img" "${megabytes}M"
  # mke2fs copies what lies in the folder, and not the folder's own mode.
  debugfs -w -R "set_inode_field <2> mode 04$(stat -c %04a "$tree$folder")" "$base/$label.img" 2>/dev/null
  find "$tree$folder" -mindepth 1 -delete
done
rm -rf "$tree"
chmod 0644 "$base"/*.img "$base/host-keys"
