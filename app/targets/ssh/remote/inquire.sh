# inquire KIND WORD WORD...: for each three, print rows "answer NUMBER LINE". It only reads, and each list is bounded.
# A word of "-" is none. Words are checked here too: none begins with a dash or has a character of a shell.
has() { command -v "$1" >/dev/null 2>&1 || { echo "not known: $1 is not installed there"; return 1; }; }
soon() { timeout -k 1 10 "$@"; }
sshd_lines() {
  has sshd || return
  soon sshd -T -C "user=$1,host=localhost,addr=127.0.0.1" | if [ "$2" = - ]; then cat; else grep -i "^$2 "; fi
}
sudo_lines() { has sudo && soon sudo -n -ll -U "$1"; }
unit_lines() {
  has systemctl || return
  soon systemctl is-enabled -- "$1"
  [ ! -d /run/systemd/system ] ||
    soon systemctl show --no-pager -p Id,LoadState,ActiveState,SubState,UnitFileState,FragmentPath,DropInPaths -- "$1"
}
package_lines() {
  # Its configuration first: the whole list may be cut.
  if command -v dpkg-query >/dev/null 2>&1; then
    soon dpkg-query -W -f '${Package} ${Version} ${db:Status-Status}\n' -- "$1" || return
    files=$(soon dpkg-query -L -- "$1")
  else
    has rpm && soon rpm -q -- "$1" || return
    files=$(soon rpm -ql -- "$1")
  fi
  { printf '%s\n' "$files" | grep '^/etc/'; printf '%s\n' "$files" | grep -v '^/etc/'; } |
    while IFS= read -r file; do [ -d "$file" ] || printf '%s\n' "$file"; done
}
kernel_lines() { case $1 in *secret*) echo "it is not shown" ;; *) soon sysctl -n -- "$1" ;; esac; }
manual_lines() {
  # From the line that is the heading or begins with the option, to the next one that is as far to the left.
  has man && has awk || return
  MANWIDTH=80 MAN_KEEP_FORMATTING='' soon man -P cat -- "$1" 2>/dev/null | sed "s/.$(printf '\b')//g" | awk -v want="$2" '
    BEGIN { want = tolower(want) }
    { text = $0; sub(/^[ \t]+/, "", text); depth = length($0) - length(text); low = tolower(text) }
    on && text != "" && depth <= at { exit }
    !on && (low == want || index(low, want " ") == 1) { on = 1; at = depth }
    on { print }'
}
number=0
while [ "$#" -ge 3 ]; do
  kind=$1 one=$2 two=$3 number=$((number + 1))
  shift 3
  case $one in -?* | *[!A-Za-z0-9@._:+/-]*) continue ;; esac
  case $two in -?* | *[!A-Za-z0-9\ _-]*) continue ;; esac
  case $kind in sshd | sudo | unit | package | kernel | manual) ;; *) continue ;; esac
  "${kind}_lines" "$one" "$two" 2>&1 </dev/null | tr '\t' ' ' | cut -c 1-300 | head -n 120 |
    while IFS= read -r line; do printf 'answer\t%s\t%s\n' "$number" "$line"; done
done
exit 0
