# SELinux types of a folder and of all that is in it. The line for both is in files that the journal keeps (see `grounds`).
type_in() { context=${1#*:*:}; printf '%s' "${context%%:*}"; }
selinux_type_state() {
  # Print "TYPE, policy TYPE": the label's as the kernel has it, and what a relabelling would give. Nothing without SELinux.
  [ -e /sys/fs/selinux/enforce ] && [ -d "${1%/*}" ] || return 0
  expected=$(matchpathcon -n -- "$1" 2>/dev/null) || return 0
  printf '%s, policy %s\n' "$(type_in "$(selinux_type_live "$1")")" "$(type_in "$expected")"
}
selinux_type_offer() {
  # semanage is in a package that many hosts do not have.
  has semanage || return 0
  was=$(selinux_type_state "$1")
  [ -z "$was" ] || row state "selinux_type:$1" "$was"
}
knows_type() { printf 'system_u:object_r:%s:s0' "$1" >/sys/fs/selinux/context; }
odd_within() {
  # odd_within FOLDER: print the first thing in it, or the folder, that others may replace or that has names elsewhere.
  find "$1" \( -type d \( ! -user 0 -o -perm /022 \) -o ! -type d \( ! -type f -o -links +1 \) -o -name '*[! -~]*' \) \
    -print 2>&1 | head -n 1 | tr -c '[:print:]\n' '?'
}
relabelled_within() {
  # relabelled_within FOLDER TYPE: print the paths below it whose label or policy is another.
  [ ! -d "$1" ] || find "$1" -mindepth 1 | while IFS= read -r path; do
    [ "$(selinux_type_state "$path")" = "$2, policy $2" ] || printf '%s\n' "$path"
  done
}
selinux_type_foresee() {
  # selinux_type_foresee FOLDER TYPE
  [ -e /sys/fs/selinux/enforce ] || lacks "SELinux is off there, so no file has a type. Turn SELinux on first"
  has matchpathcon && has restorecon || lacks "it has no matchpathcon or no restorecon. Install libselinux-utils and policycoreutils first"
  has semanage || lacks "it has no semanage. Install the package policycoreutils-python-utils first"
  (knows_type "$2") 2>/dev/null || lacks "its policy does not know the type $2"
  (reached "${1%/*}") || lacks "${1%/*} is not there, or a link is on the way to it"
  if [ -e "$1" ] || [ -L "$1" ]; then
    [ -d "$1" ] && (reached "$1") || lacks "$1 is a file or a link. Make it a folder first"
    odd=$(odd_within "$1")
    [ -z "$odd" ] || lacks "$odd is a link, has several names or an odd one, or others than root may change what is in it"
    [ "$(find "$1" | head -n 202 | wc -l)" -le 201 ] || lacks "$1 holds more than 200 files. Change their labels by hand first"
  fi
  was=$(selinux_type_state "$1")
  [ "$was" ] || lacks "its policy says nothing of $1"
  row before "selinux_type:$1" "$was"
  row after "selinux_type:$1" "$2, policy $2"
  relabelled_within "$1" "$2" | while IFS= read -r path; do
    row before "selinux_type:$path" "$(selinux_type_state "$path")"
    row after "selinux_type:$path" "$2, policy $2"
  done
}
define_type() {
  # define_type FOLDER TYPE: add the policy's line, or change the one that is there. The kernel reads no such lines: no reload.
  semanage fcontext -N -a -t "$2" "$1(/.*)?" || semanage fcontext -N -m -t "$2" "$1(/.*)?"
}
selinux_type_perform() {
  # What came into the folder since the dry run was not shown to anybody.
  relabelled_within "$1" "$2" | while IFS= read -r path; do holds "selinux_type:$path"; done || exit
  [ -d "$1" ] || saying mkdir -m 755 -- "$1"
  case $(selinux_type_state "$1") in *", policy $2") ;; *) saying define_type "$1" "$2" ;; esac
  saying restorecon -R -- "$1"
}
selinux_type_live() { if [ -e "$1" ] || [ -L "$1" ]; then stat -c %C -- "$1"; else echo 'no folder'; fi; }
selinux_type_revive() {
  # selinux_type_revive PATH CONTEXT
  if [ "$2" = 'no folder' ]; then rmdir -- "$1"; else chcon -h -- "$2" "$1"; fi
}
