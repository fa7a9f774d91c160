# pack.sh BASE DISKS UUID: make the disks of a virtual machine from BASE/tree, which is used up.
# A script of its own, because what configure.sh mounted ends with its namespace.
set -eu
export PATH="$PATH:/usr/sbin:/sbin"
base=$1 disks=$2 uuid=$3
tree=$base/tree
find "$tree/tmp" "$tree/run" -mindepth 1 -delete
label_disk() {
  # Write the labels into the disk's file: only the system's root may give files labels, and nobody here is that.
  [ -s "$base/labels" ] || return 0
  {
    echo 'ea_set "/lost+found" security.selinux system_u:object_r:lost_found_t:s0'
    awk -F '\t' -v top="${folder%/}" 'index($1 "/", top "/") == 1 && $2 !~ /^<<none>>/ {
      path = substr($1, length(top) + 1)
      gsub(/"/, "\"\"", path)
      printf "ea_set \"%s\" security.selinux %s\n", path == "" ? "/" : path, $2
    }' "$base/labels"
  } > "$base/commands"
  debugfs -w -f "$base/commands" "$base/$label.img" >/dev/null 2>&1  # paths of other disks are not there
}
echo "$disks" | while read -r label folder megabytes; do
  id=$uuid
  [ "$folder" = / ] || id=$(cat /proc/sys/kernel/random/uuid)
  mke2fs -q -t ext4 -L "$label" -U "$id" -d "$tree$folder" "$base/$label.img" "${megabytes}M"
  # mke2fs copies what lies in the folder, and not the folder's own mode.
  debugfs -w -R "set_inode_field <2> mode 04$(stat -c %04a "$tree$folder")" "$base/$label.img" 2>/dev/null
  label_disk
  find "$tree$folder" -mindepth 1 -delete
done
rm -rf "$tree" "$base/labels" "$base/commands"
chmod 0644 "$base"/*.img "$base/host-keys"
